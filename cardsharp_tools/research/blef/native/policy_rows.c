/* Rows of a trained policy in the form of the shipped tables (players.h). */
#include <string.h>

#include "players.h"

/* A choice that is less likely than this is not stored. */
static const float MIN_PROBABILITY = 0.004f;

static float sum_weights(const float *weights, int count) {
    float sum = 0;
    for (int choice = 0; choice < count; choice++) sum += weights[choice];
    return sum;
}

/* Find the likeliest choice that is not stored yet; return -1 if none is likely enough. */
static int find_likeliest_choice(const float *weights, int count, float min_weight,
                                 const int *stored_choices, int stored_count) {
    int likeliest = -1;
    for (int choice = 0; choice < count; choice++) {
        bool is_excluded = weights[choice] <= 0 || weights[choice] < min_weight;
        for (int index = 0; index < stored_count; index++)
            is_excluded |= stored_choices[index] == choice;
        if (is_excluded) continue;
        if (likeliest < 0 || weights[choice] > weights[likeliest]) likeliest = choice;
    }
    return likeliest;
}

/* Write a row of these weights, the likeliest choice first; it also gets what rounding leaves.
 *
 * `last_bet` is 0 without a bet; then the first weight is that of the lowest bet, else of a
 * check. */
void write_row(const float *weights, int last_bet, int count, uint8_t row[ROW_BYTES]) {
    int stored_choices[MAX_ROW_CHOICES], stored_count = 0;
    float min_weight = MIN_PROBABILITY * sum_weights(weights, count), stored_weight = 0;
    memset(row, 0, ROW_BYTES);
    while (stored_count < MAX_ROW_CHOICES) {
        int choice =
            find_likeliest_choice(weights, count, min_weight, stored_choices, stored_count);
        if (choice < 0) break;
        stored_weight += weights[choice];
        stored_choices[stored_count++] = choice;
    }
    int rest = PROBABILITY_SCALE;
    for (int index = 0; index < stored_count; index++) {
        int choice = stored_choices[index];
        bool is_check = last_bet && choice == 0;
        float probability = weights[choice] / stored_weight;
        row[2 * index] = (uint8_t)(is_check ? 0 : choice + last_bet + !last_bet);
        row[2 * index + 1] = (uint8_t)(probability * PROBABILITY_SCALE + 0.5f);
        rest -= row[2 * index + 1];
    }
    row[1] = (uint8_t)(row[1] + rest);
}

/* Sum up how often a hand comes to its first choice. It is at each history with at most one bet:
 * the other player's, in the second role. */
static double first_choice_weight(const TableShape *shape, int role, const float *strategy_sums) {
    double weight = 0;
    for (int last_bet = role; last_bet <= role * shape->bet_count; last_bet++) {
        const float *row = strategy_sums + shape->row_starts[history_index(shape, 0, 0, last_bet)];
        for (int choice = 0; choice < choice_count(shape, last_bet); choice++)
            weight += (double)row[choice];
    }
    return weight;
}

/* Write the rows of a role's average policy and their numbers, ascending; return how many there
 * are.
 *
 * Rows in which a hand only checks are left out, and rows that it reaches less often than
 * `min_reach`, as a part of the deals in which it has this hand. */
int32_t pack_policy_rows(const TableShape *shape, int role, const float *strategy_sums,
                         double min_reach, uint32_t *row_numbers, uint8_t *rows) {
    int32_t row_count = 0;
    int hand_count = shape->hand_counts[role];
    size_t hand_stride = (size_t)shape->hand_stride;
    double min_weights[HAND_CODES]; /* by hand */
    for (int hand = 0; hand < hand_count; hand++) {
        const float *hand_sums = strategy_sums + (size_t)hand * hand_stride;
        min_weights[hand] = min_reach * first_choice_weight(shape, role, hand_sums);
    }
    int last_bet_stride = history_index(shape, 0, 0, 1);
    int history_count = last_bet_stride * (shape->bet_count + 1);
    for (int history = 0; history < history_count; history++) {
        if (shape->row_starts[history] < 0) continue;
        int last_bet = history / last_bet_stride, count = choice_count(shape, last_bet);
        for (int hand = 0; hand < hand_count; hand++) {
            const float *hand_sums = strategy_sums + (size_t)hand * hand_stride;
            const float *weights = hand_sums + shape->row_starts[history];
            if ((double)sum_weights(weights, count) <= min_weights[hand]) continue;
            uint8_t *row = rows + (size_t)row_count * ROW_BYTES;
            write_row(weights, last_bet, count, row);
            bool only_checks = row[0] == 0 && row[1] == PROBABILITY_SCALE;
            if (!only_checks)
                row_numbers[row_count++] = (uint32_t)(history * hand_count + hand);
        }
    }
    return row_count;
}
