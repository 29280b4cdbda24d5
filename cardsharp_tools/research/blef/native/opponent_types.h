/* Habits of players who look at their own cards only: the twin of
 * cardsharp/games/blef/strategies/opponent_types.py. */
#ifndef CARDSHARP_BLEF_OPPONENT_TYPES_H
#define CARDSHARP_BLEF_OPPONENT_TYPES_H

#include "bet_probabilities.h"

enum { HABITS = 3 };

extern const double HABIT_WEIGHTS[HABITS]; /* the probability of each habit */

/* The replies of a player with certain cards, for each habit. */
typedef struct {
    double probabilities[BETS];
    uint8_t careful_replies[BETS + 1]; /* of the first habit to each last bet; the last one opens */
    int8_t bold_bet;                   /* the highest bet that the other habits make, or NO_BET */
} HabitReplies;

void find_habit_replies(CardSet hand, int hidden_count, HabitReplies *replies);

/* The reply of a habit to the last bet; BETS stands for a round without a bet. */
int habit_reply(const HabitReplies *replies, int habit, int last_bet);

#endif
