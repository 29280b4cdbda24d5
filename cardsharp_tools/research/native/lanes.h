/* Many matches side by side for a learner, each in a lane: the twin of `PythonStepper` in
 * cardsharp_tools/environments/vector_env.py.
 *
 * Lane i deals the matches i, i + n, i + 2 * n, ... of a seed, where n is the number of lanes. So a
 * match depends on the seed and its number alone. The random numbers are those of
 * cardsharp_tools/lab/rng.py.
 *
 * A game's C file includes this and defines `struct State` and the functions that are declared
 * here. Its last line is `LANES(observed, actions)` with the sizes of an observation and of a mask.
 */
#ifndef CARDSHARP_LANES_H
#define CARDSHARP_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct State State;

/* --- what a game defines; the numbers are those of its encoding.py ---------------------------- */

/* Begin the match with this number. */
static void begin(State *state, int seats, uint64_t seed, uint64_t number);

/* True for a legal action; `action` is from 0 up to but not including the number of actions. */
static bool may(const State *state, int64_t action);

/* Apply a legal action. */
static void act(State *state, int64_t action);

static bool is_over(const State *state);

/* The reward of a seat after a match that is over. */
static double reward(const State *state, int seat);

/* The seat to act in a match that is not over. */
static int to_act(const State *state);

/* Write the observation and the legal actions of the seat to act into rows of zeros. The first
 * number of an observation tells whether the player waits; it stays 0. */
static void look(const State *state, float *row, int8_t *mask);

/* --- random numbers: `SplitMix64Random` of rng.py --------------------------------------------- */

typedef struct { uint64_t state; } Dice;

/* The purposes of the streams of a match; a seat is added to the last one. */
enum { DICE_OF_DECK, DICE_OF_CHANCE, DICE_OF_PLAYERS };

static inline uint64_t dice_roll(Dice *dice) {
    uint64_t mixed = dice->state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

/* The stream of a match for a purpose, as `pair_rng` of rng.py. */
static inline Dice dice_for(uint64_t seed, uint64_t number, uint64_t purpose) {
    Dice dice = {seed};
    dice.state = dice_roll(&dice) + number;
    dice.state = dice_roll(&dice) + purpose;
    dice.state = dice_roll(&dice);
    return dice;
}

/* `randrange(limit)` of `SplitMix64Random`. */
static inline int dice_range(Dice *dice, int limit) {
    return (int)(((unsigned __int128)dice_roll(dice) * (unsigned)limit) >> 64);
}

/* `_randbelow(limit)` of Python's `Random`, which its `sample` and `shuffle` call: as many bits
 * as the limit has, again and again until they are below it. */
static inline int dice_below(Dice *dice, int limit) {
    int bit_count = 32 - __builtin_clz((unsigned)limit), number;
    do number = (int)(dice_roll(dice) >> (64 - bit_count));
    while (number >= limit);
    return number;
}

/* --- opponents: a game that has native ones defines LANES_OPPONENTS before it includes this --- */

enum { MAX_SEATS = 8 };

#ifdef LANES_OPPONENTS
/* Apply the action that an opponent chooses for the seat to act; the dice are the opponent's. */
static void let_act(State *state, const void *opponent, Dice *dice);
#else
/* Never called: cardsharp_tools/research/native_engines.py gives no opponents to such a game. */
static void let_act(State *state, const void *opponent, Dice *dice) {
    (void)state, (void)opponent, (void)dice;
    abort();
}
#endif

/* --- lanes: the structures and functions that native_stepper.py uses -------------------------- */

/* The arrays of `BatchArrays` in vector_env.py, with a row for each lane. The last two are
 * written when a match ends: the observation at the learner's last action, as of a player who
 * waits, and its seat. */
typedef struct {
    float *observations;
    int8_t *masks;
    int64_t *player_to_act;
    double *rewards; /* by lane and seat */
    bool *terminated;
    float *final_observations;
    int64_t *final_seats;
} Rows;

typedef struct {
    int64_t lane_count;
    int64_t seats;
    uint64_t seed;
    const void *opponents[MAX_SEATS]; /* by seat, NULL where the learner is to act */
} Run;

/* The exported functions:
 *
 * `lanes_size` returns the size of a lane in bytes. The caller owns this memory, and it has no
 * pointers, so that its bytes can be copied. `lanes_reset` begins the first match of each lane.
 * `lanes_step` applies an action in each lane, lets opponents act until the learner is to act, and
 * begins the next match where one has ended. It returns -1, or the first lane with an illegal
 * action; then nothing has changed. Rewards and ends have to be 0 before.
 *
 * A match in which the learner is never to act is skipped. */
#define LANES(observed, actions)                                                                   \
    typedef struct {                                                                               \
        State state;                                                                               \
        uint64_t match_number;                                                                     \
        Dice opponent_dice[MAX_SEATS];                                                             \
    } Lane;                                                                                        \
                                                                                                   \
    int64_t lanes_size(void) { return sizeof(Lane); }                                              \
                                                                                                   \
    static void write_observation_row(const Lane *lane, int64_t index, Rows *rows) {               \
        float *row = rows->observations + index * (observed);                                      \
        int8_t *mask = rows->masks + index * (actions);                                            \
        memset(row, 0, (observed) * sizeof *row);                                                  \
        memset(mask, 0, (actions) * sizeof *mask);                                                 \
        look(&lane->state, row, mask);                                                             \
        rows->player_to_act[index] = to_act(&lane->state);                                         \
    }                                                                                              \
                                                                                                   \
    static void write_final_row(const State *last_state, int64_t index, Rows *rows) {              \
        float *row = rows->final_observations + index * (observed);                                \
        int8_t mask[actions] = {0};                                                                \
        memset(row, 0, (observed) * sizeof *row);                                                  \
        look(last_state, row, mask);                                                               \
        row[0] = 1;                                                                                \
        rows->final_seats[index] = to_act(last_state);                                             \
    }                                                                                              \
                                                                                                   \
    static void play_opponents(Lane *lane, const Run *run) {                                       \
        while (!is_over(&lane->state)) {                                                           \
            int seat = to_act(&lane->state);                                                       \
            if (!run->opponents[seat]) return;                                                     \
            let_act(&lane->state, run->opponents[seat], &lane->opponent_dice[seat]);               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void deal_next_match(Lane *lane, const Run *run) {                                      \
        for (;; lane->match_number += (uint64_t)run->lane_count) {                                 \
            begin(&lane->state, (int)run->seats, run->seed, lane->match_number);                   \
            for (int64_t seat = 0; seat < run->seats; seat++) {                                    \
                uint64_t purpose = DICE_OF_PLAYERS + (uint64_t)seat;                               \
                lane->opponent_dice[seat] = dice_for(run->seed, lane->match_number, purpose);      \
            }                                                                                      \
            play_opponents(lane, run);                                                             \
            if (!is_over(&lane->state)) return;                                                    \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void finish_match(Lane *lane, const State *last_state, const Run *run, int64_t index,   \
                             Rows *rows) {                                                         \
        double *rewards = rows->rewards + index * run->seats;                                      \
        for (int seat = 0; seat < run->seats; seat++) rewards[seat] = reward(&lane->state, seat);  \
        rows->terminated[index] = true;                                                            \
        write_final_row(last_state, index, rows);                                                  \
        lane->match_number += (uint64_t)run->lane_count;                                           \
        deal_next_match(lane, run);                                                                \
    }                                                                                              \
                                                                                                   \
    void lanes_reset(Lane *lanes, const Run *run, Rows *rows) {                                    \
        for (int64_t index = 0; index < run->lane_count; index++) {                                \
            lanes[index].match_number = (uint64_t)index;                                           \
            deal_next_match(&lanes[index], run);                                                   \
            write_observation_row(&lanes[index], index, rows);                                     \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    int64_t lanes_step(Lane *lanes, const Run *run, const int64_t *action_numbers, Rows *rows) {   \
        for (int64_t index = 0; index < run->lane_count; index++) {                                \
            int64_t action = action_numbers[index];                                                \
            bool is_action = action >= 0 && action < (actions);                                    \
            if (!is_action || !may(&lanes[index].state, action)) return index;                     \
        }                                                                                          \
        for (int64_t index = 0; index < run->lane_count; index++) {                                \
            Lane *lane = &lanes[index];                                                            \
            State last_state = lane->state;                                                        \
            act(&lane->state, action_numbers[index]);                                              \
            play_opponents(lane, run);                                                             \
            if (is_over(&lane->state)) finish_match(lane, &last_state, run, index, rows);          \
            write_observation_row(lane, index, rows);                                              \
        }                                                                                          \
        return -1;                                                                                 \
    }

#endif
