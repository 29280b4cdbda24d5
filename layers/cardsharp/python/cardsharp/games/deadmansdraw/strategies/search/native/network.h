/* A small network beside captain's value model, for relations between suits that its tables
 * cannot hold. Its output is added to V when a turn begins, and to D when one continues.
 *
 * Each suit adds the rows of its key to the hidden sums, so that a position costs ten look-ups.
 * With zeros in `out` the network changes nothing. */
#ifndef CARDSHARP_NETWORK_H
#define CARDSHARP_NETWORK_H

#include "model.h"

enum {
    HIDDEN_UNITS = 64,
    /* cards by place, the tops of both banks, the numbers of unseen and of discarded cards, and
     * what the best unseen card would bring to either bank */
    ROWS_PER_SUIT = RANKS * PLACES + 6 * TOP_VALUES,
    RESCUED_COUNTS = PLAY_AREA_SIZES + 1, /* no Anchor, or the number of cards that it saves */
    SCALE_LEAD = 16,
    SCALE_ODDS = 2,
    MAX_STEPS = 8 * 16, /* log-odds of `stop` and `bust` are clipped at 8, in sixteenths */
};

enum { TURN_BEGINS, TURN_GOES_ON, OUTPUT_COUNT }; /* outputs: the turn begins, or it continues */

/* Weights of one output: floating-point ones that are learned, and integers with which the search
 * works. The twin is WEIGHT_FIELDS of strategies/search/network.py. */
#define OUTPUT_WEIGHTS(Weight)                                                          \
    struct {                                                                            \
        /* suits missing in the play area, and suits in it */                           \
        Weight suit[2][SUITS][ROWS_PER_SUIT][HIDDEN_UNITS];                             \
        /* the next card and the pile count; network.py calls them `known` and `left` */\
        Weight next_card[DECK][HIDDEN_UNITS];                                           \
        Weight pile_count[CARD_COUNTS][HIDDEN_UNITS];                                   \
        /* only for a turn that continues */                                            \
        Weight risk[RISK_STEPS][HIDDEN_UNITS];                                          \
        Weight size[PLAY_AREA_SIZES][HIDDEN_UNITS];                                     \
        Weight rescued[RESCUED_COUNTS][HIDDEN_UNITS];                                   \
        /* in steps of 16 points, and of 2 log-odds */                                  \
        Weight lead[HIDDEN_UNITS], odds[HIDDEN_UNITS];                                  \
        Weight stop[HIDDEN_UNITS], bust[HIDDEN_UNITS];                                  \
        Weight out[KNOTS][HIDDEN_UNITS];                                                \
    }

typedef OUTPUT_WEIGHTS(float) OutputWeights;
typedef OUTPUT_WEIGHTS(int32_t) IntegerOutputWeights;

/* The integer weight 1.0 is 2 to the power of these bits; a step of log-odds is a sixteenth. */
enum {
    FRACTION_BITS = 12,
    LEAD_FRACTION_BITS = FRACTION_BITS - 4,
    ODDS_FRACTION_BITS = FRACTION_BITS - 5,
    OUT_FRACTION_BITS = 10,
    ODDS_SHIFT = 17,
};

typedef struct { OutputWeights outputs[OUTPUT_COUNT]; } Network;

enum { NETWORK_WEIGHT_COUNT = sizeof(Network) / sizeof(float) };

/* The input of the network: a position as captain's tables see it. */
typedef struct {
    int16_t keys[SUITS];
    int16_t output, pile_count, lead;
    int16_t area_suits;          /* a bit for each suit in the play area, if a turn continues */
    int16_t next_card;           /* the next card, or NO_CARD */
    int16_t risk, size, rescued; /* rows, if a turn continues */
    int16_t stop, bust;          /* sixteenths of the log-odds after it, if a turn continues */
    float odds;                  /* log-odds of the tables */
} NetworkInput;

enum { MAX_ACTIVE_ROWS = RANKS + 6 };
/* Writes the rows that are active for a suit's key; returns their number. */
int active_weight_rows(int key, int rows[MAX_ACTIVE_ROWS]);

NetworkInput network_input(int output, const int16_t keys[SUITS], int pile_count, int lead,
                           int64_t log_odds);
/* Log-odds in FIXED_POINT_ONE as steps of a sixteenth, clipped at MAX_STEPS. */
int16_t log_odds_steps(int64_t log_odds);

/* A network with integer weights and the hidden sums of each suit's key, which are computed on
 * first use. */
typedef struct Layer Layer;

Layer *layer_new(const Network *network);
/* The same for weights of 16 bits, as a weight file has them. */
Layer *layer_of_whole(const int16_t weights[NETWORK_WEIGHT_COUNT]);
void layer_free(Layer *layer);
/* The correction to captain's log-odds; both are in FIXED_POINT_ONE. */
int64_t layer_sum(Layer *layer, const NetworkInput *input, int64_t log_odds);

#endif
