/* Training of large rounds: the probability to win with each choice, against a player who chooses
 * by the same probabilities.
 *
 * For a deal that is fixed, what follows a bet depends on the bet, on its overlap class with the
 * previous bet, and on who is to move. So all bets that can be made are trained at once: first
 * forwards the probability that each is made, then backwards the probability to win after it. A
 * choice is made in proportion to exp(win probability / temperature).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "large_round_policy.h"
#include "opponent_types.h"

/* A number for each overlap class of the last bet. */
typedef float OverlapVector __attribute__((vector_size(4 * OVERLAP_CLASSES), aligned(16)));

/* How often a choice was tried, and how often it won. */
typedef struct { OverlapVector wins, tries; } WinCount;

/* The counts of all choices of one player, and the softmax weights that follow from them. */
typedef struct {
    WinCount bets[LAST_BETS][BET_CELLS], checks[LAST_BETS][PROBABILITY_CLASSES];
    OverlapVector bet_weights[LAST_BETS][BET_CELLS];
    OverlapVector check_weights[LAST_BETS][PROBABILITY_CLASSES];
} WinTable;

/* A round that is trained. The learner explores: a part of its choices is random. The other
 * player trembles, which is to make a random choice, and in some deals follows a habit
 * (opponent_types.h). */
typedef struct {
    int32_t hand_sizes[2];
    WinTable *tables[2]; /* the same one twice if both hands have as many cards */
} LargeRoundTraining;

static const double EXPLORE_RATE = 0.3;
static const double TREMBLE_RATE = 0.03; /* of decisions */
static const double HABIT_RATE = 0.15;   /* of deals */

/* Numbers of all nodes of a deal, by learner, player to move and last bet; NO_BET_NODE is the node
 * without a bet. */
enum { NO_BET_NODE = BETS };
typedef struct {
    OverlapVector reach[2][2][LAST_BETS];  /* the probability to come to the node */
    OverlapVector values[2][2][LAST_BETS]; /* the probability that the learner wins */
    OverlapVector strategies[2][LAST_BETS][ACTIONS]; /* of the player to move */
} DealNodes;

/* A player of one deal. */
enum { NO_HABIT = -1, NO_REPLY = -1 };
typedef struct {
    HandFeatures features;
    HabitReplies habit_replies;
    int habit; /* or NO_HABIT */
} DealPlayer;

/* The node after a bet: OVERLAP_CLASSES * bet + its overlap class, by the row of the last bet. */
static int16_t next_node[LAST_BETS][BETS];

static const double PRIOR_WIN_PROBABILITY = 0.3;
static const double PRIOR_TRIES = 1e-3;        /* the weight of this prior */
static const double MEAN_TRIES = 1;            /* the weight of the mean over the overlap classes */
static const double INITIAL_TEMPERATURE = 0.1; /* of the first step */
static const float MIN_TOTAL_WEIGHT = 1e-35f;  /* so that the inverse of a total is a number */

INLINED float sum_of_classes(OverlapVector v) { return (v[0] + v[2]) + (v[1] + v[3]); }

static int node_of(int last_bet) { return last_bet == NO_BET ? NO_BET_NODE : last_bet; }

static void init_next_nodes(void) {
    for (int row = 0; row < LAST_BETS; row++)
        for (int bet = row; bet < BETS; bet++)
            next_node[row][bet] = (int16_t)(bet * OVERLAP_CLASSES + overlap_class[row][bet]);
}

/* --- one deal ----------------------------------------------------------------------------- */

static void prepare_player(DealPlayer *player, const LargeRoundTraining *training, int side,
                           CardSet hand, Rng *rng) {
    int hidden_count = training->hand_sizes[1 - side];
    compute_hand_features(hand, hidden_count, &player->features);
    player->habit = rng_unit(rng) < HABIT_RATE ? rng_below(rng, HABITS) : NO_HABIT;
    if (player->habit != NO_HABIT)
        find_habit_replies(hand, hidden_count, &player->habit_replies);
}

/* The action of the player's habit, NO_REPLY without a habit. */
static int find_habit_reply(const DealPlayer *player, int last_bet) {
    if (player->habit == NO_HABIT) return NO_REPLY;
    return habit_reply(&player->habit_replies, player->habit, last_bet == NO_BET ? BETS : last_bet);
}

/* Find the strategy of the player to move after a last bet. */
INLINED void find_strategy(const WinTable *table, const HandFeatures *features, int last_bet,
                           OverlapVector *restrict strategy) {
    const int row = last_bet + 1;
    const int16_t *bet_cell = features->bet_cell[row];
    const OverlapVector zeros = {0};
    strategy[CHECK] = last_bet == NO_BET
        ? zeros
        : table->check_weights[row][features->probability_class[last_bet]];
    OverlapVector total = strategy[CHECK];
    for (int bet = last_bet + 1; bet < BETS; bet++) {
        strategy[bet] = table->bet_weights[row][bet_cell[bet]];
        total += strategy[bet];
    }
    const OverlapVector scale = 1.0f / (total + MIN_TOTAL_WEIGHT);
    strategy[CHECK] *= scale;
    for (int bet = last_bet + 1; bet < BETS; bet++) strategy[bet] *= scale;
}

/* Add the reach of a node to that of the nodes after each higher bet. `side` is to move. */
MULTIVERSIONED static void push_reach(const LargeRoundTraining *training, DealNodes *nodes,
                                      const DealPlayer *player, int side, int last_bet) {
    const int row = last_bet + 1, node = node_of(last_bet), other_side = 1 - side;
    OverlapVector *restrict strategy = nodes->strategies[side][node];
    find_strategy(training->tables[side], &player->features, last_bet, strategy);

    const int reply = find_habit_reply(player, last_bet);
    const float explore_rate = (float)EXPLORE_RATE, tremble_rate = (float)TREMBLE_RATE;
    const float uniform = row < BETS ? 1.0f / (float)(BETS - row) : 0;
    OverlapVector learner_reach = nodes->reach[side][side][node];
    OverlapVector other_reach = nodes->reach[other_side][side][node];
    const float learner_random = sum_of_classes(learner_reach) * explore_rate * uniform;
    const float other_random = sum_of_classes(other_reach) * tremble_rate * uniform;
    const float habit_reach = sum_of_classes(other_reach) * (1 - tremble_rate);
    learner_reach *= 1 - explore_rate;
    other_reach *= reply == NO_REPLY ? 1 - tremble_rate : 0;

    float *restrict learner_next = (float *)nodes->reach[side][other_side];
    float *restrict other_next = (float *)nodes->reach[other_side][other_side];
    for (int bet = last_bet + 1; bet < BETS; bet++) {
        const int next = next_node[row][bet];
        learner_next[next] += sum_of_classes(learner_reach * strategy[bet]) + learner_random;
        other_next[next] += sum_of_classes(other_reach * strategy[bet]) + other_random;
    }
    if (reply != NO_REPLY && reply != CHECK) other_next[next_node[row][reply]] += habit_reach;
}

/* Count a choice that is tried as often as the learner reaches the node. */
INLINED void count_choice(WinCount *count, OverlapVector reach, float wins) {
    count->wins += reach * wins;
    count->tries += reach;
}

/* Find the values of a node from those of the nodes after it, and count the wins of the choices.
 *
 * `side` is to move, and `is_true` tells whether the last bet is true. */
MULTIVERSIONED static void update_node(LargeRoundTraining *training, DealNodes *nodes,
                                       const DealPlayer *player, int side, int last_bet,
                                       bool is_true) {
    WinTable *table = training->tables[side];
    const int row = last_bet + 1, node = node_of(last_bet), other_side = 1 - side;
    const HandFeatures *features = &player->features;
    const int16_t *bet_cell = features->bet_cell[row];
    const OverlapVector *strategy = nodes->strategies[side][node];
    const float *next_values = (float *)nodes->values[side][other_side];
    const float *next_other_values = (float *)nodes->values[other_side][other_side];
    const OverlapVector reach = nodes->reach[side][side][node];
    OverlapVector value = {0}, other_value = {0};
    float other_value_sum = 0; /* over all choices */
    if (last_bet != NO_BET) {
        const float wins = is_true ? 0.0f : 1.0f, other_wins = is_true ? 1.0f : 0.0f;
        count_choice(&table->checks[row][features->probability_class[last_bet]], reach, wins);
        value = strategy[CHECK] * wins;
        other_value = strategy[CHECK] * other_wins;
        other_value_sum = other_wins;
    }
    for (int bet = last_bet + 1; bet < BETS; bet++) {
        const int next = next_node[row][bet];
        const float wins = next_values[next], other_wins = next_other_values[next];
        value += strategy[bet] * wins;
        other_value += strategy[bet] * other_wins;
        other_value_sum += other_wins;
        count_choice(&table->bets[row][bet_cell[bet]], reach, wins);
    }
    const int reply = find_habit_reply(player, last_bet);
    if (reply != NO_REPLY) { /* the other player's habit takes the place of its strategy */
        const float check_value = is_true ? 1.0f : 0.0f;
        const float reply_value =
            reply == CHECK ? check_value : next_other_values[next_node[row][reply]];
        other_value = (OverlapVector){reply_value, reply_value, reply_value, reply_value};
    }
    const float tremble_rate = (float)TREMBLE_RATE;
    const float uniform = 1.0f / (float)(BETS - row + (last_bet != NO_BET));
    nodes->values[side][side][node] = value;
    nodes->values[other_side][side][node] =
        other_value * (1 - tremble_rate) + other_value_sum * tremble_rate * uniform;
}

static void train_deal(LargeRoundTraining *training, DealNodes *nodes, DealPlayer players[2],
                       Rng *rng) {
    CardSet first_hand = rng_draw(rng, ALL_CARDS, training->hand_sizes[0]);
    CardSet second_hand = rng_draw(rng, ALL_CARDS & ~first_hand, training->hand_sizes[1]);
    BetSet true_set = true_bets(first_hand | second_hand);
    int starter = rng_below(rng, 2);
    prepare_player(&players[0], training, 0, first_hand, rng);
    prepare_player(&players[1], training, 1, second_hand, rng);
    memset(nodes->reach, 0, sizeof nodes->reach);
    nodes->reach[0][starter][NO_BET_NODE] = (OverlapVector){1};
    nodes->reach[1][starter][NO_BET_NODE] = (OverlapVector){1};
    push_reach(training, nodes, &players[starter], starter, NO_BET);
    for (int last_bet = 0; last_bet < BETS; last_bet++)
        for (int side = 0; side < 2; side++)
            push_reach(training, nodes, &players[side], side, last_bet);
    for (int last_bet = BETS - 1; last_bet >= 0; last_bet--)
        for (int side = 0; side < 2; side++)
            update_node(training, nodes, &players[side], side, last_bet,
                        contains_bet(&true_set, last_bet));
    update_node(training, nodes, &players[starter], starter, NO_BET, false);
}

/* --- win probabilities and weights -------------------------------------------------------- */

/* Estimate the win probability of a choice by overlap class. Each leans on the mean of the
 * classes, and the mean on `prior`. */
static void estimate_win_probabilities(const WinCount *count, double prior,
                                       double probabilities[OVERLAP_CLASSES]) {
    double wins = (double)sum_of_classes(count->wins), tries = (double)sum_of_classes(count->tries);
    double mean = (wins + MEAN_TRIES * prior) / (tries + MEAN_TRIES);
    for (int overlap = 0; overlap < OVERLAP_CLASSES; overlap++)
        probabilities[overlap] = ((double)count->wins[overlap] + MEAN_TRIES * mean) /
                                 ((double)count->tries[overlap] + MEAN_TRIES);
}

/* Estimate the win probability of each bet with each feature over all last bets. It is the prior of
 * the same bet after one last bet. */
static void estimate_bet_priors(const WinTable *table, double priors[BET_CELLS]) {
    static _Thread_local double tries[BET_CELLS];
    for (int cell = 0; cell < BET_CELLS; cell++) {
        priors[cell] = PRIOR_WIN_PROBABILITY * PRIOR_TRIES;
        tries[cell] = PRIOR_TRIES;
    }
    for (int row = 0; row < LAST_BETS; row++)
        for (int cell = row * FEATURE_COUNT; cell < BET_CELLS; cell++) {
            priors[cell] += (double)sum_of_classes(table->bets[row][cell].wins);
            tries[cell] += (double)sum_of_classes(table->bets[row][cell].tries);
        }
    for (int cell = 0; cell < BET_CELLS; cell++) priors[cell] /= tries[cell];
}

INLINED void find_weights(const WinCount *count, double prior, double temperature,
                          OverlapVector *weights) {
    double probabilities[OVERLAP_CLASSES];
    estimate_win_probabilities(count, prior, probabilities);
    for (int overlap = 0; overlap < OVERLAP_CLASSES; overlap++) {
        double exponent = (probabilities[overlap] - REFERENCE_PROBABILITY) / temperature;
        (*weights)[overlap] = expf((float)exponent);
    }
}

MULTIVERSIONED static void update_weights(WinTable *table, double temperature) {
    double priors[BET_CELLS];
    estimate_bet_priors(table, priors);
    for (int row = 0; row < LAST_BETS; row++) {
        for (int class = 0; class < PROBABILITY_CLASSES; class++)
            find_weights(&table->checks[row][class], PRIOR_WIN_PROBABILITY, temperature,
                         &table->check_weights[row][class]);
        for (int cell = row * FEATURE_COUNT; cell < BET_CELLS; cell++)
            find_weights(&table->bets[row][cell], priors[cell], temperature,
                         &table->bet_weights[row][cell]);
    }
}

static void discount_counts(WinCount *counts, size_t count, float factor) {
    for (size_t index = 0; index < count; index++) {
        counts[index].wins *= factor;
        counts[index].tries *= factor;
    }
}

/* Reduce the weight of earlier deals. */
static void discount_table(WinTable *table, float factor) {
    discount_counts(table->bets[0], sizeof table->bets / sizeof(WinCount), factor);
    discount_counts(table->checks[0], sizeof table->checks / sizeof(WinCount), factor);
}

/* --- the policy --------------------------------------------------------------------------- */

/* Write the encoded win probabilities of a choice and return the end of them. */
static uint8_t *write_choice(const WinCount *count, double prior, uint8_t *policy) {
    double probabilities[OVERLAP_CLASSES];
    estimate_win_probabilities(count, prior, probabilities);
    bool has_occurred = sum_of_classes(count->tries) > 0;
    for (int overlap = 0; overlap < OVERLAP_CLASSES; overlap++) {
        double probability = probabilities[overlap];
        if (probability < 0) probability = 0;
        if (probability > 1) probability = 1;
        *policy++ = has_occurred ? (uint8_t)(1 + lround(probability * LARGE_PROBABILITY_SCALE)) : 0;
    }
    return policy;
}

/* Write the policy in the form of large_round_policy.h. */
static void write_policy(const WinTable *table, uint8_t *policy) {
    double priors[BET_CELLS];
    estimate_bet_priors(table, priors);
    for (int row = 0; row < LAST_BETS; row++) {
        for (int class = 0; class < PROBABILITY_CLASSES; class++)
            policy = write_choice(&table->checks[row][class], PRIOR_WIN_PROBABILITY, policy);
        for (int cell = row * FEATURE_COUNT; cell < BET_CELLS; cell++)
            policy = write_choice(&table->bets[row][cell], priors[cell], policy);
    }
}

/* --- the training ------------------------------------------------------------------------- */

/* The temperature falls while the win probabilities become more certain. In the last fifth of
 * the steps it is that of play. */
static double temperature_at(int step, int step_count) {
    double progress = 1.25 * step / step_count;
    double exponent = progress < 1 ? progress : 1;
    return INITIAL_TEMPERATURE * pow(SOFTMAX_TEMPERATURE / INITIAL_TEMPERATURE, exponent);
}

static void begin_step(WinTable *table, int step, int step_count) {
    double factor = (step + 1.0) / (step + 2.0);
    update_weights(table, temperature_at(step, step_count));
    discount_table(table, (float)(factor * factor));
}

static void train_steps(LargeRoundTraining *training, DealNodes *nodes, DealPlayer players[2],
                        int step_count, int deal_count, uint64_t seed) {
    bool has_two_tables = training->tables[0] != training->tables[1];
    Rng rng = {seed};
    for (int step = 0; step < step_count; step++) {
        begin_step(training->tables[0], step, step_count);
        if (has_two_tables) begin_step(training->tables[1], step, step_count);
        for (int deal = 0; deal < deal_count; deal++) train_deal(training, nodes, players, &rng);
    }
}

/* Return zeros that vectors of any size are aligned to; NULL without enough memory. */
static void *allocate_aligned(size_t size) {
    const size_t alignment = 64;
    size_t padded_size = (size + alignment - 1) / alignment * alignment;
    void *memory = aligned_alloc(alignment, padded_size);
    if (memory) memset(memory, 0, padded_size);
    return memory;
}

/* Train a round and write the policies of both players, by their hand sizes. Python calls it
 * (cardsharp_tools/research/blef/table_files.py). Return false without enough memory. */
bool train_large_round(int first_hand_size, int second_hand_size, int step_count, int deal_count,
                       uint64_t seed, uint8_t *first_policy, uint8_t *second_policy) {
    bool is_symmetric = first_hand_size == second_hand_size;
    WinTable *first = allocate_aligned(sizeof *first);
    WinTable *second = is_symmetric ? first : allocate_aligned(sizeof *second);
    DealNodes *nodes = allocate_aligned(sizeof *nodes);
    DealPlayer *players = malloc(2 * sizeof *players);
    bool has_memory = first && second && nodes && players;
    if (has_memory) {
        init_next_nodes();
        LargeRoundTraining training = {{first_hand_size, second_hand_size}, {first, second}};
        train_steps(&training, nodes, players, step_count, deal_count, seed);
        write_policy(first, first_policy);
        write_policy(second, second_policy);
    }
    if (!is_symmetric) free(second);
    free(first);
    free(nodes);
    free(players);
    return has_memory;
}
