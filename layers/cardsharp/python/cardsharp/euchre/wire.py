"""The messages of the protocol (docs/spec/euchre.md section 3), each parsed once, here.

Bodies are read strictly: an echo must come back with the JSON type that it came with. Query
strings have no types. Fields that we do not know are ignored. What only has to be sent back is
taken in any range: every refusal ends the client's tournament.
"""

from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic.alias_generators import to_camel

from cardsharp.euchre.cards import DECK, SUITS

NEW, ACTIVE = "new", "active"

# --- values ------------------------------------------------------------------------------------

_LARGE = 2**31


def _whole(value: object) -> object:
    """A whole number that is written with a point, such as 4.0, as the JSON integer that it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_WHOLE = BeforeValidator(_whole)  # behind the range, which the schema else leaves out
Token = Annotated[
    str, Field(min_length=1, max_length=400, description="Session identifier: any text.")
]
Number = Annotated[int, Field(ge=0, lt=_LARGE), _WHOLE]
Echoed = Annotated[int, Field(ge=-_LARGE, lt=_LARGE), _WHOLE]  # a number that is only sent back
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


# --- what a message is about -------------------------------------------------------------------


class Message(BaseModel):
    """A request or an answer."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        frozen=True,
        hide_input_in_errors=True,
        json_schema_serialization_defaults_required=True,
    )


class InSession(Message):
    """Says which session it belongs to."""

    token: Token


class InGame(InSession):
    """Says which game it belongs to."""

    game_num: GameNum


class InDeal(InGame):
    """Says which deal it belongs to."""

    deal_num: DealNum


class InTrick(InDeal):
    """Says which trick it belongs to."""

    trick_num: TrickNum


class OfBid(InDeal):
    """Whose bid, and where in the bidding."""

    round: Round
    turn_card: TurnCard
    pos: BidPos


class OfSwap(InDeal):
    """The dealer's discard."""

    declarer_pos: Pos
    turn_card: TurnCard
    pos: Pos


class OfDefense(InDeal):
    """A defender's answer to a lone caller."""

    declarer_pos: Pos
    trump_suit: TrumpSuit
    pos: Pos


class OfPlay(InTrick):
    """Whose card, and where in the trick."""

    trick_seq: TrickSeq
    pos: Pos


def _echo(name: str, base: type[Message], about: str, **more: Any) -> type[Message]:  # noqa: ANN401
    """A message that nobody here looks into: the fields of its base, and these."""
    return create_model(name, __base__=base, __doc__=about, __module__=__name__, **more)


# --- beginnings and ends -----------------------------------------------------------------------


NewSession = _echo(
    "NewSession",
    InSession,
    "A session begins; a token that was used before begins a fresh one.",
    status=(Status, NEW),
)
NewGame = _echo("NewGame", InGame, "A game begins.", status=(Status, NEW))


class NewDeal(InDeal):
    """A deal begins; whatever was stored under its number is forgotten."""

    cards: Dealt
    status: Status = NEW

    @model_validator(mode="after")
    def _check_cards(self) -> Self:
        if sorted(self.cards) != list(DECK):
            raise ValueError("cards must hold each of the 24 cards exactly once")
        return self


NewTrick = _echo(
    "NewTrick",
    InTrick,
    "A trick begins.",
    lead_pos=(Annotated[Echoed | None, Field(description="Who leads.")], None),
    status=(Status, NEW),
)
SessionActive = _echo(
    "SessionActive",
    InSession,
    "The session has begun; cards and suits keep the client's own numbers.",
    status=(str, ACTIVE),
    cards=(tuple[int, ...], DECK),
    suits=(tuple[int, ...], SUITS),
)


_PARTS = (("Session", InSession), ("Game", InGame), ("Deal", InDeal), ("Trick", InTrick))
GameActive, DealActive, TrickActive = (
    _echo(f"{part}Active", base, f"The {part.lower()} has begun.", status=(str, ACTIVE))
    for part, base in _PARTS[1:]
)
_ENDED: Any = {"status": (Status, ...), "info": (Info, None)}
SessionStatus, GameStatus, DealStatus, TrickStatus = (
    _echo(f"{part}Status", base, f"A {part.lower()} ends.", **_ENDED) for part, base in _PARTS
)


# --- questions ---------------------------------------------------------------------------------


class BidAsked(OfBid):
    """What does the position bid?"""


class SwapAsked(OfSwap):
    """Which card does the dealer lay aside?"""

    swappable_cards: Offered


class DefenseAsked(OfDefense):
    """Does the position defend alone?"""


class PlayAsked(OfPlay):
    """Which card does the position play?"""

    playable_cards: Offered


_SUIT_ALONE: dict[str, Any] = {"suit": int, "alone": bool}
_CARD: dict[str, Any] = {"card": int}
_ALONE: dict[str, Any] = {"alone": bool}
_DECIDED = (
    ("Bid", OfBid, "bid", _SUIT_ALONE, "The bid; `suit` -1 is a pass."),
    ("Swap", OfSwap, "discard", _CARD, "The card that is laid aside, one of those offered."),
    ("Defense", OfDefense, "answer", _ALONE, "Whether the position defends alone."),
    ("Play", OfPlay, "card", _CARD, "The card played, one of those offered."),
)
"""What is decided, in which fields."""

BidAnswer, SwapAnswer, DefenseAnswer, PlayAnswer = (
    _echo(f"{part}Answer", base, about, **{name: (kind, ...) for name, kind in told.items()})
    for part, base, _, told, about in _DECIDED
)


# --- what others did ---------------------------------------------------------------------------


class BidMade(OfBid):
    """A bid of another player."""

    suit: BidSuit
    alone: Alone = False


SwapMade = _echo(
    "SwapMade",
    OfSwap,
    "Another player's discard, which no fair player looks at; it is not even stored.",
    card=(Annotated[Echoed | None, Field(description="Ignored.")], None),
)


class DefenseMade(OfDefense):
    """Whether another player defends alone."""

    alone: DefendAlone


class PlayMade(OfPlay):
    """A card of another player."""

    card: CardIndex


BidNoted, SwapNoted, DefenseNoted, PlayNoted = (
    _echo(
        f"{part}Noted",
        base,
        f"The {what} is known; we suggest no other.",
        **{name: (kind | None, None) for name, kind in told.items()},
    )
    for part, base, what, told, _ in _DECIDED
)


class Refusal(Message):
    """Why a request was not answered."""

    error: str
    message: str
