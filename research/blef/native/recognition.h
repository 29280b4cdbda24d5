/* Who plays by a habit, read from the rounds before: strategies/recognition.py. */
#ifndef CARDSHARP_RECOGNITION_H
#define CARDSHARP_RECOGNITION_H

#include "blef.h"

/* What the rounds before show of a player: by habit, how many times likelier they make it. */
typedef struct {
    double likelier[HABITS];
} Shown;

extern const Shown NOTHING;

/* Reads a round that is over, in which the player had this role and hand. */
void read_round(Shown *shown, const View *over, int role, Cards hand);

/* How the player's habits are to be weighed; false, and nothing written, where none shows. */
bool weigh_habits(const Shown *shown, double weights[HABITS]);

#endif
