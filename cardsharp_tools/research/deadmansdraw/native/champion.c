/* The players `champion`, `champion-2` and `champion-4`: the twin of strategies/champion.py. The
 * number in the name is the number of cards at which the player stops. */
#include <stddef.h>

#include "position_features.h"

/* The number of cards in the play area above which the player avoids a Kraken. */
enum { KRAKEN_LIMIT = 1 };

/* Suits in the order in which the player takes them; NOTHING ends an order. */
static const Suit HOOK_ORDER[] = {SWORD, CANNON, ORACLE, MAP, ANCHOR,
                                  KEY,   CHEST,  MERMAID, KRAKEN, NOTHING};
static const Suit SWORD_ORDER[] = {HOOK, ORACLE, CANNON, MAP, ANCHOR, NOTHING};
static const Suit MAP_ORDER[] = {SWORD, HOOK, CANNON, ORACLE, MAP, NOTHING};

/* True if a card of this suit can join the play area `area` without a bust: neither the card nor
 * its effect may bust. */
static bool is_safe(const Table *table, Suit suit, SuitSet area) {
    if (area & suit_bit(suit)) return false;
    if (suit != HOOK && suit != SWORD) return true;
    SuitSet next_suits = suit == HOOK ? bank_suits(own_bank(table)) : sword_target_suits(table);
    if (suit == SWORD && !next_suits) return true;
    for (Suit next_suit = 0; next_suit < SUITS; next_suit++) {
        bool is_possible = next_suits & suit_bit(next_suit);
        if (is_possible && is_safe(table, next_suit, area | suit_bit(suit))) return true;
    }
    return false;
}

static CardList safe_cards(const Table *table, const CardList *list, bool excludes_krakens) {
    CardList safe = {.size = 0};
    for (int i = 0; i < list->size; i++) {
        Suit suit = suit_of(list->cards[i]);
        if (excludes_krakens && suit == KRAKEN) continue;
        if (is_safe(table, suit, suits_in_play(table))) append_card(&safe, list->cards[i]);
    }
    return safe;
}

static CardList krakens_in(const CardList *list) {
    CardList krakens = {.size = 0};
    for (int i = 0; i < list->size; i++) {
        if (suit_of(list->cards[i]) == KRAKEN) append_card(&krakens, list->cards[i]);
    }
    return krakens;
}

/* Cards of a Map are compared by the place of their suit in MAP_ORDER, then by their value. */
static int map_card_sort_key(Card card) {
    int rank = 0;
    while (MAP_ORDER[rank] != NOTHING && MAP_ORDER[rank] != suit_of(card)) rank++;
    return -100 * rank + value_of(card);
}

static Card choose_map_card(const Table *table, const CardList *offer) {
    bool avoids_krakens = table->area_size > KRAKEN_LIMIT;
    CardList candidates = safe_cards(table, offer, avoids_krakens);
    if (!candidates.size && avoids_krakens) candidates = krakens_in(offer);
    if (!candidates.size) candidates = *offer;
    Card best = candidates.cards[0];
    for (int i = 1; i < candidates.size; i++) {
        Card card = candidates.cards[i];
        if (map_card_sort_key(card) > map_card_sort_key(best)) best = card;
    }
    return best;
}

static Card choose_hook_card(const Table *table, const CardList *tops) {
    CardList safe = safe_cards(table, tops, false);
    Card partner = chest_key_partner(&safe, suits_in_play(table));
    if (partner != NO_CARD) return partner;
    Card preferred = first_card_in_suit_order(&safe, HOOK_ORDER);
    return preferred != NO_CARD ? preferred : tops->cards[0];
}

static Card choose_sword_card(const Table *table, const CardList *targets) {
    CardList safe = safe_cards(table, targets, false);
    if (!safe.size) return targets->cards[targets->size - 1];
    Card partner = chest_key_partner(&safe, suits_in_play(table));
    if (partner != NO_CARD) return partner;
    Card preferred = first_card_in_suit_order(&safe, SWORD_ORDER);
    if (preferred != NO_CARD) return preferred;
    Card highest = safe.cards[0];
    for (int i = 1; i < safe.size; i++) {
        if (value_of(safe.cards[i]) > value_of(highest)) highest = safe.cards[i];
    }
    return highest;
}

static Action answer_oracle(const Table *table) {
    Card card = table->known_top;
    bool is_welcome = suit_of(card) != KRAKEN || table->area_size <= KRAKEN_LIMIT;
    bool takes_card = table->kraken_draws || (!is_in_play_area(table, suit_of(card)) && is_welcome);
    return takes_card ? card : REFUSE;
}

/* The sum of the gains of the cards in the play area. */
static int area_gain(const Table *table) {
    int gain = 0;
    for (int i = 0; i < table->area_size; i++) {
        gain += bank_gain(own_bank(table), table->area_cards[i]);
    }
    return gain;
}

static Action draw_or_end(const Table *table, int stop_at_cards) {
    SuitSet treasure = suit_bit(CHEST) | suit_bit(KEY);
    if (table->refused_card != NO_CARD && table->area_size) return END_TURN;
    if ((suits_in_play(table) & treasure) == treasure) return END_TURN;
    return table->area_size >= stop_at_cards && area_gain(table) > 0 ? END_TURN : DRAW;
}

static Action decide_as_champion(const Table *table, int stop_at_cards) {
    if (table->pending == NOTHING) return draw_or_end(table, stop_at_cards);
    if (table->pending == KRAKEN) return DRAW;
    if (table->pending == ORACLE) return answer_oracle(table);
    CardList targets = pending_effect_targets(table);
    if (table->pending == HOOK) return choose_hook_card(table, &targets);
    if (table->pending == SWORD) return choose_sword_card(table, &targets);
    if (table->pending == MAP) return choose_map_card(table, &targets);
    return costliest_card(opponent_bank(table), &targets);
}

static Action champion(const void *context, const Table *table, Rng *rng) {
    (void)context, (void)rng;
    return decide_as_champion(table, 3);
}
REGISTER_POLICY("champion", champion)

static Action champion_2(const void *context, const Table *table, Rng *rng) {
    (void)context, (void)rng;
    return decide_as_champion(table, 2);
}
REGISTER_POLICY("champion-2", champion_2)

static Action champion_4(const void *context, const Table *table, Rng *rng) {
    (void)context, (void)rng;
    return decide_as_champion(table, 4);
}
REGISTER_POLICY("champion-4", champion_4)
