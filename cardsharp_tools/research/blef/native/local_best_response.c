/* Local best response: a player that knows how its opponent plays, and looks one or two steps
 * ahead.
 *
 * It infers the opponent's hand from the opponent's bets. It takes the action that is best if it
 * then only checks (depth 1), or bets once more and then checks (depth 2). A true best response
 * wins at least as much, so its gain bounds the opponent's exploitability from below (Lisy,
 * Bowling: Equilibrium Approximation Quality of Current No-Limit Poker Bots, 2017).
 *
 * It knows the probabilities of an opponent that plays by tables. Other opponents always do the
 * same with the same cards after the same bets, so it asks them for their action with each hand.
 */
#include <stdlib.h>
#include <string.h>

#include "large_round_policy.h"
#include "players.h"

enum {
    MAX_LISTED_HAND_SIZE = 3, /* the largest hand of an opponent of which all hands are listed */
    SAMPLED_HANDS = 1000,     /* the number of larger hands that are sampled */
    MAX_HANDS = 1771,         /* three cards of 23 unseen ones */
    MAX_CONSIDERED_HANDS = 120,
};

/* The number of bets that are evaluated. Some are the lowest legal ones, the others are the
 * likeliest to hold. */
enum {
    MAX_BETS = 26,
    LOWEST_BETS = 4,
    MAX_DEEP_BETS = 6,   /* the best of them, which are evaluated again at depth 2 */
    MAX_SECOND_BETS = 6, /* bets that answer a raise */
    LOWEST_SECOND_BETS = 1,
};

/* A raise with a smaller probability is only checked, and not answered with a bet. */
static const double MIN_ANSWERED_RAISE = 0.01;

/* --- the opponent ------------------------------------------------------------------------- */

enum { CACHE_SLOTS = 1 << 21 };

/* Actions of an opponent that has no tables, by the key of the view; an action is stored plus 1. */
typedef struct {
    uint64_t keys[CACHE_SLOTS];
    uint8_t actions[CACHE_SLOTS];
    int count;
} ActionCache;

typedef struct {
    const RoundPlayer *player;
    const RoundTable *table;     /* its tables, or NULL */
    const uint8_t *large_policy; /* its policy of a large round, or NULL */
    ActionCache *action_cache;   /* if it has neither */
} Opponent;

/* Return the action of an opponent without tables. */
static int ask_opponent(const Opponent *opponent, const RoundView *view) {
    ActionCache *cache = opponent->action_cache;
    uint64_t key = view_key(view);
    size_t slot = key % CACHE_SLOTS;
    if (cache->count > CACHE_SLOTS / 2) memset(cache, 0, sizeof *cache);
    for (; cache->actions[slot]; slot = (slot + 1) % CACHE_SLOTS)
        if (cache->keys[slot] == key) return cache->actions[slot] - 1;
    Rng rng = {key};
    int action = choose_action(opponent->player, view, &rng);
    cache->keys[slot] = key;
    cache->actions[slot] = (uint8_t)(action + 1);
    cache->count++;
    return action;
}

/* Find the opponent's strategy with a hand; `view` is the opponent's, without its hand. */
static void opponent_strategy(const Opponent *opponent, const RoundView *view, CardSet hand,
                              const HandFeatures *features, double strategy[ACTIONS]) {
    if (opponent->large_policy) {
        large_round_strategy(opponent->large_policy, features, previous_bet_of(view),
                             last_bet_of(view), strategy);
        return;
    }
    if (opponent->table) {
        look_up_strategy(opponent->table, hand, view, strategy);
        return;
    }
    RoundView view_with_hand = *view;
    view_with_hand.hand = hand;
    memset(strategy, 0, sizeof(double) * ACTIONS);
    strategy[ask_opponent(opponent, &view_with_hand)] = 1;
}

/* Return the action that the opponent takes with its real hand. */
static int opponent_action(const Opponent *opponent, const RoundView *view, CardSet hand,
                           Rng *rng) {
    RoundView view_with_hand = *view;
    view_with_hand.hand = hand;
    if (!opponent->table && !opponent->large_policy) return ask_opponent(opponent, &view_with_hand);
    static _Thread_local HandFeatures features;
    double strategy[ACTIONS];
    if (opponent->large_policy)
        compute_hand_features(hand, view->hand_sizes[1 - view->role], &features);
    opponent_strategy(opponent, view, hand, &features, strategy);
    return sample_action(strategy, rng);
}

static RoundView with_bet(const RoundView *view, int bet) {
    RoundView next_view = *view;
    next_view.bets[next_view.bet_count++] = (uint8_t)bet;
    return next_view;
}

/* --- the belief about the opponent's hand ------------------------------------------------- */

/* Hands that the opponent may hold. A decision considers at most MAX_CONSIDERED_HANDS of them
 * (`sample_belief`). */
typedef struct {
    int hand_count;
    CardSet hands[MAX_HANDS];
    HandFeatures features[MAX_HANDS];
    BetSet true_bets[MAX_HANDS]; /* with the hand of the responder */
    double weights[MAX_HANDS];
    double next_strategies[MAX_CONSIDERED_HANDS][ACTIONS]; /* after the bet that is evaluated */
} Belief;

static int considered_count(const Belief *belief) {
    return belief->hand_count < MAX_CONSIDERED_HANDS ? belief->hand_count : MAX_CONSIDERED_HANDS;
}

static void copy_hand(Belief *belief, int target, int source) {
    if (target == source) return;
    belief->hands[target] = belief->hands[source];
    belief->features[target] = belief->features[source];
    belief->true_bets[target] = belief->true_bets[source];
    belief->weights[target] = belief->weights[source];
}

/* Draw the hands that a decision considers, each as often as its weight demands: one random offset
 * and equal steps. The likeliest hands alone would make the responder too sure of its belief. */
static void sample_belief(const Belief *belief, Rng *rng, Belief *sample) {
    double total_weight = 0, reached = 0;
    for (int hand = 0; hand < belief->hand_count; hand++) total_weight += belief->weights[hand];
    const double interval = total_weight / MAX_CONSIDERED_HANDS;
    double threshold = rng_unit(rng) * interval;
    sample->hand_count = 0;
    for (int hand = 0; hand < belief->hand_count; hand++) {
        int draws = 0;
        reached += belief->weights[hand];
        for (; threshold < reached; threshold += interval) draws++;
        if (!draws || sample->hand_count == MAX_CONSIDERED_HANDS) continue;
        int index = sample->hand_count++;
        sample->hands[index] = belief->hands[hand];
        sample->features[index] = belief->features[hand];
        sample->true_bets[index] = belief->true_bets[hand];
        sample->weights[index] = draws;
    }
}

/* Update the belief by a bet of the opponent. The belief stays if no hand makes this bet. */
static void update_belief(Belief *belief, const Opponent *opponent, const RoundView *view,
                          int bet) {
    static _Thread_local double weights[MAX_HANDS];
    double total_weight = 0, strategy[ACTIONS];
    for (int hand = 0; hand < belief->hand_count; hand++) {
        opponent_strategy(opponent, view, belief->hands[hand], &belief->features[hand], strategy);
        weights[hand] = belief->weights[hand] * strategy[bet];
        total_weight += weights[hand];
    }
    if (total_weight <= 0) return;
    int remaining = 0;
    for (int hand = 0; hand < belief->hand_count; hand++) {
        if (weights[hand] <= 0) continue;
        copy_hand(belief, remaining, hand);
        belief->weights[remaining++] = weights[hand];
    }
    belief->hand_count = remaining;
}

/* List all hands of a size in random order; return their number. */
static int list_hands(CardSet deck, int hand_size, Rng *rng, CardSet *hands) {
    int hand_count = 0;
    for (CardSet hand = (1u << hand_size) - 1; hand < 1u << CARDS;) {
        if (!(hand & ~deck)) {
            int swap_index = rng_below(rng, hand_count + 1);
            hands[hand_count++] = hands[swap_index];
            hands[swap_index] = hand;
        }
        /* The next greater number with as many bits. */
        CardSet lowest = hand & -hand, carried = hand + lowest;
        hand = carried | ((hand ^ carried) / lowest >> 2);
    }
    return hand_count;
}

/* The belief of the player with this role and hand before the first bet. */
static void begin_belief(Belief *belief, const Opponent *opponent, CardSet own_hand,
                         const int hand_sizes[2], int role, Rng *rng) {
    const CardSet unseen_cards = ALL_CARDS & ~own_hand;
    int opponent_size = hand_sizes[1 - role];
    if (opponent_size > MAX_LISTED_HAND_SIZE) {
        belief->hand_count = SAMPLED_HANDS;
        for (int hand = 0; hand < belief->hand_count; hand++)
            belief->hands[hand] = rng_draw(rng, unseen_cards, opponent_size);
    } else {
        belief->hand_count = list_hands(unseen_cards, opponent_size, rng, belief->hands);
    }
    for (int hand = 0; hand < belief->hand_count; hand++) {
        if (opponent->large_policy)
            compute_hand_features(belief->hands[hand], hand_sizes[role], &belief->features[hand]);
        belief->true_bets[hand] = true_bets(own_hand | belief->hands[hand]);
        belief->weights[hand] = 1;
    }
}

/* --- values of actions: the sum of the weights of the hands against which they win --------- */

/* Sum up the weights of the hands with which a bet holds. `weights` are those of the belief, or
 * smaller ones after a raise of the opponent. */
static double bet_weight(const Belief *belief, const double *weights, int bet) {
    double sum = 0;
    for (int hand = 0; hand < considered_count(belief); hand++)
        if (contains_bet(&belief->true_bets[hand], bet)) sum += weights[hand];
    return sum;
}

static double check_value(const Belief *belief, const double *weights, int last_bet) {
    double value = 0;
    for (int hand = 0; hand < considered_count(belief); hand++)
        if (!contains_bet(&belief->true_bets[hand], last_bet)) value += weights[hand];
    return value;
}

/* List the bets to evaluate: some of the lowest ones, then those that are likeliest to hold. Return
 * their number. */
static int list_bets(const Belief *belief, const double *weights, int last_bet, int max_count,
                     int lowest_count, uint8_t *listed_bets) {
    double bet_weights[BETS];
    int count = 0;
    for (int bet = last_bet + 1; bet < BETS; bet++) {
        bet_weights[bet] = bet_weight(belief, weights, bet);
        if (bet - last_bet > lowest_count) continue;
        listed_bets[count++] = (uint8_t)bet;
        bet_weights[bet] = -1; /* so that it is not listed again */
    }
    while (count < max_count) {
        int likeliest = NO_BET;
        for (int bet = last_bet + 1; bet < BETS; bet++) {
            if (bet_weights[bet] <= 0) continue;
            if (likeliest == NO_BET || bet_weights[bet] >= bet_weights[likeliest]) likeliest = bet;
        }
        if (likeliest == NO_BET) break;
        listed_bets[count++] = (uint8_t)likeliest;
        bet_weights[likeliest] = -1;
    }
    return count;
}

/* Return the value of a bet if the responder only checks afterwards.
 *
 * With `raise_weights`, sum up the weights of the hands that answer with each higher bet. */
static double one_step_value(Belief *belief, const Opponent *opponent, const double *weights,
                             const RoundView *view, int bet, double raise_weights[BETS]) {
    RoundView next_view = with_bet(view, bet);
    double value = 0;
    if (raise_weights) memset(raise_weights, 0, sizeof(double) * BETS);
    for (int hand = 0; hand < considered_count(belief); hand++) {
        if (weights[hand] <= 0) continue;
        const BetSet *true_set = &belief->true_bets[hand];
        double *strategy = belief->next_strategies[hand];
        opponent_strategy(opponent, &next_view, belief->hands[hand], &belief->features[hand],
                          strategy);
        if (contains_bet(true_set, bet)) value += weights[hand] * strategy[CHECK];
        for (int raise = bet + 1; raise < BETS; raise++) {
            if (strategy[raise] <= 0) continue;
            double weight = weights[hand] * strategy[raise];
            if (raise_weights) raise_weights[raise] += weight;
            if (!contains_bet(true_set, raise)) value += weight;
        }
    }
    return value;
}

typedef double Strategies[MAX_CONSIDERED_HANDS][ACTIONS];

/* Return the value of the best answer to a raise: a check, or one more bet if `is_likely`.
 *
 * `view` is the round before the raise, and `strategies` are those of the opponent in it. */
static double best_answer_value(Belief *belief, const Opponent *opponent, const RoundView *view,
                                Strategies strategies, int raise, bool is_likely) {
    double weights[MAX_CONSIDERED_HANDS];
    for (int hand = 0; hand < considered_count(belief); hand++)
        weights[hand] = belief->weights[hand] * strategies[hand][raise];
    double best_value = check_value(belief, weights, raise);
    if (!is_likely) return best_value;
    uint8_t answers[BETS];
    RoundView next_view = with_bet(view, raise);
    int count =
        list_bets(belief, weights, raise, MAX_SECOND_BETS, LOWEST_SECOND_BETS, answers);
    for (int index = 0; index < count; index++) {
        double value = one_step_value(belief, opponent, weights, &next_view, answers[index], NULL);
        if (value > best_value) best_value = value;
    }
    return best_value;
}

/* Return the value of a bet if the responder checks or bets once more after a raise. */
static double two_step_value(Belief *belief, const Opponent *opponent, const RoundView *view,
                             int bet) {
    static _Thread_local Strategies strategies;
    double raise_weights[BETS], value = 0, total_weight = 0;
    one_step_value(belief, opponent, belief->weights, view, bet, raise_weights);
    /* The second step overwrites the strategies in the belief. */
    memcpy(strategies, belief->next_strategies, sizeof strategies);
    for (int hand = 0; hand < considered_count(belief); hand++) {
        total_weight += belief->weights[hand];
        if (contains_bet(&belief->true_bets[hand], bet))
            value += belief->weights[hand] * strategies[hand][CHECK];
    }
    RoundView next_view = with_bet(view, bet);
    for (int raise = bet + 1; raise < BETS; raise++) {
        if (raise_weights[raise] <= 0) continue;
        bool is_likely = raise_weights[raise] > MIN_ANSWERED_RAISE * total_weight;
        value += best_answer_value(belief, opponent, &next_view, strategies, raise, is_likely);
    }
    return value;
}

/* Move the bet with the highest value to `place`, and return it. */
static int select_best_bet(uint8_t *listed_bets, int count, const double values[BETS], int place) {
    int best = place;
    for (int index = place; index < count; index++)
        if (values[listed_bets[index]] > values[listed_bets[best]]) best = index;
    uint8_t bet = listed_bets[best];
    listed_bets[best] = listed_bets[place];
    listed_bets[place] = bet;
    return bet;
}

/* Return the action of the local best response; `depth` is 1 or 2. */
static int respond(Belief *belief, const Opponent *opponent, const RoundView *view, int depth) {
    int last_bet = last_bet_of(view), best_action = CHECK;
    uint8_t listed_bets[BETS];
    double values[BETS], best_value = -1;
    int count =
        list_bets(belief, belief->weights, last_bet, MAX_BETS, LOWEST_BETS, listed_bets);
    if (last_bet != NO_BET) best_value = check_value(belief, belief->weights, last_bet);
    for (int index = 0; index < count; index++) {
        int bet = listed_bets[index];
        values[bet] = one_step_value(belief, opponent, belief->weights, view, bet, NULL);
        if (depth > 1 || values[bet] <= best_value) continue;
        best_value = values[bet];
        best_action = bet;
    }
    if (depth == 1) return best_action;
    /* The best bets of the first step are evaluated again, with the answers to raises. */
    for (int place = 0; place < MAX_DEEP_BETS && place < count; place++) {
        int bet = select_best_bet(listed_bets, count, values, place);
        double value = two_step_value(belief, opponent, view, bet);
        if (value <= best_value) continue;
        best_value = value;
        best_action = bet;
    }
    return best_action;
}

/* --- called by Python (cardsharp_tools/research/blef/native.py) ----------------------------- */

static Opponent opponent_in_round(const RoundPlayer *player, const int hand_sizes[2], int role) {
    Opponent opponent = {.player = player};
    if (player->kind != TABLE_PLAYER) return opponent;
    opponent.table = player->tables[hand_sizes[0]][hand_sizes[1]];
    opponent.large_policy = player->large_policies[hand_sizes[1 - role]][hand_sizes[role]];
    return opponent;
}

/* Play a round; return true if the responder, which has this role, wins it. */
static bool wins_round(Belief *belief, Belief *sample, const Opponent *opponent,
                       const int hand_sizes[2], int role, int depth, Rng *rng) {
    CardSet own_hand = rng_draw(rng, ALL_CARDS, hand_sizes[role]);
    CardSet opponent_hand = rng_draw(rng, ALL_CARDS & ~own_hand, hand_sizes[1 - role]);
    begin_belief(belief, opponent, own_hand, hand_sizes, role, rng);
    RoundView view = {.role = 1 - role, .hand_sizes = {hand_sizes[0], hand_sizes[1]}};
    for (int mover = 0;; mover = 1 - mover) {
        int action;
        if (mover == role) {
            sample_belief(belief, rng, sample);
            action = respond(sample, opponent, &view, depth);
        } else {
            action = opponent_action(opponent, &view, opponent_hand, rng);
            if (action != CHECK) update_belief(belief, opponent, &view, action);
        }
        if (action == CHECK) {
            bool holds = bet_holds(last_bet_of(&view), own_hand | opponent_hand);
            return (mover == role) != holds;
        }
        view = with_bet(&view, action);
    }
}

/* Play rounds against a player; return how many a local best response wins in that role, or a
 * negative number without enough memory. */
int64_t local_best_response(const RoundPlayer *player, int first_hand_size, int second_hand_size,
                            int role, int depth, uint64_t seed, int64_t round_count) {
    const int hand_sizes[2] = {first_hand_size, second_hand_size};
    Opponent opponent = opponent_in_round(player, hand_sizes, role);
    bool is_asked = !opponent.table && !opponent.large_policy;
    opponent.action_cache = is_asked ? calloc(1, sizeof *opponent.action_cache) : NULL;
    Belief *belief = malloc(sizeof *belief), *sample = malloc(sizeof *sample);
    bool has_memory = belief && sample && (!is_asked || opponent.action_cache);
    int64_t win_count = has_memory ? 0 : -1;
    Rng rng = {seed};
    for (int64_t round = 0; has_memory && round < round_count; round++)
        win_count += wins_round(belief, sample, &opponent, hand_sizes, role, depth, &rng);
    free(belief);
    free(sample);
    free(opponent.action_cache);
    return win_count;
}

/* Return the action of a local best response in the view of the player to move, against a player of
 * tables; -1 without enough memory. */
int respond_to_player(const RoundPlayer *player, const RoundView *own_view, int depth,
                      uint64_t seed) {
    const int role = own_view->role, *hand_sizes = own_view->hand_sizes;
    Opponent opponent = opponent_in_round(player, hand_sizes, role);
    Belief *belief = malloc(sizeof *belief), *sample = malloc(sizeof *sample);
    if (!belief || !sample) {
        free(belief);
        free(sample);
        return -1;
    }
    Rng rng = {seed};
    begin_belief(belief, &opponent, own_view->hand, hand_sizes, role, &rng);
    RoundView view = {.role = 1 - role, .hand_sizes = {hand_sizes[0], hand_sizes[1]}};
    for (int index = 0; index < own_view->bet_count; index++) {
        int mover = index % 2, bet = own_view->bets[index];
        if (mover != role) update_belief(belief, &opponent, &view, bet);
        view = with_bet(&view, bet);
    }
    sample_belief(belief, &rng, sample);
    int action = respond(sample, &opponent, &view, depth);
    free(belief);
    free(sample);
    return action;
}
