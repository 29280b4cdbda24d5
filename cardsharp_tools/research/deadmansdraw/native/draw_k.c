/* The players `draw-2`, `draw-3` and `draw-4`, which draw until so many cards are in the play area:
 * the twin of strategies/draw_k.py. */
#include "position_features.h"

static Action draw_until(const Table *table, int stop_at_cards) {
    if (table->pending == KRAKEN) return DRAW;
    if (table->pending != NOTHING) return autopick(table);
    return table->area_size_after_draw < stop_at_cards ? DRAW : END_TURN;
}

#define DRAW_K(k)                                                                 \
    static Action draw_##k(const void *context, const Table *table, Rng *rng) {   \
        (void)context, (void)rng;                                                 \
        return draw_until(table, k);                                              \
    }                                                                             \
    REGISTER_POLICY("draw-" #k, draw_##k)

DRAW_K(2)
DRAW_K(3)
DRAW_K(4)
