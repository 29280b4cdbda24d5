/* Matches of captain with a network against itself, which give examples for the training of the
 * network (network_learning.h).
 *
 * The target of an example is a mix of the value of captain's search and of what came later in
 * the match. The first has little variance and a small error. The second is unbiased, because
 * luck (luck.h) and the cost of exploration are taken out. */
#include <string.h>

#include "leaves.h"
#include "luck.h"
#include "network_learning.h"

/* The end of a match, where captain errs most, is played again several times. */
enum {
    REPLAY_CARDS = 12,
    /* unseen cards from which on the solver gives the values, unless it gives up */
    EXACT_CARDS = 5,
    REPLAYS = 2,
    MAX_TURNS = 60,
    MAX_FIRST_EXAMPLES = 140,
    MAX_EXAMPLES = (MAX_TURNS + MAX_FIRST_EXAMPLES) * (1 + REPLAYS),
};

/* The probability to draw on although stopping is better. */
#define EXPLORATION 0.1

/* The players and the weight of later values in a target. */
typedef struct {
    const Policy *learner, *judge;
    ExactSolver *solver;
    double td_lambda;
} SelfPlay;

typedef struct { int8_t mover; bool is_exact; int16_t example_index; double luck; } TurnStart;

/* Values of drawing and of stopping, by the exact solver or by the search. */
typedef struct { double draw, stop; bool is_exact; } ChoiceValues;

/* The examples of a match. `choice` has the values of the position to act if `has_choice` is
 * true. */
typedef struct {
    TrainingExample *examples;
    int example_count, turn_count;
    TurnStart turn_starts[MAX_TURNS];
    ChoiceValues choice;
    bool has_choice;
} MatchExamples;

static double points_share(const Table *table, int player) {
    int lead = bank_value(table->bank[player]) - bank_value(table->bank[1 - player]);
    return lead > 0 ? 1.0 : lead ? 0.0 : 0.5;
}

/* At the start of a turn, which must draw, `stop` means nothing. */
static ChoiceValues evaluate_choice(const SelfPlay *self_play, const Table *table) {
    Option options[MAX_OPTIONS];
    int option_count = count(table->pile) <= EXACT_CARDS
                           ? exact_options(self_play->solver, table, options)
                           : 0;
    if (option_count) {
        return (ChoiceValues){options[0].value, options[option_count - 1].value, true};
    }
    TurnSearch *search = search_of(self_play->learner);
    SimulatedTurn turn = turn_from_table(table);
    double draw = draw_value(search, &turn, 0, 0);
    return (ChoiceValues){draw, stop_value(search, &turn, search->limits.root_samples), false};
}

static void add_turn_start(const SelfPlay *self_play, const Table *table,
                           MatchExamples *match_examples) {
    TurnSearch *search = search_of(self_play->learner);
    const Model *model = search->terms->model;
    TurnStart *start = &match_examples->turn_starts[match_examples->turn_count++];
    int16_t keys[SUITS];
    int player = table->player, pile_count = count(table->pile);
    for (Suit suit = 0; suit < SUITS; suit++) {
        keys[suit] =
            (int16_t)suit_key(suit, table->bank[player], table->bank[1 - player], table->pile);
    }
    Sums sums = sum_suit_terms(search->terms, keys, pile_count, 0);
    int64_t log_odds = mover_log_odds(model, sums, pile_count, table->known_top);
    *start = (TurnStart){
        .mover = table->player,
        .example_index = (int16_t)match_examples->example_count,
    };
    TrainingExample *example = &match_examples->examples[match_examples->example_count++];
    example->input = network_input(TURN_BEGINS, keys, pile_count, sums.lead, log_odds);
    example->input.next_card = table->known_top;
    ChoiceValues choice = evaluate_choice(self_play, table);
    start->is_exact = choice.is_exact;
    example->target = (float)choice.draw;
    example->weight = 1;
}

/* Adds an example of a turn that may go on; its target is the value if the next draw does not
 * bust. */
static void add_continuation(const SelfPlay *self_play, const Table *table,
                             MatchExamples *match_examples) {
    TurnSearch *search = search_of(self_play->learner);
    SimulatedTurn turn = turn_from_table(table);
    Continuation continuation = estimate_continuation(search, &turn);
    if (continuation.risk >= 1.0) return;
    match_examples->choice = evaluate_choice(self_play, table);
    match_examples->has_choice = true;
    int64_t log_odds = continuation_log_odds(search->terms->model, continuation.sums, &turn,
                                             continuation.stop_log_odds) -
                       continuation.stop_log_odds;
    TrainingExample *example = &match_examples->examples[match_examples->example_count++];
    example->input = continuation_input(&turn, &continuation, log_odds);
    example->weight = (float)(1.0 - continuation.risk);
    double safe_value = match_examples->choice.draw - continuation.risk * continuation.bust;
    example->target = (float)(safe_value / (1.0 - continuation.risk));
}

/* The learner's action. The cost of an exploring draw is added to `luck`. */
static Action explore(TurnSearch *search, const Table *table, Rng *rng,
                      MatchExamples *match_examples, double *luck) {
    if (!match_examples->has_choice) return best_action(search, table);
    ChoiceValues choice = match_examples->choice;
    match_examples->has_choice = false;
    if (choice.stop <= choice.draw) return DRAW;
    if (rng_unit(rng) >= EXPLORATION) return END_TURN;
    *luck += choice.draw - choice.stop;
    return DRAW;
}

static void mix_later_targets(const SelfPlay *self_play, const Table *final_table,
                              MatchExamples *match_examples) {
    int mover = final_table->player;
    double value = points_share(final_table, mover);
    for (int i = match_examples->turn_count - 1; i >= 0; i--) {
        const TurnStart *start = &match_examples->turn_starts[i];
        float *target = &match_examples->examples[start->example_index].target;
        if (start->mover != mover) value = 1.0 - value;
        mover = start->mover;
        double td_lambda = start->is_exact ? 0.0 : self_play->td_lambda;
        value = (1.0 - td_lambda) * *target + td_lambda * (value - start->luck);
        *target = (float)value;
    }
}

/* Plays a match to its end; returns the number of examples. `replay_start` gets the first turn
 * start with few unseen cards; its table is over if there was none. */
static int play_to_end(const SelfPlay *self_play, Match match, Rng *rng, TrainingExample *examples,
                       Match *replay_start) {
    TurnSearch *search = search_of(self_play->learner);
    MatchExamples match_examples = {.examples = examples};
    replay_start->table.is_over = true;
    while (!match.table.is_over) {
        Table previous_table = match.table;
        bool is_voluntary = previous_table.pending == NOTHING && previous_table.pile;
        if (is_voluntary && !previous_table.area_size && replay_start->table.is_over &&
            count(previous_table.pile) <= REPLAY_CARDS) {
            *replay_start = match;
        }
        if (is_voluntary && !previous_table.area_size && match_examples.turn_count < MAX_TURNS) {
            add_turn_start(self_play, &previous_table, &match_examples);
        } else if (is_voluntary && previous_table.area_size &&
                   previous_table.known_top == NO_CARD &&
                   match_examples.example_count < MAX_FIRST_EXAMPLES) {
            add_continuation(self_play, &previous_table, &match_examples);
        }
        double *luck = &match_examples.turn_starts[match_examples.turn_count - 1].luck;
        Action action = explore(search, &previous_table, rng, &match_examples, luck);
        Card next_card = match.order[match.next];
        match_play(&match, action);
        *luck += luck_of(self_play->judge, &previous_table, action, next_card, &match);
    }
    mix_later_targets(self_play, &match.table, &match_examples);
    return match_examples.example_count;
}

/* Shuffles the unseen cards, and starts new random picks. */
static void shuffle_hidden_cards(Match *match, Rng *rng) {
    const Table *table = &match->table;
    int first_index = match->next, index = first_index;
    for (Cards rest = table->pile; rest;) match->order[index++] = rng_take(rng, &rest);
    if (table->known_top != NO_CARD) {
        for (index = first_index; match->order[index] != table->known_top; index++) continue;
        match->order[index] = match->order[first_index];
        match->order[first_index] = table->known_top;
    }
    match->chance = (Rng){rng_next(rng)};
}

static int64_t sample_match(const SelfPlay *self_play, uint64_t seed, uint64_t match_number,
                            TrainingExample *examples) {
    Rng rng = rng_for(seed, match_number, PURPOSE_FIRST);
    Match match, replay_start, unused_start;
    match_deal(&match, rng_for(seed, match_number, PURPOSE_DECK),
               rng_for(seed, match_number, PURPOSE_CHANCE));
    int64_t example_count = play_to_end(self_play, match, &rng, examples, &replay_start);
    for (int i = 0; i < REPLAYS && !replay_start.table.is_over; i++) {
        shuffle_hidden_cards(&replay_start, &rng);
        example_count += play_to_end(self_play, replay_start, &rng, examples + example_count,
                                     &unused_start);
    }
    return example_count;
}

/* Plays matches from `first_match` on; returns the number of examples, at most MAX_EXAMPLES for
 * each match. */
int64_t sample_matches(const SelfPlay *self_play, uint64_t seed, uint64_t first_match,
                       int64_t match_count, TrainingExample *examples) {
    int64_t example_count = 0;
    for (int64_t i = 0; i < match_count; i++) {
        example_count += sample_match(self_play, seed, first_match + (uint64_t)i,
                                      examples + example_count);
    }
    return example_count;
}
