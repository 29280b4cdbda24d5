/* Rounds of Blef with two players: cards, chances, what a player sees, training, playing.
 *
 * The bets come from Python (`blef_begin`), so that the rules stand in one place. A set of cards is
 * 24 bits, bit 6 * colour + value, as in strategies/bet_probabilities.py. Chances are counted as there, so that
 * they are equal to the last bit.
 */
#ifndef CARDSHARP_BLEF_H
#define CARDSHARP_BLEF_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t Cards;

enum { CARDS = 24, VALUES = 6, COLOURS = 4, BETS = 88, CHECK = 88, OPENING = -1 };
enum { MOST_CARDS = 11, WIDEST = BETS + 1 };

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

enum { LANES = 8, PLACES = 80000, CODES = 15625 };

typedef struct {
    int32_t cards[2]; /* of who begins and of the other */
    int32_t hands[2]; /* by role, how many hands there are by values alone */
    int32_t bets;     /* that a table knows */
    uint8_t bet[BETS];     /* these, ascending */
    int8_t place[BETS];    /* where a bet is among them, or -1 */
    int32_t high;          /* bets from here on are high, each by its place and one more */
    int32_t classes;       /* of the bet before the last two */
    uint8_t class_of[BETS + 1]; /* of these bets, each by its place and one more; 0 of none */
    int16_t hand[CODES];   /* numbers of hands, by values counted in base five */
    int32_t start[PLACES]; /* where a place's choices are among those of a hand, or -1 */
    int32_t span;          /* so many choices has a hand */
} Setup;

void lay_out(Setup *setup);
int number_of(const Setup *setup, Cards hand);

/* A place is the last bet and the one before it, each by its place in the setup and one more, none
 * is 0; and the class of the bet before these. After a high bet nothing else counts, so both others
 * are 0. There one may check, unless nobody has bet, or bet higher. */
static inline int place_of(const Setup *setup, int third, int before, int last) {
    return (last * (setup->bets + 1) + before) * setup->classes + third;
}
static inline int choices_at(const Setup *setup, int last) {
    return setup->bets - last + (last > 0);
}
static inline int padded(int choices) { return (choices + LANES - 1) / LANES * LANES; }

/* A table as it is shipped: by role the numbers of its rows, ascending, and where each begins. A row
 * is choices, each followed by its chance in 255ths, until these add up. Check is choice 0, bets come
 * by their places. A row has at most so many choices as it is packed. */
enum { KEPT_CHOICES = 12, ROW = 2 * KEPT_CHOICES, WHOLE = 255 };
typedef struct {
    const Setup *setup;
    int32_t rows[2];
    const uint32_t *numbers[2], *places[2];
    const uint8_t *choices[2];
} Table;

/* --- players --- */

typedef struct {
    int role; /* 0 begins */
    Cards hand;
    int cards[2];
    int said; /* number of bets */
    uint8_t bet[BETS];
} View;

static inline int last_of(const View *view) {
    return view->said ? view->bet[view->said - 1] : OPENING;
}

/* How a table plays a hand: chances by action, the check last. What has no row is a check; false
 * where that cannot be, and some action stands in. */
bool table_play(const Table *table, Cards hand, const View *view, double play[WIDEST]);

/* A number for all of it. */
uint64_t key_of(const View *view);

enum { THRESHOLD, TABLES };

/* Who plays; tables by the cards of who begins and of the other, NULL where there is none.
 * After these comes what is known of large rounds (large.h), by its own cards and the other's. */
typedef struct {
    int32_t kind;
    double check, bet; /* of THRESHOLD; greedy where `check` is negative */
    const Table *tables[MOST_CARDS + 1][MOST_CARDS + 1];
    const uint8_t *large[MOST_CARDS + 1][MOST_CARDS + 1];
} Player;

/* What the player's tables have, false where they have nothing. */
bool tables_play(const Player *player, const View *view, double play[WIDEST]);

int decide(const Player *player, const View *view, Rng *rng);
int picked(const double play[WIDEST], Rng *rng);

/* --- habits --- */

enum { HABITS = 3 };
extern const double WEIGHT[HABITS]; /* how often each habit is met */

/* What a player with certain cards would say. */
typedef struct {
    double chances[BETS];
    uint8_t careful[BETS + 1]; /* the first habit's replies to each last bet; the last one opens */
    int8_t bold;               /* the highest bet that the other habits dare, or -1 */
} Mind;

void mind_of(Cards hand, int hidden, Mind *mind);
int reply(const Mind *mind, int habit, int last);

#endif
