/* Dead Man's Draw in C: the rules, dealing and matches.
 *
 * The rules are those of cardsharp/games/deadmansdraw/rules.py (a test plays both side by side),
 * for matches that start from a normal deal of the server's deck of 60 cards.
 *
 * A card is a number, 6 * suit + rank; a set of cards is 60 bits. Suits are in the server's
 * order.
 *
 * A policy is a function `Action decide(const void *context, const Table *table, Rng *rng)`. It
 * is named by `REGISTER_POLICY("name", decide)` in a C file. It gets only the Table, which holds
 * what a player may know; the order of the draw pile is in `Match`, which policies never get.
 * `rng` belongs to the policy. In Python, native.py of the research folder finds a policy by its
 * name. */
#ifndef CARDSHARP_CORE_H
#define CARDSHARP_CORE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t Cards; /* a set of cards */
typedef int8_t Card;    /* 6 * suit + rank, or NO_CARD */
typedef int8_t Suit;

enum { ANCHOR, HOOK, CANNON, KEY, CHEST, MAP, ORACLE, SWORD, KRAKEN, MERMAID, SUITS };
enum { RANKS = 6, DECK = 60, NO_CARD = -1, NOTHING = -1, MAP_OFFER = 3, KRAKEN_DRAWS = 2 };

/* An action. A card number answers the pending effect with that card; for an Oracle it takes the
 * card. */
typedef int Action;
enum { DRAW = 60, END_TURN = 61, REFUSE = 62 }; /* REFUSE: leave the Oracle's card */

#define SUIT_CARDS(suit) ((Cards)0x3f << (RANKS * (suit)))
#define BIT(card) ((Cards)1 << (card))

static inline Suit suit_of(Card card) { return (Suit)(card / RANKS); }
static inline int value_of(Card card) {
    return card % RANKS + (card / RANKS == MERMAID ? 4 : 2);
}
static inline int count(Cards cards) { return __builtin_popcountll(cards); }
static inline Card lowest(Cards cards) { return (Card)__builtin_ctzll(cards); }
/* The card that represents cards of one suit: the middle one, of two the upper one. */
static inline Card middle(Cards cards) {
    for (int skip = count(cards) / 2; skip > 0; skip--) cards &= cards - 1;
    return lowest(cards);
}
/* The highest card of a suit among `cards`; NO_CARD if there is none. */
static inline Card top_of(Cards cards, Suit suit) {
    Cards suit_cards = cards & SUIT_CARDS(suit);
    return suit_cards ? (Card)(63 - __builtin_clzll(suit_cards)) : NO_CARD;
}
/* The value of the highest card of a suit among `cards`; 0 if there is none. */
static inline int top_value(Cards cards, Suit suit) {
    Card top = top_of(cards, suit);
    return top == NO_CARD ? 0 : value_of(top);
}

/* --- random numbers: splitmix64, which Python can repeat (cardsharp_tools/lab/rng.py) --- */

typedef struct { uint64_t state; } Rng;
/* The streams of random numbers of a pair of matches. */
enum { PURPOSE_DECK, PURPOSE_CHANCE, PURPOSE_FIRST, PURPOSE_SECOND, PURPOSE_REPLAY };
Rng rng_for(uint64_t seed, uint64_t number, uint64_t purpose);
uint64_t rng_next(Rng *rng);
int rng_below(Rng *rng, int n);       /* from 0 to n - 1, by multiplication */
double rng_unit(Rng *rng);            /* [0, 1), 53 bits */
Card rng_take(Rng *rng, Cards *from); /* removes a random card of the set */

/* --- the table as a player may know it --- */

typedef struct {
    Cards bank[2];
    Cards pile;    /* cards of the draw pile, in no order */
    Cards discard; /* without the cards that a Map offers */
    Cards area;    /* the play area */
    Suit suit_order[2][SUITS]; /* suits of each bank in the order in which they entered it */
    int8_t suit_counts[2];
    Card area_cards[SUITS]; /* the play area in the order in which the cards came */
    int8_t area_size;
    /* the size of the play area after the last voluntary draw, before its effects */
    int8_t area_size_after_draw;
    int8_t player; /* the player to act, 0 or 1 */
    Suit pending;  /* the suit whose effect must be answered, or NOTHING */
    /* draws that are still due, also while a Cannon or an Oracle is pending */
    int8_t kraken_draws;
    Card offer[MAP_OFFER]; /* cards that a pending Map offers */
    int8_t offer_size;
    Card known_top; /* the next card if an Oracle has shown it, or NO_CARD */
    /* the Oracle's card that the player left with the previous action of this turn */
    Card refused_card;
    int16_t turn; /* 1, 2, ... */
    bool is_over;
} Table;

static inline bool is_in_play_area(const Table *table, Suit suit) {
    return table->area & SUIT_CARDS(suit);
}
int bank_value(Cards bank);
Cards tops(Cards bank); /* the highest card of each suit */
/* Tops of the opponent's suits that the player's bank lacks. */
Cards sword_targets(Cards own_bank, Cards opponent_bank);
Cards answers(const Table *table);     /* cards that may answer the pending effect */
bool is_legal_action(const Table *table, Action action);
Cards saved_cards(const Table *table); /* cards of the play area before the Anchor */

/* --- matches: the table and what no player knows --- */

typedef struct {
    Table table;
    Card order[DECK]; /* the draw pile, next card first */
    int8_t next;
    Rng chance;       /* random numbers of Map offers and bonus cards */
    Cards last_bonus; /* bonus cards of the turn that ended last */
    bool busted;      /* true if the turn that ended last busted */
} Match;

void match_deal(Match *match, Rng deck, Rng chance); /* shuffles, and picks the player who starts */
void match_play(Match *match, Action action);        /* the action must be legal */

/* --- policies --- */

typedef Action (*Decide)(const void *context, const Table *table, Rng *rng);
typedef struct {
    const char *name;
    Decide decide;
    const void *context; /* passed to `decide`: weights and options, or NULL */
} Policy;

void register_policy(const char *name, Decide decide);
const Policy *find_policy(const char *name); /* NULL if there is none */
#define REGISTER_POLICY(name, decide)                                     \
    __attribute__((constructor)) static void register_##decide(void) {    \
        register_policy(name, decide);                                    \
    }

/* The end of a match. Pairs have the first player's figure, then the second's. */
typedef struct {
    double points;      /* of the first player: 1, 0.5 or 0 */
    int32_t scores[2];
    int32_t turns[2];
    int32_t actions[2];
    int32_t busts[2];
    double replay_points; /* the mean of `points` over this end of the match and its replays */
    double luck;          /* luck of the first player before the replays */
} MatchResult;

#endif
