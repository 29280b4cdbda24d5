"""What a match log holds, read into types: header, intents and outcome of `logbook.py`.

Reading is tolerant, for a log may be older or newer than this program: what is missing is empty.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from cardsharp.cloud.ports import Body, MatchRecord
from cardsharp.deadmansdraw.actions import Verb
from cardsharp.errors import StoreError

M = TypeVar("M", bound="Record")

UNKNOWN = "unknown"
"""The result of a match that the arena does not know."""


class Record(BaseModel):
    """Shared settings: frozen, camel case in the log, unknown fields ignored."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, validate_by_name=True
    )


class Header(Record):
    """Who plays; `seats` maps our player indexes to the names of our strategies.

    `opponent` is the other side's strategy where we played that too (`cardsharp play`).
    """

    players: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    opponent: str | None = None
    seats: Mapping[int, str] = {}
    timeout_seconds: float | None = None

    def name(self, index: int | None) -> str:
        """What a player is called."""
        if index is None or index >= len(self.players):
            return "?"
        return self.names[index] if index < len(self.names) else self.players[index]


Count = Annotated[int, BeforeValidator(lambda count: 0 if count is None else count)]


class Outcome(Record):
    """How a finished match ended; `result` is ours.

    Of a match that the arena did not know any more nothing is known.
    """

    scores: tuple[int, int] | None = None
    winner: int | None = None
    result: str = UNKNOWN
    terminated: bool = False
    turns: Count = 0
    moves: Count = 0
    timeouts: Count = 0


class PendingRecord(Record):
    """An effect that waits for an answer."""

    effect: str
    cards: tuple[str, ...] = ()
    kraken_count: int = 0


class PositionRecord(Record):
    """The table on which a decision was made; cards as "Key3"."""

    me: int
    banks: tuple[tuple[str, ...], tuple[str, ...]]
    play_area: tuple[str, ...] = ()
    pending: PendingRecord | None = None
    discard_pile: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    known_top: str | None = None


class OptionRecord(Record):
    """An action that was weighed, and what it was thought to be worth."""

    action: str
    value: float
    note: str = ""


def _action_text(body: object) -> object:
    """The action as options name it, from the body that was sent to the arena."""
    if not isinstance(body, dict):
        return body
    effect = body.get("effect")
    if body.get("etype") != Verb.RESPOND or not isinstance(effect, dict):
        return f"{body.get('etype')}{' (autopick)' if body.get('autopick') else ''}"
    card = effect.get("card")
    named = f"{card['suit']}{card['value']}" if isinstance(card, dict) else "not taken"
    return f"{effect.get('effectType')}: {named}"


class Intent(Record):
    """A decision of ours: what, why, and on which position."""

    seat: int | None = None
    turn: int | None = None
    action: Annotated[str, BeforeValidator(_action_text)] = "no decision"
    reason: str = ""
    options: tuple[OptionRecord, ...] = ()
    strategy: str = ""
    fault: str | None = None
    decided_at: datetime | None = None
    decision_ms: float | None = None
    worker: str = ""
    position: PositionRecord | None = None

    @property
    def because(self) -> str:
        """The reason, without the action that some strategies say first."""
        return self.reason.removeprefix(f"{self.action}: ")

    @property
    def took(self) -> timedelta | None:
        """How long the decision took."""
        return None if self.decision_ms is None else timedelta(milliseconds=self.decision_ms)


def parse(kind: type[M], body: Body) -> M:
    """The body of a match log as a record of that kind.

    Raises:
        StoreError: it is not one; the text names the first fault.
    """
    try:
        return kind.model_validate(dict(body))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        name = kind.__name__.lower()
        raise StoreError(
            f"The match log holds {name} that cannot be read: {place}: {fault['msg']}."
        ) from None


def header_of(record: MatchRecord) -> Header:
    """The header of a match."""
    return parse(Header, record.header)


def outcome_of(record: MatchRecord) -> Outcome | None:
    """The outcome of a match, None while it is not finished."""
    return None if record.outcome is None else parse(Outcome, record.outcome)
