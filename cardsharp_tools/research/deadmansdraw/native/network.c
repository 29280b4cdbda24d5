/* A network beside captain's tables, and how it learns: see network.h. */
#include "network.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct Layer {
    WholePart parts[PARTS];
    int32_t out[PARTS][LEFTS][HIDDEN]; /* in 32nds */
    bool ready[PARTS][SUITS][2 * KEYS];
    int32_t sums[PARTS][SUITS][2 * KEYS][HIDDEN];
};

enum { MOST_ROWS = RANKS + 6 };

/* The rows of a suit that its key adds up; their number. */
static int rows_of(int key, int rows[MOST_ROWS]) {
    int top[4] = {0}, number[4] = {0}, found = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        int place = key / PLACE_DIGIT[rank] & 3;
        top[place] = rank + 1;
        number[place]++;
        if (place) rows[found++] = rank * PLACES + place - 1;
    }
    int rises[2] = {top[PILE] - top[MOVER], top[PILE] - top[OTHER]};
    int groups[6] = {top[MOVER], top[OTHER], number[PILE], number[GONE],
                     rises[0] > 0 ? rises[0] : 0, rises[1] > 0 ? rises[1] : 0};
    for (int i = 0; i < 6; i++) rows[found++] = RANKS * PLACES + TOPS * i + groups[i];
    return found;
}

static void add(float to[HIDDEN], const float row[HIDDEN], float times) {
    for (int i = 0; i < HIDDEN; i++) to[i] += times * row[i];
}

static void add_whole(int32_t to[HIDDEN], const int32_t row[HIDDEN], int32_t times) {
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

Seen seen_as(int part, const int16_t keys[SUITS], int left, int lead, int64_t sum) {
    Seen seen = {{0}, (int16_t)part, (int16_t)left, (int16_t)lead, 0, NO_CARD, 0};
    memcpy(seen.keys, keys, sizeof seen.keys);
    seen.odds = (float)((double)sum / ONE);
    return seen;
}

/* --- in the search --- */

static void round_off(const float *from, int32_t *to, int number, int bits) {
    for (int i = 0; i < number; i++) to[i] = (int32_t)lroundf(ldexpf(from[i], bits));
}

static void whole_part(const Part *from, WholePart *to) {
    int hidden = (int)(offsetof(Part, lead) / sizeof(float));
    round_off((const float *)from, (int32_t *)to, hidden, BITS);
    round_off(from->lead, to->lead, HIDDEN, BITS_LEAD);
    round_off(from->odds, to->odds, HIDDEN, BITS_ODDS);
    round_off(from->out[0], to->out[0], KNOTS * HIDDEN, BITS_OUT);
}

Layer *layer_new(const Network *network) {
    Layer *layer = calloc(1, sizeof *layer);
    for (int part = 0; part < PARTS; part++) {
        WholePart *whole = &layer->parts[part];
        whole_part(&network->parts[part], whole);
        for (int left = 0; left < LEFTS; left++) {
            int knot, share;
            knot_of(left, &knot, &share);
            add_whole(layer->out[part][left], whole->out[knot], KNOT_PARTS - share);
            add_whole(layer->out[part][left], whole->out[knot + 1], share);
        }
    }
    return layer;
}

void layer_free(Layer *layer) { free(layer); }

static const int32_t *suit_sums(Layer *layer, int part, Suit suit, int key, bool lies) {
    int32_t *sums = layer->sums[part][suit][key + KEYS * lies];
    bool *ready = &layer->ready[part][suit][key + KEYS * lies];
    if (*ready) return sums;
    int rows[MOST_ROWS], number = rows_of(key, rows);
    for (int i = 0; i < number; i++) {
        add_whole(sums, layer->parts[part].suit[lies][suit][rows[i]], 1);
    }
    *ready = true;
    return sums;
}

int64_t layer_sum(Layer *layer, const Seen *seen, int64_t odds) {
    const WholePart *part = &layer->parts[seen->part];
    const int32_t *out = layer->out[seen->part][seen->left];
    int32_t hidden[HIDDEN];
    int64_t sum = 0;
    memcpy(hidden, part->left[seen->left], sizeof hidden);
    for (Suit suit = 0; suit < SUITS; suit++) {
        bool lies = seen->lying >> suit & 1;
        add_whole(hidden, suit_sums(layer, seen->part, suit, seen->keys[suit], lies), 1);
    }
    if (seen->known != NO_CARD) add_whole(hidden, part->known[seen->known], 1);
    add_whole(hidden, part->lead, seen->lead);
    add_whole(hidden, part->odds, (int32_t)(odds >> ODDS_SHIFT));
    for (int i = 0; i < HIDDEN; i++) sum += (int64_t)(hidden[i] > 0 ? hidden[i] : 0) * out[i];
    return sum >> (BITS + BITS_OUT + 5 - 21); /* 2^5 is KNOT_PARTS, 2^21 is ONE */
}

/* --- learning --- */

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
    ptrdiff_t at[SUITS * MOST_ROWS + 4];
    float times[SUITS * MOST_ROWS + 4];
} Inputs;

static void input(Inputs *inputs, const Network *network, const float *row, float times) {
    inputs->at[inputs->number] = row - (const float *)network;
    inputs->times[inputs->number++] = times;
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
