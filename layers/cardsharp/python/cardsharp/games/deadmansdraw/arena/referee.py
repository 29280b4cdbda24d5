"""Permissions of requests, checked in the original's order (docs/spec/arena.md section 4)."""

import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from secrets import randbelow, token_hex
from typing import Any

from cardsharp.core.clock import TimeSource
from cardsharp.errors import InvalidInput, RulesError, StoreError, WriteConflict
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.arena.access.users import DUMMY_ID, User, UserDirectory
from cardsharp.games.deadmansdraw.arena.dto import Json
from cardsharp.games.deadmansdraw.arena.errors import (
    MatchEndedError,
    MatchHidden,
    MatchNotFound,
    MatchNotVisible,
    TerminationDenied,
)
from cardsharp.games.deadmansdraw.arena.match import (
    ArenaMatch,
    ArenaMove,
    MatchPlayers,
    RequestTimeAndAddress,
    apply_player_action,
    begin_match,
    end_overdue_turn,
    terminate_match,
)
from cardsharp.games.deadmansdraw.arena.match_creation import parse_create_request
from cardsharp.games.deadmansdraw.arena.match_list import has_any_tag
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod, new_seed
from cardsharp.games.deadmansdraw.arena.request_body import (
    js_string,
    js_truthy,
    parse_action_type,
    parse_effect_response,
    parse_id,
)
from cardsharp.games.deadmansdraw.arena.storage.match_repository import MatchRepository
from cardsharp.games.deadmansdraw.arena.views import ViewOptions, full_view
from cardsharp.server.service_errors import OutOfTurn
from cardsharp.server.write_retries import retry_on_conflict

HiddenMatches = Callable[[], Callable[[ArenaMatch], bool]]  # filter of matches hidden from others


SEAT_COUNT = 2
MAX_MATCH_WRITE_ATTEMPTS = 5  # of a request while others change the same match
BEGINNING_OF_TIME = datetime.min.replace(tzinfo=UTC)  # no turn's time was restarted yet
MAX_COMMENT_LENGTH = 1000  # characters of the comment on a match's end
_ZERO = timedelta()
_log = logging.getLogger(__name__)


class Referee:
    """Decides which requests on matches are allowed, and applies them."""

    def __init__(
        self,
        matches: MatchRepository,
        users: UserDirectory,
        randomness: RandomnessMethod,
        clock: TimeSource,
    ) -> None:
        self.lobby = matches
        self.book = users
        self._randomness = randomness
        self._clock = clock
        self._id_process, self._id_counter = token_hex(5), count(randbelow(1 << 23))
        self._resumed_at = BEGINNING_OF_TIME
        self.hidden_matches: HiddenMatches = lambda: lambda _match: False

    def restart_turn_clocks(self, resumed_at: datetime) -> None:
        """Restart the time limit of every turn at `resumed_at`, as nobody could move earlier."""
        self._resumed_at = resumed_at

    def current_time(self) -> datetime:
        """Return the current time, to the millisecond that JSON shows."""
        timestamp = self._clock()
        return timestamp.replace(microsecond=timestamp.microsecond // 1000 * 1000)

    def create_match(
        self, user: User, body: dict[str, Any], ip: str | None, match_id: str | None = None
    ) -> ArenaMatch:
        """Create a match from a request's body; raise `WriteConflict` if its id is taken."""
        params = parse_create_request(body, new_seed())
        players = self._validate_players(user, body.get("playerids"))
        pairing = MatchPlayers(players, None if user.is_admin else user.id)
        origin = RequestTimeAndAddress(self.current_time(), ip)
        new_id = match_id or self._create_match_id(origin.received_at)
        match, move = begin_match(new_id, pairing, params, self._randomness, origin)
        self.lobby.save_move(match, move)
        return match

    def _create_match_id(self, created_at: datetime) -> str:
        """Return a new id in the form of the original's database: seconds, process and counter."""
        counter = next(self._id_counter) & 0xFFFFFF
        return f"{int(created_at.timestamp()) & 0xFFFFFFFF:08x}{self._id_process}{counter:06x}"

    def _validate_players(self, user: User, player_ids: object) -> tuple[str, str]:
        if not isinstance(player_ids, list) and user.is_admin:
            raise InvalidInput("Missing players from input parameters.")
        ids = (
            [js_string(player_id) for player_id in player_ids]
            if isinstance(player_ids, list)
            else [user.id] * SEAT_COUNT
        )
        if len(ids) != SEAT_COUNT:
            raise InvalidInput("Invalid players specified, please check settings.")
        first_player, second_player = ids[0].lower(), ids[1].lower()
        practises = user.id != DUMMY_ID and {first_player, second_player} <= {user.id, DUMMY_ID}
        if not user.is_admin and not practises:
            raise InvalidInput(
                "Start a match with your player id twice or your player and the dummy player "
                "to start a practice match."
            )
        for player in (first_player, second_player):
            if player not in self.book.players_by_id:
                raise InvalidInput(f"Player {player} is not valid.")
        return first_player, second_player

    def get_match(self, match_id: str) -> ArenaMatch:
        """Return the match with this id; raise `MatchNotFound` if there is none."""
        match = self.lobby.get(parse_id(match_id))
        if match is None:
            raise MatchNotFound
        return match

    def get_visible_match(self, user: User, match_id: str) -> ArenaMatch:
        """Return the match with this id.

        Raises `MatchNotVisible` or `MatchHidden` if this user may not see it, and `MatchNotFound`.
        """
        match = self.get_match(match_id)
        if user.is_player and user.id not in match.pairing.players:
            raise MatchNotVisible
        self._check_visible(user, match)
        return match

    def get_public_match(self, user: User, match_id: str) -> ArenaMatch:
        """Return the match with this id, whoever plays it.

        Raises `MatchHidden` if this user may not see it yet, and `MatchNotFound`.
        """
        match = self.get_match(match_id)
        self._check_visible(user, match)
        return match

    def build_view(self, match: ArenaMatch, options: ViewOptions) -> Json:
        """Return the view of a match for the user of `options`, with all moves so far."""
        return full_view(match, options, self.lobby.move_history(match.id), self.book)

    def _check_visible(self, user: User, match: ArenaMatch) -> None:
        knows = user.is_admin or user.id in match.pairing.players
        if not knows and self.hidden_matches()(match):
            raise MatchHidden

    def public_matches(self, user: User) -> Iterable[ArenaMatch]:
        """Return every match, whoever plays it, except those hidden from this user."""
        if user.is_admin:
            return self.lobby.all_matches()
        is_hidden = self.hidden_matches()
        return (
            match
            for match in self.lobby.all_matches()
            if user.id in match.pairing.players or not is_hidden(match)
        )

    def matches_for(self, user: User, *, active: bool = False) -> Iterable[ArenaMatch]:
        """Return the matches of this user's list: a player's own, or else all visible ones.

        With `active` only matches that wait for the player; the original ignores it for the admin.
        """
        if not user.is_player:
            return self.public_matches(user)
        return self.lobby.matches_waiting_for(user.id) if active else self.lobby.matches_of(user.id)

    @retry_on_conflict(MAX_MATCH_WRITE_ATTEMPTS)
    def act(self, user: User, match_id: str, body: dict[str, Any], ip: str | None) -> ArenaMove:
        """Apply an action and return its move; if it comes too late, the turn is ended by force.

        Raises `MatchEndedError`, `OutOfTurn`, or as `get_visible_match` does.
        """
        response = parse_effect_response(body)
        match = self.get_visible_match(user, match_id)
        if match.is_finished:
            raise MatchEndedError(match)
        if match.active_player != user.id:
            raise OutOfTurn
        return self.apply_action(
            match,
            Action(
                parse_action_type(body),
                response,
                answers_pending_effects=js_truthy(body.get("autopick")),
            ),
            ip,
        )

    def apply_action(self, match: ArenaMatch, action: Action, ip: str | None) -> ArenaMove:
        """Apply a permitted action, or end the turn if it is overdue; return the move.

        Raises `WriteConflict` if another move came meanwhile.
        """
        # The time at which the request arrived decides, not the time at which the watchdog would
        # look. So a late action ends the turn by force even if the watchdog has not done it yet.
        # The version check of `save_move` lets only one of the two write.
        origin = RequestTimeAndAddress(self.current_time(), ip)
        if self.is_overdue(match, origin.received_at):
            next_match, move = end_overdue_turn(match, origin)
        else:
            next_match, move = apply_player_action(match, action, origin)
        self.lobby.save_move(next_match, move)
        return move

    @retry_on_conflict(MAX_MATCH_WRITE_ATTEMPTS)
    def terminate_match(
        self, user: User, match_id: str, body: dict[str, Any], ip: str | None
    ) -> ArenaMatch:
        """End a match by decision of the admin or, in practice, its creator; return it."""
        winner_id, comment = (
            _get_text_field(body, "winnerId"),
            _get_text_field(body, "comment") or None,
        )
        if comment is not None and len(comment) > MAX_COMMENT_LENGTH:
            raise InvalidInput(f"The comment is longer than {MAX_COMMENT_LENGTH} characters.")
        match = self.get_match(match_id)
        if not user.is_admin and match.pairing.creator != user.id:
            raise TerminationDenied
        if match.is_finished:
            raise InvalidInput("No action possible on finished matches.")
        winner = None if winner_id is None else _find_seat(match, parse_id(winner_id))
        next_match, move = terminate_match(
            match, winner, comment, RequestTimeAndAddress(self.current_time(), ip)
        )
        self.lobby.save_move(next_match, move)
        return next_match

    def end_overdue_turns(
        self, tags: frozenset[str] | None = None, ip: str | None = None, grace: timedelta = _ZERO
    ) -> list[ArenaMatch]:
        """End the overdue turns of running matches by force, and return these matches.

        Only matches with one of `tags` count. Until a turn is overdue by `grace`, the player's
        own action ends it, as in the original.
        """
        origin, overdue_matches = RequestTimeAndAddress(self.current_time(), ip), []
        for match in list(self.lobby.running_matches()):
            if has_any_tag(match, tags) and self.is_overdue(match, origin.received_at, grace):
                try:
                    next_match, move = end_overdue_turn(match, origin)
                    self.lobby.save_move(next_match, move)
                except RulesError:
                    _log.debug("The overdue turn of match %s cannot be ended", match.id)
                except WriteConflict:
                    _log.info("The overdue turn of match %s has ended by itself", match.id)
                except StoreError:
                    _log.exception("The overdue turn of match %s could not be ended", match.id)
                else:
                    overdue_matches.append(next_match)
        return overdue_matches

    def is_overdue(
        self, match: ArenaMatch, current_time: datetime, grace: timedelta = _ZERO
    ) -> bool:
        """Return True if the player to move has exceeded the time limit by more than `grace`.

        Nobody could move while the arena was down, so every turn has its full time again from
        the start of the arena.
        """
        limit = match.params.turn_timeout()
        turn_started_at = max(match.last_move_at, self._resumed_at)
        return (
            limit is not None
            and not match.is_finished
            and current_time - turn_started_at > limit + grace
        )


def _find_seat(match: ArenaMatch, player_id: str) -> int | None:
    """Return the seat of a player.

    For a user without a seat it is None: the match is then a draw.
    """
    players = match.pairing.players
    return players.index(player_id) if player_id in players else None


def _get_text_field(body: dict[str, Any], field: str) -> str | None:
    """Return a field of the body if it is a text, else None."""
    value = body.get(field)
    return value if isinstance(value, str) else None
