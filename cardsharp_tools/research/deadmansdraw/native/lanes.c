/* Lanes of Dead Man's Draw, in the numbers of cardsharp/games/deadmansdraw/encoding.py. */
#define LANES_OPPONENTS
#include "lanes.h"

#include "core.h"

/* Numbers of actions: an answer is _ANSWER and its card. */
enum { _DRAW, _END_TURN, _REFUSE, _ANSWER, ACTIONS = _ANSWER + DECK };

/* Whether the player waits, blocks of a card each, the effect, two scores, and what is left. */
enum { CARD_BLOCKS = 7, EFFECTS = 6, OBSERVED = 1 + CARD_BLOCKS * DECK + EFFECTS + 2 + 1 };
static const Suit EFFECT[EFFECTS] = {ORACLE, HOOK, CANNON, SWORD, MAP, KRAKEN};

struct State {
    Match match;
};

static void begin(State *state, int seats, uint64_t seed, uint64_t number) {
    (void)seats; /* two */
    match_deal(&state->match, rng_for(seed, number, PURPOSE_DECK),
               rng_for(seed, number, PURPOSE_CHANCE));
}

static Action action_of(int64_t number) {
    switch (number) {
        case _DRAW: return DRAW;
        case _END_TURN: return END_TURN;
        case _REFUSE: return REFUSE;
        default: return (Action)(number - _ANSWER);
    }
}

static bool may(const State *state, int64_t action) {
    return legal(&state->match.table, action_of(action));
}

static void act(State *state, int64_t action) { match_play(&state->match, action_of(action)); }

static bool is_over(const State *state) { return state->match.table.over; }

static double reward(const State *state, int seat) {
    const Cards *bank = state->match.table.bank;
    int lead = bank_value(bank[seat]) - bank_value(bank[1 - seat]);
    return (lead > 0) - (lead < 0);
}

static float *write_cards(float *row, Cards cards) {
    for (; cards; cards &= cards - 1) row[lowest(cards)] = 1;
    return row + DECK;
}

static void observe(const Table *table, float *row) {
    Cards own = table->bank[table->player], other = table->bank[1 - table->player];
    bool offers = table->pending == MAP || table->pending == ORACLE;
    row = write_cards(row + 1, own);
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

static int to_act(const State *state) { return state->match.table.player; }

static void let_act(State *state, const void *opponent, Dice *dice) {
    const Policy *policy = opponent;
    Rng rng = {dice->state};
    Action action = policy->decide(policy->own, &state->match.table, &rng);
    dice->state = rng.state;
    match_play(&state->match, action);
}

static void look(const State *state, float *row, int8_t *mask) {
    const Table *table = &state->match.table;
    observe(table, row);
    for (int number = _DRAW; number < _ANSWER; number++) mask[number] = may(state, number);
    for (Cards rest = answers(table); rest; rest &= rest - 1) mask[_ANSWER + lowest(rest)] = 1;
}

LANES(OBSERVED, ACTIONS)
