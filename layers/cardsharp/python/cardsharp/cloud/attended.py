"""A match that is attended: what its game supplies of it, and how an attendance ended."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum, auto
from typing import Any, Generic, Protocol, TypeVar

from cardsharp.cloud.ports import Body
from cardsharp.deciding import Decided
from cardsharp.errors import Rejected
from cardsharp.strategy import Decision

A = TypeVar("A")  # an action
UNDER_WAY = "underWay"  # in an intent, for how many seconds its action may be under way
Facts = Mapping[int, Body]  # moves by their sequence, as the arena's history has them


class After(Enum):
    """What to do once an action was sent."""

    LOOK = auto()  # see what is so
    WAIT = auto()  # the turn has ended and the match has not: wait for the next one


class Turn(Protocol[A]):
    """A turn of ours, up to its next action."""

    def decide(
        self, limit: timedelta, monotonic: Callable[[], float], refused: frozenset[A]
    ) -> Decided[Decision[A]] | None:
        """The decision, within the limit; `refused` were already turned down here.

        None where nothing may be done now, and the match is to be looked at again.
        """

    def intent(self, decided: Decided[Decision[A]], at: datetime, worker: str) -> Body:
        """What the log says of the decision before it is sent."""

    def act(self, action: A) -> "Turn[A] | After":
        """Send the action, once; what to do then. Raises `ArenaError`, refused or doubtful."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight(Generic[A]):
    """A match as it was seen.

    `sequence` is that of its next move. `facts` are at least those that the log has not got yet
    or has otherwise, and `timeouts` how many of them the arena made for us, for want of time.
    `outcome` is there when the match has ended, `turn` when we are to act, since `acted_at` where
    that is known. `limit` is the time of a turn. `header` is what the log is to say of the match,
    where only a look could tell. `may_rest` says that the arena names the match to the poller when
    we are to act; `rest` for how long it is to be left at once, as before its start. `ours` are the
    moves of our seats that the arena did not make itself, `strange` those of them that are not what
    it answered us; a game that knows neither leaves them empty. `held_back` says that the service
    delayed this look, so what we asked before has come through: it delays the later one for longer.
    """

    sequence: int
    facts: Facts
    timeouts: int = 0
    outcome: Body | None = None
    turn: Turn[A] | None = None
    acted_at: datetime | None = None
    limit: timedelta | None = None
    header: Body | None = None
    may_rest: bool = False
    rest: timedelta | None = None
    ours: frozenset[int] = frozenset()
    strange: frozenset[int] = frozenset()
    held_back: bool = False


class AttendedMatch(Protocol[A]):
    """A match that we play: all that a game supplies. Every method may raise `ArenaError`.

    `known` are the facts that the match log already has.
    """

    @property
    def header(self) -> Body | None:
        """What the log is to say of the match from the first; None where a look must tell."""

    def look(self, known: Facts) -> Sight[A]:
        """The match as it is now, entered first where we are not in it yet."""

    def wait(self, known: Facts) -> Sight[A] | None:
        """The match once there is something new, None where that took too long: a long poll."""

    def gone(self, denied: Rejected) -> Body | None:
        """The outcome, where the arena itself said that there is no such match for us.

        None for all else. With `offering.MISSING` as its result the match is opened again as soon
        as it is named again.
        """


Meet = Callable[[str], AbstractContextManager[AttendedMatch[Any]]]  # for as long as the block runs


class Attended(StrEnum):
    """How an attendance ended."""

    FINISHED = "finished"
    HANDED_ON = "handed on"
    LEFT = "left to the poller"
    ELSEWHERE = "attended elsewhere"
    UNKNOWN = "unknown to the arena"
