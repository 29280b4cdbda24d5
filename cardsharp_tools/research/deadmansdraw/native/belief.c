/* Naive Bayes over an opponent's decisions, and series of matches in which it is kept. */
#include "belief.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double SLIP = 0.02, MISS = 0.05, MOST_MISSES = 0.05, SURE = 0.9, STRANGER = 0.5;

static bool leaves_a_choice(const Table *table) {
    if (table->pending == NOTHING) return table->lying_count > 0;
    if (table->pending == KRAKEN) return false;
    return table->pending == ORACLE || count(answers(table)) > 1;
}

static int lying_class(const Table *table) {
    return (table->lying_count < MOST_LYING ? table->lying_count : MOST_LYING) - 1;
}

static double by_policy(const Policy *policy, const Table *table, Action action, int options) {
    Rng rng = {0};
    bool agrees = policy->decide(policy->own, table, &rng) == action;
    return agrees ? 1 - SLIP : SLIP / (options - 1);
}

static double chance_of_stopping(const Belief *belief, const Entry *entry, const Table *table,
                                 Action action) {
    if (entry->stops) return by_policy(entry->stops, table, action, 2);
    if (entry->fitted && entry->fitted->stops[0][0] >= 0) {
        return fitted_chance(entry->fitted, table, action);
    }
    const int *habit = belief->habits[lying_class(table)];
    double chance = entry->stop_chance;
    if (chance < 0) chance = (habit[1] + 0.5) / (habit[0] + habit[1] + 1);
    return action == END_TURN ? chance : 1 - chance;
}

static double chance_of_answer(const Entry *entry, const Table *table, Action action) {
    int options = table->pending == ORACLE ? 3 : count(answers(table));
    if (entry->answers) return by_policy(entry->answers, table, action, options);
    if (!entry->fitted || entry->fitted->safe < 0) return 1.0 / options;
    return SLIP / options + (1 - SLIP) * fitted_chance(entry->fitted, table, action);
}

void belief_see(Belief *belief, const Table *table, Action action) {
    if (!leaves_a_choice(table)) return;
    for (int i = 0; i < belief->book->entries; i++) {
        const Entry *entry = &belief->book->entry[i];
        double chance = table->pending == NOTHING
                            ? chance_of_stopping(belief, entry, table, action)
                            : chance_of_answer(entry, table, action);
        belief->likelihood[i] += log(chance);
        belief->misses[i] += chance < MISS;
    }
    belief->number++;
    if (table->pending == NOTHING) belief->habits[lying_class(table)][action == END_TURN]++;
}

/* The chance of each entry; 0 where too many decisions were otherwise. */
static void chances(const Belief *belief, double chance[MOST_ENTRIES]) {
    const Book *book = belief->book;
    double most = fmax(1, MOST_MISSES * belief->number), top = -INFINITY, total = 0;
    for (int i = 0; i < book->entries; i++) {
        bool stranger = book->entry[i].stranger;
        double prior = stranger ? STRANGER : STRANGER / (book->entries - 1);
        bool kept = stranger || belief->misses[i] <= most;
        chance[i] = kept ? belief->likelihood[i] + log(prior) : -INFINITY;
        top = fmax(top, chance[i]);
    }
    for (int i = 0; i < book->entries; i++) total += chance[i] = exp(chance[i] - top);
    for (int i = 0; i < book->entries; i++) chance[i] /= total;
}

int belief_weights(const Belief *belief) {
    double chance[MOST_ENTRIES], by_weights[MOST_WEIGHTS] = {0};
    int best = 0;
    chances(belief, chance);
    for (int i = 0; i < belief->book->entries; i++) {
        by_weights[belief->book->entry[i].weights] += chance[i];
    }
    if (by_weights[0] > 1 - SURE) return 0;
    for (int i = 1; i < belief->book->players; i++) {
        if (best == 0 || by_weights[i] > by_weights[best]) best = i;
    }
    return best;
}

/* --- what a choice costs --- */

/* What an action loses; a refused Oracle's card, which nobody weighs, loses nothing. */
static double loss_of(const Policy *judge, const Table *table, Action action) {
    Option options[MOST_OPTIONS];
    double best = 0.0, chosen = -1.0;
    if (!leaves_a_choice(table)) return 0.0;
    int number = weigh_table(judge, table, options);
    for (int i = 0; i < number; i++) {
        best = fmax(best, options[i].value);
        if (options[i].action == action) chosen = options[i].value;
    }
    return chosen < 0 ? 0.0 : best - chosen;
}

static Action safe_action(const Belief *belief, const Table *table, Rng *rng) {
    const Book *book = belief->book;
    int weights = belief_weights(belief);
    if (weights) {
        const Policy *special = book->player[weights];
        Action action = special->decide(special->own, table, rng);
        double cost = loss_of(book->judge, table, action);
        if (cost <= 0 || (cost <= book->most && cost <= belief->balance)) return action;
    }
    return book->player[0]->decide(book->player[0]->own, table, rng);
}

Action player_decide(const Player *player, const Table *table, Rng *rng) {
    const Policy *policy = player->policy;
    if (player->belief.book) return safe_action(&player->belief, table, rng);
    return policy->decide(policy->own, table, rng);
}

void player_begin(Player *player) {
    Belief *belief = &player->belief;
    if (belief->book) belief->balance = belief->book->credit;
}

void player_notes(Player *player, const Table *table, Action action, bool own) {
    Belief *belief = &player->belief;
    if (!belief->book) return;
    double loss = loss_of(belief->book->judge, table, action);
    if (!own) belief_see(belief, table, action);
    belief->balance += own ? -loss : loss;
}

/* --- series --- */

static void count_move(Result *result, const Match *match, int side, int turn_before) {
    result->actions[side]++;
    if (match->table.turn == turn_before) return;
    result->turns[side]++;
    result->busts[side] += match->busted;
}

typedef struct {
    Match match;
    Player players[2]; /* the first player's side, the second's */
    Rng rngs[2];
    int seats; /* the seat of the first player */
} Game;

static Action next_action(Game *game) {
    const Table *table = &game->match.table;
    int side = table->player ^ game->seats;
    Action action = player_decide(&game->players[side], table, &game->rngs[side]);
    player_notes(&game->players[side], table, action, true);
    player_notes(&game->players[1 - side], table, action, false);
    return action;
}

/* The first player's share of the points. */
static double share_of(const Game *game, int32_t scores[2]) {
    for (int side = 0; side < 2; side++) {
        scores[side] = bank_value(game->match.table.bank[side ^ game->seats]);
    }
    return scores[0] > scores[1] ? 1 : scores[0] == scores[1] ? 0.5 : 0;
}

/* The order of the draw pile anew, but for a card that an Oracle has shown. */
static void shuffle_rest(Match *match, Rng dice) {
    int from = match->next + (match->table.known_top != NO_CARD);
    int number = match->next + count(match->table.pile) - from;
    Card rest[DECK], *order = match->order + from;
    memcpy(rest, order, (size_t)number);
    for (int i = 0; i < number; i++) {
        int at = rng_below(&dice, number - i);
        order[i] = rest[at];
        memmove(rest + at, rest + at + 1, (size_t)(number - i - at - 1));
    }
}

/* The sum of the first player's shares over so many other ends of the match. */
static double play_again(const Game *game, int times, uint64_t seed, uint64_t number) {
    double sum = 0.0;
    int32_t scores[2];
    for (int i = 0; i < times; i++) {
        Game again = *game;
        uint64_t purpose = PURPOSE_AGAIN + 2 * (uint64_t)i;
        shuffle_rest(&again.match, rng_for(seed, number, purpose));
        again.match.chance = rng_for(seed, number, purpose + 1);
        while (!again.match.table.over) match_play(&again.match, next_action(&again));
        sum += share_of(&again, scores);
    }
    return sum;
}

static Result one_match(Player players[2], uint64_t seed, uint64_t number, int seats,
                        const Tempering *tempering) {
    Game game = {.players = {players[0], players[1]}, .seats = seats};
    Result result = {0};
    Match *match = &game.match;
    bool early = tempering;
    double others = 0.0;
    for (int side = 0; side < 2; side++) player_begin(&game.players[side]);
    game.rngs[0] = rng_for(seed, number, PURPOSE_FIRST);
    game.rngs[1] = rng_for(seed, number, PURPOSE_SECOND);
    match_deal(match, rng_for(seed, number, PURPOSE_DECK), rng_for(seed, number, PURPOSE_CHANCE));
    while (!match->table.over) {
        Table before = match->table;
        Card drawn = match->order[match->next];
        int side = before.player ^ seats;
        Action action = next_action(&game);
        match_play(match, action);
        count_move(&result, match, side, before.turn);
        if (!early) continue;
        double luck = luck_of(tempering->judge, &before, action, drawn, match);
        result.luck += side ? -luck : luck;
        early = count(match->table.pile) > tempering->last;
        if (!early) others = play_again(&game, tempering->times, seed, number);
    }
    players[0] = game.players[0];
    players[1] = game.players[1];
    result.points = share_of(&game, result.scores);
    if (tempering) result.again = (result.points + others) / (1 + tempering->times);
    return result;
}

void play_series(const Policy *const players[2], Belief *const beliefs[2], uint64_t seed,
                 uint64_t from, int64_t pairs, const Tempering *tempering, Result *results) {
    Player both[2];
    for (int side = 0; side < 2; side++) {
        both[side] = (Player){players[side], {0}};
        if (beliefs[side]) both[side].belief = *beliefs[side];
    }
    for (int64_t i = 0; i < pairs; i++) {
        for (int seats = 0; seats < 2; seats++) {
            results[2 * i + seats] = one_match(both, seed, from + (uint64_t)i, seats, tempering);
        }
    }
    for (int side = 0; side < 2; side++) {
        if (beliefs[side]) *beliefs[side] = both[side].belief;
    }
}
