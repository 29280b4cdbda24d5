/* Tables as they are shipped, made of what was learned. */
#include "blef.h"

#include <string.h>

/* What is chosen less often is not kept. */
static const float LEAST = 0.004f;

/* The likeliest choice that is not kept yet, -1 where none is left. */
static int likeliest(const float *weights, int choices, float least, const int *kept, int number) {
    int best = -1;
    for (int k = 0; k < choices; k++) {
        bool taken = weights[k] <= 0 || weights[k] < least;
        for (int n = 0; n < number; n++) taken |= kept[n] == k;
        if (!taken && (best < 0 || weights[k] > weights[best])) best = k;
    }
    return best;
}

/* A row of these weights, the likeliest first; it takes what rounding leaves. */
void write_row(const float *weights, int last, int choices, uint8_t row[ROW]) {
    int kept[KEPT_CHOICES], number = 0, rest = WHOLE;
    float total = 0, whole = 0;
    for (int k = 0; k < choices; k++) total += weights[k];
    memset(row, 0, ROW);
    for (int best; number < KEPT_CHOICES; whole += weights[best], kept[number++] = best)
        if ((best = likeliest(weights, choices, LEAST * total, kept, number)) < 0) break;
    for (int n = 0; n < number; n++) {
        bool checks = last && !kept[n];
        row[2 * n] = (uint8_t)(checks ? 0 : kept[n] + last + !last);
        row[2 * n + 1] = (uint8_t)(weights[kept[n]] / whole * WHOLE + 0.5f);
        rest -= row[2 * n + 1];
    }
    row[1] = (uint8_t)(row[1] + rest);
}

/* How often a hand comes to its first choice, which is at each place without a bet of its own. */
static double dealt(const Setup *setup, int role, const float *sums) {
    double often = 0;
    for (int last = role; last <= role * setup->bets; last++) {
        const float *weights = sums + setup->start[place_of(setup, 0, 0, last)];
        for (int k = 0; k < choices_at(setup, last); k++) often += (double)weights[k];
    }
    return often;
}

/* The rows of a role's average play and their numbers, ascending; how many. Left out is where a hand
 * only checks, and what it comes to less often than `seldom`, as a part of what it was dealt. */
int32_t pack(const Setup *setup, int role, const float *sums, double seldom, uint32_t *numbers,
             uint8_t *rows) {
    int32_t number = 0;
    double least[CODES];
    for (int hand = 0; hand < setup->hands[role]; hand++)
        least[hand] = seldom * dealt(setup, role, sums + (size_t)hand * (size_t)setup->span);
    for (int place = 0; place < place_of(setup, 0, 0, setup->bets + 1); place++) {
        const int last = place / place_of(setup, 0, 0, 1), choices = choices_at(setup, last);
        for (int hand = 0; setup->start[place] >= 0 && hand < setup->hands[role]; hand++) {
            const float *weights = sums + (size_t)hand * (size_t)setup->span + setup->start[place];
            uint8_t *row = rows + (size_t)number * ROW;
            float total = 0;
            for (int k = 0; k < choices; k++) total += weights[k];
            if ((double)total <= least[hand]) continue;
            write_row(weights, last, choices, row);
            if (row[0] || row[1] < WHOLE)
                numbers[number++] = (uint32_t)(place * setup->hands[role] + hand);
        }
    }
    return number;
}
