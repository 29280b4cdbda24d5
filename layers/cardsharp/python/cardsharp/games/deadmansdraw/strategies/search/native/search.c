/* The search within a turn (search.h). */
#include "search.h"

#include <stdlib.h>

#include "exact.h"
#include "leaves.h"

/* --- without a pending effect --- */

static double value_of_stop_or_draw(TurnSearch *search, const SimulatedTurn *turn, int level) {
    if (!turn->pile_count) return stop_value(search, turn, search->limits.samples);
    double stop, on;
    if (level <= search->limits.max_second_draws) {
        stop = stop_value(search, turn, search->limits.samples);
        on = draw_value(search, turn, 0, level + 1);
    } else {
        on = estimate_draw_and_stop_values(search, turn, &stop).value;
    }
    return on > stop ? on : stop;
}

/* The value without a pending effect while `kraken_draws` draws are still due. Below the root,
 * the last of these draws has the learned value of drawing on: to search it too would multiply
 * the tree by the number of suits. */
static double value_with_kraken_draws(TurnSearch *search, const SimulatedTurn *turn,
                                      int kraken_draws, int level) {
    if (!kraken_draws || !turn->pile_count) return value_of_stop_or_draw(search, turn, level);
    if (kraken_draws == 1 && level > 0) return estimate_continuation(search, turn).value;
    return draw_value(search, turn, kraken_draws - 1, level ? level : 1);
}

/* --- effects --- */

static double value_of_placing(TurnSearch *search, const SimulatedTurn *turn, Card card,
                               int kraken_draws, int level);

static double value_of_hook_target(TurnSearch *search, const SimulatedTurn *turn, Card card,
                                   int level) {
    SimulatedTurn next_turn = *turn;
    remove_bank_card(&next_turn, card);
    return value_of_placing(search, &next_turn, card, 0, level);
}

static double value_of_sword_target(TurnSearch *search, const SimulatedTurn *turn, Card card,
                                    int level) {
    SimulatedTurn next_turn = *turn;
    remove_opponent_card(&next_turn, card);
    return value_of_placing(search, &next_turn, card, 0, level);
}

static double value_of_cannon_target(TurnSearch *search, const SimulatedTurn *turn, Card card,
                                     int kraken_draws, int level) {
    SimulatedTurn next_turn = *turn;
    remove_opponent_card(&next_turn, card);
    next_turn.discard |= BIT(card);
    return value_with_kraken_draws(search, &next_turn, kraken_draws, level);
}

static double value_of_taking_map_card(TurnSearch *search, const SimulatedTurn *turn, Card card,
                                       int level) {
    SimulatedTurn next_turn = *turn;
    next_turn.discard &= ~BIT(card);
    return value_of_placing(search, &next_turn, card, 0, level);
}

static double best_target_value(TurnSearch *search, const SimulatedTurn *turn, Suit effect,
                                int kraken_draws, int level) {
    Cards targets = effect == HOOK    ? tops(turn->own_bank)
                    : effect == SWORD ? sword_targets(turn->own_bank, turn->opponent_bank)
                                      : tops(turn->opponent_bank);
    double best = -1.0;
    for (; targets; targets &= targets - 1) {
        Card card = lowest(targets);
        double value =
            effect == HOOK    ? value_of_hook_target(search, turn, card, level)
            : effect == SWORD ? value_of_sword_target(search, turn, card, level)
                              : value_of_cannon_target(search, turn, card, kraken_draws, level);
        if (value > best) best = value;
    }
    return best;
}

static bool has_effect(Suit suit) {
    return suit != ANCHOR && suit != KEY && suit != CHEST && suit != MERMAID;
}

/* Cards of equal value, and the card that represents them. */
typedef struct { Card card; int card_count; } CardGroup;

static int group_equivalent_cards(const SimulatedTurn *turn, Suit suit, Cards cards, bool is_fine,
                                  CardGroup groups[]) {
    Card top = top_of(turn->own_bank, suit);
    Cards idle = top == NO_CARD ? 0 : cards & (BIT(top) - 1), rising = cards & ~idle;
    int group_count = 0;
    if (idle) groups[group_count++] = (CardGroup){top_of(idle, suit), count(idle)};
    if (!rising) return group_count;
    if (has_effect(suit) || !is_fine) {
        groups[group_count++] = (CardGroup){middle(rising), count(rising)};
    } else {
        for (; rising; rising &= rising - 1) groups[group_count++] = (CardGroup){lowest(rising), 1};
    }
    return group_count;
}

static int compare_values(const void *first, const void *second) {
    double first_value = *(const double *)first, second_value = *(const double *)second;
    return (first_value > second_value) - (first_value < second_value);
}

double expected_best_of_sorted(const double values[], int value_count) {
    int offer_size = value_count < MAP_OFFER ? value_count : MAP_OFFER;
    double total = 0.0;
    double offer_count = offer_size == 3   ? value_count * (value_count - 1) * (value_count - 2) / 6
                         : offer_size == 2 ? value_count * (value_count - 1) / 2
                                           : value_count;
    for (int rank = offer_size - 1; rank < value_count; rank++) {
        int way_count = offer_size == 3 ? rank * (rank - 1) / 2 : offer_size == 2 ? rank : 1;
        total += way_count * values[rank];
    }
    return total / offer_count;
}

double expected_best_of_three(double values[], int value_count) {
    qsort(values, (size_t)value_count, sizeof *values, compare_values);
    return expected_best_of_sorted(values, value_count);
}

static double expected_map_value(TurnSearch *search, const SimulatedTurn *turn, int level) {
    double values[DECK];
    int value_count = 0;
    CardGroup groups[RANKS];
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards cards = turn->discard & SUIT_CARDS(suit);
        if (!cards) continue;
        int group_count = 1;
        if (turn->area_suits >> suit & 1) {
            groups[0] = (CardGroup){lowest(cards), count(cards)};
        } else {
            group_count = group_equivalent_cards(turn, suit, cards, level <= 1, groups);
        }
        for (int i = 0; i < group_count; i++) {
            double value = value_of_taking_map_card(search, turn, groups[i].card, level);
            for (int copy = 0; copy < groups[i].card_count; copy++) values[value_count++] = value;
        }
    }
    return expected_best_of_three(values, value_count);
}

static double value_of_drawn_card(TurnSearch *search, const SimulatedTurn *turn, Card card,
                                  int kraken_draws, int level) {
    SimulatedTurn next_turn = *turn;
    remove_draw_pile_card(&next_turn, card);
    return value_of_placing(search, &next_turn, card, kraken_draws, level);
}

static double expected_oracle_value(TurnSearch *search, const SimulatedTurn *turn, int kraken_draws,
                                    int level) {
    double stop = stop_value(search, turn, search->limits.samples), total = 0.0;
    int remaining_draws = kraken_draws > 0 ? kraken_draws - 1 : 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards cards = turn->pile & SUIT_CARDS(suit);
        if (!cards) continue;
        double value =
            turn->area_suits >> suit & 1
                ? stop
                : value_of_drawn_card(search, turn, middle(cards), remaining_draws, level);
        total += count(cards) * (value > stop ? value : stop);
    }
    return total / turn->pile_count;
}

/* The value of the best answer to the effect of the card that was just placed. */
static double effect_value(TurnSearch *search, const SimulatedTurn *turn, Suit suit,
                           int kraken_draws, int level) {
    switch (suit) {
        case HOOK:
            if (turn->own_bank) return best_target_value(search, turn, suit, 0, level);
            break;
        case SWORD:
            if (sword_targets(turn->own_bank, turn->opponent_bank)) {
                return best_target_value(search, turn, suit, 0, level);
            }
            break;
        case CANNON:
            if (turn->opponent_bank) {
                return best_target_value(search, turn, suit, kraken_draws, level);
            }
            break;
        case MAP:
            if (turn->discard) return expected_map_value(search, turn, level);
            break;
        case ORACLE:
            if (turn->pile_count) return expected_oracle_value(search, turn, kraken_draws, level);
            break;
        case KRAKEN: return value_with_kraken_draws(search, turn, KRAKEN_DRAWS, level);
        default: break;
    }
    return value_with_kraken_draws(search, turn, kraken_draws, level);
}

/* The value after `card`, already taken from its place, came to the play area. */
static double value_of_placing(TurnSearch *search, const SimulatedTurn *turn, Card card,
                               int kraken_draws, int level) {
    if (would_bust(turn, card)) return bust_value(search, turn, card);
    SimulatedTurn next_turn = *turn;
    place_card(&next_turn, card);
    if (level >= search->limits.max_depth) {
        return value_with_kraken_draws(search, &next_turn, kraken_draws, level);
    }
    return effect_value(search, &next_turn, suit_of(card), kraken_draws, level + 1);
}

/* --- drawing --- */

static double sum_suit_draw_values(TurnSearch *search, const SimulatedTurn *turn, Suit suit,
                                   int kraken_draws, int level) {
    Cards cards = turn->pile & SUIT_CARDS(suit);
    CardGroup groups[RANKS] = {{middle(cards), count(cards)}};
    int group_count = level ? 1 : group_equivalent_cards(turn, suit, cards, true, groups);
    double total = 0.0;
    for (int i = 0; i < group_count; i++) {
        total += groups[i].card_count * value_of_drawn_card(search, turn, groups[i].card,
                                                             kraken_draws, level);
    }
    return total;
}

double draw_value(TurnSearch *search, const SimulatedTurn *turn, int kraken_draws, int level) {
    if (!turn->pile_count) return stop_value(search, turn, search->limits.samples);
    if (turn->known_top != NO_CARD) {
        return value_of_drawn_card(search, turn, turn->known_top, kraken_draws, level);
    }
    double total = 0.0;
    Cards busting = turn->pile & cards_of_suits(turn->area_suits);
    if (busting && level) total += count(busting) * bust_draw_value(search, turn, lowest(busting));
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards cards = turn->pile & SUIT_CARDS(suit);
        if (!cards) continue;
        if (!(turn->area_suits >> suit & 1)) {
            total += sum_suit_draw_values(search, turn, suit, kraken_draws, level);
        } else if (!level) {
            total += count(cards) * bust_draw_value(search, turn, lowest(cards));
        }
    }
    return total / turn->pile_count;
}

double placing_value(TurnSearch *search, const SimulatedTurn *turn, Card card, int kraken_draws,
                     int level) {
    return value_of_placing(search, turn, card, kraken_draws, level);
}

double kraken_draws_value(TurnSearch *search, const SimulatedTurn *turn, int kraken_draws,
                          int level) {
    return value_with_kraken_draws(search, turn, kraken_draws, level);
}

/* --- each card that chance may bring --- */

/* Writes the value of each card of one suit. `source` is the draw pile or, for a Map, the discard
 * pile. */
static void evaluate_suit_cards(TurnSearch *search, const SimulatedTurn *turn, Cards source,
                                Suit suit, int kraken_draws, double values[DECK]) {
    Cards cards = source & SUIT_CARDS(suit);
    CardGroup groups[RANKS] = {{cards ? lowest(cards) : NO_CARD, count(cards)}};
    int group_count = !cards                         ? 0
                      : turn->area_suits >> suit & 1 ? 1
                                                     : group_equivalent_cards(turn, suit, cards,
                                                                              true, groups);
    for (int i = 0; i < group_count; i++) {
        Card card = groups[i].card;
        double value = source == turn->pile
                           ? value_of_drawn_card(search, turn, card, kraken_draws, 0)
                           : value_of_taking_map_card(search, turn, card, 0);
        for (int copy = 0; copy < groups[i].card_count; copy++, cards &= cards - 1) {
            values[lowest(cards)] = value;
        }
    }
}

void evaluate_draws(TurnSearch *search, const SimulatedTurn *turn, int kraken_draws,
                    double values[DECK]) {
    for (Suit suit = 0; suit < SUITS; suit++) {
        evaluate_suit_cards(search, turn, turn->pile, suit, kraken_draws, values);
    }
}

void evaluate_map_cards(TurnSearch *search, const SimulatedTurn *turn, double values[DECK]) {
    for (Suit suit = 0; suit < SUITS; suit++) {
        evaluate_suit_cards(search, turn, turn->discard, suit, 0, values);
    }
}

void evaluate_shown_cards(TurnSearch *search, const SimulatedTurn *turn, int kraken_draws,
                          double values[DECK]) {
    SimulatedTurn turn_with_top = *turn;
    evaluate_draws(search, turn, kraken_draws > 0 ? kraken_draws - 1 : 0, values);
    for (Cards rest = turn->pile; rest; rest &= rest - 1) {
        Card card = lowest(rest);
        turn_with_top.known_top = card;
        double stop = stop_value(search, &turn_with_top, search->limits.samples);
        if (stop > values[card]) values[card] = stop;
    }
}

/* --- decisions --- */

static double answer_value(TurnSearch *search, const Table *table, const SimulatedTurn *turn,
                           Card card) {
    switch (table->pending) {
        case HOOK: return value_of_hook_target(search, turn, card, 0);
        case SWORD: return value_of_sword_target(search, turn, card, 0);
        case CANNON: return value_of_cannon_target(search, turn, card, table->kraken_draws, 0);
        case MAP: return value_of_taking_map_card(search, turn, card, 0);
        default:
            return value_of_drawn_card(search, turn, card,
                                       table->kraken_draws > 0 ? table->kraken_draws - 1 : 0, 0);
    }
}

/* Writes all options except refusing an Oracle's card, which is never better than stopping or
 * taking the card. Stopping is the last one. */
static int search_options(TurnSearch *search, const Table *table, Option options[MAX_OPTIONS]) {
    SimulatedTurn turn = turn_from_table(table);
    int option_count = 0, remaining_draws = table->kraken_draws > 0 ? table->kraken_draws - 1 : 0;
    Cards cards = answers(table);
    if (table->pending == MAP) turn.discard |= cards;
    for (; cards; cards &= cards - 1) {
        Card card = lowest(cards);
        options[option_count++] = (Option){card, answer_value(search, table, &turn, card)};
    }
    if (table->pending == NOTHING || table->pending == KRAKEN) {
        options[option_count++] = (Option){DRAW, draw_value(search, &turn, remaining_draws, 0)};
    }
    if (is_legal_action(table, END_TURN)) {
        double stop = stop_value(search, &turn, search->limits.root_samples);
        options[option_count++] = (Option){END_TURN, stop};
    }
    return option_count;
}

int evaluate_options(TurnSearch *search, const Table *table, Option options[MAX_OPTIONS]) {
    int option_count = 0;
    if (search->endgame_solver && count(table->pile) <= search->limits.endgame_cards) {
        option_count = exact_options(search->endgame_solver, table, options);
    }
    return option_count ? option_count : search_options(search, table, options);
}

Action best_action(TurnSearch *search, const Table *table) {
    if (is_legal_action(table, DRAW) && !is_legal_action(table, END_TURN)) return DRAW;
    Option options[MAX_OPTIONS];
    int option_count = evaluate_options(search, table, options), best = 0;
    for (int i = 1; i < option_count; i++) {
        if (options[i].value > options[best].value) best = i;
    }
    return options[best].action;
}

TurnSearch *search_new(const Model *model, const Network *network, const SearchLimits *limits) {
    TurnSearch *search = calloc(1, sizeof *search);
    search->terms = suit_term_cache_new(model);
    search->limits = *limits;
    if (network) search->layer = layer_new(network);
    if (limits->endgame_cards) search->endgame_solver = exact_rough(limits->max_leaves);
    return search;
}

void search_free(TurnSearch *search) {
    suit_term_cache_free(search->terms);
    if (search->layer) layer_free(search->layer);
    if (search->endgame_solver) exact_free(search->endgame_solver);
    free(search);
}
