/* What a player loses against perfect play at the positions of its own matches. */
#include "exact.h"

typedef struct {
    int32_t left;    /* unseen cards */
    int32_t pending; /* the suit whose effect is answered, or NOTHING */
    int32_t chosen, best;
    double loss;     /* below 0 where it was not solved */
    int64_t nodes;
    bool sampled;    /* see exact.h */
} Loss;

static double value_of_option(const Option *options, int number, Action action) {
    for (int i = 0; i < number; i++) {
        if (options[i].action == action) return options[i].value;
    }
    return 0.0;
}

static Loss loss_at(Exact *exact, const Table *table, Action chosen) {
    Option options[MOST_OPTIONS];
    int number = exact_weigh(exact, table, options), best = 0;
    Loss loss = {count(table->pile), table->pending, chosen, chosen, -1.0, exact_nodes(exact),
                 exact_sampled(exact)};
    if (!number) return loss;
    for (int i = 1; i < number; i++) {
        if (options[i].value > options[best].value) best = i;
    }
    loss.loss = options[best].value - value_of_option(options, number, chosen);
    if (loss.loss > 0.0) loss.best = options[best].action;
    return loss;
}

static int choices(const Table *table) {
    int number = legal(table, DRAW) + legal(table, END_TURN);
    return number + count(answers(table));
}

/* What `judged` loses in match `number` of `seed`, which `player` plays against itself: where a choice
 * was left and no more than `most_left` cards were unseen; at how many positions. */
int losses_of(const Policy *player, const Policy *judged, Exact *exact, uint64_t seed, uint64_t number, int most_left,
              Loss *found, int room) {
    Rng own = rng_for(seed, number, PURPOSE_FIRST);
    Match match;
    int written = 0;
    match_deal(&match, rng_for(seed, number, PURPOSE_DECK), rng_for(seed, number, PURPOSE_CHANCE));
    while (!match.table.over) {
        const Table *table = &match.table;
        Action action = player->decide(player->own, table, &own);
        if (count(table->pile) <= most_left && choices(table) > 1 && written < room) {
            Action chosen = judged->decide(judged->own, table, &own);
            found[written++] = loss_at(exact, table, chosen);
        }
        match_play(&match, action);
    }
    return written;
}
