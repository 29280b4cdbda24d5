/* Players that may adapt to their opponent: the twin of strategies/adaptive.py. */
#ifndef CARDSHARP_ADAPTIVE_H
#define CARDSHARP_ADAPTIVE_H

#include "opponent_belief.h"

/* A policy, or `adaptive` if the belief has a configuration. */
typedef struct {
    const Policy *policy;
    OpponentBelief belief;
} Player;

/* Set the budget of a player at the start of a match. */
void begin_match(Player *player);

Action player_decide(const Player *player, const Table *table, Rng *rng);

/* Update a player's belief and budget by a decision of the match; `table` is the position before
 * it. `is_self` is true for a decision of the player itself. */
void record_decision(Player *player, const Table *table, Action action, bool is_self);

#endif
