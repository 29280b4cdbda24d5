/* A simulated turn: the twin of strategies/search/simulated_turn.py. */
#ifndef CARDSHARP_TURN_H
#define CARDSHARP_TURN_H

#include "model.h"

/* A simulated turn. `stop` and `bust` are the suits' keys as the next player, the mover, would
 * find them if the turn were banked or busted now. */
typedef struct {
    Cards own_bank, opponent_bank, pile, discard, area, saved;
    int16_t stop[SUITS], bust[SUITS];
    unsigned area_suits; /* a bit for each suit in the play area */
    int8_t pile_count;   /* cards in the draw pile */
    int8_t area_size;    /* cards in the play area */
    int8_t saved_count;  /* cards before the Anchor, which a bust does not lose */
    bool anchored;
    Card known_top;
} SimulatedTurn;

SimulatedTurn turn_from_table(const Table *table);
void remove_draw_pile_card(SimulatedTurn *turn, Card card);
void remove_bank_card(SimulatedTurn *turn, Card card);
void remove_opponent_card(SimulatedTurn *turn, Card card);
/* Puts a card, which the caller has removed from its place, into the play area. The first Anchor
 * saves the cards before it. */
void place_card(SimulatedTurn *turn, Card card);
bool would_bust(const SimulatedTurn *turn, Card card); /* true if the play area has its suit */
Cards cards_of_suits(unsigned suits); /* all cards of these suits */

#endif
