/* The learned numbers of `captain` and the integer sums that they are read as.
 *
 * The twin of strategies/search/value_model.py: same layout, same sums. Numbers
 * are whole multiples of 2^-16, so that sums are exact and equal in both languages whatever their
 * order.
 */
#ifndef CARDSHARP_MODEL_H
#define CARDSHARP_MODEL_H

#include "core.h"

enum {
    KNOTS = 4,        /* V is learned for 0, 8, 16 and 48 cards left, and linear in between */
    KNOT_PARTS = 32,
    TOPS = RANKS + 1, /* no card, or a rank */
    PLACES = 3,       /* mover's bank, other's bank, draw pile */
    LEFTS = 51,
    LEADS = 61,       /* leads from -30 to 30 */
    SIZES = 11,
    RISKS = 17,
    HOPES = 12,
    KEYS = 4096,      /* states of a suit: 4 places for each of 6 cards */
    ONE = 1 << 21,    /* 1.0 of a sum: 2^16 * KNOT_PARTS */
};

/* Where a card is, as the digit of its suit's key (base 4, lowest card first). */
enum { GONE, MOVER, OTHER, PILE };

typedef struct {
    /* V: the chance of the player whose turn begins */
    int32_t table[KNOTS][SUITS][TOPS][TOPS][TOPS]; /* mover's top, other's top, best of the pile */
    int32_t place[KNOTS][SUITS][RANKS][PLACES];
    int32_t known[KNOTS][SUITS]; /* suit of the next card, where an Oracle has shown it */
    int32_t slope[KNOTS];        /* by point of lead */
    int32_t base[KNOTS];
    int32_t lead[LEFTS][LEADS];
    /* D: what drawing on adds to stopping, in a turn that does not bust */
    int32_t wanted[SUITS][TOPS][TOPS][TOPS]; /* a suit that does not lie in the play area */
    int32_t unseen[SUITS][TOPS];             /* the same by number of its cards in the pile */
    int32_t lying[SUITS][TOPS][TOPS];        /* one that does: own top, number in the pile */
    int32_t size[SIZES];
    int32_t left[LEFTS];
    int32_t risk[RISKS];
    int32_t hope[HOPES];
} Model;

enum { NUMBERS = sizeof(Model) / sizeof(int32_t) };

/* What a suit adds to the sums, by its key: worked out when first asked for. */
typedef struct {
    int32_t value[KNOTS];
    int32_t on[2]; /* for D: not lying, lying */
    int16_t lead;  /* points of mover minus points of other */
    bool ready;
} SuitPart;

typedef struct {
    const Model *model;
    SuitPart parts[SUITS][KEYS];
} Memo;

typedef struct { int64_t value, on; int lead; } Sums;

extern const int16_t PLACE_DIGIT[RANKS]; /* 4^rank */

Memo *memo_new(const Model *model);
void memo_free(Memo *memo);

/* The key of `suit` with these cards in these places. */
int suit_key(Suit suit, Cards mover, Cards other, Cards pile);
/* Sums over all suits; `lying` are the suits of the play area, for D. */
Sums sum_suits(Memo *memo, const int16_t keys[SUITS], int left, unsigned lying);
/* The same without the memo, for weights that are just moving. */
Sums sum_afresh(const Model *model, const int16_t keys[SUITS], int left, unsigned lying);
/* The log-odds of the mover, times ONE. */
int64_t value_sum(const Model *model, Sums sums, int left, Card known);
double chance_of(int64_t sum);
void knot_of(int left, int *knot, int *part);
int lead_index(int lead);
/* The row of a number of cards left, for tables that end with the pile of a usual match. */
static inline int left_index(int left) { return left < LEFTS ? left : LEFTS - 1; }

#endif
