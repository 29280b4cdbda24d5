/* How a player of large rounds sees and plays them: the twin of strategies/large_round_policy.py. */
#include "large.h"

#include <math.h>
#include <string.h>

static const double MARKS[CLASSES - 1] = {0.03, 0.1, 0.22, 0.38, 0.55, 0.72, 0.88, 0.9999};

const double TEMPERATURE = 0.035;

static int has(Cards hand, int value) { return count(hand & 0x41041u << value); }

static int colour_of(const Bet *bet) {
    return bet->cards ? __builtin_ctz(bet->cards) / VALUES : bet->colour;
}

static int lacked(const Bet *bet, Cards hand) {
    if (bet->cards) return count(bet->cards & ~hand);
    int own = count(hand >> VALUES * bet->colour & 63);
    return own < 5 ? 5 - own : 0;
}

/* How many cards of a bet on a colour that the hand lacks another one claims too. */
static int helped(const Bet *bet, const Bet *last, Cards hand) {
    if (bet->cards && last->cards) return count(bet->cards & last->cards & ~hand);
    int lacks = lacked(bet, hand), other = lacked(last, hand);
    return lacks < other ? lacks : other;
}

/* Of each value the cards that both of two bets claim, four bits each. */
static uint32_t claimed[ROWS][BETS];

/* How many of these a hand lacks; `held` is as `claimed`. */
static int missing(uint32_t claimed, uint32_t held) {
    uint32_t more = (claimed | 0x888888) - held;
    more &= (more & 0x888888) / 8 * 7;
    return (int)(more * 0x111111 >> 20 & 15);
}

static int shares(int before, int last) {
    const Bet *one = &bets[before], *two = &bets[last];
    if (colour_of(one) != colour_of(two)) return 1;
    if (colour_of(one) >= 0 && !(one->cards && two->cards)) return 3;
    int all = count(one->cards), shared = count(one->cards & two->cards);
    for (int v = 0; v < VALUES; v++) {
        all += one->values[v];
        shared += claimed[before + 1][last] >> 4 * v & 15;
    }
    return shared == 0 ? 1 : shared < all ? 2 : 3;
}

uint8_t bond[ROWS][BETS];

void large_begin(void) {
    for (int before = 0; before < BETS; before++)
        for (int last = before + 1; last < BETS; last++) {
            const uint8_t *one = bets[before].values, *two = bets[last].values;
            for (int v = 0; v < VALUES; v++)
                claimed[before + 1][last] |= (uint32_t)(one[v] < two[v] ? one[v] : two[v]) << 4 * v;
            bond[before + 1][last] = (uint8_t)shares(before, last);
        }
}

FAST void look_large(Cards hand, int hidden, Look *look) {
    double chances[BETS];
    odds(hand, hidden, chances);
    for (int b = 0; b < BETS; b++) {
        int class = 0;
        while (class < CLASSES - 1 && chances[b] >= MARKS[class]) class++;
        look->class[b] = (uint8_t)class;
        look->cell[0][b] = (int16_t)(b * KINDS + class * HELPS);
    }
    uint32_t held = 0;
    for (int v = 0; v < VALUES; v++) held |= (uint32_t)has(hand, v) << 4 * v;
    for (int last = 0; last < BETS; last++)
        for (int b = last + 1; b < BETS; b++) {
            uint32_t both = claimed[last + 1][b];
            int help = both ? missing(both, held) : 0;
            if (!both && bond[last + 1][b] > 1) help = helped(&bets[b], &bets[last], hand);
            look->cell[last + 1][b] =
                (int16_t)(look->cell[0][b] + (help < HELPS ? help : HELPS - 1));
        }
}

static double weight(int value) {
    return value ? exp(((value - 1) / (double)PARTS - 0.6) / TEMPERATURE) : 0;
}

void large_play(const uint8_t *large, const Look *look, int before, int last, double play[WIDEST]) {
    static _Thread_local double weights[PARTS + 2];
    if (!weights[1])
        for (int value = 1; value <= PARTS + 1; value++) weights[value] = weight(value);
    memset(play, 0, sizeof(double) * WIDEST);
    int row = last + 1, with = last == OPENING ? 0 : bond[before + 1][last];
    const uint8_t *check = large + row_at(row) + with;
    const uint8_t *bet = check + BONDS * (CLASSES - row * KINDS);
    double total = 0;
    for (int b = last + 1; b < BETS; b++)
        total += play[b] = weights[bet[BONDS * look->cell[row][b]]];
    if (last != OPENING) total += play[CHECK] = weights[check[BONDS * look->class[last]]];
    if (total <= 0) play[last == OPENING ? 0 : CHECK] = total = 1;
    for (int action = 0; action <= CHECK; action++) play[action] /= total;
}
