"""A match that the bot plays: what its game supplies, and how a session ended."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Generic, Protocol, TypeVar

from cardsharp.errors import RequestRejected
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import Body, Summaries

A = TypeVar("A")  # an action
IN_FLIGHT_SECONDS = "underWay"  # key in an intent: seconds for which its action may be in flight
MoveFacts = Mapping[int, Body]  # moves of the arena's history by their sequence


class NextRead(Enum):
    """Next read of the match after an action was sent."""

    READ_IMMEDIATELY = auto()  # read the current state
    WAIT_FOR_CHANGE = auto()  # the turn has ended, the match has not: long-poll for a change


class BotTurn(Protocol[A]):
    """A turn of ours, up to its next action."""

    def decide(
        self, timeout: timedelta, monotonic: Callable[[], float], rejected_actions: frozenset[A]
    ) -> DecisionResult[Decision[A]] | None:
        """Return the decision, made within `timeout`; `rejected_actions` were rejected here.

        None if no action is possible at the moment and the match must be observed again.
        """

    def intent_body(
        self, decision_result: DecisionResult[Decision[A]], decided_at: datetime, worker_id: str
    ) -> Body:
        """Return the log entry of the decision, written before the action is sent."""

    def send(self, action: A) -> "BotTurn[A] | NextRead":
        """Send the action once; return the next turn, or what to read next.

        Raises `ArenaError` if the action was rejected or its outcome is unknown.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation(Generic[A]):
    """A match as it was observed.

    `next_sequence` is that of its next move. `facts` have at least the moves that the log lacks
    or has differently, and `timeout_count` of them the arena made for us because our time was
    up. `summaries` show these moves to people. `outcome` is set when the match has ended, `turn`
    when we are to act, since `turn_began_at` if that is recorded. `turn_timeout` is the limit of a
    turn. `header` is for the log, if only an observation can supply it. `may_park` says that the
    arena notifies the poller when we are to act; `park_for` is how long the match should be left
    alone at once, as before its start. `our_moves` are the moves of our seats that the arena did
    not make itself, and `foreign_moves` those of them that differ from the arena's responses to us;
    a game without this information leaves both empty. `was_throttled` says that the service delayed
    this response. Then our earlier requests have arrived as well, because the service delays later
    requests for longer.
    """

    next_sequence: int
    facts: MoveFacts
    summaries: Summaries = field(default_factory=dict)
    timeout_count: int = 0
    outcome: Body | None = None
    turn: BotTurn[A] | None = None
    turn_began_at: datetime | None = None
    turn_timeout: timedelta | None = None
    header: Body | None = None
    may_park: bool = False
    park_for: timedelta | None = None
    our_moves: frozenset[int] = frozenset()
    foreign_moves: frozenset[int] = frozenset()
    was_throttled: bool = False


class BotMatch(Protocol[A]):
    """A match that we play: all that a game supplies. Every method may raise `ArenaError`.

    `recorded` are the facts that the match log already has.
    """

    @property
    def header(self) -> Body | None:
        """Header of the match for the log; None if only an observation can supply it."""

    def observe(self, recorded_facts: MoveFacts) -> Observation[A]:
        """Return the current state of the match; enter it first if we are not in it yet."""

    def wait_for_change(self, recorded_facts: MoveFacts) -> Observation[A] | None:
        """Long-poll and return the changed match; None if that took too long."""

    def outcome_if_missing(self, error: RequestRejected) -> Body | None:
        """Return the outcome if the arena itself says that we have no such match, else None.

        With `match_dispatcher.MISSING_GAME` as its result the match is reopened as soon as the
        arena lists it again.
        """


OpenMatch = Callable[[str], AbstractContextManager[BotMatch[Any]]]  # opens a match by its id
