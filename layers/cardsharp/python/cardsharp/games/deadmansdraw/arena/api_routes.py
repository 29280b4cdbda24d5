"""Table of the routes of the REST API: their endpoints, and what the OpenAPI document says of them.

The pages have routes of their own (`app.page_routes`), which the document leaves out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cardsharp.games.deadmansdraw.arena.access.path_matching import CaseInsensitiveRoute
from cardsharp.games.deadmansdraw.arena.access.request_guard import Endpoint, RequestGuard
from cardsharp.games.deadmansdraw.arena.api_queries import (
    ActionQuery,
    DaysQuery,
    ListQuery,
    MatchQuery,
    PlayersQuery,
    WatchdogQuery,
)
from cardsharp.games.deadmansdraw.arena.api_types import (
    ActionJson,
    BusyDay,
    ClosingJson,
    CreatedJson,
    CreationParamsJson,
    EventJson,
    HelloJson,
    MatchHeaderJson,
    MatchJson,
    PlayerJson,
    SessionJson,
    TerminationJson,
    UserJson,
)
from cardsharp.games.deadmansdraw.arena.endpoints import RestApi
from cardsharp.games.deadmansdraw.arena.match_list import (
    is_list_query_from_player,
    is_match_query_from_player,
)

_NO_SUCH_MATCH = "Match does not exist."
_NOT_VISIBLE = "Match is visible only to participating players."


class JsonBody(NamedTuple):
    """JSON body of a response: its meaning, and its type in `api_types`."""

    description: str
    type: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRoute:
    """A path with one method, its endpoint behind the guard, and its types.

    `query_type` and `body_type` describe the request, None if it has none. `bodies` are the
    bodies of responses by status. `errors` are the statuses of `{"error": ...}` with their
    meaning, beyond those that every route may answer. `is_anonymous` is True if it needs no
    credentials.
    """

    method: str
    path: str
    name: str
    summary: str
    description: str
    endpoint: Callable[[RequestGuard, RestApi], Endpoint]
    bodies: Mapping[int, JsonBody]
    query_type: Any = None
    body_type: Any = None
    errors: Mapping[int, str] = field(default_factory=dict)
    is_anonymous: bool = False


API_ROUTES = (
    ApiRoute(
        method="GET",
        path="/api/hello",
        name="hello",
        summary="A ping without credentials",
        description="Says hello.",
        endpoint=lambda guard, api: guard.allow_anonymous(api.hello),
        bodies={200: JsonBody("The greeting.", HelloJson)},
        is_anonymous=True,
    ),
    ApiRoute(
        method="GET",
        path="/api/helloworld",
        name="helloworld",
        summary="The same ping, as the competition's text calls it",
        description="Says hello.",
        endpoint=lambda guard, api: guard.allow_anonymous(api.hello),
        bodies={200: JsonBody("The greeting.", HelloJson)},
        is_anonymous=True,
    ),
    ApiRoute(
        method="GET",
        path="/api/whoami",
        name="whoami",
        summary="Who the credentials belong to",
        description="The authenticated user.",
        endpoint=lambda guard, api: guard.authenticated_or_spectator(api.whoami),
        bodies={200: JsonBody("The user.", UserJson)},
    ),
    ApiRoute(
        method="GET",
        path="/api/sessioninfo",
        name="sessioninfo",
        summary="The user and the session",
        description="The user, where matches are kept, and the address the request came from.",
        endpoint=lambda guard, api: guard.authenticated(api.session_info),
        bodies={200: JsonBody("The session.", SessionJson)},
    ),
    ApiRoute(
        method="GET",
        path="/api/players",
        name="players",
        summary="All players (admin)",
        description="All players of the players' file, without passwords.",
        endpoint=lambda guard, api: guard.authenticated(api.list_players, admin_only=True),
        bodies={200: JsonBody("The players.", list[PlayerJson])},
        query_type=PlayersQuery,
    ),
    ApiRoute(
        method="GET",
        path="/api/players/{id}",
        name="player",
        summary="One player",
        description="The own record; the admin may read any.",
        endpoint=lambda guard, api: guard.authenticated(api.get_player),
        bodies={200: JsonBody("The player.", PlayerJson)},
        errors={403: "Not allowed to query other users.", 404: "Player record not found."},
    ),
    ApiRoute(
        method="GET",
        path="/api/matches",
        name="matches",
        summary="Lists matches",
        description="A player's own matches, for the admin all; newest first.",
        endpoint=lambda guard, api: guard.authenticated_or_spectator(
            api.list_matches, is_list_query_from_player
        ),
        bodies={
            200: JsonBody("The matches that fit, perhaps none.", list[MatchJson | MatchHeaderJson])
        },
        query_type=ListQuery,
        errors={400: "An id is malformed."},
    ),
    ApiRoute(
        method="POST",
        path="/api/matches",
        name="create",
        summary="Creates a match",
        description="Without a body a practice match against oneself. Players may pair themselves "
        "with themselves or the dummy player; the admin may pair anyone.",
        endpoint=lambda guard, api: guard.authenticated(api.create_match, creates=True),
        bodies={
            200: JsonBody("The new match; the header X-Result-Id repeats its id.", CreatedJson)
        },
        body_type=CreationParamsJson,
        errors={400: "The request cannot be read, or the pairing is not allowed."},
    ),
    ApiRoute(
        method="POST",
        path="/api/matches/watchdog",
        name="watchdog",
        summary="Ends overdue turns (admin)",
        description="Ends by force the turns whose players have run out of time.",
        endpoint=lambda guard, api: guard.authenticated(api.end_overdue_turns, admin_only=True),
        bodies={200: JsonBody("The matches whose turn was ended.", list[MatchJson])},
        query_type=WatchdogQuery,
        errors={400: "The parameter tags is given twice, or the request cannot be read."},
    ),
    ApiRoute(
        method="GET",
        path="/api/matches/busydays",
        name="busydays",
        summary="The days on which matches began",
        description="Days of the server's time zone, oldest first, of the caller's own matches "
        "(of all for the admin): those in the month of `at` and in the week before and after it.",
        endpoint=lambda guard, api: guard.authenticated_or_spectator(api.busy_days),
        bodies={200: JsonBody("The days.", list[BusyDay])},
        query_type=DaysQuery,
    ),
    ApiRoute(
        method="GET",
        path="/api/matches/{id}",
        name="match",
        summary="Shows a match",
        description="For its players and the admin. Seed and draw pile are shown only to the "
        "match's creator and the admin.",
        endpoint=lambda guard, api: guard.authenticated_or_spectator(
            api.get_match, is_match_query_from_player
        ),
        bodies={
            200: JsonBody("The match.", MatchJson | MatchHeaderJson),
            410: JsonBody(
                "With waitactive: the match has ended; its body is the match.",
                MatchJson | MatchHeaderJson,
            ),
        },
        query_type=MatchQuery,
        errors={
            400: "The id is malformed.",
            401: _NOT_VISIBLE,
            404: _NO_SUCH_MATCH,
            409: "With waitactive: the wait ended and it is still not the caller's turn.",
        },
    ),
    ApiRoute(
        method="POST",
        path="/api/matches/{id}",
        name="act",
        summary="Plays an action",
        description="The action of the player to move. With wait=1 it waits for the caller's turn "
        "first.",
        endpoint=lambda guard, api: guard.authenticated(api.post_action),
        bodies={
            200: JsonBody("What happened.", list[EventJson]),
            410: JsonBody("The match has ended; how it ended.", ClosingJson),
        },
        query_type=ActionQuery,
        body_type=ActionJson,
        errors={
            400: "The action cannot be read or is not allowed; nothing has changed.",
            401: f"{_NOT_VISIBLE} | Admin user is not allowed to interfere with the match.",
            404: _NO_SUCH_MATCH,
            409: "Authenticated user is not the current player.",
        },
    ),
    ApiRoute(
        method="DELETE",
        path="/api/matches/{id}/terminate",
        name="terminate",
        summary="Ends a match by decision",
        description="For the admin, and for the creator of a practice match. Without a winner it "
        "is a tie.",
        endpoint=lambda guard, api: guard.authenticated(api.terminate_match),
        bodies={200: JsonBody("The ended match.", MatchJson)},
        body_type=TerminationJson,
        errors={
            400: "No action possible on finished matches.",
            401: "Not authorized to perform action.",
            404: _NO_SUCH_MATCH,
        },
    ),
)


def api_routes(api: RestApi, guard: RequestGuard) -> list[CaseInsensitiveRoute]:
    """Return the routes of the REST API."""
    return [
        CaseInsensitiveRoute(route.path, route.endpoint(guard, api), route.method)
        for route in API_ROUTES
    ]
