/* Players of rounds with two players, which play by trained tables or by thresholds. */
#ifndef CARDSHARP_BLEF_PLAYERS_H
#define CARDSHARP_BLEF_PLAYERS_H

#include "table_lookup.h"

/* A round as the player to move sees it. */
typedef struct {
    int role; /* 0 begins */
    CardSet hand;
    int hand_sizes[2]; /* by role */
    int bet_count;     /* bets of the round so far */
    uint8_t bets[BETS];
} RoundView;

static inline int last_bet_of(const RoundView *view) {
    return view->bet_count ? view->bets[view->bet_count - 1] : NO_BET;
}

static inline int previous_bet_of(const RoundView *view) {
    return view->bet_count > 1 ? view->bets[view->bet_count - 2] : NO_BET;
}

/* A number that depends on everything in the view. */
uint64_t view_key(const RoundView *view);

/* Shipped rows: choices, each followed by its probability in 255ths, until these add up. A row
 * has at most MAX_ROW_CHOICES of them (policy_rows.c). */
enum { MAX_ROW_CHOICES = 12, ROW_BYTES = 2 * MAX_ROW_CHOICES, PROBABILITY_SCALE = 255 };

/* The policies of a round, by role. */
typedef struct {
    const TableShape *shape;
    int32_t row_counts[2];
    const uint32_t *row_numbers[2]; /* ascending */
    const uint32_t *row_offsets[2]; /* the start of each row in `rows` */
    const uint8_t *rows[2];
} RoundTable;

/* Look up the mixed strategy of a hand: the probability of each action.
 *
 * A row that is not stored means a check. Return false if the table has no strategy at all,
 * because there is no bet or the bet before the last one is not in the tables; then some action
 * stands in. */
bool look_up_strategy(const RoundTable *table, CardSet hand, const RoundView *view,
                      double strategy[ACTIONS]);

typedef enum { THRESHOLD_PLAYER, TABLE_PLAYER } PlayerKind;

/* Tables are by the hand sizes of the player who begins and of the other, NULL where there is
 * none. Policies of large rounds (large_round_policy.h) are by the player's own hand size and
 * the other's. */
typedef struct {
    int32_t kind;           /* a PlayerKind */
    double check_threshold; /* of a threshold player; it is greedy if this is negative */
    double bet_threshold;
    const RoundTable *tables[MAX_HAND_SIZE + 1][MAX_HAND_SIZE + 1];
    const uint8_t *large_policies[MAX_HAND_SIZE + 1][MAX_HAND_SIZE + 1];
} RoundPlayer;

/* Find the strategy of the player's tables and policies; return false if they have none. */
bool trained_strategy(const RoundPlayer *player, const RoundView *view, double strategy[ACTIONS]);

int choose_action(const RoundPlayer *player, const RoundView *view, Rng *rng);
int sample_action(const double strategy[ACTIONS], Rng *rng);

#endif
