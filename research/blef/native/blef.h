/* Rounds of Blef with two players: cards, chances, what a player sees, training, playing.
 *
 * The bets come from Python (`blef_begin`), so that the rules stand in one place. A set of cards is
 * 24 bits, bit 6 * colour + value, as in strategies/odds.py. Chances are counted as there, so that
 * they are equal to the last bit.
 */
#ifndef CARDSHARP_BLEF_H
#define CARDSHARP_BLEF_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t Cards;

enum { CARDS = 24, VALUES = 6, COLOURS = 4, BETS = 88, CHECK = 88, OPENING = -1 };
enum { MOST_CARDS = 11, MOST_SOLVED = 2, WIDEST = BETS + 1, RELATIONS = 5 };

/* Compiled also for processors that count bits and take eight numbers at once. */
#if defined(__x86_64__) && defined(__GLIBC__)
#define FAST __attribute__((target_clones("arch=haswell", "default")))
#else
#define FAST
#endif

static inline int count(Cards cards) { return __builtin_popcount(cards); }

/* --- randomness: splitmix64 --- */

typedef struct { uint64_t state; } Rng;
uint64_t rng_next(Rng *rng);
int rng_below(Rng *rng, int n);
double rng_unit(Rng *rng);
Cards rng_hand(Rng *rng, Cards from, int cards); /* so many of these cards */

/* --- bets --- */

typedef struct {
    uint8_t values[VALUES]; /* how many of each value */
    int8_t colour;          /* the colour of a flush, or -1 */
    Cards cards;            /* of a straight flush */
} Bet;

typedef struct { uint64_t low, high; } Truths;

extern Bet bets[BETS];
void blef_begin(const Bet *given);
bool holds(int bet, Cards pool);
Truths truths(Cards pool);
static inline bool true_in(const Truths *truth, int bet) {
    return (bet < 64 ? truth->low >> bet : truth->high >> (bet - 64)) & 1;
}
void odds(Cards pool, int hidden, double chances[BETS]);

/* --- what a player sees: its row in a table --- */

typedef struct {
    int32_t cards[2]; /* of who begins and of the other */
    int32_t hands[2]; /* by role, how many hands there are by values alone */
    int32_t bets;     /* that a table knows */
    uint8_t bet[BETS];            /* these, ascending */
    int8_t place[BETS];           /* where a bet is among them, or -1 */
    uint8_t relation[BETS][BETS]; /* of [bet before][bet]: what it adds, from 1; 0 is no bet before */
    int16_t hand[15625];          /* numbers of hands, by values counted in base five */
} Setup;

/* A row has a weight for the check and for each bet that the table knows. */
static inline int width_of(const Setup *setup) { return setup->bets + 1; }

/* The first choice above a bet; before it only the check may be chosen. */
static inline int first_above(const Setup *setup, int last) {
    return last == OPENING ? 1 : setup->place[last] + 2;
}

typedef struct {
    const Setup *setup;
    int role, number;
} Eyes;

void look(const Setup *setup, int role, Cards hand, Eyes *eyes);
int row_of(const Eyes *eyes, int last, int relation);

static inline int relation_of(const Setup *setup, int before, int bet) {
    return before == OPENING ? 0 : setup->relation[before][bet];
}

/* A table: by role, row and relation the weight of each choice. */
typedef struct {
    const Setup *setup;
    const float *weights[2];
} Table;

/* How a table plays: chances by action, the check last. False where it says nothing, and some action
 * stands in. */
bool table_play(const Table *table, const Eyes *eyes, int before, int last, double play[WIDEST]);

/* --- players --- */

typedef struct {
    int role; /* 0 begins */
    Cards hand;
    int cards[2];
    int said; /* number of bets */
    uint8_t bet[BETS];
    uint64_t dice; /* which seed the dice of a player come from, beside all this */
} View;

static inline int last_of(const View *view) {
    return view->said ? view->bet[view->said - 1] : OPENING;
}

/* A number for all of it. */
uint64_t key_of(const View *view);

/* A solved round: in how many of a thousand times a hand takes an action after all that was said,
 * in lines by `key`, ascending. What has no line is a check. */
typedef struct {
    uint64_t key;
    int32_t action, parts;
} Line;

typedef struct {
    int32_t lines;
    const Line *line;
} Plan;

enum { RANDOM, THRESHOLD, BAYES, TABLES };

/* Who plays; tables by the cards of who begins and of the other, NULL where there is none.
 * Before these come the plans of solved rounds, by cards and role; after them what is known of
 * large rounds (large.h), by its own cards and the other's. */
typedef struct {
    int32_t kind;
    double check, bet; /* of THRESHOLD; greedy where `check` is negative */
    const Table *tables[MOST_CARDS + 1][MOST_CARDS + 1];
    Plan plans[MOST_SOLVED + 1][MOST_SOLVED + 1][2];
    const uint8_t *large[MOST_CARDS + 1][MOST_CARDS + 1];
} Player;

int decide(const Player *player, const View *view, Rng *rng);
int picked(const double play[WIDEST], Rng *rng);

/* A round: the role that wins it. `view` has the cards of both, and in the end all bets. */
int play_round(const Player *const players[2], const Cards hands[2], View *view, Rng *rng);
void deal(Rng *rng, const int cards[2], Cards hands[2]);

/* --- bayes --- */

enum { HABITS = 3, KEPT = 90 };

/* What a player with certain cards would say. */
typedef struct {
    double chances[BETS];
    double above[BETS + 1];    /* how plausible all bets above look together; the last one: all */
    uint8_t careful[BETS + 1]; /* the first habit's replies to each last bet; the last one opens */
    int8_t bold;               /* the highest bet that the other habits dare, or -1 */
} Mind;

/* How the hidden cards may lie: which bets hold, and what the other would say. */
typedef struct {
    Truths truth;
    uint8_t replies[BETS];
} World;

void mind_of(Cards hand, int hidden, Mind *mind);
int reply(const Mind *mind, int habit, int last);
double explains(const Mind *mind, int habit, int last, int bet);
int draw_worlds(const View *view, Rng *rng, World kept[KEPT]);
int decide_in(const View *view, const World *worlds, int drawn);
int decide_bayes(const View *view);

#endif
