/* Many matches of Euchre side by side for a learner (lanes.h).
 *
 * The numbers of actions and observations are those of cardsharp/games/euchre/encoding.py. The
 * rules are those of cardsharp/games/euchre/rules.py, cardsharp/games/euchre/public_state.py and
 * cardsharp/games/euchre/simulation.py. Seats are of a deal and count from the dealer's left;
 * players are of a match and stay where they are.
 */
#include "lanes.h"

#include "cards.h"

enum { NONE = -1, WINNING_SCORE = 10, TURN_CARD_INDEX = 20, DEALT_CARDS = SEATS * HAND_SIZE };

/* The types of decisions, in the order of cardsharp/games/euchre/actions.py, and the end of a
 * deal. */
typedef enum { BID, DISCARD, DEFEND, PLAY, DECISION_TYPES, DEAL_OVER } DecisionType;

/* The first number of each kind of action. A bid is a suit, then the same suits alone; a discard
 * and a play are a card; the answers about a lone defense are no and yes. */
enum {
    PASS,
    FIRST_BID,
    FIRST_DISCARD = FIRST_BID + 2 * SUITS,
    DECLINE_DEFENSE = FIRST_DISCARD + CARDS,
    ACCEPT_DEFENSE,
    FIRST_PLAY,
    ACTIONS = FIRST_PLAY + CARDS,
};

/* The size of an observation: whether the player waits, then the blocks of encoding.py. */
enum {
    SEAT_SIZE = DECISION_TYPES + SEATS,
    CARDS_SIZE = 3 * CARDS, /* the hand, the discard, the turn card */
    BIDDING_SIZE = 1 + SUITS + SEATS + 1,
    PLAY_SIZE = SEATS * CARDS + (SEATS - 1) * CARDS + 2,
    OBSERVATION_SIZE = 1 + SEAT_SIZE + CARDS_SIZE + BIDDING_SIZE + PLAY_SIZE,
};

struct State {
    SplitMix64 chance; /* of the deals that follow the first one */
    int first_player;  /* the player at seat 0 */
    int points[2];     /* of players 0 and 2, and of players 1 and 3 */
    /* the deal */
    int turn_card, bid_count, trump, caller, lone_defender, defense_count, discard;
    bool is_order_up, goes_alone, has_discarded;
    CardSet hands[SEATS], played_cards[SEATS];
    int trick_cards[SEATS], trick_seats[SEATS], cards_in_trick;
    int leader, tricks_won[2]; /* of seats 0 and 2, and of seats 1 and 3 */
    DecisionType decision_type;
    int seat; /* of the pending decision */
};

static bool sits_out(const State *state, int seat) {
    bool is_caller_alone = state->goes_alone && partner(seat) == state->caller;
    return is_caller_alone || partner(seat) == state->lone_defender;
}

static void find_next_play(State *state) {
    int trick_count = state->tricks_won[0] + state->tricks_won[1];
    state->decision_type = trick_count == TRICKS ? DEAL_OVER : PLAY;
    state->seat = state->leader;
    if (state->cards_in_trick)
        state->seat = (state->trick_seats[state->cards_in_trick - 1] + 1) % SEATS;
    while (sits_out(state, state->seat)) state->seat = (state->seat + 1) % SEATS;
}

/* Find the pending decision, as `pending_decision` of public_state.py does. */
static void find_pending_decision(State *state) {
    bool is_defense_open = state->defense_count < 2 && state->lone_defender == NONE;
    if (state->caller == NONE) {
        state->decision_type = state->bid_count == MAX_BIDS ? DEAL_OVER : BID;
        state->seat = state->bid_count % SEATS;
    } else if (state->is_order_up && !state->has_discarded) {
        state->decision_type = DISCARD;
        state->seat = DEALER;
    } else if (state->goes_alone && is_defense_open) {
        state->decision_type = DEFEND;
        state->seat = (state->caller + 1 + 2 * state->defense_count) % SEATS;
    } else {
        find_next_play(state);
    }
}

/* Begin a deal with cards that are shuffled as `Random.shuffle` of Python shuffles them. */
static void deal(State *state, SplitMix64 *rng, int first_player) {
    int cards[CARDS];
    for (int index = 0; index < CARDS; index++) cards[index] = index;
    for (int index = CARDS - 1; index > 0; index--) {
        int swap_index = random_below(rng, index + 1), card = cards[index];
        cards[index] = cards[swap_index];
        cards[swap_index] = card;
    }
    State dealt_state = {
        .chance = state->chance,
        .first_player = first_player,
        .points = {state->points[0], state->points[1]},
        .turn_card = cards[TURN_CARD_INDEX],
        .trump = NONE,
        .caller = NONE,
        .lone_defender = NONE,
        .discard = NONE,
    };
    for (int index = 0; index < DEALT_CARDS; index++)
        dealt_state.hands[index / HAND_SIZE] |= 1u << cards[index];
    *state = dealt_state;
    find_pending_decision(state);
}

/* Begin a match; the number of seats is always four. */
static void deal_match(State *state, int seat_count, uint64_t seed, uint64_t match_number) {
    (void)seat_count;
    SplitMix64 deck = pair_rng(seed, match_number, DECK_STREAM);
    memset(state, 0, sizeof *state);
    int dealer = random_range(&deck, SEATS);
    deal(state, &deck, (dealer + 1) % SEATS);
    state->chance = pair_rng(seed, match_number, CHANCE_STREAM);
}

/* --- legal actions ------------------------------------------------------------------------ */

/* The cards of a hand that follow the suit led, or all of them without such a card. */
static CardSet legal_cards(const State *state, CardSet hand) {
    if (!state->cards_in_trick) return hand;
    CardSet followers = 0;
    int suit_led = suit_of(state->trick_cards[0], state->trump);
    for (int card = 0; card < CARDS; card++) {
        bool follows = suit_of(card, state->trump) == suit_led;
        if (hand >> card & 1 && follows) followers |= 1u << card;
    }
    return followers ? followers : hand;
}

/* The first round allows the suit of the turn card only, the second round the other suits. */
static bool is_legal_bid(const State *state, int64_t action) {
    if (action == PASS) return true;
    if (action >= FIRST_DISCARD) return false;
    bool is_turned_suit = (action - FIRST_BID) % SUITS == printed_suit_of(state->turn_card);
    bool is_first_round = state->bid_count < SEATS;
    return is_turned_suit == is_first_round;
}

static bool is_legal(const State *state, int64_t action) {
    CardSet hand = state->hands[state->seat];
    switch (state->decision_type) {
        case BID: return is_legal_bid(state, action);
        case DISCARD:
            return action >= FIRST_DISCARD && action < DECLINE_DEFENSE &&
                   hand >> (action - FIRST_DISCARD) & 1;
        case DEFEND: return action == DECLINE_DEFENSE || action == ACCEPT_DEFENSE;
        default:
            return action >= FIRST_PLAY && legal_cards(state, hand) >> (action - FIRST_PLAY) & 1;
    }
}

/* --- effects of actions ------------------------------------------------------------------- */

static void apply_bid(State *state, int64_t action) {
    if (action != PASS) {
        state->caller = state->bid_count % SEATS;
        state->trump = (int)(action - FIRST_BID) % SUITS;
        state->goes_alone = action >= FIRST_BID + SUITS;
        state->is_order_up = state->bid_count < SEATS;
        if (state->is_order_up) state->hands[DEALER] |= 1u << state->turn_card;
    }
    state->bid_count++;
}

static void apply_discard(State *state, int card) {
    state->discard = card;
    state->hands[DEALER] &= ~(1u << card);
    state->has_discarded = true;
}

static void finish_trick(State *state) {
    int winner_index = 0, max_strength = -1;
    int suit_led = suit_of(state->trick_cards[0], state->trump);
    for (int index = 0; index < state->cards_in_trick; index++) {
        int strength = trick_strength(state->trick_cards[index], state->trump, suit_led);
        if (strength > max_strength) {
            max_strength = strength;
            winner_index = index;
        }
    }
    state->leader = state->trick_seats[winner_index];
    state->tricks_won[state->leader % 2]++;
    state->cards_in_trick = 0;
}

static void apply_play(State *state, int card) {
    bool has_lone_defender = state->lone_defender != NONE;
    int player_count = SEATS - state->goes_alone - has_lone_defender;
    state->hands[state->seat] &= ~(1u << card);
    state->played_cards[state->seat] |= 1u << card;
    state->trick_seats[state->cards_in_trick] = state->seat;
    state->trick_cards[state->cards_in_trick++] = card;
    if (state->cards_in_trick == player_count) finish_trick(state);
}

static void score_deal(State *state) {
    if (state->caller == NONE) return;
    int side = state->caller % 2, trick_count = state->tricks_won[side], points = 1;
    if (trick_count < TRICKS_TO_MAKE) {
        side = 1 - side;
        points = state->lone_defender == NONE ? 2 : 4;
    } else if (trick_count == TRICKS) {
        points = state->goes_alone ? 4 : 2;
    }
    state->points[(state->first_player + side) % 2] += points;
}

/* Score a deal that is over, and begin the next one unless a side has won the match. */
static void finish_deal(State *state) {
    score_deal(state);
    if (state->points[0] >= WINNING_SCORE || state->points[1] >= WINNING_SCORE) return;
    SplitMix64 rng = state->chance;
    deal(state, &rng, (state->first_player + 1) % SEATS);
    state->chance = rng;
}

static void apply_action(State *state, int64_t action) {
    switch (state->decision_type) {
        case BID: apply_bid(state, action); break;
        case DISCARD: apply_discard(state, (int)(action - FIRST_DISCARD)); break;
        case DEFEND:
            if (action == ACCEPT_DEFENSE) state->lone_defender = state->seat;
            state->defense_count++;
            break;
        default: apply_play(state, (int)(action - FIRST_PLAY)); break;
    }
    find_pending_decision(state);
    if (state->decision_type == DEAL_OVER) finish_deal(state);
}

static bool is_match_over(const State *state) { return state->decision_type == DEAL_OVER; }

static double match_reward(const State *state, int seat) {
    int winning_side = state->points[1] > state->points[0];
    return seat % 2 == winning_side ? 1 : -1;
}

/* --- observations: a function writes a block into zeros and returns the end of the block ----- */

static float *write_cards(float *row, CardSet cards) {
    for (; cards; cards &= cards - 1) row[__builtin_ctz(cards)] = 1;
    return row + CARDS;
}

static float *write_card(float *row, int card) {
    return write_cards(row, card == NONE ? 0 : 1u << card);
}

/* Write which of `size` values an index has; NONE leaves the block empty. */
static float *write_index(float *row, int index, int size) {
    if (index != NONE) row[index] = 1;
    return row + size;
}

static void write_observation(const State *state, float *row) {
    int seat = state->seat, caller = state->caller;
    /* A dealer who is asked for the discard does not know yet that an opponent plays alone. */
    bool is_alone_hidden = state->decision_type == DISCARD && caller % 2 != seat % 2;
    row = write_index(row + 1, (int)state->decision_type, DECISION_TYPES);
    row = write_index(row, seat, SEATS);
    row = write_cards(row, state->hands[seat]);
    row = write_card(row, seat == DEALER ? state->discard : NONE);
    row = write_card(row, state->turn_card);
    *row++ = (float)(state->bid_count / (double)MAX_BIDS);
    row = write_index(row, state->trump, SUITS);
    row = write_index(row, caller == NONE ? NONE : (caller - seat + SEATS) % SEATS, SEATS);
    *row++ = state->goes_alone && !is_alone_hidden;
    for (int offset = 0; offset < SEATS; offset++)
        row = write_cards(row, state->played_cards[(seat + offset) % SEATS]);
    for (int index = 0; index < SEATS - 1; index++)
        row = write_card(row, index < state->cards_in_trick ? state->trick_cards[index] : NONE);
    *row++ = (float)(state->tricks_won[seat % 2] / (double)TRICKS);
    *row = (float)(state->tricks_won[1 - seat % 2] / (double)TRICKS);
}

static int player_to_act(const State *state) {
    return (state->first_player + state->seat) % SEATS;
}

static void observe(const State *state, float *row, int8_t *mask) {
    write_observation(state, row);
    for (int action = 0; action < ACTIONS; action++) mask[action] = is_legal(state, action);
}

DEFINE_LANES(OBSERVATION_SIZE, ACTIONS)
