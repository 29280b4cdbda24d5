"""A stored match as steps: what a page, a terminal or an analysis shows of any game.

What the bodies of the match log have alike in every game is read here too. Reading is tolerant,
for a log may be older or newer than this program: what is missing is empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from cardsharp.cloud.ports import Body, MatchRecord
from cardsharp.errors import StoreError

A = TypeVar("A")
M = TypeVar("M", bound="Stored")

UNKNOWN = "unknown"  # the result of a match that the arena or service does not know


class Stored(BaseModel):
    """Shared settings: frozen, camel case in the log, unknown fields ignored."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, validate_by_name=True
    )


class Branch(Stored):
    """Of which match this is another course, from which of its steps on, counted from 1.

    `same` is whether the cards came as they had come there.
    """

    of: str
    step: int
    same: bool = False


def _whole(value: object) -> object:
    """A text without half characters, which JSON may escape and no page or file can have."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


WholeText = Annotated[str, BeforeValidator(_whole)]


class Header(Stored):
    """Who plays; `seats` maps our player indexes to the names of our strategies.

    `game` is None in a log from when there was but one. `opponent` is the other side's strategy
    where we played that too (`cardsharp play`). `version` is the state of our strategy's file,
    where it was played from one.
    """

    game: str | None = None
    players: tuple[WholeText, ...] = ()
    names: tuple[WholeText, ...] = ()
    tags: tuple[WholeText, ...] = ()
    opponent: str | None = None
    version: str | None = None
    seats: Mapping[int, str] = {}
    timeout_seconds: float | None = None
    branch: Branch | None = None

    def name(self, index: int | None) -> str:
        """What a player is called."""
        if index is None or index >= len(self.players):
            return "?"
        return self.names[index] if index < len(self.names) else self.players[index]

    def called(self, seat: int | None, opponent: str | None = None) -> str:
        """What the player of a seat is called: by the strategy where that is known."""
        if seat is not None and seat in self.seats:
            return self.seats[seat]
        return opponent or self.opponent or self.name(seat)


Count = Annotated[int, BeforeValidator(lambda count: 0 if count is None else count)]


class Outcome(Stored):
    """How a finished match ended; `result` is ours, and `names` are the players' by their seats.

    Of a match that the arena did not know any more nothing is known; where its header has the
    players, `names` are left out.
    """

    scores: tuple[int, ...] | None = None
    winner: int | None = None
    result: str = UNKNOWN
    terminated: bool = False
    turns: Count = 0
    moves: Count = 0
    timeouts: Count = 0
    names: tuple[str, ...] = ()


class Weighed(Stored):
    """An action that was weighed, and what it was thought to be worth."""

    action: str
    value: float | None = None
    note: str = ""
    unit: str = ""


class Thought(Stored):
    """A decision of ours: what, why, what else was weighed, by whom, on which position.

    `fault` says why a safe action replaced the strategy's own; `trace` are the lines of the
    strategy that led to an error, and `printed` is what it printed.
    """

    seat: int | None = None
    turn: int | None = None
    action: str = "no decision"
    reason: str = ""
    options: tuple[Weighed, ...] = ()
    strategy: str = ""
    fault: str | None = None
    trace: str = ""
    printed: str = ""
    decided_at: datetime | None = None
    decision_ms: float | None = None
    worker: str = ""
    position: Mapping[str, object] | None = None

    @property
    def because(self) -> str:
        """The reason, without the action that some strategies say first."""
        return self.reason.removeprefix(f"{self.action}: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One move of a match, in words, and the public state after it as a JSON object.

    `sequence` is the move's in the match log; `turn` counts from 1 and is what `why` asks for (in
    Blef a round); `seat` is who moved, None for nobody or where it is not known. `ours` is there
    where the decision was ours, and `at` where it was told when it was made.
    """

    sequence: int
    turn: int
    seat: int | None
    happened: str
    state: Mapping[str, object]
    ours: Thought | None = None
    at: datetime | None = None


class Restored(NamedTuple):
    """A stored match in the game's simulation: its `state` before the move of that number.

    `action` is what was done then, None where that was nobody's decision.
    """

    sequence: int
    state: Any
    action: Any


class Asked(NamedTuple):
    """A stored decision that can be made again: `step.ours` on its position, which is any game's.

    `options` are the legal actions with what the log calls them, in a fixed order.
    """

    step: Step
    position: Any
    options: Mapping[Any, str]


def parse(kind: type[M], body: Body, holder: str = "The match log") -> M:
    """The body of a log as a record of that kind; `StoreError` says whose first fault it is."""
    try:
        return kind.model_validate(dict(body))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        name = kind.__name__.lower()
        raise StoreError(
            f"{holder} has {name} that cannot be read: {place}: {fault['msg']}."
        ) from None


def header_of(record: MatchRecord) -> Header:
    """The header of a match."""
    return parse(Header, record.header, f"Match {record.match_id}")


def outcome_of(record: MatchRecord) -> Outcome | None:
    """The outcome of a match, None while it is not finished."""
    holder = f"Match {record.match_id}"
    return None if record.outcome is None else parse(Outcome, record.outcome, holder)


def fault_of(record: MatchRecord) -> str | None:
    """Why a match cannot be read, None if it can."""
    try:
        header_of(record)
        outcome_of(record)
    except StoreError as error:
        return str(error)
    if record.fault is None:
        return None
    return f"Match {record.match_id} cannot be read: {record.fault}."


def document(step: Step) -> dict[str, object]:
    """A step as a JSON object."""
    ours = None if step.ours is None else step.ours.model_dump(mode="json", by_alias=True)
    return {
        "sequence": step.sequence,
        "turn": step.turn,
        "seat": step.seat,
        "happened": step.happened,
        "state": dict(step.state),
        "decision": ours,
    }
