/* The players `example-node` and `example-java`: the twin of strategies/example_clients.py. */
#include "position_features.h"

/* The probability to end a turn, and to refuse an Oracle's card. */
static const double STOP_PROBABILITY = 0.3;

static Action draw_or_end(const Table *table, Rng *rng) {
    if (table->pending == KRAKEN || !table->area_size) return DRAW;
    return rng_unit(rng) < STOP_PROBABILITY ? END_TURN : DRAW;
}

static Action example_node(const void *context, const Table *table, Rng *rng) {
    (void)context;
    bool has_answer = table->pending != NOTHING && table->pending != KRAKEN;
    return has_answer ? autopick(table) : draw_or_end(table, rng);
}
REGISTER_POLICY("example-node", example_node)

static Action example_java(const void *context, const Table *table, Rng *rng) {
    (void)context;
    if (table->pending == ORACLE) {
        return rng_unit(rng) < STOP_PROBABILITY ? REFUSE : table->known_top;
    }
    if (table->pending == NOTHING || table->pending == KRAKEN) return draw_or_end(table, rng);
    return pending_effect_targets(table).cards[0];
}
REGISTER_POLICY("example-java", example_java)
