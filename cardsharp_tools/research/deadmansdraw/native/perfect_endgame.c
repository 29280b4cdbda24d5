/* A player that plays the endgame perfectly: `perfect_endgame_player` of
 * cardsharp_tools/research/deadmansdraw/exact_solver.py. */
#include <stdlib.h>

#include "exact.h"

typedef struct {
    ExactSolver *exact;
    const Policy *opening_policy; /* also plays where the solver gives up */
    int max_unseen_cards;         /* of the endgame */
} PerfectEndgame;

static Action decide(const void *context, const Table *table, Rng *rng) {
    const PerfectEndgame *player = context;
    Option options[MAX_OPTIONS];
    int option_count = 0, best_index = 0;
    bool must_draw = is_legal_action(table, DRAW) && !is_legal_action(table, END_TURN);
    if (must_draw) return DRAW;
    bool is_endgame = count(table->pile) <= player->max_unseen_cards;
    if (is_endgame) option_count = exact_options(player->exact, table, options);
    if (!option_count) {
        return player->opening_policy->decide(player->opening_policy->context, table, rng);
    }
    for (int i = 1; i < option_count; i++) {
        if (options[i].value > options[best_index].value) best_index = i;
    }
    return options[best_index].action;
}

const Policy *perfect_new(ExactSolver *exact, const Policy *opening_policy, int max_unseen_cards) {
    PerfectEndgame *player = malloc(sizeof *player);
    Policy *policy = malloc(sizeof *policy);
    *player = (PerfectEndgame){exact, opening_policy, max_unseen_cards};
    *policy = (Policy){"perfect", decide, player};
    return policy;
}
