/* Card play by rules of thumb: the twin of cardsharp/games/euchre/strategies/playout.py and
 * cardsharp/games/euchre/strategies/card_play_rules.py. */
#ifndef CARDSHARP_EUCHRE_PLAYOUT_H
#define CARDSHARP_EUCHRE_PLAYOUT_H

#include "trump_layout.h"

enum { NO_SEAT = -1 };

/* Order of play under a call: the seats that play, and their sides. */
typedef struct {
    const TrumpLayout *layout;
    int caller, goes_alone;
    int lone_defender; /* a seat or NO_SEAT */
    int sitting_out;   /* the seats that sit out, as bits */
    int player_count;  /* of the others */
} PlayOrder;

/* State of the card play: the seat to play, the trick that is being played, and the tricks so far
 * of the caller's side and of the defenders. */
typedef struct {
    int seat;
    CardMask played_cards;
    int cards_in_trick;
    CardMask suit_led;
    CardMask winning_card;
    int winning_seat;
    int tricks_won, tricks_lost;
} CardPlayState;

static PlayOrder play_order(int caller, int trump, int goes_alone, int lone_defender) {
    PlayOrder order = {&trump_layouts[trump], caller, goes_alone, lone_defender, 0, 0};
    if (goes_alone) order.sitting_out |= 1 << partner(caller);
    if (lone_defender != NO_SEAT) order.sitting_out |= 1 << partner(lone_defender);
    order.player_count = SEATS - count_cards((uint32_t)order.sitting_out);
    return order;
}

/* This seat, or the next one that plays; the seat may be 4 or more. */
static int first_playing_seat_from(const PlayOrder *order, int seat) {
    while (order->sitting_out >> (seat & 3) & 1) seat++;
    return seat & 3;
}

static int is_on_caller_side(const PlayOrder *order, int seat) {
    return ((seat ^ order->caller) & 1) == 0;
}

/* The points of the caller's side less those of the defenders. */
static int point_difference(const PlayOrder *order, int tricks_won, int tricks_lost) {
    if (tricks_lost > TRICKS - TRICKS_TO_MAKE) return order->lone_defender != NO_SEAT ? -4 : -2;
    if (tricks_won < TRICKS) return 1;
    return order->goes_alone ? 4 : 2;
}

/* The state after the next seat has played this card. */
static CardPlayState with_card(const PlayOrder *order, CardPlayState state, CardMask card) {
    const TrumpLayout *layout = order->layout;
    if (!state.cards_in_trick) state.suit_led = layout->suit[lowest_index(card)];
    int can_win = (card & (state.suit_led | layout->trumps)) != 0;
    if (!state.cards_in_trick || (can_win && card > state.winning_card)) {
        state.winning_card = card;
        state.winning_seat = state.seat;
    }
    state.played_cards |= card;
    state.seat = first_playing_seat_from(order, state.seat + 1);
    state.cards_in_trick++;
    if (state.cards_in_trick < order->player_count) return state;
    int caller_wins = is_on_caller_side(order, state.winning_seat);
    return (CardPlayState){
        .seat = state.winning_seat,
        .played_cards = state.played_cards,
        .tricks_won = state.tricks_won + caller_wins,
        .tricks_lost = state.tricks_lost + !caller_wins,
    };
}

/* --- rules of thumb: `hidden` are the cards that the seat does not see ----------------------- */

enum { MANY_TRUMPS = 3 };       /* a caller leads from so many trumps even without the highest */
enum { INFINITE_PRICE = 1000 }; /* above the price of any lead */
enum { PRICE_OF_LENGTH = 32 };  /* of each card of a suit, so that short suits come first */

/* Lead the lowest sure winner of the shortest side suit that has one, otherwise the lowest card of
 * the shortest side suit. */
static CardMask choose_side_lead(const TrumpLayout *layout, CardMask hand, CardMask hidden) {
    CardMask sure_winner = 0, loser = 0;
    int winner_price = INFINITE_PRICE, loser_price = INFINITE_PRICE;
    for (int side = 0; side < SIDE_SUITS; side++) {
        CardMask suit_cards = hand & layout->sides[side];
        CardMask hidden_cards = hidden & layout->sides[side];
        if (!suit_cards) continue;
        CardMask winners = suit_cards;
        if (hidden_cards) winners &= ~(2 * highest_card(hidden_cards) - 1);
        CardMask card = lowest_card(winners ? winners : suit_cards);
        int price = count_cards(suit_cards) * PRICE_OF_LENGTH + card_of_bit(layout, card);
        if (winners && price < winner_price) {
            sure_winner = card;
            winner_price = price;
        }
        if (!winners && price < loser_price) {
            loser = card;
            loser_price = price;
        }
    }
    return sure_winner ? sure_winner : loser;
}

static CardMask choose_lead(const PlayOrder *order, int seat, CardMask hand, CardMask hidden,
                            int is_first_trick) {
    CardMask trumps = hand & order->layout->trumps;
    CardMask highest_trump = trumps ? highest_card(trumps) : 0;
    if (trumps && is_on_caller_side(order, seat)) {
        int is_caller = seat == order->caller;
        int draws_trumps = is_caller ? count_cards(trumps) >= MANY_TRUMPS : is_first_trick;
        if (draws_trumps || hidden < highest_trump) return highest_trump;
    }
    if (trumps == hand) return highest_trump;
    return choose_side_lead(order->layout, hand, hidden);
}

static CardMask choose_follow(const PlayOrder *order, CardMask hand, CardMask hidden,
                              const CardPlayState *state) {
    const TrumpLayout *layout = order->layout;
    CardMask trumps = layout->trumps, suit_led = state->suit_led, best = state->winning_card;
    CardMask suit_cards = hand & suit_led, hidden_of_suit = hidden & suit_led;
    int partner_wins = state->winning_seat == partner(state->seat);
    int is_last = state->cards_in_trick == order->player_count - 1;
    CardMask cheapest = suit_cards ? lowest_card(suit_cards) : best_discard(layout, hand);
    if (partner_wins && (is_last || best & trumps || hidden_of_suit < best)) return cheapest;
    CardMask followers = suit_cards ? suit_cards : hand & trumps;
    CardMask winners = followers & (suit_led | trumps) & -(best << 1);
    if (!winners) return cheapest;
    CardMask cheapest_winner = lowest_card(winners), highest_winner = highest_card(winners);
    if (is_last || cheapest_winner & trumps) return cheapest_winner;
    if (hidden_of_suit < highest_winner) return highest_winner;
    return partner_wins ? cheapest : cheapest_winner;
}

/* The card of the seat to play, by the rules of thumb. */
static CardMask choose_card(const PlayOrder *order, CardMask hand, CardMask hidden,
                            const CardPlayState *state) {
    CardMask suit_cards = state->cards_in_trick ? hand & state->suit_led : 0;
    CardMask legal = suit_cards ? suit_cards : hand;
    int is_only_card = !(legal & (legal - 1));
    if (is_only_card) return legal;
    if (state->cards_in_trick) return choose_follow(order, hand, hidden, state);
    int is_first_trick = !(state->tricks_won + state->tricks_lost);
    return choose_lead(order, state->seat, hand, hidden, is_first_trick);
}

/* True between two tricks if the points cannot change any more. */
static int are_points_certain(const CardPlayState *state) {
    if (state->cards_in_trick) return 0;
    int is_euchred = state->tricks_lost > TRICKS - TRICKS_TO_MAKE;
    int is_made = state->tricks_lost && state->tricks_won >= TRICKS_TO_MAKE;
    return state->tricks_won == TRICKS || is_euchred || is_made;
}

/* The points of the caller's side when all play on by the rules of thumb.
 *
 * `hands` are the cards of each seat. `hidden` are the cards that each seat was not dealt, without
 * a turn card that was turned down. */
static int playout_points(const PlayOrder *order, const CardMask hands[SEATS],
                          const CardMask hidden[SEATS], CardPlayState state) {
    CardMask current_hands[SEATS];
    memcpy(current_hands, hands, sizeof current_hands);
    while (!are_points_certain(&state)) {
        int seat = state.seat;
        CardMask hidden_cards = hidden[seat] & ~state.played_cards;
        CardMask card = choose_card(order, current_hands[seat], hidden_cards, &state);
        current_hands[seat] ^= card;
        state = with_card(order, state, card);
    }
    return point_difference(order, state.tricks_won, state.tricks_lost);
}

#endif
