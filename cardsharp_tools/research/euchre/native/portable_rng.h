/* Random numbers that are equal in every language: the twin of
 * cardsharp/games/euchre/strategies/portable_rng.py. */
#ifndef CARDSHARP_EUCHRE_PORTABLE_RNG_H
#define CARDSHARP_EUCHRE_PORTABLE_RNG_H

#include "cards.h"

typedef uint64_t PortableRng; /* the state of a linear congruential generator */

/* Mix a number into a seed as SplitMix64 does; any change alters the seed completely. */
static uint64_t mix_seed(uint64_t seed, int64_t number) {
    seed += (uint64_t)number;
    seed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9ULL;
    seed = (seed ^ seed >> 27) * 0x94D049BB133111EBULL;
    return seed ^ seed >> 31;
}

static uint64_t next_number(PortableRng *rng) {
    return *rng = *rng * 6364136223846793005ULL + 1442695040888963407ULL;
}

static void shuffle(PortableRng *rng, CardSet *items, int count) {
    for (int index = 0; count > 1; index++, count--) {
        int swap_index = index + (int)((next_number(rng) >> 33) * (uint64_t)count >> 31);
        CardSet item = items[index];
        items[index] = items[swap_index];
        items[swap_index] = item;
    }
}

/* A number from 0 up to but not including 1. */
static double random_unit(PortableRng *rng) { return (double)(next_number(rng) >> 11) * 0x1p-53; }

#endif
