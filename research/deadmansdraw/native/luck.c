/* What chance brought: see luck.h. */
#include "luck.h"

#include "leaves.h"

static double of_draw(Search *search, const Table *before, Card drawn) {
    Turn turn = turn_of(before);
    double values[DECK], sum = 0.0;
    weigh_drawn(search, &turn, before->owed > 0 ? before->owed - 1 : 0, values);
    for (Cards rest = turn.pile; rest; rest &= rest - 1) sum += values[lowest(rest)];
    return values[drawn] - sum / turn.left;
}

static double of_oracle(Search *search, const Table *after) {
    Turn turn = turn_of(after);
    double values[DECK], sum = 0.0;
    turn.known = NO_CARD;
    weigh_shown(search, &turn, after->owed, values);
    for (Cards rest = turn.pile; rest; rest &= rest - 1) sum += values[lowest(rest)];
    return values[after->known_top] - sum / turn.left;
}

static double of_map(Search *search, const Table *after) {
    Turn turn = turn_of(after);
    double values[DECK], all[DECK], best = 0.0;
    int number = 0;
    Cards offered = answers(after);
    turn.discard |= offered;
    weigh_offered(search, &turn, values);
    for (Cards rest = turn.discard; rest; rest &= rest - 1) {
        Card card = lowest(rest);
        all[number++] = values[card];
        if (offered & BIT(card) && values[card] > best) best = values[card];
    }
    return best - best_of_offer(all, number);
}

static double ways(int number, int chosen) {
    uint64_t found = chosen <= number;
    for (int i = 0; i < chosen; i++) found = found * (uint64_t)(number - i) / (uint64_t)(i + 1);
    return (double)found;
}

/* Only the highest card of each suit counts, as if it came alone. */
static double of_bonus(Search *search, const Table *after, Cards got) {
    Cards from = after->discard | got, own = after->bank[1 - after->player] & ~got;
    double none = end_value(search, own, after), luck = 0.0;
    int all = count(from), taken = count(got);
    for (Cards rest = from; rest; rest &= rest - 1) {
        Card card = lowest(rest);
        Cards higher = from & SUIT_MASK(suit_of(card)) & ~(2 * BIT(card) - 1);
        double chance = ways(all - 1 - count(higher), taken - 1) / ways(all, taken);
        bool highest = got & BIT(card) && !(got & higher);
        luck += (highest - chance) * (end_value(search, own | BIT(card), after) - none);
    }
    return luck;
}

double luck_of(const Policy *judge, const Table *before, Action action, Card drawn,
               const Match *after) {
    Search *search = search_of(judge);
    const Table *table = &after->table;
    bool same_turn = table->turn == before->turn;
    double luck = 0.0;
    if (action == DRAW && before->known_top == NO_CARD) luck += of_draw(search, before, drawn);
    if (!same_turn && after->last_bonus) luck += of_bonus(search, table, after->last_bonus);
    if (same_turn && table->lying_count > before->lying_count) {
        if (table->pending == MAP) luck += of_map(search, table);
        if (table->pending == ORACLE) luck += of_oracle(search, table);
    }
    return luck;
}
