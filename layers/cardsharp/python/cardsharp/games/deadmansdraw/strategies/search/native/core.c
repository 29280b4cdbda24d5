/* The rules, dealing and matches (core.h). */
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

/* --- what the table shows --- */

int bank_value(Cards bank) {
    int value = 0;
    for (Suit suit = 0; suit < SUITS; suit++) value += top_value(bank, suit);
    return value;
}

Cards tops(Cards bank) {
    Cards highest = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (bank & SUIT_CARDS(suit)) highest |= BIT(top_of(bank, suit));
    }
    return highest;
}

Cards sword_targets(Cards own_bank, Cards opponent_bank) {
    Cards targets = tops(opponent_bank);
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (own_bank & SUIT_CARDS(suit)) targets &= ~SUIT_CARDS(suit);
    }
    return targets;
}

Cards answers(const Table *table) {
    Cards own_bank = table->bank[table->player], opponent_bank = table->bank[1 - table->player];
    Cards offer_cards = 0;
    switch (table->pending) {
        case HOOK: return tops(own_bank);
        case CANNON: return tops(opponent_bank);
        case SWORD: return sword_targets(own_bank, opponent_bank);
        case ORACLE: return BIT(table->known_top);
        case MAP:
            for (int i = 0; i < table->offer_size; i++) offer_cards |= BIT(table->offer[i]);
            return offer_cards;
        default: return 0;
    }
}

bool is_legal_action(const Table *table, Action action) {
    if (table->is_over) return false;
    if (action == REFUSE) return table->pending == ORACLE;
    if (action == DRAW) return table->pending == NOTHING || table->pending == KRAKEN;
    if (action == END_TURN) {
        return table->area_size && (table->pending == NOTHING || table->pending == ORACLE);
    }
    return action >= 0 && action < DECK && (answers(table) & BIT(action));
}

static int saved_count(const Table *table) {
    for (int i = 0; i < table->area_size; i++) {
        if (suit_of(table->area_cards[i]) == ANCHOR) return i;
    }
    return 0;
}

Cards saved_cards(const Table *table) {
    Cards saved = 0;
    for (int i = 0; i < saved_count(table); i++) saved |= BIT(table->area_cards[i]);
    return saved;
}

/* --- banks --- */

static void bank_card(Table *table, int player, Card card) {
    if (!(table->bank[player] & SUIT_CARDS(suit_of(card)))) {
        table->suit_order[player][table->suit_counts[player]++] = suit_of(card);
    }
    table->bank[player] |= BIT(card);
}

static void remove_from_bank(Table *table, int player, Card card) {
    table->bank[player] &= ~BIT(card);
    if (table->bank[player] & SUIT_CARDS(suit_of(card))) return;
    Suit *order = table->suit_order[player];
    int suit_count = --table->suit_counts[player], index = 0;
    while (order[index] != suit_of(card)) index++;
    for (; index < suit_count; index++) order[index] = order[index + 1];
}

/* --- the end of a turn --- */

static void bank_bonus(Match *match, int max_count) {
    Table *table = &match->table;
    Card bonus[DECK];
    int bonus_count = max_count < count(table->discard) ? max_count : count(table->discard);
    match->last_bonus = 0;
    for (int i = 0; i < bonus_count; i++) {
        bonus[i] = rng_take(&match->chance, &table->discard);
        match->last_bonus |= BIT(bonus[i]);
    }
    for (int i = 0; i < bonus_count; i++) bank_card(table, table->player, bonus[i]);
}

static void end_turn(Match *match, int collected_count, bool busted) {
    Table *table = &match->table;
    Cards gained_cards = 0;
    for (int i = 0; i < collected_count; i++) {
        gained_cards |= BIT(table->area_cards[i]);
        bank_card(table, table->player, table->area_cards[i]);
    }
    match->last_bonus = 0;
    if ((gained_cards & SUIT_CARDS(CHEST)) && (gained_cards & SUIT_CARDS(KEY))) {
        bank_bonus(match, collected_count);
    }
    match->busted = busted;
    table->area = 0;
    table->area_size = table->area_size_after_draw = 0;
    table->pending = NOTHING;
    table->kraken_draws = 0;
    table->player = (int8_t)(1 - table->player);
    table->turn++;
}

static void end_turn_in_bust(Match *match, Card card) {
    Table *table = &match->table;
    int saved = saved_count(table);
    table->discard |= BIT(card);
    for (int i = saved; i < table->area_size; i++) table->discard |= BIT(table->area_cards[i]);
    end_turn(match, saved, true);
}

/* --- a card comes into the play area --- */

static void demand_draws(Match *match, int draws) {
    int pile_count = count(match->table.pile);
    match->table.kraken_draws = (int8_t)(draws < pile_count ? draws : pile_count);
    match->table.pending = match->table.kraken_draws ? KRAKEN : NOTHING;
}

static void offer_cards(Match *match) {
    Table *table = &match->table;
    table->offer_size = 0;
    while (table->offer_size < MAP_OFFER && table->discard) {
        table->offer[table->offer_size++] = rng_take(&match->chance, &table->discard);
    }
}

static bool has_target(const Table *table, Suit suit) {
    Cards own_bank = table->bank[table->player], opponent_bank = table->bank[1 - table->player];
    switch (suit) {
        case HOOK: return own_bank != 0;
        case SWORD: return sword_targets(own_bank, opponent_bank) != 0;
        case MAP: return table->discard != 0;
        case CANNON: return opponent_bank != 0;
        case ORACLE: return table->pile != 0;
        default: return false;
    }
}

/* A Hook, Map or Sword brings a card itself and so cancels the due draws of a Kraken; they stay
 * due after a Cannon or an Oracle. */
static void begin_effect(Match *match, Suit suit, int kraken_draws) {
    Table *table = &match->table;
    if (suit == KRAKEN && table->pile) {
        demand_draws(match, KRAKEN_DRAWS);
    } else if (has_target(table, suit)) {
        table->pending = suit;
        table->kraken_draws = (int8_t)(suit == CANNON || suit == ORACLE ? kraken_draws : 0);
        if (suit == MAP) offer_cards(match);
        if (suit == ORACLE) table->known_top = match->order[match->next];
    } else {
        demand_draws(match, kraken_draws);
    }
}

static void put_in_play_area(Match *match, Card card, int kraken_draws, bool is_voluntary) {
    Table *table = &match->table;
    if (is_in_play_area(table, suit_of(card))) {
        end_turn_in_bust(match, card);
        return;
    }
    table->area_cards[table->area_size++] = card;
    table->area |= BIT(card);
    if (is_voluntary) table->area_size_after_draw = table->area_size;
    begin_effect(match, suit_of(card), kraken_draws);
}

static void draw_card(Match *match) {
    Table *table = &match->table;
    int kraken_draws = table->kraken_draws > 0 ? table->kraken_draws - 1 : 0;
    bool is_voluntary = table->pending == NOTHING;
    Card card = match->order[match->next++];
    table->pile &= ~BIT(card);
    table->known_top = NO_CARD;
    put_in_play_area(match, card, kraken_draws, is_voluntary);
}

/* --- actions --- */

static void answer(Match *match, Card card) {
    Table *table = &match->table;
    switch (table->pending) {
        case ORACLE:
            draw_card(match);
            return;
        case CANNON:
            remove_from_bank(table, 1 - table->player, card);
            table->discard |= BIT(card);
            demand_draws(match, table->kraken_draws);
            return;
        case HOOK: remove_from_bank(table, table->player, card); break;
        case SWORD: remove_from_bank(table, 1 - table->player, card); break;
        case MAP:
            for (int i = 0; i < table->offer_size; i++) table->discard |= BIT(table->offer[i]);
            table->discard &= ~BIT(card);
            break;
        default: return;
    }
    table->offer_size = 0;
    put_in_play_area(match, card, 0, false);
}

static void close_match(Match *match, int turn) {
    Table *table = &match->table;
    if (table->pile || table->pending != NOTHING) return;
    if (table->turn == turn) end_turn(match, table->area_size, false);
    table->is_over = true;
}

void match_play(Match *match, Action action) {
    Table *table = &match->table;
    int turn = table->turn;
    table->refused_card = NO_CARD;
    if (action == DRAW) {
        draw_card(match);
    } else if (action == END_TURN) {
        end_turn(match, table->area_size, false);
    } else if (action == REFUSE) {
        table->refused_card = table->known_top;
        demand_draws(match, table->kraken_draws);
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
    table->known_top = table->refused_card = NO_CARD;
    table->turn = 1;
}

/* --- policies by name --- */

enum { MAX_POLICIES = 64 };
static Policy policies[MAX_POLICIES];
static int policy_count;

void register_policy(const char *name, Decide decide) {
    if (policy_count < MAX_POLICIES) policies[policy_count++] = (Policy){name, decide, NULL};
}

const Policy *find_policy(const char *name) {
    for (int i = 0; i < policy_count; i++) {
        if (!strcmp(policies[i].name, name)) return &policies[i];
    }
    return NULL;
}
