/* Whole games of two players: the twin of blef/rules.py, which the tests hold it against. */
#include "reading.h"

#include <string.h>

enum { MOST_ROUNDS = 2 * MOST_CARDS - 1 };

/* A round that was played; everything of two is by seat. */
typedef struct {
    int32_t cards[2];
    Cards hands[2];
    int32_t starter, loser, said;
    uint8_t bet[BETS]; /* the check that ended the round comes after these */
    double evidence[2]; /* of a reader, that the other is unlike its tables */
} Round;

typedef struct {
    int32_t rounds;
    Round round[MOST_ROUNDS];
} Game;

/* With the same seed the same cards come up. */
void play_game(const Player *first, const Player *second, uint64_t seed, Game *game) {
    const Player *seats[2] = {first, second};
    Rng deals = {seed}, dice = {rng_next(&deals)};
    int held[2] = {1, 1}, starter = 0;
    Reading shown[2];
    for (int seat = 0; seat < 2; seat++) begin_reading(&shown[seat]);
    for (game->rounds = 0; held[0] <= MOST_CARDS && held[1] <= MOST_CARDS; game->rounds++) {
        Round *round = &game->round[game->rounds];
        *round = (Round){.cards = {held[0], held[1]}, .starter = starter};
        deal(&deals, held, round->hands);
        const int seat[2] = {starter, 1 - starter}; /* by role */
        const Player *roles[2] = {seats[seat[0]], seats[seat[1]]};
        const Cards hands[2] = {round->hands[seat[0]], round->hands[seat[1]]};
        View view = {.cards = {held[seat[0]], held[seat[1]]}};
        for (int role = 0; role < 2; role++) {
            if (roles[role]->kind == READER && evidence(&shown[seat[1 - role]]) > ENOUGH)
                view.reading[role] = &shown[seat[1 - role]];
            if (roles[role]->kind == READER)
                round->evidence[seat[role]] = evidence(&shown[seat[1 - role]]);
        }
        int winner = play_round(roles, hands, &view, &dice);
        for (int role = 0; role < 2; role++)
            if (roles[1 - role]->kind == READER)
                read_round(&shown[seat[role]], roles[1 - role], &view, role, hands[role]);
        round->said = view.said;
        memcpy(round->bet, view.bet, sizeof view.bet);
        round->loser = seat[1 - winner];
        held[round->loser]++;
        starter = round->loser;
    }
}
