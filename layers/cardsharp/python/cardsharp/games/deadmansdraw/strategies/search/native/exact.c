/* The endgame solver (exact.h).
 *
 * Positions of one key have the same value: the key leaves out what no card that may still come
 * can change. It is stored as a hash of 124 bits; the probability that two of them are equal by
 * chance is 1 in 10^20. The approximate solver, which is the twin of endgame.py, leaves out
 * nothing, so that it visits as many positions as its twin. It stores 62 bits: one in 10^7
 * searches of 500,000 positions confuses two positions. */
#if defined(__x86_64__)
#pragma GCC target("popcnt")
#endif
#include "exact.h"

#include <stdlib.h>
#include <string.h>

#include "value_cache.h"

enum { SLOTS_PER_SET = 4, PILE_COUNT_BITS = 15, SAMPLED_BIT = 16, MAX_GAIN = 80 };
enum { BONUS_SAMPLES = 8, SAMPLE_BITS = 8 }; /* of the approximate solver */

/* The lowest bits of `hash` are the pile count. */
typedef struct { uint64_t hash; double value; } Slot;
typedef struct { uint64_t hash, check; } KeyHash;

/* Sampled picks of a bonus; the same bonus always has the same ones. */
typedef struct { Cards discard; int bonus_count; Cards picks[BONUS_SAMPLES]; } BonusSamples;

struct ExactSolver {
    uint64_t set_count;
    int64_t nodes, max_nodes;
    double max_picks;
    bool is_sampled, is_grouping, is_approximate;
    Slot *slots;      /* NULL in the approximate solver */
    uint64_t *checks; /* the other half of each slot's hash */
    ValueCache cache; /* of the approximate solver, as are the samples */
    BonusSamples samples[1 << SAMPLE_BITS];
};

/* A turn in progress. `saved` are the cards before the Anchor; `lead` is added to the lead of the
 * banks. */
typedef struct { Cards own_bank, opponent_bank, pile, discard, area, saved; int lead; } EndgameTurn;

static double next_turn_value(ExactSolver *exact, const EndgameTurn *turn_end, Cards banked,
                              Card known_top);
static double value_of_placing(ExactSolver *exact, const EndgameTurn *turn, Card card,
                               int kraken_draws);

/* --- sets of cards --- */

static const Cards LOWEST_CARDS = 0x041041041041041u; /* the lowest card of each suit */

static bool holds_suit(Cards cards, Suit suit) { return cards & SUIT_CARDS(suit); }

/* All cards of the suits of `cards`. */
static Cards cards_of_same_suits(Cards cards) {
    Cards lower = LOWEST_CARDS * 31, any = (((cards & lower) + lower) | cards) & LOWEST_CARDS << 5;
    return any | (any - (any >> 5));
}

/* The cards, and all lower ones of their suits. */
static Cards with_lower(Cards cards) {
    cards |= cards >> 1 & ~(LOWEST_CARDS * 32);
    cards |= cards >> 2 & ~(LOWEST_CARDS * 48);
    return cards | (cards >> 4 & ~(LOWEST_CARDS * 60));
}

static Cards top_cards(Cards cards) {
    Cards under = with_lower(cards);
    return under & ~(under >> 1 & ~(LOWEST_CARDS * 32));
}

static int bank_points(Cards bank) {
    Cards lower = with_lower(bank); /* a suit's lowest card is worth two */
    return count(lower) + count(lower & LOWEST_CARDS) + 2 * holds_suit(bank, MERMAID);
}

/* --- what can still happen --- */

/* What can still happen: the suits that can reach the play area, as all their cards; whether the
 * opponent can have another turn; whether a bonus can come; and which bank can lose cards. */
typedef struct {
    Cards possible_cards;
    bool can_reply, has_bonus, can_lose_own, can_lose_opponent;
} Reach;

static const Cards TREASURE = SUIT_CARDS(CHEST) | SUIT_CARDS(KEY);

static Cards reachable_cards(const EndgameTurn *turn, const Reach *reach, Cards possible_cards,
                             bool has_bonus) {
    Cards own_bank = turn->own_bank | turn->area, cards = 0;
    if (possible_cards & (SUIT_CARDS(HOOK) | SUIT_CARDS(SWORD))) {
        if (reach->can_reply) cards |= own_bank | turn->opponent_bank;
        cards |= possible_cards & SUIT_CARDS(HOOK) ? turn->own_bank : 0;
        cards |= possible_cards & SUIT_CARDS(SWORD) ? turn->opponent_bank : 0;
        if (has_bonus) cards |= turn->discard;
    }
    if (possible_cards & SUIT_CARDS(MAP)) {
        cards |= turn->discard | turn->area;
        if (possible_cards & SUIT_CARDS(CANNON)) cards |= own_bank | turn->opponent_bank;
    }
    return cards;
}

/* `forced_draws` of the coming draws must be made by the player to act. */
static Reach reach_of(const EndgameTurn *turn, int forced_draws) {
    const Cards attack_cards = SUIT_CARDS(SWORD) | SUIT_CARDS(CANNON);
    Reach reach = {cards_of_same_suits(turn->pile), count(turn->pile) > forced_draws, false, false,
                   false};
    Cards area_suits = cards_of_same_suits(turn->area), previous, reachable;
    do {
        previous = reach.possible_cards;
        reachable = reach.can_reply ? previous : previous & ~area_suits;
        reach.has_bonus = ((reachable | area_suits) & TREASURE) == TREASURE;
        reach.possible_cards |=
            cards_of_same_suits(reachable_cards(turn, &reach, reachable, reach.has_bonus));
    } while (reach.possible_cards != previous);
    bool has_hook = reachable & SUIT_CARDS(HOOK), has_attack = reachable & attack_cards;
    reach.can_lose_own = has_hook || (reach.can_reply && has_attack);
    reach.can_lose_opponent = has_attack || (reach.can_reply && has_hook);
    return reach;
}

/* --- the cache of the exact solver --- */

typedef struct { Cards own_bank, opponent_bank, pile, discard, area, saved; int lead, moment; } Key;

/* Moments of a draw: the first of a turn, a voluntary one, or one of so many due draws. The last
 * is the moment before a bonus. */
enum { TURN_START, VOLUNTARY, FORCED, BONUS = FORCED + KRAKEN_DRAWS + 1 };

static int forced_draw_count(int moment) {
    return moment == TURN_START ? 1 : moment == VOLUNTARY ? 0 : moment - FORCED;
}

/* The key of a position: what still matters of it at a moment. */
static Key turn_key(const EndgameTurn *turn, int moment) {
    Key key = {turn->own_bank, turn->opponent_bank, turn->pile, turn->discard, turn->area,
               turn->saved, turn->lead, moment};
    Reach reach = reach_of(turn, forced_draw_count(moment));
    bool can_fold = !reach.has_bonus && !(reach.possible_cards & SUIT_CARDS(SWORD));
    if (!reach.has_bonus && !(reach.possible_cards & SUIT_CARDS(MAP))) key.discard = 0;
    if (!reach.can_lose_own) key.own_bank = top_cards(turn->own_bank);
    if (!reach.can_lose_opponent) key.opponent_bank = top_cards(turn->opponent_bank);
    if (can_fold && !reach.can_lose_own) {
        Cards final_cards =
            key.own_bank & ~(reach.possible_cards | cards_of_same_suits(turn->area));
        key.lead += bank_points(final_cards);
        key.own_bank &= ~final_cards;
    }
    if (can_fold && !reach.can_lose_opponent) {
        Cards final_cards = key.opponent_bank & ~(reach.can_reply ? reach.possible_cards : 0);
        key.lead -= bank_points(final_cards);
        key.opponent_bank &= ~final_cards;
    }
    return key;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

static bool is_slot_of(const ExactSolver *exact, const Slot *slot, const KeyHash *hash) {
    if ((slot->hash ^ hash->hash) & ~(uint64_t)SAMPLED_BIT) return false;
    return exact->checks[slot - exact->slots] == hash->check;
}

static uint64_t hash_of(const Key *key, uint64_t seed) {
    uint64_t words[] = {key->own_bank, key->opponent_bank, key->pile, key->discard, key->area,
                        key->saved};
    uint64_t hash = seed + (uint32_t)(key->lead * 8 + key->moment);
    for (int i = 0; i < 6; i++) hash = mix(hash, words[i]);
    return hash;
}

static KeyHash hash_key(const Key *key) {
    uint64_t hash = mix(hash_of(key, 0x94d049bb133111ebu), 0);
    hash &= ~(uint64_t)(PILE_COUNT_BITS | SAMPLED_BIT);
    return (KeyHash){hash | (unsigned)count(key->pile), hash_of(key, 0)};
}

static Slot *slot_set(const ExactSolver *exact, uint64_t hash) {
    return exact->slots + SLOTS_PER_SET * (hash >> 5 & (exact->set_count - 1));
}

/* The slot of a hash, or the slot to replace: an empty one, or the one with the fewest unseen
 * cards. */
static Slot *find_slot(const ExactSolver *exact, const KeyHash *key_hash) {
    Slot *set = slot_set(exact, key_hash->hash), *worst = set;
    for (Slot *slot = set; slot < set + SLOTS_PER_SET; slot++) {
        if (is_slot_of(exact, slot, key_hash)) return slot;
        if ((slot->hash & PILE_COUNT_BITS) < (worst->hash & PILE_COUNT_BITS)) worst = slot;
    }
    return worst;
}

static double recall(ExactSolver *exact, const Slot *slot) {
    exact->is_sampled |= (slot->hash & SAMPLED_BIT) != 0;
    return slot->value;
}

/* Stores a value, unless the solver gave up. `was_sampled` is the state of `is_sampled` before it
 * was computed. */
static double remember(ExactSolver *exact, const KeyHash *key_hash, double value,
                       bool was_sampled) {
    if (exact->nodes > exact->max_nodes) return 0.0;
    Slot *slot = find_slot(exact, key_hash); /* other values may have been stored meanwhile */
    *slot = (Slot){key_hash->hash | (exact->is_sampled ? SAMPLED_BIT : 0), value};
    exact->checks[slot - exact->slots] = key_hash->check;
    exact->is_sampled |= was_sampled;
    return value;
}

/* --- the cache of the approximate solver --- */

/* The two halves of the product, combined without a carry: one multiplication mixes two words. */
static uint64_t mix_product(uint64_t first, uint64_t second) {
    unsigned __int128 product = (unsigned __int128)first * second;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The key of a position at a moment. The constants are random numbers. */
static uint64_t cache_key(const EndgameTurn *turn, int moment) {
    uint64_t banks = mix_product(turn->own_bank ^ 0xa0761d6478bd642fu,
                                 turn->opponent_bank ^ 0xe7037ed1a0b428dbu);
    uint64_t piles = mix_product(turn->pile ^ 0x8ebc6af09c88c6e3u,
                                 turn->discard ^ 0x589965cc75374cc3u);
    uint64_t area = mix_product(turn->area ^ 0x1d8e4e27c47d124fu,
                                turn->saved ^ 0xeb44accab455d165u);
    uint64_t rest = (piles ^ area) + (uint64_t)moment;
    return mix_product(banks ^ 0x9e3779b97f4a7c15u, rest) & ~(uint64_t)KIND_BITS;
}

/* Stores a value, unless the solver gave up. Without memory the solver gives up. */
static double store_moment_value(ExactSolver *exact, uint64_t key, double value) {
    if (exact->nodes > exact->max_nodes) return 0.0;
    if (!store_value(&exact->cache, key, value)) exact->nodes = exact->max_nodes + 1;
    return value;
}

/* --- the end of a turn --- */

static double lead_value(int lead) { return lead > 0 ? 1.0 : lead ? 0.0 : 0.5; }

static bool holds_chest_and_key(Cards cards) {
    return holds_suit(cards, CHEST) && holds_suit(cards, KEY);
}

static double combinations(int n, int k) {
    double ways = k <= n;
    for (int i = 0; i < k; i++) ways = ways * (n - i) / (i + 1);
    return ways;
}

typedef struct {
    ExactSolver *exact;
    const EndgameTurn *turn_end;
    Cards banked, point_cards; /* cards of which only the points matter */
    Card known_top;
    double ways[SUITS + 1][MAX_GAIN]; /* ways to pick so many of `point_cards` for so many points */
} Bonus;

/* Counts the ways for one more suit of which only the points matter. */
static void add_point_suit(Bonus *bonus, Cards cards, int bonus_count) {
    double previous_ways[SUITS + 1][MAX_GAIN];
    int bank_points_before = bank_points(bonus->banked);
    memcpy(previous_ways, bonus->ways, sizeof previous_ways);
    for (int lower_count = 0; cards; cards &= cards - 1, lower_count++) {
        int gain = bank_points(bonus->banked | BIT(lowest(cards))) - bank_points_before;
        for (int pick_count = 1; pick_count <= lower_count + 1 && pick_count <= bonus_count;
             pick_count++) {
            double ways = combinations(lower_count, pick_count - 1);
            for (int previous_count = 0; previous_count + pick_count <= bonus_count;
                 previous_count++) {
                for (int points = 0; points + gain < MAX_GAIN; points++) {
                    bonus->ways[previous_count + pick_count][points + gain] +=
                        ways * previous_ways[previous_count][points];
                }
            }
        }
    }
}

/* The value after these cards were picked, with `points` more in the bank. */
static double value_after_pick(const Bonus *bonus, Cards picked_cards, int points) {
    EndgameTurn turn_end = *bonus->turn_end;
    turn_end.discard &= ~picked_cards;
    turn_end.lead += points;
    return next_turn_value(bonus->exact, &turn_end, bonus->banked | picked_cards, bonus->known_top);
}

/* The sum over the picks of `pick_count` more cards of which only the points matter. */
static double sum_over_points(const Bonus *bonus, Cards picked_cards, int pick_count) {
    double total = 0.0;
    for (int points = 0; points < (pick_count ? MAX_GAIN : 1); points++) {
        double ways = bonus->ways[pick_count][points];
        if (ways) total += ways * value_after_pick(bonus, picked_cards, points);
    }
    return total;
}

/* The sum over all picks of `pick_count` cards; those of `choices` are tried one by one. */
static double sum_over_picks(const Bonus *bonus, Cards picked_cards, Cards choices,
                             int pick_count) {
    double total = sum_over_points(bonus, picked_cards, pick_count);
    for (; choices && pick_count && bonus->exact->nodes <= bonus->exact->max_nodes;
         choices &= choices - 1) {
        total += sum_over_picks(bonus, picked_cards | BIT(lowest(choices)), choices & (choices - 1),
                                pick_count - 1);
    }
    return total;
}

/* The mean over sampled picks, which are the same each time; for the exact solver. */
static double mean_over_samples(const Bonus *bonus, Cards choices, int pick_count) {
    Rng rng = {bonus->turn_end->discard + (uint64_t)pick_count};
    int sample_count = (int)bonus->exact->max_picks;
    double total = 0.0;
    bonus->exact->is_sampled = true;
    for (int i = 0; i < sample_count && bonus->exact->nodes <= bonus->exact->max_nodes; i++) {
        Cards rest = choices, pick = 0;
        for (int j = 0; j < pick_count; j++) pick |= BIT(rng_take(&rng, &rest));
        total += value_after_pick(bonus, pick, 0);
    }
    return total / sample_count;
}

static const BonusSamples *find_samples(ExactSolver *exact, Cards discard, int bonus_count) {
    uint64_t seed = discard + (uint64_t)bonus_count;
    BonusSamples *samples = exact->samples + (seed * 0x9e3779b97f4a7c15u >> (64 - SAMPLE_BITS));
    if (samples->discard == discard && samples->bonus_count == bonus_count) return samples;
    samples->discard = discard;
    samples->bonus_count = bonus_count;
    Rng rng = {seed};
    for (int i = 0; i < BONUS_SAMPLES; i++) {
        Cards rest = discard;
        for (int j = 0; j < bonus_count; j++) rng_take(&rng, &rest);
        samples->picks[i] = discard & ~rest;
    }
    return samples;
}

/* The mean over the samples of the approximate solver. */
static double sampled_bonus_value(ExactSolver *exact, const EndgameTurn *turn_end, Cards banked,
                                  int bonus_count, Card known_top) {
    BonusSamples samples = *find_samples(exact, turn_end->discard, bonus_count);
    double total = 0.0;
    for (int i = 0; i < BONUS_SAMPLES; i++) {
        EndgameTurn turn_end_after_pick = *turn_end;
        turn_end_after_pick.discard &= ~samples.picks[i];
        total += next_turn_value(exact, &turn_end_after_pick, banked | samples.picks[i], known_top);
    }
    return total / BONUS_SAMPLES;
}

static double expected_bonus_value(ExactSolver *exact, const EndgameTurn *turn_end, Cards banked,
                                   int bonus_count, Card known_top) {
    Bonus bonus = {exact, turn_end, banked, 0, known_top, {{1.0}}};
    EndgameTurn next_turn = {
        turn_end->opponent_bank, banked, turn_end->pile, turn_end->discard, 0, 0, 0};
    Reach reach = reach_of(&next_turn, 1);
    int discard_count = count(turn_end->discard);
    if (!reach.has_bonus && !reach.can_lose_opponent &&
        !(reach.possible_cards & (SUIT_CARDS(SWORD) | SUIT_CARDS(MAP)))) {
        bonus.point_cards = turn_end->discard & ~(reach.can_reply ? reach.possible_cards : 0);
    }
    Cards single_cards = turn_end->discard & ~bonus.point_cards;
    if (combinations(count(single_cards), bonus_count) > exact->max_picks) {
        return mean_over_samples(&bonus, turn_end->discard, bonus_count);
    }
    for (Suit suit = 0; suit < SUITS; suit++) {
        if (holds_suit(bonus.point_cards, suit)) {
            add_point_suit(&bonus, bonus.point_cards & SUIT_CARDS(suit), bonus_count);
        }
    }
    return sum_over_picks(&bonus, 0, single_cards, bonus_count) /
           combinations(discard_count, bonus_count);
}

/* The value after banking, while `bonus_count` bonus cards are still to come. */
static double cached_bonus_value(ExactSolver *exact, const EndgameTurn *turn_end, Cards banked,
                                 int bonus_count, Card known_top) {
    Key key = {turn_end->opponent_bank, banked, turn_end->pile, turn_end->discard,
               (Cards)bonus_count, (Cards)(known_top + 1), turn_end->lead, BONUS};
    KeyHash key_hash = hash_key(&key);
    Slot *slot = find_slot(exact, &key_hash);
    if (is_slot_of(exact, slot, &key_hash)) return recall(exact, slot);
    bool was_sampled = exact->is_sampled;
    exact->is_sampled = false;
    return remember(exact, &key_hash,
                    expected_bonus_value(exact, turn_end, banked, bonus_count, known_top),
                    was_sampled);
}

/* The value after these cards were banked and the rest of the play area was discarded. */
static double banking_value(ExactSolver *exact, const EndgameTurn *turn_end, Cards gained_cards,
                            Card known_top) {
    int discard_count = count(turn_end->discard);
    int bonus_count = count(gained_cards) < discard_count ? count(gained_cards) : discard_count;
    Cards banked = turn_end->own_bank | gained_cards;
    if (!holds_chest_and_key(gained_cards) || !bonus_count) {
        return next_turn_value(exact, turn_end, banked, known_top);
    }
    if (exact->is_approximate && bonus_count < discard_count) {
        return sampled_bonus_value(exact, turn_end, banked, bonus_count, known_top);
    }
    if (bonus_count == discard_count) {
        EndgameTurn turn_end_without_discard = *turn_end;
        turn_end_without_discard.discard = 0;
        return next_turn_value(exact, &turn_end_without_discard, banked | turn_end->discard,
                               known_top);
    }
    return cached_bonus_value(exact, turn_end, banked, bonus_count, known_top);
}

static double value_of_ending_turn(ExactSolver *exact, const EndgameTurn *turn, Card known_top) {
    return banking_value(exact, turn, turn->area, known_top);
}

/* The value of the end of the match if the gained cards bring no bonus. */
static double end_of_match_value(ExactSolver *exact, const EndgameTurn *turn, Cards gained_cards) {
    exact->nodes += exact->is_approximate;
    return lead_value(bank_points(turn->own_bank | gained_cards) -
                      bank_points(turn->opponent_bank) + turn->lead);
}

static double value_of_bust(ExactSolver *exact, const EndgameTurn *turn, Card card) {
    if (!turn->pile && !holds_chest_and_key(turn->saved)) {
        return end_of_match_value(exact, turn, turn->saved);
    }
    EndgameTurn turn_end = *turn;
    turn_end.discard |= BIT(card) | (turn->area & ~turn->saved);
    return banking_value(exact, &turn_end, turn->saved, NO_CARD);
}

/* --- drawing --- */

static double value_of_drawn_card(ExactSolver *exact, const EndgameTurn *turn, Card card,
                                  int kraken_draws) {
    EndgameTurn next_turn = *turn;
    next_turn.pile &= ~BIT(card);
    return value_of_placing(exact, &next_turn, card, kraken_draws);
}

static double value_of_drawing(ExactSolver *exact, const EndgameTurn *turn, int kraken_draws) {
    /* only in a match that begins without a draw pile */
    if (!turn->pile) return value_of_ending_turn(exact, turn, NO_CARD);
    double total = 0.0;
    for (Cards rest = turn->pile; rest; rest &= rest - 1) {
        total += value_of_drawn_card(exact, turn, lowest(rest), kraken_draws);
    }
    return total / count(turn->pile);
}

/* The value of the better of stopping and drawing. Drawing is cut off once it cannot be better:
 * `leeway` is what it may still lose against stopping if every other card won. */
static double stop_or_draw_value(ExactSolver *exact, const EndgameTurn *turn) {
    double stopping_value = value_of_ending_turn(exact, turn, NO_CARD), total = 0.0;
    int card_count = count(turn->pile);
    double leeway = card_count * (1.0 - stopping_value);
    Cards busting = turn->pile & cards_of_same_suits(turn->area);
    Cards parts[] = {busting, turn->pile & ~busting};
    for (int part = 0; part < 2; part++) {
        for (Cards rest = parts[part]; rest; rest &= rest - 1) {
            if (leeway <= 0.0) return stopping_value;
            double value = value_of_drawn_card(exact, turn, lowest(rest), 0);
            total += value;
            leeway -= 1.0 - value;
        }
    }
    return total / card_count > stopping_value ? total / card_count : stopping_value;
}

static double uncached_draw_value(ExactSolver *exact, const EndgameTurn *turn, int moment) {
    return moment == VOLUNTARY
               ? stop_or_draw_value(exact, turn)
               : value_of_drawing(exact, turn, moment > FORCED ? moment - FORCED - 1 : 0);
}

/* True if drawing the last card leaves no choice. */
static bool leaves_no_choice(Cards pile) {
    const Cards choice_cards =
        SUIT_CARDS(HOOK) | SUIT_CARDS(SWORD) | SUIT_CARDS(CANNON) | SUIT_CARDS(MAP);
    return !(pile & (pile - 1)) && !(pile & choice_cards);
}

/* The same as `uncached_draw_value`, faster, if the last card leaves no choice. */
static double last_card_value(ExactSolver *exact, const EndgameTurn *turn, int moment) {
    Cards cards = turn->area | turn->pile;
    if (holds_chest_and_key(cards)) return uncached_draw_value(exact, turn, moment);
    double stopping_value = 0.0;
    if (moment == VOLUNTARY) {
        EndgameTurn opponent_turn = {
            turn->opponent_bank, turn->own_bank | turn->area, 0, 0, 0, 0, -turn->lead};
        exact->nodes += exact->is_approximate;
        stopping_value = 1.0 - end_of_match_value(exact, &opponent_turn, turn->pile);
        if (stopping_value >= 1.0) return stopping_value;
    }
    bool is_bust = turn->area & cards_of_same_suits(turn->pile);
    double value = end_of_match_value(exact, turn, is_bust ? turn->saved : cards);
    return value > stopping_value ? value : stopping_value;
}

/* The value before the next draw. */
static double cached_draw_value(ExactSolver *exact, const EndgameTurn *turn, int moment) {
    if (exact->nodes > exact->max_nodes) return 0.0;
    if (leaves_no_choice(turn->pile)) return last_card_value(exact, turn, moment);
    if (exact->is_approximate) {
        uint64_t key = cache_key(turn, moment), stored = stored_key(&exact->cache, key);
        return stored ? stored_value(&exact->cache, stored)
                      : store_moment_value(exact, key, uncached_draw_value(exact, turn, moment));
    }
    Key key = turn_key(turn, moment);
    KeyHash key_hash = hash_key(&key);
    Slot *slot = find_slot(exact, &key_hash);
    if (is_slot_of(exact, slot, &key_hash)) return recall(exact, slot);
    bool was_sampled = exact->is_sampled;
    exact->is_sampled = false;
    exact->nodes++;
    return remember(exact, &key_hash, uncached_draw_value(exact, turn, moment), was_sampled);
}

static double next_turn_value(ExactSolver *exact, const EndgameTurn *turn_end, Cards banked,
                              Card known_top) {
    exact->nodes += exact->is_approximate;
    if (!turn_end->pile) {
        return lead_value(bank_points(banked) - bank_points(turn_end->opponent_bank) +
                          turn_end->lead);
    }
    EndgameTurn next_turn = {
        turn_end->opponent_bank, banked, turn_end->pile, turn_end->discard, 0, 0, -turn_end->lead};
    if (known_top != NO_CARD) return 1.0 - value_of_drawn_card(exact, &next_turn, known_top, 0);
    return 1.0 - cached_draw_value(exact, &next_turn, TURN_START);
}

static double value_with_kraken_draws(ExactSolver *exact, const EndgameTurn *turn,
                                      int kraken_draws) {
    if (!turn->pile) {
        if (holds_chest_and_key(turn->area)) return value_of_ending_turn(exact, turn, NO_CARD);
        return end_of_match_value(exact, turn, turn->area);
    }
    int pile_count = count(turn->pile);
    int draws = kraken_draws < pile_count ? kraken_draws : pile_count;
    return cached_draw_value(exact, turn, draws ? FORCED + draws : VOLUNTARY);
}

/* --- effects --- */

static double value_of_hook_target(ExactSolver *exact, const EndgameTurn *turn, Card card) {
    EndgameTurn next_turn = *turn;
    next_turn.own_bank &= ~BIT(card);
    return value_of_placing(exact, &next_turn, card, 0);
}

static double value_of_sword_target(ExactSolver *exact, const EndgameTurn *turn, Card card) {
    EndgameTurn next_turn = *turn;
    next_turn.opponent_bank &= ~BIT(card);
    return value_of_placing(exact, &next_turn, card, 0);
}

static double value_of_cannon_target(ExactSolver *exact, const EndgameTurn *turn, Card card,
                                     int kraken_draws) {
    EndgameTurn next_turn = *turn;
    next_turn.opponent_bank &= ~BIT(card);
    next_turn.discard |= BIT(card);
    return value_with_kraken_draws(exact, &next_turn, kraken_draws);
}

static double value_of_taking_map_card(ExactSolver *exact, const EndgameTurn *turn, Card card) {
    EndgameTurn next_turn = *turn;
    next_turn.discard &= ~BIT(card);
    return value_of_placing(exact, &next_turn, card, 0);
}

static double best_target_value(ExactSolver *exact, const EndgameTurn *turn, Suit effect,
                                Cards targets, int kraken_draws) {
    double best = -1.0;
    for (; targets && best < 1.0; targets &= targets - 1) {
        Card card = lowest(targets);
        double value = effect == HOOK    ? value_of_hook_target(exact, turn, card)
                       : effect == SWORD ? value_of_sword_target(exact, turn, card)
                                         : value_of_cannon_target(exact, turn, card, kraken_draws);
        if (value > best) best = value;
    }
    return best;
}

/* The cards of a suit that gain nothing if a Map offers them. */
static Cards idle_cards(const EndgameTurn *turn, Suit suit) {
    Cards cards = turn->discard & SUIT_CARDS(suit);
    Cards top = top_cards(turn->own_bank & SUIT_CARDS(suit));
    return holds_suit(turn->area, suit) ? cards : top ? cards & (top - 1) : 0;
}

/* Writes the value of taking each card of the discard pile. With `is_grouping`, one card
 * represents those of a suit that gain nothing, and one those that gain something. */
static void evaluate_map_offer(ExactSolver *exact, const EndgameTurn *turn, double values[DECK]) {
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards cards = turn->discard & SUIT_CARDS(suit), idle = idle_cards(turn, suit);
        for (int rising = 0; rising < 2; rising++) {
            Cards group = rising ? cards & ~idle : idle;
            Card representative = !group ? NO_CARD : rising ? middle(group) : top_of(group, suit);
            double value = exact->is_grouping && group
                               ? value_of_taking_map_card(exact, turn, representative)
                               : 0.0;
            for (; group; group &= group - 1) {
                values[lowest(group)] =
                    exact->is_grouping ? value
                                       : value_of_taking_map_card(exact, turn, lowest(group));
            }
        }
    }
}

typedef struct { double value; int card_count; } CardGroup;

/* Inserts cards of one value in ascending order; returns the number of groups. */
static int insert_group(CardGroup groups[], int group_count, double value, int card_count) {
    int index = group_count;
    for (; index && groups[index - 1].value > value; index--) groups[index] = groups[index - 1];
    groups[index] = (CardGroup){value, card_count};
    return group_count + 1;
}

/* The same as `evaluate_map_offer` for a solver that groups; returns the number of groups. */
static int evaluate_map_groups(ExactSolver *exact, const EndgameTurn *turn,
                               CardGroup groups[2 * SUITS]) {
    int group_count = 0;
    for (Suit suit = 0; suit < SUITS; suit++) {
        Cards cards = turn->discard & SUIT_CARDS(suit);
        if (!cards) continue;
        Cards idle = idle_cards(turn, suit), rising = cards & ~idle;
        if (idle) {
            double value = value_of_taking_map_card(exact, turn, top_of(idle, suit));
            group_count = insert_group(groups, group_count, value, count(idle));
        }
        if (rising) {
            double value = value_of_taking_map_card(exact, turn, middle(rising));
            group_count = insert_group(groups, group_count, value, count(rising));
        }
    }
    return group_count;
}

static double expected_map_value(ExactSolver *exact, const EndgameTurn *turn) {
    double values[DECK], offer_values[DECK];
    int value_count = 0;
    if (exact->is_grouping) {
        CardGroup card_groups[2 * SUITS];
        int group_count = evaluate_map_groups(exact, turn, card_groups);
        for (int i = 0; i < group_count; i++) {
            for (int copy = 0; copy < card_groups[i].card_count; copy++) {
                offer_values[value_count++] = card_groups[i].value;
            }
        }
        return expected_best_of_sorted(offer_values, value_count);
    }
    evaluate_map_offer(exact, turn, values);
    for (Cards rest = turn->discard; rest; rest &= rest - 1) {
        offer_values[value_count++] = values[lowest(rest)];
    }
    return expected_best_of_three(offer_values, value_count);
}

static double shown_card_value(ExactSolver *exact, const EndgameTurn *turn, Card card,
                               int kraken_draws) {
    double stopping_value = value_of_ending_turn(exact, turn, card);
    int remaining_draws = kraken_draws > 0 ? kraken_draws - 1 : 0;
    double taking_value = value_of_drawn_card(exact, turn, card, remaining_draws);
    return taking_value > stopping_value ? taking_value : stopping_value;
}

static double expected_oracle_value(ExactSolver *exact, const EndgameTurn *turn, int kraken_draws) {
    double total = 0.0;
    for (Cards rest = turn->pile; rest; rest &= rest - 1) {
        total += shown_card_value(exact, turn, lowest(rest), kraken_draws);
    }
    return total / count(turn->pile);
}

/* The value after the effect of the card that was just placed, or without one. */
static double effect_value(ExactSolver *exact, const EndgameTurn *turn, Suit suit,
                           int kraken_draws) {
    Cards targets =
        suit == HOOK     ? top_cards(turn->own_bank)
        : suit == CANNON ? top_cards(turn->opponent_bank)
        : suit == SWORD  ? top_cards(turn->opponent_bank & ~cards_of_same_suits(turn->own_bank))
                         : 0;
    if (targets) return best_target_value(exact, turn, suit, targets, kraken_draws);
    if (suit == MAP && turn->discard) return expected_map_value(exact, turn);
    if (suit == ORACLE && turn->pile) return expected_oracle_value(exact, turn, kraken_draws);
    return value_with_kraken_draws(exact, turn, suit == KRAKEN ? KRAKEN_DRAWS : kraken_draws);
}

static double value_of_placing(ExactSolver *exact, const EndgameTurn *turn, Card card,
                               int kraken_draws) {
    const Cards without_effect = SUIT_CARDS(KEY) | SUIT_CARDS(CHEST) | SUIT_CARDS(MERMAID);
    Suit suit = suit_of(card);
    if (holds_suit(turn->area, suit)) return value_of_bust(exact, turn, card);
    EndgameTurn next_turn = *turn;
    next_turn.area |= BIT(card);
    if (BIT(card) & without_effect) return value_with_kraken_draws(exact, &next_turn, kraken_draws);
    if (suit == ANCHOR) next_turn.saved = turn->area;
    return effect_value(exact, &next_turn, suit, kraken_draws);
}

/* --- options of a table --- */

/* The draws that are due after the next one. */
static int remaining_kraken_draws(const Table *table) {
    return table->kraken_draws > 0 ? table->kraken_draws - 1 : 0;
}

static double answer_value(ExactSolver *exact, const Table *table, const EndgameTurn *turn,
                           Card card) {
    switch (table->pending) {
        case HOOK: return value_of_hook_target(exact, turn, card);
        case SWORD: return value_of_sword_target(exact, turn, card);
        case CANNON: return value_of_cannon_target(exact, turn, card, table->kraken_draws);
        case MAP: return value_of_taking_map_card(exact, turn, card);
        default: return value_of_drawn_card(exact, turn, card, remaining_kraken_draws(table));
    }
}

static EndgameTurn endgame_turn(const Table *table) {
    int player = table->player;
    Cards offer = table->pending == MAP ? answers(table) : 0;
    return (EndgameTurn){
        table->bank[player], table->bank[1 - player], table->pile, table->discard | offer,
        table->area, is_in_play_area(table, ANCHOR) ? saved_cards(table) : 0, 0};
}

static void begin_call(ExactSolver *exact) {
    exact->nodes = 0;
    exact->is_sampled = false;
    if (exact->is_approximate && !value_cache_clear(&exact->cache)) {
        exact->nodes = exact->max_nodes + 1;
    }
}

int exact_options(ExactSolver *exact, const Table *table, Option options[MAX_OPTIONS]) {
    EndgameTurn turn = endgame_turn(table);
    int option_count = 0, kraken_draws = remaining_kraken_draws(table);
    begin_call(exact);
    for (Cards cards = answers(table); cards; cards &= cards - 1) {
        options[option_count++] =
            (Option){lowest(cards), answer_value(exact, table, &turn, lowest(cards))};
    }
    if (is_legal_action(table, DRAW)) {
        Card known_top = table->known_top;
        double value = known_top == NO_CARD
                           ? value_of_drawing(exact, &turn, kraken_draws)
                           : value_of_drawn_card(exact, &turn, known_top, kraken_draws);
        options[option_count++] = (Option){DRAW, value};
    }
    if (is_legal_action(table, END_TURN)) {
        options[option_count++] =
            (Option){END_TURN, value_of_ending_turn(exact, &turn, table->known_top)};
    }
    return exact->nodes > exact->max_nodes ? 0 : option_count;
}

/* --- each card that chance may bring --- */

void exact_draw_values(ExactSolver *exact, const Table *table, double values[DECK]) {
    EndgameTurn turn = endgame_turn(table);
    begin_call(exact);
    for (Cards rest = turn.pile; rest; rest &= rest - 1) {
        values[lowest(rest)] =
            value_of_drawn_card(exact, &turn, lowest(rest), remaining_kraken_draws(table));
    }
}

void exact_shown_card_values(ExactSolver *exact, const Table *table, double values[DECK]) {
    EndgameTurn turn = endgame_turn(table);
    begin_call(exact);
    for (Cards rest = turn.pile; rest; rest &= rest - 1) {
        values[lowest(rest)] = shown_card_value(exact, &turn, lowest(rest), table->kraken_draws);
    }
}

void exact_map_card_values(ExactSolver *exact, const Table *table, double values[DECK]) {
    EndgameTurn turn = endgame_turn(table);
    begin_call(exact);
    evaluate_map_offer(exact, &turn, values);
}

double exact_bonus_luck(ExactSolver *exact, const Table *table, Cards picked_cards) {
    int player = 1 - table->player;
    Cards banked = table->bank[player];
    EndgameTurn turn_end = {0, table->bank[1 - player], table->pile, table->discard, 0, 0, 0};
    begin_call(exact);
    double value = next_turn_value(exact, &turn_end, banked, table->known_top);
    turn_end.discard |= picked_cards;
    return value - cached_bonus_value(exact, &turn_end, banked & ~picked_cards, count(picked_cards),
                                      table->known_top);
}

int64_t exact_nodes(const ExactSolver *exact) { return exact->nodes; }

bool exact_is_sampled(const ExactSolver *exact) { return exact->is_sampled; }

ExactSolver *exact_new(int bits, int64_t max_nodes, double max_picks, bool is_grouping) {
    ExactSolver *exact = calloc(1, sizeof *exact);
    exact->set_count = (uint64_t)1 << bits;
    exact->slots = calloc(SLOTS_PER_SET * exact->set_count, sizeof *exact->slots);
    exact->checks = calloc(SLOTS_PER_SET * exact->set_count, sizeof *exact->checks);
    exact->max_nodes = max_nodes;
    exact->max_picks = max_picks;
    exact->is_grouping = is_grouping;
    return exact;
}

ExactSolver *exact_rough(int64_t max_nodes) {
    ExactSolver *exact = calloc(1, sizeof *exact);
    exact->max_nodes = max_nodes;
    exact->is_grouping = exact->is_approximate = true;
    return exact;
}

void exact_free(ExactSolver *exact) {
    free(exact->slots);
    free(exact->checks);
    value_cache_free(&exact->cache);
    free(exact);
}

/* --- values of a turn in progress, for compiled_search.py --- */

static EndgameTurn endgame_turn_of_sets(const TurnSets *turn) {
    return (EndgameTurn){turn->own_bank, turn->opponent_bank, turn->pile, turn->discard, turn->area,
                         turn->saved, 0};
}

void exact_begin(ExactSolver *exact, int64_t max_nodes) {
    exact->max_nodes = max_nodes;
    begin_call(exact);
}

double exact_placing_value(ExactSolver *exact, const TurnSets *turn_sets, Card card,
                           int kraken_draws) {
    EndgameTurn turn = endgame_turn_of_sets(turn_sets);
    return value_of_placing(exact, &turn, card, kraken_draws);
}

double exact_drawing_value(ExactSolver *exact, const TurnSets *turn_sets, Card known_top,
                           int kraken_draws) {
    EndgameTurn turn = endgame_turn_of_sets(turn_sets);
    return known_top == NO_CARD ? value_of_drawing(exact, &turn, kraken_draws)
                                : value_of_drawn_card(exact, &turn, known_top, kraken_draws);
}

double exact_stopping_value(ExactSolver *exact, const TurnSets *turn_sets, Card known_top) {
    EndgameTurn turn = endgame_turn_of_sets(turn_sets);
    return value_of_ending_turn(exact, &turn, known_top);
}

double exact_kraken_draws_value(ExactSolver *exact, const TurnSets *turn_sets, int kraken_draws) {
    EndgameTurn turn = endgame_turn_of_sets(turn_sets);
    return value_with_kraken_draws(exact, &turn, kraken_draws);
}
