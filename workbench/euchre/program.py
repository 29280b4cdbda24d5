"""What a program is told of Euchre: a deal as one seat sees it, in the words of the protocol."""

from operator import attrgetter
from typing import Annotated

from pydantic import AliasPath, BaseModel, BeforeValidator, Field, JsonValue
from pydantic.alias_generators import to_camel

from cardsharp.euchre.actions import Action, Bid, Defend, Discard, Play
from cardsharp.euchre.strategies import Decision, Option
from workbench.program import Translation, told_by

PASS = -1  # the suit of a pass


class BidShown(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """A bid; suits are 0 to 3 for clubs, diamonds, hearts, spades, and -1 is a pass."""

    suit: Annotated[int, BeforeValidator(lambda suit: PASS if suit is None else suit)]
    alone: bool


class PlayShown(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """A card and who played it."""

    pos: int = Field(validation_alias="seat")
    card: int


class Shown(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """A question to a seat: `bid`, `discard`, `defend` or `play`.

    Positions count from the dealer's left, 3 is the dealer. A card is 4 x rank + suit, ranks 0 to 5
    for 9, 10, J, Q, K, A. `bids` are in turn from position 0, `tricks` in order, the last of them
    the one that is being played. `discard` is your own as the dealer, `callerPos` who named trumps.
    """

    pos: int = Field(validation_alias="seat")
    question: str
    hand: tuple[int, ...]
    turn_card: int = Field(validation_alias=AliasPath("table", "turn_card"))
    bids: tuple[BidShown, ...] = Field(validation_alias=AliasPath("table", "bids"))
    trump_suit: int | None = Field(validation_alias=AliasPath("table", "trump"))
    caller_pos: int | None = Field(None, validation_alias=AliasPath("table", "call", "seat"))
    alone: bool = Field(default=False, validation_alias=AliasPath("table", "call", "alone"))
    tricks: tuple[tuple[PlayShown, ...], ...] = Field(validation_alias=AliasPath("table", "tricks"))
    discard: int | None


def _action(action: Action) -> JsonValue:
    match action:
        case Bid():
            return BidShown.model_validate(action, from_attributes=True).model_dump()
        case Discard(card) | Play(card):
            return {"card": card}
        case Defend(alone):
            return {"alone": alone}


TRANSLATION = Translation(told_by(Shown), attrgetter("choices"), _action, Decision, Option)
