/* How a network beside captain's tables learns, from examples of positions and of their values. */
#ifndef CARDSHARP_NETWORK_LEARNING_H
#define CARDSHARP_NETWORK_LEARNING_H

#include "network.h"

typedef struct {
    NetworkInput input;
    float target, weight;
} TrainingExample;

/* The state of gradient descent by Adam: the network, its gradient, and the running means of the
 * gradient and of its square. */
typedef struct {
    Network network, gradient, gradient_mean, squared_gradient_mean;
    int64_t step_count;
} Optimiser;

int64_t optimiser_size(void); /* in bytes */
/* A network of small random weights, with zeros in `out`. */
void optimiser_begin(Optimiser *optimiser, uint64_t seed);
/* The log-loss of one example; its gradient is added to `gradient`, unless that is NULL. */
double network_loss(const Network *network, const TrainingExample *example, Network *gradient);
/* One pass over the examples. `squared_errors` gets the mean squared error of the network before
 * each step, and that of captain's tables alone. */
void network_learn(Optimiser *optimiser, const TrainingExample *examples, int64_t example_count,
                   double learning_rate, double squared_errors[2]);

#endif
