/* Opponents of whose minds no player of ours has a list: the twin of research/blef/strangers.py. */
#ifndef CARDSHARP_STRANGERS_H
#define CARDSHARP_STRANGERS_H

#include "blef.h"

int decide_stranger(int number, const View *view, Rng *rng);

/* The likeliest bet above the last, of equals the highest; the check where it is as likely right. */
int greedy(const double chances[BETS], int last);

#endif
