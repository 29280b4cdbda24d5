/* Values of actions in points, by a look-ahead of one card: the twin of strategies/lookahead.py.
 *
 * The value of an action is the player's bank minus the opponent's once the turn has ended.
 * lookahead.py describes the search and its three simplifications.
 */
#ifndef CARDSHARP_LOOKAHEAD_H
#define CARDSHARP_LOOKAHEAD_H

#include "core.h"

/* A card of the play area, and what it adds to the bank. */
typedef struct {
    Suit suit;
    bool is_hypothetical; /* true if the search drew it; then the values are means of its suit */
    double value, gain;
} PlacedCard;

/* A simulated turn. */
typedef struct {
    Cards own_bank, opponent_bank;
    double points; /* the value if the play area were banked now without a bonus */
    double risk;   /* the part of `points` that a bust would lose */
    Card known_top; /* the next card if it is known, or NO_CARD */
    bool can_draw_more; /* true if the search may consider one more voluntary draw */
    int8_t area_size, discard_count;
    int8_t draw_count;          /* cards that the search has drawn */
    int8_t suit_draws[SUITS];   /* the same by suit */
    uint16_t suits;             /* a bit for each suit in the play area */
    PlacedCard area[SUITS];     /* in the order in which the cards came */
    Card discard[DECK];
} LookaheadTurn;

/* A position with what stays the same while its actions are evaluated. */
typedef struct {
    const Table *table;
    LookaheadTurn root;
    int unseen_count, unseen_by_suit[SUITS];
    PlacedCard mean_cards[SUITS]; /* the mean of the unseen cards of each suit */
} ActionEvaluator;

ActionEvaluator evaluator_of(const Table *table);

/* The expected points of a legal action. */
double action_value(const ActionEvaluator *evaluator, Action action);

#endif
