/* Players that may adapt to their opponent (adaptive.h). */
#include "adaptive.h"

#include <math.h>

#include "search.h"

/* How much win probability an action loses against the best option; 0 for the refusal of an
 * Oracle's card, which the judge does not evaluate. */
static double win_probability_loss(const Policy *judge, const Table *table, Action action) {
    Option options[MAX_OPTIONS];
    double best_value = 0.0, action_value = 0.0;
    bool is_evaluated = false;
    if (!has_choice(table)) return 0.0;
    int option_count = captain_options(judge, table, options);
    for (int i = 0; i < option_count; i++) {
        best_value = fmax(best_value, options[i].value);
        if (options[i].action != action) continue;
        action_value = options[i].value;
        is_evaluated = true;
    }
    return is_evaluated ? best_value - action_value : 0.0;
}

static bool can_afford(const OpponentBelief *belief, const Table *table, Action action) {
    double cost = win_probability_loss(belief->config->judge, table, action);
    if (cost <= 0) return true;
    return cost <= belief->config->max_loss_per_decision && cost <= belief->balance;
}

static Action decide_with_weights(const OpponentBelief *belief, int weights_index,
                                  const Table *table, Rng *rng) {
    const Policy *policy = belief->config->players[weights_index];
    return policy->decide(policy->context, table, rng);
}

/* Decide with the weights against the likely opponent if the budget allows it, otherwise with the
 * general ones. */
static Action adaptive_action(const OpponentBelief *belief, const Table *table, Rng *rng) {
    int weights_index = best_weights_index(belief);
    if (weights_index != GENERAL_WEIGHTS) {
        Action action = decide_with_weights(belief, weights_index, table, rng);
        if (can_afford(belief, table, action)) return action;
    }
    return decide_with_weights(belief, GENERAL_WEIGHTS, table, rng);
}

void begin_match(Player *player) {
    OpponentBelief *belief = &player->belief;
    if (belief->config) belief->balance = belief->config->initial_credit;
}

Action player_decide(const Player *player, const Table *table, Rng *rng) {
    const Policy *policy = player->policy;
    if (player->belief.config) return adaptive_action(&player->belief, table, rng);
    return policy->decide(policy->context, table, rng);
}

void record_decision(Player *player, const Table *table, Action action, bool is_self) {
    OpponentBelief *belief = &player->belief;
    if (!belief->config) return;
    double loss = win_probability_loss(belief->config->judge, table, action);
    if (!is_self) update_belief(belief, table, action);
    belief->balance += is_self ? -loss : loss;
}
