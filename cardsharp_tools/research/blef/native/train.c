/* Regret minimisation over sampled deals.
 *
 * For a deal that is fixed, what comes after a bet depends on the bet, what is known of those before
 * it, and who is to move. So a round is a small graph, and all of it is learned from at once: first how likely
 * each place is reached, then backwards what it is worth. A player forgets earlier bets, so nothing
 * is promised but what a best answer finds (response.c).
 *
 * Sums are made lane by lane, in an order of their own: they come out alike on every machine.
 */
#pragma GCC optimize("O3")
#include "blef.h"

#include <stdlib.h>
#include <string.h>

/* Less is nothing: its inverse would be no number. */
static const float LEAST = 1e-30f;

/* What is reached less often is passed over: numbers much smaller are slow. */
static const float SELDOM = 1e-15f;

/* Nothing is learned from a place that is reached less often, and nothing added up. */
static const float FAINT = 1e-8f, FAINT_SUM = 1e-7f;

/* Into what is compiled for each kind of machine. */
#define INLINED __attribute__((always_inline)) static inline

enum { PLAY = 112 };
typedef float Lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
#define AT(numbers) (*(Lanes *)(numbers))

typedef struct {
    const Setup *setup;
    float *regrets[2], *sums[2]; /* by role: hand, place and choice */
    double explore; /* how much of the learner's own way is chance */
    double tremble; /* how much of the other's is */
    double habits;  /* how much of the other's is what `bayes` takes for habits */
} Learning;

/* By who is to move: numbers for the places that share what was bet before, in order of the last
 * bet. */
typedef struct {
    float *ways[2][2]; /* and by learner: how likely the other comes here, where the learner explores */
    float *worth[2];   /* chance that who began wins the round */
    bool *reached[2];  /* by what was bet before */
    size_t stride;
    float *regrets[2], *sums[2]; /* of the hands that were dealt */
    Mind minds[2];
} Work;

INLINED float total_of(Lanes lane) {
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* Each choice as often as it is regretted. */
INLINED void match_regrets(const float *regrets, int choices, float *play) {
    Lanes sum = {0};
    const int width = padded(choices);
    AT(play + width) = sum;
    for (int k = 0; k < width; k += LANES) {
        Lanes part = AT(regrets + k);
        part = (Lanes)((part > 0) & (__typeof__(part > 0))part);
        AT(play + k) = part;
        sum += part;
    }
    float total = total_of(sum);
    if (total > LEAST) {
        const Lanes share = (Lanes){0} + 1 / total;
        for (int k = 0; k < width; k += LANES) AT(play + k) *= share;
    } else {
        for (int k = 0; k < width; k++) play[k] = k < choices ? 1.0f / (float)choices : 0;
    }
}

/* A place: who is to move, the class of the bet before the last two, these by their places in the
 * setup and one more. */
typedef struct {
    int mover, third, before, last;
} Spot;

/* Of what was bet before. */
static inline int earlier(const Setup *setup, int third, int before) {
    return before * setup->classes + third;
}

static inline size_t at(const Work *work, int earlier, int last) {
    return (size_t)earlier * work->stride + (size_t)last;
}

/* The number of what was bet before, once somebody bets higher. */
static inline int after(const Setup *setup, Spot spot) {
    return spot.last < setup->high ? earlier(setup, setup->class_of[spot.before], spot.last) : 0;
}

static inline size_t choices_from(const Setup *setup, Spot spot) {
    return (size_t)setup->start[place_of(setup, spot.third, spot.before, spot.last)];
}

INLINED void go_on(const Learning *learning, Work *work, Spot spot) {
    const Setup *setup = learning->setup;
    const int mover = spot.mover, last = spot.last, above = setup->bets - last;
    float play[PLAY], *const *ways = work->ways[mover];
    const size_t here = at(work, earlier(setup, spot.third, spot.before), last);
    const float own = ways[mover][here], others = ways[1 - mover][here];
    if (own < SELDOM && others < SELDOM) return;
    match_regrets(work->regrets[mover] + choices_from(setup, spot), choices_at(setup, last), play);
    const int next = after(setup, spot);
    work->reached[1 - mover][next] = true;
    const float seeks = (float)learning->explore, even = 1.0f / (float)above;
    const float slips = (float)learning->tremble, habits = (float)learning->habits;
    const Lanes none = {0}, often = none + own * (1 - seeks), ever = none + own * seeks * even;
    const Lanes chosen = none + others * (1 - slips - habits), slipped = none + others * slips * even;
    float *mine = work->ways[1 - mover][mover] + at(work, next, last + 1);
    float *theirs = work->ways[1 - mover][1 - mover] + at(work, next, last + 1);
    const float *bets_above = play + (last > 0);
    for (int k = 0; k < padded(above); k += LANES) {
        AT(mine + k) += AT(bets_above + k) * often + ever;
        AT(theirs + k) += AT(bets_above + k) * chosen + slipped;
    }
    for (int habit = 0; habits > 0 && habit < HABITS; habit++) {
        int said = reply(&work->minds[mover], habit, last ? setup->bet[last - 1] : BETS);
        int place = said == CHECK ? -1 : setup->place[said];
        if (place >= 0) theirs[place - last] += others * habits * (float)WEIGHT[habit];
    }
}

INLINED void learn(Work *work, const Setup *setup, const Truths *truth, Spot spot) {
    const int mover = spot.mover, last = spot.last, choices = choices_at(setup, last);
    const int width = padded(choices), checks = last > 0;
    const size_t here = at(work, earlier(setup, spot.third, spot.before), last);
    const size_t from = choices_from(setup, spot);
    float play[PLAY], worths[PLAY], *regrets = work->regrets[mover] + from;
    match_regrets(regrets, choices, play);
    if (checks) worths[0] = (mover == 0) != true_in(truth, setup->bet[last - 1]);
    const float *above = work->worth[1 - mover] + at(work, after(setup, spot), last + 1);
    for (int k = 0; k < width; k += LANES) AT(worths + checks + k) = AT(above + k);
    Lanes sum = {0};
    for (int k = 0; k < width; k += LANES) sum += AT(play + k) * AT(worths + k);
    const float worth = work->worth[mover][here] = total_of(sum);
    const float ways[2] = {work->ways[mover][0][here], work->ways[mover][1][here]};
    if (ways[0] < FAINT && ways[1] < FAINT) return;
    const float weight = mover == 0 ? ways[0] : -ways[1], often = ways[1 - mover];
    for (int k = 0; k < width; k += LANES) AT(regrets + k) += weight * (AT(worths + k) - worth);
    for (int k = choices; k < width; k++) regrets[k] = 0;
    float *sums = work->sums[mover] + from;
    for (int k = 0; often > FAINT_SUM && k < width; k += LANES) AT(sums + k) += often * AT(play + k);
}

/* The last bet that may come after this one, at the least; who begins finds none at first. */
static inline int first_last(int mover, int before) { return mover || before ? before + 1 : 0; }

/* After a high bet it is as if nothing was bet before. */
INLINED void go_on_from(const Learning *learning, Work *work, int mover, int third, int before) {
    const Setup *setup = learning->setup;
    const int row = earlier(setup, third, before);
    if (!work->reached[mover][row]) return;
    for (int last = first_last(mover, before); last < setup->high; last++)
        go_on(learning, work, (Spot){mover, third, before, last});
    for (int learner = 0; row && learner < 2; learner++) {
        const float *ways = work->ways[mover][learner] + at(work, row, 0);
        float *high = work->ways[mover][learner];
        for (int last = setup->high; last <= setup->bets; last++) high[last] += ways[last];
    }
}

/* And forget that this was reached. */
INLINED void learn_from(Work *work, const Setup *setup, const Truths *truth, int mover, int third,
                        int before) {
    const int row = earlier(setup, third, before);
    if (!work->reached[mover][row]) return;
    work->reached[mover][row] = false;
    for (int last = setup->high; row && last <= setup->bets; last++)
        work->worth[mover][at(work, row, last)] = work->worth[mover][last];
    for (int last = setup->high - 1; last >= first_last(mover, before); last--)
        learn(work, setup, truth, (Spot){mover, third, before, last});
    for (int learner = 0; learner < 2; learner++)
        memset(work->ways[mover][learner] + at(work, row, 0), 0, work->stride * sizeof(float));
}

/* For each kind of machine, as it adds fastest. */
__attribute__((target_clones("avx512f", "avx2", "default"))) static void learn_deal(
    const Learning *learning, Work *work, Cards first, Cards second) {
    const Setup *setup = learning->setup;
    const int bets = setup->bets, high = setup->high;
    const Cards hands[2] = {first, second};
    const Truths truth = truths(first | second);
    for (int role = 0; role < 2; role++) {
        size_t hand = (size_t)number_of(setup, hands[role]) * (size_t)setup->span;
        work->regrets[role] = learning->regrets[role] + hand;
        work->sums[role] = learning->sums[role] + hand;
        if (learning->habits > 0) mind_of(hands[role], setup->cards[1 - role], &work->minds[role]);
    }
    work->ways[0][0][0] = work->ways[0][1][0] = 1;
    work->reached[0][0] = true;
    for (int before = 0; before < high; before++)
        for (int mover = 0; mover < 2; mover++)
            for (int third = 0; third < setup->classes; third++)
                go_on_from(learning, work, mover, third, before);
    for (int last = high; last < bets; last++)
        for (int mover = 0; mover < 2; mover++) go_on(learning, work, (Spot){mover, 0, 0, last});
    for (int last = bets; last >= high; last--)
        for (int mover = 0; mover < 2; mover++)
            learn(work, setup, &truth, (Spot){mover, 0, 0, last});
    for (int before = high - 1; before >= 0; before--)
        for (int mover = 1; mover >= 0; mover--)
            for (int third = setup->classes - 1; third >= 0; third--)
                learn_from(work, setup, &truth, mover, third, before);
}

static bool begin(Work *work, const Setup *setup) {
    work->stride = (size_t)padded(setup->bets + 1) + LANES;
    const size_t rows = (size_t)earlier(setup, 0, setup->bets + 1);
    const size_t places = rows * work->stride + LANES;
    bool made = true;
    for (int mover = 0; mover < 2; mover++) {
        made = (work->reached[mover] = calloc(rows, sizeof(bool))) && made;
        made = (work->worth[mover] = calloc(places, sizeof(float))) && made;
        for (int learner = 0; learner < 2; learner++)
            made = (work->ways[mover][learner] = calloc(places, sizeof(float))) && made;
    }
    return made;
}

static void end(Work *work) {
    for (int mover = 0; mover < 2; mover++) {
        free(work->reached[mover]);
        free(work->worth[mover]);
        for (int learner = 0; learner < 2; learner++) free(work->ways[mover][learner]);
    }
}

/* Learn from so many deals; false where there is no memory. */
bool train(Learning *learning, uint64_t seed, int64_t deals) {
    const Setup *setup = learning->setup;
    const Cards all = (1u << CARDS) - 1;
    Rng rng = {seed};
    Work work = {0};
    for (bool begun = begin(&work, setup); begun && deals > 0; deals--) {
        Cards first = rng_hand(&rng, all, setup->cards[0]);
        learn_deal(learning, &work, first, rng_hand(&rng, all & ~first, setup->cards[1]));
    }
    end(&work);
    return deals == 0;
}

/* Let what was learned earlier count less. */
void fade(float *numbers, int64_t number, float by) {
    for (int64_t i = 0; i < number; i++) numbers[i] *= by;
}
