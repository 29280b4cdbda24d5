/* What a player lacks against itself, from below and from above.
 *
 * From above by information relaxation (Brown, Smith and Sun, Operations Research 58, 2010; for two
 * players Haugh and Wang, 2015): who replies best to a fixed player knows the order of the pile and
 * every pick to come, but pays at each chance what came is worth above the mean of what could have
 * come. What it pays is 0 in the mean for whoever does not know, whatever the judge thinks, so the
 * mean of the best that it can reach is a bound on every reply. A judge that is never wrong leaves
 * no gap. A reply that does not know, paid for in the same way, is a bound from below. */
#ifndef CARDSHARP_BOUND_H
#define CARDSHARP_BOUND_H

#include "luck.h"

/* Who is replied to; who judges, which is `exact` from `last` unseen cards on; and who tries to be
 * stronger, or NULL. */
typedef struct {
    const Policy *player, *judge, *stronger;
    Exact *exact;
    int32_t last;
    int32_t clairvoyant; /* whether the bound from above is worked out */
    int64_t most;        /* positions, above which it is given up */
} Trial;

/* The share of one side, its luck paid for: as the player itself, as the stronger one, and at best. */
typedef struct {
    double itself, stronger, best;
    int64_t nodes; /* worked out for `best`, below 0 where it was given up */
} Bounds;

/* From a table on, with `order` as the pile's, for who is to act and for the other. The picks of
 * Maps and bonuses come from `seed` and `number`. */
void bounds_at(const Trial *trial, const Table *table, const Card order[], uint64_t seed,
               uint64_t number, Bounds found[2]);
/* The same from the moment when no more than `cards` are unseen in a match that the player plays
 * against itself; how many are. */
int bounds_of(const Trial *trial, uint64_t seed, uint64_t number, int cards, Bounds found[2]);

#endif
