/* Dead Man's Draw for the lab: the rules, dealing and matches, in C.
 *
 * The same rules as games/deadmansdraw/rules.py (a test plays both side by side), for matches
 * that start from a normal deal of the server's deck of 60 cards.
 *
 * A card is a number, 6 * suit + rank; a set of cards is 60 bits. Suits are in the server's order.
 *
 * How a policy plugs in: write `Action decide(const void *own, const Table *table, Rng *rng)` in
 * any .c file of this folder and name it by `REGISTER_POLICY("name", decide)`. It sees the Table,
 * which holds what a player may know and nothing else; the order of the draw pile is in `Match`,
 * which policies never get. `rng` is the policy's own. From Python: `engine.load().twin("name")`.
 */
#ifndef CARDSHARP_CORE_H
#define CARDSHARP_CORE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t Cards; /* a set of cards */
typedef int8_t Card;    /* 6 * suit + rank, or NO_CARD */
typedef int8_t Suit;

enum { ANCHOR, HOOK, CANNON, KEY, CHEST, MAP, ORACLE, SWORD, KRAKEN, MERMAID, SUITS };
enum { RANKS = 6, DECK = 60, NO_CARD = -1, NOTHING = -1, MAP_OFFER = 3, KRAKEN_DRAWS = 2 };

/* An action: a card number answers the pending effect with that card (takes the Oracle's card). */
typedef int Action;
enum { DRAW = 60, END_TURN = 61, REFUSE = 62 }; /* REFUSE: leave the Oracle's card */

#define SUIT_MASK(suit) ((Cards)0x3f << (RANKS * (suit)))
#define BIT(card) ((Cards)1 << (card))

static inline Suit suit_of(Card card) { return (Suit)(card / RANKS); }
static inline int value_of(Card card) {
    return card % RANKS + (card / RANKS == MERMAID ? 4 : 2);
}
static inline int count(Cards cards) { return __builtin_popcountll(cards); }
static inline Card lowest(Cards cards) { return (Card)__builtin_ctzll(cards); }
/* The card that stands for `cards` of one suit: the middle one, the upper of two. */
static inline Card middle(Cards cards) {
    for (int skip = count(cards) / 2; skip > 0; skip--) cards &= cards - 1;
    return lowest(cards);
}
/* The highest card of `suit` among `cards`, NO_CARD where there is none. */
static inline Card top_of(Cards cards, Suit suit) {
    Cards held = cards & SUIT_MASK(suit);
    return held ? (Card)(63 - __builtin_clzll(held)) : NO_CARD;
}
/* The value of the highest card of `suit` among `cards`, 0 where there is none. */
static inline int top_value(Cards cards, Suit suit) {
    Card top = top_of(cards, suit);
    return top == NO_CARD ? 0 : value_of(top);
}

/* --- randomness: splitmix64, easy to repeat in Python (cardsharp_tools/lab/rng.py) --- */

typedef struct { uint64_t state; } Rng;
enum { PURPOSE_DECK, PURPOSE_CHANCE, PURPOSE_FIRST, PURPOSE_SECOND, PURPOSE_AGAIN }; /* of a pair's dice */
Rng rng_for(uint64_t seed, uint64_t number, uint64_t purpose);
uint64_t rng_next(Rng *rng);
int rng_below(Rng *rng, int n);      /* 0 .. n-1, by multiplication */
double rng_unit(Rng *rng);           /* [0, 1), 53 bits */
Card rng_take(Rng *rng, Cards *from); /* removes one card: the rng_below-th lowest */

/* --- the table as a player may know it --- */

typedef struct {
    Cards bank[2];
    Cards pile;    /* the cards of the draw pile; their order nobody knows */
    Cards discard; /* without the cards that a Map offers */
    Cards area;    /* the play area */
    Suit entered[2][SUITS]; /* suits of each bank in order of entry */
    int8_t suits_held[2];
    Card lying[SUITS]; /* the play area in order */
    int8_t lying_count;
    int8_t lying_when_drawn; /* its size after the last draw of free will, before its effects */
    int8_t player;  /* who is to act, 0 or 1 */
    Suit pending;   /* the suit whose effect waits for an answer, or NOTHING */
    int8_t owed;    /* draws that the Kraken still demands (with KRAKEN, CANNON, ORACLE pending) */
    Card offer[MAP_OFFER]; /* a pending Map's, in order */
    int8_t offered;
    Card known_top; /* next card where an Oracle has shown it; a pending Oracle's card */
    Card refused;   /* the Oracle's card that `player` left with the previous action of this turn */
    int16_t turn;   /* 1, 2, ... */
    bool over;
} Table;

static inline bool lies(const Table *table, Suit suit) { return table->area & SUIT_MASK(suit); }
int bank_value(Cards bank);
Cards tops(Cards bank);                             /* the highest card of each suit */
Cards sword_targets(Cards own, Cards other);        /* tops of suits that `own` lacks */
Cards answers(const Table *table);                  /* cards that may answer a pending effect */
bool legal(const Table *table, Action action);
Cards saved_cards(const Table *table);              /* what lies before the Anchor */

/* --- matches: the table with what nobody knows --- */

typedef struct {
    Table table;
    Card order[DECK]; /* the draw pile, next card first */
    int8_t next;
    Rng chance;       /* Map offers and bonus cards */
    Cards last_bonus; /* the bonus of the turn that ended last, for tests */
    bool busted;      /* whether the turn that ended last busted */
} Match;

void match_deal(Match *match, Rng deck, Rng chance); /* shuffle, starting player */
void match_play(Match *match, Action action);        /* the action must be legal */

/* --- policies --- */

typedef Action (*Decide)(const void *own, const Table *table, Rng *rng);
typedef struct {
    const char *name;
    Decide decide;
    const void *own; /* passed to `decide`: weights and options, NULL where not needed */
} Policy;

void register_policy(const char *name, Decide decide);
const Policy *find_policy(const char *name); /* NULL where there is none */
#define REGISTER_POLICY(name, decide)                                     \
    __attribute__((constructor)) static void register_##decide(void) {    \
        register_policy(name, decide);                                    \
    }

/* How a match ended, by player and not by seat. */
typedef struct {
    double points;      /* of the first player: 1, 0.5 or 0 */
    int32_t scores[2];  /* first player, second player */
    int32_t turns[2];
    int32_t actions[2];
    int32_t busts[2];
    double again; /* the mean of `points` over all ends of the match that were played */
    double luck;  /* what chance brought the first player before them */
} Result;

#endif
