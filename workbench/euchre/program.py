"""What a program is told of Euchre: a deal as one seat sees it, in the words of the protocol."""

from pydantic import BaseModel, JsonValue
from pydantic.alias_generators import to_camel

from cardsharp.euchre.actions import Action, Bid, Defend, Discard, Play
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision, Option
from workbench.program import Translation

PASS = -1  # the suit of a pass


class BidShown(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """A bid; suits are 0 to 3 for clubs, diamonds, hearts, spades, and -1 is a pass."""

    suit: int
    alone: bool


class PlayShown(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """A card and who played it."""

    pos: int
    card: int


class Shown(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """A question to a seat: `bid`, `discard`, `defend` or `play`.

    Positions count from the dealer's left, 3 is the dealer. A card is 4 x rank + suit, ranks 0 to 5
    for 9, 10, J, Q, K, A. `bids` are in turn from position 0, `tricks` in order, the last of them
    the one that is being played. `discard` is your own as the dealer, `callerPos` who named trumps.
    """

    pos: int
    question: str
    hand: tuple[int, ...]
    turn_card: int
    bids: tuple[BidShown, ...]
    trump_suit: int | None
    caller_pos: int | None
    alone: bool
    tricks: tuple[tuple[PlayShown, ...], ...]
    discard: int | None


def shown(position: Position) -> Shown:
    """The position as a program reads it."""
    table, call = position.table, position.table.call
    return Shown(
        pos=position.seat,
        question=position.question.value,
        hand=position.hand,
        turn_card=table.turn_card,
        bids=tuple(_bid(bid) for bid in table.bids),
        trump_suit=table.trump,
        caller_pos=None if call is None else call.seat,
        alone=call is not None and call.alone,
        tricks=tuple(
            tuple(PlayShown(pos=seat, card=card) for seat, card in trick) for trick in table.tricks
        ),
        discard=position.discard,
    )


def _bid(bid: Bid) -> BidShown:
    return BidShown(suit=PASS if bid.suit is None else bid.suit, alone=bid.alone)


def _action(action: Action) -> JsonValue:
    match action:
        case Bid():
            return _bid(action).model_dump()
        case Discard(card) | Play(card):
            return {"card": card}
        case Defend(alone):
            return {"alone": alone}


TRANSLATION = Translation(shown, lambda position: position.choices, _action, Decision, Option)
