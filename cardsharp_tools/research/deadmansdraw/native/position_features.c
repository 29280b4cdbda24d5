/* Features of a position (position_features.h). */
#include "position_features.h"

void append_card(CardList *list, Card card) { list->cards[list->size++] = card; }

SuitSet suits_in_play(const Table *table) {
    SuitSet suits = 0;
    for (int i = 0; i < table->area_size; i++) suits |= suit_bit(suit_of(table->area_cards[i]));
    return suits;
}

SuitSet bank_suits(Cards bank) {
    SuitSet suits = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (bank & SUIT_CARDS(suit)) suits |= suit_bit(suit);
    }
    return suits;
}

SuitSet sword_target_suits(const Table *table) {
    return bank_suits(sword_targets(own_bank(table), opponent_bank(table)));
}

int bank_gain(Cards bank, Card card) {
    int gain = value_of(card) - top_value(bank, suit_of(card));
    return gain > 0 ? gain : 0;
}

int busting_card_count(const Table *table) {
    int busting = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (is_in_play_area(table, suit)) busting += count(table->pile & SUIT_CARDS(suit));
    }
    return busting;
}

bool answer_would_bust(const Table *table, Card card) {
    return table->pending != CANNON && is_in_play_area(table, suit_of(card));
}

/* The top cards of a bank, in the order in which their suits came into it. */
static CardList top_cards(const Table *table, int player) {
    CardList tops = {.size = 0};
    for (int i = 0; i < table->suit_counts[player]; i++) {
        append_card(&tops, top_of(table->bank[player], table->suit_order[player][i]));
    }
    return tops;
}

static CardList map_cards(const Table *table) {
    CardList offer = {.size = 0};
    for (int i = 0; i < table->offer_size; i++) append_card(&offer, table->offer[i]);
    return offer;
}

CardList pending_effect_targets(const Table *table) {
    if (table->pending == MAP) return map_cards(table);
    int owner = table->pending == HOOK ? table->player : 1 - table->player;
    CardList tops = top_cards(table, owner), targets = {.size = 0};
    if (table->pending != SWORD) return tops;
    for (int i = 0; i < tops.size; i++) {
        bool has_suit = top_of(own_bank(table), suit_of(tops.cards[i])) != NO_CARD;
        if (!has_suit) append_card(&targets, tops.cards[i]);
    }
    return targets;
}

Card costliest_card(Cards bank, const CardList *list) {
    Card costliest = NO_CARD;
    int max_loss = -1;
    for (int i = 0; i < list->size; i++) {
        Card card = list->cards[i];
        int loss = value_of(card) - top_value(bank & ~BIT(card), suit_of(card));
        if (loss > max_loss) {
            max_loss = loss;
            costliest = card;
        }
    }
    return costliest;
}

Card first_card_in_suit_order(const CardList *list, const Suit *suit_order) {
    for (; *suit_order != NOTHING; suit_order++) {
        for (int i = 0; i < list->size; i++) {
            if (suit_of(list->cards[i]) == *suit_order) return list->cards[i];
        }
    }
    return NO_CARD;
}

Card chest_key_partner(const CardList *list, SuitSet play_area) {
    Suit partner_suits[3] = {NOTHING, NOTHING, NOTHING};
    int suit_count = 0;
    if (play_area & suit_bit(CHEST)) partner_suits[suit_count++] = KEY;
    if (play_area & suit_bit(KEY)) partner_suits[suit_count++] = CHEST;
    return first_card_in_suit_order(list, partner_suits);
}

Action autopick(const Table *table) {
    if (table->pending == ORACLE) return REFUSE;
    CardList targets = pending_effect_targets(table);
    if (table->pending == HOOK || table->pending == MAP) {
        for (int i = 0; i < targets.size; i++) {
            if (!is_in_play_area(table, suit_of(targets.cards[i]))) return targets.cards[i];
        }
    }
    return targets.cards[0];
}
