/* Opponents of whose minds no player of ours has a list: the twin of research/blef/strangers.py. */
#include "strangers.h"

#include <math.h>
#include <string.h>

enum { MIDDLE = 9, SPREAD = 6, EIGHT = 8 };
enum { HONEST, BOLD, SAFE, DOUBTER, MINIMAL, BELIEVER, LIAR, BLUFFER, MIXER, COIN, CHANGER, TURNCOAT, RESTLESS, STUBBORN };

typedef struct {
    const View *view;
    int last;
    double chances[BETS];
} Seen;

static int held(Cards hand, int value) { return count(hand & 0x41041u << value); }

static bool doubts(const Seen *seen, double check) {
    return seen->last != OPENING && seen->chances[seen->last] < check;
}

/* The lowest bet that is likely enough, else the likeliest. */
static int lowest(const Seen *seen, double check, double bet) {
    if (doubts(seen, check)) return CHECK;
    for (int b = seen->last + 1; b < BETS; b++)
        if (seen->chances[b] >= bet) return b;
    return greedy(seen->chances, seen->last);
}

static int highest(const Seen *seen, double check, double bet) {
    if (doubts(seen, check)) return CHECK;
    for (int b = BETS - 1; b > seen->last; b--)
        if (seen->chances[b] >= bet) return b;
    return greedy(seen->chances, seen->last);
}

static int minimal(const Seen *seen) { return doubts(seen, 0.25) ? CHECK : seen->last + 1; }

/* Takes the last bet for true: the other holds what of it is not in its own hand. */
static int believer(const Seen *seen) {
    const View *view = seen->view;
    int hidden = view->cards[1 - view->role];
    Cards pool = view->hand;
    if (seen->last == OPENING) return lowest(seen, 0, 0.5);
    const Bet *said = &bets[seen->last];
    for (int v = 0; v < VALUES; v++)
        for (int c = 0; c < COLOURS && held(pool, v) < said->values[v]; c++)
            pool |= 1u << (VALUES * c + v);
    pool |= said->cards;
    int more = count(pool & ~view->hand);
    if (more > hidden) return CHECK;
    Seen believed = {view, seen->last, {0}};
    odds(pool, hidden - more, believed.chances);
    return lowest(&believed, 0, 0.5);
}

/* Bets on values that it does not hold. */
static int liar(const Seen *seen) {
    int best = -1;
    if (doubts(seen, 0.3)) return CHECK;
    for (int b = seen->last + 1; b < BETS; b++) {
        bool lie = !bets[b].cards && bets[b].colour < 0;
        for (int v = 0; v < VALUES; v++) lie &= !bets[b].values[v] || !held(seen->view->hand, v);
        if (lie && (best < 0 || seen->chances[b] > seen->chances[best])) best = b;
    }
    return best < 0 ? lowest(seen, 0, 0.5) : best;
}

/* Its first bet of a round is a bluff. */
static int bluffer(const Seen *seen, Rng *rng) {
    if (seen->view->said > 1) return lowest(seen, 0.25, 0.5);
    int from = lowest(seen, 0.1, 0.5);
    if (from == CHECK) return CHECK;
    int to = from + SPREAD < BETS ? from + SPREAD : BETS;
    return from + rng_below(rng, to - from);
}

static int mixer(const Seen *seen, Rng *rng) {
    double play[WIDEST] = {0}, total = 0;
    for (int b = seen->last + 1; b < BETS; b++) total += play[b] = exp((seen->chances[b] - 1) / 0.15);
    if (seen->last != OPENING) total += play[CHECK] = exp(-seen->chances[seen->last] / 0.15);
    for (int action = 0; action <= CHECK; action++) play[action] /= total;
    return picked(play, rng);
}

static int coin(const Seen *seen, Rng *rng) {
    if (doubts(seen, 0.2)) return CHECK;
    if (rng_below(rng, 2)) return highest(seen, 0.2, 0.4);
    int left = BETS - 1 - seen->last;
    return left ? seen->last + 1 + rng_below(rng, left < EIGHT ? left : EIGHT) : CHECK;
}

/* Raises on the value of which it holds most. */
static int stubborn(const Seen *seen) {
    int own = 0;
    for (int v = 1; v < VALUES; v++)
        if (held(seen->view->hand, v) >= held(seen->view->hand, own)) own = v;
    for (int b = seen->last + 1; b < BETS; b++)
        if (bets[b].values[own] && seen->chances[b] >= 0.3) return b;
    return greedy(seen->chances, seen->last);
}

int decide_stranger(int number, const View *view, Rng *rng) {
    Seen seen = {view, last_of(view), {0}};
    int all = view->cards[0] + view->cards[1];
    if (seen.last == BETS - 1) return CHECK;
    odds(view->hand, view->cards[1 - view->role], seen.chances);
    switch (number) {
        case HONEST: return lowest(&seen, 0.2, 0.6);
        case BOLD: return lowest(&seen, 0.2, 0.4);
        case SAFE: return lowest(&seen, 0.5, 1);
        case DOUBTER: return lowest(&seen, 0.55, 0.5);
        case MINIMAL: return minimal(&seen);
        case BELIEVER: return believer(&seen);
        case LIAR: return liar(&seen);
        case BLUFFER: return bluffer(&seen, rng);
        case MIXER: return mixer(&seen, rng);
        case COIN: return coin(&seen, rng);
        case CHANGER: return all < MIDDLE ? lowest(&seen, 0.2, 0.6) : liar(&seen);
        case TURNCOAT: return all < MIDDLE ? liar(&seen) : lowest(&seen, 0.3, 0.5);
        case RESTLESS: return all / 3 % 2 ? minimal(&seen) : highest(&seen, 0.2, 0.4);
        default: return stubborn(&seen);
    }
}
