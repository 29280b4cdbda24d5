/* Many matches side by side for a learner: the twin of workbench/env/batch.py.
 *
 * A lane deals the matches `lane`, `lane + lanes`, `lane + 2 * lanes`, ... of a seed. What its player
 * to act knows is written in the numbers of workbench/deadmansdraw/encoding.py (a test compares them).
 */
#include <string.h>

#include "core.h"

/* Numbers of actions as the encoding has them: an answer is _ANSWER and its card. */
enum { _DRAW, _END_TURN, _REFUSE, _ANSWER, ACTIONS = _ANSWER + DECK };

/* The observation: whether the player waits, blocks of a card each, and figures. */
enum { CARD_BLOCKS = 7, EFFECTS = 6, OBSERVED = 1 + CARD_BLOCKS * DECK + EFFECTS + 2 + 1 };
static const Suit EFFECT[EFFECTS] = {ORACLE, HOOK, CANNON, SWORD, MAP, KRAKEN};

typedef struct {
    Match match;
    uint64_t number; /* of the match in its seed */
} Lane;

/* Where the rows go, one a lane: arrays of the caller's. */
typedef struct {
    float *observations;
    int8_t *masks;
    int64_t *to_act;
    double *rewards; /* a pair a lane */
    bool *ended;
} Rows;

int64_t lane_size(void) { return sizeof(Lane); }

static Action action_of(int64_t number) {
    switch (number) {
        case _DRAW: return DRAW;
        case _END_TURN: return END_TURN;
        case _REFUSE: return REFUSE;
        default: return (Action)(number - _ANSWER);
    }
}

static float *write_cards(float *row, Cards cards) {
    for (; cards; cards &= cards - 1) row[lowest(cards)] = 1;
    return row + DECK;
}

static void observe(const Table *table, float *row) {
    Cards own = table->bank[table->player], other = table->bank[1 - table->player];
    bool offers = table->pending == MAP || table->pending == ORACLE;
    memset(row, 0, OBSERVED * sizeof *row);
    row = write_cards(row + 1, own); /* before it: a player to act does not wait */
    row = write_cards(row, other);
    row = write_cards(row, table->area);
    row = write_cards(row, table->discard);
    row = write_cards(row, table->pile);
    row = write_cards(row, table->known_top == NO_CARD ? 0 : BIT(table->known_top));
    row = write_cards(row, offers ? answers(table) : 0);
    for (int i = 0; i < EFFECTS; i++) *row++ = EFFECT[i] == table->pending;
    *row++ = (float)(bank_value(own) / 100.0);
    *row++ = (float)(bank_value(other) / 100.0);
    *row = (float)(count(table->pile) / (double)DECK);
}

static void write_mask(const Table *table, int8_t *mask) {
    memset(mask, 0, ACTIONS * sizeof *mask);
    for (int number = _DRAW; number < _ANSWER; number++) {
        mask[number] = legal(table, action_of(number));
    }
    for (Cards rest = answers(table); rest; rest &= rest - 1) mask[_ANSWER + lowest(rest)] = 1;
}

static void look(const Lane *lane, int64_t at, Rows *rows) {
    observe(&lane->match.table, rows->observations + at * OBSERVED);
    write_mask(&lane->match.table, rows->masks + at * ACTIONS);
    rows->to_act[at] = lane->match.table.player;
}

static void deal(Lane *lane, uint64_t seed) {
    match_deal(&lane->match, rng_for(seed, lane->number, PURPOSE_DECK),
               rng_for(seed, lane->number, PURPOSE_CHANCE));
}

/* Deals the first match of each of `number` lanes. */
void lanes_deal(Lane *lanes, int64_t number, uint64_t seed, Rows *rows) {
    for (int64_t at = 0; at < number; at++) {
        lanes[at].number = (uint64_t)at;
        deal(&lanes[at], seed);
        look(&lanes[at], at, rows);
    }
}

static bool refused(const Table *table, int64_t number) {
    return number < 0 || number >= ACTIONS || !legal(table, action_of(number));
}

static void end(const Lane *lane, int64_t at, Rows *rows) {
    const Cards *bank = lane->match.table.bank;
    int lead = bank_value(bank[0]) - bank_value(bank[1]);
    rows->ended[at] = true;
    rows->rewards[2 * at] = (lead > 0) - (lead < 0);
    rows->rewards[2 * at + 1] = -rows->rewards[2 * at];
}

/* Does an action in each lane and deals the next match where one has ended; -1, or the first lane
 * whose action the rules refuse, where nothing was done. The caller has set rewards and ends to 0. */
int64_t lanes_play(Lane *lanes, int64_t number, uint64_t seed, const int64_t *actions, Rows *rows) {
    for (int64_t at = 0; at < number; at++) {
        if (refused(&lanes[at].match.table, actions[at])) return at;
    }
    for (int64_t at = 0; at < number; at++) {
        match_play(&lanes[at].match, action_of(actions[at]));
        if (lanes[at].match.table.over) {
            end(&lanes[at], at, rows);
            lanes[at].number += (uint64_t)number;
            deal(&lanes[at], seed);
        }
        look(&lanes[at], at, rows);
    }
    return -1;
}
