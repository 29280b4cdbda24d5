/* Perfect play of the last cards as a policy: see exact.h. */
#include <stdlib.h>

#include "exact.h"

typedef struct {
    Exact *exact;
    const Policy *else_by;
    int from;
} Perfect;

static Action decide(const void *own, const Table *table, Rng *rng) {
    const Perfect *perfect = own;
    Option options[MOST_OPTIONS];
    int number = 0, best = 0;
    if (legal(table, DRAW) && !legal(table, END_TURN)) return DRAW;
    if (count(table->pile) <= perfect->from) number = exact_weigh(perfect->exact, table, options);
    if (!number) return perfect->else_by->decide(perfect->else_by->own, table, rng);
    for (int i = 1; i < number; i++) {
        if (options[i].value > options[best].value) best = i;
    }
    return options[best].action;
}

const Policy *perfect_new(Exact *exact, const Policy *else_by, int from) {
    Perfect *perfect = malloc(sizeof *perfect);
    Policy *policy = malloc(sizeof *policy);
    *perfect = (Perfect){exact, else_by, from};
    *policy = (Policy){"perfect", decide, perfect};
    return policy;
}
