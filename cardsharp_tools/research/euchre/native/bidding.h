/* Bids by rules of thumb: the twin of cardsharp/games/euchre/strategies/bidding.py.
 *
 * They are the bids of the rule-based player, and the model of other players' bids. Values and
 * thresholds are in thousandths of tricks.
 */
#ifndef CARDSHARP_EUCHRE_BIDDING_H
#define CARDSHARP_EUCHRE_BIDDING_H

#include <math.h>

#include "trump_layout.h"

/* The minimum values of a hand for a call in the first and in the second round, by seat. */
static const int ORDER_UP_THRESHOLDS[SEATS] = {2450, 2150, 2450, 2150};
static const int NAME_SUIT_THRESHOLDS[SEATS] = {2150, 2150, 2150, 2000};

enum {
    ALONE_THRESHOLD = 3700,
    TURN_CARD_VALUE = 550,   /* of an average turn card, for the side that gets it */
    NOT_ALLOWED = -1000000,  /* the value of a suit that may not be named */
    PASS = -1,               /* in the place of a suit */
};

static const double SHARPNESS = 0.005; /* the odds of a bid grow by a factor of e per 0.2 tricks */
static const double MIN_LIKELIHOOD = 1e-6;

typedef struct {
    int value_by_suit[SUITS];
    int best_suit;
    int threshold; /* the minimum value for a call */
} HandValuation;

static int is_first_round(int bid_index) { return bid_index < SEATS; }

static int value_first_round_hand(CardSet hand, int seat, int turn_card) {
    int trump = printed_suit_of(turn_card);
    const TrumpLayout *layout = &trump_layouts[trump];
    CardMask hand_cards = mask_from_card_set(layout, hand);
    if (seat == DEALER) {
        CardMask six_cards = hand_cards | bit_of_card(layout, turn_card);
        return expected_caller_tricks(layout, six_cards ^ best_discard(layout, six_cards));
    }
    /* The dealer gets the turn card, which helps its partner and harms the opponents. */
    int height = trick_strength(turn_card, trump, trump) - TRUMP_STRENGTH;
    int turn_card_value = TURN_CARD_VALUE * (280 + 60 * height) / 700;
    int value = expected_caller_tricks(layout, hand_cards);
    return value + (partner(seat) == DEALER ? turn_card_value : -turn_card_value);
}

/* The values of a seat's five cards for the bid with this index, 0 to 7. */
static HandValuation value_hand(CardSet hand, int bid_index, int turn_card) {
    int seat = bid_index & 3, turned_suit = printed_suit_of(turn_card);
    HandValuation valuation = {{NOT_ALLOWED, NOT_ALLOWED, NOT_ALLOWED, NOT_ALLOWED}, 0, 0};
    if (is_first_round(bid_index)) {
        valuation.threshold = ORDER_UP_THRESHOLDS[seat];
        valuation.value_by_suit[turned_suit] = value_first_round_hand(hand, seat, turn_card);
    } else {
        valuation.threshold = NAME_SUIT_THRESHOLDS[seat];
        for (int suit = 0; suit < SUITS; suit++) {
            if (suit == turned_suit) continue;
            const TrumpLayout *layout = &trump_layouts[suit];
            CardMask hand_cards = mask_from_card_set(layout, hand);
            valuation.value_by_suit[suit] = expected_caller_tricks(layout, hand_cards);
        }
    }
    for (int suit = 1; suit < SUITS; suit++)
        if (valuation.value_by_suit[suit] > valuation.value_by_suit[valuation.best_suit])
            valuation.best_suit = suit;
    return valuation;
}

/* The suit that the rule-based player bids, or PASS, and whether it goes alone. */
static int choose_bid(CardSet hand, int bid_index, int turn_card, int *goes_alone) {
    HandValuation valuation = value_hand(hand, bid_index, turn_card);
    int best_value = valuation.value_by_suit[valuation.best_suit];
    int calls = best_value >= valuation.threshold;
    *goes_alone = calls && best_value >= ALONE_THRESHOLD;
    return calls ? valuation.best_suit : PASS;
}

static double logistic(int margin) { return 1 / (1 + exp(-SHARPNESS * margin)); }

/* The likelihood that a player with this hand makes that bid, from about 0 to 1. */
static double bid_likelihood(CardSet hand, int bid_index, int turn_card, int suit,
                             int goes_alone) {
    HandValuation valuation = value_hand(hand, bid_index, turn_card);
    int best_value = valuation.value_by_suit[valuation.best_suit];
    double pass_likelihood = logistic(valuation.threshold - best_value);
    if (suit == PASS) return pass_likelihood;
    int suit_value = valuation.value_by_suit[suit];
    double alone_likelihood = logistic(suit_value - ALONE_THRESHOLD);
    double likelihood = (1 - pass_likelihood) * exp(SHARPNESS * (suit_value - best_value));
    likelihood *= goes_alone ? alone_likelihood : 1 - alone_likelihood;
    return likelihood > MIN_LIKELIHOOD ? likelihood : MIN_LIKELIHOOD;
}

#endif
