/* Cards and seats of Euchre: the twin of cardsharp/games/euchre/cards.py.
 *
 * A card is the integer 4 * rank + suit. Seats count from the dealer's left, as in public_state.py:
 * seat 0 bids first and leads, seat 3 is the dealer.
 */
#ifndef CARDSHARP_EUCHRE_CARDS_H
#define CARDSHARP_EUCHRE_CARDS_H

#include <stdint.h>

typedef uint32_t CardSet; /* a set of cards, with a bit for each card's number */

enum { CARDS = 24, SUITS = 4, JACK = 2, KING = 4, ACE = 5 };
enum { SEATS = 4, DEALER = 3, HAND_SIZE = 5, TRICKS = 5, TRICKS_TO_MAKE = 3, MAX_BIDS = 8 };
enum { TRUMP_STRENGTH = 10, LEFT_BOWER_STRENGTH = 16, RIGHT_BOWER_STRENGTH = 17 };

static inline int rank_of(int card) { return card >> 2; }

/* The suit that is printed on a card, which is not that of the left bower. */
static inline int printed_suit_of(int card) { return card & 3; }

static inline int partner(int seat) { return seat ^ 2; }

/* The left bower, the other jack of the colour, is a trump. */
static inline int is_left_bower(int card, int trump) {
    return rank_of(card) == JACK && printed_suit_of(card) == 3 - trump;
}

/* The effective suit of a card. */
static inline int suit_of(int card, int trump) {
    return is_left_bower(card, trump) ? trump : printed_suit_of(card);
}

/* The strength of a card in a trick: the strongest card wins, and 0 cannot win. */
static inline int trick_strength(int card, int trump, int suit_led) {
    int suit = printed_suit_of(card), rank = rank_of(card);
    if (suit == trump) return rank == JACK ? RIGHT_BOWER_STRENGTH : TRUMP_STRENGTH + rank;
    if (is_left_bower(card, trump)) return LEFT_BOWER_STRENGTH;
    return suit == suit_led ? rank + 1 : 0;
}

#endif
