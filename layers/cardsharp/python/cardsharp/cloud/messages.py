"""What reaches a function: a match and its game on the queue, or what an operator orders."""

from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from cardsharp.errors import Malformed


class _Sent(BaseModel):
    """What comes from elsewhere: nothing but what is asked for, and quoted in no error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class MatchMessage(_Sent):
    """A match that may need a worker. Repeats are harmless: all state is at the arena."""

    match_id: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z]{1,64}$")]
    game: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,32}$")] | None = None
    """The game's name; None where nobody has written down yet which it is, only an arena named it.
    """

    @property
    def body(self) -> str:
        """The message as it travels."""
        return self.model_dump_json(exclude_none=True)


class LookMessage(_Sent):
    """A look that is due at the arena, between two starts of the poller.

    `look` is the generation of the poller that sent it. Where no later one has begun meanwhile,
    `left` further looks follow it, each sent by the one before.
    """

    look: Annotated[int, Field(ge=0)]
    left: Annotated[int, Field(ge=0, le=100)] = 0

    @property
    def body(self) -> str:
        """The message as it travels."""
        return self.model_dump_json(exclude_defaults=True)


def parse_look(body: str) -> LookMessage | None:
    """The look that a queue record's body asks for; None where it is another message."""
    try:
        return LookMessage.model_validate_json(body)
    except ValidationError:
        return None


def parse_message(body: str) -> MatchMessage:
    """The message of a queue record's body; raises `Malformed`, when repeating it cannot help."""
    try:
        return MatchMessage.model_validate_json(body)
    except ValidationError as error:
        raise Malformed(f"Not a match message: {_said(error.errors()[0], 'body')}.") from None


class OrderBody(_Sent):
    """What an operator asks a game for; each game says what can be asked."""

    refusal: ClassVar[str]  # the sentence before the faults of an order that cannot be used

    @classmethod
    def parse(cls, event: object) -> Self:
        """The order in a function's event; raises `Malformed` with one sentence a fault."""
        try:
            return cls.model_validate(event)
        except ValidationError as error:
            faults = "; ".join(_said(fault, "event") for fault in error.errors())
            raise Malformed(f"{cls.refusal} {faults}.") from None


def _said(fault: ErrorDetails, whole: str) -> str:
    """A fault, and where in the whole it is, without pydantic's words before a sentence of ours."""
    where = ".".join(map(str, fault["loc"])) or whole
    return f"{where}: {fault['msg'].removeprefix('Value error, ').removesuffix('.')}"


def records_of(event: object) -> list[dict[str, Any]]:
    """The records of a queue's event; raises `Malformed` if something else called the function."""
    records = event.get("Records") if isinstance(event, dict) else None
    if isinstance(records, list) and all(map(_is_record, records)):
        return records
    raise Malformed("This function expects an SQS event: an object with a list 'Records'.")


def _is_record(record: object) -> bool:
    return isinstance(record, dict) and all(
        isinstance(record.get(name), str) for name in ("messageId", "body")
    )
