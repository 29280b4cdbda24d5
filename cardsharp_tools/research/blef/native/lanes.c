/* Lanes of Blef, in the numbers of cardsharp/games/blef/encoding.py: the rules of blef/rules.py
 * for two to eight players. */
#include "lanes.h"

#include "blef.h"

enum { SEATS = MOST_SEATS, NOBODY = -1, SMALL_SAMPLE = 5 };
enum { ACTIONS = BETS + 1, OBSERVED = 1 + CARDS + SEATS + BETS + SEATS * BETS };

struct State {
    Dice chance;
    int seats, most; /* cards that a player can hold */
    int cards[SEATS]; /* 0 of who is out */
    Cards hand[SEATS];
    int turn, winner;
    int last;        /* the bet to beat, or OPENING */
    int bettor[BETS]; /* of this round, NOBODY where a bet was not made */
};

/* A card's place in the deck, value by value, as a bit of blef.h. */
static Cards bit_of(int place) { return 1u << (VALUES * (place % COLOURS) + place / COLOURS); }

/* `Random.sample` of the deck: of up to five cards it rolls again for one that it has, of more it
 * takes them out of a list. */
static void sample(Dice *dice, int number, int places[CARDS]) {
    int pool[CARDS];
    uint32_t taken = 0;
    for (int i = 0; i < CARDS; i++) pool[i] = i;
    for (int i = 0; i < number; i++) {
        if (number <= SMALL_SAMPLE) {
            do places[i] = dice_below(dice, CARDS);
            while (taken >> places[i] & 1);
            taken |= 1u << places[i];
        } else {
            int at = dice_below(dice, CARDS - i);
            places[i] = pool[at];
            pool[at] = pool[CARDS - i - 1];
        }
    }
}

static void deal_round(State *state, Dice *dice) {
    int places[CARDS], number = 0, next = 0;
    for (int seat = 0; seat < state->seats; seat++) number += state->cards[seat];
    sample(dice, number, places);
    for (int seat = 0; seat < state->seats; seat++) {
        state->hand[seat] = 0;
        for (int i = 0; i < state->cards[seat]; i++) state->hand[seat] |= bit_of(places[next++]);
    }
    state->last = OPENING;
    for (int bet = 0; bet < BETS; bet++) state->bettor[bet] = NOBODY;
}

static void begin(State *state, int seats, uint64_t seed, uint64_t number) {
    Dice deck = dice_for(seed, number, DICE_OF_DECK);
    memset(state, 0, sizeof *state);
    state->chance = dice_for(seed, number, DICE_OF_CHANCE);
    state->seats = seats;
    state->most = seats == 2 ? MOST_CARDS : CARDS / seats;
    state->winner = NOBODY;
    for (int seat = 0; seat < seats; seat++) state->cards[seat] = 1;
    deal_round(state, &deck);
}

static bool may(const State *state, int64_t action) {
    return action == CHECK ? state->last != OPENING : action > state->last;
}

static int after(const State *state, int seat) {
    do seat = (seat + 1) % state->seats;
    while (!state->cards[seat]);
    return seat;
}

/* All hands are opened: who checked loses the round if the last bet holds, else who made it. */
static void resolve(State *state) {
    Cards pool = 0;
    for (int seat = 0; seat < state->seats; seat++) pool |= state->hand[seat];
    int loser = holds(state->last, pool) ? state->turn : state->bettor[state->last];
    if (++state->cards[loser] > state->most) state->cards[loser] = 0;
    int starter = state->cards[loser] ? loser : after(state, loser);
    if (after(state, starter) == starter) {
        state->winner = starter;
        return;
    }
    state->turn = starter;
    deal_round(state, &state->chance);
}

static void act(State *state, int64_t action) {
    if (action == CHECK) {
        resolve(state);
        return;
    }
    state->last = (int)action;
    state->bettor[action] = state->turn;
    state->turn = after(state, state->turn);
}

static bool is_over(const State *state) { return state->winner != NOBODY; }

static double reward(const State *state, int seat) {
    double fair = 1.0 / state->seats;
    return ((seat == state->winner) - fair) / (1 - fair);
}

static int to_act(const State *state) { return state->turn; }

static void look(const State *state, float *row, int8_t *mask) {
    int me = state->turn, seats = state->seats;
    float *hand = row + 1, *cards = hand + CARDS, *last = cards + SEATS, *said = last + BETS;
    for (int place = 0; place < CARDS; place++) {
        hand[place] = (state->hand[me] & bit_of(place)) != 0;
    }
    for (int seat = 0; seat < seats; seat++) {
        cards[(seat - me + seats) % seats] = (float)(state->cards[seat] / (double)state->most);
    }
    if (state->last != OPENING) last[state->last] = 1;
    for (int bet = 0; bet <= state->last; bet++) {
        int seat = state->bettor[bet];
        if (seat != NOBODY) said[BETS * ((seat - me + seats) % seats) + bet] = 1;
    }
    for (int action = 0; action < ACTIONS; action++) mask[action] = may(state, action);
}

LANES(OBSERVED, ACTIONS)
