/* Series of matches between two players, and the luck in them: the twin of
 * cardsharp_tools/lab/match_runner.py. */
#ifndef CARDSHARP_MATCH_SERIES_H
#define CARDSHARP_MATCH_SERIES_H

#include "adaptive.h"
#include "luck.h"

/* The measurement of luck: the judge evaluates it until so many cards are unseen; then the match is
 * finished so many times more. */
typedef struct {
    const Policy *judge; /* a captain that searches no endgame */
    int32_t endgame_cards;
    int32_t repetitions;
} LuckMeasurement;

/* Play each pair of matches with one deck and swapped seats, and write two results for each pair.
 *
 * A player with a belief plays as `adaptive` and keeps its belief from match to match; NULL stands
 * for no belief. Luck is measured unless `measurement` is NULL. */
void play_series(const Policy *const policies[2], OpponentBelief *const beliefs[2], uint64_t seed,
                 uint64_t first_pair, int64_t pair_count, const LuckMeasurement *measurement,
                 MatchResult *results);

#endif
