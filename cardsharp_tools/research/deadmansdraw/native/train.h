/* Learning from self-play, a batch of matches at a time: see train.c. */
#ifndef CARDSHARP_TRAIN_H
#define CARDSHARP_TRAIN_H

#include "belief.h"
#include "search.h"

typedef struct {
    double lambda;      /* how much of the target comes from what happened later */
    double exploration; /* how often a turn goes on though stopping is better */
    int replies;        /* turns of a fixed opponent that are tried for one target */
} Playing;

/* A position to learn from: of V where a turn begins, of D where one might go on. */
typedef struct {
    int16_t keys[SUITS];
    uint16_t lying; /* suits of the play area */
    int8_t left;
    int8_t known;
    int8_t size;    /* cards in the play area */
    int8_t risk;    /* in sixteenths */
    int8_t hope;
    int8_t is_turn; /* for V */
    double target;  /* V: the mover's chance; D: that of drawing on */
    double bust;    /* D: the chance after a bust, and how likely a bust is */
    double bust_chance;
    int64_t stop_sum;
} Sample;

enum { MOST_SAMPLES = 400 }; /* of one match; later ones are dropped */

/* Plays matches first .. first+count-1 of `seed`; `samples` has room for MOST_SAMPLES a match and
 * `numbers` for their numbers. Without an opponent it is self-play; one with a belief begins each
 * match with that. Thread-safe. */
void play_and_sample(const Model *model, const Policy *opponent, const Belief *belief,
                     const Playing *playing, uint64_t seed, uint64_t first, int64_t count,
                     Sample *samples, int32_t *numbers);

/* One step of gradient descent for each sample, in order. `numbers` are NUMBERS master weights,
 * `squares` their summed squared gradients; the whole-number model follows. */
void learn(double *numbers, double *squares, Model *model, const Sample *samples, int64_t count,
           double rate);

#endif
