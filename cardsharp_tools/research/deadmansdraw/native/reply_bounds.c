/* Bounds on what a best reply reaches (reply_bounds.h). */
#include "reply_bounds.h"

#include <stdlib.h>
#include <string.h>

enum { INITIAL_ENTRY_COUNT = 1 << 10 };

/* A position with the share that the clairvoyant reply still reaches. Its key has 128 bits; both
 * halves are 0 for an empty entry. */
typedef struct { uint64_t first_key, second_key; double value; } CacheEntry;

typedef struct {
    const BoundsConfig *config;
    uint64_t seed, pair_number;
    int replier; /* the seat of the reply */
    int64_t position_count, entry_count;
    CacheEntry *cache;
} Calculation;

/* --- an action, and its luck -------------------------------------------------------------- */

/* The random numbers of the next picks. They depend on the number of unseen cards and on whether a
 * Map is in the play area. On each way to the end such a pair comes at most once, so that all picks
 * are independent. */
static Rng pick_rng(const Calculation *calculation, const Table *table) {
    uint64_t moment = 2 * (uint64_t)count(table->pile) + is_in_play_area(table, MAP);
    return rng_for(calculation->seed, calculation->pair_number, PURPOSE_REPLAY + moment);
}

/* Play an action; return the luck that it brought the replier. */
static double play_action(const Calculation *calculation, Match *match, Action action) {
    const BoundsConfig *config = calculation->config;
    Table previous_table = match->table;
    Card next_card = match->order[match->next];
    match->chance = pick_rng(calculation, &previous_table);
    match_play(match, action);
    bool is_exact = count(match->table.pile) <= config->exact_cards;
    double luck =
        is_exact ? luck_by_exact(config->exact, &previous_table, action, next_card, match)
                 : luck_of(config->judge, &previous_table, action, next_card, match);
    return previous_table.player == calculation->replier ? luck : -luck;
}

static double points_share(const Calculation *calculation, const Table *table) {
    int replier = calculation->replier;
    int lead = bank_value(table->bank[replier]) - bank_value(table->bank[1 - replier]);
    if (lead == 0) return 0.5;
    return lead > 0 ? 1.0 : 0.0;
}

static Action policy_action(const Policy *policy, const Table *table) {
    Rng rng = {0};
    return policy->decide(policy->context, table, &rng);
}

/* The share of a reply by `policy`, less its luck. */
static double share_of_policy(const Calculation *calculation, Match match, const Policy *policy) {
    double luck = 0.0;
    while (!match.table.is_over) {
        bool is_replier = match.table.player == calculation->replier;
        const Policy *mover = is_replier ? policy : calculation->config->player;
        Action action = policy_action(mover, &match.table);
        luck += play_action(calculation, &match, action);
    }
    return points_share(calculation, &match.table) - luck;
}

/* --- the cache of positions --------------------------------------------------------------- */

static uint64_t mix_bits(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

enum { KEY_WORDS = 8, SMALL_NUMBERS = 5 };

/* The key of a position whose draw pile has a known order. */
static CacheEntry entry_key(const Table *table) {
    uint8_t small_numbers[SMALL_NUMBERS] = {(uint8_t)table->pending, (uint8_t)table->kraken_draws,
                                            (uint8_t)table->player, (uint8_t)table->area_size,
                                            table->known_top != NO_CARD};
    Cards map_offer = table->pending == MAP ? answers(table) : 0;
    uint64_t words[KEY_WORDS] = {
        table->bank[0], table->bank[1],     table->pile, table->discard,
        table->area,    saved_cards(table), map_offer,   0,
    };
    CacheEntry key = {1, 0x94d049bb133111ebu, 0.0};
    for (int i = 0; i < SMALL_NUMBERS; i++) {
        words[KEY_WORDS - 1] = words[KEY_WORDS - 1] << 8 | small_numbers[i];
    }
    for (int i = 0; i < KEY_WORDS; i++) {
        uint64_t salt = 0xbf58476d1ce4e5b9u * (unsigned)(i + 1);
        key.first_key = mix_bits(key.first_key, words[i]);
        key.second_key = mix_bits(key.second_key + words[i], salt);
    }
    return key;
}

static bool is_empty(const CacheEntry *entry) { return !entry->first_key && !entry->second_key; }

/* The entry of a position, or the empty one where it belongs. */
static CacheEntry *find_cache_entry(const Calculation *calculation, const CacheEntry *key) {
    uint64_t index_mask = (uint64_t)(calculation->entry_count - 1);
    for (uint64_t index = key->first_key;; index++) {
        CacheEntry *entry = &calculation->cache[index & index_mask];
        bool is_equal =
            entry->first_key == key->first_key && entry->second_key == key->second_key;
        if (is_equal || is_empty(entry)) return entry;
    }
}

static void double_cache(Calculation *calculation) {
    CacheEntry *old_cache = calculation->cache;
    int64_t old_entry_count = calculation->entry_count;
    calculation->entry_count *= 2;
    calculation->cache = calloc((size_t)calculation->entry_count, sizeof *old_cache);
    for (CacheEntry *entry = old_cache; entry < old_cache + old_entry_count; entry++) {
        if (!is_empty(entry)) *find_cache_entry(calculation, entry) = *entry;
    }
    free(old_cache);
}

/* Store a position; at most half of the cache is used. */
static void store_entry(Calculation *calculation, CacheEntry entry) {
    calculation->position_count++;
    if (calculation->position_count * 2 > calculation->entry_count) double_cache(calculation);
    *find_cache_entry(calculation, &entry) = entry;
}

/* --- the clairvoyant reply ---------------------------------------------------------------- */

/* Write the actions to consider; return their number. The other player has the one action of its
 * policy. The replier need not refuse an Oracle's card: that reaches no more than stopping or
 * taking the card. */
static int list_actions(const Calculation *calculation, const Table *table,
                        Action actions[MAX_OPTIONS]) {
    int action_count = 0;
    if (table->player != calculation->replier) {
        actions[0] = policy_action(calculation->config->player, table);
        return 1;
    }
    for (Cards rest = answers(table); rest; rest &= rest - 1) {
        actions[action_count++] = lowest(rest);
    }
    if (is_legal_action(table, DRAW)) actions[action_count++] = DRAW;
    if (is_legal_action(table, END_TURN)) actions[action_count++] = END_TURN;
    return action_count;
}

static double best_clairvoyant_share(Calculation *calculation, const Match *match) {
    if (match->table.is_over) return points_share(calculation, &match->table);
    if (calculation->position_count > calculation->config->max_positions) return 0.0;
    CacheEntry position = entry_key(&match->table);
    const CacheEntry *cached_position = find_cache_entry(calculation, &position);
    if (!is_empty(cached_position)) return cached_position->value;
    Action actions[MAX_OPTIONS];
    int action_count = list_actions(calculation, &match->table, actions);
    for (int i = 0; i < action_count; i++) {
        Match next_match = *match;
        double luck = play_action(calculation, &next_match, actions[i]);
        double value = best_clairvoyant_share(calculation, &next_match) - luck;
        if (i == 0 || value > position.value) position.value = value;
    }
    store_entry(calculation, position);
    return position.value;
}

/* --- bounds ------------------------------------------------------------------------------- */

static SideValues side_values(const BoundsConfig *config, const Match *match, uint64_t seed,
                              uint64_t pair_number, int replier) {
    Calculation calculation = {
        .config = config,
        .seed = seed,
        .pair_number = pair_number,
        .replier = replier,
        .entry_count = INITIAL_ENTRY_COUNT,
        .cache = calloc(INITIAL_ENTRY_COUNT, sizeof(CacheEntry)),
    };
    SideValues values = {.player_share = share_of_policy(&calculation, *match, config->player)};
    if (config->stronger) {
        values.stronger_share = share_of_policy(&calculation, *match, config->stronger);
    }
    if (config->has_upper_bound) {
        values.clairvoyant_share = best_clairvoyant_share(&calculation, match);
    }
    bool is_given_up = calculation.position_count > config->max_positions;
    values.position_count = is_given_up ? -1 : calculation.position_count;
    free(calculation.cache);
    return values;
}

void bounds_from_position(const BoundsConfig *config, const Table *table, const Card order[],
                          uint64_t seed, uint64_t pair_number, SideValues values[2]) {
    Match match = {.table = *table};
    memcpy(match.order, order, (size_t)count(table->pile));
    for (int side = 0; side < 2; side++) {
        values[side] = side_values(config, &match, seed, pair_number, table->player ^ side);
    }
}

int bounds_in_new_match(const BoundsConfig *config, uint64_t seed, uint64_t pair_number,
                        int max_unseen_cards, SideValues values[2]) {
    Match match;
    match_deal(&match, rng_for(seed, pair_number, PURPOSE_DECK),
               rng_for(seed, pair_number, PURPOSE_CHANCE));
    const Table *table = &match.table;
    while (!table->is_over && count(table->pile) > max_unseen_cards) {
        match_play(&match, policy_action(config->player, table));
    }
    if (!table->is_over) {
        const Card *order = match.order + match.next;
        bounds_from_position(config, table, order, seed, pair_number, values);
    }
    return count(table->pile);
}
