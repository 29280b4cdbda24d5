/* What a simulated turn is worth where it ends, and where it might go on: see leaves.h. */
#include "leaves.h"

#include <string.h>

typedef struct {
    const int16_t *keys;
    Cards pile;
    Card known;
} End;

typedef struct {
    double chance; /* of the player whose turn ended */
    int64_t sum;   /* the log-odds of the player whose turn begins */
} Worth;

static Worth worth_of_lead(int lead) {
    Worth worth = {lead > 0 ? 0.0 : lead == 0 ? 0.5 : 1.0, (int64_t)lead * ONE};
    return worth;
}

static Worth worth(Search *search, const End *end, unsigned lying, Sums *sums) {
    int left = count(end->pile);
    *sums = sum_suits(search->memo, end->keys, left, lying);
    search->nodes++;
    if (!left) return worth_of_lead(sums->lead);
    Worth found;
    found.sum = value_sum(search->memo->model, *sums, left, end->known);
    if (search->layer) {
        Seen seen = seen_as(TURN_BEGINS, end->keys, left, sums->lead, found.sum);
        seen.known = end->known;
        found.sum += layer_sum(search->layer, &seen, found.sum);
    }
    found.chance = chance_of(-found.sum);
    return found;
}

static bool treasure(Cards cards) {
    return (cards & SUIT_MASK(CHEST)) && (cards & SUIT_MASK(KEY));
}

typedef struct {
    Cards discard;
    int wanted, samples;
} Bonus;

/* One pick of the bonus: `wanted` cards of `cards`, moved to its front. */
static void pick(Rng *rng, Card cards[], int number, int wanted) {
    for (int i = 0; i < wanted; i++) {
        int at = i + rng_below(rng, number - i);
        Card card = cards[at];
        cards[at] = cards[i];
        cards[i] = card;
    }
}

static Worth worth_with(Search *search, End end, const Card cards[], int wanted, unsigned lying,
                        Sums *sums) {
    int16_t keys[SUITS];
    memcpy(keys, end.keys, sizeof keys);
    for (int i = 0; i < wanted; i++) {
        keys[suit_of(cards[i])] += (int16_t)(OTHER * PLACE_DIGIT[cards[i] % RANKS]);
    }
    end.keys = keys;
    return worth(search, &end, lying, sums);
}

/* The mean over seeded picks; exact where the discard pile holds no choice. */
static Worth worth_with_bonus(Search *search, const End *end, Bonus bonus, unsigned lying,
                              Sums *sums) {
    Card cards[DECK];
    int number = 0;
    for (Cards rest = bonus.discard; rest; rest &= rest - 1) cards[number++] = lowest(rest);
    if (number <= bonus.wanted) return worth_with(search, *end, cards, number, lying, sums);
    Rng rng = {bonus.discard + (uint64_t)bonus.wanted};
    Worth mean = {0, 0};
    for (int i = 0; i < bonus.samples; i++) {
        pick(&rng, cards, number, bonus.wanted);
        Worth one = worth_with(search, *end, cards, bonus.wanted, lying, sums);
        mean.chance += one.chance;
        mean.sum += one.sum;
    }
    mean.chance /= bonus.samples;
    mean.sum /= bonus.samples;
    return mean;
}

static Worth stop_worth(Search *search, const Turn *turn, int samples, unsigned lying,
                        Sums *sums) {
    End end = {turn->stop, turn->pile, turn->known};
    if (!treasure(turn->area)) return worth(search, &end, lying, sums);
    Bonus bonus = {turn->discard, turn->lying, samples};
    return worth_with_bonus(search, &end, bonus, lying, sums);
}

double end_value(Search *search, Cards own, const Table *next) {
    int16_t keys[SUITS];
    Cards mover = next->bank[next->player];
    for (Suit suit = 0; suit < SUITS; suit++) {
        keys[suit] = (int16_t)suit_key(suit, mover, own, next->pile);
    }
    End end = {keys, next->pile, next->known_top};
    Sums sums;
    return worth(search, &end, 0, &sums).chance;
}

double stop_value(Search *search, const Turn *turn, int samples) {
    Sums sums;
    return stop_worth(search, turn, samples, 0, &sums).chance;
}

static Worth bust_worth(Search *search, const Turn *turn, Card card) {
    End end = {turn->bust, turn->pile, turn->known};
    Sums sums;
    if (!treasure(turn->saved)) return worth(search, &end, 0, &sums);
    Cards thrown = (turn->area & ~turn->saved) | BIT(card);
    Bonus bonus = {turn->discard | thrown, turn->rescued, search->limits.samples};
    return worth_with_bonus(search, &end, bonus, 0, &sums);
}

double bust_value(Search *search, const Turn *turn, Card card) {
    return bust_worth(search, turn, card).chance;
}

static Worth bust_worth_by(Search *search, const Turn *turn, Card card) {
    Turn after = *turn;
    leave_pile(&after, card);
    return bust_worth(search, &after, card);
}

double bust_by(Search *search, const Turn *turn, Card card) {
    return bust_worth_by(search, turn, card).chance;
}

/* --- nothing pending: stop, or what drawing on is learned to be worth --- */

static int size_index(const Turn *turn) { return turn->lying < SIZES ? turn->lying : SIZES - 1; }

static int risk_index(const Turn *turn) {
    return 16 * count(turn->pile & cards_of(turn->suits)) / turn->left;
}

int64_t on_sum(const Model *model, Sums sums, const Turn *turn, int64_t stop_sum) {
    int64_t hope = (-stop_sum >> 20) + HOPES / 2;
    hope = hope < 0 ? 0 : hope >= HOPES ? HOPES - 1 : hope;
    return (sums.on + model->size[size_index(turn)] + model->left[left_index(turn->left)] +
            model->risk[risk_index(turn)] + model->hope[hope]) *
           KNOT_PARTS;
}

Seen seen_going_on(const Turn *turn, const DrawingOn *on, int64_t sum) {
    Seen seen = seen_as(TURN_GOES_ON, turn->stop, turn->left, on->sums.lead, sum);
    seen.lying = (int16_t)turn->suits;
    seen.risk = (int16_t)risk_index(turn);
    seen.size = (int16_t)size_index(turn);
    int rescued = turn->rescued + 1 < RESCUES ? turn->rescued + 1 : RESCUES - 1;
    seen.rescued = turn->anchored ? (int16_t)rescued : 0;
    seen.stop = steps_of(-on->stop_sum);
    seen.bust = steps_of(-on->bust_sum);
    return seen;
}

DrawingOn weigh_drawing_on(Search *search, const Turn *turn, double *stop) {
    DrawingOn on;
    Worth stopped = stop_worth(search, turn, search->limits.samples, turn->suits, &on.sums);
    Cards busting = turn->pile & cards_of(turn->suits);
    *stop = stopped.chance;
    on.stop_sum = stopped.sum;
    on.risk = (double)count(busting) / turn->left;
    Worth bust = {0.0, stopped.sum};
    if (busting) bust = bust_worth_by(search, turn, lowest(busting));
    on.bust = bust.chance;
    on.bust_sum = bust.sum;
    int64_t sum = on_sum(search->memo->model, on.sums, turn, on.stop_sum) - on.stop_sum;
    if (search->layer) {
        Seen seen = seen_going_on(turn, &on, sum);
        sum += layer_sum(search->layer, &seen, sum);
    }
    on.value = (1.0 - on.risk) * chance_of(sum) + on.risk * on.bust;
    return on;
}

DrawingOn drawing_on(Search *search, const Turn *turn) {
    double stop;
    return weigh_drawing_on(search, turn, &stop);
}
