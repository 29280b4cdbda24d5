/* Matches that give samples for training (self_play.h).
 *
 * The target of each position is the mean over its next card, an expected backup, so it is nearly
 * free of luck. */
#include "self_play.h"

#include <string.h>

/* A fast search: two levels of effects, no second draw, four samples of a bonus, no endgame. */
static const SearchLimits TRAINING_LIMITS = {2, -1, 4, 4, 0, 0};

/* The random streams of a training match beside those of the deck and of chance. */
enum { PURPOSE_EXPLORE = PURPOSE_FIRST, PURPOSE_OPPONENT, PURPOSE_REPLIES };

enum { MAX_TURNS = DECK * 2 };

/* A turn that has a sample. */
typedef struct {
    int sample_index;
    int8_t mover;
} SampledTurn;

typedef struct {
    TurnSearch *search;
    const OpponentBelief *initial_belief; /* the opponent's, or NULL */
    Player opponent;
    const SelfPlayConfig *config;
    Rng explore_rng, opponent_rng, reply_rng;
    Sample *samples;
    int sample_count;
    SampledTurn turns[MAX_TURNS]; /* in order */
    int turn_count;
} TrainingMatch;

/* --- samples ------------------------------------------------------------------------------ */

/* An empty sample, or NULL if there is no place left. */
static Sample *new_sample(TrainingMatch *training) {
    if (training->sample_count == MAX_SAMPLES) return NULL;
    Sample *sample = &training->samples[training->sample_count++];
    memset(sample, 0, sizeof *sample);
    return sample;
}

static void sample_turn_start(TrainingMatch *training, const Table *table, double target) {
    Sample *sample = new_sample(training);
    if (!sample || training->turn_count == MAX_TURNS) return;
    Cards mover_bank = table->bank[table->player], other_bank = table->bank[1 - table->player];
    for (Suit suit = 0; suit < SUITS; suit++) {
        sample->keys[suit] = (int16_t)suit_key(suit, mover_bank, other_bank, table->pile);
    }
    sample->unseen_count = (int8_t)count(table->pile);
    sample->known_top = table->known_top;
    sample->is_turn_start = 1;
    sample->target = target;
    SampledTurn turn = {training->sample_count - 1, table->player};
    training->turns[training->turn_count++] = turn;
}

/* The class of the log-odds of stopping, as the model reads them (model.h). */
static int8_t hope_class(int64_t stop_sum) {
    int64_t hope = (-stop_sum >> 20) + HOPE_STEPS / 2;
    if (hope < 0) return 0;
    return (int8_t)(hope >= HOPE_STEPS ? HOPE_STEPS - 1 : hope);
}

static void sample_drawing_on(TrainingMatch *training, const SimulatedTurn *turn, double target) {
    Continuation drawing = estimate_continuation(training->search, turn);
    Sample *sample = new_sample(training);
    bool is_sure_bust = drawing.risk >= 1.0;
    if (!sample || is_sure_bust) return;
    memcpy(sample->keys, turn->stop, sizeof sample->keys);
    sample->area_suits = (uint16_t)turn->area_suits;
    sample->unseen_count = turn->pile_count;
    sample->area_size =
        (int8_t)(turn->area_size < PLAY_AREA_SIZES ? turn->area_size : PLAY_AREA_SIZES - 1);
    sample->risk = (int8_t)(16.0 * drawing.risk);
    sample->hope = hope_class(drawing.stop_log_odds);
    sample->target = target;
    sample->bust_value = drawing.bust;
    sample->bust_probability = drawing.risk;
    sample->stop_sum = drawing.stop_log_odds;
}

/* --- the learner -------------------------------------------------------------------------- */

static Action draw_or_stop(TrainingMatch *training, const Table *table) {
    TurnSearch *search = training->search;
    SimulatedTurn turn = turn_from_table(table);
    double value_of_drawing = draw_value(search, &turn, 0, 0);
    double value_of_stopping = stop_value(search, &turn, search->limits.root_samples);
    if (table->known_top == NO_CARD) sample_drawing_on(training, &turn, value_of_drawing);
    if (value_of_drawing > value_of_stopping) return DRAW;
    bool is_exploration = rng_unit(&training->explore_rng) < training->config->exploration;
    return is_exploration ? DRAW : END_TURN;
}

static Action learner_action(TrainingMatch *training, const Table *table) {
    if (table->pending != NOTHING) return best_action(training->search, table);
    if (table->area_size) return draw_or_stop(training, table);
    bool is_self_play = !training->opponent.policy;
    if (is_self_play) {
        SimulatedTurn turn = turn_from_table(table);
        sample_turn_start(training, table, draw_value(training->search, &turn, 0, 0));
    }
    return DRAW;
}

static double points_share(const Table *table, int player) {
    int lead = bank_value(table->bank[player]) - bank_value(table->bank[1 - player]);
    if (lead == 0) return 0.5;
    return lead > 0 ? 1.0 : 0.0;
}

/* --- the opponent ------------------------------------------------------------------------- */

/* Shuffle the draw pile, but keep a next card that an Oracle has shown. */
static void shuffle_hidden_cards(Match *match, Rng *rng) {
    Card known_top = match->table.known_top;
    int index = match->next;
    for (Cards rest = match->table.pile; rest;) match->order[index++] = rng_take(rng, &rest);
    if (known_top == NO_CARD) return;
    index = match->next;
    while (match->order[index] != known_top) index++;
    match->order[index] = match->order[match->next];
    match->order[match->next] = known_top;
}

/* The opponent's win probability after one random result of its turn. */
static double sample_reply_value(TrainingMatch *training, const Match *match) {
    Match reply_match = *match;
    Table *table = &reply_match.table;
    int opponent = table->player, turn_number = table->turn;
    shuffle_hidden_cards(&reply_match, &training->reply_rng);
    reply_match.chance = (Rng){rng_next(&training->reply_rng)};
    while (!table->is_over && table->turn == turn_number) {
        Action action = player_decide(&training->opponent, table, &training->reply_rng);
        match_play(&reply_match, action);
    }
    if (table->is_over) return points_share(table, opponent);
    SimulatedTurn learner_turn = turn_from_table(table);
    return 1.0 - draw_value(training->search, &learner_turn, 0, 0);
}

static Action opponent_action(TrainingMatch *training, const Match *match) {
    const Table *table = &match->table;
    bool is_turn_start = !table->area_size && table->pending == NOTHING;
    if (is_turn_start) {
        int replies = training->config->replies;
        double value_sum = 0.0;
        for (int i = 0; i < replies; i++) value_sum += sample_reply_value(training, match);
        sample_turn_start(training, table, value_sum / replies);
    }
    return player_decide(&training->opponent, table, &training->opponent_rng);
}

/* --- matches ------------------------------------------------------------------------------ */

/* Mix later targets, and at last the result of the match, into the target of each turn, as
 * TD(lambda) does. */
static void mix_later_targets(TrainingMatch *training, const Table *final_table) {
    double td_lambda = training->config->td_lambda;
    int mover = final_table->player;
    double target = points_share(final_table, mover);
    for (int i = training->turn_count - 1; i >= 0; i--) {
        const SampledTurn *turn = &training->turns[i];
        Sample *sample = &training->samples[turn->sample_index];
        if (turn->mover != mover) target = 1.0 - target;
        mover = turn->mover;
        target = (1.0 - td_lambda) * sample->target + td_lambda * target;
        sample->target = target;
    }
}

static void begin_training_match(TrainingMatch *training, Match *match, uint64_t seed,
                                 uint64_t match_number) {
    match_deal(match, rng_for(seed, match_number, PURPOSE_DECK),
               rng_for(seed, match_number, PURPOSE_CHANCE));
    training->explore_rng = rng_for(seed, match_number, PURPOSE_EXPLORE);
    training->opponent_rng = rng_for(seed, match_number, PURPOSE_OPPONENT);
    training->reply_rng = rng_for(seed, match_number, PURPOSE_REPLIES);
    training->sample_count = 0;
    training->turn_count = 0;
    if (training->initial_belief) training->opponent.belief = *training->initial_belief;
    begin_match(&training->opponent);
}

/* Play a match; return the number of its samples. An opponent has seat 1. */
static int play_training_match(TrainingMatch *training, uint64_t seed, uint64_t match_number) {
    Match match;
    begin_training_match(training, &match, seed, match_number);
    while (!match.table.is_over) {
        const Table *table = &match.table;
        bool is_learner = !training->opponent.policy || table->player == 0;
        Action action =
            is_learner ? learner_action(training, table) : opponent_action(training, &match);
        record_decision(&training->opponent, table, action, !is_learner);
        match_play(&match, action);
    }
    mix_later_targets(training, &match.table);
    return training->sample_count;
}

void play_and_sample(const Model *model, const Policy *opponent, const OpponentBelief *belief,
                     const SelfPlayConfig *config, uint64_t seed, uint64_t first_match,
                     int64_t match_count, Sample *samples, int32_t *sample_counts) {
    TrainingMatch training = {
        .search = search_new(model, NULL, &TRAINING_LIMITS),
        .initial_belief = belief,
        .opponent = {.policy = opponent},
        .config = config,
    };
    for (int64_t i = 0; i < match_count; i++) {
        training.samples = samples + i * MAX_SAMPLES;
        sample_counts[i] = play_training_match(&training, seed, first_match + (uint64_t)i);
    }
    search_free(training.search);
}
