/* The search within a turn: see search.h. */
#include "search.h"

#include <stdlib.h>

#include "exact.h"
#include "leaves.h"

/* --- nothing pending --- */

static double rest_value(Search *search, const Turn *turn, int level) {
    if (!turn->left) return stop_value(search, turn, search->limits.samples);
    double stop, on;
    if (level <= search->limits.second_draws) {
        stop = stop_value(search, turn, search->limits.samples);
        on = draw_value(search, turn, 0, level + 1);
    } else {
        on = weigh_drawing_on(search, turn, &stop).value;
    }
    return on > stop ? on : stop;
}

/* Nothing to answer, but `owed` draws for a Kraken; from the second level on the last of them is
 * taken to be worth what drawing on is. */
static double after(Search *search, const Turn *turn, int owed, int level) {
    if (!owed || !turn->left) return rest_value(search, turn, level);
    if (owed == 1 && level > 0) return drawing_on(search, turn).value;
    return draw_value(search, turn, owed - 1, level ? level : 1);
}

/* --- effects --- */

static double place(Search *search, const Turn *turn, Card card, int owed, int level);

static double hook(Search *search, const Turn *turn, Card card, int level) {
    Turn taken = *turn;
    leave_own(&taken, card);
    return place(search, &taken, card, 0, level);
}

static double sword(Search *search, const Turn *turn, Card card, int level) {
    Turn taken = *turn;
    leave_other(&taken, card);
    return place(search, &taken, card, 0, level);
}

static double cannon(Search *search, const Turn *turn, Card card, int owed, int level) {
    Turn shot = *turn;
    leave_other(&shot, card);
    shot.discard |= BIT(card);
    return after(search, &shot, owed, level);
}

static double map(Search *search, const Turn *turn, Card card, int level) {
    Turn taken = *turn;
    taken.discard &= ~BIT(card);
    return place(search, &taken, card, 0, level);
}

static double best_answer(Search *search, const Turn *turn, Suit effect, int owed, int level) {
    Cards targets = effect == HOOK     ? tops(turn->own)
                    : effect == SWORD  ? sword_targets(turn->own, turn->other)
                                       : tops(turn->other);
    double best = -1.0;
    for (; targets; targets &= targets - 1) {
        Card card = lowest(targets);
        double value = effect == HOOK    ? hook(search, turn, card, level)
                       : effect == SWORD ? sword(search, turn, card, level)
                                         : cannon(search, turn, card, owed, level);
        if (value > best) best = value;
    }
    return best;
}

static bool brings_effect(Suit suit) {
    return suit != ANCHOR && suit != KEY && suit != CHEST && suit != MERMAID;
}

/* Splits cards of one suit into groups of equal worth, each with the card that stands for it:
 * those that bring the own bank nothing, and the others, one by one where `finely` and their
 * suit has no effect. */
typedef struct { Card card; int number; } Group;

static int group_suit(const Turn *turn, Suit suit, Cards cards, bool finely, Group groups[]) {
    Card top = top_of(turn->own, suit);
    Cards idle = top == NO_CARD ? 0 : cards & (BIT(top) - 1), rising = cards & ~idle;
    int number = 0;
    if (idle) groups[number++] = (Group){top_of(idle, suit), count(idle)};
    if (!rising) return number;
    if (brings_effect(suit) || !finely) {
        groups[number++] = (Group){middle(rising), count(rising)};
    } else {
        for (; rising; rising &= rising - 1) groups[number++] = (Group){lowest(rising), 1};
    }
    return number;
}

static int by_value(const void *a, const void *b) {
    double one = *(const double *)a, two = *(const double *)b;
    return (one > two) - (one < two);
}

double best_of_sorted(const double values[], int number) {
    int offered = number < MAP_OFFER ? number : MAP_OFFER;
    double sum = 0.0, all = offered == 3   ? number * (number - 1) * (number - 2) / 6
                            : offered == 2 ? number * (number - 1) / 2
                                           : number;
    for (int rank = offered - 1; rank < number; rank++) {
        int ways = offered == 3 ? rank * (rank - 1) / 2 : offered == 2 ? rank : 1;
        sum += ways * values[rank];
    }
    return sum / all;
}

double best_of_offer(double values[], int number) {
    qsort(values, (size_t)number, sizeof *values, by_value);
    return best_of_sorted(values, number);
}

static double map_to_come(Search *search, const Turn *turn, int level) {
    double values[DECK];
    int number = 0;
    Group groups[RANKS];
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards cards = turn->discard & SUIT_MASK(suit);
        if (!cards) continue;
        int found = 1;
        if (turn->suits >> suit & 1) {
            groups[0] = (Group){lowest(cards), count(cards)};
        } else {
            found = group_suit(turn, suit, cards, level <= 1, groups);
        }
        for (int i = 0; i < found; i++) {
            double value = map(search, turn, groups[i].card, level);
            for (int same = 0; same < groups[i].number; same++) values[number++] = value;
        }
    }
    return best_of_offer(values, number);
}

static double next_value(Search *search, const Turn *turn, Card card, int owed, int level) {
    Turn drawn = *turn;
    leave_pile(&drawn, card);
    return place(search, &drawn, card, owed, level);
}

static double oracle_to_come(Search *search, const Turn *turn, int owed, int level) {
    double stop = stop_value(search, turn, search->limits.samples), sum = 0.0;
    int duty = owed > 0 ? owed - 1 : 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards cards = turn->pile & SUIT_MASK(suit);
        if (!cards) continue;
        double value = turn->suits >> suit & 1
                           ? stop
                           : next_value(search, turn, middle(cards), duty, level);
        sum += count(cards) * (value > stop ? value : stop);
    }
    return sum / turn->left;
}

/* The effect of the card that was laid last. */
static double effect(Search *search, const Turn *turn, Suit suit, int owed, int level) {
    switch (suit) {
        case HOOK:
            if (turn->own) return best_answer(search, turn, suit, 0, level);
            break;
        case SWORD:
            if (sword_targets(turn->own, turn->other)) {
                return best_answer(search, turn, suit, 0, level);
            }
            break;
        case CANNON:
            if (turn->other) return best_answer(search, turn, suit, owed, level);
            break;
        case MAP:
            if (turn->discard) return map_to_come(search, turn, level);
            break;
        case ORACLE:
            if (turn->left) return oracle_to_come(search, turn, owed, level);
            break;
        case KRAKEN: return after(search, turn, KRAKEN_DRAWS, level);
        default: break;
    }
    return after(search, turn, owed, level);
}

/* After `card`, already taken from its place, has come to the play area. */
static double place(Search *search, const Turn *turn, Card card, int owed, int level) {
    if (lies_in(turn, card)) return bust_value(search, turn, card);
    Turn laid = *turn;
    lay(&laid, card);
    if (level >= search->limits.levels) return after(search, &laid, owed, level);
    return effect(search, &laid, suit_of(card), owed, level + 1);
}

/* --- drawing --- */

static double draw_suit(Search *search, const Turn *turn, Suit suit, int owed, int level) {
    Cards cards = turn->pile & SUIT_MASK(suit);
    Group groups[RANKS] = {{middle(cards), count(cards)}};
    int number = level ? 1 : group_suit(turn, suit, cards, true, groups);
    double sum = 0.0;
    for (int i = 0; i < number; i++) {
        sum += groups[i].number * next_value(search, turn, groups[i].card, owed, level);
    }
    return sum;
}

double draw_value(Search *search, const Turn *turn, int owed, int level) {
    if (!turn->left) return stop_value(search, turn, search->limits.samples);
    if (turn->known != NO_CARD) return next_value(search, turn, turn->known, owed, level);
    double sum = 0.0;
    Cards busting = turn->pile & cards_of(turn->suits);
    if (busting && level) sum += count(busting) * bust_by(search, turn, lowest(busting));
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards cards = turn->pile & SUIT_MASK(suit);
        if (!cards) continue;
        if (!(turn->suits >> suit & 1)) {
            sum += draw_suit(search, turn, suit, owed, level);
        } else if (!level) {
            sum += count(cards) * bust_by(search, turn, lowest(cards));
        }
    }
    return sum / turn->left;
}

double place_value(Search *search, const Turn *turn, Card card, int owed, int level) {
    return place(search, turn, card, owed, level);
}

double going_on_value(Search *search, const Turn *turn, int owed, int level) {
    return after(search, turn, owed, level);
}

/* --- every outcome of a chance --- */

/* The cards of one suit, each with the value of the card that stands for it; `from` the draw pile
 * or, of a Map, the discard pile. */
static void weigh_suit(Search *search, const Turn *turn, Cards from, Suit suit, int owed,
                       double values[DECK]) {
    Cards cards = from & SUIT_MASK(suit);
    Group groups[RANKS] = {{cards ? lowest(cards) : NO_CARD, count(cards)}};
    int number = !cards ? 0 : turn->suits >> suit & 1 ? 1 : group_suit(turn, suit, cards, true, groups);
    for (int i = 0; i < number; i++) {
        Card card = groups[i].card;
        double value = from == turn->pile ? next_value(search, turn, card, owed, 0)
                                          : map(search, turn, card, 0);
        for (int same = 0; same < groups[i].number; same++, cards &= cards - 1) {
            values[lowest(cards)] = value;
        }
    }
}

void weigh_drawn(Search *search, const Turn *turn, int owed, double values[DECK]) {
    for (Suit suit = 0; suit < SUITS; suit++) {
        weigh_suit(search, turn, turn->pile, suit, owed, values);
    }
}

void weigh_offered(Search *search, const Turn *turn, double values[DECK]) {
    for (Suit suit = 0; suit < SUITS; suit++) {
        weigh_suit(search, turn, turn->discard, suit, 0, values);
    }
}

void weigh_shown(Search *search, const Turn *turn, int owed, double values[DECK]) {
    Turn shown = *turn;
    weigh_drawn(search, turn, owed > 0 ? owed - 1 : 0, values);
    for (Cards rest = turn->pile; rest; rest &= rest - 1) {
        Card card = lowest(rest);
        shown.known = card;
        double stop = stop_value(search, &shown, search->limits.samples);
        if (stop > values[card]) values[card] = stop;
    }
}

/* --- decisions --- */

static double answer_value(Search *search, const Table *table, const Turn *turn, Card card) {
    switch (table->pending) {
        case HOOK: return hook(search, turn, card, 0);
        case SWORD: return sword(search, turn, card, 0);
        case CANNON: return cannon(search, turn, card, table->owed, 0);
        case MAP: return map(search, turn, card, 0);
        default: return next_value(search, turn, card, table->owed > 0 ? table->owed - 1 : 0, 0);
    }
}

/* All choices but that of refusing an Oracle's card, which is never better than stopping or
 * taking it; stopping comes last. */
static int look_ahead(Search *search, const Table *table, Option options[MOST_OPTIONS]) {
    Turn turn = turn_of(table);
    int number = 0, owed = table->owed > 0 ? table->owed - 1 : 0;
    Cards cards = answers(table);
    if (table->pending == MAP) turn.discard |= cards;
    for (; cards; cards &= cards - 1) {
        Card card = lowest(cards);
        options[number++] = (Option){card, answer_value(search, table, &turn, card)};
    }
    if (table->pending == NOTHING || table->pending == KRAKEN) {
        options[number++] = (Option){DRAW, draw_value(search, &turn, owed, 0)};
    }
    if (legal(table, END_TURN)) {
        double stop = stop_value(search, &turn, search->limits.root_samples);
        options[number++] = (Option){END_TURN, stop};
    }
    return number;
}

int weigh(Search *search, const Table *table, Option options[MOST_OPTIONS]) {
    int number = 0;
    if (search->endgame && count(table->pile) <= search->limits.endgame) {
        number = exact_weigh(search->endgame, table, options);
    }
    return number ? number : look_ahead(search, table, options);
}

Action best_action(Search *search, const Table *table) {
    if (legal(table, DRAW) && !legal(table, END_TURN)) return DRAW;
    Option options[MOST_OPTIONS];
    int number = weigh(search, table, options), best = 0;
    for (int i = 1; i < number; i++) {
        if (options[i].value > options[best].value) best = i;
    }
    return options[best].action;
}

Search *search_new(const Model *model, const Network *network, const Limits *limits) {
    Search *search = calloc(1, sizeof *search);
    search->memo = memo_new(model);
    search->limits = *limits;
    if (network) search->layer = layer_new(network);
    if (limits->endgame) search->endgame = exact_rough(limits->most_ends);
    return search;
}

void search_free(Search *search) {
    memo_free(search->memo);
    if (search->layer) layer_free(search->layer);
    if (search->endgame) exact_free(search->endgame);
    free(search);
}
