/* Players that stop by bounds: the twin of `StopRulePlayer` in
 * cardsharp_tools/research/deadmansdraw/opponent_model_test.py. */
#include <stdlib.h>

#include "position_features.h"

/* The preference between answers, in the order of the twin. */
typedef enum { HIGHEST_CARD, LOWEST_CARD, FIRST_SUIT, LAST_SUIT } Preference;

/* The player stops once any of its bounds is reached; a bound of 0 is unused. */
typedef struct {
    int32_t cards;          /* in the play area */
    int32_t points;         /* that the bank would gain */
    int32_t risk;           /* per cent of the unseen cards that bust */
    int32_t trailing_bonus; /* steps by which the bounds are higher if the opponent leads */
    int32_t preference;     /* between answers */
    int32_t takes_oracle;   /* true if the player takes an Oracle's card that does not bust */
} StopRulePlayer;

/* A step of each bound. */
enum { POINTS_STEP = 2, RISK_STEP = 5 };

/* Lowers the preference for a card that would bust below all others. */
enum { BUST_PENALTY = 100 };

/* The per cent of the unseen cards that bust. */
static int bust_percentage(const Table *table) {
    int unseen_count = count(table->pile);
    return unseen_count ? 100 * busting_card_count(table) / unseen_count : 0;
}

static bool stops(const StopRulePlayer *player, const Table *table) {
    Cards bank = own_bank(table);
    int score = bank_value(bank);
    int gain = bank_value(bank | table->area) - score;
    bool is_trailing = score < bank_value(opponent_bank(table));
    int steps = is_trailing ? player->trailing_bonus : 0;
    if (player->cards && table->area_size >= player->cards + steps) return true;
    if (player->points && gain >= player->points + POINTS_STEP * steps) return true;
    return player->risk && bust_percentage(table) >= player->risk + RISK_STEP * steps;
}

static int card_preference(const StopRulePlayer *player, const Table *table, Card card) {
    int penalty = answer_would_bust(table, card) ? BUST_PENALTY : 0;
    switch (player->preference) {
        case LOWEST_CARD: return -value_of(card) - penalty;
        case FIRST_SUIT: return -suit_of(card) - penalty;
        case LAST_SUIT: return suit_of(card) - penalty;
        default: return value_of(card) - penalty;
    }
}

static Action choose_answer(const StopRulePlayer *player, const Table *table) {
    Action best_card = NO_CARD;
    int max_preference = 0;
    for (Cards rest = answers(table); rest; rest &= rest - 1) {
        Card card = lowest(rest);
        int preference = card_preference(player, table, card);
        if (best_card == NO_CARD || preference > max_preference) {
            best_card = card;
            max_preference = preference;
        }
    }
    return best_card;
}

static Action decide(const void *context, const Table *table, Rng *rng) {
    const StopRulePlayer *player = context;
    (void)rng;
    if (table->pending == ORACLE) {
        bool takes_card =
            player->takes_oracle && !is_in_play_area(table, suit_of(table->known_top));
        return takes_card ? table->known_top : REFUSE;
    }
    if (table->pending != NOTHING && table->pending != KRAKEN) return choose_answer(player, table);
    bool can_stop = is_legal_action(table, END_TURN) && table->area_size;
    return can_stop && stops(player, table) ? END_TURN : DRAW;
}

/* The player is never freed. */
const Policy *stop_rule_player_new(const StopRulePlayer *player) {
    StopRulePlayer *player_copy = malloc(sizeof *player_copy);
    *player_copy = *player;
    Policy *policy = malloc(sizeof *policy);
    *policy = (Policy){"stop rule", decide, player_copy};
    return policy;
}
