/* Bets and their probabilities (bet_probabilities.h). */
#include "bet_probabilities.h"

#include <string.h>

enum {
    SUIT_SETS = 64,         /* sets of cards of one suit */
    CARDS_PER_RANK = SUITS, /* one of each suit */
    COUNT_BASE = CARDS_PER_RANK + 1,
    MAX_CLAIMED_RANKS = 2, /* of a bet that is not a straight */
};

Bet bets[BETS];

static double binomials[CARDS + 1][CARDS + 1];

/* The bets that a number of cards of a rank, or these cards of a suit, do not rule out. */
static BetSet possible_by_rank_count[RANKS][COUNT_BASE];
static BetSet possible_by_suit_cards[SUITS][SUIT_SETS];

/* The packed rank counts of a set of cards of one suit. Those of several suits can be added up. */
static uint32_t rank_counts_by_suit_cards[SUIT_SETS];

/* The ranks of a bet on one or two ranks, as COUNT_BASE * rank + count; 0 without a second rank. */
static uint8_t rank_claims[BETS][MAX_CLAIMED_RANKS];

/* The ranks of a straight as bits; 0 for any other bet. */
static uint8_t straight_ranks[BETS];

/* --- tables ------------------------------------------------------------------------------- */

static void add_bet(BetSet *set, int bet, bool is_possible) {
    *(bet < 64 ? &set->low : &set->high) |= (uint64_t)is_possible << (bet & 63);
}

static void add_to_possible_bets(int bet) {
    for (int rank = 0; rank < RANKS; rank++)
        for (int count = 0; count < COUNT_BASE; count++) {
            bool is_enough = count >= bets[bet].rank_counts[rank];
            add_bet(&possible_by_rank_count[rank][count], bet, is_enough);
        }
    for (int suit = 0; suit < SUITS; suit++)
        for (CardSet cards = 0; cards < SUIT_SETS; cards++) {
            bool is_other_suit = bets[bet].suit != suit;
            bool has_flush = is_other_suit || count_cards(cards) >= FLUSH_SIZE;
            bool has_all_cards = !(suit_cards(bets[bet].cards, suit) & ~cards);
            add_bet(&possible_by_suit_cards[suit][cards], bet, has_flush && has_all_cards);
        }
}

static void find_claimed_ranks(int bet) {
    int claimed_count = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        int count = bets[bet].rank_counts[rank];
        if (!count) continue;
        if (claimed_count < MAX_CLAIMED_RANKS)
            rank_claims[bet][claimed_count] = (uint8_t)(COUNT_BASE * rank + count);
        claimed_count++;
        straight_ranks[bet] |= (uint8_t)(1 << rank);
    }
    if (claimed_count <= MAX_CLAIMED_RANKS) straight_ranks[bet] = 0;
}

static void fill_binomials(void) {
    for (int n = 0; n <= CARDS; n++) {
        binomials[n][0] = 1;
        for (int k = 1; k <= n; k++)
            binomials[n][k] = binomials[n - 1][k - 1] + (k < n ? binomials[n - 1][k] : 0);
    }
}

static void fill_rank_counts(void) {
    for (int cards = 0; cards < SUIT_SETS; cards++) {
        uint32_t counts = 0;
        for (int rank = 0; rank < RANKS; rank++)
            counts |= (uint32_t)(cards >> rank & 1) << BITS_PER_COUNT * rank;
        rank_counts_by_suit_cards[cards] = counts;
    }
}

void init_bets(const Bet python_bets[BETS]) {
    memcpy(bets, python_bets, sizeof bets);
    fill_binomials();
    fill_rank_counts();
    for (int bet = 0; bet < BETS; bet++) {
        add_to_possible_bets(bet);
        find_claimed_ranks(bet);
    }
}

/* --- true bets ---------------------------------------------------------------------------- */

uint32_t count_ranks(CardSet pool) {
    uint32_t counts = 0;
    for (int suit = 0; suit < SUITS; suit++)
        counts += rank_counts_by_suit_cards[suit_cards(pool, suit)];
    return counts;
}

BetSet true_bets(CardSet pool) {
    uint32_t counts = count_ranks(pool);
    BetSet set = {UINT64_MAX, UINT64_MAX};
    for (int rank = 0; rank < RANKS; rank++) {
        uint32_t count = counts >> BITS_PER_COUNT * rank & COUNT_MASK;
        const BetSet *possible = &possible_by_rank_count[rank][count];
        set.low &= possible->low;
        set.high &= possible->high;
    }
    for (int suit = 0; suit < SUITS; suit++) {
        const BetSet *possible = &possible_by_suit_cards[suit][suit_cards(pool, suit)];
        set.low &= possible->low;
        set.high &= possible->high;
    }
    return set;
}

bool bet_holds(int bet, CardSet pool) {
    BetSet set = true_bets(pool);
    return contains_bet(&set, bet);
}

/* --- probabilities ------------------------------------------------------------------------ */

/* The cards of a rank or suit that a bet still needs, and the unseen cards that would do. */
typedef struct { int needed, unseen; } Requirement;

enum { REQUIREMENTS = COUNT_BASE * COUNT_BASE };

/* Probabilities for a number of unseen cards, of which a number is hidden. They are built when
 * these numbers occur for the first time. */
typedef struct {
    bool is_built;
    double two_ranks[REQUIREMENTS][REQUIREMENTS]; /* by the codes of two requirements */
    double straights[RANKS + 1];                  /* by the ranks that are missing */
    double flushes[RANKS + 1];                    /* by the seen cards of the suit */
    double card_sets[RANKS + 1];                  /* by the cards that are missing */
} ClaimProbabilities;

static ClaimProbabilities probabilities_by_counts[CARDS + 1][CARDS + 1];

static int requirement_code(Requirement requirement) {
    return COUNT_BASE * requirement.needed + requirement.unseen;
}

static Requirement decode_requirement(int code) {
    return (Requirement){code / COUNT_BASE, code % COUNT_BASE};
}

static double binomial(int n, int k) { return k < 0 || k > n || n < 0 ? 0 : binomials[n][k]; }

/* The probability that the hidden cards meet both requirements. */
static double requirements_probability(Requirement first, Requirement second, int unseen_count,
                                       int hidden_count) {
    int other_count = unseen_count - first.unseen - second.unseen;
    double good_ways = 0;
    for (int a = first.needed; a <= first.unseen; a++)
        for (int b = second.needed; b <= second.unseen; b++)
            good_ways += binomial(first.unseen, a) * binomial(second.unseen, b) *
                         binomial(other_count, hidden_count - a - b);
    return good_ways / binomial(unseen_count, hidden_count);
}

/* The probability that the hidden cards include at least one card of each of these ranks, of which
 * no card has been seen. */
static double ranks_probability(int rank_count, int unseen_count, int hidden_count) {
    double ways[CARDS + 1] = {1}, next_ways[CARDS + 1]; /* by the number of cards of the ranks */
    for (int rank = 0; rank < rank_count; rank++) {
        memset(next_ways, 0, sizeof next_ways);
        for (int card_count = 0; card_count + CARDS_PER_RANK <= CARDS; card_count++)
            for (int n = 1; n <= CARDS_PER_RANK; n++)
                next_ways[card_count + n] += ways[card_count] * binomials[CARDS_PER_RANK][n];
        memcpy(ways, next_ways, sizeof next_ways);
    }
    int other_count = unseen_count - CARDS_PER_RANK * rank_count;
    double good_ways = 0;
    for (int card_count = 0; card_count <= hidden_count; card_count++)
        good_ways += ways[card_count] * binomial(other_count, hidden_count - card_count);
    return good_ways / binomial(unseen_count, hidden_count);
}

/* The probability that the hidden cards include these particular cards. */
static double card_set_probability(int card_count, int unseen_count, int hidden_count) {
    if (card_count > hidden_count) return 0;
    return binomial(unseen_count - card_count, hidden_count - card_count) /
           binomial(unseen_count, hidden_count);
}

static void build_two_rank_probabilities(ClaimProbabilities *claims, int unseen_count,
                                         int hidden_count) {
    for (int first_code = 0; first_code < REQUIREMENTS; first_code++)
        for (int second_code = 0; second_code < REQUIREMENTS; second_code++) {
            Requirement first = decode_requirement(first_code);
            Requirement second = decode_requirement(second_code);
            bool is_impossible = first.unseen + second.unseen > unseen_count;
            claims->two_ranks[first_code][second_code] =
                is_impossible ? 0
                              : requirements_probability(first, second, unseen_count, hidden_count);
        }
}

static const ClaimProbabilities *claim_probabilities(int unseen_count, int hidden_count) {
    ClaimProbabilities *claims = &probabilities_by_counts[unseen_count][hidden_count];
    if (claims->is_built) return claims;
    build_two_rank_probabilities(claims, unseen_count, hidden_count);
    for (int count = 0; count <= RANKS; count++) {
        bool is_impossible = CARDS_PER_RANK * count > unseen_count;
        claims->straights[count] =
            is_impossible ? 0 : ranks_probability(count, unseen_count, hidden_count);
        Requirement flush = {count < FLUSH_SIZE ? FLUSH_SIZE - count : 0, RANKS - count};
        claims->flushes[count] =
            requirements_probability(flush, (Requirement){0, 0}, unseen_count, hidden_count);
        claims->card_sets[count] = card_set_probability(count, unseen_count, hidden_count);
    }
    claims->is_built = true;
    return claims;
}

void bet_probabilities(CardSet pool, int hidden_count, double probabilities[BETS]) {
    const ClaimProbabilities *claims = claim_probabilities(CARDS - count_cards(pool), hidden_count);
    uint32_t counts = count_ranks(pool), absent_ranks = 0;
    /* The code of the requirement for each claim on a rank; 0 if the pool has all cards of it. */
    uint8_t requirement_codes[COUNT_BASE * RANKS] = {0};
    for (int rank = 0; rank < RANKS; rank++) {
        int seen_count = (int)(counts >> BITS_PER_COUNT * rank & COUNT_MASK);
        absent_ranks |= (uint32_t)!seen_count << rank;
        for (int count = seen_count + 1; count < COUNT_BASE; count++) {
            Requirement requirement = {count - seen_count, CARDS_PER_RANK - seen_count};
            requirement_codes[COUNT_BASE * rank + count] = (uint8_t)requirement_code(requirement);
        }
    }
    for (int bet = 0; bet < BETS; bet++) {
        const Bet *claim = &bets[bet];
        const uint8_t *ranks = rank_claims[bet];
        if (claim->cards)
            probabilities[bet] = claims->card_sets[count_cards(claim->cards & ~pool)];
        else if (claim->suit != NO_SUIT)
            probabilities[bet] = claims->flushes[count_cards(suit_cards(pool, claim->suit))];
        else if (straight_ranks[bet])
            probabilities[bet] = claims->straights[count_cards(straight_ranks[bet] & absent_ranks)];
        else
            probabilities[bet] =
                claims->two_ranks[requirement_codes[ranks[0]]][requirement_codes[ranks[1]]];
    }
}
