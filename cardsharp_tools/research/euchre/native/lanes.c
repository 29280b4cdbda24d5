/* Lanes of Euchre, in the numbers of cardsharp_tools/games/euchre/encoding.py: the rules of
 * cardsharp/euchre/rules.py, table.py and simulation.py. Seats are of a deal, from the dealer's left;
 * chairs are of a match. */
#include "lanes.h"

#include "card.h"

enum { NONE = -1, WINNING = 10, TURN = 20, ALONE_BIDS = 4 };
typedef enum { BID, DISCARD, DEFEND, PLAY, QUESTIONS, DEAL_OVER } Question;

/* Numbers of actions: a pass, bids by suit and then the same alone, cards laid aside, ... */
enum { PASS, BIDS, DISCARDS = BIDS + 2 * ALONE_BIDS, DEFENCES = DISCARDS + CARDS };
enum { PLAYS = DEFENCES + 2, ACTIONS = PLAYS + CARDS };
enum { OBSERVED = 1 + QUESTIONS + SEATS + 3 * CARDS + 1 + 4 + SEATS + 1 + 7 * CARDS + 2 };

struct State {
    Dice chance;
    int first; /* the chair of seat 0 */
    int points[2]; /* of chairs 0 and 2, and of 1 and 3 */
    /* the deal */
    int turn_card, bids, trump, caller, lone_defender, defences, discard;
    bool picks_up, alone, swapped;
    Set hand[SEATS], played[SEATS];
    int trick[SEATS], who[SEATS], lying; /* the trick that is being played */
    int leader, won[2];
    Question question;
    int seat; /* who is asked */
};

static bool sits_out(const State *state, int seat) {
    int partner = (seat + 2) % SEATS;
    return (state->alone && partner == state->caller) || partner == state->lone_defender;
}

/* Who is to answer what, as `turn` of table.py has it. */
static void ask(State *state) {
    if (state->caller == NONE) {
        state->question = state->bids == MAX_BIDS ? DEAL_OVER : BID;
        state->seat = state->bids % SEATS;
    } else if (state->picks_up && !state->swapped) {
        state->question = DISCARD;
        state->seat = DEALER;
    } else if (state->alone && state->defences < 2 && state->lone_defender == NONE) {
        state->question = DEFEND;
        state->seat = (state->caller + 1 + 2 * state->defences) % SEATS;
    } else {
        state->question = state->won[0] + state->won[1] == TRICKS ? DEAL_OVER : PLAY;
        state->seat = state->lying ? (state->who[state->lying - 1] + 1) % SEATS : state->leader;
        while (sits_out(state, state->seat)) state->seat = (state->seat + 1) % SEATS;
    }
}

/* Deals by `Random.shuffle` of the 24 cards. */
static void deal(State *state, Dice *dice, int first) {
    int cards[CARDS];
    for (int i = 0; i < CARDS; i++) cards[i] = i;
    for (int i = CARDS - 1; i > 0; i--) {
        int at = dice_below(dice, i + 1), card = cards[i];
        cards[i] = cards[at];
        cards[at] = card;
    }
    State dealt = {
        .chance = state->chance, .first = first,
        .points = {state->points[0], state->points[1]}, .turn_card = cards[TURN],
        .trump = NONE, .caller = NONE, .lone_defender = NONE, .discard = NONE,
    };
    for (int i = 0; i < TURN; i++) dealt.hand[i / HAND] |= 1u << cards[i];
    *state = dealt;
    ask(state);
}

static void begin(State *state, int seats, uint64_t seed, uint64_t number) {
    (void)seats; /* four */
    Dice deck = dice_for(seed, number, DICE_OF_DECK);
    memset(state, 0, sizeof *state);
    int dealer = dice_range(&deck, SEATS);
    deal(state, &deck, (dealer + 1) % SEATS);
    state->chance = dice_for(seed, number, DICE_OF_CHANCE);
}

/* The cards of `hand` that follow the suit led, or all of them. */
static Set following(const State *state, Set hand) {
    if (!state->lying) return hand;
    Set follows = 0;
    int led = suit_of(state->trick[0], state->trump);
    for (int card = 0; card < CARDS; card++) {
        if (hand >> card & 1 && suit_of(card, state->trump) == led) follows |= 1u << card;
    }
    return follows ? follows : hand;
}

static bool may(const State *state, int64_t action) {
    Set hand = state->hand[state->seat];
    bool first = state->bids < SEATS;
    switch (state->question) {
        case BID: {
            bool turned = (action - BIDS) % ALONE_BIDS == (state->turn_card & 3);
            return action == PASS || (action < DISCARDS && turned == first);
        }
        case DISCARD: return action >= DISCARDS && action < DEFENCES && hand >> (action - DISCARDS) & 1;
        case DEFEND: return action == DEFENCES || action == DEFENCES + 1;
        default: return action >= PLAYS && following(state, hand) >> (action - PLAYS) & 1;
    }
}

static void bid(State *state, int64_t action) {
    if (action != PASS) {
        state->caller = state->bids % SEATS;
        state->trump = (int)(action - BIDS) % ALONE_BIDS;
        state->alone = action >= BIDS + ALONE_BIDS;
        state->picks_up = state->bids < SEATS;
        if (state->picks_up) state->hand[DEALER] |= 1u << state->turn_card;
    }
    state->bids++;
}

static void close_trick(State *state) {
    int best = 0, most = -1, led = suit_of(state->trick[0], state->trump);
    for (int i = 0; i < state->lying; i++) {
        int height = strength(state->trick[i], state->trump, led);
        if (height > most) most = height, best = i;
    }
    state->leader = state->who[best];
    state->won[state->leader % 2]++;
    state->lying = 0;
}

static void play(State *state, int card) {
    int players = SEATS - state->alone - (state->lone_defender != NONE);
    state->hand[state->seat] &= ~(1u << card);
    state->played[state->seat] |= 1u << card;
    state->who[state->lying] = state->seat;
    state->trick[state->lying++] = card;
    if (state->lying == players) close_trick(state);
}

/* Scores a deal that is over, and deals the next one unless a side has won. */
static void close_deal(State *state) {
    if (state->caller != NONE) {
        int side = state->caller % 2, tricks = state->won[side];
        int worth = tricks < TRICKS ? 1 : state->alone ? 4 : 2;
        if (tricks < MADE) {
            side = 1 - side;
            worth = state->lone_defender == NONE ? 2 : 4;
        }
        state->points[(state->first + side) % 2] += worth;
    }
    if (state->points[0] < WINNING && state->points[1] < WINNING) {
        Dice dice = state->chance;
        deal(state, &dice, (state->first + 1) % SEATS);
        state->chance = dice;
    }
}

static void act(State *state, int64_t action) {
    switch (state->question) {
        case BID: bid(state, action); break;
        case DISCARD:
            state->discard = (int)(action - DISCARDS);
            state->hand[DEALER] &= ~(1u << state->discard);
            state->swapped = true;
            break;
        case DEFEND:
            if (action != DEFENCES) state->lone_defender = state->seat;
            state->defences++;
            break;
        default: play(state, (int)(action - PLAYS)); break;
    }
    ask(state);
    if (state->question == DEAL_OVER) close_deal(state);
}

static bool is_over(const State *state) { return state->question == DEAL_OVER; }

static double reward(const State *state, int seat) {
    int winner = state->points[1] > state->points[0];
    return seat % 2 == winner ? 1 : -1;
}

static float *write_cards(float *row, Set cards) {
    for (; cards; cards &= cards - 1) row[__builtin_ctz(cards)] = 1;
    return row + CARDS;
}

/* One of so many, or none. */
static float *write_one(float *row, int which, int many) {
    if (which != NONE) row[which] = 1;
    return row + many;
}

static Set one(int card) { return card == NONE ? 0 : 1u << card; }

static void observe(const State *state, float *row) {
    int me = state->seat, caller = state->caller;
    /* A dealer who is asked for the discard does not know yet that an opponent plays alone. */
    bool hidden = state->question == DISCARD && caller % 2 != me % 2;
    row = write_one(row + 1, (int)state->question, QUESTIONS);
    row = write_one(row, me, SEATS);
    row = write_cards(row, state->hand[me]);
    row = write_cards(row, me == DEALER ? one(state->discard) : 0);
    row = write_cards(row, one(state->turn_card));
    *row++ = (float)(state->bids / (double)MAX_BIDS);
    row = write_one(row, state->trump, 4);
    row = write_one(row, caller == NONE ? NONE : (caller - me + SEATS) % SEATS, SEATS);
    *row++ = state->alone && !hidden;
    for (int i = 0; i < SEATS; i++) row = write_cards(row, state->played[(me + i) % SEATS]);
    for (int i = 0; i < SEATS - 1; i++) {
        row = write_cards(row, i < state->lying ? one(state->trick[i]) : 0);
    }
    *row++ = (float)(state->won[me % 2] / (double)TRICKS);
    *row = (float)(state->won[1 - me % 2] / (double)TRICKS);
}

static int to_act(const State *state) { return (state->first + state->seat) % SEATS; }

static void look(const State *state, float *row, int8_t *mask) {
    observe(state, row);
    for (int action = 0; action < ACTIONS; action++) mask[action] = may(state, action);
}

LANES(OBSERVED, ACTIONS)
