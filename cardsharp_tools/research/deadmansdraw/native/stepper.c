/* Many matches of Dead Man's Draw side by side for a learner (lanes.h).
 *
 * The numbers of actions and observations are those of cardsharp/games/deadmansdraw/encoding.py.
 */
#define LANES_OPPONENTS
#include "lanes.h"

#include "core.h"

/* The numbers of actions; from FIRST_CARD_NUMBER on they are the cards of answers. */
enum {
    DRAW_NUMBER,
    END_TURN_NUMBER,
    REFUSAL_NUMBER,
    FIRST_CARD_NUMBER,
    ACTIONS = FIRST_CARD_NUMBER + DECK,
};

/* The size of an observation: whether the player waits, then the blocks of encoding.py. */
enum {
    CARD_BLOCKS = 7,
    EFFECTS = 6,
    SCORES = 2,
    OBSERVATION_SIZE = 1 + CARD_BLOCKS * DECK + EFFECTS + SCORES + 1,
};

/* The suits with an effect to answer, in the order of `EffectType` of actions.py. */
static const Suit EFFECT_SUITS[EFFECTS] = {ORACLE, HOOK, CANNON, SWORD, MAP, KRAKEN};

/* Scores are observed in hundreds of points. */
static const double SCORE_SCALE = 100.0;

struct State {
    Match match;
};

/* Deal a match; the number of seats is always two. */
static void deal_match(State *state, int seat_count, uint64_t seed, uint64_t match_number) {
    (void)seat_count;
    match_deal(&state->match, rng_for(seed, match_number, PURPOSE_DECK),
               rng_for(seed, match_number, PURPOSE_CHANCE));
}

/* --- actions ------------------------------------------------------------------------------ */

static Action action_from_number(int64_t number) {
    switch (number) {
        case DRAW_NUMBER: return DRAW;
        case END_TURN_NUMBER: return END_TURN;
        case REFUSAL_NUMBER: return REFUSE;
        default: return (Action)(number - FIRST_CARD_NUMBER);
    }
}

static bool is_legal(const State *state, int64_t action) {
    return is_legal_action(&state->match.table, action_from_number(action));
}

static void apply_action(State *state, int64_t action) {
    match_play(&state->match, action_from_number(action));
}

static void play_opponent_action(State *state, const void *opponent, SplitMix64 *rng) {
    const Policy *policy = opponent;
    Rng policy_rng = {rng->state};
    Action action = policy->decide(policy->context, &state->match.table, &policy_rng);
    rng->state = policy_rng.state;
    match_play(&state->match, action);
}

static bool is_match_over(const State *state) { return state->match.table.is_over; }

/* 1 for the winner, -1 for the loser, 0 for a tie. */
static double match_reward(const State *state, int seat) {
    const Cards *bank = state->match.table.bank;
    int lead = bank_value(bank[seat]) - bank_value(bank[1 - seat]);
    return (lead > 0) - (lead < 0);
}

static int player_to_act(const State *state) { return state->match.table.player; }

/* --- observations: a function writes a block into zeros and returns the end of the block ----- */

static float *write_cards(float *row, Cards cards) {
    for (; cards; cards &= cards - 1) row[lowest(cards)] = 1;
    return row + DECK;
}

static void write_observation(const Table *table, float *row) {
    Cards own_bank = table->bank[table->player], other_bank = table->bank[1 - table->player];
    bool has_offer = table->pending == MAP || table->pending == ORACLE;
    row = write_cards(row + 1, own_bank);
    row = write_cards(row, other_bank);
    row = write_cards(row, table->area);
    row = write_cards(row, table->discard);
    row = write_cards(row, table->pile);
    row = write_cards(row, table->known_top == NO_CARD ? 0 : BIT(table->known_top));
    row = write_cards(row, has_offer ? answers(table) : 0);
    for (int effect = 0; effect < EFFECTS; effect++) {
        *row++ = EFFECT_SUITS[effect] == table->pending;
    }
    *row++ = (float)(bank_value(own_bank) / SCORE_SCALE);
    *row++ = (float)(bank_value(other_bank) / SCORE_SCALE);
    *row = (float)(count(table->pile) / (double)DECK);
}

static void observe(const State *state, float *row, int8_t *mask) {
    const Table *table = &state->match.table;
    write_observation(table, row);
    for (int number = 0; number < FIRST_CARD_NUMBER; number++) {
        mask[number] = is_legal(state, number);
    }
    for (Cards rest = answers(table); rest; rest &= rest - 1) {
        mask[FIRST_CARD_NUMBER + lowest(rest)] = 1;
    }
}

DEFINE_LANES(OBSERVATION_SIZE, ACTIONS)
