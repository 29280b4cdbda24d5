/* What a player sees of a round: the twin of strategies/sight.py. */
#include "blef.h"

int number_of(const Setup *setup, Cards hand) {
    int code = 0;
    for (int v = VALUES - 1; v >= 0; v--) code = 5 * code + count(hand & 0x41041u << v);
    return setup->hand[code];
}

/* Each place has room for whole lanes. */
void lay_out(Setup *setup) {
    setup->span = 0;
    for (int before = 0; before <= setup->bets; before++)
        for (int last = 0; last <= setup->bets; last++) {
            bool is = last ? before < last : !before;
            setup->start[place_of(setup, before, last)] = is ? setup->span : -1;
            if (is) setup->span += padded(choices_at(setup, last));
        }
}
