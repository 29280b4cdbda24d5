"""The use cases of the game service, over a store, a clock and chance.

Every change reads the game, checks and changes it, and writes it under the condition that
nobody else did in between; whoever was second starts again from what is there now, and so gets
the answer of one who came later.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from cardsharp.blef import changes, params
from cardsharp.blef.chance import Chance, SecretChance
from cardsharp.blef.changes import Change
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.records import GameRecord, Status
from cardsharp.blef.store import GameStore, Listing, Saved
from cardsharp.cloud.ports import Clock
from cardsharp.errors import Conflict, StoreError
from cardsharp.web.refusals import Refused, bad_request
from cardsharp.web.route import TimeLeft

MAX_GAMES = 10_000
"""With more games than this no new one is created."""

MAX_CREATED = 200
"""Games that one caller may create on a day (UTC): in the two weeks that a game can run without a
move, less than a third of all that there may be."""

ATTEMPTS = 20
"""Writes of one change: more than the changes that can come in between before a start."""

_BACKOFF = timedelta(milliseconds=20)
_LONGEST_BACKOFF = timedelta(milliseconds=400)
_FIRST_LOOK = timedelta(milliseconds=200)
_LONGEST_LOOK = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Look:
    """How a state is asked for, each part as it was sent or None."""

    player_uuid: str | None = None
    round: str | None = None
    wait: str | None = None
    since: str | None = None


@dataclass(frozen=True, slots=True)
class Sight:
    """What one may see of a game; `position` is None before the start.

    `version` is that of the game as it is now, also where a past round was asked for.
    """

    game: GameRecord
    position: Position | None
    version: int


class Blef:
    """Creates, joins, starts, shows and plays games; every method may raise `Refused`."""

    def __init__(self, store: GameStore, clock: Clock, chance: Chance | None = None) -> None:
        self._store = store
        self._clock = clock
        self._chance = chance or SecretChance()

    def create(self, caller: str | None = None) -> str:
        """Create a private game without players; its uuid. A caller may create so many a day."""
        if self._store.count_all() > MAX_GAMES:
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "Too many games started")
        if caller is not None and not self._store.admit(caller, MAX_CREATED):
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"Too many games started by you - {MAX_CREATED} a day, please try again tomorrow",
            )
        game = GameRecord(self._chance.uuid(), self._clock.now())
        self._store.create(game)
        return game.uuid

    def join(self, game_uuid: str, nickname: str | None, wished: str | None = None) -> str:
        """Add a player; its secret uuid: the wished one, else a new one."""
        if wished is not None:
            self._change(game_uuid, lambda game: changes.join_as(game, nickname, wished))
            return wished.lower()
        player_uuid = self._chance.uuid()
        self._change(game_uuid, lambda game: changes.join(game, nickname, player_uuid))
        return player_uuid

    def start(self, game_uuid: str, admin_uuid: str | None) -> None:
        """Seat the players and deal the first round."""
        self._change(game_uuid, lambda game: changes.start(game, admin_uuid, self._chance))

    def show(self, game_uuid: str, admin_uuid: str | None, *, public: bool) -> bool:
        """Make a game public or private; return False if it was so already."""
        return self._change(game_uuid, lambda game: changes.show(game, admin_uuid, public=public))

    def play(self, game_uuid: str, player_uuid: str | None, action_id: str | None) -> None:
        """Carry out the action of the player to move."""
        self._change(
            game_uuid, lambda game: changes.play(game, player_uuid, action_id, self._chance)
        )

    def state(self, game_uuid: str, look: Look, time_left: TimeLeft) -> Sight:
        """What may be seen of a game, if wished not before it has changed."""
        saved = self._read(game_uuid)
        sight = self._sight(saved, look)
        wait, since = _read_wait(look.wait), _read_since(look.since)
        if not wait or _is_final(sight):
            return sight
        since = saved.version if since is None else since
        return self._sight(self._changed(saved, since, time_left), look)

    def listed(self) -> list[Listing]:
        """The public games that changed recently, by uuid."""
        return self._store.listed()

    def count_active(self) -> int:
        """How many games changed recently."""
        return self._store.count_active()

    def _read(self, game_uuid: str) -> Saved:
        uuid = params.read_uuid(game_uuid)
        if uuid is None:
            raise bad_request("Invalid game UUID")
        saved = self._store.read(uuid)
        if saved is None:
            raise bad_request("Game does not exist")
        return saved

    def _change(self, game_uuid: str, change: Callable[[GameRecord], Change | None]) -> bool:
        """Write the changed game; False where the change leaves it as it is."""
        for attempt in range(ATTEMPTS):
            saved = self._read(game_uuid)
            changed = change(saved.game)
            if changed is None:
                return False
            try:
                self._store.write(saved, changed.game, changed.closed)
            except Conflict:
                longest = min(_BACKOFF * 2**attempt, _LONGEST_BACKOFF)
                self._clock.sleep(longest * random.random())
            else:
                return True
        raise Refused(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "The game is being changed by others - please try again",
        )

    def _changed(self, saved: Saved, since: int, time_left: TimeLeft) -> Saved:
        """The game as soon as its version is another than `since`, or as it is."""
        pause = _FIRST_LOOK
        while saved.version == since and (left := time_left()) > timedelta(0):
            self._clock.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_LOOK)
            saved = self._read(saved.game.uuid)
        return saved

    def _sight(self, saved: Saved, look: Look) -> Sight:
        """What the look shows, after the checks of who looks at which round."""
        game, uuid, me = saved.game, None, None
        if look.player_uuid is not None:
            uuid = params.read_uuid(look.player_uuid)
            if uuid is None:
                raise bad_request("Invalid player UUID")
        number = _read_round(look.round, game)
        if uuid is not None:
            me = game.seat_of(uuid)
            if me is None:
                raise bad_request("The UUID does not match any active player")
        seen = game.round
        if number is not None and (number < game.number or game.status is Status.FINISHED):
            seen = self._store.closed_round(game.uuid, number)
            if seen is None:
                raise StoreError("A closed round is missing from the store.")
        return Sight(game, None if seen is None else position_of(seen, me), saved.version)


def _is_final(sight: Sight) -> bool:
    """Whether no waiting will change what is seen: a past round or a finished game."""
    finished = sight.game.status is Status.FINISHED
    return finished or (sight.position is not None and sight.position.number < sight.game.number)


def _read_round(text: str | None, game: GameRecord) -> int | None:
    """The number of the round that is asked for, None for the present one."""
    if text is None:
        return None
    number = params.read_number(text)
    if number is not None and number > game.number:
        raise bad_request("The game has not reached this round")
    if number is None or number < -1 or number == 0 or not number.is_integer():
        raise bad_request(
            "The round parameter is invalid - must be an integer between 1 and the current "
            "round, or -1, or blank"
        )
    return None if number < 0 else int(number)


def _read_wait(text: str | None) -> bool:
    wishes = {None: False, "false": False, "0": False, "true": True, "1": True}
    wish = wishes.get(text if text is None else text.lower())
    if wish is None:
        raise bad_request("The wait parameter is invalid - must be true or false")
    return wish


def _read_since(text: str | None) -> int | None:
    if text is None:
        return None
    since = params.read_whole(text)
    if since is None or since < 0:
        raise bad_request("The since parameter is invalid - must be the version of a state")
    return since
