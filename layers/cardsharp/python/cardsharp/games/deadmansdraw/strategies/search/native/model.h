/* The learned weights of captain's value model, and the integer sums in which they are used.
 *
 * It is the twin of strategies/search/value_model.py, with the same layout and the same sums.
 * Weights are integer multiples of 2^-16, so that sums are exact and equal in both languages in
 * any order. */
#ifndef CARDSHARP_MODEL_H
#define CARDSHARP_MODEL_H

#include "core.h"

enum {
    /* sizes of the draw pile for which V is learned: 0, 8, 16 and 48; others are interpolated */
    KNOTS = 4,
    KNOT_STEPS = 32,
    TOP_VALUES = RANKS + 1, /* no card, or the rank of a top */
    PLACES = 3,             /* the mover's bank, the other bank, the draw pile */
    CARD_COUNTS = 51,
    LEAD_COUNT = 61,        /* from -30 to 30 points; a greater lead counts as 30 */
    PLAY_AREA_SIZES = 11,
    RISK_STEPS = 17,
    HOPE_STEPS = 12,
    KEYS = 4096,            /* keys of a suit: 4 places for each of 6 cards */
    FIXED_POINT_ONE = 1 << 21, /* the value 1.0 of a sum: 2^16 * KNOT_STEPS */
};

/* The place of a card, as the base-4 digit of its suit's key; the lowest card has the lowest
 * digit. */
enum { DISCARDED, MOVER, OTHER, PILE };

typedef struct {
    /* --- V, the log-odds of the player whose turn begins --- */
    /* by the mover's top, the other top, and the best card of the draw pile */
    int32_t table[KNOTS][SUITS][TOP_VALUES][TOP_VALUES][TOP_VALUES];
    int32_t place[KNOTS][SUITS][RANKS][PLACES];
    /* by the suit of the next card if it is known; value_model.py calls it `known` */
    int32_t next_suit[KNOTS][SUITS];
    int32_t slope[KNOTS]; /* for each point of the lead */
    int32_t base[KNOTS];
    int32_t lead[CARD_COUNTS][LEAD_COUNT];
    /* --- D, the log-odds that drawing on adds to stopping, in a turn that does not bust --- */
    /* a suit that is missing in the play area, by its tops; value_model.py calls it `wanted` */
    int32_t missing_suit[SUITS][TOP_VALUES][TOP_VALUES][TOP_VALUES];
    /* the same, by the number of its cards in the draw pile */
    int32_t unseen[SUITS][TOP_VALUES];
    /* a suit of the play area, by the own top and the number in the draw pile; value_model.py
     * calls it `lying` */
    int32_t played_suit[SUITS][TOP_VALUES][TOP_VALUES];
    int32_t size[PLAY_AREA_SIZES];
    int32_t pile_count[CARD_COUNTS];
    int32_t risk[RISK_STEPS];
    int32_t hope[HOPE_STEPS];
} Model;

enum { WEIGHT_COUNT = sizeof(Model) / sizeof(int32_t) };

/* The terms of a suit's key in the sums; they are computed on first use. */
typedef struct {
    int32_t value[KNOTS];
    int32_t continuation[2]; /* for D: the suit is missing in the play area, or is in it */
    int16_t lead;            /* the mover's points minus the other player's */
    bool is_ready;
} SuitTerms;

typedef struct {
    const Model *model;
    SuitTerms terms[SUITS][KEYS];
} SuitTermCache;

typedef struct { int64_t value, continuation; int lead; } Sums;

extern const int16_t PLACE_DIGIT[RANKS]; /* 4^rank */

SuitTermCache *suit_term_cache_new(const Model *model);
void suit_term_cache_free(SuitTermCache *cache);

/* The key of a suit; each argument is a set that has the cards of one place. */
int suit_key(Suit suit, Cards mover, Cards other, Cards pile);
/* Sums over all suits. `area_suits` has a bit for each suit in the play area, for D. */
Sums sum_suit_terms(SuitTermCache *cache, const int16_t keys[SUITS], int pile_count,
                    unsigned area_suits);
/* The same without the cache, for weights that change during training. */
Sums sum_uncached_suit_terms(const Model *model, const int16_t keys[SUITS], int pile_count,
                             unsigned area_suits);
/* The log-odds V of the mover in FIXED_POINT_ONE; `known_top` is the next card or NO_CARD. */
int64_t mover_log_odds(const Model *model, Sums sums, int pile_count, Card known_top);
double win_probability(int64_t log_odds);
/* The knot at or below a pile count, and the share of the next one in 32nds. */
void knot_and_next_share(int pile_count, int *knot, int *share);
int lead_index(int lead);
/* The row of a pile count; counts above those of a normal match share the last row. */
static inline int pile_count_index(int pile_count) {
    return pile_count < CARD_COUNTS ? pile_count : CARD_COUNTS - 1;
}

#endif
