/* An opponent as its matches show it: see fitted.h. */
#include "fitted.h"

#include <stdlib.h>

enum { CARDS, POINTS, RISK };

static bool has_gain(const Table *table) {
    Cards own = table->bank[table->player];
    for (int i = 0; i < table->lying_count; i++) {
        Card card = table->lying[i];
        if (value_of(card) > top_value(own, suit_of(card))) return true;
    }
    return false;
}

static int class_of(const Fitted *fitted, const Table *table) {
    Cards own = table->bank[table->player];
    int class = table->lying_count - 1, busting = 0, all = count(table->pile);
    if (fitted->by == POINTS) class = (bank_value(own | table->area) - bank_value(own)) / 3;
    if (fitted->by == RISK) {
        for (Suit suit = 0; suit < SUITS; suit++) {
            if (lies(table, suit)) busting += count(table->pile & SUIT_MASK(suit));
        }
        class = 10 * busting / (all ? all : 1);
    }
    return class < MOST_LYING ? class : MOST_LYING - 1;
}

static double chance_to_stop(const Fitted *fitted, const Table *table) {
    return fitted->stops[class_of(fitted, table)][has_gain(table)];
}

static double chance_with_oracle(const Fitted *fitted, const Table *table, Action action) {
    double takes = lies(table, suit_of(table->known_top)) ? fitted->bust : fitted->safe;
    double refuses = (1 - takes) * (1 - fitted->end);
    return action == END_TURN ? 1 - takes - refuses : action == REFUSE ? refuses : takes;
}

static bool busts(const Table *table, Card card) {
    return table->pending != CANNON && lies(table, suit_of(card));
}

static double liking(const Fitted *fitted, const Table *table, Card card, int low, int high) {
    const double *taste = fitted->taste[table->pending];
    if (busts(table, card)) return taste[BUSTS];
    int value = value_of(card);
    return taste[suit_of(card)] * taste[value == high ? DEAREST : value == low ? CHEAPEST : BETWEEN];
}

static double chance_of_card(const Fitted *fitted, const Table *table, Action action) {
    int low = 100, high = 0;
    double all = 0.0;
    if (action >= DECK) return 0.0;
    for (Cards rest = answers(table); rest; rest &= rest - 1) {
        int value = value_of(lowest(rest));
        if (busts(table, lowest(rest))) continue;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    for (Cards rest = answers(table); rest; rest &= rest - 1) {
        all += liking(fitted, table, lowest(rest), low, high);
    }
    return liking(fitted, table, (Card)action, low, high) / (all ? all : 1);
}

double fitted_chance(const Fitted *fitted, const Table *table, Action action) {
    if (table->pending == ORACLE) return chance_with_oracle(fitted, table, action);
    if (table->pending != NOTHING) return chance_of_card(fitted, table, action);
    double stops = chance_to_stop(fitted, table);
    return action == END_TURN ? stops : 1 - stops;
}

static Action decide(const void *own, const Table *table, Rng *rng) {
    if (table->pending == KRAKEN || !legal(table, END_TURN)) {
        if (legal(table, DRAW)) return DRAW;
    }
    double left = rng_unit(rng);
    Action last = DRAW;
    for (Action action = 0; action <= REFUSE; action++) {
        if (!legal(table, action)) continue;
        last = action;
        left -= fitted_chance(own, table, action);
        if (left < 0) break;
    }
    return last;
}

const Policy *fitted_new(const Fitted *numbers) {
    Fitted *fitted = malloc(sizeof *fitted);
    *fitted = *numbers;
    Policy *policy = malloc(sizeof *policy);
    *policy = (Policy){"fitted", decide, fitted};
    return policy;
}
