/* Sums of the learned numbers: see model.h. */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int16_t PLACE_DIGIT[RANKS] = {1, 4, 16, 64, 256, 1024};

Memo *memo_new(const Model *model) {
    Memo *memo = calloc(1, sizeof *memo);
    memo->model = model;
    return memo;
}

void memo_free(Memo *memo) { free(memo); }


int suit_key(Suit suit, Cards mover, Cards other, Cards pile) {
    int key = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        Cards bit = BIT(RANKS * suit + rank);
        int place = mover & bit ? MOVER : other & bit ? OTHER : pile & bit ? PILE : GONE;
        key += place * PLACE_DIGIT[rank];
    }
    return key;
}

void knot_of(int left, int *knot, int *part) {
    *knot = left < 8 ? 0 : left < 16 ? 1 : 2;
    *part = left < 16 ? (left & 7) * 4 : left < 48 ? left - 16 : KNOT_PARTS;
}

int lead_index(int lead) { return lead < -30 ? 0 : lead > 30 ? LEADS - 1 : lead + 30; }

static int points(Suit suit, int top) { return top ? top + (suit == MERMAID ? 3 : 1) : 0; }

static void work_out(const Model *model, Suit suit, int key, SuitPart *part) {
    int top[4] = {0}, number[4] = {0};
    for (int rank = 0; rank < RANKS; rank++) {
        int place = key / PLACE_DIGIT[rank] & 3;
        top[place] = rank + 1;
        number[place]++;
    }
    for (int knot = 0; knot < KNOTS; knot++) {
        part->value[knot] = model->table[knot][suit][top[MOVER]][top[OTHER]][top[PILE]];
        for (int rank = 0; rank < RANKS; rank++) {
            int place = key / PLACE_DIGIT[rank] & 3;
            if (place) part->value[knot] += model->place[knot][suit][rank][place - 1];
        }
    }
    part->on[0] = model->wanted[suit][top[OTHER]][top[MOVER]][top[PILE]] +
                  model->unseen[suit][number[PILE]];
    part->on[1] = model->lying[suit][top[OTHER]][number[PILE]];
    part->lead = (int16_t)(points(suit, top[MOVER]) - points(suit, top[OTHER]));
    part->ready = true;
}

static void add(Sums *sums, const SuitPart *part, int left, bool lies) {
    int knot, share;
    knot_of(left, &knot, &share);
    sums->value += (int64_t)part->value[knot] * (KNOT_PARTS - share) +
                   (int64_t)part->value[knot + 1] * share;
    sums->on += part->on[lies];
    sums->lead += part->lead;
}

Sums sum_suits(Memo *memo, const int16_t keys[SUITS], int left, unsigned lying) {
    Sums sums = {0, 0, 0};
    for (Suit suit = 0; suit < SUITS; suit++) {
        SuitPart *part = &memo->parts[suit][keys[suit]];
        if (!part->ready) work_out(memo->model, suit, keys[suit], part);
        add(&sums, part, left, lying >> suit & 1);
    }
    return sums;
}

Sums sum_afresh(const Model *model, const int16_t keys[SUITS], int left, unsigned lying) {
    Sums sums = {0, 0, 0};
    for (Suit suit = 0; suit < SUITS; suit++) {
        SuitPart part;
        work_out(model, suit, keys[suit], &part);
        add(&sums, &part, left, lying >> suit & 1);
    }
    return sums;
}

int64_t value_sum(const Model *model, Sums sums, int left, Card known) {
    int knot, part;
    knot_of(left, &knot, &part);
    int64_t low = (int64_t)model->slope[knot] * sums.lead + model->base[knot];
    int64_t high = (int64_t)model->slope[knot + 1] * sums.lead + model->base[knot + 1];
    if (known != NO_CARD) {
        low += model->known[knot][suit_of(known)];
        high += model->known[knot + 1][suit_of(known)];
    }
    return sums.value + low * (KNOT_PARTS - part) + high * part +
           (int64_t)model->lead[left_index(left)][lead_index(sums.lead)] * KNOT_PARTS;
}

double chance_of(int64_t sum) {
    const int64_t most = 30 * (int64_t)ONE;
    if (sum > most) sum = most;
    if (sum < -most) sum = -most;
    return 1.0 / (1.0 + exp(-((double)sum * (1.0 / ONE))));
}
