/* Regret minimisation over sampled deals.
 *
 * For a deal that is fixed, what comes after a bet depends on the bet, what it adds to the bet
 * before it, and who is to move. So a round is a small graph, and all of it is learned from at
 * once: first how likely each place is reached, then backwards what it is worth. A player forgets
 * earlier bets, so nothing is promised but what a best answer finds (response.c).
 */
#include "blef.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Less is nothing: its inverse would be no number. */
static const float LEAST = 1e-30f;

/* What is reached less often counts as this often: numbers much smaller are slow. */
static const float SELDOM = 1e-15f;

/* Nothing is learned from a place that is reached less often. */
static const float FAINT = 1e-8f;

typedef struct {
    const Setup *setup;
    float *regrets[2], *sums[2]; /* by role: row and choice */
    double explore; /* how much of the learner's own way is chance */
    double tremble; /* how much of the other's is */
} Learning;

/* A place: who is to move, the last bet by its place in the setup, its relation. */
typedef struct {
    float ways[2]; /* by learner: how likely the other comes here, where the learner explores */
    float worth;   /* chance that who began wins the round */
} Place;

typedef struct {
    Place *places; /* by mover, last bet (one after the last bet: none) and relation */
    float *plays;  /* the same, and choice */
    Eyes eyes[2];
} Work;

typedef struct {
    int mover, last, relation;
} Spot;

static size_t place_at(const Setup *setup, Spot spot) {
    return ((size_t)spot.mover * (size_t)(setup->bets + 1) + (size_t)spot.last) * RELATIONS +
           (size_t)spot.relation;
}

static int bet_at(const Setup *setup, int last) {
    return last == setup->bets ? OPENING : setup->bet[last];
}

/* Where a bet leads; choice k is the bet in place k - 1. */
static Place *after(const Setup *setup, const Work *work, Spot spot, int k) {
    int next = relation_of(setup, bet_at(setup, spot.last), setup->bet[k - 1]);
    return &work->places[place_at(setup, (Spot){1 - spot.mover, k - 1, next})];
}

static size_t row_at(const Setup *setup, const Work *work, Spot spot) {
    int row = row_of(&work->eyes[spot.mover], bet_at(setup, spot.last), spot.relation);
    return (size_t)row * (size_t)width_of(setup);
}

/* Each choice as often as it is regretted; the check is choice 0. */
static void match_regrets(const float *regrets, bool checks, int from, int to, float *play) {
    float total = 0;
    play[0] = checks ? 0.5f * (regrets[0] + fabsf(regrets[0])) : 0; /* without a branch */
    total += play[0];
    for (int k = from; k < to; k++) {
        play[k] = 0.5f * (regrets[k] + fabsf(regrets[k]));
        total += play[k];
    }
    float part = total > LEAST ? 1 / total : 0, even = 1.0f / (float)(to - from + checks);
    if (checks) play[0] = part > 0 ? play[0] * part : even;
    for (int k = from; k < to; k++) play[k] = part > 0 ? play[k] * part : even;
}

static void go_on(const Learning *learning, Work *work, Spot spot) {
    const Setup *setup = learning->setup;
    Place *place = &work->places[place_at(setup, spot)];
    for (int i = 0; i < 2; i++)
        if (place->ways[i] < SELDOM) place->ways[i] = SELDOM;
    int last = bet_at(setup, spot.last), from = first_above(setup, last), to = width_of(setup);
    float *play = work->plays + place_at(setup, spot) * (size_t)to;
    const float *regrets = learning->regrets[spot.mover] + row_at(setup, work, spot);
    match_regrets(regrets, last != OPENING, from, to, play);
    float seeks = (float)learning->explore, slips = (float)learning->tremble;
    float even = 1.0f / (float)(to - from);
    float own = place->ways[spot.mover], others = place->ways[1 - spot.mover];
    for (int k = from; k < to; k++) {
        Place *there = after(setup, work, spot, k);
        there->ways[spot.mover] += own * (play[k] * (1 - seeks) + seeks * even);
        there->ways[1 - spot.mover] += others * (play[k] * (1 - slips) + slips * even);
    }
}

static void learn(Learning *learning, Work *work, const Truths *truth, Spot spot) {
    const Setup *setup = learning->setup;
    Place *place = &work->places[place_at(setup, spot)];
    int last = bet_at(setup, spot.last), from = first_above(setup, last), to = width_of(setup);
    const float *play = work->plays + place_at(setup, spot) * (size_t)to;
    bool checks = last != OPENING;
    float worths[WIDEST];
    worths[0] = checks && (spot.mover == 0) != true_in(truth, last);
    float worth = checks ? play[0] * worths[0] : 0;
    for (int k = from; k < to; k++) {
        worths[k] = after(setup, work, spot, k)->worth;
        worth += play[k] * worths[k];
    }
    place->worth = worth;
    if (place->ways[0] < FAINT && place->ways[1] < FAINT) return;
    size_t at = row_at(setup, work, spot);
    float *regrets = learning->regrets[spot.mover] + at, *sums = learning->sums[spot.mover] + at;
    float weight = spot.mover == 0 ? place->ways[0] : -place->ways[1];
    float often = place->ways[1 - spot.mover];
    if (checks) regrets[0] += weight * (worths[0] - worth), sums[0] += often * play[0];
    for (int k = from; k < to; k++) {
        regrets[k] += weight * (worths[k] - worth);
        sums[k] += often * play[k];
    }
}

static bool reached(const Setup *setup, const Work *work, Spot spot) {
    return work->places[place_at(setup, spot)].ways[0] > 0;
}

static void learn_deal(Learning *learning, Work *work, Cards first, Cards second) {
    const Setup *setup = learning->setup;
    const Spot opening = {0, setup->bets, 0};
    Truths truth = truths(first | second);
    look(setup, 0, first, &work->eyes[0]);
    look(setup, 1, second, &work->eyes[1]);
    memset(work->places, 0, place_at(setup, (Spot){2, 0, 0}) * sizeof(Place));
    work->places[place_at(setup, opening)] = (Place){{1, 1}, 0};
    go_on(learning, work, opening);
    for (int last = 0; last < setup->bets; last++)
        for (int at = 0; at < 2 * RELATIONS; at++) {
            Spot spot = {at / RELATIONS, last, at % RELATIONS};
            if (reached(setup, work, spot)) go_on(learning, work, spot);
        }
    for (int last = setup->bets - 1; last >= 0; last--)
        for (int at = 0; at < 2 * RELATIONS; at++) {
            Spot spot = {at / RELATIONS, last, at % RELATIONS};
            if (reached(setup, work, spot)) learn(learning, work, &truth, spot);
        }
    learn(learning, work, &truth, opening);
}

/* Learn from so many deals; false where there is no memory. */
bool train(Learning *learning, uint64_t seed, int64_t deals) {
    const Setup *setup = learning->setup;
    size_t places = place_at(setup, (Spot){2, 0, 0});
    Work work = {.places = calloc(places, sizeof(Place)),
                 .plays = calloc(places * (size_t)width_of(setup), sizeof(float))};
    Rng rng = {seed};
    const Cards all = (1u << CARDS) - 1;
    for (; work.places && work.plays && deals > 0; deals--) {
        Cards first = rng_hand(&rng, all, setup->cards[0]);
        learn_deal(learning, &work, first, rng_hand(&rng, all & ~first, setup->cards[1]));
    }
    free(work.places);
    free(work.plays);
    return deals == 0;
}

/* Let what was learned earlier count less. */
void fade(float *numbers, int64_t number, float by) {
    for (int64_t i = 0; i < number; i++) numbers[i] *= by;
}
