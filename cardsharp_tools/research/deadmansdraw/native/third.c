/* The player `third`: the twin of strategies/third.py. */
#include "position_features.h"

enum {
    MAX_AREA_CARDS = 3,
    STOP_AT_GAIN = 8, /* points; the player stops above them */
    KRAKEN_LIMIT = 2, /* cards in the play area above which a Kraken is avoided */
    MAP_LIMIT = 4,    /* the same for a Map that a Hook or a Sword could take */
};

/* Suits in the order in which the player takes them; NOTHING ends an order. */
static const Suit TAKE_ORDER[] = {CANNON, ANCHOR, ORACLE, NOTHING};
static const Suit MAP_ORDER[] = {CANNON, SWORD, ORACLE, ANCHOR, MERMAID, KEY,
                                 CHEST,  MAP,   HOOK,   KRAKEN, NOTHING};

static CardList exclude_area_suits(const Table *table, CardList list) {
    CardList rest = {.size = 0};
    for (int i = 0; i < list.size; i++) {
        if (!is_in_play_area(table, suit_of(list.cards[i]))) append_card(&rest, list.cards[i]);
    }
    return rest.size ? rest : list;
}

/* The cards without these suits, or all of them if none remains. */
static CardList exclude_suits(CardList list, SuitSet suits) {
    CardList rest = {.size = 0};
    for (int i = 0; i < list.size; i++) {
        if (!(suits & suit_bit(suit_of(list.cards[i])))) append_card(&rest, list.cards[i]);
    }
    return rest.size ? rest : list;
}

/* The cards without those likely to bust by their effect, or all of them if none remains. */
static CardList exclude_risky_effects(const Table *table, CardList list) {
    SuitSet area = suits_in_play(table);
    SuitSet hook_suits = bank_suits(own_bank(table)) & ~(area | suit_bit(HOOK));
    SuitSet sword_suits = sword_target_suits(table) & ~(area | suit_bit(SWORD));
    SuitSet crowded_suits = 0; /* of effects that are risky beside many cards */
    if (table->area_size > KRAKEN_LIMIT) crowded_suits |= suit_bit(KRAKEN);
    if (table->area_size > MAP_LIMIT) crowded_suits |= suit_bit(MAP);
    if (!hook_suits) list = exclude_suits(list, suit_bit(HOOK));
    if (!sword_suits) list = exclude_suits(list, suit_bit(SWORD));
    return exclude_suits(list, crowded_suits);
}

static Card lowest_value_card(const CardList *list) {
    Card best = list->cards[0];
    for (int i = 1; i < list->size; i++) {
        if (value_of(list->cards[i]) < value_of(best)) best = list->cards[i];
    }
    return best;
}

static Card choose_card(const Table *table) {
    CardList list = exclude_area_suits(table, pending_effect_targets(table));
    if (table->pending == MAP) return first_card_in_suit_order(&list, MAP_ORDER);
    Card preferred = chest_key_partner(&list, suits_in_play(table));
    if (preferred == NO_CARD) preferred = first_card_in_suit_order(&list, TAKE_ORDER);
    if (preferred != NO_CARD) return preferred;
    list = exclude_risky_effects(table, list);
    if (table->pending == SWORD) return costliest_card(opponent_bank(table), &list);
    return lowest_value_card(&list);
}

static Action answer_oracle(const Table *table) {
    Suit suit = suit_of(table->known_top);
    bool is_crowded = suit == KRAKEN && table->area_size > KRAKEN_LIMIT;
    bool refuses = suit == ORACLE || is_in_play_area(table, suit) || is_crowded;
    return refuses ? REFUSE : table->known_top;
}

/* The gain of the cards in the play area whose suits are in the bank already. */
static int bank_suit_gain(const Table *table) {
    int gain = 0;
    for (int i = 0; i < table->area_size; i++) {
        Card card = table->area_cards[i];
        bool has_suit = top_of(own_bank(table), suit_of(card)) != NO_CARD;
        if (has_suit) gain += bank_gain(own_bank(table), card);
    }
    return gain;
}

static Action draw_or_end(const Table *table) {
    if (table->area_size > MAX_AREA_CARDS) return END_TURN;
    return bank_suit_gain(table) > STOP_AT_GAIN ? END_TURN : DRAW;
}

static Action third(const void *context, const Table *table, Rng *rng) {
    (void)context, (void)rng;
    if (table->pending == NOTHING) return draw_or_end(table);
    if (table->pending == KRAKEN) return DRAW;
    if (table->pending == ORACLE) return answer_oracle(table);
    if (table->pending != CANNON) return choose_card(table);
    CardList targets = pending_effect_targets(table);
    return costliest_card(opponent_bank(table), &targets);
}
REGISTER_POLICY("third", third)
