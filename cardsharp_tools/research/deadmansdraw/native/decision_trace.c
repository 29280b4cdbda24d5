/* Decisions of a player at the positions of a match with random moves, for the comparison with its
 * Python twin in cardsharp_tools/research/tests/decision_comparison.py. */
#include "search.h"

/* Draw, end the turn, refuse a card, or answer with a card. */
enum { MAX_LEGAL_ACTIONS = DECK + 3 };

/* Write the legal actions in the order of their numbers; return how many there are. */
static int list_legal_actions(const Table *table, Action actions[MAX_LEGAL_ACTIONS]) {
    int action_count = 0;
    for (Action action = 0; action <= REFUSE; action++) {
        if (is_legal_action(table, action)) actions[action_count++] = action;
    }
    return action_count;
}

/* Play a match, and write the decision of `policy` at each position; return the number of
 * decisions, at most `max_decisions`.
 *
 * If `options` is not NULL, the policy is a captain's. Then the options of each position with a
 * choice go there, MAX_OPTIONS places for each decision, and their number to `option_counts`.
 *
 * Half of the moves are the policy's decisions, the others are random. All answers to an Oracle are
 * the policy's: a player that never takes an Oracle's card has no rule for such a card. */
int trace_decisions(const Policy *policy, uint64_t seed, uint64_t pair_number, int max_decisions,
                    int32_t *decisions, Option *options, int32_t *option_counts) {
    Rng driver_rng = rng_for(seed, pair_number, PURPOSE_FIRST);
    Rng player_rng = rng_for(seed, pair_number, PURPOSE_SECOND);
    Match match;
    int decision_count = 0;
    match_deal(&match, rng_for(seed, pair_number, PURPOSE_DECK),
               rng_for(seed, pair_number, PURPOSE_CHANCE));
    while (!match.table.is_over && decision_count < max_decisions) {
        const Table *table = &match.table;
        Action actions[MAX_LEGAL_ACTIONS];
        Action decision = policy->decide(policy->context, table, &player_rng);
        int action_count = list_legal_actions(table, actions);
        if (options && action_count > 1) {
            Option *first_option = options + MAX_OPTIONS * decision_count;
            option_counts[decision_count] = captain_options(policy, table, first_option);
        }
        decisions[decision_count++] = decision;
        bool follows_policy = rng_below(&driver_rng, 2) || table->pending == ORACLE;
        Action action =
            follows_policy ? decision : actions[rng_below(&driver_rng, action_count)];
        match_play(&match, action);
    }
    return decision_count;
}
