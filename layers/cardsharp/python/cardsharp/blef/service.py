"""The use cases of the game service, over a store, a clock and chance.

Every change reads the game, checks and changes it, and writes it under the condition that
nobody else did in between; whoever was second starts again from what is there now, and so gets
the answer of one who came later.
"""

import random
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus

from cardsharp.blef import changes, params
from cardsharp.blef.changes import Change, SecretChance
from cardsharp.blef.params import NO_GAME, NO_PLAYER, Denied
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.records import ClosedRound, GameRecord, Player, Status
from cardsharp.blef.rules import Round
from cardsharp.blef.store import Games, Saved, closed_at
from cardsharp.cloud.ports import Clock
from cardsharp.errors import Conflict, StoreError
from cardsharp.web.route import Refused, TimeLeft, bad_request

MAX_GAMES = 10_000  # with more games than this no new one is created
MAX_CREATED = 200
"""Games that one caller may create on a day (UTC): in the two weeks that a game can run without a
move, less than a third of all that there may be."""

MAX_INVITED = 60  # bots that one caller may invite on a day (UTC)
ATTEMPTS = 20  # writes of one change: more than the changes that can come in between before a start
_BACKOFF = timedelta(milliseconds=20)
_LONGEST_BACKOFF = timedelta(milliseconds=400)
_FIRST_LOOK = timedelta(milliseconds=200)
_LONGEST_LOOK = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Sight:
    """What one may see of a game; `position` is None before the start.

    `version` is that of the game as it is now, also where a past round was asked for; `changed` is
    when that round was closed, or when the game was changed last.
    """

    game: GameRecord
    position: Position | None
    version: int
    changed: datetime


@dataclass(frozen=True, slots=True)
class Changed:
    """A change that was written: the game before it and now, and the round that it closed."""

    before: GameRecord
    now: Saved
    closed: Round | None = None

    def closed_seen_by(self, seat: int | None) -> Sight | None:
        """The round that it closed, as that seat or an observer sees it; None if it closed none."""
        if self.closed is None:
            return None
        return past(self.now, closed_at(self.now.changed, self.closed), seat)


def present(saved: Saved, seat: int | None) -> Sight:
    """A game as that seat, or an observer, sees it now."""
    live = saved.game.round
    position = None if live is None else position_of(live, seat)
    return Sight(saved.game, position, saved.version, saved.changed)


def past(saved: Saved, closed: ClosedRound, seat: int | None) -> Sight:
    """A round of a game that is over."""
    return Sight(saved.game, position_of(closed.round, seat), saved.version, closed.at)


ReadRound = Callable[[int], int | None]
"""Reads the number of the round that was asked for, None for the present one, whose number it gets.

It is called when it is the round's turn to be checked; raises `Refused`.
"""


Hear = Callable[[Changed], None]  # is told of every change once it is written; must not raise


@dataclass(frozen=True, slots=True)
class StateLook:
    """How a state is asked for, each part as it was sent or None; the round as it is to be read."""

    player_uuid: str | None = None
    round: ReadRound = lambda _: None
    wait: str | None = None
    since: str | None = None


DEFAULT_NAMES = "Dazhbog=reader; Porevit=threshold"  # bots as the clients know them


@dataclass(frozen=True, slots=True)
class Agents:
    """Bots of ours that play where they are invited; here players for whom somebody else plays.

    `names` are their strategies by the names under which they are invited.
    """

    names: Mapping[str, str] = field(default_factory=dict)

    def seat(self, game_uuid: str, player: Player, secret: str) -> AbstractContextManager[object]:
        """Have a bot ready to be this player while the block makes it one, and then play.

        Where the block raises, there is no such bot. Raises `Conflict` where somebody else is at
        the same, `StoreError` and `Refused` where none can be had.
        """
        del self, game_uuid, player, secret
        return nullcontext()


NO_AGENTS = Agents()  # nobody can be invited


@dataclass(slots=True)
class Blef:
    """Creates, joins, starts, shows and plays games; every method may raise `Refused`."""

    store: Games
    clock: Clock
    chance: SecretChance = field(default_factory=SecretChance)
    agents: Agents = NO_AGENTS
    hear: Hear = lambda _: None

    def create(self, caller: str | None = None) -> str:
        """Create a private game without players; its uuid. A caller may create so many a day."""
        if self.store.count_all() > MAX_GAMES:
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "Too many games started")
        if caller is not None and not self.store.admit(caller, MAX_CREATED):
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"Too many games started by you - {MAX_CREATED} a day, please try again tomorrow",
            )
        game = GameRecord(self.chance.uuid(), self.clock.now())
        self.store.create(game)
        return game.uuid

    def join(self, game_uuid: str, nickname: str | None, wished: str | None = None) -> str:
        """Add a player; its secret uuid: the wished one, else a new one."""
        if wished is not None:
            self._change(game_uuid, lambda game: changes.join_as(game, nickname, wished))
            return wished.lower()
        player_uuid = self.chance.uuid()
        self._change(game_uuid, lambda game: changes.join(game, nickname, player_uuid))
        return player_uuid

    def invite(
        self,
        game_uuid: str,
        admin_uuid: str | None,
        agent_name: str | None,
        caller: str | None = None,
    ) -> str:
        """Add a bot of ours as a player, and have it play; its nickname."""
        player_uuid = self.chance.uuid()

        def invited(game: GameRecord) -> Change:
            return changes.invite(game, admin_uuid, agent_name, self.agents.names, player_uuid)

        admitted = caller is None

        def seat(change: Change) -> AbstractContextManager[object]:
            nonlocal admitted  # once, however often others come in between
            admitted = admitted or self.store.admit(f"agents {caller}", MAX_INVITED)
            if not admitted:
                raise Refused(
                    HTTPStatus.TOO_MANY_REQUESTS,
                    f"Too many agents invited by you - {MAX_INVITED} a day, please try tomorrow",
                )
            return self.agents.seat(change.game.uuid, change.game.players[-1], player_uuid)

        return self._change(game_uuid, invited, seat).now.game.players[-1].nickname

    def start(self, game_uuid: str, admin_uuid: str | None, *, hide: bool = False) -> None:
        """Seat the players and deal the first round; the game is private from then on if `hide`."""
        self._change(
            game_uuid, lambda game: changes.start(game, admin_uuid, self.chance, hide=hide)
        )

    def show(self, game_uuid: str, admin_uuid: str | None, *, public: bool) -> bool:
        """Make a game public or private; return False if it was so already."""
        changed = self._change(
            game_uuid, lambda game: changes.show(game, admin_uuid, public=public)
        )
        return changed.before.public is not public

    def play(self, game_uuid: str, player_uuid: str | None, action: changes.ReadAction) -> Sight:
        """Carry out the action of the player to move; what that player sees then.

        After a check that is the round that it closed.
        """
        changed = self._change(
            game_uuid, lambda game: changes.play(game, player_uuid, action, self.chance)
        )
        seat = None if changed.before.round is None else changed.before.round.turn
        return changed.closed_seen_by(seat) or present(changed.now, seat)

    def state(self, game_uuid: str, look: StateLook, time_left: TimeLeft) -> Sight:
        """What may be seen of a game, if wished not before it has changed."""
        saved = self._read(game_uuid)
        sight = self._sight(saved, look)
        wait, since = _read_wait(look.wait), _read_since(look.since)
        past = sight.position is not None and sight.position.number < sight.game.number
        # No waiting will change a finished game, or one of its past rounds.
        if not wait or past or sight.game.status is Status.FINISHED:
            return sight
        since = saved.version if since is None else since
        return self._sight(self._changed(saved, since, time_left), look)

    def _read(self, game_uuid: str) -> Saved:
        uuid = params.read_uuid(game_uuid)
        if uuid is None:
            raise Denied("Invalid game UUID", "game_uuid", game_uuid)
        saved = self.store.read(uuid)
        if saved is None:
            raise Denied(NO_GAME, "game_uuid", game_uuid)
        return saved

    def _change(
        self,
        game_uuid: str,
        change: Callable[[GameRecord], Change | None],
        around: Callable[[Change], AbstractContextManager[object]] = nullcontext,
    ) -> Changed:
        """Write the changed game, within what is to be `around` that, unless nothing changes."""
        for attempt in range(ATTEMPTS):
            saved = self._read(game_uuid)
            wanted = change(saved.game)
            if wanted is None:
                return Changed(saved.game, saved)
            try:
                with around(wanted):
                    now = self.store.write(saved, wanted.game, wanted.closed)
            except Conflict:
                longest = min(_BACKOFF * 2**attempt, _LONGEST_BACKOFF)
                self.clock.sleep(longest * random.random())
            else:
                changed = Changed(saved.game, now, wanted.closed)
                self.hear(changed)
                return changed
        raise Refused(
            HTTPStatus.SERVICE_UNAVAILABLE, "The game is being changed by others - please try again"
        )

    def _changed(self, saved: Saved, since: int, time_left: TimeLeft) -> Saved:
        """The game as soon as its version is another than `since`, or as it is."""
        pause = _FIRST_LOOK
        while saved.version == since and (left := time_left()) > timedelta(0):
            self.clock.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_LOOK)
            saved = self._read(saved.game.uuid)
        return saved

    def _sight(self, saved: Saved, look: StateLook) -> Sight:
        """What the look shows, after the checks of who looks at which round."""
        game, uuid, me = saved.game, None, None
        if look.player_uuid:
            uuid = params.read_uuid(look.player_uuid)
            if uuid is None:
                raise Denied("Invalid player UUID", "player_uuid", look.player_uuid)
        number = look.round(game.number)
        if uuid is not None:
            me = game.seat_of(uuid)
            if me is None:
                raise Denied(NO_PLAYER, "player_uuid", look.player_uuid)
        if number is None or (number >= game.number and game.status is not Status.FINISHED):
            return present(saved, me)
        closed = self.store.closed_round(game.uuid, number)
        if closed is None:
            raise StoreError("A closed round is missing from the store.")
        return past(saved, closed, me)


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
