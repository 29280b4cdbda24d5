/* `bayes` as strategies/bayes.py, worlds.py and minds.py have it; only its dice fall otherwise.
 *
 * As there, the dice are seeded by what it sees: the same position, the same decision.
 */
#include "reading.h"

#include <math.h>
#include <string.h>

enum { DRAWS = 240, DEEP = 8, ANSWERS = 6, NONE = -1, MINDS = 8192 };

const double WEIGHT[HABITS] = {0.5, 0.3, 0.2};
static const double DOUBT[HABITS] = {-1, 0.2, 0.4};
static const double DARE = 0.5, SLIP = 0.1, SPREAD_OF = 0.12, SURPRISE = 0.1;

/* How plausible a bet of that chance looks, beside all others. */
static double plausible(double chance) {
    static _Thread_local struct {
        double chance, found; /* not found yet: 0 */
    } known[1024];
    uint64_t bits;
    memcpy(&bits, &chance, sizeof bits);
    size_t at = bits * 0x9E3779B97F4A7C15u >> 54;
    if (known[at].chance != chance || known[at].found == 0) {
        known[at].chance = chance;
        known[at].found = exp((chance - 1) / SPREAD_OF);
    }
    return known[at].found;
}

void mind_of(Cards hand, int hidden, Mind *mind) {
    double *chances = mind->chances, top = -1, total = 0;
    int best = CHECK;
    odds(hand, hidden, chances);
    mind->bold = NONE;
    for (int b = BETS - 1; b >= 0; b--) {
        mind->careful[b] = (uint8_t)(1 - chances[b] < top ? best : CHECK);
        if (chances[b] > top) best = b, top = chances[b];
        if (mind->bold == NONE && chances[b] >= DARE) mind->bold = (int8_t)b;
        mind->above[b] = total;
        total += plausible(chances[b]);
    }
    mind->careful[BETS] = (uint8_t)best;
    mind->above[BETS] = total;
    see_traits(mind);
}

/* What a habit says to the last bet; BETS where there is none. */
int reply(const Mind *mind, int habit, int last) {
    if (habit == 0) return mind->careful[last];
    if (last == BETS) return mind->bold == NONE ? mind->careful[BETS] : mind->bold;
    if (mind->chances[last] < DOUBT[habit]) return CHECK;
    return last < mind->bold ? mind->bold : mind->careful[last];
}

/* How likely it makes a bet that was made. */
double explains(const Mind *mind, int habit, int last, int bet) {
    return SLIP * plausible(mind->chances[bet]) / mind->above[last] +
           (1 - SLIP) * (reply(mind, habit, last) == bet);
}

double foretold_by(const Mind *mind, int habit, int last, int action) {
    if (action != CHECK) return explains(mind, habit, last, action);
    return reply(mind, habit, last) == CHECK ? 1 - SLIP : SLIP / 2;
}

/* A mind, from the last ones made where it is among them. */
static const Mind *remembered(Cards hand, int hidden) {
    static _Thread_local struct {
        Cards hand;
        int hidden;
        Mind mind;
    } minds[MINDS];
    int at = (int)((hand * 2654435761u + (unsigned)hidden) >> 19);
    if (minds[at].hand != hand || minds[at].hidden != hidden) {
        minds[at].hand = hand, minds[at].hidden = hidden;
        mind_of(hand, hidden, &minds[at].mind);
    }
    return &minds[at].mind;
}

/* A hand of the other player, and its habit. */
typedef struct {
    Cards hand;
    int habit;
} Other;

/* One as its bets make it likely; the weight of both. */
static double draw(const View *view, Rng *rng, Other *other) {
    int role = view->role;
    const Cards unseen = ((1u << CARDS) - 1) & ~view->hand;
    other->hand = rng_hand(rng, unseen, view->cards[1 - role]);
    const Mind *mind = remembered(other->hand, view->cards[role]);
    const Reading *read = view->reading[role];
    const double *weights = read ? read->weights : WEIGHT;
    const int models = read ? MODELS : HABITS;
    double scores[MODELS], total = 0;
    for (int habit = 0; habit < models; habit++) {
        double score = weights[habit];
        for (int n = 1 - role; n < view->said; n += 2)
            score *= habit < HABITS
                ? explains(mind, habit, n ? view->bet[n - 1] : BETS, view->bet[n])
                : foretold(read, mind, n ? view->bet[n - 1] : OPENING, view->bet[n]);
        total += scores[habit] = score;
    }
    double at = rng_unit(rng) * total;
    other->habit = 0;
    while (other->habit < models - 1 && (at -= scores[other->habit]) >= 0) other->habit++;
    return total;
}

static void imagine(const View *view, const Other *other, Rng *rng, World *world) {
    const Mind *mind = remembered(other->hand, view->cards[view->role]);
    world->truth = truths(view->hand | other->hand);
    if (other->habit == HABITS) draw_replies(view->reading[view->role], mind, rng, world->replies);
    else
        for (int b = 0; b < BETS; b++) world->replies[b] = (uint8_t)reply(mind, other->habit, b);
}

int draw_worlds(const View *view, Rng *rng, World kept[KEPT]) {
    bool told = view->role == 0 ? view->said > 1 : view->said > 0;
    Other drawn[DRAWS];
    int number = 0;
    if (!told) {
        for (; number < KEPT; number++) {
            draw(view, rng, &drawn[0]);
            imagine(view, &drawn[0], rng, &kept[number]);
        }
        return number;
    }
    double weights[DRAWS], total = 0, gone = 0;
    for (int n = 0; n < DRAWS; n++) total += weights[n] = draw(view, rng, &drawn[n]);
    double step = total / KEPT, mark = rng_unit(rng) * step;
    for (int n = 0; n < DRAWS; n++) {
        gone += weights[n];
        for (; mark < gone && number < KEPT; mark += step) imagine(view, &drawn[n], rng, &kept[number++]);
    }
    return number;
}

typedef struct {
    const World *worlds;
    int number;
    double chances[BETS];
    uint8_t likely[BETS]; /* bets that hold somewhere, likeliest first */
    int likelies;
} Foresight;

static double within(const Foresight *seen, int bet, const uint8_t *some, int number, bool deep);

static double answer(const Foresight *seen, int last, const uint8_t *some, int number, bool deep) {
    double best = 0;
    for (int n = 0; n < number; n++) best += !true_in(&seen->worlds[some[n]].truth, last);
    if (!deep) return best;
    for (int n = 0, tried = 0; n < seen->likelies && tried < ANSWERS; n++) {
        if (seen->likely[n] <= last) continue;
        double raised = within(seen, seen->likely[n], some, number, false);
        if (raised > best) best = raised;
        tried++;
    }
    return best;
}

/* In how many of these worlds we do not lose the round with a bet. */
static double within(const Foresight *seen, int bet, const uint8_t *some, int number, bool deep) {
    double won = 0;
    uint8_t left[KEPT], group[KEPT];
    int waiting = 0;
    for (int n = 0; n < number; n++) {
        const World *world = &seen->worlds[some[n]];
        if (world->replies[bet] == CHECK) won += true_in(&world->truth, bet);
        else left[waiting++] = some[n];
    }
    while (waiting) {
        int reply = seen->worlds[left[0]].replies[bet], grouped = 0, rest = 0;
        for (int n = 0; n < waiting; n++) {
            if (seen->worlds[left[n]].replies[bet] == reply) group[grouped++] = left[n];
            else left[rest++] = left[n];
        }
        waiting = rest;
        won += answer(seen, reply, group, grouped, deep);
    }
    return won;
}

/* The highest value first; of equals, who was first stays first. */
static void sort(uint8_t *some, int number, const double *values) {
    for (int n = 1; n < number; n++) {
        uint8_t moved = some[n];
        int at = n;
        for (; at && values[some[at - 1]] < values[moved]; at--) some[at] = some[at - 1];
        some[at] = moved;
    }
}

int decide_in(const View *view, const World *worlds, int drawn) {
    Foresight seen = {.worlds = worlds, .number = drawn};
    int last = last_of(view), number = 0;
    if (last == BETS - 1) return CHECK;
    uint8_t all[KEPT], bet[BETS];
    for (int n = 0; n < drawn; n++) all[n] = (uint8_t)n;
    for (int b = 0; b < BETS; b++) {
        int held = 0;
        for (int n = 0; n < drawn; n++) held += true_in(&worlds[n].truth, b);
        seen.chances[b] = (double)held / drawn;
        if (held) seen.likely[seen.likelies++] = (uint8_t)b;
        if (held && b > last) bet[number++] = (uint8_t)b;
    }
    if (!number) bet[number++] = (uint8_t)(last + 1);
    sort(seen.likely, seen.likelies, seen.chances);
    double worth[BETS];
    for (int pass = 0; pass < 2; pass++) {
        for (int n = 0; n < number; n++)
            worth[bet[n]] = (1 - SURPRISE) * (within(&seen, bet[n], all, drawn, pass == 1) / drawn) +
                            SURPRISE * seen.chances[bet[n]];
        sort(bet, number, worth);
        if (number > DEEP) number = DEEP;
    }
    if (last != OPENING && 1 - seen.chances[last] > worth[bet[0]]) return CHECK;
    return bet[0];
}

int decide_bayes(const View *view) {
    World worlds[KEPT];
    Rng dice = {key_of(view)};
    int number = draw_worlds(view, &dice, worlds);
    return decide_in(view, worlds, number);
}
