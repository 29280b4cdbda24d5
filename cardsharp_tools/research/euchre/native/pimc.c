/* Decisions in Euchre, a hundred times as fast as in Python, for the lab: the twin of
 * cardsharp/games/euchre/strategies/pimc.py.
 *
 * It is a perfect information Monte Carlo search: worlds are sampled from what the seat knows, each
 * choice is tried in each world, and the choice with the highest mean points is taken. Its
 * decisions equal those of Python to the last bit. Python calls the functions at the end of this
 * file.
 */
#include "double_dummy.h"
#include "worlds.h"

enum { MAX_CHOICES = 8, MAX_WORLDS = 8192 };

enum {
    POINT_SCALE = 40,         /* units of a point: values are whole numbers, which sum up exactly */
    CALL_BIAS_CORRECTION = 3, /* units subtracted from a call, whose estimate is too high */
    FIRST_OPEN_HAND_TRICK = 1, /* first trick, from 0, that is searched with open hands, too */
    ELIMINATION_SIGMAS = 3,    /* standard errors behind the leader that drop a choice */
};

/* The calls that are evaluated, by value in thousandths of tricks. */
enum {
    MIN_CALL_VALUE = 900,
    MAX_GAP_TO_BEST = 1000, /* the maximum distance to the best suit's value */
    MIN_ALONE_VALUE = 2800,
};

/* Work is counted in played cards and not in seconds, so that a position has the same answer on
 * every machine. */
enum {
    PLAYOUT_WORK = MAX_PLAYS,
    SAMPLING_WORK = 10,     /* of one layout */
    SEARCH_WORK_FACTOR = 6, /* if open hands are searched, too */
};

typedef struct { int max_worlds, batch_size, max_work; } SearchBudget;

/* The answer for Python, with the values of the choices summed up over the worlds. */
typedef struct {
    int32_t action, world_count, choice_count;
    int32_t actions[MAX_CHOICES];
    int32_t try_counts[MAX_CHOICES]; /* the worlds in which a choice was tried */
    int32_t totals[MAX_CHOICES];     /* in units of 1 / POINT_SCALE points */
} Answer;

/* --- the actions to evaluate -------------------------------------------------------------- */

typedef struct {
    int count;
    int actions[MAX_CHOICES]; /* of equal choices, the first one is preferred */
    int work;                 /* of the evaluation of one choice in one world */
} Choices;

static void add_choice(Choices *choices, int action) {
    choices->actions[choices->count++] = action;
}

/* A pass, and the calls whose value is near that of the best suit; calls to go alone need a strong
 * hand, too. */
static void list_bids(const Position *position, Choices *choices) {
    const PublicState *public_state = position->public_state;
    HandValuation valuation =
        value_hand(position->hand, public_state->bid_count, public_state->turn_card);
    int min_value = valuation.value_by_suit[valuation.best_suit] - MAX_GAP_TO_BEST;
    if (min_value < MIN_CALL_VALUE) min_value = MIN_CALL_VALUE;
    add_choice(choices, PASS_ACTION);
    for (int suit = 0; suit < SUITS; suit++) {
        int value = valuation.value_by_suit[suit];
        if (value < min_value) continue;
        add_choice(choices, bid_action(suit, 0));
        if (value >= MIN_ALONE_VALUE) add_choice(choices, bid_action(suit, 1));
    }
}

static void list_discards(const Position *position, Choices *choices) {
    int preferred_card = rule_based_action(position);
    add_choice(choices, preferred_card);
    for (int card = 0; card < CARDS; card++)
        if (position->hand >> card & 1 && card != preferred_card) add_choice(choices, card);
}

/* The cards that are in a hand or in the trick, as far as the seat knows. */
static CardSet find_present_cards(const Position *position) {
    const PublicState *public_state = position->public_state;
    int trick_start = public_state->play_count - position->play_state.cards_in_trick;
    CardSet trick_cards = 0, absent_cards = seat_cards(position);
    for (int index = 0; index < public_state->play_count; index++) {
        CardSet card = 1u << public_state->card[index];
        if (index < trick_start) absent_cards |= card;
        else trick_cards |= card;
    }
    absent_cards &= ~position->hand;
    CardSet dealer_pickup = is_order_up(position) ? turn_card_set(position) : 0;
    return position->hand | unseen_cards(position) | trick_cards | (dealer_pickup & ~absent_cards);
}

static int is_open_hand_trick(const Position *position) {
    const CardPlayState *state = &position->play_state;
    return state->tricks_won + state->tricks_lost >= FIRST_OPEN_HAND_TRICK;
}

/* The legal cards that differ: the rule-based choice, and of the other groups of equivalent cards
 * the lowest card. */
static void list_plays(const Position *position, Choices *choices) {
    const TrumpLayout *layout = position->order.layout;
    int preferred_card = rule_based_action(position);
    add_choice(choices, preferred_card);
    CardMask preferred_bit = bit_of_card(layout, preferred_card);
    CardMask present = mask_from_card_set(layout, find_present_cards(position));
    CardMask legal = mask_from_card_set(layout, legal_cards(position));
    while (legal) {
        CardMask group = take_equivalent_group(layout, &legal, present);
        if (!(group & preferred_bit)) add_choice(choices, card_of_bit(layout, group));
    }
    choices->work = MAX_PLAYS - position->public_state->play_count;
    if (is_open_hand_trick(position)) choices->work *= SEARCH_WORK_FACTOR;
}

static Choices list_choices(const Position *position) {
    Choices choices = {.work = PLAYOUT_WORK};
    switch (position->decision_type) {
        case BID: list_bids(position, &choices); break;
        case DISCARD: list_discards(position, &choices); break;
        case DEFEND:
            add_choice(&choices, 0);
            add_choice(&choices, 1);
            break;
        default: list_plays(position, &choices); break;
    }
    return choices;
}

/* --- values of actions in one world, in units of 1 / POINT_SCALE points ------------------- */

/* The value of an action that comes earlier than the first card. */
static int contract_value(const Position *position, const EuchreWorld *world, int action) {
    const PublicState *public_state = position->public_state;
    if (position->decision_type == BID) {
        if (action == PASS_ACTION) return POINT_SCALE * pass_value(position, world);
        int suit = (action % ALONE_OFFSET) - 1, goes_alone = action / ALONE_OFFSET;
        Contract contract = {public_state->bid_count, suit, goes_alone, NO_SEAT, NO_CARD};
        return POINT_SCALE * call_value(position, world, &contract) - CALL_BIAS_CORRECTION;
    }
    int call_index = position->call_index;
    int defends_alone = position->decision_type == DEFEND && action;
    Contract contract = {
        .bid_index = call_index,
        .suit = public_state->suit[call_index],
        .goes_alone = public_state->goes_alone[call_index],
        .lone_defender = defends_alone ? position->seat : NO_SEAT,
        .discard = position->decision_type == DISCARD ? action : NO_CARD,
    };
    return POINT_SCALE * call_value(position, world, &contract);
}

static CardMask current_trick(const Position *position) {
    const PublicState *public_state = position->public_state;
    CardMask trick_cards = 0;
    for (int index = public_state->play_count - position->play_state.cards_in_trick;
         index < public_state->play_count; index++)
        trick_cards |= bit_of_card(position->order.layout, public_state->card[index]);
    return trick_cards;
}

/* Find the values of the cards that are still in the race.
 *
 * A value is the mean of two estimates with opposite errors: in one all seats play by rules of
 * thumb and see only their own cards, in the other all play perfectly with open cards. */
static void evaluate_plays(const Position *position, const EuchreWorld *world,
                           const Answer *answer, const int is_running[], int values[]) {
    const PlayOrder *order = &position->order;
    const TrumpLayout *layout = order->layout;
    CardMask hands[SEATS], not_dealt[SEATS], trick_cards = current_trick(position);
    for (int seat = 0; seat < SEATS; seat++)
        hands[seat] = mask_from_card_set(layout, world->hands[seat]);
    find_not_dealt_cards(world, layout, position->public_state->turn_card, is_order_up(position),
                         not_dealt);
    DoubleDummySolver solver = double_dummy_solver(order, hands);
    CardMask hand = hands[position->seat];
    int sign = is_on_caller_side(order, position->seat) ? 1 : -1;
    for (int choice = 0; choice < answer->choice_count; choice++) {
        if (!is_running[choice]) continue;
        CardMask card = bit_of_card(layout, answer->actions[choice]);
        CardPlayState state = with_card(order, position->play_state, card);
        hands[position->seat] = hand ^ card;
        int points = playout_points(order, hands, not_dealt, state);
        int perfect_points = is_open_hand_trick(position)
            ? solve_point_difference(&solver, state, trick_cards | card)
            : points;
        values[choice] = sign * (points + perfect_points) * (POINT_SCALE / 2);
    }
}

static void evaluate_choices(const Position *position, const EuchreWorld *world,
                             const Answer *answer, const int is_running[], int values[]) {
    if (position->decision_type == PLAY) {
        evaluate_plays(position, world, answer, is_running, values);
        return;
    }
    for (int choice = 0; choice < answer->choice_count; choice++)
        if (is_running[choice])
            values[choice] = contract_value(position, world, answer->actions[choice]);
}

/* --- the race of the choices -------------------------------------------------------------- */

static int16_t values_by_choice[MAX_CHOICES][MAX_WORLDS];

static void run_batch(WorldSampler *sampler, int batch_size, Answer *answer,
                      const int is_running[]) {
    static EuchreWorld worlds[DRAWS_PER_SAMPLE * MAX_BATCH];
    static int multiplicities[DRAWS_PER_SAMPLE * MAX_BATCH];
    int batch_world_count = sample_worlds(sampler, batch_size, worlds, multiplicities);
    for (int world = 0; world < batch_world_count; world++) {
        int values[MAX_CHOICES], multiplicity = multiplicities[world];
        evaluate_choices(sampler->position, &worlds[world], answer, is_running, values);
        for (int choice = 0; choice < answer->choice_count; choice++) {
            if (!is_running[choice]) continue;
            answer->totals[choice] += multiplicity * values[choice];
            answer->try_counts[choice] += multiplicity;
            for (int copy = 0; copy < multiplicity; copy++)
                values_by_choice[choice][answer->world_count + copy] = (int16_t)values[choice];
        }
        answer->world_count += multiplicity;
    }
}

static int find_leader(const Answer *answer, const int is_running[]) {
    int leader = -1;
    for (int choice = 0; choice < answer->choice_count; choice++)
        if (is_running[choice] && (leader < 0 || answer->totals[choice] > answer->totals[leader]))
            leader = choice;
    return leader;
}

/* Drop the choices that are surely worse; return 1 if any other may still be better.
 *
 * All choices were tried in the same worlds. The differences within a world vary much less than the
 * values themselves, so this paired test decides with far fewer worlds. */
static int eliminate_choices(const Answer *answer, int is_running[], int leader) {
    int is_undecided = 0;
    int64_t world_count = answer->world_count;
    for (int choice = 0; choice < answer->choice_count; choice++) {
        int64_t lead = 0, squares = 0;
        if (!is_running[choice] || choice == leader) continue;
        for (int world = 0; world < world_count; world++) {
            int64_t gap = values_by_choice[leader][world] - values_by_choice[choice][world];
            lead += gap;
            squares += gap * gap;
        }
        /* lead / n > sigmas * sqrt((squares / n - (lead / n) ** 2) / n), in whole numbers */
        int64_t variance = world_count * squares - lead * lead;
        if (lead && world_count * lead * lead > ELIMINATION_SIGMAS * ELIMINATION_SIGMAS * variance)
            is_running[choice] = 0;
        else if (squares)
            is_undecided = 1;
    }
    return is_undecided;
}

/* A seed that depends on the position alone. */
static uint64_t position_seed(const Position *position) {
    const PublicState *public_state = position->public_state;
    uint64_t seed = mix_seed(0, (int)position->decision_type + 4 * position->seat);
    seed = mix_seed(seed, position->hand);
    seed = mix_seed(seed, position->discard);
    seed = mix_seed(seed, public_state->turn_card);
    seed = mix_seed(seed, public_state->defense_count);
    for (int bid = 0; bid < public_state->bid_count; bid++) {
        int suit = public_state->suit[bid];
        seed = mix_seed(seed, suit == PASS ? -1 : 2 * suit + public_state->goes_alone[bid]);
    }
    for (int index = 0; index < public_state->play_count; index++)
        seed = mix_seed(seed, 4 * public_state->card[index] + public_state->seat[index]);
    return seed;
}

/* Race the choices of the answer until the budget is spent or the best choice is certain. */
static void race_choices(const Position *position, const SearchBudget *budget, int work_per_choice,
                         Answer *answer) {
    int is_running[MAX_CHOICES], work = 0;
    for (int choice = 0; choice < answer->choice_count; choice++) is_running[choice] = 1;
    WorldSampler sampler = world_sampler(position, position_seed(position));
    while (answer->world_count < budget->max_worlds && work < budget->max_work) {
        int running_count = 0, earlier_world_count = answer->world_count;
        for (int choice = 0; choice < answer->choice_count; choice++)
            running_count += is_running[choice];
        run_batch(&sampler, budget->batch_size, answer, is_running);
        if (!answer->world_count) { /* no deal fits what has been seen */
            answer->action = rule_based_action(position);
            return;
        }
        work += budget->batch_size *
                (DRAWS_PER_SAMPLE * SAMPLING_WORK + running_count * work_per_choice);
        int leader = find_leader(answer, is_running);
        answer->action = answer->actions[leader];
        if (answer->world_count == earlier_world_count) return;
        if (!eliminate_choices(answer, is_running, leader)) return;
    }
}

/* --- called by Python (cardsharp_tools/research/euchre/native.py) -------------------------- */

void euchre_init(void) {
    for (int trump = 0; trump < SUITS; trump++) build_trump_layout(trump);
}

/* Decide one position; `discard` is the seat's own discard or NO_CARD. */
void euchre_decide(const PublicState *public_state, int seat, int decision_type, int hand,
                   int discard, const SearchBudget *budget, Answer *answer) {
    Position position =
        position_for(public_state, seat, (DecisionType)decision_type, (CardSet)hand, discard);
    Choices choices = list_choices(&position);
    memset(answer, 0, sizeof *answer);
    answer->choice_count = choices.count;
    memcpy(answer->actions, choices.actions, sizeof answer->actions);
    answer->action = choices.actions[0];
    if (choices.count > 1) race_choices(&position, budget, choices.work, answer);
}
