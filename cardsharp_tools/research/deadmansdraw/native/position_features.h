/* Features of a position that several players use, and the server's own choice: the twin of
 * strategies/position_features.py. */
#ifndef CARDSHARP_POSITION_FEATURES_H
#define CARDSHARP_POSITION_FEATURES_H

#include "core.h"

typedef unsigned SuitSet; /* a bit for each suit */

enum { MAX_CARD_LIST = 10 };

/* Cards in the order in which the game names them; this order decides between equal cards. */
typedef struct {
    Card cards[MAX_CARD_LIST];
    int size;
} CardList;

static inline SuitSet suit_bit(Suit suit) { return 1u << suit; }

static inline Cards own_bank(const Table *table) { return table->bank[table->player]; }
static inline Cards opponent_bank(const Table *table) { return table->bank[1 - table->player]; }

/* Add a card at the end of a list. */
void append_card(CardList *list, Card card);

/* The suits in the play area: a second card of any of them busts. */
SuitSet suits_in_play(const Table *table);

/* The suits of which a bank has a card. */
SuitSet bank_suits(Cards bank);

/* The suits of the cards that a Sword may steal. */
SuitSet sword_target_suits(const Table *table);

/* By how much a bank rises if a card is banked now. */
int bank_gain(Cards bank, Card card);

/* The number of unseen cards that would bust. */
int busting_card_count(const Table *table);

/* True if the pending effect, answered with this card, busts the turn. */
bool answer_would_bust(const Table *table, Card card);

/* The cards with which the pending Hook, Sword, Cannon or Map may be answered. */
CardList pending_effect_targets(const Table *table);

/* The first of the cards whose loss lowers a bank most. */
Card costliest_card(Cards bank, const CardList *list);

/* The first card of the first suit in `suit_order` that is in the list, or NO_CARD. NOTHING ends
 * the order. */
Card first_card_in_suit_order(const CardList *list, const Suit *suit_order);

/* The Key in the list if the Chest is in the play area, and vice versa, or NO_CARD. */
Card chest_key_partner(const CardList *list, SuitSet play_area);

/* The answer to a pending Hook, Sword, Cannon, Map or Oracle that the server would pick. */
Action autopick(const Table *table);

#endif
