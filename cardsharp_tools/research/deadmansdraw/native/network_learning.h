/* How a network beside captain's tables learns, from examples of what positions came to. */
#ifndef CARDSHARP_NETWORK_LEARNING_H
#define CARDSHARP_NETWORK_LEARNING_H

#include "network.h"

typedef struct {
    Seen seen;
    float target, weight;
} Example;

/* What descent by Adam keeps: the gradient, and the means of it and of its square. */
typedef struct {
    Network network, gradient, mean, square;
    int64_t steps;
} Descent;

int64_t descent_size(void); /* in bytes */
/* A network of small weights by chance, and of zeros in `out`. */
void descent_begin(Descent *descent, uint64_t seed);
/* The log-loss of one example; what it adds to the gradient. */
double network_loss(const Network *network, const Example *example, Network *gradient);
/* One pass over the examples; the squared error before each step, and captain's. */
void network_learn(Descent *descent, const Example *examples, int64_t count, double rate,
                   double errors[2]);

#endif
