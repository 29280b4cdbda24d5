"""Table of the routes of the REST API; `api_operations` describes them for the OpenAPI document.

The pages have routes of their own (`app.page_routes`), which the document leaves out.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cardsharp.games.deadmansdraw.arena.access.path_matching import CaseInsensitiveRoute
from cardsharp.games.deadmansdraw.arena.access.request_guard import Endpoint, RequestGuard
from cardsharp.games.deadmansdraw.arena.endpoints import RestApi
from cardsharp.games.deadmansdraw.arena.match_list import (
    is_list_query_from_player,
    is_match_query_from_player,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRoute:
    """A path with one method, and its endpoint behind the guard.

    `name` is that of its operation. `is_anonymous` is True if it needs no credentials.
    """

    name: str
    method: str
    path: str
    endpoint: Callable[[RequestGuard, RestApi], Endpoint]
    is_anonymous: bool = False


API_ROUTES = (
    ApiRoute(
        name="hello",
        method="GET",
        path="/api/hello",
        endpoint=lambda guard, api: guard.allow_anonymous(api.hello),
        is_anonymous=True,
    ),
    ApiRoute(
        name="helloworld",
        method="GET",
        path="/api/helloworld",
        endpoint=lambda guard, api: guard.allow_anonymous(api.hello),
        is_anonymous=True,
    ),
    ApiRoute(
        name="whoami",
        method="GET",
        path="/api/whoami",
        endpoint=lambda guard, api: guard.authenticated_or_spectator(api.whoami),
    ),
    ApiRoute(
        name="sessioninfo",
        method="GET",
        path="/api/sessioninfo",
        endpoint=lambda guard, api: guard.authenticated(api.session_info),
    ),
    ApiRoute(
        name="players",
        method="GET",
        path="/api/players",
        endpoint=lambda guard, api: guard.authenticated(api.list_players, admin_only=True),
    ),
    ApiRoute(
        name="player",
        method="GET",
        path="/api/players/{id}",
        endpoint=lambda guard, api: guard.authenticated(api.get_player),
    ),
    ApiRoute(
        name="matches",
        method="GET",
        path="/api/matches",
        endpoint=lambda guard, api: guard.authenticated_or_spectator(
            api.list_matches, is_list_query_from_player
        ),
    ),
    ApiRoute(
        name="create",
        method="POST",
        path="/api/matches",
        endpoint=lambda guard, api: guard.authenticated(api.create_match, creates=True),
    ),
    ApiRoute(
        name="watchdog",
        method="POST",
        path="/api/matches/watchdog",
        endpoint=lambda guard, api: guard.authenticated(api.end_overdue_turns, admin_only=True),
    ),
    ApiRoute(
        name="busydays",
        method="GET",
        path="/api/matches/busydays",
        endpoint=lambda guard, api: guard.authenticated_or_spectator(api.busy_days),
    ),
    ApiRoute(
        name="match",
        method="GET",
        path="/api/matches/{id}",
        endpoint=lambda guard, api: guard.authenticated_or_spectator(
            api.get_match, is_match_query_from_player
        ),
    ),
    ApiRoute(
        name="act",
        method="POST",
        path="/api/matches/{id}",
        endpoint=lambda guard, api: guard.authenticated(api.post_action),
    ),
    ApiRoute(
        name="terminate",
        method="DELETE",
        path="/api/matches/{id}/terminate",
        endpoint=lambda guard, api: guard.authenticated(api.terminate_match),
    ),
)


def api_routes(api: RestApi, guard: RequestGuard) -> list[CaseInsensitiveRoute]:
    """Return the routes of the REST API."""
    return [
        CaseInsensitiveRoute(route.path, route.endpoint(guard, api), route.method)
        for route in API_ROUTES
    ]
