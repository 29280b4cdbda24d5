/* Sums of the learned weights (model.h). */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int16_t PLACE_DIGIT[RANKS] = {1, 4, 16, 64, 256, 1024};

SuitTermCache *suit_term_cache_new(const Model *model) {
    SuitTermCache *cache = calloc(1, sizeof *cache);
    cache->model = model;
    return cache;
}

void suit_term_cache_free(SuitTermCache *cache) { free(cache); }

int suit_key(Suit suit, Cards mover, Cards other, Cards pile) {
    int key = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        Cards bit = BIT(RANKS * suit + rank);
        int place = mover & bit ? MOVER : other & bit ? OTHER : pile & bit ? PILE : DISCARDED;
        key += place * PLACE_DIGIT[rank];
    }
    return key;
}

void knot_and_next_share(int pile_count, int *knot, int *share) {
    *knot = pile_count < 8 ? 0 : pile_count < 16 ? 1 : 2;
    *share = pile_count < 16   ? (pile_count & 7) * 4
             : pile_count < 48 ? pile_count - 16
                               : KNOT_STEPS;
}

int lead_index(int lead) { return lead < -30 ? 0 : lead > 30 ? LEAD_COUNT - 1 : lead + 30; }

static int stack_points(Suit suit, int top) { return top ? top + (suit == MERMAID ? 3 : 1) : 0; }

static void compute_terms(const Model *model, Suit suit, int key, SuitTerms *terms) {
    int tops[4] = {0}, counts[4] = {0};
    for (int rank = 0; rank < RANKS; rank++) {
        int place = key / PLACE_DIGIT[rank] & 3;
        tops[place] = rank + 1;
        counts[place]++;
    }
    for (int knot = 0; knot < KNOTS; knot++) {
        terms->value[knot] = model->table[knot][suit][tops[MOVER]][tops[OTHER]][tops[PILE]];
        for (int rank = 0; rank < RANKS; rank++) {
            int place = key / PLACE_DIGIT[rank] & 3;
            if (place) terms->value[knot] += model->place[knot][suit][rank][place - 1];
        }
    }
    terms->continuation[0] = model->missing_suit[suit][tops[OTHER]][tops[MOVER]][tops[PILE]] +
                             model->unseen[suit][counts[PILE]];
    terms->continuation[1] = model->played_suit[suit][tops[OTHER]][counts[PILE]];
    terms->lead = (int16_t)(stack_points(suit, tops[MOVER]) - stack_points(suit, tops[OTHER]));
    terms->is_ready = true;
}

static void add_terms(Sums *sums, const SuitTerms *terms, int pile_count, bool is_in_area) {
    int knot, share;
    knot_and_next_share(pile_count, &knot, &share);
    sums->value += (int64_t)terms->value[knot] * (KNOT_STEPS - share) +
                   (int64_t)terms->value[knot + 1] * share;
    sums->continuation += terms->continuation[is_in_area];
    sums->lead += terms->lead;
}

Sums sum_suit_terms(SuitTermCache *cache, const int16_t keys[SUITS], int pile_count,
                    unsigned area_suits) {
    Sums sums = {0, 0, 0};
    for (Suit suit = 0; suit < SUITS; suit++) {
        SuitTerms *terms = &cache->terms[suit][keys[suit]];
        if (!terms->is_ready) compute_terms(cache->model, suit, keys[suit], terms);
        add_terms(&sums, terms, pile_count, area_suits >> suit & 1);
    }
    return sums;
}

Sums sum_uncached_suit_terms(const Model *model, const int16_t keys[SUITS], int pile_count,
                             unsigned area_suits) {
    Sums sums = {0, 0, 0};
    for (Suit suit = 0; suit < SUITS; suit++) {
        SuitTerms terms;
        compute_terms(model, suit, keys[suit], &terms);
        add_terms(&sums, &terms, pile_count, area_suits >> suit & 1);
    }
    return sums;
}

int64_t mover_log_odds(const Model *model, Sums sums, int pile_count, Card known_top) {
    int knot, share;
    knot_and_next_share(pile_count, &knot, &share);
    int64_t low = (int64_t)model->slope[knot] * sums.lead + model->base[knot];
    int64_t high = (int64_t)model->slope[knot + 1] * sums.lead + model->base[knot + 1];
    if (known_top != NO_CARD) {
        low += model->next_suit[knot][suit_of(known_top)];
        high += model->next_suit[knot + 1][suit_of(known_top)];
    }
    return sums.value + low * (KNOT_STEPS - share) + high * share +
           (int64_t)model->lead[pile_count_index(pile_count)][lead_index(sums.lead)] * KNOT_STEPS;
}

double win_probability(int64_t log_odds) {
    const int64_t max_log_odds = 30 * (int64_t)FIXED_POINT_ONE;
    if (log_odds > max_log_odds) log_odds = max_log_odds;
    if (log_odds < -max_log_odds) log_odds = -max_log_odds;
    return 1.0 / (1.0 + exp(-((double)log_odds * (1.0 / FIXED_POINT_ONE))));
}
