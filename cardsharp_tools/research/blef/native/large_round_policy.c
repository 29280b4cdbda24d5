/* Features and strategies of large rounds (large_round_policy.h). */
#include "large_round_policy.h"

#include <math.h>
#include <string.h>

/* The upper ends of the probability classes but the last. */
static const double PROBABILITY_BINS[PROBABILITY_CLASSES - 1] = {0.03, 0.1,  0.22, 0.38,
                                                                 0.55, 0.72, 0.88, 0.9999};

const double SOFTMAX_TEMPERATURE = 0.035;
const double REFERENCE_PROBABILITY = 0.6;

enum { NO_OVERLAP = 1, SOME_OVERLAP, FULL_OVERLAP };

/* The packed rank counts of the cards that both of two bets claim, by the row of the lower bet. */
static uint32_t shared_rank_counts[LAST_BETS][BETS];

uint8_t overlap_class[LAST_BETS][BETS];

/* --- overlap of two bets ------------------------------------------------------------------ */

/* The suit of a bet, NO_SUIT if it is on ranks alone. */
static int bet_suit(const Bet *bet) {
    return bet->cards ? __builtin_ctz(bet->cards) / RANKS : bet->suit;
}

static uint32_t find_shared_rank_counts(const Bet *previous, const Bet *last) {
    uint32_t counts = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        uint8_t a = previous->rank_counts[rank], b = last->rank_counts[rank];
        counts |= (uint32_t)(a < b ? a : b) << BITS_PER_COUNT * rank;
    }
    return counts;
}

static int find_overlap_class(const Bet *previous, const Bet *last, uint32_t shared_counts) {
    if (bet_suit(previous) != bet_suit(last)) return NO_OVERLAP;
    bool are_card_sets = previous->cards && last->cards;
    if (bet_suit(previous) != NO_SUIT && !are_card_sets) return FULL_OVERLAP;
    int bet_size = count_cards(previous->cards);
    int shared_size = count_cards(previous->cards & last->cards);
    for (int rank = 0; rank < RANKS; rank++) {
        bet_size += previous->rank_counts[rank];
        shared_size += (int)(shared_counts >> BITS_PER_COUNT * rank & COUNT_MASK);
    }
    if (shared_size == 0) return NO_OVERLAP;
    return shared_size < bet_size ? SOME_OVERLAP : FULL_OVERLAP;
}

void init_large_rounds(void) {
    for (int previous_bet = 0; previous_bet < BETS; previous_bet++)
        for (int last_bet = previous_bet + 1; last_bet < BETS; last_bet++) {
            const Bet *previous = &bets[previous_bet], *last = &bets[last_bet];
            uint32_t shared_counts = find_shared_rank_counts(previous, last);
            shared_rank_counts[previous_bet + 1][last_bet] = shared_counts;
            overlap_class[previous_bet + 1][last_bet] =
                (uint8_t)find_overlap_class(previous, last, shared_counts);
        }
}

/* --- features of a hand ------------------------------------------------------------------- */

/* The number of cards that the hand lacks for a bet on a suit. */
INLINED int count_missing_suit_cards(const Bet *bet, CardSet hand) {
    if (bet->cards) return count_cards(bet->cards & ~hand);
    int hand_count = count_cards(suit_cards(hand, bet->suit));
    return hand_count < FLUSH_SIZE ? FLUSH_SIZE - hand_count : 0;
}

/* The number of these cards that the last bet, on the same suit, claims too. */
INLINED int count_shared_missing_suit_cards(const Bet *bet, const Bet *last, CardSet hand) {
    if (bet->cards && last->cards) return count_cards(bet->cards & last->cards & ~hand);
    int missing = count_missing_suit_cards(bet, hand);
    int missing_of_last = count_missing_suit_cards(last, hand);
    return missing < missing_of_last ? missing : missing_of_last;
}

/* The number of claimed cards that a hand lacks, from packed rank counts. It subtracts all ranks
 * at once: the highest bit of each rank is set before, so that no rank borrows from the next,
 * and tells afterwards which ranks lack cards. */
INLINED int count_missing_rank_cards(uint32_t claimed_counts, uint32_t hand_counts) {
    const uint32_t high_bits = 0x888888, ones = 0x111111;
    uint32_t differences = (claimed_counts | high_bits) - hand_counts;
    uint32_t missing_counts = differences & (differences & high_bits) / 8 * 7;
    return (int)(missing_counts * ones >> BITS_PER_COUNT * (RANKS - 1) & COUNT_MASK);
}

INLINED int classify_probability(double probability) {
    int class = 0;
    while (class < PROBABILITY_CLASSES - 1 && probability >= PROBABILITY_BINS[class]) class++;
    return class;
}

INLINED int find_help_class(int bet, int last_bet, CardSet hand, uint32_t hand_counts) {
    uint32_t shared_counts = shared_rank_counts[last_bet + 1][bet];
    int help = 0;
    if (shared_counts)
        help = count_missing_rank_cards(shared_counts, hand_counts);
    else if (overlap_class[last_bet + 1][bet] > NO_OVERLAP)
        help = count_shared_missing_suit_cards(&bets[bet], &bets[last_bet], hand);
    return help < HELP_CLASSES ? help : HELP_CLASSES - 1;
}

MULTIVERSIONED void compute_hand_features(CardSet hand, int hidden_count, HandFeatures *features) {
    double probabilities[BETS];
    bet_probabilities(hand, hidden_count, probabilities);
    for (int bet = 0; bet < BETS; bet++) {
        int class = classify_probability(probabilities[bet]);
        features->probability_class[bet] = (uint8_t)class;
        features->bet_cell[0][bet] = (int16_t)(bet * FEATURE_COUNT + class * HELP_CLASSES);
    }
    uint32_t hand_counts = count_ranks(hand);
    for (int last_bet = 0; last_bet < BETS; last_bet++)
        for (int bet = last_bet + 1; bet < BETS; bet++) {
            int help_class = find_help_class(bet, last_bet, hand, hand_counts);
            features->bet_cell[last_bet + 1][bet] =
                (int16_t)(features->bet_cell[0][bet] + help_class);
        }
}

/* --- strategy ----------------------------------------------------------------------------- */

/* The softmax weight of an encoded win probability; 0 for a case that never occurred. */
static double softmax_weight(int encoded_probability) {
    if (!encoded_probability) return 0;
    double probability = (encoded_probability - 1) / (double)LARGE_PROBABILITY_SCALE;
    return exp((probability - REFERENCE_PROBABILITY) / SOFTMAX_TEMPERATURE);
}

static const double *softmax_weights(void) {
    static _Thread_local double weights[LARGE_PROBABILITY_SCALE + 2];
    if (!weights[1])
        for (int encoded = 1; encoded <= LARGE_PROBABILITY_SCALE + 1; encoded++)
            weights[encoded] = softmax_weight(encoded);
    return weights;
}

void large_round_strategy(const uint8_t *policy, const HandFeatures *features, int previous_bet,
                          int last_bet, double strategy[ACTIONS]) {
    const double *weights = softmax_weights();
    memset(strategy, 0, sizeof(double) * ACTIONS);
    int row = last_bet + 1;
    int overlap = last_bet == NO_BET ? 0 : overlap_class[previous_bet + 1][last_bet];
    const uint8_t *check_row = policy + policy_row_start(row) + overlap;
    /* The cells of lower bets are not stored, so the numbers of the cells begin before the row. */
    const int first_cell = row * FEATURE_COUNT;
    const uint8_t *bet_row = check_row + OVERLAP_CLASSES * (PROBABILITY_CLASSES - first_cell);
    double total = 0;
    for (int bet = last_bet + 1; bet < BETS; bet++) {
        strategy[bet] = weights[bet_row[OVERLAP_CLASSES * features->bet_cell[row][bet]]];
        total += strategy[bet];
    }
    if (last_bet != NO_BET) {
        int class = features->probability_class[last_bet];
        strategy[CHECK] = weights[check_row[OVERLAP_CLASSES * class]];
        total += strategy[CHECK];
    }
    if (total <= 0) {
        strategy[last_bet == NO_BET ? 0 : CHECK] = 1;
        total = 1;
    }
    for (int action = 0; action <= CHECK; action++) strategy[action] /= total;
}
