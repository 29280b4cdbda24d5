/* Exact search with all cards open: the twin of cardsharp/games/euchre/strategies/double_dummy.py.
 *
 * Cards never change their owner. Therefore a position between two tricks is completely given by
 * the cards that remain, the leader, and the number of tricks that the caller's side still needs.
 * The search only answers yes or no: points grow with tricks, so the questions "at least three?"
 * and "all five?" are enough.
 */
#ifndef CARDSHARP_EUCHRE_DOUBLE_DUMMY_H
#define CARDSHARP_EUCHRE_DOUBLE_DUMMY_H

#include "playout.h"

enum { RESULT_SLOT_BITS = 16, RESULT_SLOTS = 1 << RESULT_SLOT_BITS };

/* A stored answer: 1 if the caller's side wins the tricks that it needs. Answers of an earlier
 * world have another world number, so that the table need not be cleared for each world. */
typedef struct { uint32_t key, world_number; int8_t wins; } SearchResult;

typedef struct {
    const PlayOrder *order;
    CardMask hands[SEATS];
    CardMask cards; /* of all hands */
} DoubleDummySolver;

static SearchResult search_results[RESULT_SLOTS];
static uint32_t current_world_number;

/* Begin with a world; `hands` may still include cards that have been played. */
static DoubleDummySolver double_dummy_solver(const PlayOrder *order, const CardMask hands[SEATS]) {
    DoubleDummySolver solver = {order, {0}, 0};
    current_world_number++;
    if (current_world_number == 0) { /* the number overflowed, so old answers would look new */
        memset(search_results, 0, sizeof search_results);
        current_world_number = 1;
    }
    for (int seat = 0; seat < SEATS; seat++) {
        if (order->sitting_out >> seat & 1) continue;
        solver.hands[seat] = hands[seat];
        solver.cards |= hands[seat];
    }
    return solver;
}

/* The slot of a key: the one that has its answer, or the free one where it belongs. */
static uint32_t find_slot(uint32_t key) {
    uint32_t slot = key * 2654435761u >> (32 - RESULT_SLOT_BITS);
    while (search_results[slot].world_number == current_world_number &&
           search_results[slot].key != key)
        slot = (slot + 1) & (RESULT_SLOTS - 1);
    return slot;
}

static int search_lead(DoubleDummySolver *solver, CardMask remaining, int seat, int tricks_needed);

/* Return 1 if the caller's side wins `tricks_needed` tricks, this one included.
 *
 * `trick_cards` are the cards of the trick, and `seats_left` seats have not played to it. */
static int search_follow(DoubleDummySolver *solver, CardMask remaining, CardMask trick_cards,
                         CardPlayState trick, int tricks_needed, int seats_left) {
    const PlayOrder *order = solver->order;
    const TrumpLayout *layout = order->layout;
    int seat = trick.seat, is_caller_side = is_on_caller_side(order, seat);
    CardMask hand = solver->hands[seat] & remaining, can_win = trick.suit_led | layout->trumps;
    CardMask legal = hand & trick.suit_led ? hand & trick.suit_led : hand;
    while (legal) {
        CardMask card = highest_card(
            take_equivalent_group(layout, &legal, remaining | trick_cards));
        CardPlayState next = trick;
        if (card & can_win && card > trick.winning_card) {
            next.winning_card = card;
            next.winning_seat = seat;
        }
        next.seat = first_playing_seat_from(order, seat + 1);
        int wins;
        if (seats_left == 1)
            wins = search_lead(solver, remaining ^ card, next.winning_seat,
                               tricks_needed - is_on_caller_side(order, next.winning_seat));
        else
            wins = search_follow(solver, remaining ^ card, trick_cards | card, next, tricks_needed,
                                 seats_left - 1);
        if (wins == is_caller_side) return wins;
    }
    return !is_caller_side;
}

/* The same between two tricks, searched card by card. */
static int search_lead_cards(DoubleDummySolver *solver, CardMask remaining, int seat,
                             int tricks_needed) {
    const PlayOrder *order = solver->order;
    int is_caller_side = is_on_caller_side(order, seat);
    CardMask legal = solver->hands[seat] & remaining;
    while (legal) {
        CardMask card = highest_card(take_equivalent_group(order->layout, &legal, remaining));
        CardPlayState trick = {
            .seat = first_playing_seat_from(order, seat + 1),
            .cards_in_trick = 1,
            .suit_led = order->layout->suit[lowest_index(card)],
            .winning_card = card,
            .winning_seat = seat,
        };
        int wins = search_follow(solver, remaining ^ card, card, trick, tricks_needed,
                                 order->player_count - 1);
        if (wins == is_caller_side) return wins;
    }
    return !is_caller_side;
}

/* The same between two tricks. Only these positions are stored: within a trick a look-up would cost
 * more than the search. */
static int search_lead(DoubleDummySolver *solver, CardMask remaining, int seat,
                       int tricks_needed) {
    if (tricks_needed <= 0) return 1;
    if (tricks_needed > count_cards(solver->hands[seat] & remaining)) return 0;
    uint32_t key = remaining | (uint32_t)seat << 24 | (uint32_t)tricks_needed << 26;
    const SearchResult *result = &search_results[find_slot(key)];
    if (result->world_number == current_world_number) return result->wins;
    int wins = search_lead_cards(solver, remaining, seat, tricks_needed);
    /* The search has filled other slots since, so the free slot may be another one. */
    search_results[find_slot(key)] = (SearchResult){key, current_world_number, (int8_t)wins};
    return wins;
}

/* Return 1 if the caller's side wins `tricks_needed` of the tricks from this state on.
 *
 * A trick that has begun counts, and `trick_cards` are its cards. The leading seat may sit out. */
static int can_caller_side_win(DoubleDummySolver *solver, CardPlayState state,
                               CardMask trick_cards, int tricks_needed) {
    const PlayOrder *order = solver->order;
    CardMask remaining = solver->cards & ~state.played_cards;
    if (!state.cards_in_trick) {
        int leader = first_playing_seat_from(order, state.seat);
        return search_lead(solver, remaining, leader, tricks_needed);
    }
    int seats_left = order->player_count - state.cards_in_trick;
    return search_follow(solver, remaining, trick_cards, state, tricks_needed, seats_left);
}

/* The points of the caller's side less those of the defenders when all play perfectly. */
static int solve_point_difference(DoubleDummySolver *solver, CardPlayState state,
                                  CardMask trick_cards) {
    const PlayOrder *order = solver->order;
    int needed_to_make = TRICKS_TO_MAKE - state.tricks_won;
    int needed_for_all = TRICKS - state.tricks_won;
    if (!can_caller_side_win(solver, state, trick_cards, needed_to_make))
        return point_difference(order, 0, TRICKS);
    if (state.tricks_lost || !can_caller_side_win(solver, state, trick_cards, needed_for_all))
        return point_difference(order, TRICKS_TO_MAKE, TRICKS - TRICKS_TO_MAKE);
    return point_difference(order, TRICKS, 0);
}

#endif
