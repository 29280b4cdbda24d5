/* The search within a turn: the twin of deadmansdraw/strategies/search/turn_search.py. */
#ifndef CARDSHARP_SEARCH_H
#define CARDSHARP_SEARCH_H

#include "network.h"
#include "turn.h"

typedef struct {
    int levels;       /* effects within effects that are searched */
    int second_draws; /* down to which level a second draw is searched, not learned */
    int samples;      /* of the Chest and Key bonus at the leaves */
    int root_samples; /* and where stopping now is weighed */
    int endgame;      /* cards left from which the match is searched to its end */
    int most_ends;    /* if that takes no more ends of turns than these */
} Limits;

typedef struct Exact Exact; /* see exact.h */

typedef struct {
    Memo *memo;
    Limits limits;
    Exact *endgame; /* NULL where it searches none */
    Layer *layer;   /* of a network beside the model, or NULL */
    int64_t nodes;  /* ends of turns that were looked at */
} Search;

typedef struct { Action action; double value; } Option;
enum { MOST_OPTIONS = 12 };

/* What each card that may come is worth to the player to act: drawn with `owed` more to draw after
 * it; offered by a Map; shown by an Oracle, with `owed` draws for a Kraken. */
void weigh_drawn(Search *search, const Turn *turn, int owed, double values[DECK]);
void weigh_offered(Search *search, const Turn *turn, double values[DECK]);
void weigh_shown(Search *search, const Turn *turn, int owed, double values[DECK]);
/* The mean, over all offers of three, of the best of `values`, which it sorts; where they are sorted. */
double best_of_offer(double values[], int number);
double best_of_sorted(const double values[], int number);

/* What drawing on is worth, taken apart for learning. */
typedef struct {
    double value, bust, risk;
    int64_t stop_sum, bust_sum; /* log-odds of the next player; `stop_sum` twice where none can bust */
    Sums sums;
} DrawingOn;

double stop_value(Search *search, const Turn *turn, int samples);
double draw_value(Search *search, const Turn *turn, int owed, int level);
/* After `card`, taken from its place, came into play; and with nothing to answer. */
double place_value(Search *search, const Turn *turn, Card card, int owed, int level);
double going_on_value(Search *search, const Turn *turn, int owed, int level);
DrawingOn drawing_on(Search *search, const Turn *turn);
int64_t on_sum(const Model *model, Sums sums, const Turn *turn, int64_t stop_sum);
int weigh(Search *search, const Table *table, Option options[MOST_OPTIONS]);
Action best_action(Search *search, const Table *table);

/* The options of one table to a captain, for tests and tools; their number. */
int weigh_table(const Policy *captain, const Table *table, Option options[MOST_OPTIONS]);
Search *search_of(const Policy *captain);
/* A `network` beside the model, or NULL. */
Search *search_new(const Model *model, const Network *network, const Limits *limits);
void search_free(Search *search);

#endif
