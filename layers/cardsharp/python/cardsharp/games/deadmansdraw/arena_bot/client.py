"""`ArenaClient`: everything that a player can ask of an arena of Dead Man's Draw."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from cardsharp.client.config import RequestLimits, ServiceAddress
from cardsharp.client.request_budget import RequestPriority
from cardsharp.client.session_state import ClientSessionState
from cardsharp.client.transport import ArenaRequest, ArenaTransport, ServiceClient
from cardsharp.core.credentials import Credentials
from cardsharp.errors import (
    MalformedResponse,
    MatchOver,
    NotFound,
    NotYourTurn,
    ResponseTooLarge,
    Unreachable,
)
from cardsharp.games.deadmansdraw.actions import Action, action_json
from cardsharp.games.deadmansdraw.arena_bot import wire, wire_views

_T = TypeVar("_T")
_HTTP_OK, _HTTP_GONE = 200, 410

_NEWEST_LIMIT = "20"
"""Asked for so many, an arena lists the newest 201: more than anybody plays at once, and within
the size of an answer (docs/spec/arena.md section 4). Asked for only where the whole list is too
long, as an arena may count before it leaves out the matches that wait for nobody."""

LIST_BUDGET_WAIT, LIST_DELAY_FACTOR = timedelta(seconds=1.5), 4
"""Limits of the list's wait for the budget, in seconds and in delays of the arena.

Requests that a turn needs go first.
"""

ACTION_SHARE = 1 / 3  # of a turn, in which an arena that is not slow answers an action
DUMMY_ID = "000000000000000000000000"  # accepts any match (docs/spec/arena.md section 4)


class ArenaClient(ServiceClient):
    """A player's session at an arena, for one thread at a time; use it in a `with` statement.

    Every method raises `ArenaError` (see `cardsharp.errors`). Reads are repeated while that can
    help. `act`, `create_match` and `terminate` are sent exactly once. If one of their errors
    has `outcome_unknown` set, read the match again and compare before anything else.

    Args:
        address: `https://...`; `http://` to this machine only, else ConfigError. A
            `ServiceAddress` has more options.
        credentials: the player's id and password, or the admin's.
        limits: limits of time and size.
        use_digest_auth: answer Digest challenges instead of sending Basic at once.
        session_state: state of the connection, shared with other sessions of the same user.
    """

    def __init__(
        self,
        address: str | ServiceAddress,
        credentials: Credentials,
        limits: RequestLimits = RequestLimits(),  # noqa: B008 - frozen, and the defaults show in help()
        use_digest_auth: bool = False,
        session_state: ClientSessionState | None = None,
    ) -> None:
        super().__init__(
            ArenaTransport(address, credentials, limits, use_digest_auth, session_state), limits
        )
        self._lists_newest = False

    def set_credentials(self, credentials: Credentials) -> None:
        """Use these credentials from now on, as after a change of the password."""
        self._transport.set_credentials(credentials)

    @property
    def session_state(self) -> ClientSessionState:
        """State of the arena connection, shared by the sessions of a user."""
        return self._transport.session_state

    def hello(self) -> str:
        """The arena's greeting; needs no valid password."""
        call = ArenaRequest(
            metric_name="hello", path="/api/hello", timeout=self._limits.read_timeout
        )
        return self._send_and_parse(call, wire.parse_hello).message

    def whoami(self) -> wire_views.WhoAmIView:
        """Return the user that the arena recognises us as.

        Raises `Unauthorized`, or `MalformedResponse` if the server is no arena.
        """
        # Not /api/whoami: an arena that has spectators answers that without asking for a password.
        call = ArenaRequest(
            metric_name="whoami", path="/api/sessioninfo", timeout=self._limits.read_timeout
        )
        try:
            return self._send_and_parse(call, wire.parse_whoami)
        except NotFound:
            raise MalformedResponse(
                "Something answers, but it is no arena; check the address."
            ) from None

    def players_with_idle_times(self) -> list[wire_views.PlayerView]:
        """Return all players of the arena with their idle times; for the admin only."""
        params = {"idle": "true"}
        call = ArenaRequest(
            metric_name="players",
            path="/api/players",
            params=params,
            timeout=self._limits.read_timeout,
        )
        return self._send_and_parse(call, wire.parse_players)

    def matches(
        self,
        tags: Iterable[str] = (),
        ids: Iterable[str] = (),
        *,
        active: bool = False,
        wait: bool = False,
        max_budget_wait: timedelta | None = None,
    ) -> list[wire_views.MatchView]:
        """Return our matches (for the admin all), the newest first, without their moves.

        `tags` are alternatives; without tags or ids any match fits. `active` selects those in
        which we are to move. `wait` is a long poll until there is one, which returns [] at its
        end. Without `active` any old match ends the poll, and a match against oneself always
        does. It returns at once while there is such a match, so a caller that attends them all
        must pause between requests. The request waits for the request budget for
        `max_budget_wait` at most.
        """
        flags = {"active": active, "wait": wait}
        lists = {"tags": ",".join(tags), "id": ",".join(ids)}
        params = {name: "true" for name, on in flags.items() if on}
        params |= {name: value for name, value in lists.items() if value}
        extra_latency = self.session_state.expected_extra_latency
        budget_wait = LIST_BUDGET_WAIT + LIST_DELAY_FACTOR * extra_latency
        if max_budget_wait is not None:
            budget_wait = min(budget_wait, max_budget_wait)
        call = ArenaRequest(
            metric_name="list_wait" if wait else "list",
            path="/api/matches",
            params=params,
            timeout=self._limits.long_poll_timeout if wait else self._limits.read_timeout,
            is_long_poll=wait,
            priority=RequestPriority.LIST,
            max_budget_wait=budget_wait,
        )
        if not self._lists_newest:
            try:
                return self._send_and_parse(call, wire.parse_match_list)
            except ResponseTooLarge:
                self._lists_newest = True
        newest = replace(call, params={**params, "limit": _NEWEST_LIMIT})
        return self._send_and_parse(newest, wire.parse_match_list)

    def get_match(
        self, match_id: str, events: bool = True, debug: bool = False
    ) -> wire_views.MatchView:
        """Return the match, with all its moves if `events`.

        With `debug` its creator and the organiser also see the action of each move.
        """
        params = {"showevents": "true"} if events else {}
        params |= {"showdebug": "true"} if debug else {}
        path, limit = _match_path(match_id), self._limits.read_timeout
        parse = wire.parse_match_with_events if events else wire.parse_view
        return self._send_and_parse(
            ArenaRequest(metric_name="view", path=path, params=params, timeout=limit), parse
        )

    def wait_for_turn(
        self, match_id: str, max_budget_wait: timedelta = timedelta(seconds=2)
    ) -> wire_views.MatchView | None:
        """Return the match with all its moves once we are to move or it has ended.

        This is a long poll of up to the server's 30 s, which may first wait up to
        `max_budget_wait` for the request budget. Returns None if that took too long.
        """
        call = ArenaRequest(
            metric_name="view_wait",
            path=_match_path(match_id),
            params={"waitactive": "true", "showevents": "true"},
            timeout=self._limits.long_poll_timeout,
            is_long_poll=True,
            priority=RequestPriority.WAIT,
            max_budget_wait=max_budget_wait,
            accepted_statuses=frozenset({_HTTP_OK, _HTTP_GONE}),
        )
        try:
            response = self._transport.send(call)
        except NotYourTurn:
            return None
        parse = wire.parse_view if response.status == _HTTP_GONE else wire.parse_match_with_events
        return parse(response.body)

    def max_action_flight_time(self, turn_timeout: timedelta | None = None) -> timedelta:
        """Return the time that an action sent now may be in flight in such a turn.

        An arena that answers in time has a share of the turn, which leaves time to look and to
        act again if an answer was lost. While it answers late or throttles us, an action that is
        given up would only be held again: then it may take as long as the arena holds one back.
        """
        limits = self._limits
        longest = limits.action_timeout + limits.max_throttle_delay
        if self.session_state.is_late_or_throttled:
            return longest
        share = timedelta(0) if turn_timeout is None else turn_timeout * ACTION_SHARE
        return min(max(limits.action_timeout, share), longest)

    def act(
        self, match_id: str, action: Action, timeout: timedelta | None = None
    ) -> list[wire_views.EventView]:
        """Send an action exactly once and return the events that it caused, in order.

        It arrives within `timeout` or not at all, as far as our side of the network can ensure
        that. Raises `Unreachable` without `outcome_unknown` if no time was left to send it;
        `MatchOver`; `NotYourTurn` or `RequestRejected`, whose `message` says why nothing was
        carried out; or any other `ArenaError`, with `outcome_unknown` if it may have been
        carried out: read the match again.
        """
        limit = self._limits.action_timeout if timeout is None else timeout
        call = ArenaRequest(
            metric_name="act",
            method="POST",
            path=_match_path(match_id),
            body=action_json(action),
            timeout=limit,
            priority=RequestPriority.ACT,
            max_timeout=timedelta.max if timeout is None else timeout,
            accepted_statuses=frozenset({_HTTP_OK, _HTTP_GONE}),
        )
        if limit <= timedelta(0):
            raise Unreachable(f"{call}: not sent, for it would arrive too late.")
        return self._send_and_parse(call, wire.parse_events)

    def create_match(self, params: wire.MatchParams) -> wire_views.MatchCreatedView:
        """Create a match and return its id; sent once, as a second one would be a second match."""
        call = ArenaRequest(
            metric_name="create",
            method="POST",
            path="/api/matches",
            body=wire.match_params_json(params),
            timeout=self._limits.read_timeout,
        )
        return self._send_and_parse(call, wire.parse_created)

    def terminate(
        self, match_id: str, winner_id: str | None = None, comment: str | None = None
    ) -> wire_views.MatchView:
        """End a match by decision and return it; without `winner_id` it is a tie."""
        fields = {"winnerId": winner_id, "comment": comment}
        call = ArenaRequest(
            metric_name="terminate",
            method="DELETE",
            path=f"{_match_path(match_id)}/terminate",
            body={name: value for name, value in fields.items() if value is not None},
            timeout=self._limits.read_timeout,
        )
        return self._send_and_parse(call, wire.parse_view)

    def _send_and_parse(self, request: ArenaRequest, parse: Callable[[object], _T]) -> _T:
        """Return the parsed response.

        If the response to a write is unreadable, the outcome is unknown.
        """
        response = self._transport.send(request)
        try:
            if response.status == _HTTP_GONE:
                wire.parse_ending(response.body)
                raise MatchOver
            return parse(response.body)
        except MalformedResponse as error:
            error.outcome_unknown = request.is_write
            raise


def _match_path(match_id: str) -> str:
    """Return the path of a match; raise `NotFound` unless its id is letters and digits.

    Any other id could lead to another path, so no request is sent.
    """
    if not (match_id.isascii() and match_id.isalnum()):
        raise NotFound(404, "a match id has letters and digits only; check it")
    return f"/api/matches/{match_id}"
