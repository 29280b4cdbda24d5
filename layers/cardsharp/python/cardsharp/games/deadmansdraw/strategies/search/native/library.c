/* What compiled_search.py calls: the value of a turn under way, and of each card to come. */
#include <stdlib.h>

#include "exact.h"
#include "leaves.h"

/* A turn as sets of cards, none of them in two; `saved` is what lies before the Anchor. What else there
 * is to know of a turn follows from them. */
typedef struct {
    Places places;
    int32_t known; /* the next card, or NO_CARD */
    int32_t question;
    int32_t card, owed, level, samples; /* where the question needs them */
} Query;

enum { PLACING, DRAWING, STOPPING, GOING_ON, DRAWING_OR_STOPPING, DRAWN, OFFERED, SHOWN };

/* The twin in Python asks for a library of its own number alone. */
enum { VERSION = 2 };
int library_version(void) { return VERSION; }

static Turn turn_at(const Query *query) {
    const Places *at = &query->places;
    Turn turn = {.own = at->own, .other = at->other, .pile = at->pile, .discard = at->discard,
                 .area = at->area, .saved = at->saved, .known = (Card)query->known};
    turn.left = (int8_t)count(at->pile);
    turn.lying = (int8_t)count(at->area);
    turn.rescued = (int8_t)count(at->saved);
    turn.anchored = at->area & SUIT_MASK(ANCHOR);
    for (Suit suit = 0; suit < SUITS; suit++) {
        turn.stop[suit] = (int16_t)suit_key(suit, at->other, at->own | at->area, at->pile);
        turn.bust[suit] = (int16_t)suit_key(suit, at->other, at->own | at->saved, at->pile);
        if (at->area & SUIT_MASK(suit)) turn.suits |= 1u << suit;
    }
    return turn;
}

static double answer(Search *search, const Query *query, const Turn *at, double values[DECK]) {
    switch (query->question) {
        case PLACING:
            return place_value(search, at, (Card)query->card, query->owed, query->level);
        case DRAWING: return draw_value(search, at, query->owed, query->level);
        case STOPPING: return stop_value(search, at, query->samples);
        case GOING_ON: return going_on_value(search, at, query->owed, query->level);
        case DRAWING_OR_STOPPING:
            return values[0] = weigh_drawing_on(search, at, &values[1]).value;
        case DRAWN: weigh_drawn(search, at, query->owed, values); break;
        case OFFERED: weigh_offered(search, at, values); break;
        case SHOWN: weigh_shown(search, at, query->owed, values); break;
        default: break;
    }
    return 0.0;
}

/* The answer; each card's value, or that of drawing and of stopping, goes to `values`,
 * and behind them the number of ends of turns that were looked at. */
double search_answer(Search *search, const Limits *limits, const Query *query, double values[DECK + 1]) {
    Turn turn = turn_at(query);
    search->limits = *limits;
    search->nodes = 0;
    double value = answer(search, query, &turn, values);
    values[DECK] = (double)search->nodes;
    return value;
}

/* A search by a model; the `layer` of a network beside it, or NULL, it does not free. */
Search *search_beside(const Model *model, Layer *layer) {
    Search *search = calloc(1, sizeof *search);
    search->memo = memo_new(model);
    search->layer = layer;
    return search;
}

void search_beside_free(Search *search) {
    memo_free(search->memo);
    free(search);
}

double exact_answer(Exact *exact, const Query *query) {
    const Places *at = &query->places;
    switch (query->question) {
        case PLACING: return exact_placing(exact, at, (Card)query->card, query->owed);
        case DRAWING: return exact_drawing(exact, at, (Card)query->known, query->owed);
        case STOPPING: return exact_stopping(exact, at, (Card)query->known);
        default: return exact_going_on(exact, at, query->owed);
    }
}
