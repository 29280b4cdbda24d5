/* The functions that compiled_search.py calls: values of a turn in progress, and of each card to
 * come. */
#include <stdlib.h>

#include "exact.h"
#include "leaves.h"

/* A question about a turn. No card is in two of its sets; all else about the turn follows from
 * them. */
typedef struct {
    TurnSets turn;
    int32_t known_top; /* the next card, or NO_CARD */
    int32_t question;
    int32_t card, kraken_draws, level, samples; /* 0 if the question does not need them */
} Query;

/* Kinds of questions, in the order of compiled_search.py. */
enum {
    PLACING,
    DRAWING,
    STOPPING,
    GOING_ON,
    DRAWING_OR_STOPPING,
    DRAWABLE_CARDS,
    MAP_CARDS,
    ORACLE_CARDS,
};

/* compiled_search.py uses a library only if this is its own version. */
enum { VERSION = 2 };
int library_version(void) { return VERSION; }

static SimulatedTurn turn_of_query(const Query *query) {
    const TurnSets *sets = &query->turn;
    SimulatedTurn turn = {
        .own_bank = sets->own_bank,
        .opponent_bank = sets->opponent_bank,
        .pile = sets->pile,
        .discard = sets->discard,
        .area = sets->area,
        .saved = sets->saved,
        .known_top = (Card)query->known_top,
    };
    turn.pile_count = (int8_t)count(sets->pile);
    turn.area_size = (int8_t)count(sets->area);
    turn.saved_count = (int8_t)count(sets->saved);
    turn.anchored = sets->area & SUIT_CARDS(ANCHOR);
    for (Suit suit = 0; suit < SUITS; suit++) {
        turn.stop[suit] = (int16_t)suit_key(suit, sets->opponent_bank,
                                            sets->own_bank | sets->area, sets->pile);
        turn.bust[suit] = (int16_t)suit_key(suit, sets->opponent_bank,
                                            sets->own_bank | sets->saved, sets->pile);
        if (sets->area & SUIT_CARDS(suit)) turn.area_suits |= 1u << suit;
    }
    return turn;
}

static double answer_query(TurnSearch *search, const Query *query, const SimulatedTurn *turn,
                           double values[DECK]) {
    switch (query->question) {
        case PLACING:
            return placing_value(search, turn, (Card)query->card, query->kraken_draws,
                                 query->level);
        case DRAWING: return draw_value(search, turn, query->kraken_draws, query->level);
        case STOPPING: return stop_value(search, turn, query->samples);
        case GOING_ON:
            return kraken_draws_value(search, turn, query->kraken_draws, query->level);
        case DRAWING_OR_STOPPING:
            return values[0] = estimate_draw_and_stop_values(search, turn, &values[1]).value;
        case DRAWABLE_CARDS: evaluate_draws(search, turn, query->kraken_draws, values); break;
        case MAP_CARDS: evaluate_map_cards(search, turn, values); break;
        case ORACLE_CARDS: evaluate_shown_cards(search, turn, query->kraken_draws, values); break;
        default: break;
    }
    return 0.0;
}

/* Returns the answer. The values of cards, or of drawing and of stopping, go to `values`,
 * followed by the number of evaluated ends of turns. */
double search_answer(TurnSearch *search, const SearchLimits *limits, const Query *query,
                     double values[DECK + 1]) {
    SimulatedTurn turn = turn_of_query(query);
    search->limits = *limits;
    search->nodes = 0;
    double value = answer_query(search, query, &turn, values);
    values[DECK] = (double)search->nodes;
    return value;
}

/* A search with a model. `layer` is the network beside it or NULL; the search does not free it. */
TurnSearch *search_beside(const Model *model, Layer *layer) {
    TurnSearch *search = calloc(1, sizeof *search);
    search->terms = suit_term_cache_new(model);
    search->layer = layer;
    return search;
}

void search_beside_free(TurnSearch *search) {
    suit_term_cache_free(search->terms);
    free(search);
}

double exact_answer(ExactSolver *exact, const Query *query) {
    const TurnSets *sets = &query->turn;
    switch (query->question) {
        case PLACING:
            return exact_placing_value(exact, sets, (Card)query->card, query->kraken_draws);
        case DRAWING:
            return exact_drawing_value(exact, sets, (Card)query->known_top, query->kraken_draws);
        case STOPPING: return exact_stopping_value(exact, sets, (Card)query->known_top);
        default: return exact_kraken_draws_value(exact, sets, query->kraken_draws);
    }
}
