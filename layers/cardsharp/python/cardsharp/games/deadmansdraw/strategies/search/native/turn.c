/* A simulated turn, its cards leaving and coming, the suits' keys with them: see turn.h. */
#include "turn.h"

#include <string.h>

static void leave(Turn *turn, Card card, int place) {
    int16_t digit = (int16_t)(place * PLACE_DIGIT[card % RANKS]);
    turn->stop[suit_of(card)] -= digit;
    turn->bust[suit_of(card)] -= digit;
}

void leave_pile(Turn *turn, Card card) {
    turn->pile &= ~BIT(card);
    turn->left--;
    turn->known = NO_CARD;
    leave(turn, card, PILE);
}

void leave_own(Turn *turn, Card card) {
    turn->own &= ~BIT(card);
    leave(turn, card, OTHER);
}

void leave_other(Turn *turn, Card card) {
    turn->other &= ~BIT(card);
    leave(turn, card, MOVER);
}

void lay(Turn *turn, Card card) {
    Suit suit = suit_of(card);
    if (suit == ANCHOR && !turn->anchored) {
        turn->anchored = true;
        turn->saved = turn->area;
        turn->rescued = turn->lying;
        memcpy(turn->bust, turn->stop, sizeof turn->bust);
    }
    turn->area |= BIT(card);
    turn->suits |= 1u << suit;
    turn->lying++;
    turn->stop[suit] += (int16_t)(OTHER * PLACE_DIGIT[card % RANKS]);
}

bool lies_in(const Turn *turn, Card card) { return turn->suits >> suit_of(card) & 1; }

Cards cards_of(unsigned suits) {
    Cards cards = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (suits >> suit & 1) cards |= SUIT_MASK(suit);
    }
    return cards;
}

Turn turn_of(const Table *table) {
    Turn turn = {0};
    int me = table->player;
    turn.own = table->bank[me];
    turn.other = table->bank[1 - me];
    turn.pile = table->pile;
    turn.discard = table->discard;
    turn.left = (int8_t)count(table->pile);
    turn.known = table->known_top;
    for (Suit suit = 0; suit < SUITS; suit++) {
        turn.stop[suit] = (int16_t)suit_key(suit, turn.other, turn.own, turn.pile);
        turn.bust[suit] = turn.stop[suit];
    }
    for (int i = 0; i < table->lying_count; i++) lay(&turn, table->lying[i]);
    return turn;
}
