/* Worlds of a position, the layouts of the cards that a seat cannot see: the twin of
 * cardsharp/games/euchre/strategies/worlds.py.
 *
 * Worlds are sampled from the layouts that agree with all cards played and all revealed voids. They
 * are then resampled by the likelihood of the other seats' bids and plays.
 */
#ifndef CARDSHARP_EUCHRE_WORLDS_H
#define CARDSHARP_EUCHRE_WORLDS_H

#include "portable_rng.h"
#include "position.h"

enum {
    DRAWS_PER_SAMPLE = 3, /* sampled layouts for each world that is used */
    MAX_SAMPLE_ATTEMPTS = 40,
    MAX_BATCH = 1024, /* worlds */
    OTHER_SEATS = SEATS - 1,
};

/* The factor of a layout's likelihood for each card that was played against the rules. */
static const double SURPRISE_LIKELIHOOD = 0.1;

/* The current and the dealt hand of each seat; those of the deciding seat are real. */
typedef struct { CardSet hands[SEATS], dealt_hands[SEATS]; } EuchreWorld;

/* A card that another seat played, in the state before it. */
typedef struct {
    CardPlayState state;
    CardMask card;
    CardMask later_cards; /* this card and all later ones of the seat */
} ObservedPlay;

typedef struct {
    const Position *position;
    PortableRng rng;
    CardSet unseen_cards[CARDS]; /* one card each */
    int unseen_count;
    CardSet public_cards[SEATS]; /* the dealt cards of a seat that it has played */
    CardSet dealt_cards;         /* of the deciding seat */
    CardSet turn_card;
    int seat_order[OTHER_SEATS];
    ObservedPlay plays[MAX_PLAYS];
    int play_count;
} WorldSampler;

static void find_observed_plays(WorldSampler *sampler) {
    const Position *position = sampler->position;
    const PublicState *public_state = position->public_state;
    CardPlayState state = {0};
    for (int index = 0; index < public_state->play_count; index++) {
        const TrumpLayout *layout = position->order.layout;
        CardMask card = bit_of_card(layout, public_state->card[index]), later_cards = 0;
        state.seat = public_state->seat[index];
        for (int later = index; later < public_state->play_count; later++)
            if (public_state->seat[later] == state.seat)
                later_cards |= bit_of_card(layout, public_state->card[later]);
        if (state.seat != position->seat)
            sampler->plays[sampler->play_count++] = (ObservedPlay){state, card, later_cards};
        state = with_card(&position->order, state, card);
    }
}

/* The seat with the most voids draws first: otherwise the remaining cards may not fit it. */
static void order_seats(WorldSampler *sampler) {
    const CardSet *voids = sampler->position->voids;
    int *order = sampler->seat_order, seat_count = 0;
    for (int seat = 0; seat < SEATS; seat++)
        if (seat != sampler->position->seat) order[seat_count++] = seat;
    for (int round = 0; round < OTHER_SEATS - 1; round++)
        for (int index = 0; index < OTHER_SEATS - 1; index++) {
            int seat = order[index], next_seat = order[index + 1];
            if (count_cards(voids[seat]) >= count_cards(voids[next_seat])) continue;
            order[index] = next_seat;
            order[index + 1] = seat;
        }
}

static WorldSampler world_sampler(const Position *position, uint64_t seed) {
    WorldSampler sampler = {
        .position = position, .rng = seed, .turn_card = turn_card_set(position)};
    CardSet dealer_pickup = is_order_up(position) ? sampler.turn_card : 0;
    for (CardSet rest = unseen_cards(position); rest; rest &= rest - 1)
        sampler.unseen_cards[sampler.unseen_count++] = lowest_card(rest);
    for (int seat = 0; seat < SEATS; seat++)
        sampler.public_cards[seat] =
            position->played_cards[seat] & ~(seat == DEALER ? dealer_pickup : 0);
    order_seats(&sampler);
    sampler.dealt_cards =
        seat_cards(position) & ~(position->seat == DEALER ? dealer_pickup : 0);
    find_observed_plays(&sampler);
    return sampler;
}

/* --- sampling of one layout --------------------------------------------------------------- */

/* Take from the pool the first cards that the seat may have been dealt; return 0 if there are not
 * enough.
 *
 * `remaining` are the cards of the pool that no seat has taken. With `may_discard`, the seat is a
 * dealer that picked up and may have discarded one card of a void suit. */
static int take_cards(const WorldSampler *sampler, const CardSet pool[], CardSet *remaining,
                      int seat, int may_discard, CardSet *taken_cards) {
    const Position *position = sampler->position;
    CardSet voids = position->voids[seat];
    int missing_count = HAND_SIZE - count_cards(sampler->public_cards[seat]);
    int was_turn_card_played = (position->played_cards[seat] & sampler->turn_card) != 0;
    if (voids & sampler->turn_card && !was_turn_card_played)
        may_discard = 0; /* the turn card itself was discarded */
    *taken_cards = 0;
    for (int index = 0; index < sampler->unseen_count && missing_count; index++) {
        CardSet card = pool[index];
        if (!(*remaining & card)) continue;
        if (card & voids) {
            if (!may_discard) continue;
            may_discard = 0;
        }
        *taken_cards |= card;
        missing_count--;
    }
    *remaining &= ~*taken_cards;
    return missing_count == 0;
}

/* The current hand of a dealer that picked up, with a discard by the rules. */
static CardSet infer_dealer_hand(const WorldSampler *sampler, CardSet dealt_cards) {
    const Position *position = sampler->position;
    const TrumpLayout *layout = position->order.layout;
    CardSet hand = (dealt_cards | sampler->turn_card) & ~position->played_cards[DEALER];
    CardMask hand_mask = mask_from_card_set(layout, hand);
    CardMask void_cards = hand_mask & mask_from_card_set(layout, position->voids[DEALER]);
    CardMask discard = best_discard(layout, void_cards ? void_cards : hand_mask);
    return card_set_from_mask(layout, hand_mask ^ discard);
}

/* Sample a layout once; return 0 if the shuffled cards do not fit the voids. */
static int try_sample(WorldSampler *sampler, EuchreWorld *world) {
    const Position *position = sampler->position;
    CardSet pool[CARDS], remaining = 0;
    memcpy(pool, sampler->unseen_cards, sizeof pool);
    shuffle(&sampler->rng, pool, sampler->unseen_count);
    for (int index = 0; index < sampler->unseen_count; index++) remaining |= pool[index];
    world->hands[position->seat] = position->hand;
    world->dealt_hands[position->seat] = sampler->dealt_cards;
    for (int turn = 0; turn < OTHER_SEATS; turn++) {
        int seat = sampler->seat_order[turn];
        int has_discarded = is_order_up(position) && seat == DEALER;
        CardSet taken_cards;
        if (!take_cards(sampler, pool, &remaining, seat, has_discarded, &taken_cards)) return 0;
        CardSet dealt_cards = sampler->public_cards[seat] | taken_cards;
        world->dealt_hands[seat] = dealt_cards;
        world->hands[seat] =
            has_discarded ? infer_dealer_hand(sampler, dealt_cards) : taken_cards;
    }
    return 1;
}

/* --- likelihood of the bids and plays in a layout ----------------------------------------- */

/* Find for each seat the cards that it was not dealt. The turn card is excluded if it lies turned
 * down, and always for the dealer. */
static void find_not_dealt_cards(const EuchreWorld *world, const TrumpLayout *layout,
                                 int turn_card, int is_order_up_call, CardMask not_dealt[SEATS]) {
    CardMask turn_card_bit = bit_of_card(layout, turn_card);
    CardMask candidates = is_order_up_call ? ALL_CARDS : ALL_CARDS ^ turn_card_bit;
    for (int seat = 0; seat < SEATS; seat++)
        not_dealt[seat] = candidates & ~mask_from_card_set(layout, world->dealt_hands[seat]);
    if (is_order_up_call) not_dealt[DEALER] &= ~turn_card_bit;
}

/* True if the rules play another card, and not just an equivalent neighbour of this one. */
static int is_surprising(const WorldSampler *sampler, const ObservedPlay *play, CardMask hand,
                         CardMask hidden) {
    const PlayOrder *order = &sampler->position->order;
    CardMask rule_card = choose_card(order, hand, hidden, &play->state);
    if (rule_card == play->card) return 0;
    CardMask suit = order->layout->suit[lowest_index(rule_card)];
    if (!(suit & play->card)) return 1;
    CardMask lower = rule_card < play->card ? rule_card : play->card;
    CardMask higher = rule_card < play->card ? play->card : rule_card;
    CardMask between = suit & (higher - 1) & ~(2 * lower - 1);
    return (between & hidden) != 0;
}

static double plays_likelihood(const WorldSampler *sampler, const EuchreWorld *world) {
    const Position *position = sampler->position;
    const TrumpLayout *layout = position->order.layout;
    double likelihood = 1;
    if (!position->public_state->play_count) return likelihood;
    CardMask not_dealt[SEATS];
    find_not_dealt_cards(world, layout, position->public_state->turn_card, is_order_up(position),
                         not_dealt);
    for (int index = 0; index < sampler->play_count; index++) {
        const ObservedPlay *play = &sampler->plays[index];
        int seat = play->state.seat;
        CardMask hand = mask_from_card_set(layout, world->hands[seat]) | play->later_cards;
        CardMask hidden = not_dealt[seat] & ~play->state.played_cards;
        if (is_surprising(sampler, play, hand, hidden)) likelihood *= SURPRISE_LIKELIHOOD;
    }
    return likelihood;
}

/* The likelihood of the other seats' bids and plays with these cards. The deciding seat's own bids
 * are the same in every world, so they do not count. */
static double world_likelihood(const WorldSampler *sampler, const EuchreWorld *world) {
    const PublicState *public_state = sampler->position->public_state;
    double likelihood = 1;
    for (int bid_index = 0; bid_index < public_state->bid_count; bid_index++) {
        int seat = bid_index & 3;
        if (seat == sampler->position->seat) continue;
        likelihood *= bid_likelihood(world->dealt_hands[seat], bid_index, public_state->turn_card,
                                     public_state->suit[bid_index],
                                     public_state->goes_alone[bid_index]);
    }
    return likelihood * plays_likelihood(sampler, world);
}

/* --- batches ------------------------------------------------------------------------------ */

static int sample_world(WorldSampler *sampler, EuchreWorld *world) {
    for (int attempt = 0; attempt < MAX_SAMPLE_ATTEMPTS; attempt++)
        if (try_sample(sampler, world)) return 1;
    return 0; /* a layout that many attempts did not find is most likely impossible */
}

/* Sample `sample_count` worlds by their likelihood, at even steps from one random start.
 *
 * Return the number of different worlds, each with its multiplicity; 0 if the position allows
 * none. */
static int sample_worlds(WorldSampler *sampler, int sample_count, EuchreWorld worlds[],
                         int multiplicities[]) {
    static EuchreWorld drawn_worlds[DRAWS_PER_SAMPLE * MAX_BATCH];
    static double likelihood_sums[DRAWS_PER_SAMPLE * MAX_BATCH];
    int drawn_count = 0, world_count = 0;
    double likelihood_sum = 0;
    while (drawn_count < DRAWS_PER_SAMPLE * sample_count) {
        EuchreWorld *world = &drawn_worlds[drawn_count];
        if (!sample_world(sampler, world)) break;
        likelihood_sum += world_likelihood(sampler, world);
        likelihood_sums[drawn_count++] = likelihood_sum;
    }
    if (!drawn_count) return 0;
    double interval = likelihood_sum / sample_count;
    double threshold = random_unit(&sampler->rng) * interval;
    for (int index = 0; index < drawn_count; index++) {
        int multiplicity = 0;
        for (; threshold < likelihood_sums[index]; threshold += interval) multiplicity++;
        if (!multiplicity) continue;
        worlds[world_count] = drawn_worlds[index];
        multiplicities[world_count++] = multiplicity;
    }
    return world_count;
}

/* --- values of contracts ------------------------------------------------------------------ */

typedef struct {
    int bid_index, suit, goes_alone; /* of the call */
    int lone_defender;               /* a seat or NO_SEAT */
    int discard;                     /* of a dealer that picks up; NO_CARD for that of the rules */
} Contract;

/* The points of the deciding seat's side less the others' if everybody plays on by the rules. */
static int call_value(const Position *position, const EuchreWorld *world,
                      const Contract *contract) {
    int caller = contract->bid_index & 3, turn_card = position->public_state->turn_card;
    int is_order_up_call = is_first_round(contract->bid_index);
    PlayOrder order =
        play_order(caller, contract->suit, contract->goes_alone, contract->lone_defender);
    const TrumpLayout *layout = order.layout;
    CardMask hands[SEATS], not_dealt[SEATS];
    for (int seat = 0; seat < SEATS; seat++)
        hands[seat] = mask_from_card_set(layout, world->dealt_hands[seat]);
    find_not_dealt_cards(world, layout, turn_card, is_order_up_call, not_dealt);
    if (is_order_up_call) {
        CardMask six_cards = hands[DEALER] | bit_of_card(layout, turn_card);
        CardMask discard = contract->discard == NO_CARD ? best_discard(layout, six_cards)
                                                        : bit_of_card(layout, contract->discard);
        hands[DEALER] = six_cards ^ discard;
    }
    CardPlayState state = {.seat = first_playing_seat_from(&order, 0)};
    int points = playout_points(&order, hands, not_dealt, state);
    int is_own_side = (caller & 1) == (position->seat & 1);
    return is_own_side ? points : -points;
}

/* The value of a pass, after which all others bid and play by the rules. */
static int pass_value(const Position *position, const EuchreWorld *world) {
    const PublicState *public_state = position->public_state;
    for (int bid_index = public_state->bid_count + 1; bid_index < MAX_BIDS; bid_index++) {
        int goes_alone;
        int suit = choose_bid(world->dealt_hands[bid_index & 3], bid_index,
                              public_state->turn_card, &goes_alone);
        if (suit == PASS) continue;
        Contract contract = {bid_index, suit, goes_alone, NO_SEAT, NO_CARD};
        return call_value(position, world, &contract);
    }
    return 0;
}

#endif
