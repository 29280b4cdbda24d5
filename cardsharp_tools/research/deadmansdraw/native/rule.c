/* A rule that a person can play: the twin of deadmansdraw/strategies/rule.py, for any
 * numbers, of which `cardsharp research tune-rule` finds the best. */
#include <stdlib.h>

#include "core.h"

typedef struct {
    int32_t draw;     /* what a draw that does not bust is taken to bring */
    int32_t treasure; /* what Chest beside Key counts */
    int32_t sword;    /* what a Sword counts more than its points */
} Rule;

static const Rule FOUND = {5, 8, 4};

static Cards own_of(const Table *table) { return table->bank[table->player]; }
static Cards other_of(const Table *table) { return table->bank[1 - table->player]; }

static int gain(Cards bank, Cards cards) { return bank_value(bank | cards) - bank_value(bank); }

static int taken_from(const Table *table, Card card) {
    Cards other = other_of(table);
    return other & BIT(card) ? bank_value(other) - bank_value(other & ~BIT(card)) : 0;
}

static int bonus(const Rule *rule, Card card) { return suit_of(card) == SWORD ? rule->sword : 0; }

static bool treasure(Cards cards) {
    return (cards & SUIT_MASK(CHEST)) && (cards & SUIT_MASK(KEY));
}

/* What cards that lie there are worth once they are banked. */
static int stake(const Rule *rule, const Table *table, Cards cards) {
    int swords = cards & SUIT_MASK(SWORD) ? rule->sword : 0;
    return gain(own_of(table), cards) + (treasure(cards) ? rule->treasure : 0) + swords;
}

/* What the card's effect does to the score. */
static int effect(const Rule *rule, const Table *table, Suit suit) {
    int best = 0;
    bool robs = suit == SWORD;
    if (suit == CHEST || suit == KEY) {
        return lies(table, suit == CHEST ? KEY : CHEST) ? rule->treasure : 0;
    }
    if (!robs && suit != CANNON) return 0;
    Cards targets = robs ? sword_targets(own_of(table), other_of(table)) : tops(other_of(table));
    for (; targets; targets &= targets - 1) {
        Card card = lowest(targets);
        int one = taken_from(table, card) + (robs ? value_of(card) : 0);
        if (!(robs && lies(table, suit_of(card))) && one > best) best = one;
    }
    return best;
}

/* What it does to the score to bring a card into play. */
static int worth(const Rule *rule, const Table *table, Card card) {
    if (lies(table, suit_of(card))) return -100 - value_of(card);
    int points = gain(own_of(table), BIT(card)) + taken_from(table, card);
    return points + effect(rule, table, suit_of(card));
}

static Action choose(const Rule *rule, const Table *table) {
    Action best = NO_CARD;
    int most = 0;
    for (Cards rest = answers(table); rest; rest &= rest - 1) {
        Card card = lowest(rest);
        bool shoots = table->pending == CANNON;
        int one = shoots ? taken_from(table, card) + bonus(rule, card) : worth(rule, table, card);
        if (best == NO_CARD || one > most) best = card, most = one;
    }
    return best;
}

static bool stops(const Rule *rule, const Table *table) {
    Cards saved = lies(table, ANCHOR) ? saved_cards(table) : 0;
    int lost = stake(rule, table, table->area) - stake(rule, table, saved), busting = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (lies(table, suit)) busting += count(table->pile & SUIT_MASK(suit));
    }
    return lost * busting >= rule->draw * (count(table->pile) - busting);
}

static Action decide(const void *own, const Table *table, Rng *rng) {
    const Rule *rule = own ? own : &FOUND;
    (void)rng;
    if (table->pending == ORACLE) {
        return lies(table, suit_of(table->known_top)) ? END_TURN : table->known_top;
    }
    if (table->pending != NOTHING && table->pending != KRAKEN) return choose(rule, table);
    return legal(table, END_TURN) && stops(rule, table) ? END_TURN : DRAW;
}

REGISTER_POLICY("rule", decide)

/* A policy that plays by these numbers; it lives as long as the process. */
const Policy *rule_new(const Rule *numbers) {
    Rule *rule = malloc(sizeof *rule);
    *rule = *numbers;
    Policy *policy = malloc(sizeof *policy);
    *policy = (Policy){"rule", decide, rule};
    return policy;
}
