/* Luck of the draw: the twin of cardsharp/games/deadmansdraw/luck.py.
 *
 * It is the value of the cards that came, less the mean value of the cards that could have come.
 * The mean of that difference is 0, whatever errors the judge makes. */
#ifndef CARDSHARP_LUCK_H
#define CARDSHARP_LUCK_H

#include "exact.h"

/* The luck of the acting player in an action, as a change of the win probability. `next_card` was
 * the next card of the draw pile before the action. */
double luck_of(const Policy *judge, const Table *previous_table, Action action, Card next_card,
               const Match *match);

/* The same by the exact solver, for few unseen cards; it must not give up. */
double luck_by_exact(ExactSolver *exact, const Table *previous_table, Action action, Card next_card,
                     const Match *match);

#endif
