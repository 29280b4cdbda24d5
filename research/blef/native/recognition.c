/* Who plays by a habit, read from the rounds before: strategies/recognition.py. */
#include "recognition.h"

static const double AGREES = 0.8 / 0.5, DIFFERS = 0.2 / 0.5, ENOUGH = 10;

const Shown NOTHING = {{1, 1, 1}};

void read_round(Shown *shown, const View *over, int role, Cards hand) {
    Mind mind;
    mind_of(hand, over->cards[1 - role], &mind);
    for (int n = role; n <= over->said; n += 2) {
        int last = n ? over->bet[n - 1] : BETS, action = n < over->said ? over->bet[n] : CHECK;
        for (int habit = 0; habit < HABITS; habit++)
            shown->likelier[habit] *= reply(&mind, habit, last) == action ? AGREES : DIFFERS;
    }
}

bool weigh_habits(const Shown *shown, double weights[HABITS]) {
    double total = 0, most = 0;
    for (int habit = 0; habit < HABITS; habit++) {
        total += WEIGHT[habit] * shown->likelier[habit];
        if (shown->likelier[habit] > most) most = shown->likelier[habit];
    }
    if (most < ENOUGH) return false;
    for (int habit = 0; habit < HABITS; habit++)
        weights[habit] = WEIGHT[habit] * (1 + shown->likelier[habit] / total) / 2;
    return true;
}
