/* The value of a simulated turn at its end, and the learned value of continuing it: the twin of
 * strategies/search/leaf_evaluator.py. */
#ifndef CARDSHARP_LEAVES_H
#define CARDSHARP_LEAVES_H

#include "search.h"

/* The value of a turn that has ended with this bank; `next` is the table of the next turn. */
double turn_end_value(TurnSearch *search, Cards own_bank, const Table *next);
/* The value after `card`, already taken from its place, busted the turn. */
double bust_value(TurnSearch *search, const SimulatedTurn *turn, Card card);
/* The same if `card` was drawn. */
double bust_draw_value(TurnSearch *search, const SimulatedTurn *turn, Card card);
/* The learned value of drawing on; the value of stopping goes to `stop`. The draw pile must not
 * be empty. */
Continuation estimate_draw_and_stop_values(TurnSearch *search, const SimulatedTurn *turn,
                                           double *stop);
/* The network's input for such a turn; `log_odds` are those of the tables. */
NetworkInput continuation_input(const SimulatedTurn *turn, const Continuation *continuation,
                                int64_t log_odds);

#endif
