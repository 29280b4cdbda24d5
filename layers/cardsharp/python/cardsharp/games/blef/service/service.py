"""Use cases of the Blef service, over a store, a clock and a source of randomness.

Every change reads the game, checks and changes it, and writes it on condition that it was not
changed meanwhile. On a conflict it starts again from the current game, and so gets the response
of a later request.
"""

import random
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cardsharp.core.clock import Clock, RemainingTime
from cardsharp.errors import StoreError, WriteConflict
from cardsharp.games.blef.position import BlefPosition, position_of
from cardsharp.games.blef.rules import Round
from cardsharp.games.blef.service import game_changes, request_params
from cardsharp.games.blef.service.errors import (
    TooManyConcurrentChanges,
    TooManyGames,
)
from cardsharp.games.blef.service.game_changes import GameChangeResult, SecureRandomness
from cardsharp.games.blef.service.game_store import GameStore, StoredGame, to_closed_round
from cardsharp.games.blef.service.records import (
    ClosedRound,
    GamePlayer,
    GameRecord,
    GameStatus,
)
from cardsharp.server.polling import poll_until
from cardsharp.server.service_errors import (
    GameNotFound,
    InvalidParameter,
    PlayerNotInGame,
    QuotaExceeded,
)
from cardsharp.server.write_retries import retry_on_conflict

MAX_GAMES = 10_000  # with more games than this no new one is created
MAX_CREATED_PER_DAY = 200
"""Games that one caller may create on a day (UTC): in the two weeks that a game can run without a
move, less than a third of all that there may be."""

MAX_INVITED_PER_DAY = 60  # bots that one caller may invite on a day (UTC)
MAX_GAME_WRITE_ATTEMPTS = (
    20  # writes of one change: more than the changes that can come in between before a start
)
_INITIAL_BACKOFF = timedelta(milliseconds=20)
_MAX_BACKOFF = timedelta(milliseconds=400)


@dataclass(frozen=True, slots=True)
class GameView:
    """View of a game for one viewer; `position` is None until the start.

    `version` is the current one, even for a past round. `changed_at` is the time when that
    round was closed, or of the game's last change.
    """

    game: GameRecord
    position: BlefPosition | None
    version: int
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class WrittenChange:
    """A written change: the previous game, the saved game, and the round that it closed."""

    previous: GameRecord
    saved: StoredGame
    closed_round: Round | None = None

    def closed_round_for(self, seat: int | None) -> GameView | None:
        """The round that it closed, as that seat or an observer sees it; None if it closed none."""
        if self.closed_round is None:
            return None
        return past_round_view(
            self.saved, to_closed_round(self.saved.changed_at, self.closed_round), seat
        )


def current_view(stored_game: StoredGame, seat: int | None) -> GameView:
    """A game as that seat, or an observer, sees it now."""
    live = stored_game.game.round
    position = None if live is None else position_of(live, seat)
    return GameView(stored_game.game, position, stored_game.version, stored_game.changed_at)


def past_round_view(
    stored_game: StoredGame, closed_round: ClosedRound, seat: int | None
) -> GameView:
    """Return the view of a closed round of a game."""
    return GameView(
        stored_game.game,
        position_of(closed_round.round, seat),
        stored_game.version,
        closed_round.closed_at,
    )


ParseRound = Callable[[int], int | None]
"""Reads the number of the round that was asked for, None for the present one, whose number it gets.

It is called when it is the round's turn to be checked; raises `ServiceError`.
"""


ChangeListener = Callable[
    [WrittenChange], None
]  # is told of every change once it is written; must not raise


@dataclass(frozen=True, slots=True)
class StateQuery:
    """Query for a state: parameters as sent or None, and `round`, which parses the round number."""

    player_uuid: str | None = None
    round: ParseRound = lambda _: None
    wait: str | None = None
    since: str | None = None


DEFAULT_BOTS = "Dazhbog=reader; Porevit=threshold"  # bots as the clients know them


@dataclass(frozen=True, slots=True)
class InvitableBots:
    """Bots that can be invited; this base class leaves their playing to another process.

    `strategy_by_name` maps the names under which they are invited to their strategies.
    """

    strategy_by_name: Mapping[str, str] = field(default_factory=dict)

    def reserve_bot(
        self, game_uuid: str, player: GamePlayer, player_uuid: str
    ) -> AbstractContextManager[object]:
        """Reserve a bot that plays as this player once the `with` block has added it.

        If the block raises, the bot is discarded. Raises `WriteConflict` if another request
        does the same, and `StoreError` or `NoBotAvailable` if no bot is available.
        """
        del self, game_uuid, player, player_uuid
        return nullcontext()


NO_BOTS = InvitableBots()  # nobody can be invited


@dataclass(slots=True)
class BlefService:
    """Service that creates, joins, starts, shows and plays games.

    Every method may raise `ServiceError`, and `play` also `IllegalAction`.
    """

    store: GameStore
    clock: Clock
    randomness: SecureRandomness = field(default_factory=SecureRandomness)
    bots: InvitableBots = NO_BOTS
    on_change: ChangeListener = lambda _: None

    def create(self, caller: str | None = None) -> str:
        """Create a private game without players and return its uuid.

        A caller may create `MAX_CREATED_PER_DAY` games a day.
        """
        if self.store.count_unexpired_games() > MAX_GAMES:
            raise TooManyGames
        if caller is not None and not self.store.count_creation_if_allowed(
            caller, MAX_CREATED_PER_DAY
        ):
            raise QuotaExceeded(
                f"Too many games started by you - {MAX_CREATED_PER_DAY} a day, please try "
                "again tomorrow"
            )
        game = GameRecord(self.randomness.uuid(), self.clock.now())
        self.store.create(game)
        return game.uuid

    def join(self, game_uuid: str, nickname: str | None, requested_uuid: str | None = None) -> str:
        """Add a player and return its secret uuid: the requested one, or else a new one."""
        if requested_uuid is not None:
            self._change_game(
                game_uuid, lambda game: game_changes.join_with_uuid(game, nickname, requested_uuid)
            )
            return requested_uuid.lower()
        player_uuid = self.randomness.uuid()
        self._change_game(game_uuid, lambda game: game_changes.join(game, nickname, player_uuid))
        return player_uuid

    def invite(
        self,
        game_uuid: str,
        admin_uuid: str | None,
        bot_name: str | None,
        caller: str | None = None,
    ) -> str:
        """Add an invited bot as a player that plays by itself; return its nickname."""
        player_uuid = self.randomness.uuid()

        def invited(game: GameRecord) -> GameChangeResult:
            return game_changes.invite(
                game, admin_uuid, bot_name, self.bots.strategy_by_name, player_uuid
            )

        admitted = caller is None

        def seat(change: GameChangeResult) -> AbstractContextManager[object]:
            nonlocal admitted  # once, however often others come in between
            admitted = admitted or self.store.count_creation_if_allowed(
                f"agents {caller}", MAX_INVITED_PER_DAY
            )
            if not admitted:
                raise QuotaExceeded(
                    f"Too many agents invited by you - {MAX_INVITED_PER_DAY} a day, "
                    "please try tomorrow"
                )
            return self.bots.reserve_bot(change.game.uuid, change.game.players[-1], player_uuid)

        return self._change_game(game_uuid, invited, seat).saved.game.players[-1].nickname

    def start(self, game_uuid: str, admin_uuid: str | None, *, make_private: bool = False) -> None:
        """Seat the players and deal the first round; `make_private` takes the game off the list."""
        self._change_game(
            game_uuid,
            lambda game: game_changes.start(
                game, admin_uuid, self.randomness, make_private=make_private
            ),
        )

    def set_visibility(self, game_uuid: str, admin_uuid: str | None, *, public: bool) -> bool:
        """Make a game public or private; return False if it was so already."""
        changed = self._change_game(
            game_uuid, lambda game: game_changes.set_visibility(game, admin_uuid, public=public)
        )
        return changed.previous.is_public is not public

    def play(
        self, game_uuid: str, player_uuid: str | None, action: game_changes.ParseAction
    ) -> GameView:
        """Play the action of the player to move; return that player's view of the result.

        After a check that is the round that it closed.
        """
        changed = self._change_game(
            game_uuid, lambda game: game_changes.play(game, player_uuid, action, self.randomness)
        )
        seat = None if changed.previous.round is None else changed.previous.round.turn
        return changed.closed_round_for(seat) or current_view(changed.saved, seat)

    def get_state(
        self, game_uuid: str, query: StateQuery, remaining_time: RemainingTime
    ) -> GameView:
        """Return a game as the player may see it; with `wait` once it has changed."""
        saved = self._read_game(game_uuid)
        sight = self._build_view(saved, query)
        wait, since = _parse_wait(query.wait), _parse_since(query.since)
        past = sight.position is not None and sight.position.round_number < sight.game.round_number
        # No waiting will change a finished game, or one of its past rounds.
        if not wait or past or sight.game.status is GameStatus.FINISHED:
            return sight
        known_version = saved.version if since is None else since
        changed = poll_until(
            saved,
            lambda current: current.version != known_version,
            lambda: self._read_game(saved.game.uuid),
            self.clock,
            remaining_time,
        )
        return self._build_view(changed, query)

    def _read_game(self, game_uuid: str) -> StoredGame:
        uuid = request_params.parse_uuid_or_none(game_uuid)
        if uuid is None:
            raise InvalidParameter("game_uuid", game_uuid, "Invalid game UUID")
        saved = self.store.read(uuid)
        if saved is None:
            raise GameNotFound("game_uuid", game_uuid)
        return saved

    def _change_game(
        self,
        game_uuid: str,
        change: Callable[[GameRecord], GameChangeResult | None],
        around: Callable[[GameChangeResult], AbstractContextManager[object]] = nullcontext,
    ) -> WrittenChange:
        """Apply `change` to a game and write the result inside the context `around`.

        Nothing is written if `change` returns None.
        """

        @retry_on_conflict(MAX_GAME_WRITE_ATTEMPTS, self._pause_after_conflict)
        def write() -> WrittenChange:
            saved = self._read_game(game_uuid)
            game_change = change(saved.game)
            if game_change is None:
                return WrittenChange(saved.game, saved)
            with around(game_change):
                stored = self.store.write(saved, game_change.game, game_change.closed_round)
            return WrittenChange(saved.game, stored, game_change.closed_round)

        try:
            changed = write()
        except WriteConflict:
            raise TooManyConcurrentChanges from None
        if changed.saved.game is not changed.previous:  # something was written
            self.on_change(changed)
        return changed

    def _pause_after_conflict(self, attempt_count: int) -> None:
        longest = min(_INITIAL_BACKOFF * 2 ** (attempt_count - 1), _MAX_BACKOFF)
        self.clock.sleep(longest * random.random())

    def _build_view(self, saved: StoredGame, query: StateQuery) -> GameView:
        """Return the view for the query, once the player and the round are checked."""
        game, uuid, me = saved.game, None, None
        if query.player_uuid:
            uuid = request_params.parse_uuid_or_none(query.player_uuid)
            if uuid is None:
                raise InvalidParameter("player_uuid", query.player_uuid, "Invalid player UUID")
        round_number = query.round(game.round_number)
        if uuid is not None:
            me = game.seat_of(uuid)
            if me is None:
                raise PlayerNotInGame("player_uuid", query.player_uuid)
        if round_number is None or (
            round_number >= game.round_number and game.status is not GameStatus.FINISHED
        ):
            return current_view(saved, me)
        closed = self.store.closed_round(game.uuid, round_number)
        if closed is None:
            raise StoreError("A closed round is missing from the store.")
        return past_round_view(saved, closed, me)


def _parse_wait(text: str | None) -> bool:
    wishes = {None: False, "false": False, "0": False, "true": True, "1": True}
    wish = wishes.get(text if text is None else text.lower())
    if wish is None:
        raise InvalidParameter(
            "wait", text, "The wait parameter is invalid - must be true or false"
        )
    return wish


def _parse_since(text: str | None) -> int | None:
    if text is None:
        return None
    since = request_params.parse_integer_or_none(text)
    if since is None or since < 0:
        raise InvalidParameter(
            "since", text, "The since parameter is invalid - must be the version of a state"
        )
    return since
