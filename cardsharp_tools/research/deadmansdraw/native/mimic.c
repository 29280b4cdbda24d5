/* Who plays as one player for so many turns of a match, and as another from then on. */
#include <stdlib.h>

#include "core.h"

typedef struct {
    const Policy *first, *then;
    int turns;
} Mimic;

static Action decide(const void *own, const Table *table, Rng *rng) {
    const Mimic *mimic = own;
    const Policy *now = table->turn <= mimic->turns ? mimic->first : mimic->then;
    return now->decide(now->own, table, rng);
}

/* It lives as long as the process. */
const Policy *mimic_new(const Policy *first, const Policy *then, int turns) {
    Mimic *mimic = malloc(sizeof *mimic);
    *mimic = (Mimic){first, then, turns};
    Policy *policy = malloc(sizeof *policy);
    *policy = (Policy){"mimic", decide, mimic};
    return policy;
}
