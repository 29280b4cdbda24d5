/* Values of the ends of turns, and of drawing on (leaves.h). */
#include "leaves.h"

#include <string.h>

typedef struct {
    const int16_t *keys;
    Cards pile;
    Card known_top;
} TurnEnd;

typedef struct {
    double win_probability; /* of the player whose turn has ended */
    int64_t log_odds;       /* of the player whose turn begins */
} LeafValue;

static LeafValue value_of_lead(int lead) {
    LeafValue value = {lead > 0 ? 0.0 : lead == 0 ? 0.5 : 1.0, (int64_t)lead * FIXED_POINT_ONE};
    return value;
}

static LeafValue evaluate_turn_end(TurnSearch *search, const TurnEnd *end, unsigned area_suits,
                                   Sums *sums) {
    int pile_count = count(end->pile);
    *sums = sum_suit_terms(search->terms, end->keys, pile_count, area_suits);
    search->nodes++;
    if (!pile_count) return value_of_lead(sums->lead);
    LeafValue value;
    value.log_odds = mover_log_odds(search->terms->model, *sums, pile_count, end->known_top);
    if (search->layer) {
        NetworkInput input =
            network_input(TURN_BEGINS, end->keys, pile_count, sums->lead, value.log_odds);
        input.next_card = end->known_top;
        value.log_odds += layer_sum(search->layer, &input, value.log_odds);
    }
    value.win_probability = win_probability(-value.log_odds);
    return value;
}

static bool holds_chest_and_key(Cards cards) {
    return (cards & SUIT_CARDS(CHEST)) && (cards & SUIT_CARDS(KEY));
}

typedef struct {
    Cards discard;
    int bonus_count, samples;
} Bonus;

/* Moves `bonus_count` random cards to the front of `cards`. */
static void sample_to_front(Rng *rng, Card cards[], int card_count, int bonus_count) {
    for (int i = 0; i < bonus_count; i++) {
        int index = i + rng_below(rng, card_count - i);
        Card card = cards[index];
        cards[index] = cards[i];
        cards[i] = card;
    }
}

static LeafValue evaluate_with_banked_cards(TurnSearch *search, TurnEnd end, const Card cards[],
                                            int bonus_count, unsigned area_suits, Sums *sums) {
    int16_t keys[SUITS];
    memcpy(keys, end.keys, sizeof keys);
    for (int i = 0; i < bonus_count; i++) {
        keys[suit_of(cards[i])] += (int16_t)(OTHER * PLACE_DIGIT[cards[i] % RANKS]);
    }
    end.keys = keys;
    return evaluate_turn_end(search, &end, area_suits, sums);
}

/* The mean value over sampled picks; it is exact if the discard pile leaves no choice. The seed
 * depends on the cards only, so that all branches of a search sample the same picks, and Python
 * finds the same ones. */
static LeafValue evaluate_with_bonus(TurnSearch *search, const TurnEnd *end, Bonus bonus,
                                     unsigned area_suits, Sums *sums) {
    Card cards[DECK];
    int card_count = 0;
    for (Cards rest = bonus.discard; rest; rest &= rest - 1) cards[card_count++] = lowest(rest);
    if (card_count <= bonus.bonus_count) {
        return evaluate_with_banked_cards(search, *end, cards, card_count, area_suits, sums);
    }
    Rng rng = {bonus.discard + (uint64_t)bonus.bonus_count};
    LeafValue mean = {0, 0};
    for (int i = 0; i < bonus.samples; i++) {
        sample_to_front(&rng, cards, card_count, bonus.bonus_count);
        LeafValue sample_value =
            evaluate_with_banked_cards(search, *end, cards, bonus.bonus_count, area_suits, sums);
        mean.win_probability += sample_value.win_probability;
        mean.log_odds += sample_value.log_odds;
    }
    mean.win_probability /= bonus.samples;
    mean.log_odds /= bonus.samples;
    return mean;
}

static LeafValue evaluate_stop(TurnSearch *search, const SimulatedTurn *turn, int samples,
                               unsigned area_suits, Sums *sums) {
    TurnEnd end = {turn->stop, turn->pile, turn->known_top};
    if (!holds_chest_and_key(turn->area)) return evaluate_turn_end(search, &end, area_suits, sums);
    Bonus bonus = {turn->discard, turn->area_size, samples};
    return evaluate_with_bonus(search, &end, bonus, area_suits, sums);
}

double turn_end_value(TurnSearch *search, Cards own_bank, const Table *next) {
    int16_t keys[SUITS];
    Cards mover = next->bank[next->player];
    for (Suit suit = 0; suit < SUITS; suit++) {
        keys[suit] = (int16_t)suit_key(suit, mover, own_bank, next->pile);
    }
    TurnEnd end = {keys, next->pile, next->known_top};
    Sums sums;
    return evaluate_turn_end(search, &end, 0, &sums).win_probability;
}

double stop_value(TurnSearch *search, const SimulatedTurn *turn, int samples) {
    Sums sums;
    return evaluate_stop(search, turn, samples, 0, &sums).win_probability;
}

static LeafValue evaluate_bust(TurnSearch *search, const SimulatedTurn *turn, Card card) {
    TurnEnd end = {turn->bust, turn->pile, turn->known_top};
    Sums sums;
    if (!holds_chest_and_key(turn->saved)) return evaluate_turn_end(search, &end, 0, &sums);
    Cards bust_cards = (turn->area & ~turn->saved) | BIT(card);
    Bonus bonus = {turn->discard | bust_cards, turn->saved_count, search->limits.samples};
    return evaluate_with_bonus(search, &end, bonus, 0, &sums);
}

double bust_value(TurnSearch *search, const SimulatedTurn *turn, Card card) {
    return evaluate_bust(search, turn, card).win_probability;
}

static LeafValue evaluate_bust_draw(TurnSearch *search, const SimulatedTurn *turn, Card card) {
    SimulatedTurn next_turn = *turn;
    remove_draw_pile_card(&next_turn, card);
    return evaluate_bust(search, &next_turn, card);
}

double bust_draw_value(TurnSearch *search, const SimulatedTurn *turn, Card card) {
    return evaluate_bust_draw(search, turn, card).win_probability;
}

/* --- the learned value of drawing on --- */

static int size_index(const SimulatedTurn *turn) {
    return turn->area_size < PLAY_AREA_SIZES ? turn->area_size : PLAY_AREA_SIZES - 1;
}

static int risk_index(const SimulatedTurn *turn) {
    return 16 * count(turn->pile & cards_of_suits(turn->area_suits)) / turn->pile_count;
}

int64_t continuation_log_odds(const Model *model, Sums sums, const SimulatedTurn *turn,
                              int64_t stop_log_odds) {
    int64_t hope = (-stop_log_odds >> 20) + HOPE_STEPS / 2;
    hope = hope < 0 ? 0 : hope >= HOPE_STEPS ? HOPE_STEPS - 1 : hope;
    return (sums.continuation + model->size[size_index(turn)] +
            model->pile_count[pile_count_index(turn->pile_count)] +
            model->risk[risk_index(turn)] + model->hope[hope]) *
           KNOT_STEPS;
}

NetworkInput continuation_input(const SimulatedTurn *turn, const Continuation *continuation,
                                int64_t log_odds) {
    int lead = continuation->sums.lead;
    NetworkInput input =
        network_input(TURN_GOES_ON, turn->stop, turn->pile_count, lead, log_odds);
    input.area_suits = (int16_t)turn->area_suits;
    input.risk = (int16_t)risk_index(turn);
    input.size = (int16_t)size_index(turn);
    int rescued =
        turn->saved_count + 1 < RESCUED_COUNTS ? turn->saved_count + 1 : RESCUED_COUNTS - 1;
    input.rescued = turn->anchored ? (int16_t)rescued : 0;
    input.stop = log_odds_steps(-continuation->stop_log_odds);
    input.bust = log_odds_steps(-continuation->bust_log_odds);
    return input;
}

Continuation estimate_draw_and_stop_values(TurnSearch *search, const SimulatedTurn *turn,
                                           double *stop) {
    Continuation continuation;
    LeafValue stop_leaf =
        evaluate_stop(search, turn, search->limits.samples, turn->area_suits, &continuation.sums);
    Cards busting = turn->pile & cards_of_suits(turn->area_suits);
    *stop = stop_leaf.win_probability;
    continuation.stop_log_odds = stop_leaf.log_odds;
    continuation.risk = (double)count(busting) / turn->pile_count;
    LeafValue bust_leaf = {0.0, stop_leaf.log_odds};
    if (busting) bust_leaf = evaluate_bust_draw(search, turn, lowest(busting));
    continuation.bust = bust_leaf.win_probability;
    continuation.bust_log_odds = bust_leaf.log_odds;
    int64_t log_odds = continuation_log_odds(search->terms->model, continuation.sums, turn,
                                             continuation.stop_log_odds) -
                       continuation.stop_log_odds;
    if (search->layer) {
        NetworkInput input = continuation_input(turn, &continuation, log_odds);
        log_odds += layer_sum(search->layer, &input, log_odds);
    }
    continuation.value = (1.0 - continuation.risk) * win_probability(log_odds) +
                         continuation.risk * continuation.bust;
    return continuation;
}

Continuation estimate_continuation(TurnSearch *search, const SimulatedTurn *turn) {
    double stop;
    return estimate_draw_and_stop_values(search, turn, &stop);
}
