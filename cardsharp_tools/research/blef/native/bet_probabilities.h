/* Bets, the bets that are true, and their probabilities: the twin of
 * cardsharp/games/blef/strategies/bet_probabilities.py.
 *
 * The bets come from Python (`init_bets`), so that the rules stand in one place. Probabilities are
 * counted as in Python, so that they are equal to the last bit.
 */
#ifndef CARDSHARP_BLEF_BET_PROBABILITIES_H
#define CARDSHARP_BLEF_BET_PROBABILITIES_H

#include "cards.h"

/* An action is a bet, from 0, or CHECK. */
enum { BETS = 88, CHECK = BETS, ACTIONS = BETS + 1, NO_BET = -1 };
enum { FLUSH_SIZE = 5, NO_SUIT = -1 };

/* A bet claims numbers of cards of some ranks, a flush, or the cards of a straight flush. */
typedef struct {
    uint8_t rank_counts[RANKS]; /* the number of cards of each rank */
    int8_t suit;                /* the suit of a flush, or NO_SUIT */
    CardSet cards;              /* of a straight flush */
} Bet;

/* A set of bets, with a bit for each. */
typedef struct { uint64_t low, high; } BetSet;

static inline bool contains_bet(const BetSet *set, int bet) {
    return (bet < 64 ? set->low >> bet : set->high >> (bet - 64)) & 1;
}

extern Bet bets[BETS];

/* Take over the bets from Python, and build the tables that depend on them. */
void init_bets(const Bet python_bets[BETS]);

/* Return the number of cards of each rank, packed into an integer with BITS_PER_COUNT bits each. */
enum { BITS_PER_COUNT = 4, COUNT_MASK = 15 };
uint32_t count_ranks(CardSet pool);

/* The bets that are true for the cards of all players. */
BetSet true_bets(CardSet pool);
bool bet_holds(int bet, CardSet pool);

/* Find the probability of each bet if `hidden_count` unseen cards are in play besides the pool. */
void bet_probabilities(CardSet pool, int hidden_count, double probabilities[BETS]);

#endif
