/* The value of a position with few unseen cards, if both players play best to the end of the
 * match. */
#ifndef CARDSHARP_EXACT_H
#define CARDSHARP_EXACT_H

#include "search.h"

/* A solver that caches 4 << `bits` positions of 24 bytes, and gives up after `max_nodes`
 * positions that were not in the cache. If a bonus can turn out in more than `max_picks` ways, it
 * tries so many. With `is_grouping` it is not exact: of the cards of a suit that a Map may offer,
 * one represents all that gain something. */
ExactSolver *exact_new(int bits, int64_t max_nodes, double max_picks, bool is_grouping);
/* The twin of strategies/search/endgame.py. It groups, tries eight picks of any bonus, gives up
 * after `max_nodes` ends of turns, and forgets all values before the next decision. */
ExactSolver *exact_rough(int64_t max_nodes);
void exact_free(ExactSolver *exact);
/* Writes each option of the player to act with its win probability (a tie counts half), in the
 * order of `evaluate_options`, which also leaves out refusing an Oracle's card. Returns their
 * number, 0 if the solver gave up. */
int exact_options(ExactSolver *exact, const Table *table, Option options[MAX_OPTIONS]);

/* Values of a turn in progress, as compiled_search.py asks for them one by one. The cache is kept
 * since `exact_begin`. Once more than `max_nodes` nodes were counted, the values mean nothing. */
typedef struct { Cards own_bank, opponent_bank, pile, discard, area, saved; } TurnSets;
void exact_begin(ExactSolver *exact, int64_t max_nodes);
/* The value after `card`, already taken from its place, came to the play area; `kraken_draws`
 * draws are due after it. */
double exact_placing_value(ExactSolver *exact, const TurnSets *turn, Card card, int kraken_draws);
double exact_drawing_value(ExactSolver *exact, const TurnSets *turn, Card known_top,
                           int kraken_draws);
double exact_stopping_value(ExactSolver *exact, const TurnSets *turn, Card known_top);
double exact_kraken_draws_value(ExactSolver *exact, const TurnSets *turn, int kraken_draws);
/* The nodes of the last call. */
int64_t exact_nodes(const ExactSolver *exact);
/* True if the last call tried only some picks of a bonus */
bool exact_is_sampled(const ExactSolver *exact);

/* The value of each card that may come, as `evaluate_draws` and its like give it. The last
 * function gives the value of a bonus above the mean of all possible ones. A solver that gives up
 * cannot answer. */
void exact_draw_values(ExactSolver *exact, const Table *table, double values[DECK]);
void exact_map_card_values(ExactSolver *exact, const Table *table, double values[DECK]);
void exact_shown_card_values(ExactSolver *exact, const Table *table, double values[DECK]);
double exact_bonus_luck(ExactSolver *exact, const Table *table, Cards picked_cards);

/* A player that follows the solver with at most `max_unseen_cards` unseen cards, unless the
 * solver gives up, and plays as `opening_policy` otherwise. It is never freed. */
const Policy *perfect_new(ExactSolver *exact, const Policy *opening_policy, int max_unseen_cards);

#endif
