/* How a network beside captain's tables learns: see network_learning.h. */
#include "network_learning.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static void add(float to[HIDDEN], const float row[HIDDEN], float times) {
    for (int i = 0; i < HIDDEN; i++) to[i] += times * row[i];
}

static void out_of(const Part *part, int left, float out[HIDDEN]) {
    int knot, parts;
    knot_of(left, &knot, &parts);
    float share = (float)parts / KNOT_PARTS;
    memset(out, 0, HIDDEN * sizeof *out);
    add(out, part->out[knot], 1 - share);
    add(out, part->out[knot + 1], share);
}

int64_t descent_size(void) { return sizeof(Descent); }

void descent_begin(Descent *descent, uint64_t seed) {
    memset(descent, 0, sizeof *descent);
    Rng rng = {seed};
    for (int part = 0; part < PARTS; part++) {
        float *weights = (float *)&descent->network.parts[part];
        int hidden = (int)(offsetof(Part, out) / sizeof(float));
        for (int i = 0; i < hidden; i++) weights[i] = (float)(rng_unit(&rng) - 0.5) * 0.2f;
    }
}

/* The hidden sums, and each row of the network that they are made of with its factor. */
typedef struct {
    int number;
    ptrdiff_t at[SUITS * MOST_ROWS + 9];
    float times[SUITS * MOST_ROWS + 9];
} Inputs;

static void input(Inputs *inputs, const Network *network, const float *row, float times) {
    inputs->at[inputs->number] = row - (const float *)network;
    inputs->times[inputs->number++] = times;
}

static void inputs_going_on(Inputs *inputs, const Network *network, const Seen *seen) {
    const Part *part = &network->parts[TURN_GOES_ON];
    input(inputs, network, part->risk[seen->risk], 1);
    input(inputs, network, part->size[seen->size], 1);
    input(inputs, network, part->rescued[seen->rescued], 1);
    input(inputs, network, part->stop, (float)seen->stop / (16 * SCALE_ODDS));
    input(inputs, network, part->bust, (float)seen->bust / (16 * SCALE_ODDS));
}

static Inputs inputs_of(const Network *network, const Seen *seen) {
    const Part *part = &network->parts[seen->part];
    Inputs inputs = {0};
    for (Suit suit = 0; suit < SUITS; suit++) {
        int rows[MOST_ROWS], number = rows_of(seen->keys[suit], rows);
        bool lies = seen->lying >> suit & 1;
        for (int i = 0; i < number; i++) input(&inputs, network, part->suit[lies][suit][rows[i]], 1);
    }
    if (seen->known != NO_CARD) input(&inputs, network, part->known[seen->known], 1);
    input(&inputs, network, part->left[seen->left], 1);
    input(&inputs, network, part->lead, (float)seen->lead / SCALE_LEAD);
    input(&inputs, network, part->odds, seen->odds / SCALE_ODDS);
    if (seen->part == TURN_GOES_ON) inputs_going_on(&inputs, network, seen);
    return inputs;
}

static double chance(double odds) { return 1.0 / (1.0 + exp(-odds)); }

/* What moving each weight that had a hand in it does to the loss, by the loss's slope of the odds. */
static void go_back(const Network *network, Network *gradient, const Seen *seen,
                    const Inputs *inputs, const float hidden[HIDDEN], float slope) {
    float out[HIDDEN], back[HIDDEN];
    int knot, parts;
    knot_of(seen->left, &knot, &parts);
    float share = (float)parts / KNOT_PARTS;
    out_of(&network->parts[seen->part], seen->left, out);
    add(gradient->parts[seen->part].out[knot], hidden, slope * (1 - share));
    add(gradient->parts[seen->part].out[knot + 1], hidden, slope * share);
    for (int i = 0; i < HIDDEN; i++) back[i] = hidden[i] > 0 ? slope * out[i] : 0;
    for (int i = 0; i < inputs->number; i++) {
        add((float *)gradient + inputs->at[i], back, inputs->times[i]);
    }
}

/* The chance that the network says; and the gradient of the log-loss with it, where one is wanted. */
static double learn_one(const Network *network, const Example *example, Network *gradient) {
    const Seen *seen = &example->seen;
    Inputs inputs = inputs_of(network, seen);
    float hidden[HIDDEN] = {0}, out[HIDDEN], odds = seen->odds;
    for (int i = 0; i < inputs.number; i++) {
        add(hidden, (const float *)network + inputs.at[i], inputs.times[i]);
    }
    out_of(&network->parts[seen->part], seen->left, out);
    for (int i = 0; i < HIDDEN; i++) {
        if (hidden[i] < 0) hidden[i] = 0;
        odds += hidden[i] * out[i];
    }
    double said = chance(odds);
    float slope = example->weight * (float)(said - example->target);
    if (gradient) go_back(network, gradient, seen, &inputs, hidden, slope);
    return said;
}

double network_loss(const Network *network, const Example *example, Network *gradient) {
    double said = learn_one(network, example, gradient), target = example->target;
    double odds = log(said / (1 - said));
    return example->weight * (log1p(exp(odds)) - target * odds);
}

static void step(Descent *descent, int64_t group, double rate) {
    float *weights = (float *)&descent->network, *gradient = (float *)&descent->gradient;
    float *mean = (float *)&descent->mean, *square = (float *)&descent->square;
    double steps = (double)++descent->steps;
    float pace = (float)(rate * sqrt(1 - pow(0.999, steps)) / (1 - pow(0.9, steps)));
    float each = 1.0f / (float)group;
    for (int i = 0; i < WEIGHTS; i++) {
        float g = gradient[i] * each;
        mean[i] += 0.1f * (g - mean[i]);
        square[i] += 0.001f * (g * g - square[i]);
        weights[i] -= pace * mean[i] / (sqrtf(square[i]) + 1e-6f);
        gradient[i] = 0;
    }
}

/* The examples of a step lie far apart, so that they are of many matches. */
void network_learn(Descent *descent, const Example *examples, int64_t count, double rate,
                   double errors[2]) {
    int64_t group = count < 256 * 16 ? 16 : 256, steps = count / group;
    for (int64_t i = 0; i < steps; i++) {
        for (int64_t j = 0; j < group; j++) {
            const Example *one = &examples[i + j * steps];
            double said = learn_one(&descent->network, one, &descent->gradient);
            double target = one->target, before = chance(one->seen.odds);
            errors[0] += (said - target) * (said - target) / (double)(steps * group);
            errors[1] += (before - target) * (before - target) / (double)(steps * group);
        }
        step(descent, group, rate);
    }
}
