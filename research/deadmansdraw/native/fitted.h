/* An opponent as its matches show it: habits of stopping, and a taste for suits. */
#ifndef CARDSHARP_FITTED_H
#define CARDSHARP_FITTED_H

#include "core.h"

enum { MOST_LYING = 7 };

/* The figures of an entry of strategies/adaptive_belief.py; negative where it names a strategy. */
typedef struct {
    int32_t by;                  /* cards, points or risk: MEASURES of adaptive_belief.py */
    double stops[MOST_LYING][2]; /* by class, without and with a gain in the play area */
    double taste[SUITS][SUITS + 1]; /* by effect, then by suit of the answer; last what busts */
    double safe, bust, end; /* an Oracle's card taken; the turn ended where it is not */
} Fitted;

double fitted_chance(const Fitted *fitted, const Table *table, Action action);
const Policy *fitted_new(const Fitted *fitted); /* it lives as long as the process */

#endif
