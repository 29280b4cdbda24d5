/* Decisions of players, and whole rounds (players.h). */
#include "players.h"

#include <string.h>

#include "large_round_policy.h"

uint64_t view_key(const RoundView *view) {
    uint64_t hand_sizes = (uint64_t)view->hand_sizes[0] << 24 | (uint64_t)view->hand_sizes[1] << 28;
    Rng rng = {view->hand | hand_sizes};
    for (int index = 0; index < view->bet_count; index++)
        rng.state = rng_next(&rng) ^ view->bets[index];
    return rng_next(&rng);
}

/* --- players that look at their own cards ------------------------------------------------- */

/* The choice of strategies/greedy.py. */
static int greedy_action(const double probabilities[BETS], int last_bet) {
    int best_bet = last_bet + 1;
    if (best_bet >= BETS) return CHECK;
    for (int bet = best_bet; bet < BETS; bet++)
        if (probabilities[bet] >= probabilities[best_bet]) best_bet = bet;
    bool checks = last_bet != NO_BET && 1 - probabilities[last_bet] >= probabilities[best_bet];
    return checks ? CHECK : best_bet;
}

/* The choice of strategies/threshold.py, or of `greedy` without a check threshold. */
static int threshold_action(const RoundPlayer *player, const RoundView *view) {
    double probabilities[BETS];
    int last_bet = last_bet_of(view);
    bet_probabilities(view->hand, view->hand_sizes[1 - view->role], probabilities);
    bool is_greedy = player->check_threshold < 0;
    if (is_greedy) return greedy_action(probabilities, last_bet);
    if (last_bet != NO_BET && probabilities[last_bet] < player->check_threshold) return CHECK;
    for (int bet = BETS - 1; bet > last_bet; bet--)
        if (probabilities[bet] >= player->bet_threshold) return bet;
    return greedy_action(probabilities, last_bet);
}

/* --- players by tables -------------------------------------------------------------------- */

/* Find a row by its number; return NULL if it is not stored. */
static const uint8_t *find_row(const RoundTable *table, int role, uint32_t row_number) {
    const uint32_t *row_numbers = table->row_numbers[role];
    int low = 0, high = table->row_counts[role];
    while (low < high) {
        int middle = (low + high) / 2;
        if (row_numbers[middle] < row_number) low = middle + 1;
        else high = middle;
    }
    bool is_stored = low < table->row_counts[role] && row_numbers[low] == row_number;
    return is_stored ? table->rows[role] + table->row_offsets[role][low] : NULL;
}

static uint32_t row_number_of(const TableShape *shape, CardSet hand, int role,
                              const int last_bets[3]) {
    bool is_high = last_bets[0] >= shape->first_high_bet;
    int third_class = is_high ? 0 : shape->class_of_bet[last_bets[2]];
    int previous_bet = is_high ? 0 : last_bets[1];
    int history = history_index(shape, third_class, previous_bet, last_bets[0]);
    return (uint32_t)(history * shape->hand_counts[role] + hand_number(shape, hand));
}

bool look_up_strategy(const RoundTable *table, CardSet hand, const RoundView *view,
                      double strategy[ACTIONS]) {
    const TableShape *shape = table->shape;
    int last_bets[3] = {0, 0, 0}; /* the last bet, the one before it, and the one before that */
    memset(strategy, 0, sizeof(double) * ACTIONS);
    for (int index = 0; index < 3 && index < view->bet_count; index++)
        last_bets[index] = shape->bet_index[view->bets[view->bet_count - 1 - index]] + 1;
    bool is_last_bet_known = last_bets[0] || !view->bet_count;
    bool is_previous_bet_known = last_bets[1] || view->bet_count <= 1;
    const uint8_t *row = NULL;
    if (is_last_bet_known && is_previous_bet_known)
        row = find_row(table, view->role, row_number_of(shape, hand, view->role, last_bets));
    if (!row) {
        strategy[view->bet_count ? CHECK : shape->bets[0]] = 1;
        /* A bet that is not in the tables is checked in any case. */
        bool is_checked = is_previous_bet_known || !last_bets[0];
        return view->bet_count && is_checked;
    }
    for (int rest = PROBABILITY_SCALE; rest > 0; rest -= row[1], row += 2)
        strategy[row[0] ? shape->bets[row[0] - 1] : CHECK] = row[1] / (double)PROBABILITY_SCALE;
    return true;
}

bool trained_strategy(const RoundPlayer *player, const RoundView *view, double strategy[ACTIONS]) {
    const RoundTable *table = player->tables[view->hand_sizes[0]][view->hand_sizes[1]];
    if (table) return look_up_strategy(table, view->hand, view, strategy);
    int own_size = view->hand_sizes[view->role], other_size = view->hand_sizes[1 - view->role];
    const uint8_t *policy = player->large_policies[own_size][other_size];
    if (!policy) return false;
    static _Thread_local HandFeatures features;
    compute_hand_features(view->hand, other_size, &features);
    large_round_strategy(policy, &features, previous_bet_of(view), last_bet_of(view), strategy);
    return true;
}

int sample_action(const double strategy[ACTIONS], Rng *rng) {
    double rest = rng_unit(rng);
    int sampled_action = CHECK;
    for (int action = 0; action <= CHECK; action++) {
        if (strategy[action] <= 0) continue;
        sampled_action = action;
        rest -= strategy[action];
        if (rest < 0) break;
    }
    return sampled_action;
}

int choose_action(const RoundPlayer *player, const RoundView *view, Rng *rng) {
    if (player->kind == THRESHOLD_PLAYER) return threshold_action(player, view);
    double strategy[ACTIONS] = {0};
    trained_strategy(player, view, strategy);
    return sample_action(strategy, rng);
}

/* --- rounds ------------------------------------------------------------------------------- */

/* Play a round and return the role that wins it; `view` begins with both hand sizes. */
static int play_round(const RoundPlayer *const players[2], const CardSet hands[2], RoundView *view,
                      Rng *rng) {
    for (int role = 0;; role = 1 - role) {
        view->role = role;
        view->hand = hands[role];
        int action = choose_action(players[role], view, rng);
        if (action == CHECK) {
            bool holds = bet_holds(last_bet_of(view), hands[0] | hands[1]);
            return holds ? 1 - role : role;
        }
        view->bets[view->bet_count++] = (uint8_t)action;
    }
}

/* Play rounds and return how many the first player, who begins, wins. */
int64_t play_rounds(const RoundPlayer *first, const RoundPlayer *second, int first_hand_size,
                    int second_hand_size, uint64_t seed, int64_t round_count) {
    Rng rng = {seed};
    const RoundPlayer *players[2] = {first, second};
    int64_t win_count = 0;
    for (int64_t round = 0; round < round_count; round++) {
        CardSet hands[2];
        hands[0] = rng_draw(&rng, ALL_CARDS, first_hand_size);
        hands[1] = rng_draw(&rng, ALL_CARDS & ~hands[0], second_hand_size);
        RoundView view = {.hand_sizes = {first_hand_size, second_hand_size}};
        win_count += play_round(players, hands, &view, &rng) == 0;
    }
    return win_count;
}
