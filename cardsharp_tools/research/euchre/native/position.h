/* Position of one seat in a deal, and the decision of the rule-based player in it: the twins of
 * cardsharp/games/euchre/public_state.py, cardsharp/games/euchre/position.py and
 * cardsharp/games/euchre/strategies/rule_based.py. */
#ifndef CARDSHARP_EUCHRE_POSITION_H
#define CARDSHARP_EUCHRE_POSITION_H

#include "bidding.h"
#include "playout.h"

enum { MAX_PLAYS = SEATS * TRICKS, MAX_DEFENSE_ANSWERS = 2 };
enum { NO_CARD = -1, NO_BID = -1 };

typedef enum { BID, DISCARD, DEFEND, PLAY } DecisionType; /* in the order of actions.py */

/* An action is a number: of a bid 0 for a pass or the code of a suit, of a discard and of a play
 * the card, of the question about a lone defense 0 for no or 1 for yes. */
enum { PASS_ACTION = 0, ALONE_OFFSET = 8 };

static int bid_action(int suit, int goes_alone) { return suit + 1 + ALONE_OFFSET * goes_alone; }

/* Public part of a deal. Python fills it in: all members are 32-bit integers. */
typedef struct {
    int turn_card;
    int bid_count, suit[MAX_BIDS], goes_alone[MAX_BIDS]; /* suit is PASS for a pass */
    int has_discarded;
    int defense_count, defense_answers[MAX_DEFENSE_ANSWERS];
    int play_count, seat[MAX_PLAYS], card[MAX_PLAYS];
} PublicState;

typedef struct {
    const PublicState *public_state;
    int seat;
    DecisionType decision_type;
    int discard; /* of this seat, or NO_CARD */
    CardSet hand;
    int caller, call_index; /* the seat and the bid that called trumps; NO_SEAT and NO_BID before */
    PlayOrder order;
    CardPlayState play_state;
    CardSet played_cards[SEATS];
    CardSet voids[SEATS]; /* all cards of the suits that a seat has shown not to have any more */
} Position;

/* Find the call that ended the bidding; return 0 if trumps have not been named. */
static int find_call(Position *position) {
    const PublicState *public_state = position->public_state;
    int last_bid = public_state->bid_count - 1, lone_defender = NO_SEAT;
    if (last_bid < 0 || public_state->suit[last_bid] == PASS) return 0;
    position->call_index = last_bid;
    position->caller = last_bid & 3;
    for (int answer = 0; answer < public_state->defense_count; answer++)
        if (public_state->defense_answers[answer])
            lone_defender = (position->caller + 1 + 2 * answer) & 3;
    position->order = play_order(position->caller, public_state->suit[last_bid],
                                 public_state->goes_alone[last_bid], lone_defender);
    return 1;
}

static void replay_card_play(Position *position) {
    const PublicState *public_state = position->public_state;
    const PlayOrder *order = &position->order;
    CardPlayState state = {0};
    for (int index = 0; index < public_state->play_count; index++) {
        CardMask card = bit_of_card(order->layout, public_state->card[index]);
        state.seat = public_state->seat[index];
        if (state.cards_in_trick && !(card & state.suit_led))
            position->voids[state.seat] |= card_set_from_mask(order->layout, state.suit_led);
        position->played_cards[state.seat] |= 1u << public_state->card[index];
        state = with_card(order, state, card);
    }
    state.seat = first_playing_seat_from(order, state.seat);
    position->play_state = state;
}

static Position position_for(const PublicState *public_state, int seat,
                             DecisionType decision_type, CardSet hand, int discard) {
    Position position = {
        .public_state = public_state,
        .seat = seat,
        .decision_type = decision_type,
        .discard = discard,
        .hand = hand,
        .caller = NO_SEAT,
        .call_index = NO_BID,
    };
    if (find_call(&position)) replay_card_play(&position);
    return position;
}

/* True for a call of the first round, with which the dealer takes the turn card. */
static int is_order_up(const Position *position) {
    return position->call_index != NO_BID && is_first_round(position->call_index);
}

static CardSet turn_card_set(const Position *position) {
    return 1u << position->public_state->turn_card;
}

/* All cards that the seat has had: its hand, its discard and the cards that it played. */
static CardSet seat_cards(const Position *position) {
    CardSet discard = position->discard == NO_CARD ? 0 : 1u << position->discard;
    return position->hand | position->played_cards[position->seat] | discard;
}

/* The cards whose past or present place the seat does not know. */
static CardSet unseen_cards(const Position *position) {
    CardSet visible_cards = seat_cards(position) | turn_card_set(position);
    for (int seat = 0; seat < SEATS; seat++) visible_cards |= position->played_cards[seat];
    return ALL_CARDS & ~visible_cards;
}

static CardSet legal_cards(const Position *position) {
    const CardPlayState *state = &position->play_state;
    if (!state->cards_in_trick) return position->hand;
    CardSet suit_led = card_set_from_mask(position->order.layout, state->suit_led);
    CardSet followers = position->hand & suit_led;
    return followers ? followers : position->hand;
}

/* --- the rule-based player ---------------------------------------------------------------- */

static int rule_based_bid(const Position *position) {
    const PublicState *public_state = position->public_state;
    int goes_alone;
    int suit = choose_bid(position->hand, public_state->bid_count, public_state->turn_card,
                          &goes_alone);
    return suit == PASS ? PASS_ACTION : bid_action(suit, goes_alone);
}

static int rule_based_play(const Position *position) {
    const TrumpLayout *layout = position->order.layout;
    CardSet hidden_cards = ALL_CARDS & ~seat_cards(position);
    if (!is_order_up(position)) hidden_cards &= ~turn_card_set(position);
    CardMask hidden = mask_from_card_set(layout, hidden_cards);
    hidden &= ~position->play_state.played_cards;
    CardMask hand = mask_from_card_set(layout, position->hand);
    return card_of_bit(layout, choose_card(&position->order, hand, hidden, &position->play_state));
}

static int rule_based_action(const Position *position) {
    const TrumpLayout *layout = position->order.layout;
    switch (position->decision_type) {
        case BID: return rule_based_bid(position);
        case DEFEND: return 0; /* two defend better than one */
        case DISCARD: {
            CardMask hand = mask_from_card_set(layout, position->hand);
            return card_of_bit(layout, best_discard(layout, hand));
        }
        default: return rule_based_play(position);
    }
}

#endif
