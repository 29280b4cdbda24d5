/* The player `captain`: the search of strategies/search with given weights. */
#include <stdlib.h>
#include <string.h>

#include "search.h"

typedef struct {
    Model model;
    const Network *network; /* or NULL */
    SearchLimits limits;
} Captain;

/* A search has large caches, so each thread reuses those of the captains that it used last. */
enum { MAX_CACHED_SEARCHES = 8 };

typedef struct { const Captain *captain; TurnSearch *search; } CachedSearch;

static _Thread_local CachedSearch cached_searches[MAX_CACHED_SEARCHES];
static _Thread_local int next_cache_index;

static TurnSearch *search_of_captain(const Captain *captain) {
    for (int i = 0; i < MAX_CACHED_SEARCHES; i++) {
        if (cached_searches[i].captain == captain) return cached_searches[i].search;
    }
    CachedSearch *cached_search = &cached_searches[next_cache_index++ % MAX_CACHED_SEARCHES];
    if (cached_search->search) search_free(cached_search->search);
    cached_search->captain = captain;
    cached_search->search = search_new(&captain->model, captain->network, &captain->limits);
    return cached_search->search;
}

TurnSearch *search_of(const Policy *policy) { return search_of_captain(policy->context); }

static Action decide(const void *context, const Table *table, Rng *rng) {
    (void)rng;
    return best_action(search_of_captain(context), table);
}

/* A player with copies of a model and of a network, which may be NULL; it is never freed. */
const Policy *captain_new(const Model *model, const Network *network, const SearchLimits *limits) {
    Captain *captain = malloc(sizeof *captain);
    captain->model = *model;
    captain->network = NULL;
    if (network) captain->network = memcpy(malloc(sizeof *network), network, sizeof *network);
    captain->limits = *limits;
    Policy *policy = malloc(sizeof *policy);
    *policy = (Policy){"captain", decide, captain};
    return policy;
}

int captain_options(const Policy *policy, const Table *table, Option options[MAX_OPTIONS]) {
    return evaluate_options(search_of(policy), table, options);
}
