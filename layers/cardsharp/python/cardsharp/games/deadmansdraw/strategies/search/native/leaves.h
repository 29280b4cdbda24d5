/* Values by the learned numbers: the twin of strategies/search/leaf_evaluator.py. */
#ifndef CARDSHARP_LEAVES_H
#define CARDSHARP_LEAVES_H

#include "search.h"

/* The value of a turn that has ended with the bank `own`, where `next` begins another. */
double end_value(Search *search, Cards own, const Table *next);
/* The value after `card`, already taken from its place, has busted the turn. */
double bust_value(Search *search, const Turn *turn, Card card);
/* The same after `card` was drawn. */
double bust_by(Search *search, const Turn *turn, Card card);
/* What drawing on is learned to be worth; the value of stopping goes to `stop`, and the pile must
 * not be empty. */
DrawingOn weigh_drawing_on(Search *search, const Turn *turn, double *stop);
/* What a network sees of such a turn, whose tables say `sum`. */
Seen seen_going_on(const Turn *turn, const DrawingOn *on, int64_t sum);

#endif
