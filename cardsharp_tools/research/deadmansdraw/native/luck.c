/* What chance brought: see luck.h. */
#include "luck.h"

#include "leaves.h"

/* Who judges: the search, or else the solver. */
typedef struct { Search *search; Exact *exact; } Judge;

static double above_mean(const double values[DECK], Cards from, Card came) {
    double sum = 0.0;
    int number = count(from);
    for (; from; from &= from - 1) sum += values[lowest(from)];
    return values[came] - sum / number;
}

static double of_draw(Judge judge, const Table *before, Card drawn) {
    Turn turn = turn_of(before);
    double values[DECK];
    if (judge.exact) {
        exact_drawn(judge.exact, before, values);
    } else {
        weigh_drawn(judge.search, &turn, before->owed > 0 ? before->owed - 1 : 0, values);
    }
    return above_mean(values, turn.pile, drawn);
}

static double of_oracle(Judge judge, const Table *after) {
    Turn turn = turn_of(after);
    double values[DECK];
    turn.known = NO_CARD;
    if (judge.exact) {
        exact_shown(judge.exact, after, values);
    } else {
        weigh_shown(judge.search, &turn, after->owed, values);
    }
    return above_mean(values, turn.pile, after->known_top);
}

static double of_map(Judge judge, const Table *after) {
    Turn turn = turn_of(after);
    double values[DECK], all[DECK], best = 0.0;
    int number = 0;
    Cards offered = answers(after);
    turn.discard |= offered;
    if (judge.exact) {
        exact_offered(judge.exact, after, values);
    } else {
        weigh_offered(judge.search, &turn, values);
    }
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

static double luck_by(Judge judge, const Table *before, Action action, Card drawn,
                      const Match *after) {
    const Table *table = &after->table;
    bool same_turn = table->turn == before->turn;
    double luck = 0.0;
    if (action == DRAW && before->known_top == NO_CARD) luck += of_draw(judge, before, drawn);
    if (!same_turn && after->last_bonus) {
        luck += judge.exact ? exact_bonus(judge.exact, table, after->last_bonus)
                            : of_bonus(judge.search, table, after->last_bonus);
    }
    if (same_turn && table->lying_count > before->lying_count) {
        if (table->pending == MAP) luck += of_map(judge, table);
        if (table->pending == ORACLE) luck += of_oracle(judge, table);
    }
    return luck;
}

double luck_of(const Policy *judge, const Table *before, Action action, Card drawn,
               const Match *after) {
    return luck_by((Judge){.search = search_of(judge)}, before, action, drawn, after);
}

double luck_by_exact(Exact *exact, const Table *before, Action action, Card drawn,
                     const Match *after) {
    return luck_by((Judge){.exact = exact}, before, action, drawn, after);
}
