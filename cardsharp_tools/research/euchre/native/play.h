/* Card play: the rules of thumb, a world played out by them, and the exact search.
 *
 * The twin of cardsharp/euchre/strategies/{playout,solver}.py.
 */
#include "cards.h"

typedef struct {
    const Layout *cards;
    int caller, alone, lone_defender; /* -1 where there is none */
    int out, chairs;                  /* seats that sit out, as bits; the others' number */
} Seating;

typedef struct { int seat; Mask gone; int laid; Mask led, best; int by, won, lost; } Stage;

static Seating seated(int caller, int trump, int alone, int lone_defender) {
    Seating table = {&layouts[trump], caller, alone, lone_defender, 0, 0};
    if (alone) table.out |= 1 << (caller ^ 2);
    if (lone_defender >= 0) table.out |= 1 << (lone_defender ^ 2);
    table.chairs = SEATS - COUNT(table.out);
    return table;
}

static int next_from(const Seating *table, int seat) {
    while (table->out >> (seat & 3) & 1) seat++;
    return seat & 3;
}

static int ours(const Seating *table, int seat) { return ((seat ^ table->caller) & 1) == 0; }

static int points(const Seating *table, int won, int lost) {
    if (lost > TRICKS - MADE) return table->lone_defender >= 0 ? -4 : -2;
    if (won < TRICKS) return 1;
    return table->alone ? 4 : 2;
}

static Stage after(const Seating *table, Stage stage, Mask card) {
    if (!stage.laid) stage.led = table->cards->suit[LOWEST(card)];
    if (!stage.laid || (card & (stage.led | table->cards->trumps) && card > stage.best))
        stage.best = card, stage.by = stage.seat;
    stage.gone |= card;
    stage.seat = next_from(table, stage.seat + 1);
    if (++stage.laid == table->chairs) {
        int made = ours(table, stage.by);
        stage = (Stage){stage.by, stage.gone, 0, 0, 0, 0, stage.won + made, stage.lost + !made};
    }
    return stage;
}

/* --- rules of thumb ---------------------------------------------------------------------- */

static Mask lead_by_rule(const Seating *table, int seat, Mask hand, Mask hidden, int first) {
    const Layout *cards = table->cards;
    Mask held = hand & cards->trumps, high = held ? 1u << HIGHEST(held) : 0;
    if (high && ours(table, seat)) {
        int many = seat == table->caller ? COUNT(held) >= 3 : first;
        if (many || hidden < high) return high;
    }
    if (held == hand) return high;
    Mask best = 0, low = 0;
    int best_price = 1000, low_price = 1000;
    for (int side = 0; side < 3; side++) {
        Mask own = hand & cards->sides[side], higher = hidden & cards->sides[side];
        if (!own) continue;
        Mask boss = higher ? own & ~((2u << HIGHEST(higher)) - 1) : own;
        Mask bit = boss ? boss & -boss : own & -own;
        int price = COUNT(own) * 32 + cards->card[LOWEST(bit)];
        if (boss && price < best_price) best = bit, best_price = price;
        if (!boss && price < low_price) low = bit, low_price = price;
    }
    return best ? best : low;
}

static Mask follow_by_rule(const Seating *table, Mask hand, Mask hidden, const Stage *stage) {
    const Layout *cards = table->cards;
    Mask trumps = cards->trumps, led = stage->led, best = stage->best, own = hand & led;
    int partners = stage->by == (stage->seat ^ 2), last = stage->laid == table->chairs - 1;
    Mask lowest = own ? own & -own : spare(cards, hand);
    if (partners && (last || best & trumps || (hidden & led) < best)) return lowest;
    Mask beating = (own ? own : hand & trumps) & (led | trumps) & -(best << 1);
    if (!beating) return lowest;
    Mask cheapest = beating & -beating, highest = 1u << HIGHEST(beating);
    if (last || cheapest & trumps) return cheapest;
    if ((hidden & led) < highest) return highest;
    return partners ? lowest : cheapest;
}

/* The card of whoever is next, by the rules; `first` is whether no card has been played. */
static Mask card_by_rule(const Seating *table, Mask hand, Mask hidden, const Stage *stage) {
    Mask legal = stage->laid && hand & stage->led ? hand & stage->led : hand;
    if (!(legal & (legal - 1))) return legal;
    if (stage->laid) return follow_by_rule(table, hand, hidden, stage);
    return lead_by_rule(table, stage->seat, hand, hidden, !(stage->won + stage->lost));
}

/* Whether the points are certain, before a trick. */
static int settled(const Stage *stage) {
    if (stage->laid) return 0;
    return stage->won == TRICKS ||
           (stage->lost && (stage->won >= MADE || stage->lost > TRICKS - MADE));
}

static int played_out(const Seating *table, const Mask hands[], const Mask hidden[], Stage stage) {
    Mask held[SEATS];
    memcpy(held, hands, sizeof held);
    while (!settled(&stage)) {
        int seat = stage.seat;
        Mask card = card_by_rule(table, held[seat], hidden[seat] & ~stage.gone, &stage);
        held[seat] ^= card;
        stage = after(table, stage, card);
    }
    return points(table, stage.won, stage.lost);
}

/* --- exact search ------------------------------------------------------------------------ */

enum { SLOTS = 1 << 16 };

typedef struct { uint32_t key, stamp; int8_t makes; } Known;

typedef struct {
    const Seating *table;
    Mask hands[SEATS], held;
} Search;

static Known known[SLOTS];
static uint32_t stamp;

static Search search(const Seating *table, const Mask hands[]) {
    Search world = {table, {0}, 0};
    if (!++stamp) memset(known, 0, sizeof known), stamp = 1;
    for (int seat = 0; seat < SEATS; seat++)
        if (!(table->out >> seat & 1)) world.held |= world.hands[seat] = hands[seat];
    return world;
}

static int lead_makes(Search *world, Mask held, int seat, int need);

static int follow_makes(Search *world, Mask held, Mask laid, Stage trick, int need, int left) {
    const Seating *table = world->table;
    const Layout *cards = table->cards;
    int seat = trick.seat, us = ours(table, seat);
    Mask own = world->hands[seat] & held, win = trick.led | cards->trumps;
    Mask legal = own & trick.led ? own & trick.led : own;
    while (legal) {
        Mask block = next_block(cards, &legal, held | laid), card = 1u << HIGHEST(block);
        Stage then = trick;
        if (card & win && card > trick.best) then.best = card, then.by = seat;
        then.seat = next_from(table, seat + 1);
        int makes = left == 1
            ? lead_makes(world, held ^ card, then.by, need - ours(table, then.by))
            : follow_makes(world, held ^ card, laid | card, then, need, left - 1);
        if (makes == us) return us;
    }
    return !us;
}

static int lead_makes(Search *world, Mask held, int seat, int need) {
    const Seating *table = world->table;
    Mask own = world->hands[seat] & held, legal = own;
    if (need <= 0) return 1;
    if (need > COUNT(own)) return 0;
    uint32_t key = held | (uint32_t)seat << 24 | (uint32_t)need << 26;
    uint32_t slot = key * 2654435761u >> 16;
    while (known[slot].stamp == stamp) {
        if (known[slot].key == key) return known[slot].makes;
        slot = (slot + 1) & (SLOTS - 1);
    }
    int us = ours(table, seat), makes = !us;
    while (legal) {
        Mask block = next_block(table->cards, &legal, held), card = 1u << HIGHEST(block);
        Stage trick = {next_from(table, seat + 1), 0, 1, table->cards->suit[HIGHEST(block)],
                       card, seat, 0, 0};
        if (follow_makes(world, held ^ card, card, trick, need, table->chairs - 1) == us) {
            makes = us;
            break;
        }
    }
    for (slot = key * 2654435761u >> 16; known[slot].stamp == stamp;) slot = (slot + 1) & (SLOTS - 1);
    known[slot] = (Known){key, stamp, (int8_t)makes};
    return makes;
}

/* Whether the caller's side wins `need` more tricks from that stage on; `laid` is the trick. */
static int makes_from(Search *world, Stage stage, Mask laid, int need) {
    Mask held = world->held & ~stage.gone;
    if (!stage.laid) return lead_makes(world, held, next_from(world->table, stage.seat), need);
    return follow_makes(world, held, laid, stage, need, world->table->chairs - stage.laid);
}

/* Points of the caller's side when all play perfectly. */
static int open_points(Search *world, Stage stage, Mask laid) {
    if (!makes_from(world, stage, laid, MADE - stage.won)) return points(world->table, 0, TRICKS);
    if (stage.lost || !makes_from(world, stage, laid, TRICKS - stage.won))
        return points(world->table, MADE, TRICKS - MADE);
    return points(world->table, TRICKS, 0);
}
