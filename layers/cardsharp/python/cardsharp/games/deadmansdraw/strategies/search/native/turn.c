/* A simulated turn (turn.h). Each change of a card's place also changes the key of its suit. */
#include "turn.h"

#include <string.h>

static void remove_from_keys(SimulatedTurn *turn, Card card, int place) {
    int16_t digit = (int16_t)(place * PLACE_DIGIT[card % RANKS]);
    turn->stop[suit_of(card)] -= digit;
    turn->bust[suit_of(card)] -= digit;
}

void remove_draw_pile_card(SimulatedTurn *turn, Card card) {
    turn->pile &= ~BIT(card);
    turn->pile_count--;
    turn->known_top = NO_CARD;
    remove_from_keys(turn, card, PILE);
}

void remove_bank_card(SimulatedTurn *turn, Card card) {
    turn->own_bank &= ~BIT(card);
    remove_from_keys(turn, card, OTHER);
}

void remove_opponent_card(SimulatedTurn *turn, Card card) {
    turn->opponent_bank &= ~BIT(card);
    remove_from_keys(turn, card, MOVER);
}

void place_card(SimulatedTurn *turn, Card card) {
    Suit suit = suit_of(card);
    if (suit == ANCHOR && !turn->anchored) {
        turn->anchored = true;
        turn->saved = turn->area;
        turn->saved_count = turn->area_size;
        memcpy(turn->bust, turn->stop, sizeof turn->bust);
    }
    turn->area |= BIT(card);
    turn->area_suits |= 1u << suit;
    turn->area_size++;
    turn->stop[suit] += (int16_t)(OTHER * PLACE_DIGIT[card % RANKS]);
}

bool would_bust(const SimulatedTurn *turn, Card card) {
    return turn->area_suits >> suit_of(card) & 1;
}

Cards cards_of_suits(unsigned suits) {
    Cards cards = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (suits >> suit & 1) cards |= SUIT_CARDS(suit);
    }
    return cards;
}

SimulatedTurn turn_from_table(const Table *table) {
    SimulatedTurn turn = {0};
    int player = table->player;
    turn.own_bank = table->bank[player];
    turn.opponent_bank = table->bank[1 - player];
    turn.pile = table->pile;
    turn.discard = table->discard;
    turn.pile_count = (int8_t)count(table->pile);
    turn.known_top = table->known_top;
    for (Suit suit = 0; suit < SUITS; suit++) {
        turn.stop[suit] = (int16_t)suit_key(suit, turn.opponent_bank, turn.own_bank, turn.pile);
        turn.bust[suit] = turn.stop[suit];
    }
    for (int i = 0; i < table->area_size; i++) place_card(&turn, table->area_cards[i]);
    return turn;
}
