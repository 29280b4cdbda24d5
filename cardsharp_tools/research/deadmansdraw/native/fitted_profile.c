/* Players by the numbers of a profile (fitted_profile.h). */
#include "fitted_profile.h"

#include <stdlib.h>

#include "position_features.h"

/* The widths of the classes of a feature: 3 points, a tenth of the unseen cards. */
enum { POINTS_PER_CLASS = 3, RISK_CLASSES = 10 };

/* --- stopping ----------------------------------------------------------------------------- */

static bool can_gain_by_stopping(const Table *table) {
    for (int i = 0; i < table->area_size; i++) {
        if (bank_gain(own_bank(table), table->area_cards[i]) > 0) return true;
    }
    return false;
}

static int risk_class(const Table *table) {
    int unseen_count = count(table->pile);
    return RISK_CLASSES * busting_card_count(table) / (unseen_count ? unseen_count : 1);
}

static int total_bank_gain(const Table *table) {
    Cards bank = own_bank(table);
    return bank_value(bank | table->area) - bank_value(bank);
}

static int stop_feature_bin(const FittedProfile *profile, const Table *table) {
    int bin = table->area_size - 1;
    if (profile->stop_feature == POINTS_FEATURE) bin = total_bank_gain(table) / POINTS_PER_CLASS;
    if (profile->stop_feature == RISK_FEATURE) bin = risk_class(table);
    return bin < MAX_TRACKED_CARDS ? bin : MAX_TRACKED_CARDS - 1;
}

static double stop_probability(const FittedProfile *profile, const Table *table) {
    int bin = stop_feature_bin(profile, table);
    return profile->stop_probabilities[bin][can_gain_by_stopping(table)];
}

/* --- answers ------------------------------------------------------------------------------ */

static double oracle_probability(const FittedProfile *profile, const Table *table, Action action) {
    bool would_bust = is_in_play_area(table, suit_of(table->known_top));
    double takes = would_bust ? profile->take_bust : profile->take_safe;
    double refuses = (1 - takes) * (1 - profile->end_turn);
    if (action == END_TURN) return 1 - takes - refuses;
    return action == REFUSE ? refuses : takes;
}

/* The lowest and the highest value of the answers that do not bust. */
typedef struct { int min_value, max_value; } ValueRange;

static ValueRange safe_value_range(const Table *table) {
    ValueRange range = {100, 0}; /* outside the values of all cards */
    for (Cards rest = answers(table); rest; rest &= rest - 1) {
        int value = value_of(lowest(rest));
        if (answer_would_bust(table, lowest(rest))) continue;
        if (value < range.min_value) range.min_value = value;
        if (value > range.max_value) range.max_value = value;
    }
    return range;
}

static int value_kind(int value, ValueRange range) {
    if (value == range.max_value) return DEAREST_KIND;
    return value == range.min_value ? CHEAPEST_KIND : BETWEEN_KIND;
}

static double card_preference(const FittedProfile *profile, const Table *table, Card card,
                              ValueRange range) {
    const double *preferences = profile->preferences[table->pending];
    if (answer_would_bust(table, card)) return preferences[BUST_KIND];
    return preferences[suit_of(card)] * preferences[value_kind(value_of(card), range)];
}

static double card_probability(const FittedProfile *profile, const Table *table, Action action) {
    double preference_sum = 0.0;
    if (action >= DECK) return 0.0;
    ValueRange range = safe_value_range(table);
    for (Cards rest = answers(table); rest; rest &= rest - 1) {
        preference_sum += card_preference(profile, table, lowest(rest), range);
    }
    double preference = card_preference(profile, table, (Card)action, range);
    return preference / (preference_sum ? preference_sum : 1);
}

/* --- decisions ---------------------------------------------------------------------------- */

double profile_probability(const FittedProfile *profile, const Table *table, Action action) {
    if (table->pending == ORACLE) return oracle_probability(profile, table, action);
    if (table->pending != NOTHING) return card_probability(profile, table, action);
    double stops = stop_probability(profile, table);
    return action == END_TURN ? stops : 1 - stops;
}

static Action decide(const void *context, const Table *table, Rng *rng) {
    bool must_draw = table->pending == KRAKEN || !is_legal_action(table, END_TURN);
    if (must_draw && is_legal_action(table, DRAW)) return DRAW;
    double remainder = rng_unit(rng);
    Action last_action = DRAW; /* of rounded probabilities that do not sum up to 1 */
    for (Action action = 0; action <= REFUSE; action++) {
        if (!is_legal_action(table, action)) continue;
        last_action = action;
        remainder -= profile_probability(context, table, action);
        if (remainder < 0) break;
    }
    return last_action;
}

const Policy *profile_policy_new(const FittedProfile *profile) {
    FittedProfile *profile_copy = malloc(sizeof *profile_copy);
    *profile_copy = *profile;
    Policy *policy = malloc(sizeof *policy);
    *policy = (Policy){"fitted", decide, profile_copy};
    return policy;
}
