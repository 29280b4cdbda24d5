/* The rules, dealing and matches: see core.h. */
#include "core.h"

#include <stddef.h>
#include <string.h>

/* --- randomness --- */

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t rng_next(Rng *rng) { return mix(rng->state += 0x9e3779b97f4a7c15u); }

Rng rng_for(uint64_t seed, uint64_t number, uint64_t purpose) {
    Rng rng = {seed};
    rng.state = rng_next(&rng) + number;
    rng.state = rng_next(&rng) + purpose;
    rng.state = rng_next(&rng);
    return rng;
}

int rng_below(Rng *rng, int n) {
    return (int)(((unsigned __int128)rng_next(rng) * (unsigned)n) >> 64);
}

double rng_unit(Rng *rng) { return (double)(rng_next(rng) >> 11) * 0x1p-53; }

Card rng_take(Rng *rng, Cards *from) {
    Cards rest = *from;
    for (int skipped = rng_below(rng, count(rest)); skipped > 0; skipped--) rest &= rest - 1;
    Card card = lowest(rest);
    *from &= ~BIT(card);
    return card;
}

/* --- looking at the table --- */

int bank_value(Cards bank) {
    int value = 0;
    for (Suit suit = 0; suit < SUITS; suit++) value += top_value(bank, suit);
    return value;
}

Cards tops(Cards bank) {
    Cards highest = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (bank & SUIT_MASK(suit)) highest |= BIT(top_of(bank, suit));
    }
    return highest;
}

Cards sword_targets(Cards own, Cards other) {
    Cards targets = tops(other);
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (own & SUIT_MASK(suit)) targets &= ~SUIT_MASK(suit);
    }
    return targets;
}

Cards answers(const Table *table) {
    Cards own = table->bank[table->player], other = table->bank[1 - table->player];
    Cards offered = 0;
    switch (table->pending) {
        case HOOK: return tops(own);
        case CANNON: return tops(other);
        case SWORD: return sword_targets(own, other);
        case ORACLE: return BIT(table->known_top);
        case MAP:
            for (int i = 0; i < table->offered; i++) offered |= BIT(table->offer[i]);
            return offered;
        default: return 0;
    }
}

bool legal(const Table *table, Action action) {
    if (table->over) return false;
    if (action == REFUSE) return table->pending == ORACLE;
    if (action == DRAW) return table->pending == NOTHING || table->pending == KRAKEN;
    if (action == END_TURN) {
        return table->lying_count && (table->pending == NOTHING || table->pending == ORACLE);
    }
    return action >= 0 && action < DECK && (answers(table) & BIT(action));
}

static int saved_count(const Table *table) {
    for (int i = 0; i < table->lying_count; i++) {
        if (suit_of(table->lying[i]) == ANCHOR) return i;
    }
    return 0;
}

Cards saved_cards(const Table *table) {
    Cards saved = 0;
    for (int i = 0; i < saved_count(table); i++) saved |= BIT(table->lying[i]);
    return saved;
}

/* --- banks --- */

static void bank_card(Table *table, int player, Card card) {
    if (!(table->bank[player] & SUIT_MASK(suit_of(card)))) {
        table->entered[player][table->suits_held[player]++] = suit_of(card);
    }
    table->bank[player] |= BIT(card);
}

static void take_from_bank(Table *table, int player, Card card) {
    table->bank[player] &= ~BIT(card);
    if (table->bank[player] & SUIT_MASK(suit_of(card))) return;
    Suit *order = table->entered[player];
    int held = --table->suits_held[player], at = 0;
    while (order[at] != suit_of(card)) at++;
    for (; at < held; at++) order[at] = order[at + 1];
}

/* --- a turn's end --- */

static void bring_bonus(Match *match, int wanted) {
    Table *table = &match->table;
    Card picked[DECK];
    int number = wanted < count(table->discard) ? wanted : count(table->discard);
    match->last_bonus = 0;
    for (int i = 0; i < number; i++) {
        picked[i] = rng_take(&match->chance, &table->discard);
        match->last_bonus |= BIT(picked[i]);
    }
    for (int i = 0; i < number; i++) bank_card(table, table->player, picked[i]);
}

static void end_turn(Match *match, int collected, bool busted) {
    Table *table = &match->table;
    Cards got = 0;
    for (int i = 0; i < collected; i++) {
        got |= BIT(table->lying[i]);
        bank_card(table, table->player, table->lying[i]);
    }
    match->last_bonus = 0;
    if ((got & SUIT_MASK(CHEST)) && (got & SUIT_MASK(KEY))) bring_bonus(match, collected);
    match->busted = busted;
    table->area = 0;
    table->lying_count = table->lying_when_drawn = 0;
    table->pending = NOTHING;
    table->owed = 0;
    table->player = (int8_t)(1 - table->player);
    table->turn++;
}

static void bust(Match *match, Card card) {
    Table *table = &match->table;
    int saved = saved_count(table);
    table->discard |= BIT(card);
    for (int i = saved; i < table->lying_count; i++) table->discard |= BIT(table->lying[i]);
    end_turn(match, saved, true);
}

/* --- a card comes down --- */

static void demand_draws(Match *match, int draws) {
    int left = count(match->table.pile);
    match->table.owed = (int8_t)(draws < left ? draws : left);
    match->table.pending = match->table.owed ? KRAKEN : NOTHING;
}

static void offer_cards(Match *match) {
    Table *table = &match->table;
    table->offered = 0;
    while (table->offered < MAP_OFFER && table->discard) {
        table->offer[table->offered++] = rng_take(&match->chance, &table->discard);
    }
}

static bool has_target(const Table *table, Suit suit) {
    Cards own = table->bank[table->player], other = table->bank[1 - table->player];
    switch (suit) {
        case HOOK: return own != 0;
        case SWORD: return sword_targets(own, other) != 0;
        case MAP: return table->discard != 0;
        case CANNON: return other != 0;
        case ORACLE: return table->pile != 0;
        default: return false;
    }
}

/* Hook, Map and Sword bring a card themselves and so end a Kraken's duty; Cannon and Oracle
 * carry it along. */
static void start_effect(Match *match, Suit suit, int owed) {
    Table *table = &match->table;
    if (suit == KRAKEN && table->pile) {
        demand_draws(match, KRAKEN_DRAWS);
    } else if (has_target(table, suit)) {
        table->pending = suit;
        table->owed = (int8_t)(suit == CANNON || suit == ORACLE ? owed : 0);
        if (suit == MAP) offer_cards(match);
        if (suit == ORACLE) table->known_top = match->order[match->next];
    } else {
        demand_draws(match, owed);
    }
}

static void place(Match *match, Card card, int owed, bool free_will) {
    Table *table = &match->table;
    if (lies(table, suit_of(card))) {
        bust(match, card);
        return;
    }
    table->lying[table->lying_count++] = card;
    table->area |= BIT(card);
    if (free_will) table->lying_when_drawn = table->lying_count;
    start_effect(match, suit_of(card), owed);
}

static void draw(Match *match) {
    Table *table = &match->table;
    int owed = table->owed > 0 ? table->owed - 1 : 0;
    bool free_will = table->pending == NOTHING;
    Card card = match->order[match->next++];
    table->pile &= ~BIT(card);
    table->known_top = NO_CARD;
    place(match, card, owed, free_will);
}

/* --- actions --- */

static void answer(Match *match, Card card) {
    Table *table = &match->table;
    switch (table->pending) {
        case ORACLE:
            draw(match);
            return;
        case CANNON:
            take_from_bank(table, 1 - table->player, card);
            table->discard |= BIT(card);
            demand_draws(match, table->owed);
            return;
        case HOOK: take_from_bank(table, table->player, card); break;
        case SWORD: take_from_bank(table, 1 - table->player, card); break;
        case MAP:
            for (int i = 0; i < table->offered; i++) table->discard |= BIT(table->offer[i]);
            table->discard &= ~BIT(card);
            break;
        default: return;
    }
    table->offered = 0;
    place(match, card, 0, false);
}

static void close_match(Match *match, int turn) {
    Table *table = &match->table;
    if (table->pile || table->pending != NOTHING) return;
    if (table->turn == turn) end_turn(match, table->lying_count, false);
    table->over = true;
}

void match_play(Match *match, Action action) {
    Table *table = &match->table;
    int turn = table->turn;
    table->refused = NO_CARD;
    if (action == DRAW) {
        draw(match);
    } else if (action == END_TURN) {
        end_turn(match, table->lying_count, false);
    } else if (action == REFUSE) {
        table->refused = table->known_top;
        demand_draws(match, table->owed);
    } else {
        answer(match, (Card)action);
    }
    close_match(match, turn);
}

/* --- matches --- */

void match_deal(Match *match, Rng deck, Rng chance) {
    Table *table = &match->table;
    memset(match, 0, sizeof *match);
    for (Card card = 0; card < DECK; card++) {
        *(card % RANKS ? &table->pile : &table->discard) |= BIT(card);
    }
    for (Cards rest = table->pile; rest;) match->order[match->next++] = rng_take(&deck, &rest);
    match->next = 0;
    match->chance = chance;
    table->player = (int8_t)rng_below(&deck, 2);
    table->pending = NOTHING;
    table->known_top = table->refused = NO_CARD;
    table->turn = 1;
}

/* --- policies by name --- */

enum { MOST_POLICIES = 64 };
static Policy policies[MOST_POLICIES];
static int policy_count;

void register_policy(const char *name, Decide decide) {
    if (policy_count < MOST_POLICIES) policies[policy_count++] = (Policy){name, decide, NULL};
}

const Policy *find_policy(const char *name) {
    for (int i = 0; i < policy_count; i++) {
        if (!strcmp(policies[i].name, name)) return &policies[i];
    }
    return NULL;
}
