/* A simulated turn: the twin of deadmansdraw/strategies/search/simulated_turn.py. */
#ifndef CARDSHARP_TURN_H
#define CARDSHARP_TURN_H

#include "model.h"

/* A simulated turn. The keys are the suits' states as the next player, the mover, would find
 * them if the turn were banked now (`stop`) or busted now (`bust`). */
typedef struct {
    Cards own, other, pile, discard, area, saved;
    int16_t stop[SUITS], bust[SUITS];
    unsigned suits;  /* of the play area */
    int8_t left;     /* cards in the pile */
    int8_t lying;    /* cards in the play area */
    int8_t rescued;  /* of those, before the Anchor */
    bool anchored;
    Card known;
} Turn;

Turn turn_of(const Table *table);
void leave_pile(Turn *turn, Card card);
void leave_own(Turn *turn, Card card);
void leave_other(Turn *turn, Card card);
/* Puts a card that was taken from its place into the play area; the first Anchor saves what lies
 * before it. */
void lay(Turn *turn, Card card);
bool lies_in(const Turn *turn, Card card); /* its suit, in the play area */
Cards cards_of(unsigned suits);            /* all cards of a set of suits */

#endif
