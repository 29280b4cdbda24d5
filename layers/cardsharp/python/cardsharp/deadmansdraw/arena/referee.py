"""Who may do what, in the order in which the original checks it (docs/spec/arena.md section 4)."""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import wraps
from itertools import count
from secrets import randbelow, token_hex
from typing import Any, ParamSpec, TypeVar

from cardsharp.cloud.clock import Now
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.arena.creation import parse_wish
from cardsharp.deadmansdraw.arena.dto import Json
from cardsharp.deadmansdraw.arena.inputs import (
    js_string,
    parse_id,
    parse_response,
    parse_verb,
    truthy,
)
from cardsharp.deadmansdraw.arena.listing import fits_tags
from cardsharp.deadmansdraw.arena.lobby import Lobby
from cardsharp.deadmansdraw.arena.match import (
    Match,
    Move,
    Origin,
    Pairing,
    act,
    begin,
    end_by_decision,
    end_turn_by_force,
)
from cardsharp.deadmansdraw.arena.players import DUMMY_ID, Book, User
from cardsharp.deadmansdraw.arena.randomness import Randomness, new_seed
from cardsharp.deadmansdraw.arena.views import Look, full_view
from cardsharp.errors import CardsharpError, Conflict, Malformed, StoreError
from cardsharp.web.route import Refused

NOT_VISIBLE = "Match is visible only to participating players."
NOT_YOUR_TURN = "Authenticated user is not the current player."
NO_SUCH_MATCH = "Match does not exist."
HELD_BACK = "The organiser holds this match back, and shows it later."

HeldBack = Callable[[], Callable[[Match], bool]]  # which matches only organiser and players see now


class Over(CardsharpError):
    """A request that needs a running match: a 410 that shows how it ended."""

    def __init__(self, match: Match) -> None:
        super().__init__("No action possible on finished matches.")
        self.match = match


P = ParamSpec("P")
T = TypeVar("T")

SEATS = 2
TRIES = 5  # how often a request is decided whose match somebody else has changed meanwhile
ALWAYS = datetime.min.replace(tzinfo=UTC)  # since when an arena looks at the clock that never stops
LONGEST_COMMENT = 1000  # characters of what is said of a match's end
_NONE = timedelta()
_log = logging.getLogger(__name__)


def _undisputed(decide: Callable[P, T]) -> Callable[P, T]:
    """Decide again where somebody else has moved meanwhile, as if the request came after it."""

    @wraps(decide)
    def decided(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(TRIES - 1):
            with suppress(Conflict):
                return decide(*args, **kwargs)
        return decide(*args, **kwargs)

    return decided


class Referee:
    """Admits requests to the lobby's matches."""

    def __init__(self, lobby: Lobby, book: Book, randomness: Randomness, clock: Now) -> None:
        self.lobby = lobby
        self.book = book
        self._randomness = randomness
        self._clock = clock
        self._process, self._count = token_hex(5), count(randbelow(1 << 23))
        self._since = ALWAYS
        self.held_back: HeldBack = lambda: lambda _match: False

    def resume(self, at: datetime) -> None:
        """Give every turn all its time again from `at` on, as nobody could move until then."""
        self._since = at

    def now(self) -> datetime:
        """This moment, to the millisecond that JSON shows."""
        now = self._clock()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def create(
        self, user: User, body: dict[str, Any], ip: str | None, match_id: str | None = None
    ) -> Match:
        """A new match as `body` asks for it; raises `Conflict` if there is one with this id."""
        params = parse_wish(body, new_seed())
        players = self._seated(user, body.get("playerids"))
        pairing = Pairing(players, None if user.is_admin else user.id)
        origin = Origin(self.now(), ip)
        new_id = match_id or self._new_id(origin.at)
        match, move = begin(new_id, pairing, params, self._randomness, origin)
        self.lobby.commit(match, move)
        return match

    def _new_id(self, now: datetime) -> str:
        """An id as the original's database makes them: seconds, a process, and a counter."""
        number = next(self._count) & 0xFFFFFF
        return f"{int(now.timestamp()) & 0xFFFFFFFF:08x}{self._process}{number:06x}"

    def _seated(self, user: User, given: object) -> tuple[str, str]:
        if not isinstance(given, list) and user.is_admin:
            raise Malformed("Missing players from input parameters.")
        ids = [js_string(one) for one in given] if isinstance(given, list) else [user.id] * SEATS
        if len(ids) != SEATS:
            raise Malformed("Invalid players specified, please check settings.")
        first, second = ids[0].lower(), ids[1].lower()
        practises = user.id != DUMMY_ID and {first, second} <= {user.id, DUMMY_ID}
        if not user.is_admin and not practises:
            raise Malformed(
                "Start a match with your player id twice or your player and the dummy player "
                "to start a practice match."
            )
        for player in (first, second):
            if player not in self.book.players:
                raise Malformed(f"Player {player} is not valid.")
        return first, second

    def find(self, match_id: str) -> Match:
        """The match with this id, or a 404."""
        match = self.lobby.find(parse_id(match_id))
        if match is None:
            raise Refused(404, NO_SUCH_MATCH)
        return match

    def visible(self, user: User, match_id: str) -> Match:
        """The match with this id if this user may look at it."""
        match = self.find(match_id)
        if user.plays and user.id not in match.pairing.players:
            raise Refused(401, NOT_VISIBLE)
        self._check_shown(user, match)
        return match

    def shown(self, user: User, match_id: str) -> Match:
        """The match with this id, whoever plays it, unless it is held back; or a 404."""
        match = self.find(match_id)
        self._check_shown(user, match)
        return match

    def view(self, match: Match, look: Look) -> Json:
        """A match as somebody sees it, with its moves up to now."""
        return full_view(match, look, self.lobby.history(match.id), self.book)

    def _check_shown(self, user: User, match: Match) -> None:
        knows = user.is_admin or user.id in match.pairing.players
        if not knows and self.held_back()(match):
            raise Refused(404, HELD_BACK)

    def all_shown(self, user: User) -> Iterable[Match]:
        """Every match, whoever plays it, but for those that are held back from this user."""
        if user.is_admin:
            return self.lobby.all()
        held = self.held_back()
        return (one for one in self.lobby.all() if user.id in one.pairing.players or not held(one))

    def listed(self, user: User, *, active: bool = False) -> Iterable[Match]:
        """The matches that this user's list has: a player's own, else every one that is shown.

        Those that are `active` wait for the player; the original ignores that for the admin.
        """
        if not user.plays:
            return self.all_shown(user)
        return self.lobby.at_turn(user.id) if active else self.lobby.of_player(user.id)

    @_undisputed
    def act(self, user: User, match_id: str, body: dict[str, Any], ip: str | None) -> Move:
        """The move that an action made, or the forced end of the turn where it came too late."""
        response = parse_response(body)
        match = self.visible(user, match_id)
        if match.finished:
            raise Over(match)
        if match.active_player != user.id:
            raise Refused(409, NOT_YOUR_TURN)
        return self.carry_out(
            match, Action(parse_verb(body), response, autopick=truthy(body.get("autopick"))), ip
        )

    def carry_out(self, match: Match, action: Action, ip: str | None) -> Move:
        """As `act` where that is admitted; raises `Conflict` if somebody has moved meanwhile."""
        origin = Origin(self.now(), ip)
        if self.is_late(match, origin.at):
            after, move = end_turn_by_force(match, origin)
        else:
            after, move = act(match, action, origin)
        self.lobby.commit(after, move)
        return move

    @_undisputed
    def terminate(self, user: User, match_id: str, body: dict[str, Any], ip: str | None) -> Match:
        """The match after it was ended by decision of the admin or, in practice, its creator."""
        winner_id, comment = _text(body, "winnerId"), _text(body, "comment") or None
        if comment is not None and len(comment) > LONGEST_COMMENT:
            raise Malformed(f"The comment is longer than {LONGEST_COMMENT} characters.")
        match = self.find(match_id)
        if not user.is_admin and match.pairing.creator != user.id:
            raise Refused(401, "Not authorized to perform action.")
        if match.finished:
            raise Malformed("No action possible on finished matches.")
        winner = None if winner_id is None else _seat_of(match, parse_id(winner_id))
        after, move = end_by_decision(match, winner, comment, Origin(self.now(), ip))
        self.lobby.commit(after, move)
        return after

    def end_overdue_turns(
        self, tags: frozenset[str] | None = None, ip: str | None = None, grace: timedelta = _NONE
    ) -> list[Match]:
        """The matches, of those with one of `tags`, whose turn was ended by force now.

        Until a turn is late for `grace` the player's own action ends it, as in the original.
        """
        origin, ended = Origin(self.now(), ip), []
        for match in list(self.lobby.running()):
            if fits_tags(match, tags) and self.is_late(match, origin.at, grace):
                after, move = end_turn_by_force(match, origin)
                try:
                    self.lobby.commit(after, move)
                except Conflict:
                    _log.info("Match %s has gone on meanwhile", match.id)
                except StoreError:
                    _log.exception("The late turn of match %s could not be ended", match.id)
                else:
                    ended.append(after)
        return ended

    def is_late(self, match: Match, now: datetime, grace: timedelta = _NONE) -> bool:
        """Whether the player to move has run out of time, and of `grace` after it.

        Nobody could move while the arena was not there, so from its start every turn has all its
        time again.
        """
        limit = match.params.limit()
        begun = max(match.last_move_at, self._since)
        return limit is not None and not match.finished and now - begun > limit + grace


def _seat_of(match: Match, player_id: str) -> int | None:
    """The seat of a player; somebody who takes no part makes the match a draw."""
    players = match.pairing.players
    return players.index(player_id) if player_id in players else None


def _text(body: dict[str, Any], field: str) -> str | None:
    """The text of a field; anything else is as good as nothing."""
    value = body.get(field)
    return value if isinstance(value, str) else None
