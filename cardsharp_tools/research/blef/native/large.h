/* Large rounds: what a player knows of them by strategies/large_round_policy.py, and what is learned of it. */
#ifndef CARDSHARP_BLEF_LARGE_H
#define CARDSHARP_BLEF_LARGE_H

#include "blef.h"

#include <stddef.h>

enum { CLASSES = 9, HELPS = 3, BONDS = 4, ROWS = BETS + 1 };
enum { KINDS = CLASSES * HELPS, SPAN = BETS * KINDS };

/* How a hand looks: by the last bet, from 1, and by bet its cell in the row; the class of each. */
typedef struct {
    int16_t cell[ROWS][BETS];
    uint8_t class[BETS];
} Look;

void look_large(Cards hand, int hidden, Look *look);

/* What a bet shares with the one before, from 1: 0 none before, 1 nothing, 2 some, 3 all of that. */
extern uint8_t bond[ROWS][BETS];

/* What is known, as the file keeps it: for each row what the check wins by class and bond, and each
 * higher bet by kind and bond, one more than its fiftieths; 0 never came up. */
enum { PARTS = 50 };

static inline size_t row_at(int row) {
    return BONDS * (size_t)(CLASSES * row + KINDS * (BETS * row - row * (row - 1) / 2));
}

extern const double TEMPERATURE;

void large_play(const uint8_t *large, const Look *look, int before, int last, double play[WIDEST]);

#endif
