/* Cards of Blef, and random numbers.
 *
 * A set of cards is 24 bits, bit 6 * suit + rank, as in
 * cardsharp/games/blef/strategies/bet_probabilities.py.
 */
#ifndef CARDSHARP_BLEF_CARDS_H
#define CARDSHARP_BLEF_CARDS_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t CardSet;

enum { CARDS = 24, RANKS = 6, SUITS = 4, MAX_HAND_SIZE = 11 };

#define ALL_CARDS ((1u << CARDS) - 1)
#define SUIT_MASK 63u /* the cards of a suit, after a shift by RANKS * suit */

/* A function that is compiled twice: also for processors that count bits and handle eight
 * numbers at once. The program takes the version that fits its machine. */
#if defined(__x86_64__) && defined(__GLIBC__)
#define MULTIVERSIONED __attribute__((target_clones("arch=haswell", "default")))
#else
#define MULTIVERSIONED
#endif

/* A part of such a function, which has to be compiled for each version of it. */
#define INLINED __attribute__((always_inline)) static inline

static inline int count_cards(CardSet cards) { return __builtin_popcount(cards); }

static inline CardSet suit_cards(CardSet cards, int suit) {
    return cards >> RANKS * suit & SUIT_MASK;
}

/* The number of cards of a rank. */
static inline int count_rank(CardSet cards, int rank) {
    const CardSet lowest_rank = 0x41041; /* of each suit */
    return count_cards(cards & lowest_rank << rank);
}

/* --- random numbers: SplitMix64 --- */

typedef struct { uint64_t state; } Rng;

uint64_t rng_next(Rng *rng);
int rng_below(Rng *rng, int limit);                       /* from 0 up to but not including it */
double rng_unit(Rng *rng);                                /* from 0 up to but not including 1 */
CardSet rng_draw(Rng *rng, CardSet deck, int card_count); /* cards of the deck */

#endif
