/* Bounds on the share of the points that a best reply reaches against a player: the calculation of
 * `BestReplyBounds` in cardsharp_tools/research/deadmansdraw/bounds.py.
 *
 * The upper bound is by information relaxation (Brown, Smith and Sun, Operations Research 58, 2010;
 * for two players Haugh and Wang, 2015). The clairvoyant reply knows the order of the draw pile and
 * all later picks. At each chance event it pays its luck: the value of what came, less the mean
 * value of what could have come. For a reply without that knowledge the payments have the mean 0,
 * whatever errors the judge makes. So the mean result of the best clairvoyant reply is an upper
 * bound on every reply. With a judge that makes no errors the bound is tight.
 *
 * The lower bound is the result of a stronger player that pays its luck in the same way. */
#ifndef CARDSHARP_REPLY_BOUNDS_H
#define CARDSHARP_REPLY_BOUNDS_H

#include "luck.h"

typedef struct {
    const Policy *player;   /* the player to reply to */
    const Policy *judge;    /* measures the luck while many cards are unseen */
    const Policy *stronger; /* the reply of the lower bound, or NULL */
    ExactSolver *exact;           /* measures the luck from so many unseen cards on */
    int32_t exact_cards;
    int32_t has_upper_bound; /* false leaves out the upper bound */
    int64_t max_positions;   /* of the upper bound; it is given up above them */
} BoundsConfig;

/* Shares of the points of one side, less its luck. */
typedef struct {
    double player_share;      /* as the player itself */
    double stronger_share;    /* as the stronger player */
    double clairvoyant_share; /* as the best clairvoyant reply */
    int64_t position_count;   /* computed for the clairvoyant reply; -1 if it was given up */
} SideValues;

/* Write the values from a position on, those of the player to act first. `order` is the order of
 * the draw pile; the picks of Maps and bonuses depend on the seed and the pair's number. */
void bounds_from_position(const BoundsConfig *config, const Table *table, const Card order[],
                          uint64_t seed, uint64_t pair_number, SideValues values[2]);

/* Play a match of the player against itself until at most `max_unseen_cards` are unseen, and write
 * the values from there on. Return the number of unseen cards; with 0 nothing is written. */
int bounds_in_new_match(const BoundsConfig *config, uint64_t seed, uint64_t pair_number,
                        int max_unseen_cards, SideValues values[2]);

#endif
