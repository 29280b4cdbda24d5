/* Players of rounds: tables, and the simple ones of strategies/. */
#include "large.h"

#include <string.h>

uint64_t key_of(const View *view) {
    Rng key = {view->hand | (uint64_t)view->cards[0] << 24 | (uint64_t)view->cards[1] << 28};
    for (int n = 0; n < view->said; n++) key.state = rng_next(&key) ^ view->bet[n];
    return rng_next(&key);
}

static int greedy(const double chances[BETS], int last) {
    int best = last + 1;
    if (best >= BETS) return CHECK;
    for (int b = best; b < BETS; b++)
        if (chances[b] >= chances[best]) best = b;
    return last != OPENING && 1 - chances[last] >= chances[best] ? CHECK : best;
}

/* greedy.py and threshold.py; greedy where `check` is negative. */
static int by_own_cards(const View *view, double check, double bet) {
    double chances[BETS];
    int last = last_of(view);
    odds(view->hand, view->cards[1 - view->role], chances);
    if (check < 0) return greedy(chances, last);
    if (last != OPENING && chances[last] < check) return CHECK;
    for (int b = BETS - 1; b > last; b--)
        if (chances[b] >= bet) return b;
    return greedy(chances, last);
}

static const uint8_t *row_of(const Table *table, int role, uint32_t number) {
    int from = 0, to = table->rows[role];
    while (from < to) {
        int middle = (from + to) / 2;
        if (table->numbers[role][middle] < number) from = middle + 1;
        else to = middle;
    }
    bool found = from < table->rows[role] && table->numbers[role][from] == number;
    return found ? table->choices[role] + table->places[role][from] : NULL;
}

bool table_play(const Table *table, Cards hand, const View *view, double play[WIDEST]) {
    const Setup *setup = table->setup;
    int said[3] = {0, 0, 0}; /* the last bet, the one before, and the one before that */
    memset(play, 0, sizeof(double) * WIDEST);
    for (int n = 0; n < 3 && n < view->said; n++)
        said[n] = setup->place[view->bet[view->said - 1 - n]] + 1;
    bool unknown = view->said > 1 && !said[1];
    const uint8_t *row = NULL;
    if (!unknown && (said[0] || !view->said)) {
        int place = said[0] < setup->high
            ? place_of(setup, setup->class_of[said[2]], said[1], said[0])
            : place_of(setup, 0, 0, said[0]);
        uint32_t number = (uint32_t)(place * setup->hands[view->role] + number_of(setup, hand));
        row = row_of(table, view->role, number);
    }
    if (!row) {
        play[view->said ? CHECK : setup->bet[0]] = 1;
        return view->said && !(unknown && said[0]);
    }
    for (int left = WHOLE; left > 0; left -= row[1], row += 2)
        play[row[0] ? setup->bet[row[0] - 1] : CHECK] = row[1] / (double)WHOLE;
    return true;
}

int picked(const double play[WIDEST], Rng *rng) {
    double at = rng_unit(rng);
    int found = CHECK;
    for (int action = 0; action <= CHECK; action++) {
        if (play[action] <= 0) continue;
        found = action;
        if ((at -= play[action]) < 0) break;
    }
    return found;
}

static void play_large(const uint8_t *large, const View *view, double play[WIDEST]) {
    static _Thread_local Look look;
    look_large(view->hand, view->cards[1 - view->role], &look);
    int before = view->said > 1 ? view->bet[view->said - 2] : OPENING;
    large_play(large, &look, before, last_of(view), play);
}

bool tables_play(const Player *player, const View *view, double play[WIDEST]) {
    int one = view->cards[0], two = view->cards[1];
    if (player->tables[one][two]) return table_play(player->tables[one][two], view->hand, view, play);
    const uint8_t *large = player->large[view->cards[view->role]][view->cards[1 - view->role]];
    if (large) play_large(large, view, play);
    return large;
}

int decide(const Player *player, const View *view, Rng *rng) {
    double play[WIDEST] = {0};
    if (player->kind == THRESHOLD) return by_own_cards(view, player->check, player->bet);
    tables_play(player, view, play);
    return picked(play, rng);
}

/* A round: the role that wins it. `view` has the cards of both, and in the end all bets. */
static int play_round(const Player *const players[2], const Cards hands[2], View *view, Rng *rng) {
    for (int role = 0;; role = 1 - role) {
        view->role = role;
        view->hand = hands[role];
        int action = decide(players[role], view, rng);
        if (action == CHECK) return holds(last_of(view), hands[0] | hands[1]) ? 1 - role : role;
        view->bet[view->said++] = (uint8_t)action;
    }
}

static void deal(Rng *rng, const int cards[2], Cards hands[2]) {
    const Cards all = (1u << CARDS) - 1;
    hands[0] = rng_hand(rng, all, cards[0]);
    hands[1] = rng_hand(rng, all & ~hands[0], cards[1]);
}

/* So many rounds; how many the one who begins wins. */
int64_t play_rounds(const Player *first, const Player *second, int cards, int other, uint64_t seed,
                    int64_t rounds) {
    Rng rng = {seed};
    const Player *players[2] = {first, second};
    int held[2] = {cards, other};
    int64_t won = 0;
    for (int64_t n = 0; n < rounds; n++) {
        Cards hands[2];
        View view = {.cards = {cards, other}};
        deal(&rng, held, hands);
        won += play_round(players, hands, &view, &rng) == 0;
    }
    return won;
}
