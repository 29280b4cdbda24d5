/* `bayes` as strategies/bayes.py, worlds.py and minds.py have it, with dice of its own. */
#include "blef.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 240, KEPT = 90, HABITS = 3, DEEP = 8, ANSWERS = 6, NONE = -1 };

static const double WEIGHT[HABITS] = {0.5, 0.3, 0.2};
static const double DOUBT[HABITS] = {-1, 0.2, 0.4};
static const double DARE = 0.5, SLIP = 0.1, TEMPERATURE = 0.12, SURPRISE = 0.1;

typedef struct {
    uint8_t replies[HABITS][BETS + 1]; /* to each last bet; the last one opens */
    double above[BETS + 1];            /* how plausible all bets above look together */
    double plausible[BETS];
} Mind;

static void mind_of(Cards hand, int hidden, Mind *mind) {
    double chances[BETS], total = 0;
    odds(hand, hidden, OPENING, chances);
    uint8_t *careful = mind->replies[0];
    int best = CHECK, highest = NONE;
    double top = -1;
    for (int b = BETS - 1; b >= 0; b--) {
        careful[b] = (uint8_t)(1 - chances[b] < top ? best : CHECK);
        if (chances[b] > top) best = b, top = chances[b];
        if (highest == NONE && chances[b] >= DARE) highest = b;
        mind->above[b] = total;
        mind->plausible[b] = exp((chances[b] - 1) / TEMPERATURE);
        total += mind->plausible[b];
    }
    careful[BETS] = (uint8_t)best;
    mind->above[BETS] = total;
    for (int habit = 1; habit < HABITS; habit++) {
        for (int b = 0; b < BETS; b++)
            mind->replies[habit][b] = (uint8_t)(chances[b] < DOUBT[habit] ? CHECK
                                                : b < highest             ? highest
                                                                          : careful[b]);
        mind->replies[habit][BETS] = (uint8_t)(highest == NONE ? careful[BETS] : highest);
    }
}

typedef struct {
    Truths truth;
    uint8_t replies[BETS];
} World;

/* A hand of the other player as its bets make it likely, with a habit; the weight of both. */
static double draw(const View *view, Rng *rng, World *world) {
    int role = view->role;
    const Cards unseen = ((1u << CARDS) - 1) & ~view->hand;
    Cards hand = rng_hand(rng, unseen, view->cards[1 - role]);
    Mind mind;
    mind_of(hand, view->cards[role], &mind);
    double scores[HABITS], total = 0;
    for (int habit = 0; habit < HABITS; habit++) {
        double score = WEIGHT[habit];
        for (int n = 1 - role; n < view->said; n += 2) {
            int last = n ? view->bet[n - 1] : BETS, bet = view->bet[n];
            score *= SLIP * mind.plausible[bet] / mind.above[last] +
                     (1 - SLIP) * (mind.replies[habit][last] == bet);
        }
        total += scores[habit] = score;
    }
    double at = rng_unit(rng) * total;
    int pick = 0;
    while (pick < HABITS - 1 && (at -= scores[pick]) >= 0) pick++;
    world->truth = truths(view->hand | hand);
    memcpy(world->replies, mind.replies[pick], BETS);
    return total;
}

static int draw_worlds(const View *view, Rng *rng, World kept[KEPT]) {
    bool told = view->role == 0 ? view->said > 1 : view->said > 0;
    if (!told) {
        for (int n = 0; n < KEPT; n++) draw(view, rng, &kept[n]);
        return KEPT;
    }
    static _Thread_local World drawn[DRAWS];
    double weights[DRAWS], total = 0, gone = 0;
    for (int n = 0; n < DRAWS; n++) total += weights[n] = draw(view, rng, &drawn[n]);
    double step = total / KEPT, mark = rng_unit(rng) * step;
    int number = 0;
    for (int n = 0; n < DRAWS; n++) {
        gone += weights[n];
        for (; mark < gone && number < KEPT; mark += step) kept[number++] = drawn[n];
    }
    return number;
}

typedef struct {
    World worlds[KEPT];
    int number;
    double chances[BETS];
    uint8_t likely[BETS]; /* bets that hold somewhere, likeliest first */
    int likelies;
} Foresight;

static double within(const Foresight *seen, int bet, const uint8_t *some, int number, bool deep);

static double answer(const Foresight *seen, int last, const uint8_t *some, int number, bool deep) {
    double best = 0;
    for (int n = 0; n < number; n++) best += !true_in(&seen->worlds[some[n]].truth, last);
    if (!deep) return best;
    for (int n = 0, tried = 0; n < seen->likelies && tried < ANSWERS; n++) {
        if (seen->likely[n] <= last) continue;
        double raised = within(seen, seen->likely[n], some, number, false);
        if (raised > best) best = raised;
        tried++;
    }
    return best;
}

/* In how many of these worlds we do not lose the round with a bet. */
static double within(const Foresight *seen, int bet, const uint8_t *some, int number, bool deep) {
    double won = 0;
    uint8_t left[KEPT], group[KEPT];
    int waiting = 0;
    for (int n = 0; n < number; n++) {
        const World *world = &seen->worlds[some[n]];
        if (world->replies[bet] == CHECK) won += true_in(&world->truth, bet);
        else left[waiting++] = some[n];
    }
    while (waiting) {
        int reply = seen->worlds[left[0]].replies[bet], grouped = 0, rest = 0;
        for (int n = 0; n < waiting; n++) {
            if (seen->worlds[left[n]].replies[bet] == reply) group[grouped++] = left[n];
            else left[rest++] = left[n];
        }
        waiting = rest;
        won += answer(seen, reply, group, grouped, deep);
    }
    return won;
}

static const double *order_by;

static int descending(const void *one, const void *two) {
    int a = *(const uint8_t *)one, b = *(const uint8_t *)two;
    if (order_by[a] != order_by[b]) return order_by[a] < order_by[b] ? 1 : -1;
    return a - b;
}

static void sort(uint8_t *some, int number, const double *values) {
    order_by = values;
    qsort(some, (size_t)number, 1, descending);
}

int decide_bayes(const View *view, Rng *rng) {
    Foresight seen;
    int last = last_of(view), number = 0;
    if (last == BETS - 1) return CHECK;
    seen.number = draw_worlds(view, rng, seen.worlds);
    seen.likelies = 0;
    uint8_t all[KEPT], bet[BETS];
    for (int n = 0; n < seen.number; n++) all[n] = (uint8_t)n;
    for (int b = 0; b < BETS; b++) {
        int held = 0;
        for (int n = 0; n < seen.number; n++) held += true_in(&seen.worlds[n].truth, b);
        seen.chances[b] = (double)held / seen.number;
        if (held) seen.likely[seen.likelies++] = (uint8_t)b;
        if (held && b > last) bet[number++] = (uint8_t)b;
    }
    if (!number) bet[number++] = (uint8_t)(last + 1);
    sort(seen.likely, seen.likelies, seen.chances);
    double worth[BETS];
    for (int pass = 0; pass < 2; pass++) {
        for (int n = 0; n < number; n++)
            worth[bet[n]] = (1 - SURPRISE) * within(&seen, bet[n], all, seen.number, pass == 1) /
                                seen.number + SURPRISE * seen.chances[bet[n]];
        sort(bet, number, worth);
        if (number > DEEP) number = DEEP;
    }
    if (last != OPENING && 1 - seen.chances[last] > worth[bet[0]]) return CHECK;
    return bet[0];
}
