/* Counterfactual regret minimisation over sampled deals, for the trained tables of rounds.
 *
 * For a deal that is fixed, what follows a bet depends on the bet, on what the tables know of the
 * earlier bets, and on who is to move. So a round is a small graph, and all of it is trained at
 * once: first forwards the probability that each node is reached, then backwards its value. A
 * player forgets earlier bets, so convergence is not guaranteed; local_best_response.c measures the
 * result.
 *
 * Sums are made in vectors of a fixed size, in an order of their own. So they are equal on every
 * machine.
 */
#pragma GCC optimize("O3")
#include <stdlib.h>
#include <string.h>

#include "opponent_types.h"
#include "table_lookup.h"

/* A sum of regrets below this counts as 0: its inverse would not be a number. */
static const float MIN_REGRET_SUM = 1e-30f;

/* A node that is reached less often is skipped, because arithmetic with much smaller numbers is
 * slow. */
static const float MIN_REACH = 1e-15f;

/* Regrets and strategy sums do not change at a node that is reached less often. */
static const float MIN_REGRET_REACH = 1e-8f, MIN_STRATEGY_REACH = 1e-7f;

/* All choices in whole vectors, one vector of zeros, and a shift by one choice. */
enum { STRATEGY_SIZE = 112 };

typedef float Vector __attribute__((vector_size(4 * VECTOR_SIZE), aligned(4), may_alias));
#define VECTOR_AT(numbers) (*(Vector *)(numbers))

/* The tables that are trained, by role: a number for each hand, history and choice.
 *
 * The learner explores: a part of its way to a node is chance. The other player trembles, which
 * is to make a random bet, and has habits (opponent_types.h). So the tables also answer bets
 * that good players never make. */
typedef struct {
    const TableShape *shape;
    float *regrets[2], *strategy_sums[2];
    double explore_rate, tremble_rate, habit_rate;
} CfrTraining;

/* The numbers of all nodes of a deal, for the player who is to move. The index of a node is that of
 * its earlier bets times the stride, plus the last bet. */
typedef struct {
    float *reach[2][2];  /* by mover and learner, the probability to come to the node */
    float *values[2];    /* by mover, the probability that the player who began wins the round */
    bool *is_reached[2]; /* by mover, for each index of earlier bets */
    size_t stride;
    float *regrets[2], *strategy_sums[2]; /* by role, those of the hand that was dealt */
    HabitReplies habit_replies[2];
} Workspace;

/* A node of a deal; bets and classes are those of table_lookup.h. */
typedef struct { int mover, third_class, previous_bet, last_bet; } Node;

/* --- indexes ------------------------------------------------------------------------------ */

static inline int earlier_bets_index(const TableShape *shape, int third_class, int previous_bet) {
    return previous_bet * shape->class_count + third_class;
}

static inline size_t node_index(const Workspace *workspace, int earlier_bets, int last_bet) {
    return (size_t)earlier_bets * workspace->stride + (size_t)last_bet;
}

static inline size_t index_of_node(const Workspace *workspace, const TableShape *shape, Node node) {
    int earlier_bets = earlier_bets_index(shape, node.third_class, node.previous_bet);
    return node_index(workspace, earlier_bets, node.last_bet);
}

/* The index of the earlier bets once a higher bet was made. */
static inline int next_earlier_bets(const TableShape *shape, Node node) {
    if (node.last_bet >= shape->first_high_bet) return 0;
    return earlier_bets_index(shape, shape->class_of_bet[node.previous_bet], node.last_bet);
}

static inline size_t row_start(const TableShape *shape, Node node) {
    int history = history_index(shape, node.third_class, node.previous_bet, node.last_bet);
    return (size_t)shape->row_starts[history];
}

/* The lowest bet that can follow a previous bet; the player who begins also finds a round without a
 * bet. */
static inline int lowest_last_bet(int mover, int previous_bet) {
    return mover || previous_bet ? previous_bet + 1 : 0;
}

/* --- one node ----------------------------------------------------------------------------- */

INLINED float sum_of_vector(Vector v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* Find the strategy that takes each choice in proportion to its positive regret. A vector of zeros
 * follows it. */
INLINED void match_regrets(const float *regrets, int count, float *strategy) {
    Vector sums = {0};
    const int width = padded_count(count);
    VECTOR_AT(strategy + width) = sums;
    for (int k = 0; k < width; k += VECTOR_SIZE) {
        /* A comparison of vectors is -1, all bits, where it is true: negative regrets become 0. */
        Vector positive = VECTOR_AT(regrets + k);
        positive = (Vector)((positive > 0) & (__typeof__(positive > 0))positive);
        VECTOR_AT(strategy + k) = positive;
        sums += positive;
    }
    float total = sum_of_vector(sums);
    if (total > MIN_REGRET_SUM) {
        const Vector scale = (Vector){0} + 1 / total;
        for (int k = 0; k < width; k += VECTOR_SIZE) VECTOR_AT(strategy + k) *= scale;
    } else {
        for (int k = 0; k < width; k++) strategy[k] = k < count ? 1.0f / (float)count : 0;
    }
}

/* Add the bets that the mover's habits reply to the reach of their nodes, which begin at the next
 * higher bet. */
INLINED void push_habits(const CfrTraining *training, const Workspace *workspace, Node node,
                         float other_reach, float *next_nodes) {
    const TableShape *shape = training->shape;
    const float habit_rate = (float)training->habit_rate;
    const HabitReplies *replies = &workspace->habit_replies[node.mover];
    int last_bet = node.last_bet ? shape->bets[node.last_bet - 1] : BETS;
    for (int habit = 0; habit_rate > 0 && habit < HABITS; habit++) {
        int action = habit_reply(replies, habit, last_bet);
        int bet_index = action == CHECK ? -1 : shape->bet_index[action];
        if (bet_index < 0) continue;
        const float weight = (float)HABIT_WEIGHTS[habit];
        next_nodes[bet_index - node.last_bet] += other_reach * habit_rate * weight;
    }
}

/* Add the reach of a node to that of the nodes after each higher bet. */
INLINED void push_reach(const CfrTraining *training, Workspace *workspace, Node node) {
    const TableShape *shape = training->shape;
    const int mover = node.mover, last_bet = node.last_bet;
    const size_t index = index_of_node(workspace, shape, node);
    const float learner_reach = workspace->reach[mover][mover][index];
    const float other_reach = workspace->reach[mover][1 - mover][index];
    if (learner_reach < MIN_REACH && other_reach < MIN_REACH) return;

    float strategy[STRATEGY_SIZE];
    match_regrets(workspace->regrets[mover] + row_start(shape, node), choice_count(shape, last_bet),
                  strategy);
    const float *bet_strategy = strategy + (last_bet > 0);
    const int next_earlier = next_earlier_bets(shape, node);
    const int bet_count = shape->bet_count - last_bet;
    const size_t next_node = node_index(workspace, next_earlier, last_bet + 1);
    float *learner_next = workspace->reach[1 - mover][mover] + next_node;
    float *other_next = workspace->reach[1 - mover][1 - mover] + next_node;
    workspace->is_reached[1 - mover][next_earlier] = true;

    const float uniform = 1.0f / (float)bet_count;
    const float explore_rate = (float)training->explore_rate;
    const float tremble_rate = (float)training->tremble_rate;
    const float habit_rate = (float)training->habit_rate;
    const Vector zeros = {0};
    const Vector learner_chosen = zeros + learner_reach * (1 - explore_rate);
    const Vector learner_random = zeros + learner_reach * explore_rate * uniform;
    const Vector other_chosen = zeros + other_reach * (1 - tremble_rate - habit_rate);
    const Vector other_random = zeros + other_reach * tremble_rate * uniform;
    for (int k = 0; k < padded_count(bet_count); k += VECTOR_SIZE) {
        const Vector probabilities = VECTOR_AT(bet_strategy + k);
        VECTOR_AT(learner_next + k) += probabilities * learner_chosen + learner_random;
        VECTOR_AT(other_next + k) += probabilities * other_chosen + other_random;
    }
    push_habits(training, workspace, node, other_reach, other_next);
}

/* Find the value of a node from those of the nodes after it, and update its regrets and sums. */
INLINED void update_node(Workspace *workspace, const TableShape *shape, const BetSet *true_set,
                         Node node) {
    const int mover = node.mover, last_bet = node.last_bet, can_check = last_bet > 0;
    const int count = choice_count(shape, last_bet), width = padded_count(count);
    const size_t index = index_of_node(workspace, shape, node), row = row_start(shape, node);
    float strategy[STRATEGY_SIZE], values[STRATEGY_SIZE];
    float *regrets = workspace->regrets[mover] + row;
    match_regrets(regrets, count, strategy);
    if (can_check) {
        bool is_true = contains_bet(true_set, shape->bets[last_bet - 1]);
        values[0] = (mover == 0) != is_true;
    }
    const float *next_values = workspace->values[1 - mover] +
                               node_index(workspace, next_earlier_bets(shape, node), last_bet + 1);
    for (int k = 0; k < width; k += VECTOR_SIZE)
        VECTOR_AT(values + can_check + k) = VECTOR_AT(next_values + k);
    Vector value_sums = {0};
    for (int k = 0; k < width; k += VECTOR_SIZE)
        value_sums += VECTOR_AT(strategy + k) * VECTOR_AT(values + k);
    const float value = sum_of_vector(value_sums);
    workspace->values[mover][index] = value;

    const float learner_reach = workspace->reach[mover][mover][index];
    const float other_reach = workspace->reach[mover][1 - mover][index];
    if (learner_reach < MIN_REGRET_REACH && other_reach < MIN_REGRET_REACH) return;
    /* Values are those of the player who began, so the other player's regret has the other sign. */
    const float weight = mover == 0 ? learner_reach : -learner_reach;
    for (int k = 0; k < width; k += VECTOR_SIZE)
        VECTOR_AT(regrets + k) += weight * (VECTOR_AT(values + k) - value);
    for (int k = count; k < width; k++) regrets[k] = 0;
    if (other_reach <= MIN_STRATEGY_REACH) return;
    float *strategy_sums = workspace->strategy_sums[mover] + row;
    for (int k = 0; k < width; k += VECTOR_SIZE)
        VECTOR_AT(strategy_sums + k) += other_reach * VECTOR_AT(strategy + k);
}

/* --- all nodes with the same earlier bets ------------------------------------------------- */

/* After a high bet the earlier bets do not count: those nodes are the same for all of them, and
 * have the index 0 of earlier bets. */
INLINED void push_reach_of_nodes(const CfrTraining *training, Workspace *workspace, int mover,
                                 int third_class, int previous_bet) {
    const TableShape *shape = training->shape;
    const int earlier_bets = earlier_bets_index(shape, third_class, previous_bet);
    if (!workspace->is_reached[mover][earlier_bets]) return;
    int lowest_bet = lowest_last_bet(mover, previous_bet);
    for (int last_bet = lowest_bet; last_bet < shape->first_high_bet; last_bet++)
        push_reach(training, workspace, (Node){mover, third_class, previous_bet, last_bet});
    if (!earlier_bets) return;
    for (int learner = 0; learner < 2; learner++) {
        float *reach_of_high_bets = workspace->reach[mover][learner];
        const float *reach = reach_of_high_bets + node_index(workspace, earlier_bets, 0);
        for (int last_bet = shape->first_high_bet; last_bet <= shape->bet_count; last_bet++)
            reach_of_high_bets[last_bet] += reach[last_bet];
    }
}

/* Update nodes, and clear their reach for the next deal. */
INLINED void update_nodes(Workspace *workspace, const TableShape *shape, const BetSet *true_set,
                          int mover, int third_class, int previous_bet) {
    const int earlier_bets = earlier_bets_index(shape, third_class, previous_bet);
    if (!workspace->is_reached[mover][earlier_bets]) return;
    workspace->is_reached[mover][earlier_bets] = false;
    float *values = workspace->values[mover];
    const int first_high_bet = shape->first_high_bet;
    for (int last_bet = first_high_bet; earlier_bets && last_bet <= shape->bet_count; last_bet++)
        values[node_index(workspace, earlier_bets, last_bet)] = values[last_bet];
    int lowest_bet = lowest_last_bet(mover, previous_bet);
    for (int last_bet = first_high_bet - 1; last_bet >= lowest_bet; last_bet--)
        update_node(workspace, shape, true_set, (Node){mover, third_class, previous_bet, last_bet});
    for (int learner = 0; learner < 2; learner++) {
        float *reach = workspace->reach[mover][learner] + node_index(workspace, earlier_bets, 0);
        memset(reach, 0, workspace->stride * sizeof(float));
    }
}

/* --- one deal ----------------------------------------------------------------------------- */

INLINED void begin_deal(const CfrTraining *training, Workspace *workspace, const CardSet hands[2]) {
    const TableShape *shape = training->shape;
    for (int role = 0; role < 2; role++) {
        size_t rows = (size_t)hand_number(shape, hands[role]) * (size_t)shape->hand_stride;
        workspace->regrets[role] = training->regrets[role] + rows;
        workspace->strategy_sums[role] = training->strategy_sums[role] + rows;
        if (training->habit_rate > 0)
            find_habit_replies(hands[role], shape->hand_sizes[1 - role],
                               &workspace->habit_replies[role]);
    }
    workspace->reach[0][0][0] = workspace->reach[0][1][0] = 1;
    workspace->is_reached[0][0] = true;
}

/* Train on one deal. It is compiled for each kind of processor, as each adds fastest. */
__attribute__((target_clones("avx512f", "avx2", "default"))) static void train_deal(
    const CfrTraining *training, Workspace *workspace, CardSet first_hand, CardSet second_hand) {
    const TableShape *shape = training->shape;
    const int bet_count = shape->bet_count, first_high_bet = shape->first_high_bet;
    const CardSet hands[2] = {first_hand, second_hand};
    const BetSet true_set = true_bets(first_hand | second_hand);
    begin_deal(training, workspace, hands);
    for (int previous_bet = 0; previous_bet < first_high_bet; previous_bet++)
        for (int mover = 0; mover < 2; mover++)
            for (int third_class = 0; third_class < shape->class_count; third_class++)
                push_reach_of_nodes(training, workspace, mover, third_class, previous_bet);
    for (int last_bet = first_high_bet; last_bet < bet_count; last_bet++)
        for (int mover = 0; mover < 2; mover++)
            push_reach(training, workspace, (Node){mover, 0, 0, last_bet});
    for (int last_bet = bet_count; last_bet >= first_high_bet; last_bet--)
        for (int mover = 0; mover < 2; mover++)
            update_node(workspace, shape, &true_set, (Node){mover, 0, 0, last_bet});
    for (int previous_bet = first_high_bet - 1; previous_bet >= 0; previous_bet--)
        for (int mover = 1; mover >= 0; mover--)
            for (int third_class = shape->class_count - 1; third_class >= 0; third_class--)
                update_nodes(workspace, shape, &true_set, mover, third_class, previous_bet);
}

/* --- workspace ---------------------------------------------------------------------------- */

/* Return false if there is not enough memory; the workspace has to be freed in any case. */
static bool allocate_workspace(Workspace *workspace, const TableShape *shape) {
    workspace->stride = (size_t)padded_count(shape->bet_count + 1) + VECTOR_SIZE;
    const size_t row_count = (size_t)earlier_bets_index(shape, 0, shape->bet_count + 1);
    const size_t node_count = row_count * workspace->stride + VECTOR_SIZE;
    bool has_memory = true;
    for (int mover = 0; mover < 2; mover++) {
        workspace->is_reached[mover] = calloc(row_count, sizeof(bool));
        workspace->values[mover] = calloc(node_count, sizeof(float));
        has_memory = has_memory && workspace->is_reached[mover] && workspace->values[mover];
        for (int learner = 0; learner < 2; learner++) {
            workspace->reach[mover][learner] = calloc(node_count, sizeof(float));
            has_memory = has_memory && workspace->reach[mover][learner];
        }
    }
    return has_memory;
}

static void free_workspace(Workspace *workspace) {
    for (int mover = 0; mover < 2; mover++) {
        free(workspace->is_reached[mover]);
        free(workspace->values[mover]);
        for (int learner = 0; learner < 2; learner++) free(workspace->reach[mover][learner]);
    }
}

/* --- called by Python (cardsharp_tools/research/blef/native.py) ----------------------------- */

/* Train on random deals; return false if there is not enough memory. */
bool train_cfr(const CfrTraining *training, uint64_t seed, int64_t deal_count) {
    const TableShape *shape = training->shape;
    Rng rng = {seed};
    Workspace workspace = {0};
    bool has_memory = allocate_workspace(&workspace, shape);
    for (int64_t deal = 0; has_memory && deal < deal_count; deal++) {
        CardSet first_hand = rng_draw(&rng, ALL_CARDS, shape->hand_sizes[0]);
        CardSet second_hand = rng_draw(&rng, ALL_CARDS & ~first_hand, shape->hand_sizes[1]);
        train_deal(training, &workspace, first_hand, second_hand);
    }
    free_workspace(&workspace);
    return has_memory;
}

/* Reduce the weight of earlier training. */
void discount(float *numbers, int64_t count, float factor) {
    for (int64_t index = 0; index < count; index++) numbers[index] *= factor;
}
