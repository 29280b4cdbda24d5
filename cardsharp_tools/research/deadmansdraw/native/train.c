/* Learning: matches are played with the weights of the batch, each position's target being the
 * mean over its next card (an expected backup, so nearly free of luck); the weights then follow
 * by gradient descent on the log-loss. The twin of research/deadmansdraw/training.py. */
#include "train.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "search.h"

static const Limits LEARNING = {2, -1, 4, 4, 0, 0};

enum { PURPOSE_EXPLORE = PURPOSE_FIRST, PURPOSE_OPPONENT, PURPOSE_REPLIES };

typedef struct {
    Search *search;
    const Belief *belief; /* the opponent's, before a match */
    Player opponent;
    const Playing *playing;
    Rng explore, opponents, replies;
    Sample *samples;
    int number;
    int turns[DECK * 2]; /* samples of the turns' beginnings, in order */
    int8_t movers[DECK * 2];
    int turn_count;
} Lesson;

static Sample *new_sample(Lesson *lesson) {
    if (lesson->number == MOST_SAMPLES) return NULL;
    Sample *sample = &lesson->samples[lesson->number++];
    memset(sample, 0, sizeof *sample);
    return sample;
}

/* --- what is seen --- */

static void sample_turn(Lesson *lesson, const Table *table, double target) {
    Sample *sample = new_sample(lesson);
    if (!sample || lesson->turn_count == DECK * 2) return;
    int me = table->player;
    for (Suit suit = 0; suit < SUITS; suit++) {
        sample->keys[suit] =
            (int16_t)suit_key(suit, table->bank[me], table->bank[1 - me], table->pile);
    }
    sample->left = (int8_t)count(table->pile);
    sample->known = table->known_top;
    sample->is_turn = 1;
    sample->target = target;
    lesson->turns[lesson->turn_count] = lesson->number - 1;
    lesson->movers[lesson->turn_count++] = table->player;
}

static void sample_drawing_on(Lesson *lesson, const Turn *turn, double target) {
    DrawingOn on = drawing_on(lesson->search, turn);
    Sample *sample = new_sample(lesson);
    if (!sample || on.risk >= 1.0) return;
    int64_t hope = (-on.stop_sum >> 20) + HOPES / 2;
    memcpy(sample->keys, turn->stop, sizeof sample->keys);
    sample->lying = (uint16_t)turn->suits;
    sample->left = turn->left;
    sample->size = (int8_t)(turn->lying < SIZES ? turn->lying : SIZES - 1);
    sample->risk = (int8_t)(16.0 * on.risk);
    sample->hope = (int8_t)(hope < 0 ? 0 : hope >= HOPES ? HOPES - 1 : hope);
    sample->target = target;
    sample->bust = on.bust;
    sample->bust_chance = on.risk;
    sample->stop_sum = on.stop_sum;
}

/* --- playing --- */

static Action draw_or_stop(Lesson *lesson, const Table *table) {
    Search *search = lesson->search;
    Turn turn = turn_of(table);
    double on = draw_value(search, &turn, 0, 0);
    double stop = stop_value(search, &turn, search->limits.root_samples);
    if (table->known_top == NO_CARD) sample_drawing_on(lesson, &turn, on);
    if (on > stop) return DRAW;
    return rng_unit(&lesson->explore) < lesson->playing->exploration ? DRAW : END_TURN;
}

static Action own_action(Lesson *lesson, const Table *table) {
    if (table->pending != NOTHING) return best_action(lesson->search, table);
    if (table->lying_count) return draw_or_stop(lesson, table);
    if (!lesson->opponent.policy) {
        Turn turn = turn_of(table);
        sample_turn(lesson, table, draw_value(lesson->search, &turn, 0, 0));
    }
    return DRAW;
}

static double outcome(const Table *table, int player) {
    int lead = bank_value(table->bank[player]) - bank_value(table->bank[1 - player]);
    return lead > 0 ? 1.0 : lead == 0 ? 0.5 : 0.0;
}

/* The opponent's chance after its turn was played out once, with the pile shuffled anew. */
static double one_reply(Lesson *lesson, const Match *match) {
    Match thought = *match;
    Table *table = &thought.table;
    int player = table->player, turn = table->turn;
    int at = thought.next;
    for (Cards rest = table->pile; rest;) thought.order[at++] = rng_take(&lesson->replies, &rest);
    if (table->known_top != NO_CARD) {
        for (at = thought.next; thought.order[at] != table->known_top; at++) continue;
        thought.order[at] = thought.order[thought.next];
        thought.order[thought.next] = table->known_top;
    }
    thought.chance = (Rng){rng_next(&lesson->replies)};
    while (!table->over && table->turn == turn) {
        match_play(&thought, player_decide(&lesson->opponent, table, &lesson->replies));
    }
    if (table->over) return outcome(table, player);
    Turn next = turn_of(table);
    return 1.0 - draw_value(lesson->search, &next, 0, 0);
}

static Action opponents_action(Lesson *lesson, const Match *match) {
    const Table *table = &match->table;
    if (!table->lying_count && table->pending == NOTHING) {
        double mean = 0.0;
        for (int i = 0; i < lesson->playing->replies; i++) mean += one_reply(lesson, match);
        sample_turn(lesson, table, mean / lesson->playing->replies);
    }
    return player_decide(&lesson->opponent, table, &lesson->opponents);
}

/* Mixes into each turn's target what came of it: the later targets, at last the outcome. */
static void look_back(Lesson *lesson, const Table *table) {
    double lambda = lesson->playing->lambda;
    int mover = table->player;
    double chance = outcome(table, mover);
    for (int i = lesson->turn_count - 1; i >= 0; i--) {
        Sample *sample = &lesson->samples[lesson->turns[i]];
        if (lesson->movers[i] != mover) chance = 1.0 - chance;
        mover = lesson->movers[i];
        chance = (1.0 - lambda) * sample->target + lambda * chance;
        sample->target = chance;
    }
}

static int play_lesson(Lesson *lesson, uint64_t seed, uint64_t number) {
    Match match;
    match_deal(&match, rng_for(seed, number, PURPOSE_DECK), rng_for(seed, number, PURPOSE_CHANCE));
    lesson->explore = rng_for(seed, number, PURPOSE_EXPLORE);
    lesson->opponents = rng_for(seed, number, PURPOSE_OPPONENT);
    lesson->replies = rng_for(seed, number, PURPOSE_REPLIES);
    lesson->number = lesson->turn_count = 0;
    if (lesson->belief) lesson->opponent.belief = *lesson->belief;
    player_begin(&lesson->opponent);
    while (!match.table.over) {
        bool own = !lesson->opponent.policy || match.table.player == 0;
        Action action = own ? own_action(lesson, &match.table) : opponents_action(lesson, &match);
        player_notes(&lesson->opponent, &match.table, action, !own);
        match_play(&match, action);
    }
    look_back(lesson, &match.table);
    return lesson->number;
}

void play_and_sample(const Model *model, const Policy *opponent, const Belief *belief,
                     const Playing *playing, uint64_t seed, uint64_t first, int64_t count,
                     Sample *samples, int32_t *numbers) {
    Lesson lesson = {0};
    lesson.search = search_new(model, NULL, &LEARNING);
    lesson.opponent.policy = opponent;
    lesson.belief = belief;
    lesson.playing = playing;
    for (int64_t i = 0; i < count; i++) {
        lesson.samples = samples + i * MOST_SAMPLES;
        numbers[i] = play_lesson(&lesson, seed, first + (uint64_t)i);
    }
    search_free(lesson.search);
}

/* --- learning --- */

typedef struct {
    double *numbers, *squares;
    Model *model;
    double rate;
} Teacher;

/* Moves one weight against its gradient; rarely seen weights take larger steps. */
static void move(Teacher *teacher, const int32_t *weight, double gradient) {
    int32_t *whole = (int32_t *)teacher->model;
    ptrdiff_t at = weight - whole;
    teacher->squares[at] += gradient * gradient;
    teacher->numbers[at] -= teacher->rate * gradient / sqrt(teacher->squares[at]);
    whole[at] = (int32_t)floor(teacher->numbers[at] * 65536.0 + 0.5);
}

typedef struct { int top[4], number[4]; } SuitState;

static SuitState state_of(int key) {
    SuitState state = {{0}, {0}};
    for (int rank = 0; rank < RANKS; rank++) {
        int place = key / PLACE_DIGIT[rank] & 3;
        state.top[place] = rank + 1;
        state.number[place]++;
    }
    return state;
}

static int lead_of(const int16_t keys[SUITS]) {
    int lead = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        SuitState state = state_of(keys[suit]);
        int extra = suit == MERMAID ? 3 : 1;
        if (state.top[MOVER]) lead += state.top[MOVER] + extra;
        if (state.top[OTHER]) lead -= state.top[OTHER] + extra;
    }
    return lead;
}

static void move_knot(Teacher *teacher, const Sample *sample, int lead, int knot, double g) {
    const Model *model = teacher->model;
    for (Suit suit = 0; suit < SUITS; suit++) {
        SuitState s = state_of(sample->keys[suit]);
        move(teacher, &model->table[knot][suit][s.top[MOVER]][s.top[OTHER]][s.top[PILE]], g);
        for (int rank = 0; rank < RANKS; rank++) {
            int place = sample->keys[suit] / PLACE_DIGIT[rank] & 3;
            if (place) move(teacher, &model->place[knot][suit][rank][place - 1], g);
        }
    }
    if (sample->known != NO_CARD) move(teacher, &model->known[knot][suit_of(sample->known)], g);
    if (lead) move(teacher, &model->slope[knot], g * lead);
    move(teacher, &model->base[knot], g);
}

static void learn_turn(Teacher *teacher, const Sample *sample) {
    Sums sums = sum_afresh(teacher->model, sample->keys, sample->left, 0);
    double chance = chance_of(value_sum(teacher->model, sums, sample->left, sample->known));
    double error = chance - sample->target;
    int knot, part, lead = lead_of(sample->keys);
    knot_of(sample->left, &knot, &part);
    double share = part / (double)KNOT_PARTS;
    if (part < KNOT_PARTS) move_knot(teacher, sample, lead, knot, error * (1.0 - share));
    if (part > 0) move_knot(teacher, sample, lead, knot + 1, error * share);
    move(teacher, &teacher->model->lead[(int)sample->left][lead_index(lead)], error);
}

static void learn_drawing_on(Teacher *teacher, const Sample *sample, double chance) {
    const Model *model = teacher->model;
    double safe = 1.0 - sample->bust_chance;
    double target = (sample->target - sample->bust_chance * sample->bust) / safe;
    double g = safe * (chance - target);
    for (Suit suit = 0; suit < SUITS; suit++) {
        SuitState s = state_of(sample->keys[suit]);
        if (sample->lying >> suit & 1) {
            move(teacher, &model->lying[suit][s.top[OTHER]][s.number[PILE]], g);
        } else {
            move(teacher, &model->wanted[suit][s.top[OTHER]][s.top[MOVER]][s.top[PILE]], g);
            move(teacher, &model->unseen[suit][s.number[PILE]], g);
        }
    }
    move(teacher, &model->size[(int)sample->size], g);
    move(teacher, &model->left[(int)sample->left], g);
    move(teacher, &model->risk[(int)sample->risk], g);
    move(teacher, &model->hope[(int)sample->hope], g);
}

static double chance_of_on(const Model *model, const Sample *sample) {
    Sums sums = sum_afresh(model, sample->keys, sample->left, sample->lying);
    int64_t on = sums.on + model->size[(int)sample->size] + model->left[(int)sample->left] +
                 model->risk[(int)sample->risk] + model->hope[(int)sample->hope];
    return chance_of(on * KNOT_PARTS - sample->stop_sum);
}

void learn(double *numbers, double *squares, Model *model, const Sample *samples, int64_t count,
           double rate) {
    Teacher teacher = {numbers, squares, model, rate};
    for (int64_t i = 0; i < count; i++) {
        const Sample *sample = &samples[i];
        if (sample->is_turn) {
            learn_turn(&teacher, sample);
        } else if (sample->left) {
            learn_drawing_on(&teacher, sample, chance_of_on(model, sample));
        }
    }
}
