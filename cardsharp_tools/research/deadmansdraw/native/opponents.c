/* The scripted opponents, each decision for decision its Python strategy (a test compares them):
 * champion, champion-2, champion-4, third, example-node, example-java, draw-2, draw-3, draw-4. */
#include <stddef.h>

#include "core.h"

typedef unsigned Suits; /* a set of suits, bit by bit */

enum { MOST_CHOICES = 10 };

/* Cards to choose from, in the order in which the game names them. */
typedef struct {
    Card card[MOST_CHOICES];
    int number;
} Choices;

static Suits one(Suit suit) { return 1u << suit; }

static Suits lying_suits(const Table *table) {
    Suits suits = 0;
    for (int i = 0; i < table->lying_count; i++) suits |= one(suit_of(table->lying[i]));
    return suits;
}

static Cards own_bank(const Table *table) { return table->bank[table->player]; }
static Cards other_bank(const Table *table) { return table->bank[1 - table->player]; }

static Choices tops_in_order(const Table *table, int player) {
    Choices found = {.number = 0};
    for (int i = 0; i < table->suits_held[player]; i++) {
        Suit suit = table->entered[player][i];
        found.card[found.number++] = top_of(table->bank[player], suit);
    }
    return found;
}

static Choices choices(const Table *table) {
    Choices all = {.number = 0}, found = {.number = 0};
    if (table->pending == MAP) {
        for (int i = 0; i < table->offered; i++) found.card[found.number++] = table->offer[i];
        return found;
    }
    all = tops_in_order(table, table->pending == HOOK ? table->player : 1 - table->player);
    for (int i = 0; i < all.number; i++) {
        Suit suit = suit_of(all.card[i]);
        bool held = top_of(own_bank(table), suit) != NO_CARD;
        if (table->pending != SWORD || !held) found.card[found.number++] = all.card[i];
    }
    return found;
}

static int gain(Cards bank, Card card) {
    int rise = value_of(card) - top_value(bank, suit_of(card));
    return rise > 0 ? rise : 0;
}

static Card dearest(Cards bank, const Choices *from) {
    Card best = NO_CARD;
    int most = -1;
    for (int i = 0; i < from->number; i++) {
        Card card = from->card[i];
        int loss = value_of(card) - top_value(bank & ~BIT(card), suit_of(card));
        if (loss > most) most = loss, best = card;
    }
    return best;
}

/* The first card of the first suit in `order` that is there; `order` ends with NOTHING. */
static Card first_present(const Choices *from, const Suit *order) {
    for (; *order != NOTHING; order++) {
        for (int i = 0; i < from->number; i++) {
            if (suit_of(from->card[i]) == *order) return from->card[i];
        }
    }
    return NO_CARD;
}

static Card treasure_mate(const Choices *from, Suits area) {
    Suit wanted[3] = {NOTHING, NOTHING, NOTHING};
    int number = 0;
    if (area & one(CHEST)) wanted[number++] = KEY;
    if (area & one(KEY)) wanted[number++] = CHEST;
    return first_present(from, wanted);
}

static int area_gain(const Table *table, bool held_suits_only) {
    int rise = 0;
    for (int i = 0; i < table->lying_count; i++) {
        Card card = table->lying[i];
        bool held = top_of(own_bank(table), suit_of(card)) != NO_CARD;
        if (held || !held_suits_only) rise += gain(own_bank(table), card);
    }
    return rise;
}

/* --- champion --- */

static Suits held_suits(Cards bank) {
    Suits suits = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (bank & SUIT_MASK(suit)) suits |= one(suit);
    }
    return suits;
}

static Suits target_suits(const Table *table) {
    return held_suits(sword_targets(own_bank(table), other_bank(table)));
}

static bool safe(const Table *table, Suit suit, Suits area) {
    if (area & one(suit)) return false;
    if (suit != HOOK && suit != SWORD) return true;
    Suits next = suit == HOOK ? held_suits(own_bank(table)) : target_suits(table);
    if (suit == SWORD && !next) return true;
    for (Suit other = 0; other < SUITS; other++) {
        if ((next & one(other)) && safe(table, other, area | one(suit))) return true;
    }
    return false;
}

static Choices safe_choices(const Table *table, const Choices *from, bool without_krakens) {
    Choices found = {.number = 0};
    for (int i = 0; i < from->number; i++) {
        Suit suit = suit_of(from->card[i]);
        if (without_krakens && suit == KRAKEN) continue;
        if (safe(table, suit, lying_suits(table))) found.card[found.number++] = from->card[i];
    }
    return found;
}

static const Suit CHAMPION_HOOK[] = {SWORD, CANNON, ORACLE, MAP, ANCHOR,
                                     KEY,   CHEST,  MERMAID, KRAKEN, NOTHING};
static const Suit CHAMPION_SWORD[] = {HOOK, ORACLE, CANNON, MAP, ANCHOR, NOTHING};
static const Suit CHAMPION_MAP[] = {SWORD, HOOK, CANNON, ORACLE, MAP, NOTHING};

static int map_rank(Card card) {
    int rank = 0;
    while (CHAMPION_MAP[rank] != NOTHING && CHAMPION_MAP[rank] != suit_of(card)) rank++;
    return -100 * rank + value_of(card);
}

static Card champion_map(const Table *table, const Choices *offered) {
    bool shunned = table->lying_count > 1;
    Choices best_from = safe_choices(table, offered, shunned);
    if (!best_from.number && shunned) {
        for (int i = 0; i < offered->number; i++) {
            if (suit_of(offered->card[i]) == KRAKEN) {
                best_from.card[best_from.number++] = offered->card[i];
            }
        }
    }
    if (!best_from.number) best_from = *offered;
    Card best = best_from.card[0];
    for (int i = 1; i < best_from.number; i++) {
        if (map_rank(best_from.card[i]) > map_rank(best)) best = best_from.card[i];
    }
    return best;
}

static Card champion_hook(const Table *table, const Choices *all) {
    Choices from = safe_choices(table, all, false);
    Card mate = treasure_mate(&from, lying_suits(table));
    if (mate != NO_CARD) return mate;
    Card wanted = first_present(&from, CHAMPION_HOOK);
    return wanted != NO_CARD ? wanted : all->card[0];
}

static Card champion_sword(const Table *table, const Choices *all) {
    Choices from = safe_choices(table, all, false);
    if (!from.number) return all->card[all->number - 1];
    Card mate = treasure_mate(&from, lying_suits(table));
    if (mate != NO_CARD) return mate;
    Card best = first_present(&from, CHAMPION_SWORD);
    if (best != NO_CARD) return best;
    best = from.card[0];
    for (int i = 1; i < from.number; i++) {
        if (value_of(from.card[i]) > value_of(best)) best = from.card[i];
    }
    return best;
}

static Action champion_oracle(const Table *table) {
    Card card = table->known_top;
    bool welcome = suit_of(card) != KRAKEN || table->lying_count <= 1;
    bool take = table->owed || (!lies(table, suit_of(card)) && welcome);
    return take ? card : REFUSE;
}

static Action champion_draw_or_end(const Table *table, int enough) {
    Suits treasure = one(CHEST) | one(KEY);
    if (table->refused != NO_CARD && table->lying_count) return END_TURN;
    if ((lying_suits(table) & treasure) == treasure) return END_TURN;
    return table->lying_count >= enough && area_gain(table, false) > 0 ? END_TURN : DRAW;
}

static Action champion_that_stops_at(const Table *table, int enough) {
    Choices all = {.number = 0};
    if (table->pending == NOTHING) return champion_draw_or_end(table, enough);
    if (table->pending == KRAKEN) return DRAW;
    if (table->pending == ORACLE) return champion_oracle(table);
    all = choices(table);
    if (table->pending == HOOK) return champion_hook(table, &all);
    if (table->pending == SWORD) return champion_sword(table, &all);
    if (table->pending == MAP) return champion_map(table, &all);
    return dearest(other_bank(table), &all);
}

static Action champion(const void *own, const Table *table, Rng *rng) {
    (void)own, (void)rng;
    return champion_that_stops_at(table, 3);
}
REGISTER_POLICY("champion", champion)

static Action champion_2(const void *own, const Table *table, Rng *rng) {
    (void)own, (void)rng;
    return champion_that_stops_at(table, 2);
}
REGISTER_POLICY("champion-2", champion_2)

static Action champion_4(const void *own, const Table *table, Rng *rng) {
    (void)own, (void)rng;
    return champion_that_stops_at(table, 4);
}
REGISTER_POLICY("champion-4", champion_4)

/* --- third --- */

enum { THIRD_MOST_CARDS = 3, THIRD_ENOUGH_RISE = 8, THIRD_KRAKEN_LIMIT = 2, THIRD_MAP_LIMIT = 4 };

static const Suit THIRD_TAKE[] = {CANNON, ANCHOR, ORACLE, NOTHING};
static const Suit THIRD_MAP[] = {CANNON, SWORD, ORACLE, ANCHOR, MERMAID, KEY,
                                 CHEST,  MAP,   HOOK,   KRAKEN, NOTHING};

static bool harmful(const Table *table, Suit suit, Suit harm) {
    Suits after = lying_suits(table) | one(harm);
    if (suit != harm) return false;
    switch (harm) {
        case HOOK: return !(held_suits(own_bank(table)) & ~after);
        case SWORD: return !(target_suits(table) & ~after);
        case KRAKEN: return table->lying_count > THIRD_KRAKEN_LIMIT;
        default: return table->lying_count > THIRD_MAP_LIMIT;
    }
}

/* `from` without the cards for which `drops` holds, unless that leaves none. */
static Choices without(const Table *table, Choices from, Suit harm) {
    Choices rest = {.number = 0};
    for (int i = 0; i < from.number; i++) {
        Suit suit = suit_of(from.card[i]);
        bool drop = harm == NOTHING ? lies(table, suit) : harmful(table, suit, harm);
        if (!drop) rest.card[rest.number++] = from.card[i];
    }
    return rest.number ? rest : from;
}

static Choices harmless(const Table *table, Choices from) {
    from = without(table, from, HOOK);
    from = without(table, from, SWORD);
    /* Kraken and Map are dropped in one go */
    Choices rest = {.number = 0};
    for (int i = 0; i < from.number; i++) {
        Suit suit = suit_of(from.card[i]);
        if (!harmful(table, suit, KRAKEN) && !harmful(table, suit, MAP)) {
            rest.card[rest.number++] = from.card[i];
        }
    }
    return rest.number ? rest : from;
}

static Card third_answer(const Table *table) {
    Choices from = without(table, choices(table), NOTHING);
    if (table->pending == MAP) return first_present(&from, THIRD_MAP);
    Card wanted = treasure_mate(&from, lying_suits(table));
    if (wanted == NO_CARD) wanted = first_present(&from, THIRD_TAKE);
    if (wanted != NO_CARD) return wanted;
    from = harmless(table, from);
    if (table->pending == SWORD) return dearest(other_bank(table), &from);
    Card low = from.card[0];
    for (int i = 1; i < from.number; i++) {
        if (value_of(from.card[i]) < value_of(low)) low = from.card[i];
    }
    return low;
}

static Action third_oracle(const Table *table) {
    Suit suit = suit_of(table->known_top);
    bool crowded = suit == KRAKEN && table->lying_count > THIRD_KRAKEN_LIMIT;
    return suit == ORACLE || lies(table, suit) || crowded ? REFUSE : table->known_top;
}

static Action third(const void *own, const Table *table, Rng *rng) {
    (void)own, (void)rng;
    Choices all = {.number = 0};
    switch (table->pending) {
        case NOTHING:
            if (table->lying_count > THIRD_MOST_CARDS) return END_TURN;
            return area_gain(table, true) > THIRD_ENOUGH_RISE ? END_TURN : DRAW;
        case KRAKEN: return DRAW;
        case ORACLE: return third_oracle(table);
        case CANNON:
            all = choices(table);
            return dearest(other_bank(table), &all);
        default: return third_answer(table);
    }
}
REGISTER_POLICY("third", third)

/* --- draw-k and the example clients --- */

static const double STOP = 0.3;

static Action autopick(const Table *table) {
    if (table->pending == ORACLE) return REFUSE;
    Choices all = choices(table);
    if (table->pending == HOOK || table->pending == MAP) {
        for (int i = 0; i < all.number; i++) {
            if (!lies(table, suit_of(all.card[i]))) return all.card[i];
        }
    }
    return all.card[0];
}

static Action draw_until(const Table *table, int k) {
    if (table->pending == KRAKEN) return DRAW;
    if (table->pending != NOTHING) return autopick(table);
    return table->lying_when_drawn < k ? DRAW : END_TURN;
}

#define DRAW_K(k)                                                                 \
    static Action draw_##k(const void *own, const Table *table, Rng *rng) {       \
        (void)own, (void)rng;                                                     \
        return draw_until(table, k);                                              \
    }                                                                             \
    REGISTER_POLICY("draw-" #k, draw_##k)

DRAW_K(2)
DRAW_K(3)
DRAW_K(4)

static Action example_draw(const Table *table, Rng *rng) {
    if (table->pending == KRAKEN || !table->lying_count) return DRAW;
    return rng_unit(rng) < STOP ? END_TURN : DRAW;
}

static Action example_node(const void *own, const Table *table, Rng *rng) {
    (void)own;
    bool asked = table->pending != NOTHING && table->pending != KRAKEN;
    return asked ? autopick(table) : example_draw(table, rng);
}
REGISTER_POLICY("example-node", example_node)

static Action example_java(const void *own, const Table *table, Rng *rng) {
    (void)own;
    if (table->pending == ORACLE) return rng_unit(rng) < STOP ? REFUSE : table->known_top;
    if (table->pending == NOTHING || table->pending == KRAKEN) return example_draw(table, rng);
    return choices(table).card[0];
}
REGISTER_POLICY("example-java", example_java)
