"""Stored match as a sequence of steps, and the records that logs of all games share.

Pages, terminals and analyses show a match of any game from these. Reading is tolerant, because a
log may be older or newer than this program: a missing field has its empty value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from cardsharp.core.sentences import YOU, capitalise
from cardsharp.errors import StoreError
from cardsharp.store.match_log import Body, MatchRecord

A = TypeVar("A")
M = TypeVar("M", bound="StoredModel")

_SIDE_COUNT = 2  # sides of a game of partners
UNKNOWN = "unknown"  # the result of a match that the arena or service does not know


class StoredModel(BaseModel):
    """Base of the models of the match log: frozen, camel case, unknown fields ignored."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_name=True,
        defer_build=True,  # a command that lists matches needs two of the models
    )


class BranchOrigin(StoredModel):
    """Origin of a branch: the match that it branches off, and the step, counted from 1.

    `same` is True if the cards come in the same order as in that match.
    """

    of: str
    step: int
    same: bool = False


def _replace_surrogates(value: object) -> object:
    """Return a text in which unpaired surrogates are replaced.

    JSON may contain them as escapes, but no page and no file can hold them.
    """
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


WellFormedText = Annotated[str, BeforeValidator(_replace_surrogates)]


class Header(StoredModel):
    """Header of a match: the game and the players.

    `seats` maps our player indexes to the names of our strategies. `game` is None in logs
    written when there was only one game. `opponent` is the other side's strategy if this
    project played it as well (`cardsharp play`). `version` identifies the content of our
    strategy's file, if it was loaded from one.
    """

    game: str | None = None
    players: tuple[WellFormedText, ...] = ()
    names: tuple[WellFormedText, ...] = ()
    tags: tuple[WellFormedText, ...] = ()
    opponent: str | None = None
    version: str | None = None
    seats: Mapping[int, str] = {}
    timeout_seconds: float | None = None
    branch: BranchOrigin | None = None

    @property
    def side_names(self) -> tuple[str, ...]:
        """Names of the players; partners with one name get it once."""
        alike = tuple(dict.fromkeys(self.players))
        has_partners = len(alike) == _SIDE_COUNT < len(self.players)
        return alike if has_partners else self.names or self.players

    def player_name(self, index: int | None) -> str:
        """Return the display name of a player, `?` if there is none."""
        if index is None or index >= len(self.players):
            return "?"
        return _to_display_name(
            self.names[index] if index < len(self.names) else self.players[index]
        )

    def strategy_or_player_name(self, seat: int | None, opponent: str | None = None) -> str:
        """Return the display name of a seat's player: its strategy if recorded, else its name."""
        if seat is not None and seat in self.seats:
            return _to_display_name(self.seats[seat])
        return opponent or self.opponent or self.player_name(seat)


def _to_display_name(name: str) -> str:
    """Return a player's name for people; the log calls a person at the table "you"."""
    return capitalise(name) if name == YOU else name


Count = Annotated[int, BeforeValidator(lambda count: 0 if count is None else count)]


class Outcome(StoredModel):
    """Outcome of a finished match; `result` is ours, and `names` are the players' by seat.

    It is empty for a match that the arena had already deleted. `names` are left out if the
    match's header has the players.
    """

    scores: tuple[int, ...] | None = None
    winner: int | None = None
    result: str = UNKNOWN
    terminated: bool = False
    turns: Count = 0
    moves: Count = 0
    timeouts: Count = 0
    names: tuple[str, ...] = ()


class StoredOption(StoredModel):
    """Action that a strategy considered, and its estimated value."""

    action: str
    value: float | None = None
    note: str = ""
    unit: str = ""


class StoredDecision(StoredModel):
    """A decision of our strategy: the action, its reason, the options, the position.

    `fault` says why a fallback action replaced the strategy's choice. `trace` has the lines of
    the strategy that led to an error, and `printed` is the strategy's output.
    """

    seat: int | None = None
    turn: int | None = None
    action: str = "no decision"
    reason: str = ""
    options: tuple[StoredOption, ...] = ()
    strategy: str = ""
    fault: str | None = None
    trace: str = ""
    printed: str = ""
    decided_at: datetime | None = None
    decision_ms: float | None = None
    worker: str = ""
    position: Mapping[str, object] | None = None

    @property
    def reason_without_action(self) -> str:
        """The reason without the action, which some strategies put first.

        Logs of earlier releases call the end of a turn "Stop".
        """
        reason = self.reason
        for prefix in (f"{self.action}: ", "Stop: "):
            if reason.casefold().startswith(prefix.casefold()):
                return capitalise(reason[len(prefix) :])
        return reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStep:
    """One move of a match in words, and the public state after it as a JSON object.

    `sequence` is the move's in the match log. `turn` counts from 1 and is the argument of `why`
    (in Blef a round). `seat` is the player who moved, None for nobody or if it is not recorded.
    `decision` is set if the decision was ours, and `played_at` if the time of the move is
    recorded.
    """

    sequence: int
    turn: int
    seat: int | None
    description: str
    public_state: Mapping[str, object]
    decision: StoredDecision | None = None
    played_at: datetime | None = None

    def description_without(self, player_name: str) -> str:
        """Return the description without the name of the player, which some games put first."""
        return strip_player_name(self.description, player_name)


def strip_player_name(text: str, player_name: str) -> str:
    """Return a description without the name of the player at its beginning."""
    name = player_name.casefold()
    for prefix in (f"{name}: ", f"{name} ") if name else ():
        if text.casefold().startswith(prefix):
            return text[len(prefix) :]
    return text


class RestoredState(NamedTuple):
    """A stored match in the game's simulation: its `state` before the move `sequence`.

    `action` is the action taken in that state, None if no player decided.
    """

    sequence: int
    state: Any
    action: Any


class DecisionPoint(NamedTuple):
    """A stored decision that can be made again: `step.decision` on the game's `position`.

    `option_names` maps the legal actions to their texts in the log, in a fixed order.
    """

    step: ReplayStep
    position: Any
    option_names: Mapping[Any, str]


def parse_record(model: type[M], body: Body, source: str = "The match log") -> M:
    """Return a log's body as a record of this model.

    Raises `StoreError` with the first fault; `source` begins its sentence.
    """
    try:
        return model.model_validate(dict(body))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field_path = ".".join(str(key) for key in fault["loc"])
        name = model.__name__.lower()
        raise StoreError(
            f"{source} has {name} that cannot be read: {field_path}: {fault['msg']}."
        ) from None


def header_of(record: MatchRecord) -> Header:
    """Return the header of a match."""
    return parse_record(Header, record.header, f"Match {record.match_id}")


def outcome_of(record: MatchRecord) -> Outcome | None:
    """Return the outcome of a match, None while it is not finished."""
    holder = f"Match {record.match_id}"
    return None if record.outcome is None else parse_record(Outcome, record.outcome, holder)


def read_error_of(record: MatchRecord) -> str | None:
    """Return why a match cannot be read, None if it can."""
    try:
        header_of(record)
        outcome_of(record)
    except StoreError as error:
        return str(error)
    if record.read_error is None:
        return None
    return f"Match {record.match_id} cannot be read: {record.read_error}."


def step_json(step: ReplayStep) -> dict[str, object]:
    """Return a step as a JSON object."""
    decision = (
        None if step.decision is None else step.decision.model_dump(mode="json", by_alias=True)
    )
    return {
        "sequence": step.sequence,
        "turn": step.turn,
        "seat": step.seat,
        "happened": step.description,
        "state": dict(step.public_state),
        "decision": decision,
    }
