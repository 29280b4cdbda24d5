"""Types of the queries of the REST API (docs/spec/arena.md sections 3 and 4).

`match_list` reads them; a flag counts only if it occurs exactly once.
"""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from cardsharp.games.deadmansdraw.arena.api_types import Flag

Tags = Annotated[str, Field(description="Comma-separated; one must fit.")]
WaitForTurn = Annotated[
    Flag,
    Field(description="Waits until it is the caller's turn, at most for the poll limit."),
]


class ListQuery(TypedDict, total=False):
    """Query of the list of matches."""

    active: Annotated[
        Flag,
        Field(description="Only matches where the caller is to move now; ignored for the admin."),
    ]
    wait: Annotated[
        Flag,
        Field(description="Waits until the list is not empty, at most for the poll limit."),
    ]
    tags: Tags
    at: Annotated[str, Field(description="today or an ISO date: the day the match began.")]
    id: Annotated[str, Field(description="Comma-separated match ids.")]
    limit: Annotated[
        str,
        Field(description="N: at most N*10+1 matches (sic, a fault of the original that is kept)."),
    ]
    offset: Annotated[str, Field(description="With limit: only matches beyond this id.")]
    sortasc: Annotated[Flag, Field(description="Oldest first.")]
    condensed: Annotated[Flag, Field(description="Headers instead of matches.")]


class MatchQuery(TypedDict, total=False):
    """Query of one match."""

    waitactive: WaitForTurn
    showevents: Annotated[Flag, Field(description="All moves with their events.")]
    showdebug: Annotated[
        Flag,
        Field(
            description="For the creator and the admin: the piles, and in moves action and address."
        ),
    ]
    condensed: Annotated[Flag, Field(description="The header instead of the match.")]


class ActionQuery(TypedDict, total=False):
    """Query of an action."""

    wait: WaitForTurn


class WatchdogQuery(TypedDict, total=False):
    """Query of the call that ends overdue turns."""

    tags: Annotated[str, Field(description="Comma-separated; only matches with one of them.")]
    repeat: Annotated[int, Field(description="Looks this many times, a second apart, at most 60.")]


class DaysQuery(TypedDict, total=False):
    """Query of the days on which matches began."""

    at: Annotated[
        str,
        Field(
            description="A day of the month, this month's if left out; what cannot be read as a "
            "day means all days.",
            examples=["2026-11-20"],
        ),
    ]


class PlayersQuery(TypedDict, total=False):
    """Query of the list of players."""

    idle: Annotated[
        Flag,
        Field(description="Adds how long ago each player's client was heard of, and its tags."),
    ]
