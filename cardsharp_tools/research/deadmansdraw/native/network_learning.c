/* Training of a network beside captain's tables (network_learning.h). */
#include "network_learning.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static void add_row(float sums[HIDDEN_UNITS], const float row[HIDDEN_UNITS], float factor) {
    for (int i = 0; i < HIDDEN_UNITS; i++) sums[i] += factor * row[i];
}

static void interpolate_output_weights(const OutputWeights *weights, int pile_count,
                                       float out[HIDDEN_UNITS]) {
    int knot, steps;
    knot_and_next_share(pile_count, &knot, &steps);
    float share = (float)steps / KNOT_STEPS;
    memset(out, 0, HIDDEN_UNITS * sizeof *out);
    add_row(out, weights->out[knot], 1 - share);
    add_row(out, weights->out[knot + 1], share);
}

int64_t optimiser_size(void) { return sizeof(Optimiser); }

void optimiser_begin(Optimiser *optimiser, uint64_t seed) {
    memset(optimiser, 0, sizeof *optimiser);
    Rng rng = {seed};
    for (int output = 0; output < OUTPUT_COUNT; output++) {
        float *weights = (float *)&optimiser->network.outputs[output];
        int random_weight_count = (int)(offsetof(OutputWeights, out) / sizeof(float));
        for (int i = 0; i < random_weight_count; i++) {
            weights[i] = (float)(rng_unit(&rng) - 0.5) * 0.2f;
        }
    }
}

/* The rows of the network that an input adds to the hidden sums, with their factors. */
typedef struct {
    int count;
    ptrdiff_t offsets[SUITS * MAX_ACTIVE_ROWS + 9];
    float factors[SUITS * MAX_ACTIVE_ROWS + 9];
} ActiveRows;

static void add_active_row(ActiveRows *rows, const Network *network, const float *row,
                           float factor) {
    rows->offsets[rows->count] = row - (const float *)network;
    rows->factors[rows->count++] = factor;
}

static void add_continuation_rows(ActiveRows *rows, const Network *network,
                                  const NetworkInput *input) {
    const OutputWeights *weights = &network->outputs[TURN_GOES_ON];
    add_active_row(rows, network, weights->risk[input->risk], 1);
    add_active_row(rows, network, weights->size[input->size], 1);
    add_active_row(rows, network, weights->rescued[input->rescued], 1);
    add_active_row(rows, network, weights->stop, (float)input->stop / (16 * SCALE_ODDS));
    add_active_row(rows, network, weights->bust, (float)input->bust / (16 * SCALE_ODDS));
}

static ActiveRows active_rows(const Network *network, const NetworkInput *input) {
    const OutputWeights *weights = &network->outputs[input->output];
    ActiveRows rows = {0};
    for (Suit suit = 0; suit < SUITS; suit++) {
        int suit_rows[MAX_ACTIVE_ROWS];
        int row_count = active_weight_rows(input->keys[suit], suit_rows);
        bool is_in_area = input->area_suits >> suit & 1;
        for (int i = 0; i < row_count; i++) {
            add_active_row(&rows, network, weights->suit[is_in_area][suit][suit_rows[i]], 1);
        }
    }
    if (input->next_card != NO_CARD) {
        add_active_row(&rows, network, weights->next_card[input->next_card], 1);
    }
    add_active_row(&rows, network, weights->pile_count[input->pile_count], 1);
    add_active_row(&rows, network, weights->lead, (float)input->lead / SCALE_LEAD);
    add_active_row(&rows, network, weights->odds, input->odds / SCALE_ODDS);
    if (input->output == TURN_GOES_ON) add_continuation_rows(&rows, network, input);
    return rows;
}

static double probability(double odds) { return 1.0 / (1.0 + exp(-odds)); }

/* Adds the gradient of the log-loss in each weight that the input uses. `slope` is its derivative
 * in the log-odds. */
static void backpropagate(const Network *network, Network *gradient, const NetworkInput *input,
                          const ActiveRows *rows, const float hidden[HIDDEN_UNITS], float slope) {
    float out[HIDDEN_UNITS], hidden_gradient[HIDDEN_UNITS];
    int knot, steps;
    knot_and_next_share(input->pile_count, &knot, &steps);
    float share = (float)steps / KNOT_STEPS;
    interpolate_output_weights(&network->outputs[input->output], input->pile_count, out);
    add_row(gradient->outputs[input->output].out[knot], hidden, slope * (1 - share));
    add_row(gradient->outputs[input->output].out[knot + 1], hidden, slope * share);
    for (int i = 0; i < HIDDEN_UNITS; i++) hidden_gradient[i] = hidden[i] > 0 ? slope * out[i] : 0;
    for (int i = 0; i < rows->count; i++) {
        add_row((float *)gradient + rows->offsets[i], hidden_gradient, rows->factors[i]);
    }
}

/* The network's win probability; the gradient of the log-loss is added to `gradient`, unless that
 * is NULL. */
static double add_example_gradient(const Network *network, const TrainingExample *example,
                                   Network *gradient) {
    const NetworkInput *input = &example->input;
    ActiveRows rows = active_rows(network, input);
    float hidden[HIDDEN_UNITS] = {0}, out[HIDDEN_UNITS], odds = input->odds;
    for (int i = 0; i < rows.count; i++) {
        add_row(hidden, (const float *)network + rows.offsets[i], rows.factors[i]);
    }
    interpolate_output_weights(&network->outputs[input->output], input->pile_count, out);
    for (int i = 0; i < HIDDEN_UNITS; i++) {
        if (hidden[i] < 0) hidden[i] = 0;
        odds += hidden[i] * out[i];
    }
    double prediction = probability(odds);
    float slope = example->weight * (float)(prediction - example->target);
    if (gradient) backpropagate(network, gradient, input, &rows, hidden, slope);
    return prediction;
}

double network_loss(const Network *network, const TrainingExample *example, Network *gradient) {
    double prediction = add_example_gradient(network, example, gradient), target = example->target;
    double odds = log(prediction / (1 - prediction));
    return example->weight * (log1p(exp(odds)) - target * odds);
}

static void adam_step(Optimiser *optimiser, int64_t batch_size, double learning_rate) {
    float *weights = (float *)&optimiser->network, *gradient = (float *)&optimiser->gradient;
    float *gradient_mean = (float *)&optimiser->gradient_mean;
    float *squared_gradient_mean = (float *)&optimiser->squared_gradient_mean;
    double step_count = (double)++optimiser->step_count;
    float step_size = (float)(learning_rate * sqrt(1 - pow(0.999, step_count)) /
                              (1 - pow(0.9, step_count)));
    float example_share = 1.0f / (float)batch_size;
    for (int i = 0; i < NETWORK_WEIGHT_COUNT; i++) {
        float g = gradient[i] * example_share;
        gradient_mean[i] += 0.1f * (g - gradient_mean[i]);
        squared_gradient_mean[i] += 0.001f * (g * g - squared_gradient_mean[i]);
        weights[i] -= step_size * gradient_mean[i] / (sqrtf(squared_gradient_mean[i]) + 1e-6f);
        gradient[i] = 0;
    }
}

/* The examples of a step are far apart, so that they come from many matches. */
void network_learn(Optimiser *optimiser, const TrainingExample *examples, int64_t example_count,
                   double learning_rate, double squared_errors[2]) {
    int64_t batch_size = example_count < 256 * 16 ? 16 : 256;
    int64_t step_count = example_count / batch_size;
    for (int64_t i = 0; i < step_count; i++) {
        for (int64_t j = 0; j < batch_size; j++) {
            const TrainingExample *example = &examples[i + j * step_count];
            double prediction =
                add_example_gradient(&optimiser->network, example, &optimiser->gradient);
            double target = example->target, table_prediction = probability(example->input.odds);
            squared_errors[0] += (prediction - target) * (prediction - target) /
                                 (double)(step_count * batch_size);
            squared_errors[1] += (table_prediction - target) * (table_prediction - target) /
                                 (double)(step_count * batch_size);
        }
        adam_step(optimiser, batch_size, learning_rate);
    }
}
