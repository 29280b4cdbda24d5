/* The player `rule`, by five lines that a person can play by: the twin of strategies/rule.py, for
 * any parameters. `cardsharp research tune-rule` finds the best ones. */
#include <stdlib.h>

#include "position_features.h"

/* Points, as in rule.py. */
typedef struct {
    int32_t draw_points;    /* that a draw without a bust is assumed to bring */
    int32_t treasure_bonus; /* of Chest and Key together in the play area */
    int32_t sword_bonus;    /* of a Sword, beyond its points */
} RuleParameters;

static const RuleParameters TUNED_PARAMETERS = {5, 8, 4};

/* The value of a card that would bust, less its points: below all others. */
enum { BUST_VALUE = -100 };

static int total_bank_gain(Cards bank, Cards cards) {
    return bank_value(bank | cards) - bank_value(bank);
}

/* The points that the opponent loses with a card. */
static int opponent_loss(const Table *table, Card card) {
    Cards bank = opponent_bank(table);
    return bank & BIT(card) ? bank_value(bank) - bank_value(bank & ~BIT(card)) : 0;
}

static int cannon_discard_value(const RuleParameters *parameters, const Table *table, Card card) {
    int suit_bonus = suit_of(card) == SWORD ? parameters->sword_bonus : 0;
    return opponent_loss(table, card) + suit_bonus;
}

static bool has_treasure(Cards cards) {
    return (cards & SUIT_CARDS(CHEST)) && (cards & SUIT_CARDS(KEY));
}

/* The points that cards of the play area bring if they are banked, with the bonuses of the rule. */
static int value_if_banked(const RuleParameters *parameters, const Table *table, Cards cards) {
    int value = total_bank_gain(own_bank(table), cards);
    if (has_treasure(cards)) value += parameters->treasure_bonus;
    if (cards & SUIT_CARDS(SWORD)) value += parameters->sword_bonus;
    return value;
}

/* The most points by which a Cannon changes the score. */
static int cannon_effect_value(const Table *table) {
    int max_value = 0;
    for (Cards targets = tops(opponent_bank(table)); targets; targets &= targets - 1) {
        int value = opponent_loss(table, lowest(targets));
        if (value > max_value) max_value = value;
    }
    return max_value;
}

/* The most points by which a Sword changes the score without a bust. */
static int sword_effect_value(const Table *table) {
    Cards targets = sword_targets(own_bank(table), opponent_bank(table));
    int max_value = 0;
    for (; targets; targets &= targets - 1) {
        Card card = lowest(targets);
        int value = opponent_loss(table, card) + value_of(card);
        if (!is_in_play_area(table, suit_of(card)) && value > max_value) max_value = value;
    }
    return max_value;
}

/* The effect on the score of a suit's effect. */
static int effect_value(const RuleParameters *parameters, const Table *table, Suit suit) {
    switch (suit) {
        case CHEST: return is_in_play_area(table, KEY) ? parameters->treasure_bonus : 0;
        case KEY: return is_in_play_area(table, CHEST) ? parameters->treasure_bonus : 0;
        case CANNON: return cannon_effect_value(table);
        case SWORD: return sword_effect_value(table);
        default: return 0;
    }
}

/* The effect on the score of placing a card in the play area. */
static int placement_value(const RuleParameters *parameters, const Table *table, Card card) {
    if (is_in_play_area(table, suit_of(card))) return BUST_VALUE - value_of(card);
    int points = total_bank_gain(own_bank(table), BIT(card)) + opponent_loss(table, card);
    return points + effect_value(parameters, table, suit_of(card));
}

static int answer_value(const RuleParameters *parameters, const Table *table, Card card) {
    if (table->pending == CANNON) return cannon_discard_value(parameters, table, card);
    return placement_value(parameters, table, card);
}

static Action choose_answer(const RuleParameters *parameters, const Table *table) {
    Action best_card = NO_CARD;
    int max_value = 0;
    for (Cards rest = answers(table); rest; rest &= rest - 1) {
        Card card = lowest(rest);
        int value = answer_value(parameters, table, card);
        if (best_card == NO_CARD || value > max_value) {
            best_card = card;
            max_value = value;
        }
    }
    return best_card;
}

/* True if the points that a bust would lose, times the cards that bust, are at least `draw_points`
 * times the other cards. */
static bool stops(const RuleParameters *parameters, const Table *table) {
    Cards saved = is_in_play_area(table, ANCHOR) ? saved_cards(table) : 0;
    int lost_points = value_if_banked(parameters, table, table->area) -
                      value_if_banked(parameters, table, saved);
    int busting_count = busting_card_count(table);
    int safe_count = count(table->pile) - busting_count;
    return lost_points * busting_count >= parameters->draw_points * safe_count;
}

static Action decide(const void *context, const Table *table, Rng *rng) {
    const RuleParameters *parameters = context ? context : &TUNED_PARAMETERS;
    (void)rng;
    if (table->pending == ORACLE) {
        return is_in_play_area(table, suit_of(table->known_top)) ? END_TURN : table->known_top;
    }
    if (table->pending != NOTHING && table->pending != KRAKEN) {
        return choose_answer(parameters, table);
    }
    return is_legal_action(table, END_TURN) && stops(parameters, table) ? END_TURN : DRAW;
}

REGISTER_POLICY("rule", decide)

/* A player with these parameters; it is never freed. */
const Policy *rule_new(const RuleParameters *parameters) {
    RuleParameters *parameters_copy = malloc(sizeof *parameters_copy);
    *parameters_copy = *parameters;
    Policy *policy = malloc(sizeof *policy);
    *policy = (Policy){"rule", decide, parameters_copy};
    return policy;
}
