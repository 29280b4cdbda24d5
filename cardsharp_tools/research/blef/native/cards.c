/* Random numbers and random hands. */
#include "cards.h"

uint64_t rng_next(Rng *rng) {
    uint64_t mixed = rng->state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

int rng_below(Rng *rng, int limit) {
    return (int)(((unsigned __int128)rng_next(rng) * (unsigned)limit) >> 64);
}

double rng_unit(Rng *rng) { return (double)(rng_next(rng) >> 11) * 0x1p-53; }

CardSet rng_draw(Rng *rng, CardSet deck, int card_count) {
    uint8_t bit_indexes[CARDS];
    int remaining = 0;
    for (CardSet rest = deck; rest; rest &= rest - 1)
        bit_indexes[remaining++] = (uint8_t)__builtin_ctz(rest);
    CardSet hand = 0;
    for (int drawn_count = 0; drawn_count < card_count; drawn_count++) {
        int index = rng_below(rng, remaining);
        hand |= 1u << bit_indexes[index];
        bit_indexes[index] = bit_indexes[--remaining];
    }
    return hand;
}
