/* Matches of random moves, and what a policy thinks of each of their positions: for tests. */
#include "search.h"

/* Writes the decisions of `policy` and returns how many; `most` have room. With `options`, that of
 * a captain, the options of each position with a choice and their number as well. Half of the
 * moves are the policy's own. An Oracle is always answered as the policy does: a client that never
 * takes its card has no rule for how such a card counts. */
int decide_all(const Policy *policy, uint64_t seed, uint64_t number, int most, int32_t *decisions,
               Option *options, int32_t *numbers) {
    Rng driver = rng_for(seed, number, PURPOSE_FIRST), own = rng_for(seed, number, PURPOSE_SECOND);
    Match match;
    int written = 0;
    match_deal(&match, rng_for(seed, number, PURPOSE_DECK), rng_for(seed, number, PURPOSE_CHANCE));
    while (!match.table.over && written < most) {
        Action moves[DECK + 3], move = policy->decide(policy->own, &match.table, &own);
        int choices = 0;
        for (Action action = 0; action <= REFUSE; action++) {
            if (legal(&match.table, action)) moves[choices++] = action;
        }
        if (options && choices > 1) {
            numbers[written] = weigh_table(policy, &match.table, options + MOST_OPTIONS * written);
        }
        decisions[written++] = move;
        bool by_policy = rng_below(&driver, 2) || match.table.pending == ORACLE;
        match_play(&match, by_policy ? move : moves[rng_below(&driver, choices)]);
    }
    return written;
}
