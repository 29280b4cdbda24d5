/* Matches of a learner against itself: where turns begin and may go on, with what came of it.
 *
 * What chance brought on the way is taken out (luck.h), and so is what an explorer lost by a turn
 * that went on regardless: an unbiased target of little variance, mixed with what the learner's own
 * search says, which has less and is wrong by a little. */
#include <string.h>

#include "leaves.h"
#include "luck.h"
#include "network_learning.h"

/* The end of a match, where captain errs most, is played again so often from where so few are left. */
enum {
    FEW = 12,
    LAST = 5, /* solved exactly, where that is not too much */
    AGAIN = 2,
    MOST_TURNS = 60,
    MOST_SHOWN = 140,
    MOST_EXAMPLES = (MOST_TURNS + MOST_SHOWN) * (1 + AGAIN),
};

/* How often a turn goes on though stopping is better. */
#define EXPLORATION 0.1

/* Who plays both hands, who judges luck, and how far what came of a turn is trusted. */
typedef struct {
    const Policy *learner, *judge;
    Exact *exact;
    double trust;
} Reply;

typedef struct { int8_t mover; bool known; int16_t at; double luck; } Came;

/* What drawing and stopping are worth: by the search to the end where that is `known`, or ahead. */
typedef struct { double draw, stop; bool known; } Choice;

/* What a match shows: its examples, and of each beginning of a turn what came then. The last `choice`
 * is `fresh` until the next action. */
typedef struct {
    Example *examples;
    int number, turns;
    Came came[MOST_TURNS];
    Choice choice;
    bool fresh;
} Shown;

static double share_of(const Table *table, int player) {
    int lead = bank_value(table->bank[player]) - bank_value(table->bank[1 - player]);
    return lead > 0 ? 1.0 : lead ? 0.0 : 0.5;
}

/* At the beginning of a turn, which must draw, `stop` means nothing. */
static Choice choice_at(const Reply *reply, const Table *table) {
    Option options[MOST_OPTIONS];
    int number = count(table->pile) <= LAST ? exact_weigh(reply->exact, table, options) : 0;
    if (number) return (Choice){options[0].value, options[number - 1].value, true};
    Search *search = search_of(reply->learner);
    Turn turn = turn_of(table);
    double draw = draw_value(search, &turn, 0, 0);
    return (Choice){draw, stop_value(search, &turn, search->limits.root_samples), false};
}

static void show_beginning(const Reply *reply, const Table *table, Shown *shown) {
    Search *search = search_of(reply->learner);
    const Model *model = search->memo->model;
    Came *came = &shown->came[shown->turns++];
    int16_t keys[SUITS];
    int me = table->player, left = count(table->pile);
    for (Suit suit = 0; suit < SUITS; suit++) {
        keys[suit] = (int16_t)suit_key(suit, table->bank[me], table->bank[1 - me], table->pile);
    }
    Sums sums = sum_suits(search->memo, keys, left, 0);
    int64_t sum = value_sum(model, sums, left, table->known_top);
    *came = (Came){.mover = table->player, .at = (int16_t)shown->number};
    Example *example = &shown->examples[shown->number++];
    example->seen = seen_as(TURN_BEGINS, keys, left, sums.lead, sum);
    example->seen.known = table->known_top;
    Choice choice = choice_at(reply, table);
    came->known = choice.known;
    example->target = (float)choice.draw;
    example->weight = 1;
}

/* Where a turn may go on: what it is worth if it does not bust. */
static void show_going_on(const Reply *reply, const Table *table, Shown *shown) {
    Search *search = search_of(reply->learner);
    Turn turn = turn_of(table);
    DrawingOn on = drawing_on(search, &turn);
    if (on.risk >= 1.0) return;
    shown->choice = choice_at(reply, table);
    shown->fresh = true;
    int64_t sum = on_sum(search->memo->model, on.sums, &turn, on.stop_sum) - on.stop_sum;
    Example *example = &shown->examples[shown->number++];
    example->seen = seen_going_on(&turn, &on, sum);
    example->weight = (float)(1.0 - on.risk);
    double worth = shown->choice.draw - on.risk * on.bust;
    example->target = (float)(worth / (1.0 - on.risk));
}

/* The learner's action; what going on regardless costs it goes to `luck`. */
static Action explore(Search *search, const Table *table, Rng *rng, Shown *shown, double *luck) {
    if (!shown->fresh) return best_action(search, table);
    Choice choice = shown->choice;
    shown->fresh = false;
    if (choice.stop <= choice.draw) return DRAW;
    if (rng_unit(rng) >= EXPLORATION) return END_TURN;
    *luck += choice.draw - choice.stop;
    return DRAW;
}

static void look_back(const Reply *reply, const Table *end, Shown *shown) {
    int mover = end->player;
    double share = share_of(end, mover);
    for (int i = shown->turns - 1; i >= 0; i--) {
        const Came *came = &shown->came[i];
        float *target = &shown->examples[came->at].target;
        if (came->mover != mover) share = 1.0 - share;
        mover = came->mover;
        double trust = came->known ? 0.0 : reply->trust;
        share = (1.0 - trust) * *target + trust * (share - came->luck);
        *target = (float)share;
    }
}

/* Plays a match on to its end; in `late` goes how it was when few cards were left for the first time. */
static int play_on(const Reply *reply, Match match, Rng *rng, Example *examples, Match *late) {
    Search *search = search_of(reply->learner);
    Shown shown = {.examples = examples};
    late->table.over = true;
    while (!match.table.over) {
        Table before = match.table;
        bool free = before.pending == NOTHING && before.pile;
        if (free && !before.lying_count && late->table.over && count(before.pile) <= FEW) {
            *late = match;
        }
        if (free && !before.lying_count && shown.turns < MOST_TURNS) {
            show_beginning(reply, &before, &shown);
        } else if (free && before.lying_count && before.known_top == NO_CARD &&
                   shown.number < MOST_SHOWN) {
            show_going_on(reply, &before, &shown);
        }
        double *luck = &shown.came[shown.turns - 1].luck;
        Action action = explore(search, &before, rng, &shown, luck);
        Card drawn = match.order[match.next];
        match_play(&match, action);
        *luck += luck_of(reply->judge, &before, action, drawn, &match);
    }
    look_back(reply, &match.table, &shown);
    return shown.number;
}

/* The unseen cards in another order, and other picks. */
static void shuffle(Match *match, Rng *rng) {
    const Table *table = &match->table;
    int first = match->next, at = first;
    for (Cards rest = table->pile; rest;) match->order[at++] = rng_take(rng, &rest);
    if (table->known_top != NO_CARD) {
        for (at = first; match->order[at] != table->known_top; at++) continue;
        match->order[at] = match->order[first];
        match->order[first] = table->known_top;
    }
    match->chance = (Rng){rng_next(rng)};
}

static int64_t play_one(const Reply *reply, uint64_t seed, uint64_t number, Example *examples) {
    Rng rng = rng_for(seed, number, PURPOSE_FIRST);
    Match match, late, again;
    match_deal(&match, rng_for(seed, number, PURPOSE_DECK), rng_for(seed, number, PURPOSE_CHANCE));
    int64_t found = play_on(reply, match, &rng, examples, &late);
    for (int i = 0; i < AGAIN && !late.table.over; i++) {
        shuffle(&late, &rng);
        found += play_on(reply, late, &rng, examples + found, &again);
    }
    return found;
}

/* Plays matches first .. first+count-1 of `seed`; their examples, for which there is room of
 * MOST_EXAMPLES a match. */
int64_t reply_examples(const Reply *reply, uint64_t seed, uint64_t first, int64_t count,
                       Example *examples) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        found += play_one(reply, seed, first + (uint64_t)i, examples + found);
    }
    return found;
}
