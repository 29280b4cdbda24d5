"""The use cases of the service: create a game, join it, look at it, act."""

import hashlib
from dataclasses import dataclass, replace
from http import HTTPStatus
from uuid import uuid4

from cardsharp.errors import Conflict, Illegal
from cardsharp.web.refusals import Refused, bad_request, forbidden
from nim.rules import SEATS, Action
from nim.store import Games, Kept
from nim.wire import FULL, NO_GAME

NO_PLAYER = "You do not play this game."


@dataclass(frozen=True, slots=True)
class Nim:
    """The service over a store; raises `Refused`."""

    games: Games

    def create(self, heaps: list[int]) -> str:
        """The id of a new game."""
        game = uuid4().hex
        self.games.add(game, Kept(tuple(heaps)))
        return game

    def look(self, game: str) -> Kept:
        """A game as it is."""
        kept = self.games.read(game)
        if kept is None:
            raise Refused(HTTPStatus.NOT_FOUND, NO_GAME)
        return kept

    def join(self, game: str, name: str, secret: str) -> None:
        """Take a seat; the same request again changes nothing."""
        kept, player = self.look(game), (name, _key(secret))
        if player in kept.players:
            return
        if len(kept.players) == SEATS:
            raise forbidden(FULL)
        self._change(game, kept, replace(kept, players=(*kept.players, player)))

    def act(self, game: str, secret: str, number: int, action: Action) -> None:
        """Take stones, if that is the game's next move and the player's turn."""
        kept = self.look(game)
        keys = [key for _, key in kept.players]
        if _key(secret) not in keys:
            raise forbidden(NO_PLAYER)
        *_, state = kept.states()
        ours = len(keys) == SEATS and keys[state.turn] == _key(secret)
        if not ours or number != len(kept.moves):
            raise Refused(HTTPStatus.CONFLICT, "It is not your turn.")
        moved = replace(kept, moves=(*kept.moves, action))
        try:
            moved.states()
        except Illegal as illegal:
            raise bad_request(str(illegal)) from None
        self._change(game, kept, moved)

    def _change(self, game: str, old: Kept, new: Kept) -> None:
        try:
            self.games.replace(game, old, new)
        except Conflict as conflict:
            raise Refused(HTTPStatus.CONFLICT, str(conflict)) from None


def _key(secret: str) -> str:
    """The digest under which a secret is kept; it is too random to be guessed back."""
    return hashlib.sha256(secret.encode()).hexdigest()
