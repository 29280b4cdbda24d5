/* The last cards: see endgame.h. */
#include "endgame.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 16 };

typedef struct {
    Cards mover, other, pile;
    int8_t known;
    bool filled;
    double value;
} Slot;

struct Endgame {
    int filled;
    Slot slots[SLOTS];
};

static uint64_t hash_of(Cards mover, Cards other, Cards pile, Card known) {
    uint64_t hash = (mover * 0x9e3779b97f4a7c15u) ^ (other * 0xc2b2ae3d27d4eb4fu);
    hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u + pile + (uint64_t)(known + 1);
    hash *= 0x94d049bb133111ebu;
    return hash >> 48;
}

static Slot *slot_of(Endgame *endgame, Cards mover, Cards other, Cards pile, Card known) {
    uint64_t at = hash_of(mover, other, pile, known) % SLOTS;
    for (;; at = (at + 1) % SLOTS) {
        Slot *slot = &endgame->slots[at];
        if (!slot->filled || (slot->mover == mover && slot->other == other &&
                              slot->pile == pile && slot->known == known)) {
            return slot;
        }
    }
}

static double search_turn(Search *search, Cards mover, Cards other, Cards pile, Card known) {
    Turn turn = {0};
    turn.own = mover;
    turn.other = other;
    turn.pile = pile;
    turn.discard = search->deck & ~(mover | other | pile);
    turn.left = (int8_t)count(pile);
    turn.known = known;
    for (Suit suit = 0; suit < SUITS; suit++) {
        turn.stop[suit] = (int16_t)suit_key(suit, other, mover, pile);
        turn.bust[suit] = turn.stop[suit];
    }
    return draw_value(search, &turn, 0, 0);
}

double turn_value(Search *search, Cards mover, Cards other, Cards pile, Card known) {
    Endgame *endgame = search->endgame;
    Slot *slot = slot_of(endgame, mover, other, pile, known);
    if (slot->filled) return slot->value;
    if (search->limits.most_nodes && search->nodes > search->limits.most_nodes) {
        search->exhausted = true;
        return 0.5;
    }
    double value = search_turn(search, mover, other, pile, known);
    slot = slot_of(endgame, mover, other, pile, known); /* others may have come meanwhile */
    if (endgame->filled < SLOTS / 2 && !search->exhausted) {
        *slot = (Slot){mover, other, pile, known, true, value};
        endgame->filled++;
    }
    return value;
}

Search *search_new(const Model *model, const Limits *limits) {
    Search *search = calloc(1, sizeof *search);
    search->memo = memo_new(model);
    search->limits = *limits;
    search->endgame = calloc(1, sizeof *search->endgame);
    return search;
}

void search_free(Search *search) {
    memo_free(search->memo);
    free(search->endgame);
    free(search);
}

void search_begin(Search *search, Cards deck) {
    search->nodes = 0;
    search->deck = deck;
    search->exhausted = false;
    if (!search->endgame->filled) return;
    memset(search->endgame->slots, 0, sizeof search->endgame->slots);
    search->endgame->filled = 0;
}

void search_forget(Search *search) { memo_forget(search->memo); }
