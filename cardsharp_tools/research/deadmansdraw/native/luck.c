/* Luck of the draw (luck.h). */
#include "luck.h"

#include "leaves.h"

/* The judge of the luck: a search, or the exact solver if that is not NULL. */
typedef struct { TurnSearch *search; ExactSolver *exact; } Judge;

/* The value of a card above the mean of the possible cards. The mean is added up in the order of
 * the twin, so that both round equally. */
static double value_above_mean(const double values[DECK], Cards possible_cards, Card card) {
    double value_sum = 0.0;
    int card_count = count(possible_cards);
    for (; possible_cards; possible_cards &= possible_cards - 1) {
        value_sum += values[lowest(possible_cards)];
    }
    return values[card] - value_sum / card_count;
}

static double draw_luck(Judge judge, const Table *previous_table, Card card) {
    SimulatedTurn turn = turn_from_table(previous_table);
    int remaining_draws = previous_table->kraken_draws > 0 ? previous_table->kraken_draws - 1 : 0;
    double values[DECK];
    if (judge.exact) exact_draw_values(judge.exact, previous_table, values);
    else evaluate_draws(judge.search, &turn, remaining_draws, values);
    return value_above_mean(values, turn.pile, card);
}

static double oracle_luck(Judge judge, const Table *table) {
    SimulatedTurn turn = turn_from_table(table);
    double values[DECK];
    turn.known_top = NO_CARD;
    if (judge.exact) exact_shown_card_values(judge.exact, table, values);
    else evaluate_shown_cards(judge.search, &turn, table->kraken_draws, values);
    return value_above_mean(values, turn.pile, table->known_top);
}

static double map_offer_luck(Judge judge, const Table *table) {
    SimulatedTurn turn = turn_from_table(table);
    double card_values[DECK], possible_values[DECK], best_value = 0.0;
    int possible_count = 0;
    Cards offer = answers(table);
    turn.discard |= offer;
    if (judge.exact) exact_map_card_values(judge.exact, table, card_values);
    else evaluate_map_cards(judge.search, &turn, card_values);
    for (Cards rest = turn.discard; rest; rest &= rest - 1) {
        Card card = lowest(rest);
        bool is_offered = offer & BIT(card);
        possible_values[possible_count++] = card_values[card];
        if (is_offered && card_values[card] > best_value) best_value = card_values[card];
    }
    return best_value - expected_best_of_three(possible_values, possible_count);
}

/* The number of ways to choose `k` of `n`; 0 if there are too few. */
static double combinations(int n, int k) {
    uint64_t ways = k <= n;
    for (int i = 0; i < k; i++) ways = ways * (uint64_t)(n - i) / (uint64_t)(i + 1);
    return (double)ways;
}

/* The luck of the bonus cards, as if the highest card of each suit came alone. `table` is the one
 * after the turn. */
static double bonus_luck(TurnSearch *search, const Table *table, Cards bonus) {
    Cards possible_cards = table->discard | bonus;
    Cards bank = table->bank[1 - table->player] & ~bonus; /* of the player whose turn has ended */
    double value_without_bonus = turn_end_value(search, bank, table), luck = 0.0;
    int possible_count = count(possible_cards), bonus_count = count(bonus);
    for (Cards rest = possible_cards; rest; rest &= rest - 1) {
        Card card = lowest(rest);
        Cards higher_cards = possible_cards & SUIT_CARDS(suit_of(card)) & ~(2 * BIT(card) - 1);
        /* The probability that this card is the highest of its suit in the bonus: it is picked and
         * no higher one is. Subtracting it makes the mean of the luck 0. */
        int other_count = possible_count - 1 - count(higher_cards);
        double probability =
            combinations(other_count, bonus_count - 1) / combinations(possible_count, bonus_count);
        bool is_highest = bonus & BIT(card) && !(bonus & higher_cards);
        double value = turn_end_value(search, bank | BIT(card), table);
        luck += (is_highest - probability) * (value - value_without_bonus);
    }
    return luck;
}

static double judged_luck(Judge judge, const Table *previous_table, Action action, Card next_card,
                          const Match *match) {
    const Table *table = &match->table;
    bool is_same_turn = table->turn == previous_table->turn;
    bool is_random_draw = action == DRAW && previous_table->known_top == NO_CARD;
    double luck = 0.0;
    if (is_random_draw) luck += draw_luck(judge, previous_table, next_card);
    if (!is_same_turn && match->last_bonus) {
        luck += judge.exact ? exact_bonus_luck(judge.exact, table, match->last_bonus)
                            : bonus_luck(judge.search, table, match->last_bonus);
    }
    if (is_same_turn && table->area_size > previous_table->area_size) {
        if (table->pending == MAP) luck += map_offer_luck(judge, table);
        if (table->pending == ORACLE) luck += oracle_luck(judge, table);
    }
    return luck;
}

double luck_of(const Policy *judge, const Table *previous_table, Action action, Card next_card,
               const Match *match) {
    Judge search_judge = {.search = search_of(judge)};
    return judged_luck(search_judge, previous_table, action, next_card, match);
}

double luck_by_exact(ExactSolver *exact, const Table *previous_table, Action action, Card next_card,
                     const Match *match) {
    Judge exact_judge = {.exact = exact};
    return judged_luck(exact_judge, previous_table, action, next_card, match);
}
