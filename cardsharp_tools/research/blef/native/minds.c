/* What players would bet who look at their own cards: the habits of strategies/opponent_types.py. */
#include "blef.h"

enum { NONE = -1 };

const double WEIGHT[HABITS] = {0.5, 0.3, 0.2};
static const double DOUBT[HABITS] = {-1, 0.2, 0.4};
static const double DARE = 0.5;

void mind_of(Cards hand, int hidden, Mind *mind) {
    double *chances = mind->chances, top = -1;
    int best = CHECK;
    odds(hand, hidden, chances);
    mind->bold = NONE;
    for (int b = BETS - 1; b >= 0; b--) {
        mind->careful[b] = (uint8_t)(1 - chances[b] < top ? best : CHECK);
        if (chances[b] > top) best = b, top = chances[b];
        if (mind->bold == NONE && chances[b] >= DARE) mind->bold = (int8_t)b;
    }
    mind->careful[BETS] = (uint8_t)best;
}

/* What a habit says to the last bet; BETS where there is none. */
int reply(const Mind *mind, int habit, int last) {
    if (habit == 0) return mind->careful[last];
    if (last == BETS) return mind->bold == NONE ? mind->careful[BETS] : mind->bold;
    if (mind->chances[last] < DOUBT[habit]) return CHECK;
    return last < mind->bold ? mind->bold : mind->careful[last];
}
