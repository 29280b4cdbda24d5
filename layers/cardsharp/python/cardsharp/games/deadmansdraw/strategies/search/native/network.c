/* The network beside captain's tables (network.h). */
#include "network.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct Layer {
    IntegerOutputWeights outputs[OUTPUT_COUNT];
    int32_t out[OUTPUT_COUNT][CARD_COUNTS][HIDDEN_UNITS]; /* interpolated, in 32nds */
    bool is_ready[OUTPUT_COUNT][SUITS][2 * KEYS];
    int32_t sums[OUTPUT_COUNT][SUITS][2 * KEYS][HIDDEN_UNITS];
};

int active_weight_rows(int key, int rows[MAX_ACTIVE_ROWS]) {
    int tops[4] = {0}, counts[4] = {0}, row_count = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        int place = key / PLACE_DIGIT[rank] & 3;
        tops[place] = rank + 1;
        counts[place]++;
        if (place) rows[row_count++] = rank * PLACES + place - 1;
    }
    int rises[2] = {tops[PILE] - tops[MOVER], tops[PILE] - tops[OTHER]};
    int groups[6] = {tops[MOVER], tops[OTHER], counts[PILE], counts[DISCARDED],
                     rises[0] > 0 ? rises[0] : 0, rises[1] > 0 ? rises[1] : 0};
    for (int i = 0; i < 6; i++) rows[row_count++] = RANKS * PLACES + TOP_VALUES * i + groups[i];
    return row_count;
}

static void add_row(int32_t sums[HIDDEN_UNITS], const int32_t row[HIDDEN_UNITS], int32_t factor) {
    for (int i = 0; i < HIDDEN_UNITS; i++) sums[i] += factor * row[i];
}

NetworkInput network_input(int output, const int16_t keys[SUITS], int pile_count, int lead,
                           int64_t log_odds) {
    NetworkInput input = {
        .output = (int16_t)output,
        .pile_count = (int16_t)pile_count,
        .lead = (int16_t)lead,
        .next_card = NO_CARD,
    };
    memcpy(input.keys, keys, sizeof input.keys);
    input.odds = (float)((double)log_odds / FIXED_POINT_ONE);
    return input;
}

int16_t log_odds_steps(int64_t log_odds) {
    int64_t steps = log_odds >> ODDS_SHIFT;
    return (int16_t)(steps < -MAX_STEPS ? -MAX_STEPS : steps > MAX_STEPS ? MAX_STEPS : steps);
}

/* --- the network in the search --- */

static void round_weights(const float *source, int32_t *target, int weight_count,
                          int fraction_bits) {
    for (int i = 0; i < weight_count; i++) {
        target[i] = (int32_t)lroundf(ldexpf(source[i], fraction_bits));
    }
}

static void round_output_weights(const OutputWeights *source, IntegerOutputWeights *target) {
    int row_weight_count = (int)(offsetof(OutputWeights, lead) / sizeof(float));
    round_weights((const float *)source, (int32_t *)target, row_weight_count, FRACTION_BITS);
    round_weights(source->lead, target->lead, HIDDEN_UNITS, LEAD_FRACTION_BITS);
    /* `stop` and `bust` follow `odds` */
    round_weights(source->odds, target->odds, 3 * HIDDEN_UNITS, ODDS_FRACTION_BITS);
    round_weights(source->out[0], target->out[0], KNOTS * HIDDEN_UNITS, OUT_FRACTION_BITS);
}

static Layer *interpolate_outputs(Layer *layer) {
    for (int output = 0; output < OUTPUT_COUNT; output++) {
        IntegerOutputWeights *weights = &layer->outputs[output];
        for (int pile_count = 0; pile_count < CARD_COUNTS; pile_count++) {
            int knot, share;
            knot_and_next_share(pile_count, &knot, &share);
            add_row(layer->out[output][pile_count], weights->out[knot], KNOT_STEPS - share);
            add_row(layer->out[output][pile_count], weights->out[knot + 1], share);
        }
    }
    return layer;
}

Layer *layer_new(const Network *network) {
    Layer *layer = calloc(1, sizeof *layer);
    for (int output = 0; output < OUTPUT_COUNT; output++) {
        round_output_weights(&network->outputs[output], &layer->outputs[output]);
    }
    return interpolate_outputs(layer);
}

Layer *layer_of_whole(const int16_t weights[NETWORK_WEIGHT_COUNT]) {
    Layer *layer = calloc(1, sizeof *layer);
    int32_t *layer_weights = (int32_t *)layer->outputs;
    for (int i = 0; i < NETWORK_WEIGHT_COUNT; i++) layer_weights[i] = weights[i];
    return interpolate_outputs(layer);
}

void layer_free(Layer *layer) { free(layer); }

static const int32_t *suit_activations(Layer *layer, int output, Suit suit, int key,
                                       bool is_in_area) {
    int32_t *sums = layer->sums[output][suit][key + KEYS * is_in_area];
    bool *is_ready = &layer->is_ready[output][suit][key + KEYS * is_in_area];
    if (*is_ready) return sums;
    int rows[MAX_ACTIVE_ROWS], row_count = active_weight_rows(key, rows);
    for (int i = 0; i < row_count; i++) {
        add_row(sums, layer->outputs[output].suit[is_in_area][suit][rows[i]], 1);
    }
    *is_ready = true;
    return sums;
}

int64_t layer_sum(Layer *layer, const NetworkInput *input, int64_t log_odds) {
    const IntegerOutputWeights *weights = &layer->outputs[input->output];
    int pile_count = pile_count_index(input->pile_count);
    const int32_t *out = layer->out[input->output][pile_count];
    int32_t hidden[HIDDEN_UNITS];
    int64_t total = 0;
    memcpy(hidden, weights->pile_count[pile_count], sizeof hidden);
    for (Suit suit = 0; suit < SUITS; suit++) {
        bool is_in_area = input->area_suits >> suit & 1;
        const int32_t *sums =
            suit_activations(layer, input->output, suit, input->keys[suit], is_in_area);
        add_row(hidden, sums, 1);
    }
    if (input->next_card != NO_CARD) add_row(hidden, weights->next_card[input->next_card], 1);
    if (input->output == TURN_GOES_ON) {
        add_row(hidden, weights->risk[input->risk], 1);
        add_row(hidden, weights->size[input->size], 1);
        add_row(hidden, weights->rescued[input->rescued], 1);
        add_row(hidden, weights->stop, input->stop);
        add_row(hidden, weights->bust, input->bust);
    }
    add_row(hidden, weights->lead, input->lead);
    add_row(hidden, weights->odds, (int32_t)(log_odds >> ODDS_SHIFT));
    for (int i = 0; i < HIDDEN_UNITS; i++) {
        total += (int64_t)(hidden[i] > 0 ? hidden[i] : 0) * out[i];
    }
    /* 2^5 is KNOT_STEPS, 2^21 is FIXED_POINT_ONE */
    return total >> (FRACTION_BITS + OUT_FRACTION_BITS + 5 - 21);
}
