/* The losses of a player's decisions against perfect play, for `ExactSolver` in
 * cardsharp_tools/research/deadmansdraw/exact_solver.py. */
#include "exact.h"

typedef struct {
    int32_t unseen_count;
    int32_t pending; /* the suit whose effect is answered, or NOTHING */
    int32_t action, best_action;
    double loss; /* of win probability; negative if the solver gave up */
    int64_t nodes;
    bool is_sampled; /* true if the solver tried only some results of a bonus (exact.h) */
} DecisionLoss;

static double option_value(const Option *options, int option_count, Action action) {
    for (int i = 0; i < option_count; i++) {
        if (options[i].action == action) return options[i].value;
    }
    return 0.0;
}

static const Option *best_option(const Option *options, int option_count) {
    const Option *best = options;
    for (int i = 1; i < option_count; i++) {
        if (options[i].value > best->value) best = &options[i];
    }
    return best;
}

static DecisionLoss decision_loss(ExactSolver *exact, const Table *table, Action action) {
    Option options[MAX_OPTIONS];
    int option_count = exact_options(exact, table, options);
    DecisionLoss loss = {
        .unseen_count = count(table->pile),
        .pending = table->pending,
        .action = action,
        .best_action = action,
        .loss = -1.0,
        .nodes = exact_nodes(exact),
        .is_sampled = exact_is_sampled(exact),
    };
    if (!option_count) return loss;
    const Option *best = best_option(options, option_count);
    loss.loss = best->value - option_value(options, option_count, action);
    if (loss.loss > 0.0) loss.best_action = best->action;
    return loss;
}

static int legal_action_count(const Table *table) {
    return is_legal_action(table, DRAW) + is_legal_action(table, END_TURN) + count(answers(table));
}

/* Play a match of `player` against itself, and write the losses of the decisions of
 * `judged_player` at its positions with a choice and at most `max_unseen_cards` unseen cards.
 * Return the number of losses, at most `max_losses`. */
int measure_decision_losses(const Policy *player, const Policy *judged_player, ExactSolver *exact,
                            uint64_t seed, uint64_t pair_number, int max_unseen_cards,
                            DecisionLoss *losses, int max_losses) {
    Rng player_rng = rng_for(seed, pair_number, PURPOSE_FIRST);
    Match match;
    int loss_count = 0;
    match_deal(&match, rng_for(seed, pair_number, PURPOSE_DECK),
               rng_for(seed, pair_number, PURPOSE_CHANCE));
    while (!match.table.is_over) {
        const Table *table = &match.table;
        Action action = player->decide(player->context, table, &player_rng);
        bool is_late = count(table->pile) <= max_unseen_cards;
        if (is_late && legal_action_count(table) > 1 && loss_count < max_losses) {
            Action judged_action =
                judged_player->decide(judged_player->context, table, &player_rng);
            losses[loss_count++] = decision_loss(exact, table, judged_action);
        }
        match_play(&match, action);
    }
    return loss_count;
}
