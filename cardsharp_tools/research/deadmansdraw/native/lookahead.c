/* Values of actions in points (lookahead.h). The sums are in the order of lookahead.py, so that
 * both round equally. */
#include "lookahead.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Chest and Key together bring a bonus from the discard pile. */
enum { TREASURE = 1 << CHEST | 1 << KEY };

static double value_of_placing(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                               PlacedCard card, int kraken_draws);
static double value_with_kraken_draws(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                                      int kraken_draws);

/* The number of ways to choose `k` of `n`. */
static double combinations(int n, int k) {
    double ways = 1;
    if (k < 0 || k > n) return 0;
    for (int i = 1; i <= k; i++) ways = ways * (n - k + i) / i;
    return ways;
}

static double positive_part(double number) { return number > 0 ? number : 0; }

static bool has_treasure(unsigned suits) { return (suits & TREASURE) == TREASURE; }

/* --- the turn ----------------------------------------------------------------------------- */

static bool has_suit(const LookaheadTurn *turn, Suit suit) { return turn->suits >> suit & 1; }

static PlacedCard card_with_gain(const LookaheadTurn *turn, Card card) {
    Suit suit = suit_of(card);
    double value = value_of(card);
    double gain = positive_part(value - top_value(turn->own_bank, suit));
    return (PlacedCard){suit, false, value, gain};
}

/* Add a card to the play area; the first Anchor saves the cards before it. */
static void add_card(LookaheadTurn *turn, PlacedCard card) {
    bool is_first_anchor = card.suit == ANCHOR && !has_suit(turn, ANCHOR);
    turn->points += card.gain;
    turn->risk = is_first_anchor ? card.gain : turn->risk + card.gain;
    turn->area[turn->area_size++] = card;
    turn->suits |= (uint16_t)(1 << card.suit);
    if (!card.is_hypothetical) return;
    turn->draw_count++;
    turn->suit_draws[card.suit]++;
}

/* Add cards to the play area, their gains computed again. */
static void add_cards(LookaheadTurn *turn, const PlacedCard *cards, int card_count) {
    for (int i = 0; i < card_count; i++) {
        PlacedCard card = {cards[i].suit, false, cards[i].value, 0};
        card.gain = positive_part(card.value - top_value(turn->own_bank, card.suit));
        add_card(turn, card);
    }
}

/* Compute the gains of the play area again. They change after the own bank has lost a card of a
 * suit in the play area. */
static void recompute_gains(LookaheadTurn *turn) {
    PlacedCard area[SUITS];
    int area_size = turn->area_size;
    double gain_sum = 0;
    memcpy(area, turn->area, sizeof area);
    for (int i = 0; i < area_size; i++) gain_sum += area[i].gain;
    turn->points -= gain_sum;
    turn->risk = 0;
    turn->area_size = 0;
    turn->suits = 0;
    add_cards(turn, area, area_size);
}

/* --- the bonus of Chest and Key ----------------------------------------------------------- */

static int compare_descending(const void *left_number, const void *right_number) {
    double left_value = *(const double *)left_number;
    double right_value = *(const double *)right_number;
    return (left_value < right_value) - (left_value > right_value);
}

/* The sum of the rises of one suit over all ways to pick `pick_count` of `discard_count` cards. A
 * pick raises the bank if no better card of its suit is picked. */
static double rise_of_suit(const double *values, int value_count, double top_value,
                           int discard_count, int pick_count) {
    double rises[DECK], rise_sum = 0;
    for (int i = 0; i < value_count; i++) rises[i] = values[i] - top_value;
    qsort(rises, (size_t)value_count, sizeof *rises, compare_descending);
    for (int i = 0; i < value_count && rises[i] > 0; i++) {
        rise_sum += rises[i] * combinations(discard_count - i - 1, pick_count - 1);
    }
    return rise_sum;
}

/* Cards of which a bonus is picked: the discard pile and the cards that a bust discards. */
typedef struct {
    const LookaheadTurn *turn;
    const PlacedCard *bust_cards;
    int bust_card_count;
} BonusSource;

/* Write the values of the cards of a suit; return their number. */
static int suit_values(const BonusSource *source, Suit suit, double values[DECK]) {
    const LookaheadTurn *turn = source->turn;
    int value_count = 0;
    for (int i = 0; i < turn->discard_count; i++) {
        Card card = turn->discard[i];
        if (suit_of(card) == suit) values[value_count++] = value_of(card);
    }
    for (int i = 0; i < source->bust_card_count; i++) {
        const PlacedCard *card = &source->bust_cards[i];
        if (card->suit == suit) values[value_count++] = card->value;
    }
    return value_count;
}

/* The expected rise of the bank by the bonus: as many random cards of the source as the first
 * `collected_count` cards of the play area, which are banked. */
static double expected_bonus(const BonusSource *source, int collected_count) {
    const LookaheadTurn *turn = source->turn;
    int discard_count = turn->discard_count + source->bust_card_count;
    int pick_count = collected_count < discard_count ? collected_count : discard_count;
    double values[DECK], rise_sum = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        double top = top_value(turn->own_bank, suit);
        for (int i = 0; i < collected_count; i++) {
            if (turn->area[i].suit == suit) top += turn->area[i].gain;
        }
        int value_count = suit_values(source, suit, values);
        rise_sum += rise_of_suit(values, value_count, top, discard_count, pick_count);
    }
    return rise_sum / combinations(discard_count, pick_count);
}

/* --- without an effect -------------------------------------------------------------------- */

static double value_of_stopping(const LookaheadTurn *turn) {
    if (!has_treasure(turn->suits)) return turn->points;
    BonusSource source = {turn, NULL, 0};
    return turn->points + expected_bonus(&source, turn->area_size);
}

/* The value after `card` busted the turn; the cards before the Anchor are saved. */
static double value_of_bust(const LookaheadTurn *turn, PlacedCard card) {
    double points = turn->points - turn->risk;
    if (!has_treasure(turn->suits) || !has_suit(turn, ANCHOR)) return points;
    PlacedCard bust_cards[SUITS + 1] = {card};
    unsigned saved_suits = 0;
    int saved_count = 0, bust_card_count = 1;
    while (turn->area[saved_count].suit != ANCHOR) {
        saved_suits |= 1u << turn->area[saved_count++].suit;
    }
    for (int i = saved_count; i < turn->area_size; i++) {
        bust_cards[bust_card_count++] = turn->area[i];
    }
    if (!has_treasure(saved_suits)) return points;
    BonusSource source = {turn, bust_cards, bust_card_count};
    return points + expected_bonus(&source, saved_count);
}

/* Write the possible next cards and their probabilities; return their number, 0 if the draw pile
 * is empty. */
static int list_next_cards(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                           PlacedCard cards[SUITS], double probabilities[SUITS]) {
    int card_count = 0;
    if (turn->known_top != NO_CARD) {
        cards[0] = card_with_gain(turn, turn->known_top);
        cards[0].is_hypothetical = true;
        probabilities[0] = 1;
        return 1;
    }
    int remaining_count = evaluator->unseen_count - turn->draw_count;
    for (Suit suit = 0; suit < SUITS; suit++) {
        int remaining_of_suit = evaluator->unseen_by_suit[suit] - turn->suit_draws[suit];
        if (!evaluator->unseen_by_suit[suit] || remaining_of_suit <= 0) continue;
        cards[card_count] = evaluator->mean_cards[suit];
        probabilities[card_count++] = (double)remaining_of_suit / remaining_count;
    }
    return card_count;
}

static double value_of_drawing(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                               int kraken_draws) {
    PlacedCard cards[SUITS];
    double probabilities[SUITS], value = 0;
    int card_count = list_next_cards(evaluator, turn, cards, probabilities);
    if (!card_count) return value_of_stopping(turn);
    LookaheadTurn next_turn = *turn;
    next_turn.known_top = NO_CARD;
    for (int i = 0; i < card_count; i++) {
        double card_value = value_of_placing(evaluator, &next_turn, cards[i], kraken_draws);
        value += probabilities[i] * card_value;
    }
    return value;
}

static double value_of_stop_or_draw(const ActionEvaluator *evaluator, const LookaheadTurn *turn) {
    double stop_value = value_of_stopping(turn);
    if (!turn->can_draw_more) return stop_value;
    LookaheadTurn last_turn = *turn;
    last_turn.can_draw_more = false;
    return fmax(stop_value, value_of_drawing(evaluator, &last_turn, 0));
}

static double value_with_kraken_draws(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                                      int kraken_draws) {
    if (!kraken_draws) return value_of_stop_or_draw(evaluator, turn);
    return value_of_drawing(evaluator, turn, kraken_draws - 1);
}

/* --- effects ------------------------------------------------------------------------------ */

/* The points that a bank loses with one of its top cards. */
static double bank_loss(Cards bank, Card top) {
    return value_of(top) - top_value(bank & ~BIT(top), suit_of(top));
}

static double value_of_hook_target(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                                   Card card) {
    LookaheadTurn next_turn = *turn;
    next_turn.points -= bank_loss(turn->own_bank, card);
    next_turn.own_bank &= ~BIT(card);
    if (has_suit(turn, suit_of(card)) && has_suit(turn, ANCHOR)) recompute_gains(&next_turn);
    return value_of_placing(evaluator, &next_turn, card_with_gain(&next_turn, card), 0);
}

static void remove_opponent_card(LookaheadTurn *turn, Card card) {
    turn->points += bank_loss(turn->opponent_bank, card);
    turn->opponent_bank &= ~BIT(card);
}

static double value_of_sword_target(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                                    Card card) {
    LookaheadTurn next_turn = *turn;
    remove_opponent_card(&next_turn, card);
    return value_of_placing(evaluator, &next_turn, card_with_gain(&next_turn, card), 0);
}

static double value_of_cannon_target(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                                     Card card, int kraken_draws) {
    LookaheadTurn next_turn = *turn;
    remove_opponent_card(&next_turn, card);
    next_turn.discard[next_turn.discard_count++] = card;
    return value_with_kraken_draws(evaluator, &next_turn, kraken_draws);
}

static double value_of_taking_map_card(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                                       Card card) {
    LookaheadTurn next_turn = *turn;
    int index = 0;
    while (next_turn.discard[index] != card) index++;
    next_turn.discard_count--;
    for (; index < next_turn.discard_count; index++) {
        next_turn.discard[index] = next_turn.discard[index + 1];
    }
    return value_of_placing(evaluator, &next_turn, card_with_gain(&next_turn, card), 0);
}

/* The opponent's top card whose loss costs most; of equal ones, the first in order of entry. */
static Card costliest_top_card(const ActionEvaluator *evaluator, Cards bank) {
    const Table *table = evaluator->table;
    int opponent = 1 - table->player;
    Card costliest = NO_CARD;
    for (int i = 0; i < table->suit_counts[opponent]; i++) {
        Card top = top_of(bank, table->suit_order[opponent][i]);
        if (top == NO_CARD) continue;
        bool is_first = costliest == NO_CARD;
        if (is_first || bank_loss(bank, top) > bank_loss(bank, costliest)) costliest = top;
    }
    return costliest;
}

/* The value of the best answer to a Hook or a Sword. */
static double best_answer_value(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                                Suit suit) {
    Cards targets = suit == HOOK ? tops(turn->own_bank)
                                 : sword_targets(turn->own_bank, turn->opponent_bank);
    double best_value = -INFINITY;
    for (; targets; targets &= targets - 1) {
        Card card = lowest(targets);
        double value = suit == HOOK ? value_of_hook_target(evaluator, turn, card)
                                    : value_of_sword_target(evaluator, turn, card);
        best_value = fmax(best_value, value);
    }
    return best_value;
}

/* The mean, over all offers of three cards, of the best of these values, which are sorted here. */
static double expected_best_of_offer(double values[DECK], int value_count) {
    int offer_size = value_count < MAP_OFFER ? value_count : MAP_OFFER;
    double value_sum = 0;
    qsort(values, (size_t)value_count, sizeof *values, compare_descending);
    for (int i = 0; i < value_count; i++) {
        value_sum += combinations(value_count - 1 - i, offer_size - 1) * values[i];
    }
    return value_sum / combinations(value_count, offer_size);
}

/* The value of the best card of a Map's offer, as a mean over all offers. One card of each suit is
 * evaluated, except for Chest and Key, whose bonus may depend on it. */
static double expected_map_value(const ActionEvaluator *evaluator, const LookaheadTurn *turn) {
    double values[DECK], first_values[SUITS], first_gains[SUITS];
    bool is_evaluated[SUITS] = {false};
    for (int i = 0; i < turn->discard_count; i++) {
        Card card = turn->discard[i];
        Suit suit = suit_of(card);
        double gain = has_suit(turn, suit) ? 0 : card_with_gain(turn, card).gain;
        if (!is_evaluated[suit] || has_treasure(turn->suits | 1u << suit)) {
            is_evaluated[suit] = true;
            first_values[suit] = value_of_taking_map_card(evaluator, turn, card);
            first_gains[suit] = gain;
        }
        values[i] = first_values[suit] + gain - first_gains[suit];
    }
    return expected_best_of_offer(values, turn->discard_count);
}

/* The value of the better of taking the Oracle's card and stopping, as a mean over the next
 * cards. */
static double expected_oracle_value(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                                    int kraken_draws) {
    PlacedCard cards[SUITS];
    double probabilities[SUITS], stop_value = value_of_stopping(turn), value = 0;
    int card_count = list_next_cards(evaluator, turn, cards, probabilities);
    int remaining_draws = kraken_draws > 0 ? kraken_draws - 1 : 0;
    if (!card_count) return stop_value;
    LookaheadTurn next_turn = *turn;
    next_turn.known_top = NO_CARD;
    for (int i = 0; i < card_count; i++) {
        double card_value = value_of_placing(evaluator, &next_turn, cards[i], remaining_draws);
        value += probabilities[i] * fmax(stop_value, card_value);
    }
    return value;
}

static double value_of_cannon(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                              int kraken_draws) {
    Card target = costliest_top_card(evaluator, turn->opponent_bank);
    return value_of_cannon_target(evaluator, turn, target, kraken_draws);
}

/* The value after `card` was placed and its effect was answered in the best way. */
static double value_of_placing(const ActionEvaluator *evaluator, const LookaheadTurn *turn,
                               PlacedCard card, int kraken_draws) {
    if (has_suit(turn, card.suit)) return value_of_bust(turn, card);
    LookaheadTurn next_turn = *turn;
    add_card(&next_turn, card);
    Cards own_bank = next_turn.own_bank, opponent_bank = next_turn.opponent_bank;
    switch (card.suit) {
        case HOOK:
            if (own_bank) return best_answer_value(evaluator, &next_turn, HOOK);
            break;
        case SWORD:
            if (!sword_targets(own_bank, opponent_bank)) break;
            return best_answer_value(evaluator, &next_turn, SWORD);
        case CANNON:
            if (opponent_bank) return value_of_cannon(evaluator, &next_turn, kraken_draws);
            break;
        case MAP:
            if (next_turn.discard_count) return expected_map_value(evaluator, &next_turn);
            break;
        case ORACLE: return expected_oracle_value(evaluator, &next_turn, kraken_draws);
        case KRAKEN: return value_with_kraken_draws(evaluator, &next_turn, KRAKEN_DRAWS);
        default: break;
    }
    return value_with_kraken_draws(evaluator, &next_turn, kraken_draws);
}

/* --- the position ------------------------------------------------------------------------- */

static PlacedCard mean_card(Cards unseen_cards, Cards own_bank, Suit suit) {
    int value_sum = 0, gain_sum = 0;
    double card_count = unseen_cards ? count(unseen_cards) : 1;
    for (; unseen_cards; unseen_cards &= unseen_cards - 1) {
        int value = value_of(lowest(unseen_cards));
        int gain = value - top_value(own_bank, suit);
        value_sum += value;
        gain_sum += gain > 0 ? gain : 0;
    }
    return (PlacedCard){suit, true, value_sum / card_count, gain_sum / card_count};
}

static LookaheadTurn root_turn(const Table *table) {
    LookaheadTurn turn;
    PlacedCard area[SUITS];
    memset(&turn, 0, sizeof turn);
    turn.own_bank = table->bank[table->player];
    turn.opponent_bank = table->bank[1 - table->player];
    turn.points = bank_value(turn.own_bank) - bank_value(turn.opponent_bank);
    turn.known_top = table->known_top;
    for (Cards rest = table->discard; rest; rest &= rest - 1) {
        turn.discard[turn.discard_count++] = lowest(rest);
    }
    for (int i = 0; i < table->area_size; i++) {
        area[i] = card_with_gain(&turn, table->area_cards[i]);
    }
    add_cards(&turn, area, table->area_size);
    return turn;
}

ActionEvaluator evaluator_of(const Table *table) {
    ActionEvaluator evaluator = {
        .table = table,
        .root = root_turn(table),
        .unseen_count = count(table->pile),
    };
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards unseen_cards = table->pile & SUIT_CARDS(suit);
        evaluator.unseen_by_suit[suit] = count(unseen_cards);
        evaluator.mean_cards[suit] = mean_card(unseen_cards, evaluator.root.own_bank, suit);
    }
    return evaluator;
}

/* The value of an answer, after which the player stops or draws once more. */
static double value_of_answer(const ActionEvaluator *evaluator, Action action) {
    const Table *table = evaluator->table;
    int kraken_draws = table->kraken_draws;
    LookaheadTurn turn = evaluator->root;
    turn.can_draw_more = true;
    if (action == REFUSE) return value_with_kraken_draws(evaluator, &turn, kraken_draws);
    Card card = (Card)action;
    switch (table->pending) {
        case ORACLE:
            return value_of_drawing(evaluator, &turn, kraken_draws > 0 ? kraken_draws - 1 : 0);
        case HOOK: return value_of_hook_target(evaluator, &turn, card);
        case SWORD: return value_of_sword_target(evaluator, &turn, card);
        case CANNON: return value_of_cannon_target(evaluator, &turn, card, kraken_draws);
        default:
            for (int i = 0; i < table->offer_size; i++) {
                turn.discard[turn.discard_count++] = table->offer[i];
            }
            return value_of_taking_map_card(evaluator, &turn, card);
    }
}

double action_value(const ActionEvaluator *evaluator, Action action) {
    if (action == END_TURN) return value_of_stopping(&evaluator->root);
    if (action == DRAW) return value_of_drawing(evaluator, &evaluator->root, 0);
    return value_of_answer(evaluator, action);
}
