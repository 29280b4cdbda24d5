/* Cards as cardsharp/euchre/cards.py numbers them: 4 * rank + suit. */
#ifndef CARDSHARP_EUCHRE_CARD_H
#define CARDSHARP_EUCHRE_CARD_H

#include <stdint.h>

typedef uint32_t Set; /* with a bit for each card's own number */

enum { CARDS = 24, SEATS = 4, DEALER = 3, HAND = 5, TRICKS = 5, MADE = 3, MAX_BIDS = 8 };
enum { JACK = 2, KING = 4, ACE = 5 };

static inline int suit_of(int card, int trump) {
    int suit = card & 3;
    return card >> 2 == JACK && suit == 3 - trump ? trump : suit;
}

static inline int strength(int card, int trump, int led) {
    int suit = card & 3, rank = card >> 2;
    if (suit == trump) return rank == JACK ? 17 : 10 + rank;
    if (rank == JACK && suit == 3 - trump) return 16;
    return suit == led ? rank + 1 : 0;
}

#endif
