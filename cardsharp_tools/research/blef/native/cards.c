/* Cards, bets, and their chances: the twin of strategies/bet_probabilities.py. */
#include "blef.h"

#include <string.h>

Bet bets[BETS];

static double ways[CARDS + 1][CARDS + 1]; /* binomial coefficients */
static Truths by_value[VALUES][5];        /* bets that so many cards of a value are enough for */
static Truths by_colour[COLOURS][64];     /* and that these cards of a colour are */
static uint32_t spread[64];               /* the values of a colour's cards, four bits each */
static uint8_t part[BETS][2];             /* 5 * value + how many, of up to two values; else 0 */
static uint8_t straight[BETS];            /* its values */

uint64_t rng_next(Rng *rng) {
    uint64_t z = rng->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

int rng_below(Rng *rng, int n) {
    return (int)(((unsigned __int128)rng_next(rng) * (unsigned)n) >> 64);
}

double rng_unit(Rng *rng) { return (double)(rng_next(rng) >> 11) * 0x1p-53; }

Cards rng_hand(Rng *rng, Cards from, int cards) {
    uint8_t place[CARDS];
    int left = 0;
    for (Cards rest = from; rest; rest &= rest - 1) place[left++] = (uint8_t)__builtin_ctz(rest);
    Cards hand = 0;
    while (cards--) {
        int at = rng_below(rng, left);
        hand |= 1u << place[at];
        place[at] = place[--left];
    }
    return hand;
}

static void add(Truths *truth, int bet, bool enough) {
    *(bet < 64 ? &truth->low : &truth->high) |= (uint64_t)enough << (bet & 63);
}

static void know_what_holds(int bet) {
    for (int v = 0; v < VALUES; v++)
        for (int n = 0; n < 5; n++) add(&by_value[v][n], bet, n >= bets[bet].values[v]);
    for (int c = 0; c < COLOURS; c++)
        for (unsigned suit = 0; suit < 64; suit++) {
            bool flush = bets[bet].colour != c || count(suit) >= 5;
            add(&by_colour[c][suit], bet, flush && !(bets[bet].cards >> 6 * c & 63 & ~suit));
        }
}

void blef_begin(const Bet *given) {
    memcpy(bets, given, sizeof bets);
    for (int n = 0; n <= CARDS; n++) {
        ways[n][0] = 1;
        for (int k = 1; k <= n; k++) ways[n][k] = ways[n - 1][k - 1] + (k < n ? ways[n - 1][k] : 0);
    }
    for (int suit = 0; suit < 64; suit++) {
        spread[suit] = 0;
        for (int v = 0; v < VALUES; v++) spread[suit] |= (uint32_t)(suit >> v & 1) << 4 * v;
    }
    for (int b = 0; b < BETS; b++) {
        know_what_holds(b);
        int values = 0;
        for (int v = 0; v < VALUES; v++) {
            if (!bets[b].values[v]) continue;
            part[b][values++ & 1] = (uint8_t)(5 * v + bets[b].values[v]);
            straight[b] |= (uint8_t)(1 << v);
        }
        if (values <= 2) straight[b] = 0;
    }
}

static uint32_t counted(Cards pool) {
    return spread[pool & 63] + spread[pool >> 6 & 63] + spread[pool >> 12 & 63] + spread[pool >> 18];
}

Truths truths(Cards pool) {
    uint32_t counts = counted(pool);
    Truths truth = {UINT64_MAX, UINT64_MAX};
    for (int v = 0; v < VALUES; v++) {
        const Truths *enough = &by_value[v][counts >> 4 * v & 15];
        truth.low &= enough->low, truth.high &= enough->high;
    }
    for (int c = 0; c < COLOURS; c++) {
        const Truths *enough = &by_colour[c][pool >> 6 * c & 63];
        truth.low &= enough->low, truth.high &= enough->high;
    }
    return truth;
}

bool holds(int bet, Cards pool) {
    Truths truth = truths(pool);
    return true_in(&truth, bet);
}

/* --- chances; tables are made when a number of unseen and hidden cards is first asked for --- */

typedef struct {
    bool made;
    double two[25][25]; /* 5 * need + rest of one value, of another; 0 where nothing is needed */
    double straight[VALUES + 1];
    double flush[VALUES + 1];
    double all[VALUES + 1];
} Chances;

static Chances known[CARDS + 1][CARDS + 1];

static double choose(int n, int k) { return k < 0 || k > n || n < 0 ? 0 : ways[n][k]; }

static double of_two(int need, int rest, int need2, int rest2, int unseen, int hidden) {
    double good = 0;
    for (int a = need; a <= rest; a++)
        for (int b = need2; b <= rest2; b++)
            good += choose(rest, a) * choose(rest2, b) * choose(unseen - rest - rest2, hidden - a - b);
    return good / choose(unseen, hidden);
}

/* At least one of four cards each, of so many values. */
static double of_many(int values, int unseen, int hidden) {
    double by_taken[CARDS + 1] = {1}, next[CARDS + 1];
    for (int v = 0; v < values; v++) {
        memset(next, 0, sizeof next);
        for (int taken = 0; taken + 4 <= CARDS; taken++)
            for (int n = 1; n <= 4; n++) next[taken + n] += by_taken[taken] * ways[4][n];
        memcpy(by_taken, next, sizeof next);
    }
    double good = 0;
    for (int taken = 0; taken <= hidden; taken++)
        good += by_taken[taken] * choose(unseen - 4 * values, hidden - taken);
    return good / choose(unseen, hidden);
}

static const Chances *chances_of(int unseen, int hidden) {
    Chances *found = &known[unseen][hidden];
    if (found->made) return found;
    for (int one = 0; one < 25; one++)
        for (int two = 0; two < 25; two++)
            found->two[one][two] =
                one % 5 + two % 5 > unseen
                    ? 0
                    : of_two(one / 5, one % 5, two / 5, two % 5, unseen, hidden);
    for (int n = 0; n <= VALUES; n++) {
        found->straight[n] = 4 * n > unseen ? 0 : of_many(n, unseen, hidden);
        found->flush[n] = of_two(n < 5 ? 5 - n : 0, 6 - n, 0, 0, unseen, hidden);
        found->all[n] = n > hidden ? 0 : choose(unseen - n, hidden - n) / choose(unseen, hidden);
    }
    found->made = true;
    return found;
}

void odds(Cards pool, int hidden, double chances[BETS]) {
    int unseen = CARDS - count(pool);
    const Chances *given = chances_of(unseen, hidden);
    uint32_t counts = counted(pool), absent = 0;
    uint8_t needs[5 * VALUES] = {0};
    for (int v = 0; v < VALUES; v++) {
        int have = counts >> 4 * v & 15;
        absent |= (uint32_t)!have << v;
        for (int n = have + 1; n < 5; n++) needs[5 * v + n] = (uint8_t)(5 * (n - have) + 4 - have);
    }
    for (int b = 0; b < BETS; b++) {
        if (bets[b].cards) chances[b] = given->all[count(bets[b].cards & ~pool)];
        else if (bets[b].colour >= 0)
            chances[b] = given->flush[count(pool >> 6 * bets[b].colour & 63)];
        else if (straight[b]) chances[b] = given->straight[count(straight[b] & absent)];
        else chances[b] = given->two[needs[part[b][0]]][needs[part[b][1]]];
    }
}
