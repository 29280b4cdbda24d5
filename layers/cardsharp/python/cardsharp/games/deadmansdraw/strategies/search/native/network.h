/* A small network whose outputs are added to captain's log-odds, V where a turn begins and D where
 * one goes on: what its tables, one suit at a time, cannot join.
 *
 * Each suit adds to the hidden sums by its key, so that a position costs ten look-ups; a network of
 * zeros in `out` leaves captain as it is. */
#ifndef CARDSHARP_NETWORK_H
#define CARDSHARP_NETWORK_H

#include "model.h"

enum {
    HIDDEN = 64,
    /* Places of cards; tops of both; how many unseen and how many gone; how much the best unseen
     * would bring either. */
    ROWS = RANKS * PLACES + 6 * TOPS,
    RESCUES = SIZES + 1, /* no Anchor lies, or it saves so many cards */
    SCALE_LEAD = 16,
    SCALE_ODDS = 2,
    MOST_STEPS = 8 * 16, /* log-odds of `stop` and `bust` are cut off at 8, in sixteenths */
};

enum { TURN_BEGINS, TURN_GOES_ON, PARTS }; /* a turn */

/* Of weights as they are learned, and of whole ones, with which the search works: the twin of
 * strategies/search/network.py. */
#define PART(Weight)                                                                 \
    struct {                                                                         \
        Weight suit[2][SUITS][ROWS][HIDDEN]; /* not lying, and lying */              \
        Weight known[DECK][HIDDEN]; /* the next card, where an Oracle has shown it */ \
        Weight left[LEFTS][HIDDEN];                                                  \
        /* only where a turn goes on */                                              \
        Weight risk[RISKS][HIDDEN], size[SIZES][HIDDEN], rescued[RESCUES][HIDDEN];   \
        Weight lead[HIDDEN], odds[HIDDEN]; /* by 16 points, by 2 of the log-odds */  \
        Weight stop[HIDDEN], bust[HIDDEN]; /* by 2 of the log-odds */                \
        Weight out[KNOTS][HIDDEN];                                                   \
    }

typedef PART(float) Part;
typedef PART(int32_t) WholePart;

/* 1.0 of a whole weight is 2 to the power of its bits; a step of log-odds is a sixteenth. */
enum { BITS = 12, BITS_LEAD = BITS - 4, BITS_ODDS = BITS - 5, BITS_OUT = 10, ODDS_SHIFT = 17 };

typedef struct { Part parts[PARTS]; } Network;

enum { WEIGHTS = sizeof(Network) / sizeof(float) };

/* A position as captain's tables see it. */
typedef struct {
    int16_t keys[SUITS];
    int16_t part, left, lead;
    int16_t lying; /* suits of the play area, where a turn goes on */
    int16_t known; /* the next card, or NO_CARD */
    int16_t risk, size, rescued; /* rows, where a turn goes on */
    int16_t stop, bust;          /* sixteenths of the log-odds after it, where a turn goes on */
    float odds;    /* what they say */
} Seen;

enum { MOST_ROWS = RANKS + 6 };
/* The rows of a suit that its key adds up; their number. */
int rows_of(int key, int rows[MOST_ROWS]);

Seen seen_as(int part, const int16_t keys[SUITS], int left, int lead, int64_t sum);
/* Log-odds, times ONE, in sixteenths between -MOST_STEPS and MOST_STEPS. */
int16_t steps_of(int64_t sum);

/* A network with its hidden sums by suit and key, worked out when first asked for. */
typedef struct Layer Layer;

Layer *layer_new(const Network *network);
/* The same of weights as they are shipped, in 16 bits. */
Layer *layer_of_whole(const int16_t weights[WEIGHTS]);
void layer_free(Layer *layer);
/* What is added to these log-odds of captain's, times ONE as they are. */
int64_t layer_sum(Layer *layer, const Seen *seen, int64_t odds);

#endif
