/* The best answer of a seat to three others who play by the rules, its later cards included.
 *
 * For measuring only, and without a twin in Python: it knows how the others play, as no real player
 * does, and so shows what there is to be won of the player `rules`. Worlds in which the others have
 * played the same cards look the same to the seat, so it has to play the same card in all of them.
 */
#include "play.h"

typedef struct { Mask held[SEATS]; Stage stage; uint64_t seen; int world; } Line;

typedef struct {
    const Seating *table;
    int seat;
    const Mask (*hidden)[SEATS]; /* by world */
    const int *times;
} Asker;

static long best_worth(const Asker *asker, const Line lines[], int number);

/* Play that card, and the others' by the rules, until the seat is next or the points are certain. */
static void play_on(const Asker *asker, Line *line, Mask card) {
    Stage *stage = &line->stage;
    line->seen = 0;
    for (;;) {
        line->held[stage->seat] ^= card;
        line->seen = 25 * line->seen + 1 + (uint64_t)LOWEST(card); /* of at most seven cards */
        *stage = after(asker->table, *stage, card);
        if (settled(stage) || stage->seat == asker->seat) return;
        Mask hidden = asker->hidden[line->world][stage->seat] & ~stage->gone;
        card = card_by_rule(asker->table, line->held[stage->seat], hidden, stage);
    }
}

static int by_what_is_seen(const void *one, const void *other) {
    uint64_t first = ((const Line *)one)->seen, second = ((const Line *)other)->seen;
    return (first > second) - (first < second);
}

/* The caller's side's points in all the lines together, if the seat plays that card in each. */
static long worth_of_card(const Asker *asker, const Line lines[], int number, Mask card) {
    Line *open = malloc(sizeof(Line) * (size_t)number);
    long worth = 0;
    int left = 0;
    for (int one = 0; one < number; one++) {
        Line line = lines[one];
        play_on(asker, &line, card);
        if (settled(&line.stage))
            worth += asker->times[line.world] *
                     points(asker->table, line.stage.won, line.stage.lost);
        else open[left++] = line;
    }
    qsort(open, (size_t)left, sizeof(Line), by_what_is_seen);
    for (int first = 0, end = 0; first < left; first = end) {
        while (end < left && open[end].seen == open[first].seen) end++;
        worth += best_worth(asker, open + first, end - first);
    }
    free(open);
    return worth;
}

/* The same if the seat plays its best card, in lines that look the same to it. */
static long best_worth(const Asker *asker, const Line lines[], int number) {
    const Stage *stage = &lines[0].stage;
    Mask hand = lines[0].held[asker->seat];
    Mask legal = stage->laid && hand & stage->led ? hand & stage->led : hand;
    Mask present = (ALL & ~stage->gone) | stage->best;
    int found = 0, sign = ours(asker->table, asker->seat) ? 1 : -1;
    long best = 0;
    while (legal) {
        Mask block = next_block(asker->table->cards, &legal, present);
        long worth = sign * worth_of_card(asker, lines, number, block & -block);
        if (!found++ || worth > best) best = worth;
    }
    return sign * best;
}
