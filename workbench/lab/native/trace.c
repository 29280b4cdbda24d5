/* Matches of random moves, and what a policy would decide on each of their positions: for tests. */
#include "core.h"

enum { PURPOSE_DECK, PURPOSE_CHANCE, PURPOSE_FIRST, PURPOSE_SECOND };

/* Writes the decisions of `policy` and returns how many; `most` have room. Half of the moves are
 * the policy's own. An Oracle is always answered as the policy does: a client that never takes
 * its card has no rule for how such a card counts. */
int decide_all(const Policy *policy, uint64_t seed, uint64_t number, int32_t *decisions, int most) {
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
        decisions[written++] = move;
        bool by_policy = rng_below(&driver, 2) || match.table.pending == ORACLE;
        match_play(&match, by_policy ? move : moves[rng_below(&driver, choices)]);
    }
    return written;
}
