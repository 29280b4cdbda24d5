/* A local best response: a player who knows how the other plays, and looks a step or two ahead.
 *
 * It believes what the other's bets tell of its hand, and takes the action that is best if
 * it then only checks (depth 1), or bets once more and then checks (depth 2). What it wins
 * is less than a best answer would: a lower bound of what the other lacks (Lisy, Bowling:
 * Equilibrium Approximation Quality of Current No-Limit Poker Bots, 2017).
 *
 * Of a table it knows the chances. The other players always do the same with the same cards after
 * the same bets, so it asks them what they would do with each hand.
 */
#include "large.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COUNTED = 3, MOST_HANDS = 1771, MANY = 1000, SAMPLE = 120 };
enum { WIDE = 26, LOW = 4, DEEP = 6, AGAIN = 6 };
enum { ANSWERS = 1 << 21 };

/* What the other was asked before: by a number for cards and bets its action, and one. */
typedef struct {
    uint64_t key[ANSWERS];
    uint8_t action[ANSWERS];
    int number;
} Asked;

typedef struct {
    const Player *player;
    const Table *table;   /* by which it plays, or NULL */
    const uint8_t *large; /* the same of a large round; where both are NULL it is asked */
    Asked *asked;
} Other;

/* The hands that the other may hold; of many the first `SAMPLE` are looked at, in a large round
 * the likeliest. */
typedef struct {
    int hands;
    Cards hand[MOST_HANDS];
    Look look[MOST_HANDS];
    Truths truth[MOST_HANDS];
    double weight[MOST_HANDS];
    double after[SAMPLE][WIDEST]; /* what the other does after the bet looked at */
} Belief;

static int looked_at(const Belief *belief) {
    return belief->hands < SAMPLE ? belief->hands : SAMPLE;
}

static int ask(const Other *other, const View *view) {
    Asked *asked = other->asked;
    uint64_t key = key_of(view);
    size_t at = key % ANSWERS;
    if (asked->number > ANSWERS / 2) memset(asked, 0, sizeof *asked);
    for (; asked->action[at]; at = (at + 1) % ANSWERS)
        if (asked->key[at] == key) return asked->action[at] - 1;
    Rng rng = {key};
    int action = decide(other->player, view, &rng);
    asked->key[at] = key;
    asked->action[at] = (uint8_t)(action + 1);
    asked->number++;
    return action;
}

/* What the other does with a hand, after what was said. */
static void play_of(const Other *other, const View *said, Cards hand, const Look *look,
                    double play[WIDEST]) {
    int before = said->said > 1 ? said->bet[said->said - 2] : OPENING;
    if (other->large) {
        large_play(other->large, look, before, last_of(said), play);
        return;
    }
    if (other->table) {
        table_play(other->table, hand, said, play);
        return;
    }
    View view = *said;
    view.hand = hand;
    memset(play, 0, sizeof(double) * WIDEST);
    play[ask(other, &view)] = 1;
}

/* What it really does. */
static int move_of(const Other *other, const View *said, Cards hand, Rng *rng) {
    View view = *said;
    view.hand = hand;
    if (!other->table && !other->large) return ask(other, &view);
    static _Thread_local Look large;
    double play[WIDEST];
    if (other->large) look_large(hand, view.cards[1 - view.role], &large);
    play_of(other, said, hand, &large, play);
    return picked(play, rng);
}

static View with(const View *said, int bet) {
    View view = *said;
    view.bet[view.said++] = (uint8_t)bet;
    return view;
}

static double chance_of(const Belief *belief, const double *weight, int bet) {
    double held = 0;
    for (int s = 0; s < looked_at(belief); s++)
        if (true_in(&belief->truth[s], bet)) held += weight[s];
    return held;
}

/* The bets above that are likeliest to hold, and some of the lowest. */
static int worth_a_look(const Belief *belief, const double *weight, int last, int most, int low,
                        uint8_t *found) {
    double chance[BETS];
    int number = 0;
    for (int b = last + 1; b < BETS; b++) {
        chance[b] = chance_of(belief, weight, b);
        if (b - last <= low) {
            found[number++] = (uint8_t)b;
            chance[b] = -1;
        }
    }
    while (number < most) {
        int best = last;
        for (int b = last + 1; b < BETS; b++)
            if (chance[b] > 0 && (best == last || chance[b] >= chance[best])) best = b;
        if (best == last) break;
        found[number++] = (uint8_t)best;
        chance[best] = -1;
    }
    return number;
}

/* What a bet wins if we only check after it, out of the weights' sum. */
static double bet_once(Belief *belief, const Other *other, const double *weight, const View *said,
                       int bet, double raised[BETS]) {
    View view = with(said, bet);
    double won = 0;
    if (raised) memset(raised, 0, sizeof(double) * BETS);
    for (int s = 0; s < looked_at(belief); s++) {
        if (weight[s] <= 0) continue;
        double *play = belief->after[s];
        play_of(other, &view, belief->hand[s], &belief->look[s], play);
        if (true_in(&belief->truth[s], bet)) won += weight[s] * play[CHECK];
        for (int b = bet + 1; b < BETS; b++) {
            if (play[b] <= 0) continue;
            if (raised) raised[b] += weight[s] * play[b];
            if (!true_in(&belief->truth[s], b)) won += weight[s] * play[b];
        }
    }
    return won;
}

/* The same if after a raise we check or bet once more, whichever is better. */
static double bet_twice(Belief *belief, const Other *other, const View *said, int bet) {
    static _Thread_local double after[SAMPLE][WIDEST];
    double raised[BETS], won = 0, total = 0;
    bet_once(belief, other, belief->weight, said, bet, raised);
    memcpy(after, belief->after, sizeof after);
    for (int s = 0; s < looked_at(belief); s++) {
        total += belief->weight[s];
        if (true_in(&belief->truth[s], bet)) won += belief->weight[s] * after[s][CHECK];
    }
    for (int raise = bet + 1; raise < BETS; raise++) {
        if (raised[raise] <= 0) continue;
        double weight[SAMPLE], best = 0;
        View back = with(said, bet);
        back = with(&back, raise);
        for (int s = 0; s < looked_at(belief); s++) {
            weight[s] = belief->weight[s] * after[s][raise];
            if (!true_in(&belief->truth[s], raise)) best += weight[s];
        }
        if (raised[raise] > 0.01 * total) {
            uint8_t again[BETS];
            int number = worth_a_look(belief, weight, raise, AGAIN, 1, again);
            for (int n = 0; n < number; n++) {
                double one = bet_once(belief, other, weight, &back, again[n], NULL);
                if (one > best) best = one;
            }
        }
        won += best;
    }
    return won;
}

static int respond(Belief *belief, const Other *other, const View *said, int depth) {
    int last = last_of(said);
    uint8_t bet[BETS];
    double worth[BETS], best = -1;
    int action = CHECK, number = worth_a_look(belief, belief->weight, last, WIDE, LOW, bet);
    if (last != OPENING) {
        best = 0;
        for (int s = 0; s < looked_at(belief); s++)
            if (!true_in(&belief->truth[s], last)) best += belief->weight[s];
    }
    for (int n = 0; n < number; n++) {
        worth[bet[n]] = bet_once(belief, other, belief->weight, said, bet[n], NULL);
        if (depth == 1 && worth[bet[n]] > best) best = worth[bet[n]], action = bet[n];
    }
    for (int looked = 0; depth > 1 && looked < DEEP && looked < number; looked++) {
        int next = looked;
        for (int n = looked; n < number; n++)
            if (worth[bet[n]] > worth[bet[next]]) next = n;
        uint8_t chosen = bet[next];
        bet[next] = bet[looked], bet[looked] = chosen;
        double won = bet_twice(belief, other, said, chosen);
        if (won > best) best = won, action = chosen;
    }
    return action;
}

static void swap(Belief *belief, int one, int two) {
    static _Thread_local Look look;
    Cards hand = belief->hand[one];
    Truths truth = belief->truth[one];
    double weight = belief->weight[one];
    look = belief->look[one];
    belief->hand[one] = belief->hand[two], belief->hand[two] = hand;
    belief->truth[one] = belief->truth[two], belief->truth[two] = truth;
    belief->weight[one] = belief->weight[two], belief->weight[two] = weight;
    belief->look[one] = belief->look[two], belief->look[two] = look;
}

static void likeliest_first(Belief *belief) {
    for (int place = 0; place < looked_at(belief); place++) {
        int best = place;
        for (int s = place + 1; s < belief->hands; s++)
            if (belief->weight[s] > belief->weight[best]) best = s;
        if (best != place) swap(belief, place, best);
    }
}

/* What the other's bet says of its hand; nothing where none of these hands bets so. */
static void believe(Belief *belief, const Other *other, const View *said, int bet) {
    static _Thread_local double weight[MOST_HANDS];
    double total = 0, play[WIDEST];
    for (int s = 0; s < belief->hands; s++) {
        play_of(other, said, belief->hand[s], &belief->look[s], play);
        total += weight[s] = belief->weight[s] * play[bet];
    }
    if (total <= 0) return;
    int left = 0;
    for (int s = 0; s < belief->hands; s++) {
        if (weight[s] <= 0) continue;
        belief->hand[left] = belief->hand[s];
        if (left != s) belief->look[left] = belief->look[s];
        belief->truth[left] = belief->truth[s];
        belief->weight[left++] = weight[s];
    }
    belief->hands = left;
    if (other->large) likeliest_first(belief);
}

/* All hands of so many cards, in any order. */
static int all_hands(Cards from, int cards, Rng *rng, Cards *hand) {
    int number = 0;
    for (Cards some = (1u << cards) - 1; some < 1u << CARDS;) {
        if (!(some & ~from)) {
            int at = rng_below(rng, number + 1);
            hand[number++] = hand[at];
            hand[at] = some;
        }
        Cards low = some & -some, rest = some + low;
        some = rest | ((some ^ rest) / low >> 2);
    }
    return number;
}

/* Before the first bet: all hands of up to three cards, of larger ones a sample. */
static void begin(Belief *belief, const Other *other, Cards own, const int cards[2], int role,
                  Rng *rng) {
    const Cards unseen = ((1u << CARDS) - 1) & ~own;
    if (cards[1 - role] > MOST_COUNTED) {
        belief->hands = MANY;
        for (int s = 0; s < belief->hands; s++)
            belief->hand[s] = rng_hand(rng, unseen, cards[1 - role]);
    } else {
        belief->hands = all_hands(unseen, cards[1 - role], rng, belief->hand);
    }
    for (int s = 0; s < belief->hands; s++) {
        if (other->large) look_large(belief->hand[s], cards[role], &belief->look[s]);
        belief->truth[s] = truths(own | belief->hand[s]);
        belief->weight[s] = 1;
    }
}

/* Whether the response wins this round. */
static bool round_won(Belief *belief, const Other *other, const int cards[2], int role, int depth,
                      Rng *rng) {
    const Cards all = (1u << CARDS) - 1;
    Cards own = rng_hand(rng, all, cards[role]);
    Cards hand = rng_hand(rng, all & ~own, cards[1 - role]);
    begin(belief, other, own, cards, role, rng);
    View said = {.role = 1 - role, .cards = {cards[0], cards[1]}};
    for (int mover = 0;; mover = 1 - mover) {
        int action;
        if (mover == role) {
            action = respond(belief, other, &said, depth);
        } else {
            action = move_of(other, &said, hand, rng);
            if (action != CHECK) believe(belief, other, &said, action);
        }
        if (action == CHECK) return (mover == role) != holds(last_of(&said), own | hand);
        said = with(&said, action);
    }
}

/* So many rounds against a player; how many a local best response wins in that role. Negative: no
 * memory. */
int64_t local_best_response(const Player *player, int cards, int two, int role, int depth,
                            uint64_t seed, int64_t rounds) {
    const int held[2] = {cards, two};
    Other other = {.player = player};
    if (player->kind == TABLES) {
        other.table = player->tables[cards][two];
        other.large = player->large[held[1 - role]][held[role]];
    }
    bool asked = !other.table && !other.large;
    other.asked = asked ? calloc(1, sizeof *other.asked) : NULL;
    Belief *belief = malloc(sizeof *belief);
    int64_t won = belief && (!asked || other.asked) ? 0 : -1;
    Rng rng = {seed};
    for (int64_t n = 0; won >= 0 && n < rounds; n++)
        won += round_won(belief, &other, held, role, depth, &rng);
    free(belief);
    free(other.asked);
    return won;
}

/* What a local best response does whose view this is; -1 where there is no memory. */
int respond_to(const Player *player, const View *view, int depth, uint64_t seed) {
    const int role = view->role, *held = view->cards;
    Other other = {.player = player};
    other.table = player->tables[held[0]][held[1]];
    other.large = player->large[held[1 - role]][held[role]];
    Belief *belief = malloc(sizeof *belief);
    if (!belief) return -1;
    Rng rng = {seed};
    begin(belief, &other, view->hand, held, role, &rng);
    View said = {.role = 1 - role, .cards = {held[0], held[1]}};
    for (int at = 0; at < view->said; at++) {
        if (at % 2 != role) believe(belief, &other, &said, view->bet[at]);
        said = with(&said, view->bet[at]);
    }
    int action = respond(belief, &other, &said, depth);
    free(belief);
    return action;
}
