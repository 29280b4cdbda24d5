/* The player `steady`: the twin of strategies/steady.py. */
#include <math.h>

#include "lookahead.h"
#include "position_features.h"

/* Values that differ by rounding only count as equal, as in steady.py. */
static const double ROUNDING_SCALE = 1e9;

/* Write the answers with a card in the order of the twin; return their number. */
static int list_answers(const Table *table, Action actions[DECK]) {
    int action_count = 0;
    CardList targets = pending_effect_targets(table);
    for (int i = 0; i < targets.size; i++) actions[action_count++] = targets.cards[i];
    return action_count;
}

/* Write the actions in the order of `_option_sort_key` of steady.py, which decides between equal
 * values: a card, the end of the turn, a refusal. Return their number. */
static int list_actions(const Table *table, Action actions[DECK]) {
    int action_count = 0;
    switch (table->pending) {
        case NOTHING:
            actions[action_count++] = DRAW;
            if (table->area_size) actions[action_count++] = END_TURN;
            return action_count;
        case KRAKEN:
            actions[action_count++] = DRAW;
            return action_count;
        case ORACLE:
            actions[action_count++] = table->known_top;
            actions[action_count++] = END_TURN;
            actions[action_count++] = REFUSE;
            return action_count;
        default: return list_answers(table, actions);
    }
}

static Action steady(const void *context, const Table *table, Rng *rng) {
    (void)context, (void)rng;
    Action actions[DECK], best_action = DRAW;
    int action_count = list_actions(table, actions);
    if (action_count == 1) return actions[0];
    ActionEvaluator evaluator = evaluator_of(table);
    long long max_value = 0;
    for (int i = 0; i < action_count; i++) {
        long long value = llrint(action_value(&evaluator, actions[i]) * ROUNDING_SCALE);
        if (i == 0 || value > max_value) {
            max_value = value;
            best_action = actions[i];
        }
    }
    return best_action;
}
REGISTER_POLICY("steady", steady)
