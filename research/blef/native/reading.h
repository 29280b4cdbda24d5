/* How a player decides, as the rounds before show: the twin of strategies/reading.py and taste.py. */
#ifndef CARDSHARP_READING_H
#define CARDSHARP_READING_H

#include "large.h"

enum { EDGES = 4, STEPS = 6, MODELS = HABITS + 1 };

/* How much each trait of a bet draws the player; how often it checks a last bet of each level. */
typedef struct {
    double level[LEVELS], edge[EDGES], step[STEPS], bond[BONDS], check[LEVELS];
} Taste;

/* `logs` is learned, of the checks the logarithms of the odds; `taste` is the same as it is asked. */
typedef struct Reading {
    Taste logs, taste;
    double explained[MODELS]; /* logarithms of how well each habit and the taste foretold it */
    double table;             /* and how well our own tables did */
    double weights[MODELS];
    int decisions;
} Reading;

void begin_reading(Reading *reading);
void see_traits(Mind *mind);

/* Reads a round that is over, in which the player had this role and hand; `tables` has ours. */
void read_round(Reading *reading, const Player *tables, const View *over, int role, Cards hand);

/* How much better it was foretold so than by our tables; where enough, it is played against so. */
static const double ENOUGH = 0.1;
double evidence(const Reading *reading);

/* How likely the taste makes an action. */
double foretold(const Reading *reading, const Mind *mind, int last, int action);

/* What it says to each last bet. */
void draw_replies(const Reading *reading, const Mind *mind, Rng *rng, uint8_t replies[BETS]);

#endif
