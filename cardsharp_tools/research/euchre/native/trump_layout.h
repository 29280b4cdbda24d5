/* Cards as bits, laid out for one trump suit: the twin of
 * cardsharp/games/euchre/strategies/trump_layout.py.
 *
 * The cards are ordered by suit, with trumps at the top, and higher cards on higher bits. So the
 * winner of a trick is the greatest of a few integers. A `CardSet` has a bit for each card's
 * number, a `CardMask` has the bits of a layout.
 *
 * All functions of the engine's headers are static, and pimc.c includes each header once: the
 * compiler then inlines the search, which runs millions of times a second.
 */
#ifndef CARDSHARP_EUCHRE_TRUMP_LAYOUT_H
#define CARDSHARP_EUCHRE_TRUMP_LAYOUT_H

#include <string.h>

#include "cards.h"

typedef uint32_t CardMask;

#define ALL_CARDS 0xFFFFFFu

enum { SIDE_SUITS = 3, BYTES_PER_SET = 3, BYTE_VALUES = 256 };

/* Both functions for the lowest and the highest card expect a set that is not empty. */
static int count_cards(uint32_t cards) { return __builtin_popcount(cards); }
static int lowest_index(uint32_t cards) { return __builtin_ctz(cards); }
static int highest_index(uint32_t cards) { return 31 - __builtin_clz(cards); }
static uint32_t lowest_card(uint32_t cards) { return cards & -cards; }
static uint32_t highest_card(uint32_t cards) { return 1u << highest_index(cards); }

typedef struct {
    int card[CARDS];         /* the card of each bit, from the lowest bit up */
    int bit_index[CARDS];    /* the index of each card's bit */
    CardMask of_suit[SUITS]; /* all cards of a suit, the left bower among the trumps */
    CardMask suit[CARDS];    /* all cards of the suit of a card, by the index of its bit */
    CardMask trumps, sides[SIDE_SUITS];
    CardMask mask_by_byte[BYTES_PER_SET][BYTE_VALUES]; /* each byte of a set as a mask */
    CardSet set_by_byte[BYTES_PER_SET][BYTE_VALUES];   /* each byte of a mask as a set */
} TrumpLayout;

static TrumpLayout trump_layouts[SUITS];

static CardMask mask_from_card_set(const TrumpLayout *layout, CardSet cards) {
    return layout->mask_by_byte[0][cards & 255] | layout->mask_by_byte[1][cards >> 8 & 255] |
           layout->mask_by_byte[2][cards >> 16];
}

static CardSet card_set_from_mask(const TrumpLayout *layout, CardMask mask) {
    return layout->set_by_byte[0][mask & 255] | layout->set_by_byte[1][mask >> 8 & 255] |
           layout->set_by_byte[2][mask >> 16];
}

static CardMask bit_of_card(const TrumpLayout *layout, int card) {
    return 1u << layout->bit_index[card];
}

static int card_of_bit(const TrumpLayout *layout, CardMask bit) {
    return layout->card[lowest_index(bit)];
}

/* Trumps come last, then the order is by suit and by strength. */
static int layout_sort_key(int card, int trump) {
    int suit = suit_of(card, trump);
    return (suit == trump) * 1000 + suit * 100 + trick_strength(card, trump, suit);
}

static void order_cards(TrumpLayout *layout, int trump) {
    for (int card = 0; card < CARDS; card++) {
        int bit_index = 0;
        for (int other = 0; other < CARDS; other++)
            bit_index += layout_sort_key(other, trump) < layout_sort_key(card, trump);
        layout->card[bit_index] = card;
        layout->bit_index[card] = bit_index;
        layout->of_suit[suit_of(card, trump)] |= 1u << bit_index;
    }
}

static void fill_byte_tables(TrumpLayout *layout) {
    for (int byte_index = 0; byte_index < BYTES_PER_SET; byte_index++)
        for (int byte = 0; byte < BYTE_VALUES; byte++)
            for (int bit = 0; bit < 8; bit++) {
                if (!(byte >> bit & 1)) continue;
                int place = 8 * byte_index + bit;
                layout->mask_by_byte[byte_index][byte] |= 1u << layout->bit_index[place];
                layout->set_by_byte[byte_index][byte] |= 1u << layout->card[place];
            }
}

static void build_trump_layout(int trump) {
    TrumpLayout *layout = &trump_layouts[trump];
    memset(layout, 0, sizeof *layout);
    order_cards(layout, trump);
    for (int bit_index = 0; bit_index < CARDS; bit_index++)
        layout->suit[bit_index] = layout->of_suit[suit_of(layout->card[bit_index], trump)];
    layout->trumps = layout->of_suit[trump];
    int side_count = 0;
    for (int suit = 0; suit < SUITS; suit++)
        if (suit != trump) layout->sides[side_count++] = layout->of_suit[suit];
    fill_byte_tables(layout);
}

/* --- values of hands --------------------------------------------------------------------- */

enum { TRUMP_COUNT = 7, LOWEST_TRUMP_INDEX = CARDS - TRUMP_COUNT };

/* In thousandths of a trick: each trump from the nine to the right bower, and the extra value of a
 * number of trumps, beyond the values of the cards. */
static const int TRUMP_VALUES[TRUMP_COUNT] = {400, 450, 500, 600, 750, 900, 1000};
static const int LENGTH_BONUS[TRUMP_COUNT + 1] = {0, 0, 0, 150, 450, 900, 900, 900};
enum { BARE_ACE_VALUE = 600, GUARDED_ACE_VALUE = 450, KING_VALUE = 120, VOID_VALUE = 250 };

/* The value of a hand's cards in one side suit. A void has one only with trumps to use it. */
static int side_suit_value(const TrumpLayout *layout, CardMask suit_cards, int trump_count) {
    if (!suit_cards) return trump_count > 1 ? VOID_VALUE : 0;
    int highest_rank = rank_of(layout->card[highest_index(suit_cards)]);
    int is_guarded = (suit_cards & (suit_cards - 1)) != 0;
    if (highest_rank == ACE) return is_guarded ? GUARDED_ACE_VALUE : BARE_ACE_VALUE;
    return highest_rank == KING ? KING_VALUE : 0;
}

/* The tricks that a caller with these five cards may expect, in thousandths. */
static int expected_caller_tricks(const TrumpLayout *layout, CardMask hand) {
    CardMask trumps = hand & layout->trumps;
    int trump_count = count_cards(trumps), value = LENGTH_BONUS[trump_count];
    for (CardMask rest = trumps; rest; rest &= rest - 1)
        value += TRUMP_VALUES[lowest_index(rest) - LOWEST_TRUMP_INDEX];
    for (int side = 0; side < SIDE_SUITS; side++)
        value += side_suit_value(layout, hand & layout->sides[side], trump_count);
    return value;
}

enum { PRICE_OF_RANK = 64, VOID_DISCOUNT = 160 };

/* The price of discarding the lowest card of a side suit. The only card of a suit is cheaper for a
 * hand with trumps, because it leaves a void to trump with; an ace never is. */
static int discard_price(int card, int leaves_void) {
    int rank = rank_of(card);
    return PRICE_OF_RANK * rank + card - (leaves_void && rank != ACE ? VOID_DISCOUNT : 0);
}

/* The best discard of a hand: low cards go before high ones, and trumps last. */
static CardMask best_discard(const TrumpLayout *layout, CardMask hand) {
    CardMask trumps = hand & layout->trumps, discard = 0;
    if (hand == trumps) return lowest_card(hand);
    int lowest_price = 0;
    for (int side = 0; side < SIDE_SUITS; side++) {
        CardMask suit_cards = hand & layout->sides[side], lowest = lowest_card(suit_cards);
        if (!suit_cards) continue;
        int leaves_void = trumps && suit_cards == lowest;
        int price = discard_price(card_of_bit(layout, lowest), leaves_void);
        if (!discard || price < lowest_price) {
            discard = lowest;
            lowest_price = price;
        }
    }
    return discard;
}

/* Take the highest legal card and its neighbours out of the legal cards, and return them.
 *
 * Cards are neighbours if no card that is `present`, in a hand or in the trick, is between them.
 * Neighbours win the same tricks, so a search needs only one of them. */
static CardMask take_equivalent_group(const TrumpLayout *layout, CardMask *legal,
                                      CardMask present) {
    int index = highest_index(*legal);
    CardMask group = 1u << index, lower_cards = present & (group - 1) & layout->suit[index];
    *legal ^= group;
    while (lower_cards) {
        CardMask card = highest_card(lower_cards);
        if (!(card & *legal)) break;
        *legal ^= card;
        lower_cards ^= card;
        group |= card;
    }
    return group;
}

#endif
