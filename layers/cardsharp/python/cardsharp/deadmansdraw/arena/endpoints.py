"""The endpoints of the REST API, one method each (docs/spec/arena.md sections 3 and 4)."""

from starlette.requests import Request
from starlette.responses import Response

from cardsharp.deadmansdraw.arena.config import ArenaConfig, Place
from cardsharp.deadmansdraw.arena.http import (
    client_ip,
    error_answer,
    given_time,
    hung_up,
    json_answer,
    time_left,
)
from cardsharp.deadmansdraw.arena.inputs import parse_response
from cardsharp.deadmansdraw.arena.listing import (
    Filter,
    busy_days,
    flag,
    parse_day,
    parse_filter,
    select,
    tag_set,
)
from cardsharp.deadmansdraw.arena.lobby import ANY_MATCH, MATCH, NEW_MATCH, TURN, Signal
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.deadmansdraw.arena.referee import NO_SUCH_MATCH, NOT_YOUR_TURN, Over, Referee
from cardsharp.deadmansdraw.arena.views import Look, closing_json, header_view, list_view
from cardsharp.deadmansdraw.arena.waiting import Ready
from cardsharp.errors import Malformed
from cardsharp.web.route import Refused

HELLO = "Hello World. I am the SAP Labs CEE Hub Programming Competition 2023 Arena server."
MAX_REPEATS = 60


class RestApi:
    """The REST API over one referee's matches."""

    def __init__(self, referee: Referee, place: Place, config: ArenaConfig) -> None:
        self._referee, self._place, self._config = referee, place, config

    # --- diagnostic, players ---------------------------------------------------------------

    async def hello(self, _request: Request) -> Response:
        """GET /api/hello, and GET /api/helloworld as the competition's text calls it."""
        return json_answer({"message": HELLO})

    async def whoami(self, _request: Request, user: User) -> Response:
        """GET /api/whoami."""
        return json_answer({"username": user.id, "name": user.name, "role": user.role})

    async def sessioninfo(self, request: Request, user: User) -> Response:
        """GET /api/sessioninfo."""
        body = {
            "username": user.id,
            "name": user.name,
            "role": user.role,
            "dbname": self._place.name,
            "ip": client_ip(request),
        }
        return json_answer(body if user.country is None else {**body, "country": user.country})

    async def players(self, request: Request, _admin: User) -> Response:
        """GET /api/players; with `idle`, which is ours, each with how long ago it was heard of."""
        players = self._place.book.players.values()
        records = [player.json_record() for player in players]
        if flag(request.query_params, "idle"):
            idle = self._place.presence.idle(self._referee.now())
            for record, player in zip(records, players, strict=True):
                record["idleSeconds"] = idle.get(player.id)
        return json_answer(records)

    async def player(self, request: Request, user: User) -> Response:
        """GET /api/players/{id}."""
        player_id = request.path_params["id"].lower()
        if not user.is_admin and player_id != user.id:
            raise Refused(403, "Not allowed to query other users.")
        player = self._place.book.players.get(player_id)
        if player is None:
            raise Refused(404, "Player record not found.")
        return json_answer(player.json_record())

    # --- matches ---------------------------------------------------------------------------

    async def matches(self, request: Request, user: User) -> Response:
        """GET /api/matches."""
        query = request.query_params
        wanted = parse_filter(query)
        if flag(query, "active") or flag(query, "wait"):
            self._heard_of(user)
        found = self._select(user, wanted)
        if not found and flag(query, "wait"):
            signal = _awaited(user, wanted)
            await self._wait(request, user, signal, lambda: bool(self._select(user, wanted)))
            found = self._select(user, wanted)
        if flag(query, "condensed"):
            return json_answer([header_view(match, self._place.book) for match in found])
        look = Look(user)
        return json_answer([list_view(match, look) for match in found])

    async def create(self, request: Request, user: User) -> Response:
        """POST /api/matches."""
        match = self._referee.create(user, request.state.body, client_ip(request))
        given = request.state.body.get("randomSeed")
        seed = match.params.seed if given is None else given
        return json_answer({"id": match.id, "randomSeed": seed}, headers={"X-Result-Id": match.id})

    async def match(self, request: Request, user: User) -> Response:
        """GET /api/matches/{id}."""
        query = request.query_params
        match_id = request.path_params["id"]
        waits = flag(query, "waitactive")
        if waits:
            await self._wait_for_turn(request, user, match_id)
        match = self._referee.visible(user, match_id)
        if waits and match.finished:
            return self._view(request, user, match, 410)
        if waits and match.active_player != user.id:
            return error_answer(409, NOT_YOUR_TURN)
        return self._view(request, user, match, 200)

    async def act(self, request: Request, user: User) -> Response:
        """POST /api/matches/{id}."""
        if user.is_admin:
            raise Refused(401, "Admin user is not allowed to interfere with the match.")
        body = request.state.body
        self._heard_of(user)
        parse_response(body)  # an unreadable card is refused before anything is looked up
        match_id = request.path_params["id"]
        try:
            if flag(request.query_params, "wait"):
                await self._wait_for_turn(request, user, match_id)
            move = self._referee.act(user, match_id, body, client_ip(request))
        except Over as over:
            return json_answer(closing_json(self._place.lobby.history(over.match.id)), 410)
        return json_answer(move.answer())

    async def terminate(self, request: Request, user: User) -> Response:
        """DELETE /api/matches/{id}/terminate."""
        match_id, body = request.path_params["id"], request.state.body
        match = self._referee.terminate(user, match_id, body, client_ip(request))
        return json_answer(list_view(match, Look(user, just_ended=True)))

    async def watchdog(self, request: Request, user: User) -> Response:
        """POST /api/matches/watchdog."""
        tags = tag_set(request.query_params)
        ended: dict[str, Match] = {}
        asked = request.query_params.get("repeat", "1")
        repeats = max(1, min(int(asked), MAX_REPEATS)) if asked.isdecimal() else 1
        for left in reversed(range(repeats)):
            for match in self._referee.end_overdue_turns(tags, client_ip(request)):
                ended[match.id] = match
            if not left or given_time(request)() <= self._config.watchdog_pause:
                break
            await self._place.waiting.pause(self._config.watchdog_pause, lambda: hung_up(request))
        look = Look(user, just_ended=True)
        return json_answer([list_view(match, look) for match in ended.values()])

    async def busydays(self, request: Request, user: User) -> Response:
        """GET /api/matches/busydays."""
        day = parse_day(request.query_params.get("at", "today"), self._referee.now())
        return json_answer(busy_days(self._referee.listed(user), day))

    # --- shared ----------------------------------------------------------------------------

    def _heard_of(self, user: User) -> None:
        if user.plays:
            self._place.presence.hear(user.id, self._referee.now())

    def _select(self, user: User, wanted: Filter) -> list[Match]:
        listed = self._referee.listed(user, active=wanted.active)
        return select(listed, wanted, self._referee.now())

    async def _wait(self, request: Request, user: User, signal: Signal, ready: Ready) -> None:
        """Wait as `Waiting` does; a user is heard of as it begins to, and again when it is over."""
        self._heard_of(user)
        left = time_left(request, self._config.poll_timeout)
        await self._place.waiting.wait(signal, ready, lambda: hung_up(request), left)
        self._heard_of(user)

    async def _wait_for_turn(self, request: Request, user: User, match_id: str) -> None:
        """Sleep until it is this user's turn, the match has ended, or the time is up.

        Whoever may not look at the match waits as well, and so does who writes an id that is none,
        as with the original. Raises `Refused` if there is no such match.
        """

        def ready() -> bool:
            match = self._place.lobby.find(known_id)
            return match is not None and (match.finished or match.active_player == user.id)

        try:
            known_id = self._referee.find(match_id).id
        except Malformed:
            known_id = ""
        await self._wait(request, user, Signal(MATCH, known_id), ready)
        if not known_id:
            raise Refused(404, NO_SUCH_MATCH)

    def _view(self, request: Request, user: User, match: Match, status: int) -> Response:
        query = request.query_params
        if flag(query, "condensed"):
            return json_answer(header_view(match, self._place.book), status)
        look = Look(user, debug=flag(query, "showdebug"), events=flag(query, "showevents"))
        return json_answer(self._referee.view(match, look), status)


def _awaited(user: User, wanted: Filter) -> Signal:
    """What has to happen before there can be a match in an empty list."""
    if not user.plays:
        return ANY_MATCH
    return Signal(TURN, user.id) if wanted.active else Signal(NEW_MATCH, user.id)
