/* Whole games of two players: the twin of blef/rules.py, which the tests hold it against. */
#include "recognition.h"

#include <string.h>

enum { MOST_ROUNDS = 2 * MOST_CARDS - 1 };

/* A round that was played; everything of two is by seat. */
typedef struct {
    int32_t cards[2];
    Cards hands[2];
    int32_t starter, loser, said;
    uint8_t bet[BETS]; /* the check that ended the round comes after these */
    double habits[2][HABITS]; /* how each weighed the other's, 0 where it knew of none */
} Round;

typedef struct {
    int32_t rounds;
    Round round[MOST_ROUNDS];
} Game;

/* A game that is at a round of so many cards; with the same seed the same cards come up. */
void play_game(const Player *first, const Player *second, int cards, int other, int starter,
               uint64_t seed, Game *game) {
    const Player *seats[2] = {first, second};
    Rng deals = {seed}, dice = {rng_next(&deals)};
    int held[2] = {cards, other};
    Shown shown[2] = {NOTHING, NOTHING};
    for (game->rounds = 0; held[0] <= MOST_CARDS && held[1] <= MOST_CARDS; game->rounds++) {
        Round *round = &game->round[game->rounds];
        *round = (Round){.cards = {held[0], held[1]}, .starter = starter};
        deal(&deals, held, round->hands);
        const int seat[2] = {starter, 1 - starter}; /* by role */
        const Player *roles[2] = {seats[seat[0]], seats[seat[1]]};
        const Cards hands[2] = {round->hands[seat[0]], round->hands[seat[1]]};
        View view = {.cards = {held[seat[0]], held[seat[1]]}};
        for (int role = 0; role < 2; role++) {
            double *weights = round->habits[seat[role]];
            if (roles[role]->kind == TABLES && weigh_habits(&shown[seat[1 - role]], weights))
                view.habits[role] = weights;
        }
        int winner = play_round(roles, hands, &view, &dice);
        for (int role = 0; role < 2; role++) read_round(&shown[seat[role]], &view, role, hands[role]);
        round->said = view.said;
        memcpy(round->bet, view.bet, sizeof view.bet);
        round->loser = seat[1 - winner];
        held[round->loser]++;
        starter = round->loser;
    }
}
