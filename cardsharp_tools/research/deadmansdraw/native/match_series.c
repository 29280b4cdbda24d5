/* Series of matches between two players (match_series.h). */
#include "match_series.h"

#include <string.h>

/* A match of two players. A side is 0 for the first player and 1 for the second. */
typedef struct {
    Match match;
    Player players[2]; /* by side */
    Rng rngs[2];       /* by side */
    int first_seat;    /* the seat of the first player */
} Game;

static void count_action(MatchResult *result, const Match *match, int side, int turn) {
    result->actions[side]++;
    bool is_same_turn = match->table.turn == turn;
    if (is_same_turn) return;
    result->turns[side]++;
    result->busts[side] += match->busted;
}

/* The action of the player to act; both players learn from it. */
static Action next_action(Game *game) {
    const Table *table = &game->match.table;
    int side = table->player ^ game->first_seat;
    Action action = player_decide(&game->players[side], table, &game->rngs[side]);
    record_decision(&game->players[side], table, action, true);
    record_decision(&game->players[1 - side], table, action, false);
    return action;
}

/* Write the scores of both sides; return the first player's share of the points. */
static double points_share(const Game *game, int32_t scores[2]) {
    for (int side = 0; side < 2; side++) {
        scores[side] = bank_value(game->match.table.bank[side ^ game->first_seat]);
    }
    if (scores[0] == scores[1]) return 0.5;
    return scores[0] > scores[1] ? 1 : 0;
}

/* --- other endings of a match ------------------------------------------------------------- */

/* Shuffle the draw pile, but for a next card that an Oracle has shown. */
static void shuffle_hidden_cards(Match *match, Rng rng) {
    int first = match->next + (match->table.known_top != NO_CARD);
    int card_count = match->next + count(match->table.pile) - first;
    Card cards[DECK], *order = match->order + first;
    memcpy(cards, order, (size_t)card_count);
    for (int i = 0; i < card_count; i++) {
        int remaining_count = card_count - i;
        int index = rng_below(&rng, remaining_count);
        order[i] = cards[index];
        memmove(cards + index, cards + index + 1, (size_t)(remaining_count - index - 1));
    }
}

/* The sum of the first player's shares over repeated endings of a match. */
static double replay_ending(const Game *game, int repetitions, uint64_t seed,
                            uint64_t pair_number) {
    double share_sum = 0.0;
    int32_t scores[2];
    for (int i = 0; i < repetitions; i++) {
        Game replay = *game;
        uint64_t purpose = PURPOSE_REPLAY + 2 * (uint64_t)i;
        shuffle_hidden_cards(&replay.match, rng_for(seed, pair_number, purpose));
        replay.match.chance = rng_for(seed, pair_number, purpose + 1);
        while (!replay.match.table.is_over) match_play(&replay.match, next_action(&replay));
        share_sum += points_share(&replay, scores);
    }
    return share_sum;
}

/* --- matches ------------------------------------------------------------------------------ */

static Game begin_game(const Player players[2], uint64_t seed, uint64_t pair_number,
                       int first_seat) {
    Game game = {.players = {players[0], players[1]}, .first_seat = first_seat};
    for (int side = 0; side < 2; side++) begin_match(&game.players[side]);
    game.rngs[0] = rng_for(seed, pair_number, PURPOSE_FIRST);
    game.rngs[1] = rng_for(seed, pair_number, PURPOSE_SECOND);
    match_deal(&game.match, rng_for(seed, pair_number, PURPOSE_DECK),
               rng_for(seed, pair_number, PURPOSE_CHANCE));
    return game;
}

/* Play the next action of a game. Return the luck that it brought the first player, if a judge
 * measures it, otherwise 0. */
static double play_action(Game *game, MatchResult *result, const Policy *judge) {
    Match *match = &game->match;
    Table previous_table = match->table;
    Card next_card = match->order[match->next];
    int side = previous_table.player ^ game->first_seat;
    Action action = next_action(game);
    match_play(match, action);
    count_action(result, match, side, previous_table.turn);
    if (!judge) return 0.0;
    double luck = luck_of(judge, &previous_table, action, next_card, match);
    return side ? -luck : luck;
}

/* Play a match; the players keep what they have learned. */
static MatchResult play_match(Player players[2], uint64_t seed, uint64_t pair_number,
                              int first_seat, const LuckMeasurement *measurement) {
    Game game = begin_game(players, seed, pair_number, first_seat);
    MatchResult result = {0};
    const Policy *judge = measurement ? measurement->judge : NULL; /* NULL in the endgame */
    double replay_share_sum = 0.0;
    while (!game.match.table.is_over) {
        result.luck += play_action(&game, &result, judge);
        bool is_endgame = judge && count(game.match.table.pile) <= measurement->endgame_cards;
        if (!is_endgame) continue;
        judge = NULL;
        replay_share_sum = replay_ending(&game, measurement->repetitions, seed, pair_number);
    }
    players[0] = game.players[0];
    players[1] = game.players[1];
    result.points = points_share(&game, result.scores);
    if (measurement) {
        result.replay_points = (result.points + replay_share_sum) / (1 + measurement->repetitions);
    }
    return result;
}

void play_series(const Policy *const policies[2], OpponentBelief *const beliefs[2], uint64_t seed,
                 uint64_t first_pair, int64_t pair_count, const LuckMeasurement *measurement,
                 MatchResult *results) {
    Player players[2];
    for (int side = 0; side < 2; side++) {
        players[side] = (Player){policies[side], {0}};
        if (beliefs[side]) players[side].belief = *beliefs[side];
    }
    for (int64_t i = 0; i < pair_count; i++) {
        uint64_t pair_number = first_pair + (uint64_t)i;
        for (int first_seat = 0; first_seat < 2; first_seat++) {
            results[2 * i + first_seat] =
                play_match(players, seed, pair_number, first_seat, measurement);
        }
    }
    for (int side = 0; side < 2; side++) {
        if (beliefs[side]) *beliefs[side] = players[side].belief;
    }
}
