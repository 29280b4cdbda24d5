/* An opponent as its matches show it: habits of stopping, and a taste for suits. */
#ifndef CARDSHARP_FITTED_H
#define CARDSHARP_FITTED_H

#include "core.h"

enum { MOST_LYING = 7 };

/* The kinds of an answer: its suit, or that it busts, and its order by value. */
enum { BUSTS = SUITS, DEAREST, CHEAPEST, BETWEEN, KINDS };

/* The figures of an entry of strategies/opponent_belief.py; negative where it names a strategy. */
typedef struct {
    int32_t by;                  /* cards, points or risk: STOP_FEATURES of opponent_belief.py */
    double stops[MOST_LYING][2]; /* by class, without and with a gain in the play area */
    double taste[SUITS][KINDS];  /* by effect, then by kind of the answer */
    double safe, bust, end; /* an Oracle's card taken; the turn ended where it is not */
} Fitted;

double fitted_chance(const Fitted *fitted, const Table *table, Action action);
const Policy *fitted_new(const Fitted *fitted); /* it lives as long as the process */

#endif
