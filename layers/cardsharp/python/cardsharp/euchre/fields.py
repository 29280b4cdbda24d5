"""The values of the protocol, each with its range and what it means.

What only has to be sent back is taken in any range: every refusal ends the client's tournament.
"""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

_LARGE = 2**31


def _whole(value: object) -> object:
    """A whole number that is written with a point, such as 4.0, as the JSON integer that it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_WHOLE = BeforeValidator(_whole)
"""Stands behind the range, which pydantic else leaves out of the schema."""

Token = Annotated[
    str,
    Field(min_length=1, max_length=400, description="Session identifier: any text."),
]
Number = Annotated[int, Field(ge=0, lt=_LARGE), _WHOLE]
Echoed = Annotated[int, Field(ge=-_LARGE, lt=_LARGE), _WHOLE]
"""A number that is only sent back."""

GameNum = Annotated[Number, Field(description="Game number within the session.")]
DealNum = Annotated[Number, Field(description="Deal number; it may start again at 0.")]
TrickNum = Annotated[int, Field(ge=0, le=4, description="Trick number within the deal."), _WHOLE]
TrickSeq = Annotated[
    int,
    Field(ge=0, le=3, description="Place in the trick; chairs that sit out are counted."),
    _WHOLE,
]
Round = Annotated[Echoed, Field(description="Bidding round; only echoed, bids count themselves.")]
Pos = Annotated[
    int, Field(ge=0, le=3, description="Position; 0 left of the dealer, 3 the dealer."), _WHOLE
]
BidPos = Annotated[
    int,
    Field(ge=0, le=7, description="Position of the bidder, or number of the bid from 0 to 7."),
    _WHOLE,
]
TurnCard = Annotated[
    int, Field(ge=-1, le=23, description="The turn card; -1 where it is not repeated."), _WHOLE
]
CardIndex = Annotated[int, Field(ge=0, le=23, description="A card: 4 x rank + suit."), _WHOLE]
TrumpSuit = Annotated[
    int, Field(ge=0, le=3, description="0 clubs, 1 diamonds, 2 hearts, 3 spades."), _WHOLE
]
BidSuit = Annotated[
    int, Field(ge=-1, le=4, description="The suit that is called; -1 (or 4) is a pass."), _WHOLE
]


def _real_cards(cards: tuple[int, ...]) -> tuple[int, ...]:
    """The cards without filling, each once; raises ValueError if none is left."""
    real = tuple(sorted({card for card in cards if card >= 0}))
    if not real:
        raise ValueError("there must be at least one card to choose from")
    return real


OfferedCard = Annotated[int, Field(ge=-1, le=23), _WHOLE]
Offered = Annotated[
    tuple[OfferedCard, ...],
    Field(
        min_length=1,
        max_length=24,
        description="The legal cards, repeated (a=1&a=2) or joined by commas (a=1,2); "
        "-1 only fills up.",
        json_schema_extra={"contains": {"type": "integer", "minimum": 0}},
    ),
    AfterValidator(_real_cards),
]
Dealt = Annotated[
    tuple[CardIndex, ...],
    Field(
        min_length=24,
        max_length=24,
        description="All 24 cards: five for each of the positions 0 to 3, the turn card, the "
        "three that are buried.",
        json_schema_extra={"uniqueItems": True},
    ),
]
_YES_OR_NO = BeforeValidator(lambda value: False if value is None else value)


def _yes(who: str) -> WithJsonSchema:
    whether = f"Whether the {who} plays alone; null is no."
    return WithJsonSchema(
        {"anyOf": [{"type": "boolean"}, {"type": "null"}], "description": whether}
    )


Alone = Annotated[bool, _YES_OR_NO, _yes("caller")]
DefendAlone = Annotated[bool, _YES_OR_NO, _yes("defender")]
Status = Annotated[str, Field(max_length=64, description="Only echoed, or ignored.")]
Info = Annotated[object, Field(description="Anything, for people; ignored.")]
