"""The endpoints of the REST API, one method each (docs/spec/arena.md sections 3 and 4)."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from cardsharp.errors import InvalidInput
from cardsharp.games.deadmansdraw.arena.access.request_guard import (
    client_ip,
    json_response,
    make_remaining_wait,
    server_remaining_wait_function,
    wait_for_disconnect,
)
from cardsharp.games.deadmansdraw.arena.access.users import User
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig, ArenaDependencies
from cardsharp.games.deadmansdraw.arena.errors import (
    AdminMayNotPlay,
    MatchEndedError,
    MatchNotFound,
    OtherUserDenied,
    PlayerNotFound,
)
from cardsharp.games.deadmansdraw.arena.long_poll import IsReady
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.match_list import (
    MatchFilter,
    busy_days_around_month,
    filter_matches,
    parse_day,
    parse_filter,
    parse_tags,
    query_flag,
)
from cardsharp.games.deadmansdraw.arena.referee import Referee
from cardsharp.games.deadmansdraw.arena.request_body import parse_effect_response
from cardsharp.games.deadmansdraw.arena.storage.match_repository import (
    ANY_MATCH_CREATED,
    MATCH_CREATED,
    TURN_OVER,
    TURN_STARTED,
    WaitTopic,
)
from cardsharp.games.deadmansdraw.arena.views import (
    ViewOptions,
    condensed_view,
    iso_milliseconds,
    list_view,
    match_end_events_json,
)
from cardsharp.server.service_errors import OutOfTurn

GREETING = "Hello World. I am the SAP Labs CEE Hub Programming Competition 2023 Arena server."
MAX_REPEATS = 60
NOTICE_HEADER = "X-Arena-Notice"
_HEADER_CHARACTERS = " !\"#$%&'()*+,-./:;<=>?@[]_"  # what a header holds as it is

TagNotice = Callable[[str, AbstractSet[str]], str | None]
"""Returns what is wrong with the tags for which a player waits, or None."""


class RestApi:
    """The REST API over one referee's matches."""

    def __init__(self, referee: Referee, runtime: ArenaDependencies, config: ArenaConfig) -> None:
        self._referee, self._runtime, self._config = referee, runtime, config
        # Replaced by the pages of a contest, which alone know the tags of its matches.
        self.tag_notice: TagNotice = lambda _player, _tags: None

    # --- diagnostic, players ---------------------------------------------------------------

    async def hello(self, _request: Request) -> Response:
        """GET /api/hello, and GET /api/helloworld as the competition's text calls it."""
        return json_response({"message": GREETING})

    async def whoami(self, _request: Request, user: User) -> Response:
        """Serve GET /api/whoami: the id, name and role of the user."""
        return json_response({"username": user.id, "name": user.name, "role": user.role})

    async def session_info(self, request: Request, user: User) -> Response:
        """Serve GET /api/sessioninfo: the user, the arena's name and the client's IP address."""
        body = {
            "username": user.id,
            "name": user.name,
            "role": user.role,
            "dbname": self._runtime.name,
            "ip": client_ip(request),
        }
        return json_response(body if user.country is None else {**body, "country": user.country})

    async def list_players(self, request: Request, _admin: User) -> Response:
        """GET /api/players; with `idle`, which is ours, each with its presence.

        That is the time since it was heard of, the tags for which it waits, its program and its
        last action.
        """
        players = self._runtime.users.players_by_id.values()
        records = [player.public_json() for player in players]
        if query_flag(request.query_params, "idle"):
            activities = self._runtime.presence.activity_by_player()
            current_time = self._referee.current_time()
            for record, player in zip(records, players, strict=True):
                activity = activities.get(player.id)
                record["idleSeconds"] = activity and activity.idle_seconds(current_time)
                record["awaitedTags"] = activity and activity.awaited_tags
                record["client"] = activity and activity.client
                moved_at = activity and activity.last_move_at
                record["lastMoveAt"] = moved_at and iso_milliseconds(moved_at)
        return json_response(records)

    async def get_player(self, request: Request, user: User) -> Response:
        """GET /api/players/{id}."""
        player_id = request.path_params["id"].lower()
        if not user.is_admin and player_id != user.id:
            raise OtherUserDenied
        player = self._runtime.users.players_by_id.get(player_id)
        if player is None:
            raise PlayerNotFound
        return json_response(player.public_json())

    # --- matches ---------------------------------------------------------------------------

    async def list_matches(self, request: Request, user: User) -> Response:
        """Serve GET /api/matches: the list of matches, after a wait if requested."""
        query = request.query_params
        match_filter = parse_filter(query)
        waits = query_flag(query, "active") or query_flag(query, "wait")
        if waits and user.is_player:
            self._runtime.presence.record_poll(
                user.id,
                self._referee.current_time(),
                match_filter.tags,
                request.headers.get("user-agent", ""),
            )
        matches = self._select_matches(user, match_filter)
        if not matches and query_flag(query, "wait"):
            signal = _choose_wait_topic(user, match_filter)
            await self._wait_for_topic(
                request, user, signal, lambda: bool(self._select_matches(user, match_filter))
            )
            matches = self._select_matches(user, match_filter)
        headers = {} if matches or not waits else await self._notice_header(user, match_filter)
        if query_flag(query, "condensed"):
            views = [condensed_view(match, self._runtime.users) for match in matches]
            return json_response(views, headers=headers)
        look = ViewOptions(user)
        return json_response([list_view(match, look) for match in matches], headers=headers)

    async def _notice_header(self, user: User, match_filter: MatchFilter) -> dict[str, str]:
        """Return the header that tells a player that it waits for the wrong tags, if it does."""
        if match_filter.tags is None:
            return {}
        # Beside the loop, as it may read the contest, and no player is to wait for that.
        notice = await run_in_threadpool(self.tag_notice, user.id, match_filter.tags)
        return {} if notice is None else {NOTICE_HEADER: quote(notice, safe=_HEADER_CHARACTERS)}

    async def create_match(self, request: Request, user: User) -> Response:
        """POST /api/matches."""
        match = self._referee.create_match(user, request.state.body, client_ip(request))
        requested_seed = request.state.body.get("randomSeed")
        seed = match.params.seed if requested_seed is None else requested_seed
        return json_response(
            {"id": match.id, "randomSeed": seed}, headers={"X-Result-Id": match.id}
        )

    async def get_match(self, request: Request, user: User) -> Response:
        """Serve GET /api/matches/{id}: the match as the user sees it.

        With `waitactive` it first waits for the turn of the user. The status is then 410 if the
        match is over, and 409 if it is not yet the turn of the user.
        """
        query = request.query_params
        match_id = request.path_params["id"]
        waits = query_flag(query, "waitactive")
        if waits:
            await self._wait_for_turn(request, user, match_id)
        match = self._referee.get_visible_match(user, match_id)
        if waits and match.is_finished:
            return self._respond_with_match(request, user, match, 410)
        if waits and match.active_player != user.id:
            raise OutOfTurn
        return self._respond_with_match(request, user, match, 200)

    async def post_action(self, request: Request, user: User) -> Response:
        """POST /api/matches/{id}."""
        if user.is_admin:
            raise AdminMayNotPlay
        body = request.state.body
        self._record_activity(user)
        parse_effect_response(body)  # an unreadable card is refused before anything is looked up
        match_id = request.path_params["id"]
        try:
            if query_flag(request.query_params, "wait"):
                await self._wait_for_turn(request, user, match_id)
            move = self._referee.act(user, match_id, body, client_ip(request))
            self._runtime.presence.record_move(user.id, self._referee.current_time())
        except MatchEndedError as over:
            return json_response(
                match_end_events_json(self._runtime.matches.move_history(over.match.id)), 410
            )
        return json_response(move.response_events())

    async def terminate_match(self, request: Request, user: User) -> Response:
        """Serve DELETE /api/matches/{id}/terminate: end a match by decision and return it."""
        match_id, body = request.path_params["id"], request.state.body
        match = self._referee.terminate_match(user, match_id, body, client_ip(request))
        return json_response(list_view(match, ViewOptions(user, ends_match=True)))

    async def end_overdue_turns(self, request: Request, user: User) -> Response:
        """Serve POST /api/matches/watchdog: end the turns whose time is up."""
        tags = parse_tags(request.query_params)
        matches_by_id: dict[str, ArenaMatch] = {}
        repeat_text = request.query_params.get("repeat", "1")
        repeats = max(1, min(int(repeat_text), MAX_REPEATS)) if repeat_text.isdecimal() else 1
        for remaining_repeats in reversed(range(repeats)):
            for match in self._referee.end_overdue_turns(tags, client_ip(request)):
                matches_by_id[match.id] = match
            if (
                not remaining_repeats
                or server_remaining_wait_function(request)() <= self._config.watchdog_interval
            ):
                break
            await self._runtime.long_poll.sleep(
                self._config.watchdog_interval, lambda: wait_for_disconnect(request)
            )
        look = ViewOptions(user, ends_match=True)
        return json_response([list_view(match, look) for match in matches_by_id.values()])

    async def busy_days(self, request: Request, user: User) -> Response:
        """Serve GET /api/matches/busydays: the days around a month on which matches began."""
        day = parse_day(request.query_params.get("at", "today"), self._referee.current_time())
        return json_response(busy_days_around_month(self._referee.matches_for(user), day))

    # --- shared ----------------------------------------------------------------------------

    def _record_activity(self, user: User) -> None:
        if user.is_player:
            self._runtime.presence.record_activity(user.id, self._referee.current_time())

    def _select_matches(self, user: User, match_filter: MatchFilter) -> list[ArenaMatch]:
        listed = self._referee.matches_for(user, active=match_filter.active)
        return filter_matches(listed, match_filter, self._referee.current_time())

    async def _wait_for_topic(
        self, request: Request, user: User, topic: WaitTopic, is_ready: IsReady
    ) -> None:
        """Wait as `LongPoll` does; record the user's activity at the start and at the end."""
        self._record_activity(user)
        remaining = make_remaining_wait(request, self._config.long_poll_timeout)
        await self._runtime.long_poll.wait(
            topic, is_ready, lambda: wait_for_disconnect(request), remaining
        )
        self._record_activity(user)

    async def _wait_for_turn(self, request: Request, user: User, match_id: str) -> None:
        """Wait until it is this user's turn, the match has ended, or the time is up.

        As with the original, a request waits too if its user may not see the match, or if its
        id is invalid. Raises `MatchNotFound` if there is no such match.
        """

        def ready() -> bool:
            match = self._runtime.matches.get(valid_id)
            return match is not None and (match.is_finished or match.active_player == user.id)

        try:
            valid_id = self._referee.get_match(match_id).id
        except InvalidInput:
            valid_id = ""
        await self._wait_for_topic(request, user, WaitTopic(TURN_OVER, valid_id), ready)
        if not valid_id:
            raise MatchNotFound

    def _respond_with_match(
        self, request: Request, user: User, match: ArenaMatch, status: int
    ) -> Response:
        query = request.query_params
        if query_flag(query, "condensed"):
            return json_response(condensed_view(match, self._runtime.users), status)
        look = ViewOptions(
            user,
            show_debug=query_flag(query, "showdebug"),
            show_events=query_flag(query, "showevents"),
        )
        return json_response(self._referee.build_view(match, look), status)


def _choose_wait_topic(user: User, match_filter: MatchFilter) -> WaitTopic:
    """Return the topic whose change can put a match into a list that is now empty."""
    if not user.is_player:
        return ANY_MATCH_CREATED
    return (
        WaitTopic(TURN_STARTED, user.id)
        if match_filter.active
        else WaitTopic(MATCH_CREATED, user.id)
    )
