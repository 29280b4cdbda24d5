/* Cards as bits for each trump suit, dice, and rules of thumb on hands.
 *
 * The twin of cardsharp/euchre/strategies/{layout,dice,bidding}.py, name by name; a test holds the
 * two equal. "Set" is a set with a bit for each card's own number, "Mask" one that is laid out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"

typedef uint32_t Mask;

#define ALL 0xFFFFFFu
#define COUNT(set) __builtin_popcount(set)
#define LOWEST(set) __builtin_ctz(set)
#define HIGHEST(set) (31 - __builtin_clz(set))

/* --- layouts ----------------------------------------------------------------------------- */

typedef struct {
    int card[CARDS], place[CARDS]; /* by place, and the reverse */
    Mask of_suit[SEATS], suit[CARDS], trumps, sides[3];
    Mask from[3][256]; /* a byte of a set, laid out */
    Set back[3][256];
} Layout;

static Layout layouts[SEATS];

static Mask laid_out(const Layout *cards, Set set) {
    return cards->from[0][set & 255] | cards->from[1][set >> 8 & 255] | cards->from[2][set >> 16];
}

static Set brought_back(const Layout *cards, Mask mask) {
    return cards->back[0][mask & 255] | cards->back[1][mask >> 8 & 255] |
           cards->back[2][mask >> 16];
}

static int layout_order(int card, int trump) {
    int suit = suit_of(card, trump);
    return (suit == trump) * 1000 + suit * 100 + strength(card, trump, suit);
}

static void make_layout(int trump) {
    Layout *cards = &layouts[trump];
    memset(cards, 0, sizeof *cards);
    for (int card = 0; card < CARDS; card++) {
        int place = 0;
        for (int other = 0; other < CARDS; other++)
            place += layout_order(other, trump) < layout_order(card, trump);
        cards->card[place] = card;
        cards->place[card] = place;
        cards->of_suit[suit_of(card, trump)] |= 1u << place;
    }
    for (int place = 0; place < CARDS; place++)
        cards->suit[place] = cards->of_suit[suit_of(cards->card[place], trump)];
    cards->trumps = cards->of_suit[trump];
    for (int suit = 0, side = 0; suit < SEATS; suit++)
        if (suit != trump) cards->sides[side++] = cards->of_suit[suit];
    for (int part = 0; part < 3; part++)
        for (int byte = 0; byte < 256; byte++)
            for (int bit = 0; bit < 8; bit++)
                if (byte >> bit & 1) {
                    cards->from[part][byte] |= 1u << cards->place[8 * part + bit];
                    cards->back[part][byte] |= 1u << cards->card[8 * part + bit];
                }
}

/* What a caller may expect of five cards, in thousandths of tricks. */
static int worth(const Layout *cards, Mask hand) {
    static const int of_trump[] = {400, 450, 500, 600, 750, 900, 1000};
    static const int length[] = {0, 0, 0, 150, 450, 900, 900, 900};
    Mask trumps = hand & cards->trumps;
    int number = COUNT(trumps), total = length[number];
    for (Mask left = trumps; left; left &= left - 1) total += of_trump[LOWEST(left) - 17];
    for (int side = 0; side < 3; side++) {
        Mask held = hand & cards->sides[side];
        int rank = held ? cards->card[HIGHEST(held)] >> 2 : -1;
        if (!held) total += number > 1 ? 250 : 0;
        else if (rank == ACE) total += held & (held - 1) ? 450 : 600;
        else if (rank == KING) total += 120;
    }
    return total;
}

/* The card that is missed least. */
static Mask spare(const Layout *cards, Mask hand) {
    Mask trumps = hand & cards->trumps, found = 0;
    if (hand == trumps) return hand & -hand;
    int lowest = 0;
    for (int side = 0; side < 3; side++) {
        Mask held = hand & cards->sides[side], low = held & -held;
        if (!held) continue;
        int card = cards->card[LOWEST(low)], rank = card >> 2;
        int price = 64 * rank + card - (trumps && held == low && rank != ACE ? 160 : 0);
        if (!found || price < lowest) found = low, lowest = price;
    }
    return found;
}

/* The highest legal card and its neighbours, taken out of the legal ones. */
static Mask next_block(const Layout *cards, Mask *legal, Mask present) {
    int place = HIGHEST(*legal);
    Mask block = 1u << place, below = present & (block - 1) & cards->suit[place];
    *legal ^= block;
    while (below) {
        Mask bit = 1u << HIGHEST(below);
        if (!(bit & *legal)) break;
        *legal ^= bit;
        below ^= bit;
        block |= bit;
    }
    return block;
}

/* --- dice -------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t seed, int64_t number) {
    seed += (uint64_t)number;
    seed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9ULL;
    seed = (seed ^ seed >> 27) * 0x94D049BB133111EBULL;
    return seed ^ seed >> 31;
}

static uint64_t throw_dice(uint64_t *dice) {
    return *dice = *dice * 6364136223846793005ULL + 1442695040888963407ULL;
}

static void shuffle(uint64_t *dice, Set *items, int left) {
    for (int spot = 0; left > 1; spot++, left--) {
        int other = spot + (int)((throw_dice(dice) >> 33) * (uint64_t)left >> 31);
        Set kept = items[spot];
        items[spot] = items[other];
        items[other] = kept;
    }
}

static double share(uint64_t *dice) { return (double)(throw_dice(dice) >> 11) * 0x1p-53; }

/* --- bidding ----------------------------------------------------------------------------- */

static const int CALL[] = {2450, 2150, 2450, 2150}, NAME[] = {2150, 2150, 2150, 2000};
enum { ALONE = 3700, TURN_WORTH = 550, NO_WORTH = -1000000 };

typedef struct { int worth[SEATS], best, wanted; } Appraisal;

static int first_round(Set hand, int seat, int turn_card) {
    const Layout *cards = &layouts[turn_card & 3];
    Mask held = laid_out(cards, hand);
    if (seat == DEALER) {
        Mask six = held | 1u << cards->place[turn_card];
        return worth(cards, six ^ spare(cards, six));
    }
    int height = strength(turn_card, turn_card & 3, turn_card & 3) - 10;
    int part = TURN_WORTH * (280 + 60 * height) / 700;
    return worth(cards, held) + (seat == 1 ? part : -part);
}

static Appraisal appraise(Set hand, int number, int turn_card) {
    int seat = number & 3, turned = turn_card & 3, second = number >= SEATS;
    Appraisal seen = {{NO_WORTH, NO_WORTH, NO_WORTH, NO_WORTH}, 0, second ? NAME[seat] : CALL[seat]};
    for (int suit = 0; suit < SEATS; suit++)
        if (second && suit != turned)
            seen.worth[suit] = worth(&layouts[suit], laid_out(&layouts[suit], hand));
    if (!second) seen.worth[turned] = first_round(hand, seat, turn_card);
    for (int suit = 1; suit < SEATS; suit++)
        if (seen.worth[suit] > seen.worth[seen.best]) seen.best = suit;
    return seen;
}

/* What the rules bid: the suit or -1, and whether alone. */
static int rules_bid(Set hand, int number, int turn_card, int *alone) {
    Appraisal seen = appraise(hand, number, turn_card);
    int most = seen.worth[seen.best];
    *alone = most >= seen.wanted && most >= ALONE;
    return most < seen.wanted ? -1 : seen.best;
}

static double logistic(int margin) { return 1 / (1 + exp(-0.005 * margin)); }

static double bid_likelihood(Set hand, int number, int turn_card, int suit, int alone) {
    Appraisal seen = appraise(hand, number, turn_card);
    int best = seen.worth[seen.best];
    double passes = logistic(seen.wanted - best);
    if (suit < 0) return passes;
    double lone = logistic(seen.worth[suit] - ALONE);
    double likely = (1 - passes) * exp(0.005 * (seen.worth[suit] - best));
    likely *= alone ? lone : 1 - lone;
    return likely > 1e-6 ? likely : 1e-6;
}
