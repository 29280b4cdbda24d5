"""JSON protocol of programs that play Euchre: a deal from one seat's view, in protocol terms."""

from operator import attrgetter
from typing import Annotated

from pydantic import AliasPath, BaseModel, BeforeValidator, Field, JsonValue
from pydantic.alias_generators import to_camel

from cardsharp.games.euchre.actions import Action, Bid, Defend, Discard, Play
from cardsharp.games.euchre.strategies import EuchreDecision, EuchreOption
from cardsharp_tools.executors.external_program import ProtocolCodec, position_encoder

PASS_BID = -1  # the suit of a pass


class BidView(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """Bid. Suits are 0 to 3 for clubs, diamonds, hearts and spades; -1 is a pass."""

    suit: Annotated[int, BeforeValidator(lambda suit: PASS_BID if suit is None else suit)]
    alone: bool = Field(validation_alias="goes_alone")


class PlayedCardView(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """Played card and its player."""

    pos: int = Field(validation_alias="seat")
    card: int


class DealView(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """Deal as a player sees it when asked to `bid`, `discard`, `defend` or `play`.

    Positions count from the dealer's left; 3 is the dealer. A card is 4 x rank + suit, with ranks 0
    to 5 for 9, 10, J, Q, K, A. `bids` are in turn from position 0. `tricks` are in order, and the
    last one is the current trick. `discard` is your own as the dealer; `callerPos` is the seat that
    named trumps.
    """

    pos: int = Field(validation_alias="seat")
    question: str = Field(validation_alias="decision_type")
    hand: tuple[int, ...]
    turn_card: int = Field(validation_alias=AliasPath("public_state", "turn_card"))
    bids: tuple[BidView, ...] = Field(validation_alias=AliasPath("public_state", "bids"))
    trump_suit: int | None = Field(validation_alias=AliasPath("public_state", "trump"))
    caller_pos: int | None = Field(
        None, validation_alias=AliasPath("public_state", "trump_call", "caller_seat")
    )
    alone: bool = Field(
        default=False, validation_alias=AliasPath("public_state", "trump_call", "goes_alone")
    )
    tricks: tuple[tuple[PlayedCardView, ...], ...] = Field(
        validation_alias=AliasPath("public_state", "tricks")
    )
    discard: int | None


def _encode_action(action: Action) -> JsonValue:
    match action:
        case Bid():
            return BidView.model_validate(action, from_attributes=True).model_dump()
        case Discard(card) | Play(card):
            return {"card": card}
        case Defend(alone):
            return {"alone": alone}


CODEC = ProtocolCodec(
    position_encoder(DealView),
    attrgetter("legal_actions"),
    _encode_action,
    EuchreDecision,
    EuchreOption,
)
