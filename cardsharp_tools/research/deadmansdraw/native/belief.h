/* Which opponent this is: the twin of strategies/opponent_belief.py. */
#ifndef CARDSHARP_BELIEF_H
#define CARDSHARP_BELIEF_H

#include "fitted.h"
#include "luck.h"

enum { MOST_ENTRIES = 32, MOST_WEIGHTS = 16 };

/* How a kind of opponent decides, NULL where a habit is learned or an answer may be any. */
typedef struct {
    int32_t weights;    /* index into the book's players; 0 is the general player */
    int32_t stranger;   /* whether this is the entry of nobody known */
    double stop_chance; /* where it is not negative, how likely a stop is */
    const Policy *stops;
    const Policy *answers;
    const Fitted *fitted; /* figures in place of either */
} Entry;

/* The entries, who plays for each of the weights, and what a choice of theirs may cost
 * (strategies/adaptive.py). */
typedef struct {
    int32_t entries, players;
    Entry entry[MOST_ENTRIES];
    const Policy *player[MOST_WEIGHTS];
    const Policy *judge; /* the general player with a short search */
    double most, credit; /* of one choice, and at the beginning of a match */
} Book;

typedef struct {
    const Book *book;
    int number;
    double likelihood[MOST_ENTRIES];
    int misses[MOST_ENTRIES];
    int habits[MOST_LYING][2];
    double balance; /* of this match */
} Belief;

void belief_see(Belief *belief, const Table *table, Action action); /* before it is played */
int belief_weights(const Belief *belief);

/* A player and, where it keeps one, what it thinks of the other side; else the book is NULL. */
typedef struct {
    const Policy *policy;
    Belief belief;
} Player;

Action player_decide(const Player *player, const Table *table, Rng *rng);
void player_begin(Player *player); /* a match: nothing was given yet */
void player_notes(Player *player, const Table *table, Action action, bool own);

/* Pairs of matches in a row. A player with a belief plays by its book, and keeps what it comes to
 * think; NULL where none is kept. With a `tempering` the results say what it takes to tell the
 * luck. */
void play_series(const Policy *const players[2], Belief *const beliefs[2], uint64_t seed,
                 uint64_t from, int64_t pairs, const Tempering *tempering, Result *results);

#endif
