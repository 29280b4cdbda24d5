/* Identification of the opponent by its decisions: the twin of strategies/opponent_belief.py. */
#ifndef CARDSHARP_OPPONENT_BELIEF_H
#define CARDSHARP_OPPONENT_BELIEF_H

#include "fitted_profile.h"

enum { MAX_PROFILES = 32, MAX_WEIGHT_SETS = 16 };

/* The index of the weights against an unknown opponent. */
enum { GENERAL_WEIGHTS = 0 };

/* How one opponent, or a type of opponent, decides. NULL stands for what the profile does not
 * have: then a stopping habit is learned, and all answers are equally likely. */
typedef struct {
    int32_t weights_index; /* in `players` of the configuration */
    int32_t is_generic;    /* true for the profile of an unknown opponent */
    double stop_probability; /* negative if the profile has no single one */
    const Policy *stop_policy;
    const Policy *answer_policy;
    const FittedProfile *numbers;
} OpponentProfile;

/* The configuration of `adaptive`: the profiles, a player for each set of weights, and the limits
 * of `ExploitBudget` in strategies/adaptive.py. */
typedef struct {
    int32_t profile_count, player_count;
    OpponentProfile profiles[MAX_PROFILES];
    const Policy *players[MAX_WEIGHT_SETS];
    const Policy *judge; /* the general player with a short search */
    /* Win probability that one decision may cost, and that may be spent at the start. */
    double max_loss_per_decision, initial_credit;
} AdaptiveConfig;

/* The evidence for each profile, and the budget for exploiting the opponent. */
typedef struct {
    const AdaptiveConfig *config;
    int decision_count;
    double log_likelihoods[MAX_PROFILES];
    int misses[MAX_PROFILES]; /* decisions that the profile thought unlikely */
    int habits[MAX_TRACKED_CARDS][2]; /* draws and stops by cards in the play area */
    double balance; /* win probability that may be spent in this match */
} OpponentBelief;

/* True if the position leaves a choice; only such decisions are evidence. */
bool has_choice(const Table *table);

/* Update a belief by a decision of the opponent; `table` is the position before it. */
void update_belief(OpponentBelief *belief, const Table *table, Action action);

/* The index of the best weights; the general ones for an unknown opponent. */
int best_weights_index(const OpponentBelief *belief);

#endif
