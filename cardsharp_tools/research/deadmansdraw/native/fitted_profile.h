/* A player that decides by the numbers of an opponent profile, which were fitted to its observed
 * decisions: `OpponentProfile` of strategies/opponent_belief.py, where it has numbers. */
#ifndef CARDSHARP_FITTED_PROFILE_H
#define CARDSHARP_FITTED_PROFILE_H

#include "core.h"

/* From so many cards in the play area on, stopping habits are the same. */
enum { MAX_TRACKED_CARDS = 7 };

/* The features on which stopping can depend, in the order of STOP_FEATURES of
 * opponent_belief.py. */
typedef enum { CARDS_FEATURE, POINTS_FEATURE, RISK_FEATURE } StopFeature;

/* The kinds of an answer: its suit, or that it busts, and the rank of its value. */
enum { BUST_KIND = SUITS, DEAREST_KIND, CHEAPEST_KIND, BETWEEN_KIND, PREFERENCE_KINDS };

typedef struct {
    int32_t stop_feature;
    /* By class of the feature, without and with a gain for the bank. The first is negative if the
     * profile has no such numbers. */
    double stop_probabilities[MAX_TRACKED_CARDS][2];
    double preferences[SUITS][PREFERENCE_KINDS]; /* by suit of the effect */
    /* The probabilities to take an Oracle's card that does not bust, to take one that does, and to
     * end the turn if the card is not taken. The first is negative if the profile has no numbers
     * for answers. */
    double take_safe, take_bust, end_turn;
} FittedProfile;

/* The probability of an action by the numbers of a profile. */
double profile_probability(const FittedProfile *profile, const Table *table, Action action);

/* A player that draws its actions from these probabilities; it is never freed. */
const Policy *profile_policy_new(const FittedProfile *profile);

#endif
