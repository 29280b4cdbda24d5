/* Rows of the trained tables (table_lookup.h). */
#include "table_lookup.h"

int hand_number(const TableShape *shape, CardSet hand) {
    int code = 0;
    for (int rank = RANKS - 1; rank >= 0; rank--) code = 5 * code + count_rank(hand, rank);
    return shape->hand_numbers[code];
}

/* True if bets with this history can have been made. */
static bool is_possible_history(const TableShape *shape, int third_class, int previous_bet,
                                int last_bet) {
    if (last_bet >= shape->first_high_bet) return !third_class && !previous_bet;
    bool has_third_bet = !third_class;
    for (int bet = 1; bet < previous_bet; bet++)
        has_third_bet |= shape->class_of_bet[bet] == third_class;
    return has_third_bet && (last_bet ? previous_bet < last_bet : !previous_bet);
}

void build_row_starts(TableShape *shape) {
    shape->hand_stride = 0;
    for (int third_class = 0; third_class < shape->class_count; third_class++)
        for (int previous_bet = 0; previous_bet <= shape->bet_count; previous_bet++)
            for (int last_bet = 0; last_bet <= shape->bet_count; last_bet++) {
                bool is_possible = is_possible_history(shape, third_class, previous_bet, last_bet);
                int history = history_index(shape, third_class, previous_bet, last_bet);
                shape->row_starts[history] = is_possible ? shape->hand_stride : -1;
                if (is_possible) shape->hand_stride += padded_count(choice_count(shape, last_bet));
            }
}
