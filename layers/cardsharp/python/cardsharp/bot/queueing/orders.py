"""Orders of an operator to a game."""

from typing import ClassVar, Self

from pydantic import ValidationError

from cardsharp.bot.queueing.messages import StrictMessage, describe_validation_error
from cardsharp.errors import InvalidInput


class OperatorOrder(StrictMessage):
    """Order of an operator to a game; each game defines the fields of its orders."""

    refusal: ClassVar[str]  # the sentence before the faults of an order that cannot be used

    @classmethod
    def parse(cls, event: object) -> Self:
        """Return the order in a function's event; raise `InvalidInput` with all faults."""
        try:
            return cls.model_validate(event)
        except ValidationError as error:
            faults = "; ".join(
                describe_validation_error(fault, "event") for fault in error.errors()
            )
            raise InvalidInput(f"{cls.refusal} {faults}.") from None
