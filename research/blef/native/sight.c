/* What a player sees of a round: the twin of strategies/sight.py. */
#include "blef.h"

#include <string.h>

static int number_of(const Setup *setup, Cards hand) {
    int code = 0;
    for (int v = VALUES - 1; v >= 0; v--) code = 5 * code + count(hand & 0x41041u << v);
    return setup->hand[code];
}

void look(const Setup *setup, int role, Cards hand, Eyes *eyes) {
    eyes->setup = setup;
    eyes->role = role;
    eyes->number = number_of(setup, hand);
}

int row_of(const Eyes *eyes, int last, int relation) {
    const Setup *setup = eyes->setup;
    int place = (last + 1) * setup->hands[eyes->role] + eyes->number;
    return place * RELATIONS + relation;
}
