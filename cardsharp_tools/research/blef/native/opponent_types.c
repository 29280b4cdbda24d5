/* Replies of betting habits (opponent_types.h). */
#include "opponent_types.h"

enum { CAREFUL_HABIT = 0 };

const double HABIT_WEIGHTS[HABITS] = {0.5, 0.3, 0.2};

/* The bold habits check a bet that is less likely than this; the careful habit compares bets. */
static const double CHECK_THRESHOLDS[HABITS] = {-1, 0.2, 0.4};

/* The bold habits make the highest bet that is at least as likely as this. */
static const double BOLD_THRESHOLD = 0.5;

void find_habit_replies(CardSet hand, int hidden_count, HabitReplies *replies) {
    double *probabilities = replies->probabilities, best_probability = -1;
    int best_bet = CHECK;
    bet_probabilities(hand, hidden_count, probabilities);
    replies->bold_bet = NO_BET;
    /* From the highest bet down, so that `best_bet` is the likeliest one above each last bet. */
    for (int bet = BETS - 1; bet >= 0; bet--) {
        bool checks = 1 - probabilities[bet] >= best_probability;
        replies->careful_replies[bet] = (uint8_t)(checks ? CHECK : best_bet);
        if (probabilities[bet] > best_probability) {
            best_bet = bet;
            best_probability = probabilities[bet];
        }
        if (replies->bold_bet == NO_BET && probabilities[bet] >= BOLD_THRESHOLD)
            replies->bold_bet = (int8_t)bet;
    }
    replies->careful_replies[BETS] = (uint8_t)best_bet;
}

int habit_reply(const HabitReplies *replies, int habit, int last_bet) {
    if (habit == CAREFUL_HABIT) return replies->careful_replies[last_bet];
    int opening_bet =
        replies->bold_bet == NO_BET ? replies->careful_replies[BETS] : replies->bold_bet;
    if (last_bet == BETS) return opening_bet;
    if (replies->probabilities[last_bet] < CHECK_THRESHOLDS[habit]) return CHECK;
    return last_bet < replies->bold_bet ? replies->bold_bet : replies->careful_replies[last_bet];
}
