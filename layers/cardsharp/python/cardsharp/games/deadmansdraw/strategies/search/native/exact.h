/* The exact value of a position with few unseen cards: both play best, every chance counts. */
#ifndef CARDSHARP_EXACT_H
#define CARDSHARP_EXACT_H

#include "search.h"

/* Remembers 4 << `bits` positions of 24 bytes, and gives up after `max_nodes` that it had to work out. Of
 * bonuses that may turn out in more than `picks` ways, it tries so many. Where it `groups`, it is not
 * exact: of the cards of a suit that a Map may offer, one stands for all that bring something. */
Exact *exact_new(int bits, int64_t max_nodes, double picks, bool groups);
/* The twin of strategies/search/endgame.py: it groups, tries eight ways of any
 * bonus, gives up after `max_nodes` ends of turns, and remembers nothing from one call to the next. */
Exact *exact_rough(int64_t max_nodes);
void exact_free(Exact *exact);
/* Each option of the player to act with its chance to win (a tie counts half), in the order of
 * `weigh`; refusing an Oracle's card is left out as there. Their number, 0 where it gave up. */
int exact_weigh(Exact *exact, const Table *table, Option options[MOST_OPTIONS]);

/* Values of a turn under way, as compiled_search.py asks for them one by one. They share what
 * is remembered since `exact_begin`, and count for nothing once more than `max_nodes` were worked out. */
typedef struct { Cards own, other, pile, discard, area, saved; } Places;
void exact_begin(Exact *exact, int64_t max_nodes);
/* After `card`, taken from its place, came into play, with `owed` draws for a Kraken. */
double exact_placing(Exact *exact, const Places *places, Card card, int owed);
double exact_drawing(Exact *exact, const Places *places, Card known, int owed);
double exact_stopping(Exact *exact, const Places *places, Card known);
double exact_going_on(Exact *exact, const Places *places, int owed);
/* How many positions the last call worked out. */
int64_t exact_nodes(const Exact *exact);
bool exact_sampled(const Exact *exact); /* whether it tried some ways of a bonus alone */


/* What each card that may come is worth to the player to act, as `weigh_drawn` and its like say it;
 * and what a bonus brought who got it, above the mean of all that it could have been. They must not
 * be asked of a solver that gives up. */
void exact_drawn(Exact *exact, const Table *table, double values[DECK]);
void exact_offered(Exact *exact, const Table *table, double values[DECK]);
void exact_shown(Exact *exact, const Table *table, double values[DECK]);
double exact_bonus(Exact *exact, const Table *after, Cards got);

/* Plays as the solver says with no more than `from` cards unseen where it does not give up, and as
 * `else_by` says before; it lives as long as the process. */
const Policy *perfect_new(Exact *exact, const Policy *else_by, int from);

#endif
