/* Many matches of Blef side by side for a learner (lanes.h), with two to eight players.
 *
 * The numbers of actions and observations are those of cardsharp/games/blef/encoding.py. The rules
 * are those of cardsharp/games/blef/rules.py.
 */
#include "lanes.h"

#include "bet_probabilities.h"

enum { SEATS = MAX_SEATS, NO_SEAT = -1 };

/* The size of an observation: whether the player waits, then the blocks of encoding.py. */
enum { OBSERVATION_SIZE = 1 + CARDS + SEATS + BETS + SEATS * BETS };

struct State {
    SplitMix64 chance; /* of the rounds that follow the first one */
    int seats, max_hand_size;
    int hand_sizes[SEATS]; /* 0 for a player who is out */
    CardSet hands[SEATS];
    int turn, winner;
    int last_bet;     /* of this round, or NO_BET */
    int bettor[BETS]; /* the seat that made a bet in this round, or NO_SEAT */
};

/* The bit of a card by its index in the deck of Python, which is ordered by rank and then by
 * suit. */
static CardSet card_at(int deck_index) {
    int rank = deck_index / SUITS, suit = deck_index % SUITS;
    return 1u << (RANKS * suit + rank);
}

/* --- deals -------------------------------------------------------------------------------- */

/* `Random.sample` of Python remembers up to so many items of a deck of 24, and takes more out of a
 * list. */
enum { MAX_REMEMBERED_SAMPLE = 5 };

static void sample_with_retries(SplitMix64 *rng, int count, int deck_indexes[CARDS]) {
    uint32_t sampled_cards = 0;
    for (int index = 0; index < count; index++) {
        int card;
        do card = random_below(rng, CARDS);
        while (sampled_cards >> card & 1);
        sampled_cards |= 1u << card;
        deck_indexes[index] = card;
    }
}

static void sample_from_list(SplitMix64 *rng, int count, int deck_indexes[CARDS]) {
    int pool[CARDS];
    for (int index = 0; index < CARDS; index++) pool[index] = index;
    for (int index = 0; index < count; index++) {
        int remaining = CARDS - index, pool_index = random_below(rng, remaining);
        deck_indexes[index] = pool[pool_index];
        pool[pool_index] = pool[remaining - 1];
    }
}

/* Sample cards of the deck as `Random.sample` of Python does. */
static void sample_cards(SplitMix64 *rng, int count, int deck_indexes[CARDS]) {
    if (count <= MAX_REMEMBERED_SAMPLE) sample_with_retries(rng, count, deck_indexes);
    else sample_from_list(rng, count, deck_indexes);
}

static void deal_round(State *state, SplitMix64 *rng) {
    int deck_indexes[CARDS], card_count = 0, next_index = 0;
    for (int seat = 0; seat < state->seats; seat++) card_count += state->hand_sizes[seat];
    sample_cards(rng, card_count, deck_indexes);
    for (int seat = 0; seat < state->seats; seat++) {
        state->hands[seat] = 0;
        for (int card = 0; card < state->hand_sizes[seat]; card++)
            state->hands[seat] |= card_at(deck_indexes[next_index++]);
    }
    state->last_bet = NO_BET;
    for (int bet = 0; bet < BETS; bet++) state->bettor[bet] = NO_SEAT;
}

static void deal_match(State *state, int seat_count, uint64_t seed, uint64_t match_number) {
    SplitMix64 deck = pair_rng(seed, match_number, DECK_STREAM);
    memset(state, 0, sizeof *state);
    state->chance = pair_rng(seed, match_number, CHANCE_STREAM);
    state->seats = seat_count;
    state->max_hand_size = seat_count == 2 ? MAX_HAND_SIZE : CARDS / seat_count;
    state->winner = NO_SEAT;
    for (int seat = 0; seat < seat_count; seat++) state->hand_sizes[seat] = 1;
    deal_round(state, &deck);
}

/* --- actions ------------------------------------------------------------------------------ */

static bool is_legal(const State *state, int64_t action) {
    return action == CHECK ? state->last_bet != NO_BET : action > state->last_bet;
}

static int next_active_seat(const State *state, int seat) {
    do seat = (seat + 1) % state->seats;
    while (!state->hand_sizes[seat]);
    return seat;
}

/* End a round after a check. The player who checked loses it if the last bet holds, otherwise the
 * player who made this bet loses it. */
static void finish_round(State *state) {
    CardSet pool = 0;
    for (int seat = 0; seat < state->seats; seat++) pool |= state->hands[seat];
    bool holds = bet_holds(state->last_bet, pool);
    int loser = holds ? state->turn : state->bettor[state->last_bet];
    state->hand_sizes[loser]++;
    if (state->hand_sizes[loser] > state->max_hand_size) state->hand_sizes[loser] = 0;
    int starter = state->hand_sizes[loser] ? loser : next_active_seat(state, loser);
    bool is_only_player = next_active_seat(state, starter) == starter;
    if (is_only_player) {
        state->winner = starter;
        return;
    }
    state->turn = starter;
    deal_round(state, &state->chance);
}

static void apply_action(State *state, int64_t action) {
    if (action == CHECK) {
        finish_round(state);
        return;
    }
    state->last_bet = (int)action;
    state->bettor[action] = state->turn;
    state->turn = next_active_seat(state, state->turn);
}

static bool is_match_over(const State *state) { return state->winner != NO_SEAT; }

/* 1 for the winner, and less for the others so that all rewards of a match sum up to 0. */
static double match_reward(const State *state, int seat) {
    double fair_share = 1.0 / state->seats;
    return ((seat == state->winner) - fair_share) / (1 - fair_share);
}

static int player_to_act(const State *state) { return state->turn; }

/* --- observations ------------------------------------------------------------------------- */

static int relative_seat(const State *state, int seat) {
    return (seat - state->turn + state->seats) % state->seats;
}

static void write_observation(const State *state, float *row) {
    float *hand_block = row + 1, *hand_size_block = hand_block + CARDS;
    float *last_bet_block = hand_size_block + SEATS, *bet_block = last_bet_block + BETS;
    for (int card = 0; card < CARDS; card++)
        hand_block[card] = (state->hands[state->turn] & card_at(card)) != 0;
    for (int seat = 0; seat < state->seats; seat++) {
        double share = state->hand_sizes[seat] / (double)state->max_hand_size;
        hand_size_block[relative_seat(state, seat)] = (float)share;
    }
    if (state->last_bet != NO_BET) last_bet_block[state->last_bet] = 1;
    for (int bet = 0; bet <= state->last_bet; bet++) {
        int seat = state->bettor[bet];
        if (seat != NO_SEAT) bet_block[BETS * relative_seat(state, seat) + bet] = 1;
    }
}

static void observe(const State *state, float *row, int8_t *mask) {
    write_observation(state, row);
    for (int action = 0; action < ACTIONS; action++) mask[action] = is_legal(state, action);
}

DEFINE_LANES(OBSERVATION_SIZE, ACTIONS)
