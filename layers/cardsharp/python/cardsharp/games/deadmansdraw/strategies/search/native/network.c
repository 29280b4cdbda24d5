/* A network beside captain's tables: see network.h. */
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

int rows_of(int key, int rows[MOST_ROWS]) {
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

static void add_whole(int32_t to[HIDDEN], const int32_t row[HIDDEN], int32_t times) {
    for (int i = 0; i < HIDDEN; i++) to[i] += times * row[i];
}

Seen seen_as(int part, const int16_t keys[SUITS], int left, int lead, int64_t sum) {
    Seen seen = {.part = (int16_t)part, .left = (int16_t)left, .lead = (int16_t)lead, .known = NO_CARD};
    memcpy(seen.keys, keys, sizeof seen.keys);
    seen.odds = (float)((double)sum / ONE);
    return seen;
}

int16_t steps_of(int64_t sum) {
    int64_t steps = sum >> ODDS_SHIFT;
    return (int16_t)(steps < -MOST_STEPS ? -MOST_STEPS : steps > MOST_STEPS ? MOST_STEPS : steps);
}

/* --- in the search --- */

static void round_off(const float *from, int32_t *to, int number, int bits) {
    for (int i = 0; i < number; i++) to[i] = (int32_t)lroundf(ldexpf(from[i], bits));
}

static void whole_part(const Part *from, WholePart *to) {
    int hidden = (int)(offsetof(Part, lead) / sizeof(float));
    round_off((const float *)from, (int32_t *)to, hidden, BITS);
    round_off(from->lead, to->lead, HIDDEN, BITS_LEAD);
    round_off(from->odds, to->odds, 3 * HIDDEN, BITS_ODDS); /* `stop` and `bust` too */
    round_off(from->out[0], to->out[0], KNOTS * HIDDEN, BITS_OUT);
}

static Layer *layer_ready(Layer *layer) {
    for (int part = 0; part < PARTS; part++) {
        WholePart *whole = &layer->parts[part];
        for (int left = 0; left < LEFTS; left++) {
            int knot, share;
            knot_of(left, &knot, &share);
            add_whole(layer->out[part][left], whole->out[knot], KNOT_PARTS - share);
            add_whole(layer->out[part][left], whole->out[knot + 1], share);
        }
    }
    return layer;
}

Layer *layer_new(const Network *network) {
    Layer *layer = calloc(1, sizeof *layer);
    for (int part = 0; part < PARTS; part++) whole_part(&network->parts[part], &layer->parts[part]);
    return layer_ready(layer);
}

Layer *layer_of_whole(const int16_t weights[WEIGHTS]) {
    Layer *layer = calloc(1, sizeof *layer);
    int32_t *whole = (int32_t *)layer->parts;
    for (int i = 0; i < WEIGHTS; i++) whole[i] = weights[i];
    return layer_ready(layer);
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
    int left = left_index(seen->left);
    const int32_t *out = layer->out[seen->part][left];
    int32_t hidden[HIDDEN];
    int64_t sum = 0;
    memcpy(hidden, part->left[left], sizeof hidden);
    for (Suit suit = 0; suit < SUITS; suit++) {
        bool lies = seen->lying >> suit & 1;
        add_whole(hidden, suit_sums(layer, seen->part, suit, seen->keys[suit], lies), 1);
    }
    if (seen->known != NO_CARD) add_whole(hidden, part->known[seen->known], 1);
    if (seen->part == TURN_GOES_ON) {
        add_whole(hidden, part->risk[seen->risk], 1);
        add_whole(hidden, part->size[seen->size], 1);
        add_whole(hidden, part->rescued[seen->rescued], 1);
        add_whole(hidden, part->stop, seen->stop);
        add_whole(hidden, part->bust, seen->bust);
    }
    add_whole(hidden, part->lead, seen->lead);
    add_whole(hidden, part->odds, (int32_t)(odds >> ODDS_SHIFT));
    for (int i = 0; i < HIDDEN; i++) sum += (int64_t)(hidden[i] > 0 ? hidden[i] : 0) * out[i];
    return sum >> (BITS + BITS_OUT + 5 - 21); /* 2^5 is KNOT_PARTS, 2^21 is ONE */
}
