/* A local best response: a player who knows the other's table, and looks a step or two ahead.
 *
 * It believes what the other's bets tell of a sample of hands, and takes the action that is best if
 * it then only checks (depth 1), or bets once more and then checks (depth 2). What it wins against
 * the table is less than a best answer would: a lower bound of what the table lacks (Lisy, Bowling:
 * Equilibrium Approximation Quality of Current No-Limit Poker Bots, 2017).
 */
#include "blef.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 120, WIDE = 26, LOW = 4, DEEP = 6, AGAIN = 6 };

typedef struct {
    Eyes eyes[SAMPLE];
    Truths truth[SAMPLE];
    double weight[SAMPLE];
    double after[SAMPLE][WIDEST]; /* what the other does after the bet looked at */
} Belief;

static double chance_of(const Belief *belief, const double *weight, int bet) {
    double held = 0;
    for (int s = 0; s < SAMPLE; s++)
        if (true_in(&belief->truth[s], bet)) held += weight[s];
    return held;
}

/* The bets above that are likeliest to hold, and some of the lowest. */
static int worth_a_look(const Belief *belief, const double *weight, int last, int most, int low,
                        uint8_t *found) {
    double chance[BETS];
    int number = 0;
    for (int b = last + 1; b < BETS; b++) {
        chance[b] = chance_of(belief, weight, b);
        if (b - last <= low) {
            found[number++] = (uint8_t)b;
            chance[b] = -1;
        }
    }
    while (number < most) {
        int best = last;
        for (int b = last + 1; b < BETS; b++)
            if (chance[b] > 0 && (best == last || chance[b] >= chance[best])) best = b;
        if (best == last) break;
        found[number++] = (uint8_t)best;
        chance[best] = -1;
    }
    return number;
}

/* What a bet wins if we only check after it, out of the weights' sum. */
static double bet_once(Belief *belief, const Table *table, const double *weight, int last, int bet,
                       double raised[BETS]) {
    double won = 0;
    if (raised) memset(raised, 0, sizeof(double) * BETS);
    for (int s = 0; s < SAMPLE; s++) {
        if (weight[s] <= 0) continue;
        double *play = belief->after[s];
        table_play(table, &belief->eyes[s], last, bet, play);
        if (true_in(&belief->truth[s], bet)) won += weight[s] * play[CHECK];
        for (int b = bet + 1; b < BETS; b++) {
            if (play[b] <= 0) continue;
            if (raised) raised[b] += weight[s] * play[b];
            if (!true_in(&belief->truth[s], b)) won += weight[s] * play[b];
        }
    }
    return won;
}

/* The same if after a raise we check or bet once more, whichever is better. */
static double bet_twice(Belief *belief, const Table *table, int last, int bet) {
    static _Thread_local double after[SAMPLE][WIDEST];
    double raised[BETS], won = 0, total = 0;
    bet_once(belief, table, belief->weight, last, bet, raised);
    memcpy(after, belief->after, sizeof after);
    for (int s = 0; s < SAMPLE; s++) {
        total += belief->weight[s];
        if (true_in(&belief->truth[s], bet)) won += belief->weight[s] * after[s][CHECK];
    }
    for (int raise = bet + 1; raise < BETS; raise++) {
        if (raised[raise] <= 0) continue;
        double weight[SAMPLE], best = 0;
        for (int s = 0; s < SAMPLE; s++) {
            weight[s] = belief->weight[s] * after[s][raise];
            if (!true_in(&belief->truth[s], raise)) best += weight[s];
        }
        if (raised[raise] > 0.01 * total) {
            uint8_t again[BETS];
            int number = worth_a_look(belief, weight, raise, AGAIN, 1, again);
            for (int n = 0; n < number; n++) {
                double one = bet_once(belief, table, weight, raise, again[n], NULL);
                if (one > best) best = one;
            }
        }
        won += best;
    }
    return won;
}

static int respond(Belief *belief, const Table *table, int last, int depth) {
    uint8_t bet[BETS];
    double worth[BETS], best = -1;
    int action = CHECK, number = worth_a_look(belief, belief->weight, last, WIDE, LOW, bet);
    if (last != OPENING) {
        best = 0;
        for (int s = 0; s < SAMPLE; s++)
            if (!true_in(&belief->truth[s], last)) best += belief->weight[s];
    }
    for (int n = 0; n < number; n++) {
        worth[bet[n]] = bet_once(belief, table, belief->weight, last, bet[n], NULL);
        if (depth == 1 && worth[bet[n]] > best) best = worth[bet[n]], action = bet[n];
    }
    for (int looked = 0; depth > 1 && looked < DEEP && looked < number; looked++) {
        int next = looked;
        for (int n = looked; n < number; n++)
            if (worth[bet[n]] > worth[bet[next]]) next = n;
        uint8_t chosen = bet[next];
        bet[next] = bet[looked], bet[looked] = chosen;
        double won = bet_twice(belief, table, last, chosen);
        if (won > best) best = won, action = chosen;
    }
    return action;
}

/* What the other's bet says of its hand; nothing where no sampled hand bets so. */
static void believe(Belief *belief, const Table *table, int before, int last, int bet) {
    double weight[SAMPLE], total = 0, play[WIDEST];
    for (int s = 0; s < SAMPLE; s++) {
        table_play(table, &belief->eyes[s], before, last, play);
        total += weight[s] = belief->weight[s] * play[bet];
    }
    if (total > 0) memcpy(belief->weight, weight, sizeof weight);
}

/* So many rounds against a table, in a role; how many are won. Negative: no memory. */
int64_t local_best_response(const Table *table, int role, int depth, uint64_t seed, int64_t rounds) {
    const Setup *setup = table->setup;
    const Cards all = (1u << CARDS) - 1;
    Belief *belief = malloc(sizeof *belief);
    if (!belief) return -1;
    Rng rng = {seed};
    int64_t won = 0;
    for (int64_t n = 0; n < rounds; n++) {
        Cards own = rng_hand(&rng, all, setup->cards[role]);
        Cards other = rng_hand(&rng, all & ~own, setup->cards[1 - role]);
        Eyes eyes;
        look(setup, 1 - role, other, &eyes);
        for (int s = 0; s < SAMPLE; s++) {
            Cards hand = rng_hand(&rng, all & ~own, setup->cards[1 - role]);
            look(setup, 1 - role, hand, &belief->eyes[s]);
            belief->truth[s] = truths(own | hand);
            belief->weight[s] = 1;
        }
        int before = OPENING, last = OPENING, mover = 0;
        for (;; mover = 1 - mover) {
            int action;
            if (mover == role) {
                action = respond(belief, table, last, depth);
            } else {
                double play[WIDEST];
                table_play(table, &eyes, before, last, play);
                action = picked(play, &rng);
                if (action != CHECK) believe(belief, table, before, last, action);
            }
            if (action == CHECK) break;
            before = last;
            last = action;
        }
        bool bettor_wins = holds(last, own | other);
        won += (mover == role) != bettor_wins;
    }
    free(belief);
    return won;
}
