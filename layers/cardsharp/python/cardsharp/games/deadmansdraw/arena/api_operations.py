"""Descriptions of the operations of the REST API for the OpenAPI document: texts, types, errors.

They are apart from `api_routes`, because an arena starts faster without these types, and bots
never ask for the document.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
from cardsharp.games.deadmansdraw.arena.errors import (
    AdminMayNotPlay,
    MatchNotFound,
    MatchNotVisible,
    OtherUserDenied,
    PlayerNotFound,
    TerminationDenied,
)


class JsonBody(NamedTuple):
    """JSON body of a response: its meaning, and its type in `api_types`."""

    description: str
    type: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Texts and types of a route.

    `bodies` are the bodies of responses by status. `query_type` and `body_type` describe the
    request, None if it has none. `errors` are the statuses of `{"error": ...}` with their meaning,
    beyond those that every route may answer.
    """

    summary: str
    description: str
    bodies: Mapping[int, JsonBody]
    query_type: Any = None
    body_type: Any = None
    errors: Mapping[int, str] = field(default_factory=dict)


OPERATIONS: Mapping[str, Operation] = {
    "hello": Operation(
        summary="A ping without credentials",
        description="Says hello.",
        bodies={200: JsonBody("The greeting.", HelloJson)},
    ),
    "helloworld": Operation(
        summary="The same ping, as the competition's text calls it",
        description="Says hello.",
        bodies={200: JsonBody("The greeting.", HelloJson)},
    ),
    "whoami": Operation(
        summary="Who the credentials belong to",
        description="The authenticated user.",
        bodies={200: JsonBody("The user.", UserJson)},
    ),
    "sessioninfo": Operation(
        summary="The user and the session",
        description="The user, where matches are kept, and the address the request came from.",
        bodies={200: JsonBody("The session.", SessionJson)},
    ),
    "players": Operation(
        summary="All players (admin)",
        description="All players of the players' file, without passwords.",
        bodies={200: JsonBody("The players.", list[PlayerJson])},
        query_type=PlayersQuery,
    ),
    "player": Operation(
        summary="One player",
        description="The own record; the admin may read any.",
        bodies={200: JsonBody("The player.", PlayerJson)},
        errors={403: OtherUserDenied.text, 404: PlayerNotFound.text},
    ),
    "matches": Operation(
        summary="Lists matches",
        description="A player's own matches, for the admin all; newest first.",
        bodies={
            200: JsonBody("The matches that fit, perhaps none.", list[MatchJson | MatchHeaderJson])
        },
        query_type=ListQuery,
        errors={400: "An id is malformed."},
    ),
    "create": Operation(
        summary="Creates a match",
        description="Without a body a practice match against oneself. Players may pair themselves "
        "with themselves or the dummy player; the admin may pair anyone.",
        bodies={
            200: JsonBody("The new match; the header X-Result-Id repeats its id.", CreatedJson)
        },
        body_type=CreationParamsJson,
        errors={400: "The request cannot be read, or the pairing is not allowed."},
    ),
    "watchdog": Operation(
        summary="Ends overdue turns (admin)",
        description="Ends by force the turns whose players have run out of time.",
        bodies={200: JsonBody("The matches whose turn was ended.", list[MatchJson])},
        query_type=WatchdogQuery,
        errors={400: "The parameter tags is given twice, or the request cannot be read."},
    ),
    "busydays": Operation(
        summary="The days on which matches began",
        description="Days of the server's time zone, oldest first, of the caller's own matches "
        "(of all for the admin): those in the month of `at` and in the week before and after it.",
        bodies={200: JsonBody("The days.", list[BusyDay])},
        query_type=DaysQuery,
    ),
    "match": Operation(
        summary="Shows a match",
        description="For its players and the admin. Seed and draw pile are shown only to the "
        "match's creator and the admin.",
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
            401: MatchNotVisible.text,
            404: MatchNotFound.text,
            409: "With waitactive: the wait ended and it is still not the caller's turn.",
        },
    ),
    "act": Operation(
        summary="Plays an action",
        description="The action of the player to move. With wait=1 it waits for the caller's turn "
        "first.",
        bodies={
            200: JsonBody("What happened.", list[EventJson]),
            410: JsonBody("The match has ended; how it ended.", ClosingJson),
        },
        query_type=ActionQuery,
        body_type=ActionJson,
        errors={
            400: "The action cannot be read or is not allowed; nothing has changed.",
            401: f"{MatchNotVisible.text} | {AdminMayNotPlay.text}",
            404: MatchNotFound.text,
            409: "Authenticated user is not the current player.",
        },
    ),
    "terminate": Operation(
        summary="Ends a match by decision",
        description="For the admin, and for the creator of a practice match. Without a winner it "
        "is a tie.",
        bodies={200: JsonBody("The ended match.", MatchJson)},
        body_type=TerminationJson,
        errors={
            400: "No action possible on finished matches.",
            401: TerminationDenied.text,
            404: MatchNotFound.text,
        },
    ),
}
"""Operations by the names of their routes."""
