/* Features and policy of large rounds: the twin of
 * cardsharp/games/blef/strategies/large_round_policy.py. */
#ifndef CARDSHARP_BLEF_LARGE_ROUND_POLICY_H
#define CARDSHARP_BLEF_LARGE_ROUND_POLICY_H

#include <stddef.h>

#include "bet_probabilities.h"

enum {
    PROBABILITY_CLASSES = 9,
    HELP_CLASSES = 3, /* by the missing cards of a bet that the last bet claims, too */
    FEATURE_COUNT = PROBABILITY_CLASSES * HELP_CLASSES,
    OVERLAP_CLASSES = 4,  /* 0 without a previous bet; 1 no common cards, 2 some, 3 all */
    LAST_BETS = BETS + 1, /* NO_BET included: a row is a last bet plus 1 */
    BET_CELLS = BETS * FEATURE_COUNT,
};

/* The features of a hand that decide on its choices. */
typedef struct {
    int16_t bet_cell[LAST_BETS][BETS]; /* by row and bet: FEATURE_COUNT * bet + its feature */
    uint8_t probability_class[BETS];
} HandFeatures;

void compute_hand_features(CardSet hand, int hidden_count, HandFeatures *features);

/* The overlap class of a last bet with the previous bet, by the row of the previous bet. */
extern uint8_t overlap_class[LAST_BETS][BETS];

/* Find the overlap classes; the bets have to be there. */
void init_large_rounds(void);

/* The learned policy is a list of bytes. For each row come the win probabilities of the check by
 * probability class and overlap class, then those of each higher bet by feature and overlap
 * class. A byte is 1 plus the probability in fiftieths, or 0 for a case that never occurred. */
enum { LARGE_PROBABILITY_SCALE = 50 };

/* The start of a row in a policy. */
static inline size_t policy_row_start(int row) {
    int bet_count = BETS * row - row * (row - 1) / 2; /* higher bets of all earlier rows */
    return OVERLAP_CLASSES * (size_t)(PROBABILITY_CLASSES * row + FEATURE_COUNT * bet_count);
}

/* A choice that wins this much more often is taken e times as often. */
extern const double SOFTMAX_TEMPERATURE;

/* A win probability at which the weight of a choice is 1: it keeps the weights near 1. */
extern const double REFERENCE_PROBABILITY;

/* Find the mixed strategy of a hand. */
void large_round_strategy(const uint8_t *policy, const HandFeatures *features, int previous_bet,
                          int last_bet, double strategy[ACTIONS]);

#endif
