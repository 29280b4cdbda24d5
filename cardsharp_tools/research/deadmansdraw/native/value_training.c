/* Updates of captain's weights by gradient descent on the log-loss: the part of `WeightTraining` in
 * cardsharp_tools/research/deadmansdraw/training.py that learns. model.h describes the weights. */
#include <math.h>
#include <stddef.h>

#include "self_play.h"

/* An integer weight is a multiple of 1 / WEIGHT_SCALE. */
static const double WEIGHT_SCALE = 65536.0;

typedef struct {
    double *weights;           /* WEIGHT_COUNT, as they are learned */
    double *squared_gradients; /* sums by weight */
    Model *model;              /* the same weights as integers */
    double learning_rate;
} Optimiser;

/* Move a weight against its gradient, with larger steps for a weight that is rarely updated
 * (AdaGrad). */
static void update_weight(Optimiser *optimiser, const int32_t *weight, double gradient) {
    int32_t *integer_weights = (int32_t *)optimiser->model;
    ptrdiff_t index = weight - integer_weights;
    double *squared_gradient = &optimiser->squared_gradients[index];
    *squared_gradient += gradient * gradient;
    optimiser->weights[index] -= optimiser->learning_rate * gradient / sqrt(*squared_gradient);
    integer_weights[index] = (int32_t)floor(optimiser->weights[index] * WEIGHT_SCALE + 0.5);
}

/* --- the cards of a suit ------------------------------------------------------------------ */

/* The highest rank, counted from 1, and the number of the cards of a suit in each place. */
typedef struct { int top_ranks[PLACES + 1], card_counts[PLACES + 1]; } SuitState;

/* The place of a card by the key of its suit. */
static int card_place(int key, int rank) { return key / PLACE_DIGIT[rank] & 3; }

static SuitState suit_state(int key) {
    SuitState state = {{0}, {0}};
    for (int rank = 0; rank < RANKS; rank++) {
        int place = card_place(key, rank);
        state.top_ranks[place] = rank + 1;
        state.card_counts[place]++;
    }
    return state;
}

/* The points of a suit in a place. */
static int suit_points(SuitState state, Suit suit, int place) {
    int points_of_rank_0 = suit == MERMAID ? 3 : 1; /* the lowest card has rank 1 here */
    return state.top_ranks[place] ? state.top_ranks[place] + points_of_rank_0 : 0;
}

/* The mover's lead in points. */
static int mover_lead(const int16_t keys[SUITS]) {
    int lead = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        SuitState state = suit_state(keys[suit]);
        lead += suit_points(state, suit, MOVER) - suit_points(state, suit, OTHER);
    }
    return lead;
}

/* --- V, the value at the start of a turn -------------------------------------------------- */

static void update_suit_at_knot(Optimiser *optimiser, const Sample *sample, int knot, Suit suit,
                                double gradient) {
    const Model *model = optimiser->model;
    SuitState state = suit_state(sample->keys[suit]);
    int mover_top = state.top_ranks[MOVER], other_top = state.top_ranks[OTHER];
    int pile_top = state.top_ranks[PILE];
    update_weight(optimiser, &model->table[knot][suit][mover_top][other_top][pile_top], gradient);
    for (int rank = 0; rank < RANKS; rank++) {
        int place = card_place(sample->keys[suit], rank);
        if (place) {
            update_weight(optimiser, &model->place[knot][suit][rank][place - 1], gradient);
        }
    }
}

/* Update the weights of V at a knot, one of the numbers of unseen cards for which V is learned. */
static void update_knot(Optimiser *optimiser, const Sample *sample, int lead, int knot,
                        double gradient) {
    const Model *model = optimiser->model;
    for (Suit suit = 0; suit < SUITS; suit++) {
        update_suit_at_knot(optimiser, sample, knot, suit, gradient);
    }
    if (sample->known_top != NO_CARD) {
        Suit suit = suit_of(sample->known_top);
        update_weight(optimiser, &model->next_suit[knot][suit], gradient);
    }
    if (lead) update_weight(optimiser, &model->slope[knot], gradient * lead);
    update_weight(optimiser, &model->base[knot], gradient);
}

/* V is linear between two knots, so the gradient is shared between them. */
static void learn_turn_start(Optimiser *optimiser, const Sample *sample) {
    const Model *model = optimiser->model;
    int unseen_count = sample->unseen_count, lead = mover_lead(sample->keys);
    Sums sums = sum_uncached_suit_terms(model, sample->keys, unseen_count, 0);
    double value = win_probability(mover_log_odds(model, sums, unseen_count, sample->known_top));
    double gradient = value - sample->target;
    int knot, next_share;
    knot_and_next_share(unseen_count, &knot, &next_share);
    double share = next_share / (double)KNOT_STEPS;
    if (next_share < KNOT_STEPS) {
        update_knot(optimiser, sample, lead, knot, gradient * (1.0 - share));
    }
    if (next_share > 0) update_knot(optimiser, sample, lead, knot + 1, gradient * share);
    update_weight(optimiser, &model->lead[unseen_count][lead_index(lead)], gradient);
}

/* --- D, the value of drawing on ----------------------------------------------------------- */

/* The win probability after a draw that does not bust. */
static double value_of_drawing_on(const Model *model, const Sample *sample) {
    Sums sums = sum_uncached_suit_terms(model, sample->keys, sample->unseen_count,
                                        sample->area_suits);
    int64_t draw_sum = sums.continuation + model->size[(int)sample->area_size] +
                       model->pile_count[(int)sample->unseen_count] +
                       model->risk[(int)sample->risk] +
                       model->hope[(int)sample->hope];
    return win_probability(draw_sum * KNOT_STEPS - sample->stop_sum);
}

static void update_drawing_suit(Optimiser *optimiser, const Sample *sample, Suit suit,
                                double gradient) {
    const Model *model = optimiser->model;
    SuitState state = suit_state(sample->keys[suit]);
    int mover_top = state.top_ranks[MOVER], other_top = state.top_ranks[OTHER];
    int pile_top = state.top_ranks[PILE], pile_count = state.card_counts[PILE];
    bool is_in_play = sample->area_suits >> suit & 1;
    if (is_in_play) {
        update_weight(optimiser, &model->played_suit[suit][other_top][pile_count], gradient);
        return;
    }
    update_weight(optimiser, &model->missing_suit[suit][other_top][mover_top][pile_top], gradient);
    update_weight(optimiser, &model->unseen[suit][pile_count], gradient);
}

/* D is learned for draws that do not bust, so the value after a bust is taken out of the target. */
static void learn_drawing_on(Optimiser *optimiser, const Sample *sample) {
    const Model *model = optimiser->model;
    double value = value_of_drawing_on(model, sample);
    double safe_probability = 1.0 - sample->bust_probability;
    double target =
        (sample->target - sample->bust_probability * sample->bust_value) / safe_probability;
    double gradient = safe_probability * (value - target);
    for (Suit suit = 0; suit < SUITS; suit++) {
        update_drawing_suit(optimiser, sample, suit, gradient);
    }
    update_weight(optimiser, &model->size[(int)sample->area_size], gradient);
    update_weight(optimiser, &model->pile_count[(int)sample->unseen_count], gradient);
    update_weight(optimiser, &model->risk[(int)sample->risk], gradient);
    update_weight(optimiser, &model->hope[(int)sample->hope], gradient);
}

/* Make a step of gradient descent for each sample, in order. The weights of the model follow
 * `weights`. */
void update_weights(double *weights, double *squared_gradients, Model *model,
                    const Sample *samples, int64_t sample_count, double learning_rate) {
    Optimiser optimiser = {weights, squared_gradients, model, learning_rate};
    for (int64_t i = 0; i < sample_count; i++) {
        const Sample *sample = &samples[i];
        if (sample->is_turn_start) learn_turn_start(&optimiser, sample);
        else if (sample->unseen_count) learn_drawing_on(&optimiser, sample);
    }
}
