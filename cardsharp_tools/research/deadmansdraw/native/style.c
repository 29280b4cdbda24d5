/* Opponents that nobody has met: rules of varied styles, by numbers. */
#include <stdlib.h>

#include "core.h"

/* Stops once any bound is reached; 0 stands for none. */
typedef struct {
    int32_t cards;  /* lying in the play area */
    int32_t points; /* that banking would gain */
    int32_t risk;   /* per cent of the unseen cards that bust */
    int32_t behind; /* further cards where the opponent leads */
    int32_t taste;  /* of answers: the dearest, the cheapest, by suit from the first, from the last */
    int32_t oracle; /* whether an Oracle's card is taken that does not bust */
} Style;

static Cards own_of(const Table *table) { return table->bank[table->player]; }
static Cards other_of(const Table *table) { return table->bank[1 - table->player]; }

static int risk_of(const Table *table) {
    int busting = 0, all = count(table->pile);
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (lies(table, suit)) busting += count(table->pile & SUIT_MASK(suit));
    }
    return all ? 100 * busting / all : 0;
}

static bool stops(const Style *style, const Table *table) {
    int gain = bank_value(own_of(table) | table->area) - bank_value(own_of(table));
    bool trails = bank_value(own_of(table)) < bank_value(other_of(table));
    int more = trails ? style->behind : 0;
    if (style->cards && table->lying_count >= style->cards + more) return true;
    if (style->points && gain >= style->points + 2 * more) return true;
    return style->risk && risk_of(table) >= style->risk + 5 * more;
}

static int liking(const Style *style, const Table *table, Card card) {
    int like = value_of(card);
    if (style->taste == 1) like = -like;
    if (style->taste == 2) like = -suit_of(card);
    if (style->taste == 3) like = suit_of(card);
    bool busts = table->pending != CANNON && lies(table, suit_of(card));
    return busts ? like - 100 : like;
}

static Action decide(const void *own, const Table *table, Rng *rng) {
    const Style *style = own;
    (void)rng;
    if (table->pending == ORACLE) {
        bool takes = style->oracle && !lies(table, suit_of(table->known_top));
        return takes ? table->known_top : REFUSE;
    }
    if (table->pending == NOTHING || table->pending == KRAKEN) {
        bool may = legal(table, END_TURN) && table->lying_count;
        return may && stops(style, table) ? END_TURN : DRAW;
    }
    Action best = NO_CARD;
    for (Cards rest = answers(table); rest; rest &= rest - 1) {
        Card card = lowest(rest);
        if (best == NO_CARD || liking(style, table, card) > liking(style, table, (Card)best)) {
            best = card;
        }
    }
    return best;
}

/* A policy of that style; it lives as long as the process. */
const Policy *style_new(const Style *numbers) {
    Style *style = malloc(sizeof *style);
    *style = *numbers;
    Policy *policy = malloc(sizeof *policy);
    *policy = (Policy){"style", decide, style};
    return policy;
}
