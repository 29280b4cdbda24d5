/* A player that changes from one policy to another: `switching_player` of
 * cardsharp_tools/research/deadmansdraw/opponent_model_test.py. */
#include <stdlib.h>

#include "core.h"

typedef struct {
    const Policy *first_policy, *second_policy;
    int switch_turn; /* the last turn of the first policy */
} SwitchingPlayer;

static Action decide(const void *context, const Table *table, Rng *rng) {
    const SwitchingPlayer *player = context;
    bool is_first = table->turn <= player->switch_turn;
    const Policy *policy = is_first ? player->first_policy : player->second_policy;
    return policy->decide(policy->context, table, rng);
}

/* The player is never freed. */
const Policy *switching_player_new(const Policy *first_policy, const Policy *second_policy,
                                   int switch_turn) {
    SwitchingPlayer *player = malloc(sizeof *player);
    *player = (SwitchingPlayer){first_policy, second_policy, switch_turn};
    Policy *policy = malloc(sizeof *policy);
    *policy = (Policy){"switching", decide, player};
    return policy;
}
