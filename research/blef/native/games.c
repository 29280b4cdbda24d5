/* Whole games of two players: the twin of blef/rules.py, which the tests hold it against. */
#include "blef.h"

#include <string.h>

enum { MOST_ROUNDS = 2 * MOST_CARDS - 1 };

/* A round that was played; everything of two is by seat. */
typedef struct {
    int32_t cards[2];
    Cards hands[2];
    int32_t starter, loser, said;
    uint8_t bet[BETS]; /* the check that ended the round comes after these */
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
    for (game->rounds = 0; held[0] <= MOST_CARDS && held[1] <= MOST_CARDS; game->rounds++) {
        Round *round = &game->round[game->rounds];
        *round = (Round){.cards = {held[0], held[1]}, .starter = starter};
        deal(&deals, held, round->hands);
        const Player *roles[2] = {seats[starter], seats[1 - starter]};
        const Cards hands[2] = {round->hands[starter], round->hands[1 - starter]};
        View view = {.cards = {held[starter], held[1 - starter]}};
        int winner = play_round(roles, hands, &view, &dice);
        round->said = view.said;
        memcpy(round->bet, view.bet, sizeof view.bet);
        round->loser = winner == 0 ? 1 - starter : starter;
        held[round->loser]++;
        starter = round->loser;
    }
}
