/* Learning large rounds: what each choice wins, against a player who chooses by what it has learned.
 *
 * For a deal that is fixed, what comes after a bet depends on the bet, its bond to the bet before,
 * and who is to move. So all that may be said is looked through at once: first how likely it is
 * said, then backwards what it wins. A choice is made in proportion to exp(value / temperature).
 */
#include "large.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number for each bond. */
typedef float Four __attribute__((vector_size(16), aligned(16)));

/* What a choice won, times how often it was looked at; and how often. */
typedef struct {
    Four won, often;
} Cell;

/* One player's values and the weights that follow from them. */
typedef struct {
    Cell bet[ROWS][SPAN], check[ROWS][CLASSES];
    struct {
        Four bet[ROWS][SPAN], check[ROWS][CLASSES];
    } weights;
} Side;

typedef struct {
    int32_t cards[2];
    Side *sides[2]; /* the same one twice where both hold as many cards */
    double explore; /* how much of the learner's own way is chance */
    double tremble; /* how much of the other's is */
    double habits;  /* how often the other plays a habit of opponent_types.py instead */
} Lesson;

/* Of a deal, by learner, mover and last bet (one after the last one: none), a number for each bond. */
typedef struct {
    Four ways[2][2][ROWS];  /* how likely the other comes here, where the learner explores */
    Four worth[2][2][ROWS]; /* what the learner wins */
    Four plays[2][ROWS][BETS + 1];
} Work;

/* A player of a deal: its cards, and the habit that it has, or -1. */
typedef struct {
    Look look;
    Mind mind;
    int habit;
} Seat;

static int16_t child[ROWS][BETS]; /* where a bet leads: the bet and its bond to the last one */

static const double PRIOR = 0.3, FEW = 1e-3; /* a value of which nothing is known, and its weight */
static const double FAITH = 1;               /* the weight of the mean over the bonds */
static const double WARM = 0.1;              /* the temperature of the first step */

static float sum(Four v) { return (v[0] + v[2]) + (v[1] + v[3]); }

static void sit(Seat *seat, const Lesson *lesson, int side, Cards hand, Rng *rng) {
    int hidden = lesson->cards[1 - side];
    look_large(hand, hidden, &seat->look);
    seat->habit = rng_unit(rng) < lesson->habits ? rng_below(rng, HABITS) : -1;
    if (seat->habit >= 0) mind_of(hand, hidden, &seat->mind);
}

static int reply_of(const Seat *seat, int last) {
    return seat->habit < 0 ? -1 : reply(&seat->mind, seat->habit, last == OPENING ? BETS : last);
}

FAST static void go_on(const Lesson *lesson, Work *work, const Seat *seat, int side, int last) {
    const Side *own = lesson->sides[side];
    int row = last + 1, at = last == OPENING ? BETS : last, habit = reply_of(seat, last);
    const int16_t *cell = seat->look.cell[row];
    Four *restrict play = work->plays[side][at], zero = {0}, total = zero;
    play[BETS] = last == OPENING ? zero : own->weights.check[row][seat->look.class[last]];
    total = play[BETS];
    for (int b = last + 1; b < BETS; b++) total += play[b] = own->weights.bet[row][cell[b]];
    Four part = 1.0f / (total + 1e-35f);
    play[BETS] *= part;
    float seeks = (float)lesson->explore, slips = (float)lesson->tremble;
    float even = last + 1 < BETS ? 1.0f / (float)(BETS - last - 1) : 0;
    Four mine = work->ways[side][side][at], others = work->ways[1 - side][side][at];
    float sought = sum(mine) * seeks * even, slipped = sum(others) * slips * even;
    float meant = sum(others) * (1 - slips);
    mine *= 1 - seeks, others *= habit < 0 ? 1 - slips : 0;
    float *restrict next = (float *)work->ways[side][1 - side];
    float *restrict theirs = (float *)work->ways[1 - side][1 - side];
    for (int b = last + 1; b < BETS; b++) {
        play[b] *= part;
        next[child[row][b]] += sum(mine * play[b]) + sought;
        theirs[child[row][b]] += sum(others * play[b]) + slipped;
    }
    if (habit >= 0 && habit != CHECK) theirs[child[row][habit]] += meant;
}

FAST static void learn(Lesson *lesson, Work *work, const Seat *seat, int side, int last, bool holds) {
    Side *own = lesson->sides[side];
    int row = last + 1, at = last == OPENING ? BETS : last, habit = reply_of(seat, last);
    const int16_t *cell = seat->look.cell[row];
    const Four *play = work->plays[side][at];
    const float *next = (float *)work->worth[side][1 - side];
    const float *theirs = (float *)work->worth[1 - side][1 - side];
    Four often = work->ways[side][side][at], worth = {0}, others = {0};
    float any = 0;
    if (last != OPENING) {
        Cell *check = &own->check[row][seat->look.class[last]];
        check->won += often * (holds ? 0.0f : 1.0f), check->often += often;
        worth = play[BETS] * (holds ? 0.0f : 1.0f), others = play[BETS] * (holds ? 1.0f : 0.0f);
        any = holds;
    }
    for (int b = last + 1; b < BETS; b++) {
        float won = next[child[row][b]], lost = theirs[child[row][b]];
        worth += play[b] * won, others += play[b] * lost, any += lost;
        Cell *bet = &own->bet[row][cell[b]];
        bet->won += often * won, bet->often += often;
    }
    if (habit >= 0) {
        float meant = habit == CHECK ? (holds ? 1.0f : 0.0f) : theirs[child[row][habit]];
        others = (Four){meant, meant, meant, meant};
    }
    float slips = (float)lesson->tremble, even = 1.0f / (float)(BETS - row + (last != OPENING));
    work->worth[side][side][at] = worth;
    work->worth[1 - side][side][at] = others * (1 - slips) + any * slips * even;
}

static void learn_deal(Lesson *lesson, Work *work, Seat seats[2], Rng *rng) {
    const Cards all = (1u << CARDS) - 1;
    Cards first = rng_hand(rng, all, lesson->cards[0]);
    Cards second = rng_hand(rng, all & ~first, lesson->cards[1]);
    Truths truth = truths(first | second);
    int begins = rng_below(rng, 2);
    sit(&seats[0], lesson, 0, first, rng);
    sit(&seats[1], lesson, 1, second, rng);
    memset(work->ways, 0, sizeof work->ways);
    work->ways[0][begins][BETS] = work->ways[1][begins][BETS] = (Four){1};
    go_on(lesson, work, &seats[begins], begins, OPENING);
    for (int last = 0; last < BETS; last++)
        for (int side = 0; side < 2; side++) go_on(lesson, work, &seats[side], side, last);
    for (int last = BETS - 1; last >= 0; last--)
        for (int side = 0; side < 2; side++)
            learn(lesson, work, &seats[side], side, last, true_in(&truth, last));
    learn(lesson, work, &seats[begins], begins, OPENING, false);
}

/* The values of a cell by bond, each leaning on their mean, and that on `given`. */
static void values_of(const Cell *cell, double given, double value[BONDS]) {
    double mean = ((double)sum(cell->won) + FAITH * given) / ((double)sum(cell->often) + FAITH);
    for (int with = 0; with < BONDS; with++)
        value[with] = ((double)cell->won[with] + FAITH * mean) / ((double)cell->often[with] + FAITH);
}

/* What each bet of each kind wins, over all last bets. */
static void over_all(const Side *side, double value[SPAN]) {
    static _Thread_local double often[SPAN];
    for (int at = 0; at < SPAN; at++) value[at] = PRIOR * FEW, often[at] = FEW;
    for (int row = 0; row < ROWS; row++)
        for (int at = row * KINDS; at < SPAN; at++) {
            value[at] += (double)sum(side->bet[row][at].won);
            often[at] += (double)sum(side->bet[row][at].often);
        }
    for (int at = 0; at < SPAN; at++) value[at] /= often[at];
}

/* The weights that follow from what was learned. */
FAST static void settle(Side *side, double temperature) {
    double given[SPAN], value[BONDS];
    over_all(side, given);
    for (int row = 0; row < ROWS; row++) {
        for (int at = 0; at < CLASSES; at++) {
            values_of(&side->check[row][at], PRIOR, value);
            for (int with = 0; with < BONDS; with++)
                side->weights.check[row][at][with] = expf((float)((value[with] - 0.6) / temperature));
        }
        for (int at = row * KINDS; at < SPAN; at++) {
            values_of(&side->bet[row][at], given[at], value);
            for (int with = 0; with < BONDS; with++)
                side->weights.bet[row][at][with] = expf((float)((value[with] - 0.6) / temperature));
        }
    }
}

/* Let what was learned earlier count less. */
static void fade(Side *side, float by) {
    Cell *cells[] = {side->bet[0], side->check[0]};
    const size_t number[] = {sizeof side->bet / sizeof(Cell), sizeof side->check / sizeof(Cell)};
    for (int part = 0; part < 2; part++)
        for (size_t at = 0; at < number[part]; at++)
            cells[part][at].won *= by, cells[part][at].often *= by;
}

static uint8_t in_parts(double value) {
    return (uint8_t)(1 + lround((value < 0 ? 0 : value > 1 ? 1 : value) * PARTS));
}

/* What was learned, as large.h has it; a kind that never came up is 0. */
static void keep(const Side *side, uint8_t *kept) {
    double given[SPAN], value[BONDS];
    over_all(side, given);
    for (int row = 0; row < ROWS; row++)
        for (int at = 0; at < CLASSES + SPAN; at++) {
            if (at >= CLASSES && at < CLASSES + row * KINDS) continue;
            const Cell *cell =
                at < CLASSES ? &side->check[row][at] : &side->bet[row][at - CLASSES];
            values_of(cell, at < CLASSES ? PRIOR : given[at - CLASSES], value);
            for (int with = 0; with < BONDS; with++)
                *kept++ = sum(cell->often) > 0 ? in_parts(value[with]) : 0;
        }
}

/* As what is known grows it falls; for the last fifth of the steps it is that of play. */
static double temperature_at(int step, int steps) {
    double part = 1.25 * step / steps;
    return WARM * pow(TEMPERATURE / WARM, part < 1 ? part : 1);
}

/* Learn a round of so many cards each in so many steps; what was learned of the side with `cards`
 * cards and of the one with `other`. False where there is no memory. */
bool learn_large(int cards, int other, int steps, int deals, uint64_t seed, uint8_t *kept,
                 uint8_t *kept_too) {
    size_t size = (sizeof(Side) + 63) / 64 * 64, space = (sizeof(Work) + 63) / 64 * 64;
    Side *one = aligned_alloc(64, size), *two = cards == other ? one : aligned_alloc(64, size);
    Work *work = aligned_alloc(64, space);
    Seat *seats = malloc(2 * sizeof *seats);
    bool able = one && two && work && seats;
    if (able) {
        memset(one, 0, size), memset(two, 0, size), memset(work, 0, space);
        for (int row = 0; row < ROWS; row++)
            for (int b = row; b < BETS; b++)
                child[row][b] = (int16_t)(b * BONDS + bond[row][b]);
        Lesson lesson = {{cards, other}, {one, two}, 0.3, 0.03, 0.15};
        Rng rng = {seed};
        for (int step = 0; step < steps; step++) {
            double now = temperature_at(step, steps), by = (step + 1.0) / (step + 2.0);
            settle(one, now);
            if (two != one) settle(two, now);
            fade(one, (float)(by * by));
            if (two != one) fade(two, (float)(by * by));
            for (int n = 0; n < deals; n++) learn_deal(&lesson, work, seats, &rng);
        }
        keep(one, kept);
        keep(two, kept_too);
    }
    if (two != one) free(two);
    free(one), free(work), free(seats);
    return able;
}
