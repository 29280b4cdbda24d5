/* What a player sees of a round: the twin of strategies/table_lookup.py. */
#include "blef.h"

int number_of(const Setup *setup, Cards hand) {
    int code = 0;
    for (int v = VALUES - 1; v >= 0; v--) code = 5 * code + count(hand & 0x41041u << v);
    return setup->hand[code];
}

/* Whether this may have been said. */
static bool is_place(const Setup *setup, int third, int before, int last) {
    bool said = !third;
    for (int bet = 1; bet < before; bet++) said |= setup->class_of[bet] == third;
    if (last >= setup->high) return !third && !before;
    return said && (last ? before < last : !before);
}

/* Each place has room for whole lanes. */
void lay_out(Setup *setup) {
    setup->span = 0;
    for (int third = 0; third < setup->classes; third++)
        for (int before = 0; before <= setup->bets; before++)
            for (int last = 0; last <= setup->bets; last++) {
                bool is = is_place(setup, third, before, last);
                setup->start[place_of(setup, third, before, last)] = is ? setup->span : -1;
                if (is) setup->span += padded(choices_at(setup, last));
            }
}
