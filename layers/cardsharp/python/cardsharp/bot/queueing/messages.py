"""Messages that workers receive from the queue, each naming a match that may need a worker."""

import re
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from cardsharp.errors import InvalidInput


class StrictMessage(BaseModel):
    """Base of messages from outside: unknown fields are rejected, and errors quote no input."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class MatchMessage(StrictMessage):
    """A match that may need a worker. Repeats are harmless: all state is at the arena."""

    match_id: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z]{1,64}$")]
    game: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,32}$")] | None = None
    """The game's name; None if only an arena has listed the match and no worker has read it yet."""

    @property
    def to_json(self) -> str:
        """The message as JSON for the queue."""
        return self.model_dump_json(exclude_none=True)


_RETIRED_POLL = re.compile(r'\{"look":\d+(,"left":\d+)?\}')


def is_retired_poll(body: str) -> bool:
    """Return True for the order of a single poll, as version 0.3 queued it up to 0.4.

    After an upgrade a few are still on the queue. They are dropped, because the poller itself
    asks the arena.
    """
    return _RETIRED_POLL.fullmatch(body) is not None


def parse_match_message(body: str) -> MatchMessage:
    """Return the message in a queue record's body.

    Raises `InvalidInput` if it is none, so that a retry cannot help.
    """
    try:
        return MatchMessage.model_validate_json(body)
    except ValidationError as error:
        raise InvalidInput(
            f"Not a match message: {describe_validation_error(error.errors()[0], 'body')}."
        ) from None


def describe_validation_error(fault: ErrorDetails, root_name: str) -> str:
    """Return the text of a validation error with its location; `root_name` if it has none.

    pydantic's prefix is removed from messages that our validators raised.
    """
    location = ".".join(map(str, fault["loc"])) or root_name
    return f"{location}: {fault['msg'].removeprefix('Value error, ').removesuffix('.')}"


def records_in_queue_event(event: object) -> list[dict[str, Any]]:
    """Return the records in a queue's event; raise `InvalidInput` if it is another event."""
    records = event.get("Records") if isinstance(event, dict) else None
    if isinstance(records, list) and all(map(_is_queue_record, records)):
        return records
    raise InvalidInput("This function expects an SQS event: an object with a list 'Records'.")


def _is_queue_record(record: object) -> bool:
    return isinstance(record, dict) and all(
        isinstance(record.get(name), str) for name in ("messageId", "body")
    )
