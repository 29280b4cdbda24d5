/* Rows and choices of the trained tables of a round: the twin of
 * cardsharp/games/blef/strategies/table_lookup.py.
 *
 * A choice is a number: 0 is the check, and a bet of the tables is its index among them plus 1. A
 * last bet is the same number, and 0 means that there is none.
 *
 * A history is the last bet, the bet before it, and the class of the third last bet. After a high
 * bet, a full house or more, nothing else counts, so both others are 0.
 */
#ifndef CARDSHARP_BLEF_TABLE_LOOKUP_H
#define CARDSHARP_BLEF_TABLE_LOOKUP_H

#include "bet_probabilities.h"

enum { MAX_HISTORIES = 80000, HAND_CODES = 15625 /* 5 to the power of RANKS */ };

enum { VECTOR_SIZE = 8 }; /* numbers that are added at once */

/* The sizes and index tables of a round. Python fills in all but the last two members. */
typedef struct {
    int32_t hand_sizes[2];  /* by role: of the player who begins, and of the other */
    int32_t hand_counts[2]; /* by role, the number of hands by ranks alone */
    int32_t bet_count;      /* bets that the tables include */
    uint8_t bets[BETS];     /* these, ascending */
    int8_t bet_index[BETS]; /* the index of a bet among them, or -1 */
    int32_t first_high_bet;
    int32_t class_count; /* classes of the third last bet */
    uint8_t class_of_bet[BETS + 1];
    int16_t hand_numbers[HAND_CODES]; /* by the rank counts as digits in base 5 */
    int32_t row_starts[MAX_HISTORIES]; /* of each history among the rows of a hand, or -1 */
    int32_t hand_stride;               /* the numbers of all rows of a hand */
} TableShape;

/* Find `row_starts` and `hand_stride`. */
void build_row_starts(TableShape *shape);

int hand_number(const TableShape *shape, CardSet hand);

static inline int history_index(const TableShape *shape, int third_class, int previous_bet,
                                int last_bet) {
    return (last_bet * (shape->bet_count + 1) + previous_bet) * shape->class_count + third_class;
}

/* The choices after a last bet: the check, unless there is no bet, and the higher bets. */
static inline int choice_count(const TableShape *shape, int last_bet) {
    return shape->bet_count - last_bet + (last_bet > 0);
}

/* A count rounded up to whole vectors. */
static inline int padded_count(int count) {
    return (count + VECTOR_SIZE - 1) / VECTOR_SIZE * VECTOR_SIZE;
}

#endif
