/* Matches of self-play, or against an opponent, that give samples for training: the part of
 * `WeightTraining` in cardsharp_tools/research/deadmansdraw/training.py that plays. */
#ifndef CARDSHARP_SELF_PLAY_H
#define CARDSHARP_SELF_PLAY_H

#include "adaptive.h"
#include "search.h"

typedef struct {
    double td_lambda;   /* the share of a target that comes from later events of the match */
    double exploration; /* the probability to draw on although stopping looks better */
    int replies;        /* turns of an opponent that are sampled for one target */
} SelfPlayConfig;

/* A position to learn from. At the start of a turn it trains V, the value of the position;
 * within a turn it trains D, the value of drawing on. model.h describes both. */
typedef struct {
    int16_t keys[SUITS];
    uint16_t area_suits; /* a bit for each suit in the play area */
    int8_t unseen_count;
    int8_t known_top;
    int8_t area_size;
    int8_t risk;           /* the probability of a bust, in sixteenths */
    int8_t hope;           /* the class of the log-odds of stopping */
    int8_t is_turn_start;  /* true for a sample of V */
    double target;         /* the mover's win probability: at the start, or if it draws on */
    double bust_value;     /* for D: the win probability after a bust */
    double bust_probability;
    int64_t stop_sum;      /* for D: the log-odds of stopping, in FIXED_POINT_ONE */
} Sample;

/* The samples of one match; later ones are dropped. */
enum { MAX_SAMPLES = 400 };

/* Play `match_count` matches from `first_match` on.
 *
 * `samples` has MAX_SAMPLES places for each match, and `sample_counts` gets their numbers. With
 * `opponent` NULL it is self-play. `belief`, or NULL, is the opponent's at the start of each match.
 * Threads may call this at the same time. */
void play_and_sample(const Model *model, const Policy *opponent, const OpponentBelief *belief,
                     const SelfPlayConfig *config, uint64_t seed, uint64_t first_match,
                     int64_t match_count, Sample *samples, int32_t *sample_counts);

#endif
