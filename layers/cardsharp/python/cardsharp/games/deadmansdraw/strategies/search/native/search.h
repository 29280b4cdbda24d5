/* The search within a turn: the twin of strategies/search/turn_search.py. */
#ifndef CARDSHARP_SEARCH_H
#define CARDSHARP_SEARCH_H

#include "network.h"
#include "turn.h"

typedef struct {
    int max_depth; /* how deeply effects may be nested in the search */
    /* down to this level a second draw is searched; below it the learned value is used */
    int max_second_draws;
    int samples;      /* sampled picks of the Chest and Key bonus at the leaves */
    int root_samples; /* the same for stopping at once */
    /* with at most so many cards in the draw pile the match is searched to its end */
    int endgame_cards;
    int max_leaves; /* unless that takes more ends of turns */
} SearchLimits;

typedef struct ExactSolver ExactSolver; /* exact.h */

typedef struct {
    SuitTermCache *terms;
    SearchLimits limits;
    ExactSolver *endgame_solver; /* or NULL */
    Layer *layer;                /* the network beside the model, or NULL */
    int64_t nodes;               /* evaluated ends of turns */
} TurnSearch;

typedef struct { Action action; double value; } Option;
enum { MAX_OPTIONS = 12 };

/* The value of each card that may come, for the player to act: drawn while `kraken_draws` are due
 * after it; offered by a Map; or shown by an Oracle. */
void evaluate_draws(TurnSearch *search, const SimulatedTurn *turn, int kraken_draws,
                    double values[DECK]);
void evaluate_map_cards(TurnSearch *search, const SimulatedTurn *turn, double values[DECK]);
void evaluate_shown_cards(TurnSearch *search, const SimulatedTurn *turn, int kraken_draws,
                          double values[DECK]);
/* The mean over all offers of three cards of the best value. The first function sorts the values,
 * the second expects them sorted. */
double expected_best_of_three(double values[], int value_count);
double expected_best_of_sorted(const double values[], int value_count);

/* The learned value of drawing on, with its parts for training. */
typedef struct {
    double value, bust, risk;
    int64_t stop_log_odds, bust_log_odds; /* of the next player; equal if no card busts */
    Sums sums;
} Continuation;

double stop_value(TurnSearch *search, const SimulatedTurn *turn, int samples);
double draw_value(TurnSearch *search, const SimulatedTurn *turn, int kraken_draws, int level);
/* The value after `card`, already taken from its place, came to the play area; and without a
 * pending effect. */
double placing_value(TurnSearch *search, const SimulatedTurn *turn, Card card, int kraken_draws,
                     int level);
double kraken_draws_value(TurnSearch *search, const SimulatedTurn *turn, int kraken_draws,
                          int level);
Continuation estimate_continuation(TurnSearch *search, const SimulatedTurn *turn);
int64_t continuation_log_odds(const Model *model, Sums sums, const SimulatedTurn *turn,
                              int64_t stop_log_odds);
int evaluate_options(TurnSearch *search, const Table *table, Option options[MAX_OPTIONS]);
Action best_action(TurnSearch *search, const Table *table);

/* Writes the options of a captain at a table, for tests and tools; returns their number. */
int captain_options(const Policy *captain, const Table *table, Option options[MAX_OPTIONS]);
TurnSearch *search_of(const Policy *captain);
/* `network` may be NULL. */
TurnSearch *search_new(const Model *model, const Network *network, const SearchLimits *limits);
void search_free(TurnSearch *search);

#endif
