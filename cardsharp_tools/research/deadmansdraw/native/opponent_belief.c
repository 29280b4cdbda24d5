/* Naive Bayes over an opponent's decisions (opponent_belief.h). The constants are those of
 * strategies/opponent_belief.py. */
#include "opponent_belief.h"

#include <math.h>

static const double SLIP_PROBABILITY = 0.02; /* share of decisions that differ from a profile */
static const double MISS_PROBABILITY = 0.05; /* a decision less likely than this is a miss */
static const double MAX_MISS_SHARE = 0.05;   /* share of misses above which a profile is excluded */
static const double MIN_CONFIDENCE = 0.9;    /* probability from which special weights are used */
static const double UNKNOWN_OPPONENT_PRIOR = 0.5;

bool has_choice(const Table *table) {
    if (table->pending == NOTHING) return table->area_size > 0;
    if (table->pending == KRAKEN) return false;
    return table->pending == ORACLE || count(answers(table)) > 1;
}

/* --- probability of a decision by profile ------------------------------------------------- */

static int habit_index(const Table *table) {
    int card_count = table->area_size;
    return (card_count < MAX_TRACKED_CARDS ? card_count : MAX_TRACKED_CARDS) - 1;
}

static double probability_by_policy(const Policy *policy, const Table *table, Action action,
                                    int option_count) {
    Rng rng = {0};
    bool agrees = policy->decide(policy->context, table, &rng) == action;
    return agrees ? 1 - SLIP_PROBABILITY : SLIP_PROBABILITY / (option_count - 1);
}

/* The Krichevsky-Trofimov estimate: half a count for each outcome, so that nothing is
 * impossible. */
static double learned_stop_probability(const OpponentBelief *belief, const Table *table) {
    const int *habit = belief->habits[habit_index(table)];
    return (habit[1] + 0.5) / (habit[0] + habit[1] + 1);
}

static double draw_or_stop_probability(const OpponentBelief *belief, const OpponentProfile *profile,
                                       const Table *table, Action action) {
    const FittedProfile *numbers = profile->numbers;
    if (profile->stop_policy) return probability_by_policy(profile->stop_policy, table, action, 2);
    if (numbers && numbers->stop_probabilities[0][0] >= 0) {
        return profile_probability(numbers, table, action);
    }
    double probability = profile->stop_probability;
    if (probability < 0) probability = learned_stop_probability(belief, table);
    return action == END_TURN ? probability : 1 - probability;
}

static double answer_probability(const OpponentProfile *profile, const Table *table,
                                 Action action) {
    int option_count = table->pending == ORACLE ? 3 : count(answers(table));
    const FittedProfile *numbers = profile->numbers;
    if (profile->answer_policy) {
        return probability_by_policy(profile->answer_policy, table, action, option_count);
    }
    if (!numbers || numbers->take_safe < 0) return 1.0 / option_count;
    return SLIP_PROBABILITY / option_count +
           (1 - SLIP_PROBABILITY) * profile_probability(numbers, table, action);
}

static double decision_probability(const OpponentBelief *belief, const OpponentProfile *profile,
                                   const Table *table, Action action) {
    if (table->pending != NOTHING) return answer_probability(profile, table, action);
    return draw_or_stop_probability(belief, profile, table, action);
}

void update_belief(OpponentBelief *belief, const Table *table, Action action) {
    if (!has_choice(table)) return;
    for (int i = 0; i < belief->config->profile_count; i++) {
        const OpponentProfile *profile = &belief->config->profiles[i];
        double probability = decision_probability(belief, profile, table, action);
        belief->log_likelihoods[i] += log(probability);
        belief->misses[i] += probability < MISS_PROBABILITY;
    }
    belief->decision_count++;
    if (table->pending == NOTHING) belief->habits[habit_index(table)][action == END_TURN]++;
}

/* --- probability of a profile ------------------------------------------------------------- */

/* The logarithm of a profile's probability but for a constant, or minus infinity for a profile that
 * has predicted too many decisions wrongly. */
static double log_score(const OpponentBelief *belief, int profile_index) {
    const AdaptiveConfig *config = belief->config;
    bool is_generic = config->profiles[profile_index].is_generic;
    double max_misses = fmax(1, MAX_MISS_SHARE * belief->decision_count);
    double prior = is_generic ? UNKNOWN_OPPONENT_PRIOR
                              : UNKNOWN_OPPONENT_PRIOR / (config->profile_count - 1);
    if (!is_generic && belief->misses[profile_index] > max_misses) return -INFINITY;
    return belief->log_likelihoods[profile_index] + log(prior);
}

static void profile_probabilities(const OpponentBelief *belief,
                                  double probabilities[MAX_PROFILES]) {
    int profile_count = belief->config->profile_count;
    double max_score = -INFINITY, total = 0;
    for (int i = 0; i < profile_count; i++) {
        probabilities[i] = log_score(belief, i);
        max_score = fmax(max_score, probabilities[i]);
    }
    /* The scores are taken relative to the highest one, so that not all of them round to 0. */
    for (int i = 0; i < profile_count; i++) {
        probabilities[i] = exp(probabilities[i] - max_score);
        total += probabilities[i];
    }
    for (int i = 0; i < profile_count; i++) probabilities[i] /= total;
}

int best_weights_index(const OpponentBelief *belief) {
    const AdaptiveConfig *config = belief->config;
    double probabilities[MAX_PROFILES], weights_probabilities[MAX_WEIGHT_SETS] = {0};
    int best_index = GENERAL_WEIGHTS;
    profile_probabilities(belief, probabilities);
    for (int i = 0; i < config->profile_count; i++) {
        weights_probabilities[config->profiles[i].weights_index] += probabilities[i];
    }
    if (weights_probabilities[GENERAL_WEIGHTS] > 1 - MIN_CONFIDENCE) return GENERAL_WEIGHTS;
    for (int i = GENERAL_WEIGHTS + 1; i < config->player_count; i++) {
        bool is_better = weights_probabilities[i] > weights_probabilities[best_index];
        if (best_index == GENERAL_WEIGHTS || is_better) best_index = i;
    }
    return best_index;
}
