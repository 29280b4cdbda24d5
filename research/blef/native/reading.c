/* How a player decides, as the rounds before show: the twin of strategies/reading.py and taste.py. */
#include "reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MARK[LEVELS - 1] = {0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 0.9999};
static const double NEAR[LEVELS] = {1, 0.6, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
static const double DRAWN = 0.15, DOUBTED = 5, BESIDE = 0.3, FADES = 0.95;
static const double RATE = 0.7, STEADY = 0.4, HALF = 10;
static const double TASTE = 0.35, UNREAD = 0.2, TEMPER = 0.7, ANY_TASTE = 0.02, ANY_TABLE = 0.05;

static int step_of(int step) {
    return step < 2 ? 0 : step < 4 ? 1 : step < 7 ? 2 : step < 13 ? 3 : step < 25 ? 4 : 5;
}

void see_traits(Mind *mind) {
    const double *chances = mind->chances;
    double top = -1;
    for (int b = BETS - 1; b >= 0; b--) {
        int level = 0;
        while (level < LEVELS - 1 && chances[b] >= MARK[level]) level++;
        mind->level[b] = (uint8_t)level;
        mind->high[b] = chances[b] > top;
        if (chances[b] > top) top = chances[b];
    }
    for (int b = 0; b < BETS; b++) {
        int before = b - 1;
        while (before >= 0 && chances[before] < chances[b]) before = mind->before[before];
        mind->before[b] = (int8_t)before;
    }
}

static void unlog(const Taste *logs, Taste *taste) {
    for (int n = 0; n < LEVELS; n++) taste->level[n] = exp(logs->level[n]);
    for (int n = 0; n < LEVELS; n++) taste->check[n] = 1 / (1 + exp(-logs->check[n]));
    for (int n = 0; n < EDGES; n++) taste->edge[n] = exp(logs->edge[n]);
    for (int n = 0; n < STEPS; n++) taste->step[n] = exp(logs->step[n]);
    for (int n = 0; n < BONDS; n++) taste->bond[n] = exp(logs->bond[n]);
}

static const double *first_weights(void) {
    static double weights[MODELS];
    for (int m = 0; m < HABITS; m++) weights[m] = (1 - TASTE) * WEIGHT[m];
    weights[HABITS] = TASTE;
    return weights;
}

/* The weights of the models before they make 1. */
static double found(const Reading *reading, double weights[MODELS]) {
    double top = reading->explained[0], total = 0;
    for (int m = 1; m < MODELS; m++)
        if (reading->explained[m] > top) top = reading->explained[m];
    for (int m = 0; m < MODELS; m++)
        total += weights[m] = first_weights()[m] * exp(TEMPER * (reading->explained[m] - top));
    return top + log(total);
}

double evidence(const Reading *reading) {
    double weights[MODELS];
    return found(reading, weights) - reading->table;
}

/* What follows from what was learned. */
static void conclude(Reading *reading) {
    double total = 0, weights[MODELS];
    unlog(&reading->logs, &reading->taste);
    found(reading, weights);
    for (int m = 0; m < MODELS; m++) total += weights[m];
    for (int m = 0; m < MODELS; m++)
        reading->weights[m] = (1 - UNREAD) * weights[m] / total + UNREAD * first_weights()[m];
}

void begin_reading(Reading *reading) {
    memset(reading, 0, sizeof *reading);
    for (int n = 0; n < LEVELS; n++) {
        double middle = ((n ? MARK[n - 1] : 0) + (n < LEVELS - 1 ? MARK[n] : 1)) / 2;
        reading->logs.level[n] = (middle - 1) / DRAWN;
        reading->logs.check[n] = DOUBTED * (0.3 - middle);
    }
    conclude(reading);
}

static double check_of(const Taste *taste, const Mind *mind, int last) {
    return last == OPENING ? 0 : last == BETS - 1 ? 1 : taste->check[mind->level[last]];
}

static int edge_of(const Mind *mind, int last, int bet) {
    return 2 * (mind->before[bet] <= last) + mind->high[bet];
}

/* How often each bet above is made, up to a factor; their sum. */
static double weigh(const Taste *taste, const Mind *mind, int last, double weights[BETS]) {
    static _Thread_local uint8_t steps[BETS + 1];
    for (int n = 0; !steps[BETS] && n <= BETS; n++) steps[n] = (uint8_t)step_of(n);
    double total = 0;
    for (int b = last + 1; b < BETS; b++)
        total += weights[b] = taste->level[mind->level[b]] * taste->edge[edge_of(mind, last, b)] *
                              taste->step[steps[b - last]] * taste->bond[bond[last + 1][b]];
    return total;
}

static double even(int last) { return 1.0 / (BETS - last - (last == OPENING)); }

double foretold(const Reading *reading, const Mind *mind, int last, int action) {
    double weights[BETS], chance = check_of(&reading->taste, mind, last);
    if (action != CHECK) {
        double total = weigh(&reading->taste, mind, last, weights);
        chance = (1 - chance) * weights[action] / total;
    }
    return (1 - ANY_TASTE) * chance + ANY_TASTE * even(last);
}

void draw_replies(const Reading *reading, const Mind *mind, Rng *rng, uint8_t replies[BETS]) {
    const double doubt = rng_unit(rng); /* one for all, so that it checks any last bet as unlikely */
    for (int last = 0; last < BETS; last++) {
        replies[last] = CHECK;
        if (doubt < check_of(&reading->taste, mind, last)) continue;
        double weights[BETS], at = rng_unit(rng);
        at *= weigh(&reading->taste, mind, last, weights);
        int bet = last + 1;
        while (bet < BETS - 1 && (at -= weights[bet]) >= 0) bet++;
        replies[last] = (uint8_t)bet;
    }
}

static void learn(Reading *reading, const Mind *mind, int last, int action) {
    Taste *logs = &reading->logs, off = {0};
    double left = 1 / (1 + reading->decisions / HALF), weights[BETS];
    double rate = RATE * (left > STEADY ? left : STEADY);
    for (int n = 0; last != OPENING && n < LEVELS; n++)
        logs->check[n] += NEAR[abs(n - mind->level[last])] *
                          ((action == CHECK) - reading->taste.check[mind->level[last]]);
    if (action == CHECK) return;
    double total = weigh(&reading->taste, mind, last, weights);
    for (int b = last + 1; b < BETS; b++) {
        double more = (b == action) - weights[b] / total;
        off.level[mind->level[b]] += more;
        off.edge[edge_of(mind, last, b)] += more;
        off.step[step_of(b - last)] += more;
        off.bond[bond[last + 1][b]] += more;
    }
    for (int n = 0; n < LEVELS; n++) {
        double beside = (n ? off.level[n - 1] : 0) + (n < LEVELS - 1 ? off.level[n + 1] : 0);
        logs->level[n] += rate * (off.level[n] + BESIDE * beside);
    }
    for (int n = 0; n < EDGES; n++) logs->edge[n] += rate * off.edge[n];
    for (int n = 0; n < STEPS; n++) logs->step[n] += rate * off.step[n];
    for (int n = 0; n < BONDS; n++) logs->bond[n] += rate * off.bond[n];
}

void read_round(Reading *reading, const Player *tables, const View *over, int role, Cards hand) {
    Mind mind;
    mind_of(hand, over->cards[1 - role], &mind);
    View view = *over;
    view.role = role, view.hand = hand;
    for (int n = role; n <= over->said; n += 2) {
        int last = n ? over->bet[n - 1] : OPENING, above = n ? last : BETS;
        int action = n < over->said ? over->bet[n] : CHECK;
        if (last == BETS - 1) continue;
        double play[WIDEST], told[MODELS];
        view.said = n;
        for (int habit = 0; habit < HABITS; habit++)
            told[habit] = foretold_by(&mind, habit, above, action);
        told[HABITS] = foretold(reading, &mind, last, action);
        double table = told[HABITS]; /* where no table has an answer, it says nothing of that */
        if (tables_play(tables, &view, play))
            table = (1 - ANY_TABLE) * play[action] + ANY_TABLE * even(last);
        for (int m = 0; m < MODELS; m++)
            reading->explained[m] = FADES * reading->explained[m] + log(told[m]);
        reading->table = FADES * reading->table + log(table);
        learn(reading, &mind, last, action);
        reading->decisions++;
        conclude(reading);
    }
}
