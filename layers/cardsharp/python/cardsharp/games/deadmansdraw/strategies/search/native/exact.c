/* The exact value of a position with few unseen cards: see exact.h.
 *
 * Positions of one key are worth the same: the key leaves out what no card that may still come into
 * play can reach. It is kept as 124 bits; that two fall together by chance is one in 10^20. A rough
 * solver leaves out nothing, so that it works out as much as its twin, and keeps 62 bits: one in 10^7
 * searches of 500,000 positions takes one for another. */
#if defined(__x86_64__)
#pragma GCC target("popcnt")
#endif
#include "exact.h"

#include <stdlib.h>
#include <string.h>

#include "value_cache.h"

enum { WAYS = 4, LOW = 15, SAMPLED = 16, MOST_GAIN = 80 };
enum { BONUS_SAMPLES = 8, SAMPLE_BITS = 8 }; /* of a rough solver */

typedef struct { uint64_t name; double value; } Slot; /* `name` ends with the cards left */
typedef struct { uint64_t name, check; } Name;

/* Picks of a bonus, which are the same each time. */
typedef struct { Cards discard; int wanted; Cards picks[BONUS_SAMPLES]; } BonusSamples;

struct Exact {
    uint64_t sets;
    int64_t nodes, max_nodes;
    double picks;
    bool sampled, groups, rough;
    Slot *slots;      /* NULL where it is rough */
    uint64_t *checks; /* the other half of the name in each slot */
    ValueCache cache; /* of a rough solver, as are the last samples */
    BonusSamples samples[1 << SAMPLE_BITS];
};

/* A turn under way. `saved` is what lies before the Anchor. */
typedef struct { Cards own, other, pile, discard, area, saved; int lead; } Position;

static double next_turn_value(Exact *exact, const Position *ended, Cards banked, Card known);
static double value_of_placing(Exact *exact, const Position *before, Card card, int owed);

/* --- sets of cards --- */

static const Cards LOWEST = 0x041041041041041u; /* the lowest card of each suit */

static bool holds_suit(Cards cards, Suit suit) { return cards & SUIT_MASK(suit); }

/* All cards of the suits of `cards`. */
static Cards cards_of_same_suits(Cards cards) {
    Cards lower = LOWEST * 31, any = (((cards & lower) + lower) | cards) & LOWEST << 5;
    return any | (any - (any >> 5));
}

/* The cards, and all below one of them in its suit. */
static Cards with_lower(Cards cards) {
    cards |= cards >> 1 & ~(LOWEST * 32);
    cards |= cards >> 2 & ~(LOWEST * 48);
    return cards | (cards >> 4 & ~(LOWEST * 60));
}

static Cards top_cards(Cards cards) {
    Cards under = with_lower(cards);
    return under & ~(under >> 1 & ~(LOWEST * 32));
}

static int bank_points(Cards bank) {
    Cards lower = with_lower(bank); /* a suit's lowest card is worth two */
    return count(lower) + count(lower & LOWEST) + 2 * holds_suit(bank, MERMAID);
}

/* --- what can still happen --- */

/* What may come: suits that may yet come to lie, as all their cards; whether the opponent may have
 * another turn, a treasure bring cards, and a bank lose any. */
typedef struct { Cards come; bool reply, bonus, own_falls, other_falls; } Reach;

static const Cards PAIR = SUIT_MASK(CHEST) | SUIT_MASK(KEY);

static Cards spread(const Position *at, const Reach *reach, Cards come, bool bonus) {
    Cards own = at->own | at->area, cards = 0;
    if (come & (SUIT_MASK(HOOK) | SUIT_MASK(SWORD))) {
        if (reach->reply) cards |= own | at->other;
        cards |= come & SUIT_MASK(HOOK) ? at->own : 0;
        cards |= come & SUIT_MASK(SWORD) ? at->other : 0;
        if (bonus) cards |= at->discard;
    }
    if (come & SUIT_MASK(MAP)) {
        cards |= at->discard | at->area;
        if (come & SUIT_MASK(CANNON)) cards |= own | at->other;
    }
    return cards;
}

/* `forced` of the draws to come must be made by who is to act. */
static Reach reach_of(const Position *at, int forced) {
    const Cards robbers = SUIT_MASK(SWORD) | SUIT_MASK(CANNON);
    Reach reach = {cards_of_same_suits(at->pile), count(at->pile) > forced, false, false, false};
    Cards lying = cards_of_same_suits(at->area), before, may;
    do {
        before = reach.come;
        may = reach.reply ? before : before & ~lying;
        reach.bonus = ((may | lying) & PAIR) == PAIR;
        reach.come |= cards_of_same_suits(spread(at, &reach, may, reach.bonus));
    } while (reach.come != before);
    bool hook = may & SUIT_MASK(HOOK), robber = may & robbers;
    reach.own_falls = hook || (reach.reply && robber);
    reach.other_falls = robber || (reach.reply && hook);
    return reach;
}

/* --- what is remembered --- */

typedef struct { Cards own, other, pile, discard, area, saved; int lead, mark; } Key;

/* A turn's beginning, free to stop, or with so many draws owed; before the cards of a treasure. */
enum { TURN_START, VOLUNTARY, FORCED, BONUS = FORCED + KRAKEN_DRAWS + 1 };

static int forced_by(int mark) { return mark == TURN_START ? 1 : mark == VOLUNTARY ? 0 : mark - FORCED; }

/* What of a position still matters at such a moment. */
static Key key_of(const Position *at, int mark) {
    Key key = {at->own, at->other, at->pile, at->discard, at->area, at->saved, at->lead, mark};
    Reach reach = reach_of(at, forced_by(mark));
    bool folds = !reach.bonus && !(reach.come & SUIT_MASK(SWORD));
    if (!reach.bonus && !(reach.come & SUIT_MASK(MAP))) key.discard = 0;
    if (!reach.own_falls) key.own = top_cards(at->own);
    if (!reach.other_falls) key.other = top_cards(at->other);
    if (folds && !reach.own_falls) {
        Cards gone = key.own & ~(reach.come | cards_of_same_suits(at->area));
        key.lead += bank_points(gone);
        key.own &= ~gone;
    }
    if (folds && !reach.other_falls) {
        Cards gone = key.other & ~(reach.reply ? reach.come : 0);
        key.lead -= bank_points(gone);
        key.other &= ~gone;
    }
    return key;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

static bool is_of(const Exact *exact, const Slot *slot, const Name *name) {
    if ((slot->name ^ name->name) & ~(uint64_t)SAMPLED) return false;
    return exact->checks[slot - exact->slots] == name->check;
}

static uint64_t hash_of(const Key *key, uint64_t seed) {
    uint64_t words[] = {key->own, key->other, key->pile, key->discard, key->area, key->saved};
    uint64_t hash = seed + (uint32_t)(key->lead * 8 + key->mark);
    for (int i = 0; i < 6; i++) hash = mix(hash, words[i]);
    return hash;
}

static Name name_of(const Key *key) {
    uint64_t hash = mix(hash_of(key, 0x94d049bb133111ebu), 0) & ~(uint64_t)(LOW | SAMPLED);
    return (Name){hash | (unsigned)count(key->pile), hash_of(key, 0)};
}

static Slot *set_of(const Exact *exact, uint64_t name) {
    return exact->slots + WAYS * (name >> 5 & (exact->sets - 1));
}

/* The slot of a name, or the one to give it: empty, or with the fewest cards left. */
static Slot *slot_of(const Exact *exact, const Name *name) {
    Slot *set = set_of(exact, name->name), *worst = set;
    for (Slot *slot = set; slot < set + WAYS; slot++) {
        if (is_of(exact, slot, name)) return slot;
        if ((slot->name & LOW) < (worst->name & LOW)) worst = slot;
    }
    return worst;
}

static double recalled(Exact *exact, const Slot *slot) {
    exact->sampled |= (slot->name & SAMPLED) != 0;
    return slot->value;
}

/* Keeps what a name is worth, unless it was given up; `sampled` is how all before it were. */
static double remember(Exact *exact, const Name *name, double value, bool sampled) {
    if (exact->nodes > exact->max_nodes) return 0.0;
    Slot *slot = slot_of(exact, name); /* others may have come meanwhile */
    *slot = (Slot){name->name | (exact->sampled ? SAMPLED : 0), value};
    exact->checks[slot - exact->slots] = name->check;
    exact->sampled |= sampled;
    return value;
}

/* --- what a rough solver remembers --- */

/* The halves of the product, added without carry: one multiplication mixes two words. */
static uint64_t mix_product(uint64_t one, uint64_t two) {
    unsigned __int128 product = (unsigned __int128)one * two;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The key of a moment. The numbers are random. */
static uint64_t cache_key(const Position *at, int mark) {
    uint64_t banks = mix_product(at->own ^ 0xa0761d6478bd642fu, at->other ^ 0xe7037ed1a0b428dbu);
    uint64_t piles = mix_product(at->pile ^ 0x8ebc6af09c88c6e3u, at->discard ^ 0x589965cc75374cc3u);
    uint64_t turn = mix_product(at->area ^ 0x1d8e4e27c47d124fu, at->saved ^ 0xeb44accab455d165u);
    uint64_t rest = (piles ^ turn) + (uint64_t)mark;
    return mix_product(banks ^ 0x9e3779b97f4a7c15u, rest) & ~(uint64_t)KIND_BITS;
}

/* Keeps what a moment is worth, unless it was given up. It gives up without memory. */
static double store_moment_value(Exact *exact, uint64_t key, double value) {
    if (exact->nodes > exact->max_nodes) return 0.0;
    if (!store_value(&exact->cache, key, value)) exact->nodes = exact->max_nodes + 1;
    return value;
}

/* --- the end of a turn --- */

static double lead_value(int lead) { return lead > 0 ? 1.0 : lead ? 0.0 : 0.5; }

static bool holds_chest_and_key(Cards cards) { return holds_suit(cards, CHEST) && holds_suit(cards, KEY); }

static double ways_of(int number, int chosen) {
    double ways = chosen <= number;
    for (int i = 0; i < chosen; i++) ways = ways * (number - i) / (i + 1);
    return ways;
}

typedef struct {
    Exact *exact;
    const Position *ended;
    Cards banked, apart; /* of the suits `apart` only points count */
    Card known;
    double ways[SUITS + 1][MOST_GAIN]; /* of picking so many of `apart` for so many points */
} Bonus;

/* One more suit of which only the points count. */
static void add_suit(Bonus *bonus, Cards cards, int wanted) {
    double before[SUITS + 1][MOST_GAIN];
    int held = bank_points(bonus->banked);
    memcpy(before, bonus->ways, sizeof before);
    for (int lower = 0; cards; cards &= cards - 1, lower++) {
        int gain = bank_points(bonus->banked | BIT(lowest(cards))) - held;
        for (int taken = 1; taken <= lower + 1 && taken <= wanted; taken++) {
            double ways = ways_of(lower, taken - 1);
            for (int there = 0; there + taken <= wanted; there++) {
                for (int won = 0; won + gain < MOST_GAIN; won++) {
                    bonus->ways[there + taken][won + gain] += ways * before[there][won];
                }
            }
        }
    }
}

/* With `got` picked, and `gain` points besides. */
static double with_picked(const Bonus *bonus, Cards got, int gain) {
    Position picked = *bonus->ended;
    picked.discard &= ~got;
    picked.lead += gain;
    return next_turn_value(bonus->exact, &picked, bonus->banked | got, bonus->known);
}

/* With `got` picked one by one, and `wanted` more of those of which only points count. */
static double with_points(const Bonus *bonus, Cards got, int wanted) {
    double sum = 0.0;
    for (int won = 0; won < (wanted ? MOST_GAIN : 1); won++) {
        double ways = bonus->ways[wanted][won];
        if (ways) sum += ways * with_picked(bonus, got, won);
    }
    return sum;
}

/* The sum over all picks of `wanted` cards, those of `from` one by one. */
static double over_picks(const Bonus *bonus, Cards got, Cards from, int wanted) {
    double sum = with_points(bonus, got, wanted);
    for (; from && wanted && bonus->exact->nodes <= bonus->exact->max_nodes; from &= from - 1) {
        sum += over_picks(bonus, got | BIT(lowest(from)), from & (from - 1), wanted - 1);
    }
    return sum;
}

/* The mean over some picks, the same each time, for a solver that is not rough. */
static double over_some(const Bonus *bonus, Cards from, int wanted) {
    Rng rng = {bonus->ended->discard + (uint64_t)wanted};
    int number = (int)bonus->exact->picks;
    double sum = 0.0;
    bonus->exact->sampled = true;
    for (int i = 0; i < number && bonus->exact->nodes <= bonus->exact->max_nodes; i++) {
        Cards rest = from, got = 0;
        for (int j = 0; j < wanted; j++) got |= BIT(rng_take(&rng, &rest));
        sum += with_picked(bonus, got, 0);
    }
    return sum / number;
}

static const BonusSamples *find_samples(Exact *exact, Cards discard, int wanted) {
    uint64_t seed = discard + (uint64_t)wanted;
    BonusSamples *samples = exact->samples + (seed * 0x9e3779b97f4a7c15u >> (64 - SAMPLE_BITS));
    if (samples->discard == discard && samples->wanted == wanted) return samples;
    samples->discard = discard;
    samples->wanted = wanted;
    Rng rng = {seed};
    for (int i = 0; i < BONUS_SAMPLES; i++) {
        Cards rest = discard;
        for (int j = 0; j < wanted; j++) rng_take(&rng, &rest);
        samples->picks[i] = discard & ~rest;
    }
    return samples;
}

/* The mean over the samples of a rough solver. */
static double sampled_bonus_value(Exact *exact, const Position *ended, Cards banked, int wanted, Card known) {
    BonusSamples samples = *find_samples(exact, ended->discard, wanted);
    double sum = 0.0;
    for (int i = 0; i < BONUS_SAMPLES; i++) {
        Position picked = *ended;
        picked.discard &= ~samples.picks[i];
        sum += next_turn_value(exact, &picked, banked | samples.picks[i], known);
    }
    return sum / BONUS_SAMPLES;
}

static double expected_bonus_value(Exact *exact, const Position *ended, Cards banked, int wanted,
                                   Card known) {
    Bonus bonus = {exact, ended, banked, 0, known, {{1.0}}};
    Position begins = {ended->other, banked, ended->pile, ended->discard, 0, 0, 0};
    Reach reach = reach_of(&begins, 1);
    int all = count(ended->discard);
    if (!reach.bonus && !reach.other_falls && !(reach.come & (SUIT_MASK(SWORD) | SUIT_MASK(MAP)))) {
        bonus.apart = ended->discard & ~(reach.reply ? reach.come : 0);
    }
    Cards singly = ended->discard & ~bonus.apart;
    if (ways_of(count(singly), wanted) > exact->picks) return over_some(&bonus, ended->discard, wanted);
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (holds_suit(bonus.apart, suit)) add_suit(&bonus, bonus.apart & SUIT_MASK(suit), wanted);
    }
    return over_picks(&bonus, 0, singly, wanted) / ways_of(all, wanted);
}

/* After `banked`, with `wanted` cards of a treasure to come. */
static double cached_bonus_value(Exact *exact, const Position *ended, Cards banked, int wanted, Card known) {
    Key key = {ended->other, banked, ended->pile, ended->discard, (Cards)wanted, (Cards)(known + 1),
               ended->lead, BONUS};
    Name name = name_of(&key);
    Slot *slot = slot_of(exact, &name);
    if (is_of(exact, slot, &name)) return recalled(exact, slot);
    bool sampled = exact->sampled;
    exact->sampled = false;
    return remember(exact, &name, expected_bonus_value(exact, ended, banked, wanted, known), sampled);
}

/* After `got` was banked and what else lay there thrown away. */
static double banking_value(Exact *exact, const Position *ended, Cards got, Card known) {
    int all = count(ended->discard), wanted = count(got) < all ? count(got) : all;
    Cards banked = ended->own | got;
    if (!holds_chest_and_key(got) || !wanted) return next_turn_value(exact, ended, banked, known);
    if (exact->rough && wanted < all) return sampled_bonus_value(exact, ended, banked, wanted, known);
    if (wanted == all) {
        Position emptied = *ended;
        emptied.discard = 0;
        return next_turn_value(exact, &emptied, banked | ended->discard, known);
    }
    return cached_bonus_value(exact, ended, banked, wanted, known);
}

static double value_of_ending_turn(Exact *exact, const Position *at, Card known) {
    return banking_value(exact, at, at->area, known);
}

/* The end of the match, with no treasure in `got`. */
static double end_of_match_value(Exact *exact, const Position *at, Cards got) {
    exact->nodes += exact->rough;
    return lead_value(bank_points(at->own | got) - bank_points(at->other) + at->lead);
}

static double value_of_bust(Exact *exact, const Position *at, Card card) {
    if (!at->pile && !holds_chest_and_key(at->saved)) return end_of_match_value(exact, at, at->saved);
    Position after = *at;
    after.discard |= BIT(card) | (at->area & ~at->saved);
    return banking_value(exact, &after, at->saved, NO_CARD);
}

/* --- drawing --- */

static double value_of_drawn_card(Exact *exact, const Position *at, Card card, int owed) {
    Position drawn = *at;
    drawn.pile &= ~BIT(card);
    return value_of_placing(exact, &drawn, card, owed);
}

static double value_of_drawing(Exact *exact, const Position *at, int owed) {
    if (!at->pile) return value_of_ending_turn(exact, at, NO_CARD); /* of a match that begins without one */
    double sum = 0.0;
    for (Cards rest = at->pile; rest; rest &= rest - 1) {
        sum += value_of_drawn_card(exact, at, lowest(rest), owed);
    }
    return sum / count(at->pile);
}

/* The better of stopping and drawing, which is looked at until it cannot be the better one. */
static double stop_or_draw_value(Exact *exact, const Position *at) {
    double stopped = value_of_ending_turn(exact, at, NO_CARD), sum = 0.0;
    int number = count(at->pile);
    double leeway = number * (1.0 - stopped);
    Cards busting = at->pile & cards_of_same_suits(at->area), parts[] = {busting, at->pile & ~busting};
    for (int part = 0; part < 2; part++) {
        for (Cards rest = parts[part]; rest; rest &= rest - 1) {
            if (leeway <= 0.0) return stopped;
            double value = value_of_drawn_card(exact, at, lowest(rest), 0);
            sum += value;
            leeway -= 1.0 - value;
        }
    }
    return sum / number > stopped ? sum / number : stopped;
}

static double uncached_draw_value(Exact *exact, const Position *at, int mark) {
    return mark == VOLUNTARY ? stop_or_draw_value(exact, at)
                             : value_of_drawing(exact, at, mark > FORCED ? mark - FORCED - 1 : 0);
}

/* Whether the last card, drawn, leaves nothing to choose. */
static bool leaves_no_choice(Cards pile) {
    const Cards loud = SUIT_MASK(HOOK) | SUIT_MASK(SWORD) | SUIT_MASK(CANNON) | SUIT_MASK(MAP);
    return !(pile & (pile - 1)) && !(pile & loud);
}

/* The same as `uncached_draw_value` where the last card leaves nothing to choose. */
static double last_card_value(Exact *exact, const Position *at, int mark) {
    Cards drawn = at->area | at->pile;
    if (holds_chest_and_key(drawn)) return uncached_draw_value(exact, at, mark);
    double stopped = 0.0;
    if (mark == VOLUNTARY) {
        Position ended = {at->other, at->own | at->area, 0, 0, 0, 0, -at->lead};
        exact->nodes += exact->rough;
        stopped = 1.0 - end_of_match_value(exact, &ended, at->pile);
        if (stopped >= 1.0) return stopped;
    }
    bool busts = at->area & cards_of_same_suits(at->pile);
    double value = end_of_match_value(exact, at, busts ? at->saved : drawn);
    return value > stopped ? value : stopped;
}

/* A moment before the next draw. */
static double cached_draw_value(Exact *exact, const Position *at, int mark) {
    if (exact->nodes > exact->max_nodes) return 0.0;
    if (leaves_no_choice(at->pile)) return last_card_value(exact, at, mark);
    if (exact->rough) {
        uint64_t key = cache_key(at, mark), stored = stored_key(&exact->cache, key);
        return stored ? stored_value(&exact->cache, stored)
                      : store_moment_value(exact, key, uncached_draw_value(exact, at, mark));
    }
    Key key = key_of(at, mark);
    Name name = name_of(&key);
    Slot *slot = slot_of(exact, &name);
    if (is_of(exact, slot, &name)) return recalled(exact, slot);
    bool sampled = exact->sampled;
    exact->sampled = false;
    exact->nodes++;
    return remember(exact, &name, uncached_draw_value(exact, at, mark), sampled);
}

static double next_turn_value(Exact *exact, const Position *ended, Cards banked, Card known) {
    exact->nodes += exact->rough;
    if (!ended->pile) return lead_value(bank_points(banked) - bank_points(ended->other) + ended->lead);
    Position begins = {ended->other, banked, ended->pile, ended->discard, 0, 0, -ended->lead};
    if (known != NO_CARD) return 1.0 - value_of_drawn_card(exact, &begins, known, 0);
    return 1.0 - cached_draw_value(exact, &begins, TURN_START);
}

static double value_with_kraken_draws(Exact *exact, const Position *at, int owed) {
    if (!at->pile) {
        if (holds_chest_and_key(at->area)) return value_of_ending_turn(exact, at, NO_CARD);
        return end_of_match_value(exact, at, at->area);
    }
    int left = count(at->pile), draws = owed < left ? owed : left;
    return cached_draw_value(exact, at, draws ? FORCED + draws : VOLUNTARY);
}

/* --- effects --- */

static double value_of_hook_target(Exact *exact, const Position *at, Card card) {
    Position taken = *at;
    taken.own &= ~BIT(card);
    return value_of_placing(exact, &taken, card, 0);
}

static double value_of_sword_target(Exact *exact, const Position *at, Card card) {
    Position taken = *at;
    taken.other &= ~BIT(card);
    return value_of_placing(exact, &taken, card, 0);
}

static double value_of_cannon_target(Exact *exact, const Position *at, Card card, int owed) {
    Position shot = *at;
    shot.other &= ~BIT(card);
    shot.discard |= BIT(card);
    return value_with_kraken_draws(exact, &shot, owed);
}

static double value_of_taking_map_card(Exact *exact, const Position *at, Card card) {
    Position taken = *at;
    taken.discard &= ~BIT(card);
    return value_of_placing(exact, &taken, card, 0);
}

static double best_target_value(Exact *exact, const Position *at, Suit effect, Cards targets, int owed) {
    double best = -1.0;
    for (; targets && best < 1.0; targets &= targets - 1) {
        Card card = lowest(targets);
        double value = effect == HOOK    ? value_of_hook_target(exact, at, card)
                       : effect == SWORD ? value_of_sword_target(exact, at, card)
                                         : value_of_cannon_target(exact, at, card, owed);
        if (value > best) best = value;
    }
    return best;
}

/* The cards of a suit that bring nothing where a Map offers them. */
static Cards idle_cards(const Position *at, Suit suit) {
    Cards cards = at->discard & SUIT_MASK(suit), top = top_cards(at->own & SUIT_MASK(suit));
    return holds_suit(at->area, suit) ? cards : top ? cards & (top - 1) : 0;
}

/* What a Map that offers each of these cards is worth: of one suit, all that bring nothing more than
 * another count as it where the solver groups, as do those that bring more. */
static void weigh_map(Exact *exact, const Position *at, double values[DECK]) {
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards cards = at->discard & SUIT_MASK(suit), idle = idle_cards(at, suit);
        for (int rising = 0; rising < 2; rising++) {
            Cards group = rising ? cards & ~idle : idle;
            Card like = !group ? NO_CARD : rising ? middle(group) : top_of(group, suit);
            double value = exact->groups && group ? value_of_taking_map_card(exact, at, like) : 0.0;
            for (; group; group &= group - 1) {
                values[lowest(group)] =
                    exact->groups ? value : value_of_taking_map_card(exact, at, lowest(group));
            }
        }
    }
}

typedef struct { double value; int number; } Offered;

/* Adds so many cards of a value, in ascending order; the number of values. */
static int add_offered(Offered offered[], int groups, double value, int number) {
    int at = groups;
    for (; at && offered[at - 1].value > value; at--) offered[at] = offered[at - 1];
    offered[at] = (Offered){value, number};
    return groups + 1;
}

/* The same as `weigh_map`, for a solver that groups. */
static int weigh_groups(Exact *exact, const Position *at, Offered offered[2 * SUITS]) {
    int groups = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards cards = at->discard & SUIT_MASK(suit);
        if (!cards) continue;
        Cards idle = idle_cards(at, suit), rising = cards & ~idle;
        if (idle) {
            double value = value_of_taking_map_card(exact, at, top_of(idle, suit));
            groups = add_offered(offered, groups, value, count(idle));
        }
        if (rising) {
            double value = value_of_taking_map_card(exact, at, middle(rising));
            groups = add_offered(offered, groups, value, count(rising));
        }
    }
    return groups;
}

static double expected_map_value(Exact *exact, const Position *at) {
    double values[DECK], all[DECK];
    int number = 0;
    if (exact->groups) {
        Offered offered[2 * SUITS];
        int groups = weigh_groups(exact, at, offered);
        for (int i = 0; i < groups; i++) {
            for (int same = 0; same < offered[i].number; same++) all[number++] = offered[i].value;
        }
        return best_of_sorted(all, number);
    }
    weigh_map(exact, at, values);
    for (Cards rest = at->discard; rest; rest &= rest - 1) all[number++] = values[lowest(rest)];
    return best_of_offer(all, number);
}

static double shown_card_value(Exact *exact, const Position *at, Card card, int owed) {
    double stopped = value_of_ending_turn(exact, at, card),
           taken = value_of_drawn_card(exact, at, card, owed > 0 ? owed - 1 : 0);
    return taken > stopped ? taken : stopped;
}

static double expected_oracle_value(Exact *exact, const Position *at, int owed) {
    double sum = 0.0;
    for (Cards rest = at->pile; rest; rest &= rest - 1) {
        sum += shown_card_value(exact, at, lowest(rest), owed);
    }
    return sum / count(at->pile);
}

/* What the effect of the card that was laid last is worth, or the turn where it has none. */
static double effect_value(Exact *exact, const Position *at, Suit suit, int owed) {
    Cards targets = suit == HOOK     ? top_cards(at->own)
                    : suit == CANNON ? top_cards(at->other)
                    : suit == SWORD  ? top_cards(at->other & ~cards_of_same_suits(at->own))
                                     : 0;
    if (targets) return best_target_value(exact, at, suit, targets, owed);
    if (suit == MAP && at->discard) return expected_map_value(exact, at);
    if (suit == ORACLE && at->pile) return expected_oracle_value(exact, at, owed);
    return value_with_kraken_draws(exact, at, suit == KRAKEN ? KRAKEN_DRAWS : owed);
}

static double value_of_placing(Exact *exact, const Position *before, Card card, int owed) {
    const Cards without_effect = SUIT_MASK(KEY) | SUIT_MASK(CHEST) | SUIT_MASK(MERMAID);
    Suit suit = suit_of(card);
    if (holds_suit(before->area, suit)) return value_of_bust(exact, before, card);
    Position laid = *before;
    laid.area |= BIT(card);
    if (BIT(card) & without_effect) return value_with_kraken_draws(exact, &laid, owed);
    if (suit == ANCHOR) laid.saved = before->area;
    return effect_value(exact, &laid, suit, owed);
}

/* --- at the table --- */

static double answer_value(Exact *exact, const Table *table, const Position *at, Card card) {
    switch (table->pending) {
        case HOOK: return value_of_hook_target(exact, at, card);
        case SWORD: return value_of_sword_target(exact, at, card);
        case CANNON: return value_of_cannon_target(exact, at, card, table->owed);
        case MAP: return value_of_taking_map_card(exact, at, card);
        default: return value_of_drawn_card(exact, at, card, table->owed > 0 ? table->owed - 1 : 0);
    }
}

static Position position_of(const Table *table) {
    int me = table->player;
    Cards offered = table->pending == MAP ? answers(table) : 0;
    return (Position){table->bank[me], table->bank[1 - me], table->pile, table->discard | offered, table->area,
                      lies(table, ANCHOR) ? saved_cards(table) : 0, 0};
}

static int owed_after(const Table *table) { return table->owed > 0 ? table->owed - 1 : 0; }

static void begin(Exact *exact) {
    exact->nodes = 0;
    exact->sampled = false;
    if (exact->rough && !value_cache_clear(&exact->cache)) exact->nodes = exact->max_nodes + 1;
}

int exact_weigh(Exact *exact, const Table *table, Option options[MOST_OPTIONS]) {
    Position at = position_of(table);
    int number = 0, owed = owed_after(table);
    begin(exact);
    for (Cards cards = answers(table); cards; cards &= cards - 1) {
        options[number++] = (Option){lowest(cards), answer_value(exact, table, &at, lowest(cards))};
    }
    if (legal(table, DRAW)) {
        Card known = table->known_top;
        double value = known == NO_CARD ? value_of_drawing(exact, &at, owed)
                                        : value_of_drawn_card(exact, &at, known, owed);
        options[number++] = (Option){DRAW, value};
    }
    if (legal(table, END_TURN)) {
        options[number++] = (Option){END_TURN, value_of_ending_turn(exact, &at, table->known_top)};
    }
    return exact->nodes > exact->max_nodes ? 0 : number;
}

/* --- every outcome of a chance --- */

void exact_drawn(Exact *exact, const Table *table, double values[DECK]) {
    Position at = position_of(table);
    begin(exact);
    for (Cards rest = at.pile; rest; rest &= rest - 1) {
        values[lowest(rest)] = value_of_drawn_card(exact, &at, lowest(rest), owed_after(table));
    }
}

void exact_shown(Exact *exact, const Table *table, double values[DECK]) {
    Position at = position_of(table);
    begin(exact);
    for (Cards rest = at.pile; rest; rest &= rest - 1) {
        values[lowest(rest)] = shown_card_value(exact, &at, lowest(rest), table->owed);
    }
}

void exact_offered(Exact *exact, const Table *table, double values[DECK]) {
    Position at = position_of(table);
    begin(exact);
    weigh_map(exact, &at, values);
}

double exact_bonus(Exact *exact, const Table *after, Cards got) {
    int me = 1 - after->player;
    Cards banked = after->bank[me];
    Position ended = {0, after->bank[1 - me], after->pile, after->discard, 0, 0, 0};
    begin(exact);
    double won = next_turn_value(exact, &ended, banked, after->known_top);
    ended.discard |= got;
    return won - cached_bonus_value(exact, &ended, banked & ~got, count(got), after->known_top);
}

int64_t exact_nodes(const Exact *exact) { return exact->nodes; }

bool exact_sampled(const Exact *exact) { return exact->sampled; }

Exact *exact_new(int bits, int64_t max_nodes, double picks, bool groups) {
    Exact *exact = calloc(1, sizeof *exact);
    exact->sets = (uint64_t)1 << bits;
    exact->slots = calloc(WAYS * exact->sets, sizeof *exact->slots);
    exact->checks = calloc(WAYS * exact->sets, sizeof *exact->checks);
    exact->max_nodes = max_nodes;
    exact->picks = picks;
    exact->groups = groups;
    return exact;
}

Exact *exact_rough(int64_t max_nodes) {
    Exact *exact = calloc(1, sizeof *exact);
    exact->max_nodes = max_nodes;
    exact->groups = exact->rough = true;
    return exact;
}

void exact_free(Exact *exact) {
    free(exact->slots);
    free(exact->checks);
    value_cache_free(&exact->cache);
    free(exact);
}

/* --- a turn under way --- */

static Position position_at(const Places *at) {
    return (Position){at->own, at->other, at->pile, at->discard, at->area, at->saved, 0};
}

void exact_begin(Exact *exact, int64_t max_nodes) {
    exact->max_nodes = max_nodes;
    begin(exact);
}

double exact_placing(Exact *exact, const Places *places, Card card, int owed) {
    Position at = position_at(places);
    return value_of_placing(exact, &at, card, owed);
}

double exact_drawing(Exact *exact, const Places *places, Card known, int owed) {
    Position at = position_at(places);
    return known == NO_CARD ? value_of_drawing(exact, &at, owed)
                            : value_of_drawn_card(exact, &at, known, owed);
}

double exact_stopping(Exact *exact, const Places *places, Card known) {
    Position at = position_at(places);
    return value_of_ending_turn(exact, &at, known);
}

double exact_going_on(Exact *exact, const Places *places, int owed) {
    Position at = position_at(places);
    return value_with_kraken_draws(exact, &at, owed);
}
