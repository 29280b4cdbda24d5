/* Many matches side by side for a learner: the twin of `PythonStepper` of environments/vector_env.py.
 *
 * A lane deals the matches `lane`, `lane + lanes`, `lane + 2 * lanes`, ... of a seed, with the dice of
 * cardsharp_tools/lab/rng.py. A game's lanes.c includes this and defines `struct State`, the functions
 * that are declared here, and at its end `LANES(observed, actions)` with the sizes of its rows.
 */
#ifndef CARDSHARP_LANES_H
#define CARDSHARP_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct State State;

/* --- what a game defines; numbers of actions and observations are those of its encoding.py --- */

static void begin(State *state, int seats, uint64_t seed, uint64_t number);
static bool may(const State *state, int64_t action); /* of 0 .. actions - 1 */
static void act(State *state, int64_t action);
static bool is_over(const State *state);
static double reward(const State *state, int seat); /* of a match that is over */
static int to_act(const State *state);              /* the seat, in a match that is not over */
/* Writes what the player to act observes, behind whether it waits, into rows of zeros. */
static void look(const State *state, float *row, int8_t *mask);

/* --- dice: SplitMix64 as Python's `Random` rolls it --- */

typedef struct { uint64_t state; } Dice;
enum { DICE_OF_DECK, DICE_OF_CHANCE, DICE_OF_PLAYERS }; /* their purpose; a seat is added */

static inline uint64_t dice_roll(Dice *dice) {
    uint64_t z = dice->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline Dice dice_for(uint64_t seed, uint64_t number, uint64_t purpose) {
    Dice dice = {seed};
    dice.state = dice_roll(&dice) + number;
    dice.state = dice_roll(&dice) + purpose;
    dice.state = dice_roll(&dice);
    return dice;
}

/* `randrange(n)` of PairDice. */
static inline int dice_range(Dice *dice, int n) {
    return (int)(((unsigned __int128)dice_roll(dice) * (unsigned)n) >> 64);
}

/* `_randbelow(n)` of Random, which `sample` and `shuffle` ask: the bits of n, until they fit. */
static inline int dice_below(Dice *dice, int n) {
    int bits = 32 - __builtin_clz((unsigned)n), found;
    do found = (int)(dice_roll(dice) >> (64 - bits));
    while (found >= n);
    return found;
}

/* --- opponents, of a game that defines LANES_OPPONENTS before it includes this --- */

enum { MOST_SEATS = 8 };

#ifdef LANES_OPPONENTS
/* Does what an opponent decides, who is to act; the dice are the opponent's. */
static void let_act(State *state, const void *opponent, Dice *dice);
#else
/* Never called: cardsharp_tools/research/native_engines.py gives no opponents to such a game. */
static void let_act(State *state, const void *opponent, Dice *dice) {
    (void)state, (void)opponent, (void)dice;
    abort();
}
#endif

/* --- lanes --- */

/* Where the rows go, one a lane: arrays of the caller's. The last two are of a match that ended:
 * what the learner saw at its last action, as somebody who waits, and its seat. */
typedef struct {
    float *observations;
    int8_t *masks;
    int64_t *to_act;
    double *rewards; /* by lane and seat */
    bool *ended;
    float *final_observations;
    int64_t *final_seats;
} Rows;

typedef struct {
    int64_t lanes;
    int64_t seats;
    uint64_t seed;
    const void *opponents[MOST_SEATS]; /* by seat, NULL where the learner is to act */
} Run;

/* `lanes_size` is of a lane's memory, which is the caller's and holds no pointer. `lanes_deal` begins
 * the first match of each. `lanes_play` does an action in each, lets opponents act until the learner
 * is to, and begins the next match where one has ended; -1, or the first lane whose action the rules
 * refuse, where nothing was done. Before it rewards and ends are 0. A match in which the learner is
 * never to act is left out. */
#define LANES(observed, actions)                                                                \
    typedef struct {                                                                            \
        State state;                                                                            \
        uint64_t number;                                                                        \
        Dice dice[MOST_SEATS]; /* the opponents' */                                             \
    } Lane;                                                                                     \
                                                                                                \
    int64_t lanes_size(void) { return sizeof(Lane); }                                           \
                                                                                                \
    static void show(const Lane *lane, int64_t at, Rows *rows) {                                \
        float *row = rows->observations + at * (observed);                                      \
        int8_t *mask = rows->masks + at * (actions);                                            \
        memset(row, 0, (observed) * sizeof *row);                                               \
        memset(mask, 0, (actions) * sizeof *mask);                                              \
        look(&lane->state, row, mask);                                                          \
        rows->to_act[at] = to_act(&lane->state);                                                \
    }                                                                                           \
                                                                                                \
    static void show_end(const State *before, int64_t at, Rows *rows) {                         \
        float *row = rows->final_observations + at * (observed);                                \
        int8_t mask[actions] = {0};                                                             \
        memset(row, 0, (observed) * sizeof *row);                                               \
        look(before, row, mask);                                                                \
        row[0] = 1;                                                                             \
        rows->final_seats[at] = to_act(before);                                                 \
    }                                                                                           \
                                                                                                \
    static void go_on(Lane *lane, const Run *run) {                                             \
        while (!is_over(&lane->state)) {                                                        \
            int seat = to_act(&lane->state);                                                    \
            if (!run->opponents[seat]) return;                                                  \
            let_act(&lane->state, run->opponents[seat], &lane->dice[seat]);                       \
        }                                                                                       \
    }                                                                                           \
                                                                                                \
    static void start(Lane *lane, const Run *run) {                                             \
        for (;; lane->number += (uint64_t)run->lanes) {                                         \
            begin(&lane->state, (int)run->seats, run->seed, lane->number);                      \
            for (int64_t seat = 0; seat < run->seats; seat++) {                                 \
                uint64_t purpose = DICE_OF_PLAYERS + (uint64_t)seat;                            \
                lane->dice[seat] = dice_for(run->seed, lane->number, purpose);                  \
            }                                                                                   \
            go_on(lane, run);                                                                   \
            if (!is_over(&lane->state)) return;                                                 \
        }                                                                                       \
    }                                                                                           \
                                                                                                \
    void lanes_deal(Lane *lanes, const Run *run, Rows *rows) {                                  \
        for (int64_t at = 0; at < run->lanes; at++) {                                           \
            lanes[at].number = (uint64_t)at;                                                    \
            start(&lanes[at], run);                                                             \
            show(&lanes[at], at, rows);                                                         \
        }                                                                                       \
    }                                                                                           \
                                                                                                \
    int64_t lanes_play(Lane *lanes, const Run *run, const int64_t *numbers, Rows *rows) {       \
        for (int64_t at = 0; at < run->lanes; at++) {                                           \
            bool known = numbers[at] >= 0 && numbers[at] < (actions);                           \
            if (!known || !may(&lanes[at].state, numbers[at])) return at;                       \
        }                                                                                       \
        for (int64_t at = 0; at < run->lanes; at++) {                                           \
            State *state = &lanes[at].state, before = *state;                                   \
            act(state, numbers[at]);                                                            \
            go_on(&lanes[at], run);                                                             \
            if (is_over(state)) {                                                               \
                double *made = rows->rewards + at * run->seats;                                 \
                for (int seat = 0; seat < run->seats; seat++) made[seat] = reward(state, seat); \
                rows->ended[at] = true;                                                         \
                show_end(&before, at, rows);                                                    \
                lanes[at].number += (uint64_t)run->lanes;                                       \
                start(&lanes[at], run);                                                         \
            }                                                                                   \
            show(&lanes[at], at, rows);                                                         \
        }                                                                                       \
        return -1;                                                                              \
    }

#endif
