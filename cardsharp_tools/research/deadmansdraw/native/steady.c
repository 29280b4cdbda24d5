/* `steady`: strategies/steady.py and lookahead.py, in C, value for value (a test compares them). */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

typedef struct {
    Suit suit;
    bool guessed; /* drawn in the search */
    double value, gain;
} Laid;

/* A simulated turn: `LookaheadTurn` of lookahead.py. */
typedef struct {
    Cards own, other;
    double points, risk;
    Card known;
    bool more;
    int8_t laid, thrown, drawn;
    int8_t drawn_of[SUITS];
    uint16_t suits;
    Laid area[SUITS];
    Card discard[DECK];
} Turn;

/* What stays the same while one position is looked at. */
typedef struct {
    const Table *table;
    int unseen, unseen_of[SUITS];
    Laid mean[SUITS];
} Look;

enum { TREASURE = 1 << CHEST | 1 << KEY };

static double place(const Look *look, const Turn *turn, Laid card, int owed);
static double after(const Look *look, const Turn *turn, int owed);

static double choose(int n, int k) {
    double ways = 1;
    if (k < 0 || k > n) return 0;
    for (int i = 1; i <= k; i++) ways = ways * (n - k + i) / i;
    return ways;
}

static double positive(double x) { return x > 0 ? x : 0; }

static bool has(const Turn *turn, Suit suit) { return turn->suits >> suit & 1; }

static bool treasure(unsigned suits) { return (suits & TREASURE) == TREASURE; }

static Laid laid(const Turn *turn, Card card) {
    Suit suit = suit_of(card);
    double value = value_of(card);
    return (Laid){suit, false, value, positive(value - top_value(turn->own, suit))};
}

static void lay(Turn *turn, Laid card) {
    bool first_anchor = card.suit == ANCHOR && !has(turn, ANCHOR);
    turn->points += card.gain;
    turn->risk = first_anchor ? card.gain : turn->risk + card.gain;
    turn->area[turn->laid++] = card;
    turn->suits |= (uint16_t)(1 << card.suit);
    if (!card.guessed) return;
    turn->drawn++;
    turn->drawn_of[card.suit]++;
}

/* The area of `turn` laid once more, each card's gain counted from its own bank of now. */
static void lay_all(Turn *turn, const Laid *cards, int number) {
    for (int i = 0; i < number; i++) {
        Laid card = {cards[i].suit, false, cards[i].value, 0};
        card.gain = positive(card.value - top_value(turn->own, card.suit));
        lay(turn, card);
    }
}

static void relay(Turn *turn) {
    Laid before[SUITS];
    int number = turn->laid;
    double gains = 0;
    memcpy(before, turn->area, sizeof before);
    for (int i = 0; i < number; i++) gains += before[i].gain;
    turn->points -= gains;
    turn->risk = 0;
    turn->laid = 0;
    turn->suits = 0;
    lay_all(turn, before, number);
}

/* --- without an effect --- */

static int descending(const void *one, const void *two) {
    double a = *(const double *)one, b = *(const double *)two;
    return (a < b) - (a > b);
}

static double rise_of_suit(const double *value, int number, double top, int size, int picked) {
    double rises[DECK], ways = 0;
    for (int i = 0; i < number; i++) rises[i] = value[i] - top;
    qsort(rises, (size_t)number, sizeof *rises, descending);
    for (int i = 0; i < number && rises[i] > 0; i++) {
        ways += rises[i] * choose(size - i - 1, picked - 1);
    }
    return ways;
}

/* Expected rise of the bank by as many random cards as were collected; `thrown` has the cards
 * that a bust puts to the discard pile before. */
static double bonus(const Turn *turn, int collected, const Laid *thrown, int number) {
    int size = turn->thrown + number, picked = collected < size ? collected : size;
    double value[DECK], ways = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        double top = top_value(turn->own, suit);
        int held = 0;
        for (int i = 0; i < collected; i++) {
            if (turn->area[i].suit == suit) top += turn->area[i].gain;
        }
        for (int i = 0; i < turn->thrown; i++) {
            if (suit_of(turn->discard[i]) == suit) value[held++] = value_of(turn->discard[i]);
        }
        for (int i = 0; i < number; i++) {
            if (thrown[i].suit == suit) value[held++] = thrown[i].value;
        }
        ways += rise_of_suit(value, held, top, size, picked);
    }
    return ways / choose(size, picked);
}

static double stop(const Turn *turn) {
    return treasure(turn->suits) ? turn->points + bonus(turn, turn->laid, NULL, 0) : turn->points;
}

static double bust_value(const Turn *turn, Laid card) {
    double points = turn->points - turn->risk;
    if (!treasure(turn->suits) || !has(turn, ANCHOR)) return points;
    Laid thrown[SUITS + 1] = {card};
    unsigned saved_suits = 0;
    int saved = 0, number = 1;
    while (turn->area[saved].suit != ANCHOR) saved_suits |= 1u << turn->area[saved++].suit;
    for (int i = saved; i < turn->laid; i++) thrown[number++] = turn->area[i];
    return treasure(saved_suits) ? points + bonus(turn, saved, thrown, number) : points;
}

/* What can come next with its chance; 0 where the draw pile is used up. */
static int next_cards(const Look *look, const Turn *turn, Laid cards[SUITS], double chance[SUITS]) {
    int number = 0;
    if (turn->known != NO_CARD) {
        cards[0] = laid(turn, turn->known);
        cards[0].guessed = true;
        chance[0] = 1;
        return 1;
    }
    for (Suit suit = 0; suit < SUITS; suit++) {
        int left = look->unseen_of[suit] - turn->drawn_of[suit];
        if (!look->unseen_of[suit] || left <= 0) continue;
        cards[number] = look->mean[suit];
        chance[number++] = (double)left / (look->unseen - turn->drawn);
    }
    return number;
}

static double draw_value(const Look *look, const Turn *turn, int owed) {
    Laid cards[SUITS];
    double chance[SUITS], value = 0;
    int number = next_cards(look, turn, cards, chance);
    if (!number) return stop(turn);
    Turn unknown = *turn;
    unknown.known = NO_CARD;
    for (int i = 0; i < number; i++) value += chance[i] * place(look, &unknown, cards[i], owed);
    return value;
}

static double rest(const Look *look, const Turn *turn) {
    double stopped = stop(turn);
    if (!turn->more) return stopped;
    Turn last = *turn;
    last.more = false;
    return fmax(stopped, draw_value(look, &last, 0));
}

static double after(const Look *look, const Turn *turn, int owed) {
    return owed ? draw_value(look, turn, owed - 1) : rest(look, turn);
}

/* --- effects --- */

static double loss(Cards bank, Card top) {
    return value_of(top) - top_value(bank & ~BIT(top), suit_of(top));
}

static double hook(const Look *look, const Turn *turn, Card card) {
    Turn then = *turn;
    then.points -= loss(turn->own, card);
    then.own &= ~BIT(card);
    if (has(turn, suit_of(card)) && has(turn, ANCHOR)) relay(&then);
    return place(look, &then, laid(&then, card), 0);
}

static double sword(const Look *look, const Turn *turn, Card card) {
    Turn then = *turn;
    then.points += loss(turn->other, card);
    then.other &= ~BIT(card);
    return place(look, &then, laid(&then, card), 0);
}

static double cannon(const Look *look, const Turn *turn, Card card, int owed) {
    Turn then = *turn;
    then.points += loss(turn->other, card);
    then.other &= ~BIT(card);
    then.discard[then.thrown++] = card;
    return after(look, &then, owed);
}

static double take(const Look *look, const Turn *turn, Card card) {
    Turn then = *turn;
    int at = 0;
    while (then.discard[at] != card) at++;
    then.thrown--;
    for (; at < then.thrown; at++) then.discard[at] = then.discard[at + 1];
    return place(look, &then, laid(&then, card), 0);
}

/* The opponent's top whose loss costs most, the first of equals in order of entry. */
static Card dearest(const Look *look, Cards bank) {
    int other = 1 - look->table->player;
    Card best = NO_CARD;
    for (int i = 0; i < look->table->suits_held[other]; i++) {
        Card top = top_of(bank, look->table->entered[other][i]);
        if (top == NO_CARD) continue;
        if (best == NO_CARD || loss(bank, top) > loss(bank, best)) best = top;
    }
    return best;
}

static double best_answer(const Look *look, const Turn *turn, Suit suit) {
    Cards from = suit == HOOK ? tops(turn->own) : sword_targets(turn->own, turn->other);
    double best = -INFINITY;
    for (; from; from &= from - 1) {
        Card card = lowest(from);
        double value = suit == HOOK ? hook(look, turn, card) : sword(look, turn, card);
        best = fmax(best, value);
    }
    return best;
}

static double map_to_come(const Look *look, const Turn *turn) {
    double value[DECK], first[SUITS], first_gain[SUITS], ways = 0;
    bool known[SUITS] = {false};
    int number = turn->thrown, offered = number < MAP_OFFER ? number : MAP_OFFER;
    for (int i = 0; i < number; i++) {
        Card card = turn->discard[i];
        Suit suit = suit_of(card);
        double gain = has(turn, suit) ? 0 : laid(turn, card).gain;
        if (!known[suit] || treasure(turn->suits | 1u << suit)) {
            known[suit] = true;
            first[suit] = take(look, turn, card);
            first_gain[suit] = gain;
        }
        value[i] = first[suit] + gain - first_gain[suit];
    }
    qsort(value, (size_t)number, sizeof *value, descending);
    for (int i = 0; i < number; i++) ways += choose(number - 1 - i, offered - 1) * value[i];
    return ways / choose(number, offered);
}

static double oracle_to_come(const Look *look, const Turn *turn, int owed) {
    Laid cards[SUITS];
    double chance[SUITS], stopped = stop(turn), value = 0;
    int number = next_cards(look, turn, cards, chance);
    if (!number) return stopped;
    Turn unknown = *turn;
    unknown.known = NO_CARD;
    for (int i = 0; i < number; i++) {
        double taken = place(look, &unknown, cards[i], owed > 0 ? owed - 1 : 0);
        value += chance[i] * fmax(stopped, taken);
    }
    return value;
}

static double place(const Look *look, const Turn *before, Laid card, int owed) {
    if (has(before, card.suit)) return bust_value(before, card);
    Turn turn = *before;
    lay(&turn, card);
    switch (card.suit) {
        case HOOK:
            if (turn.own) return best_answer(look, &turn, HOOK);
            break;
        case SWORD:
            if (sword_targets(turn.own, turn.other)) return best_answer(look, &turn, SWORD);
            break;
        case CANNON:
            if (turn.other) return cannon(look, &turn, dearest(look, turn.other), owed);
            break;
        case MAP:
            if (turn.thrown) return map_to_come(look, &turn);
            break;
        case ORACLE: return oracle_to_come(look, &turn, owed);
        case KRAKEN: return after(look, &turn, KRAKEN_DRAWS);
        default: break;
    }
    return after(look, &turn, owed);
}

/* --- the position --- */

static Look look_at(const Table *table) {
    Cards own = table->bank[table->player];
    Look look = {.table = table, .unseen = count(table->pile)};
    for (Suit suit = 0; suit < SUITS; suit++) {
        int values = 0, gains = 0;
        Cards cards = table->pile & SUIT_MASK(suit);
        look.unseen_of[suit] = count(cards);
        for (; cards; cards &= cards - 1) {
            int rise = value_of(lowest(cards)) - top_value(own, suit);
            values += value_of(lowest(cards));
            gains += rise > 0 ? rise : 0;
        }
        double number = look.unseen_of[suit] ? look.unseen_of[suit] : 1;
        look.mean[suit] = (Laid){suit, true, values / number, gains / number};
    }
    return look;
}

static Turn root_of(const Table *table) {
    Turn turn;
    Laid area[SUITS];
    memset(&turn, 0, sizeof turn);
    turn.own = table->bank[table->player];
    turn.other = table->bank[1 - table->player];
    turn.points = bank_value(turn.own) - bank_value(turn.other);
    turn.known = table->known_top;
    for (Cards rest = table->discard; rest; rest &= rest - 1) {
        turn.discard[turn.thrown++] = lowest(rest);
    }
    for (int i = 0; i < table->lying_count; i++) area[i] = laid(&turn, table->lying[i]);
    lay_all(&turn, area, table->lying_count);
    return turn;
}

static double answer_value(const Look *look, const Turn *root, Action action) {
    const Table *table = look->table;
    Turn turn = *root;
    turn.more = true;
    if (action == REFUSE) return after(look, &turn, table->owed);
    switch (table->pending) {
        case ORACLE: return draw_value(look, &turn, table->owed > 0 ? table->owed - 1 : 0);
        case HOOK: return hook(look, &turn, (Card)action);
        case SWORD: return sword(look, &turn, (Card)action);
        case CANNON: return cannon(look, &turn, (Card)action, table->owed);
        default:
            for (int i = 0; i < table->offered; i++) {
                turn.discard[turn.thrown++] = table->offer[i];
            }
            return take(look, &turn, (Card)action);
    }
}

static double action_value(const Look *look, const Turn *root, Action action) {
    if (action == END_TURN) return stop(root);
    if (action == DRAW) return draw_value(look, root, 0);
    return answer_value(look, root, action);
}

/* The actions in the order of `legal_actions`, which decides between equals. */
static int actions_of(const Table *table, Action actions[DECK]) {
    int number = 0, bank = table->pending == HOOK ? table->player : 1 - table->player;
    switch (table->pending) {
        case NOTHING:
            actions[number++] = DRAW;
            if (table->lying_count) actions[number++] = END_TURN;
            return number;
        case KRAKEN: actions[number++] = DRAW; return number;
        case ORACLE:
            actions[number++] = table->known_top;
            actions[number++] = END_TURN;
            actions[number++] = REFUSE;
            return number;
        case MAP:
            for (int i = 0; i < table->offered; i++) actions[number++] = table->offer[i];
            return number;
        default:
            for (int i = 0; i < table->suits_held[bank]; i++) {
                Card top = top_of(table->bank[bank], table->entered[bank][i]);
                if (answers(table) & BIT(top)) actions[number++] = top;
            }
            return number;
    }
}

static Action steady(const void *own, const Table *table, Rng *rng) {
    (void)own, (void)rng;
    Action actions[DECK], best = DRAW;
    int number = actions_of(table, actions);
    if (number == 1) return actions[0];
    Look look = look_at(table);
    Turn root = root_of(table);
    long long most = 0;
    for (int i = 0; i < number; i++) {
        /* equal up to rounding is equal */
        long long value = llrint(action_value(&look, &root, actions[i]) * 1e9);
        if (i == 0 || value > most) most = value, best = actions[i];
    }
    return best;
}
REGISTER_POLICY("steady", steady)
