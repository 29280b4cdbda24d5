/* `captain` as a policy of the lab: the search with given weights. */
#include <stdlib.h>
#include <string.h>

#include "search.h"

typedef struct {
    Model model;
    const Network *network; /* or NULL */
    Limits limits;
} Captain;

/* One search a thread and captain, kept from decision to decision. */
enum { MOST_KEPT = 8 };
static _Thread_local struct { const Captain *captain; Search *search; } kept[MOST_KEPT];
static _Thread_local int next_kept;

static Search *search_for(const Captain *captain) {
    for (int i = 0; i < MOST_KEPT; i++) {
        if (kept[i].captain == captain) return kept[i].search;
    }
    int at = next_kept++ % MOST_KEPT;
    if (kept[at].search) search_free(kept[at].search);
    kept[at].captain = captain;
    kept[at].search = search_new(&captain->model, captain->network, &captain->limits);
    return kept[at].search;
}

Search *search_of(const Policy *policy) {
    return search_for(policy->own);
}

static Action decide(const void *own, const Table *table, Rng *rng) {
    (void)rng;
    return best_action(search_for(own), table);
}

/* A policy that plays `model`, a `network` beside it where that is not NULL, within `limits`; it
 * lives as long as the process. */
const Policy *captain_new(const Model *model, const Network *network, const Limits *limits) {
    Captain *captain = malloc(sizeof *captain);
    captain->model = *model;
    captain->network = NULL;
    if (network) captain->network = memcpy(malloc(sizeof *network), network, sizeof *network);
    captain->limits = *limits;
    Policy *policy = malloc(sizeof *policy);
    *policy = (Policy){"captain", decide, captain};
    return policy;
}

int weigh_table(const Policy *policy, const Table *table, Option options[MOST_OPTIONS]) {
    return weigh(search_of(policy), table, options);
}
