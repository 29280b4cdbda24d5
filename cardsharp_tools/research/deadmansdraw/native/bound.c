/* What a player lacks against itself: see bound.h. */
#include "bound.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 10 };

/* A position of the match in which all is known, and what is still won there at best. */
typedef struct { uint64_t one, two; double value; } Slot; /* empty where both are 0 */

typedef struct {
    const Trial *trial;
    uint64_t seed, number;
    int me; /* who replies */
    int64_t nodes, slots;
    Slot *memory;
} Relaxed;

/* --- one action, its luck paid for --- */

/* The picks of a Map or a bonus hang on how many cards are left, and on whether a Map lies: on every
 * way to the end each such pair comes at most once, so that all picks are independent. */
static Rng picks_at(const Relaxed *relaxed, const Table *table) {
    uint64_t moment = 2 * (uint64_t)count(table->pile) + lies(table, MAP);
    return rng_for(relaxed->seed, relaxed->number, PURPOSE_AGAIN + moment);
}

/* Plays `action`; what its chances brought who replies. */
static double play(const Relaxed *relaxed, Match *match, Action action) {
    const Trial *trial = relaxed->trial;
    Table before = match->table;
    Card drawn = match->order[match->next];
    match->chance = picks_at(relaxed, &before);
    match_play(match, action);
    double luck = count(match->table.pile) <= trial->last
                      ? luck_by_exact(trial->exact, &before, action, drawn, match)
                      : luck_of(trial->judge, &before, action, drawn, match);
    return before.player == relaxed->me ? luck : -luck;
}

static double share_of(const Relaxed *relaxed, const Table *table) {
    int lead = bank_value(table->bank[relaxed->me]) - bank_value(table->bank[1 - relaxed->me]);
    return lead > 0 ? 1.0 : lead ? 0.0 : 0.5;
}

static Action by(const Policy *policy, const Table *table) {
    Rng dice = {0};
    return policy->decide(policy->own, table, &dice);
}

/* As `policy`, which does not know. */
static double share_by(const Relaxed *relaxed, Match match, const Policy *policy) {
    double paid = 0.0;
    while (!match.table.over) {
        bool mine = match.table.player == relaxed->me;
        Action action = by(mine ? policy : relaxed->trial->player, &match.table);
        paid += play(relaxed, &match, action);
    }
    return share_of(relaxed, &match.table) - paid;
}

/* --- at best, knowing all --- */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

/* 128 bits for what a position hangs on where the order is known. */
static Slot name_of(const Table *table) {
    uint64_t small[] = {(uint8_t)table->pending, (uint8_t)table->owed, (uint8_t)table->player,
                        (uint8_t)table->lying_count, table->known_top != NO_CARD};
    uint64_t words[] = {table->bank[0], table->bank[1], table->pile, table->discard, table->area,
                        saved_cards(table), table->pending == MAP ? answers(table) : 0, 0};
    Slot name = {1, 0x94d049bb133111ebu, 0.0};
    for (int i = 0; i < 5; i++) words[7] = words[7] << 8 | small[i];
    for (int i = 0; i < 8; i++) {
        name.one = mix(name.one, words[i]);
        name.two = mix(name.two + words[i], 0xbf58476d1ce4e5b9u * (unsigned)(i + 1));
    }
    return name;
}

static Slot *slot_of(const Relaxed *relaxed, const Slot *name) {
    for (uint64_t at = name->one;; at++) {
        Slot *slot = &relaxed->memory[at & (uint64_t)(relaxed->slots - 1)];
        bool empty = !slot->one && !slot->two;
        if (empty || (slot->one == name->one && slot->two == name->two)) return slot;
    }
}

static void remember(Relaxed *relaxed, Slot found) {
    if (++relaxed->nodes * 2 > relaxed->slots) {
        Slot *old = relaxed->memory;
        int64_t slots = relaxed->slots;
        relaxed->slots *= 2;
        relaxed->memory = calloc((size_t)relaxed->slots, sizeof *old);
        for (Slot *slot = old; slot < old + slots; slot++) {
            if (slot->one || slot->two) *slot_of(relaxed, slot) = *slot;
        }
        free(old);
    }
    *slot_of(relaxed, &found) = found;
}

/* The choices of who acts: one where that is the player who is replied to. Refusing an Oracle's card
 * leaves no more than stopping and taking it do. */
static int choices(const Relaxed *relaxed, const Table *table, Action actions[MOST_OPTIONS]) {
    int number = 0;
    if (table->player != relaxed->me) {
        actions[0] = by(relaxed->trial->player, table);
        return 1;
    }
    for (Cards cards = answers(table); cards; cards &= cards - 1) actions[number++] = lowest(cards);
    if (legal(table, DRAW)) actions[number++] = DRAW;
    if (legal(table, END_TURN)) actions[number++] = END_TURN;
    return number;
}

static double at_best(Relaxed *relaxed, const Match *match) {
    if (match->table.over) return share_of(relaxed, &match->table);
    if (relaxed->nodes > relaxed->trial->most) return 0.0;
    Slot name = name_of(&match->table), *known = slot_of(relaxed, &name);
    if (known->one || known->two) return known->value;
    Action actions[MOST_OPTIONS];
    int number = choices(relaxed, &match->table, actions);
    for (int i = 0; i < number; i++) {
        Match after = *match;
        double paid = play(relaxed, &after, actions[i]), value = at_best(relaxed, &after) - paid;
        if (!i || value > name.value) name.value = value;
    }
    remember(relaxed, name);
    return name.value;
}

static Bounds bounds_for(const Trial *trial, const Match *match, uint64_t seed, uint64_t number,
                         int me) {
    Relaxed relaxed = {trial, seed, number, me, 0, FIRST_SLOTS, calloc(FIRST_SLOTS, sizeof(Slot))};
    Bounds found = {share_by(&relaxed, *match, trial->player), 0.0, 0.0, 0};
    if (trial->stronger) found.stronger = share_by(&relaxed, *match, trial->stronger);
    if (trial->clairvoyant) found.best = at_best(&relaxed, match);
    found.nodes = relaxed.nodes > trial->most ? -1 : relaxed.nodes;
    free(relaxed.memory);
    return found;
}

/* --- from where --- */

void bounds_at(const Trial *trial, const Table *table, const Card order[], uint64_t seed,
               uint64_t number, Bounds found[2]) {
    Match match = {.table = *table};
    memcpy(match.order, order, (size_t)count(table->pile));
    for (int side = 0; side < 2; side++) {
        found[side] = bounds_for(trial, &match, seed, number, table->player ^ side);
    }
}

int bounds_of(const Trial *trial, uint64_t seed, uint64_t number, int cards, Bounds found[2]) {
    Match match;
    match_deal(&match, rng_for(seed, number, PURPOSE_DECK), rng_for(seed, number, PURPOSE_CHANCE));
    const Table *table = &match.table;
    while (!table->over && count(table->pile) > cards) {
        match_play(&match, by(trial->player, table));
    }
    if (!table->over) bounds_at(trial, table, match.order + match.next, seed, number, found);
    return count(table->pile);
}
