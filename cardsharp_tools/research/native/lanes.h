/* Many matches side by side for a learner, each in a lane: the twin of `PythonStepper` in
 * cardsharp_tools/environments/vector_env.py.
 *
 * Lane i deals the matches i, i + n, i + 2 * n, ... of a seed, where n is the number of lanes. So a
 * match depends on the seed and its number alone. The random numbers are those of
 * cardsharp_tools/lab/rng.py.
 *
 * A game's C file includes this and defines `struct State` and the functions that are declared
 * here. Its last line is `DEFINE_LANES(observation_size, action_count)`, with the sizes of
 * an observation and of a mask.
 */
#ifndef CARDSHARP_LANES_H
#define CARDSHARP_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct State State;

/* --- what a game defines; the numbers are those of its encoding.py ---------------------------- */

/* Deal the match with this number. */
static void deal_match(State *state, int seat_count, uint64_t seed, uint64_t match_number);

/* True for a legal action; `action` is from 0 up to but not including the number of actions. */
static bool is_legal(const State *state, int64_t action);

/* Apply a legal action. */
static void apply_action(State *state, int64_t action);

static bool is_match_over(const State *state);

/* The reward of a seat after a match that is over. */
static double match_reward(const State *state, int seat);

/* The seat to act in a match that is not over. */
static int player_to_act(const State *state);

/* Write the observation and the legal actions of the seat to act into rows of zeros. The first
 * number of an observation tells whether the player waits; it stays 0. */
static void observe(const State *state, float *row, int8_t *mask);

/* --- random numbers: `SplitMix64Random` of rng.py --------------------------------------------- */

typedef struct { uint64_t state; } SplitMix64;

/* The random streams of a match, as `RngPurpose` of rng.py; a seat is added to the last one. */
enum { DECK_STREAM, CHANCE_STREAM, FIRST_PLAYER_STREAM };

/* The next 64 random bits. */
static inline uint64_t random_bits(SplitMix64 *rng) {
    uint64_t mixed = rng->state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

/* The random numbers of a stream of a match, as `pair_rng` of rng.py. */
static inline SplitMix64 pair_rng(uint64_t seed, uint64_t match_number, uint64_t stream) {
    SplitMix64 rng = {seed};
    rng.state = random_bits(&rng) + match_number;
    rng.state = random_bits(&rng) + stream;
    rng.state = random_bits(&rng);
    return rng;
}

/* `randrange(limit)` of `SplitMix64Random`. */
static inline int random_range(SplitMix64 *rng, int limit) {
    return (int)(((unsigned __int128)random_bits(rng) * (unsigned)limit) >> 64);
}

/* `_randbelow(limit)` of Python's `Random`, which its `sample` and `shuffle` call: as many bits
 * as the limit has, again and again until they are below it. */
static inline int random_below(SplitMix64 *rng, int limit) {
    int bit_count = 32 - __builtin_clz((unsigned)limit), number;
    do number = (int)(random_bits(rng) >> (64 - bit_count));
    while (number >= limit);
    return number;
}

/* --- opponents: a game that has native ones defines LANES_OPPONENTS before it includes this --- */

enum { MAX_SEATS = 8 };

#ifdef LANES_OPPONENTS
/* Apply the action that an opponent chooses for the seat to act; `rng` is the opponent's. */
static void play_opponent_action(State *state, const void *opponent, SplitMix64 *rng);
#else
/* Never called: cardsharp_tools/research/native_engines.py gives no opponents to such a game. */
static void play_opponent_action(State *state, const void *opponent, SplitMix64 *rng) {
    (void)state, (void)opponent, (void)rng;
    abort();
}
#endif

/* --- lanes: the structures and functions that native_stepper.py uses -------------------------- */

/* `BatchArrays` of vector_env.py, with a row for each lane. The last two are written when a match
 * ends: the observation at the learner's last action, as of a player who waits, and its seat. */
typedef struct {
    float *observations;
    int8_t *masks;
    int64_t *player_to_act;
    double *rewards; /* by lane and seat */
    bool *terminated;
    float *final_observations;
    int64_t *final_seats;
} BatchArrays;

typedef struct {
    int64_t lane_count;
    int64_t seat_count;
    uint64_t seed;
    const void *opponents[MAX_SEATS]; /* by seat, NULL where the learner is to act */
} LaneConfig;

/* The exported functions:
 *
 * `lanes_size` returns the size of a lane in bytes. The caller owns this memory, and it has no
 * pointers, so that its bytes can be copied. `lanes_reset` begins the first match of each lane.
 * `lanes_step` applies an action in each lane, lets opponents act until the learner is to act, and
 * begins the next match where one has ended. It returns -1, or the first lane with an illegal
 * action; then nothing has changed. Rewards and ends have to be 0 before.
 *
 * A match in which the learner is never to act is skipped. */
#define DEFINE_LANES(observation_size, action_count)                                               \
    typedef struct {                                                                               \
        State state;                                                                               \
        uint64_t match_number;                                                                     \
        SplitMix64 opponent_rngs[MAX_SEATS];                                                       \
    } Lane;                                                                                        \
                                                                                                   \
    int64_t lanes_size(void) { return sizeof(Lane); }                                              \
                                                                                                   \
    static void write_observation_row(const Lane *lane, int64_t index, BatchArrays *rows) {        \
        float *row = rows->observations + index * (observation_size);                              \
        int8_t *mask = rows->masks + index * (action_count);                                       \
        memset(row, 0, (observation_size) * sizeof *row);                                          \
        memset(mask, 0, (action_count) * sizeof *mask);                                            \
        observe(&lane->state, row, mask);                                                          \
        rows->player_to_act[index] = player_to_act(&lane->state);                                  \
    }                                                                                              \
                                                                                                   \
    static void write_final_row(const State *last_state, int64_t index, BatchArrays *rows) {       \
        float *row = rows->final_observations + index * (observation_size);                        \
        int8_t mask[action_count] = {0};                                                           \
        memset(row, 0, (observation_size) * sizeof *row);                                          \
        observe(last_state, row, mask);                                                            \
        row[0] = 1;                                                                                \
        rows->final_seats[index] = player_to_act(last_state);                                      \
    }                                                                                              \
                                                                                                   \
    static void play_opponents(Lane *lane, const LaneConfig *config) {                             \
        while (!is_match_over(&lane->state)) {                                                     \
            int seat = player_to_act(&lane->state);                                                \
            const void *opponent = config->opponents[seat];                                        \
            if (!opponent) return;                                                                 \
            play_opponent_action(&lane->state, opponent, &lane->opponent_rngs[seat]);              \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void deal_next_match(Lane *lane, const LaneConfig *config) {                            \
        for (;; lane->match_number += (uint64_t)config->lane_count) {                              \
            deal_match(&lane->state, (int)config->seat_count, config->seed, lane->match_number);   \
            for (int64_t seat = 0; seat < config->seat_count; seat++) {                            \
                uint64_t stream = FIRST_PLAYER_STREAM + (uint64_t)seat;                            \
                lane->opponent_rngs[seat] = pair_rng(config->seed, lane->match_number, stream);    \
            }                                                                                      \
            play_opponents(lane, config);                                                          \
            if (!is_match_over(&lane->state)) return;                                              \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void finish_match(Lane *lane, const State *last_state, const LaneConfig *config,        \
                             int64_t index, BatchArrays *rows) {                                   \
        double *rewards = rows->rewards + index * config->seat_count;                              \
        for (int seat = 0; seat < config->seat_count; seat++) {                                    \
            rewards[seat] = match_reward(&lane->state, seat);                                      \
        }                                                                                          \
        rows->terminated[index] = true;                                                            \
        write_final_row(last_state, index, rows);                                                  \
        lane->match_number += (uint64_t)config->lane_count;                                        \
        deal_next_match(lane, config);                                                             \
    }                                                                                              \
                                                                                                   \
    void lanes_reset(Lane *lanes, const LaneConfig *config, BatchArrays *rows) {                   \
        for (int64_t index = 0; index < config->lane_count; index++) {                             \
            lanes[index].match_number = (uint64_t)index;                                           \
            deal_next_match(&lanes[index], config);                                                \
            write_observation_row(&lanes[index], index, rows);                                     \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    int64_t lanes_step(Lane *lanes, const LaneConfig *config, const int64_t *action_numbers,       \
                       BatchArrays *rows) {                                                        \
        for (int64_t index = 0; index < config->lane_count; index++) {                             \
            int64_t action = action_numbers[index];                                                \
            bool is_action = action >= 0 && action < (action_count);                               \
            if (!is_action || !is_legal(&lanes[index].state, action)) return index;                \
        }                                                                                          \
        for (int64_t index = 0; index < config->lane_count; index++) {                             \
            Lane *lane = &lanes[index];                                                            \
            State last_state = lane->state;                                                        \
            apply_action(&lane->state, action_numbers[index]);                                     \
            play_opponents(lane, config);                                                          \
            if (is_match_over(&lane->state)) finish_match(lane, &last_state, config, index, rows); \
            write_observation_row(lane, index, rows);                                              \
        }                                                                                          \
        return -1;                                                                                 \
    }

#endif
