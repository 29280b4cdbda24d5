"""Wire format of the Euchre protocol (docs/spec/euchre.md section 3), parsed only here.

Bodies are read strictly, as an echo must come back with the same JSON type. Query strings have
no types. Unknown fields are ignored. Fields that are only echoed may have any value of their
type, because every error response ends the client's tournament.
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

from cardsharp.games.euchre.cards import DECK, SUITS

NEW, ACTIVE = "new", "active"

# --- values ------------------------------------------------------------------------------------

_NUMBER_LIMIT = 2**31


def _to_integer(value: object) -> object:
    """Convert a float without a fraction, such as 4.0, to an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_AS_INTEGER = BeforeValidator(_to_integer)  # behind the range, which the schema else leaves out
Token = Annotated[
    str, Field(min_length=1, max_length=400, description="Session identifier: any text.")
]
Number = Annotated[int, Field(ge=0, lt=_NUMBER_LIMIT), _AS_INTEGER]
EchoedInt = Annotated[
    int, Field(ge=-_NUMBER_LIMIT, lt=_NUMBER_LIMIT), _AS_INTEGER
]  # a number that is only sent back
GameNum = Annotated[Number, Field(description="Game number within the session.")]
DealNum = Annotated[Number, Field(description="Deal number; it may start again at 0.")]
TrickNum = Annotated[
    int, Field(ge=0, le=4, description="Trick number within the deal."), _AS_INTEGER
]
TrickSeq = Annotated[
    int,
    Field(ge=0, le=3, description="Place in the trick; chairs that sit out are counted."),
    _AS_INTEGER,
]
Round = Annotated[
    EchoedInt, Field(description="Bidding round; only echoed, bids count themselves.")
]
Pos = Annotated[
    int, Field(ge=0, le=3, description="Position; 0 left of the dealer, 3 the dealer."), _AS_INTEGER
]
BidPos = Annotated[
    int,
    Field(ge=0, le=7, description="Position of the bidder, or number of the bid from 0 to 7."),
    _AS_INTEGER,
]
TurnCard = Annotated[
    int, Field(ge=-1, le=23, description="The turn card; -1 where it is not repeated."), _AS_INTEGER
]
CardIndex = Annotated[int, Field(ge=0, le=23, description="A card: 4 x rank + suit."), _AS_INTEGER]
TrumpSuit = Annotated[
    int, Field(ge=0, le=3, description="0 clubs, 1 diamonds, 2 hearts, 3 spades."), _AS_INTEGER
]
BidSuit = Annotated[
    int,
    Field(ge=-1, le=4, description="The suit that is called; -1 (or 4) is a pass."),
    _AS_INTEGER,
]


def _remove_filler_cards(cards: tuple[int, ...]) -> tuple[int, ...]:
    """Return the cards without fillers, each once; raise `ValueError` if there is none."""
    real = tuple(sorted({card for card in cards if card >= 0}))
    if not real:
        raise ValueError("there must be at least one card to choose from")
    return real


OfferedCard = Annotated[int, Field(ge=-1, le=23), _AS_INTEGER]
Offered = Annotated[
    tuple[OfferedCard, ...],
    Field(
        min_length=1,
        max_length=24,
        description="The legal cards, repeated (a=1&a=2) or joined by commas (a=1,2); "
        "-1 only fills up.",
        json_schema_extra={"contains": {"type": "integer", "minimum": 0}},
    ),
    AfterValidator(_remove_filler_cards),
]
DealtCards = Annotated[
    tuple[CardIndex, ...],
    Field(
        min_length=24,
        max_length=24,
        description="All 24 cards: five for each of the positions 0 to 3, the turn card, the "
        "three that are buried.",
        json_schema_extra={"uniqueItems": True},
    ),
]
_NULL_AS_FALSE = BeforeValidator(lambda value: False if value is None else value)


def _build_alone_schema(role: str) -> WithJsonSchema:
    whether = f"Whether the {role} plays alone; null is no."
    return WithJsonSchema(
        {"anyOf": [{"type": "boolean"}, {"type": "null"}], "description": whether}
    )


Alone = Annotated[bool, _NULL_AS_FALSE, _build_alone_schema("caller")]
DefendAlone = Annotated[bool, _NULL_AS_FALSE, _build_alone_schema("defender")]
Status = Annotated[str, Field(max_length=64, description="Only echoed, or ignored.")]
Info = Annotated[object, Field(description="Anything, for people; ignored.")]


# --- what a message is about -------------------------------------------------------------------


class ProtocolMessage(BaseModel):
    """Base class of the requests and answers of the Euchre protocol."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        frozen=True,
        hide_input_in_errors=True,
        json_schema_serialization_defaults_required=True,
    )


class SessionMessage(ProtocolMessage):
    """Base class of the messages of a session, which all carry its token."""

    token: Token


class GameMessage(SessionMessage):
    """Message of a game."""

    game_num: GameNum


class DealMessage(GameMessage):
    """Message of a deal."""

    deal_num: DealNum


class TrickMessage(DealMessage):
    """Message of a trick."""

    trick_num: TrickNum


class BidMessage(DealMessage):
    """Bid: its seat, and its place in the bidding."""

    round: Round
    turn_card: TurnCard
    pos: BidPos


class SwapMessage(DealMessage):
    """The dealer's discard."""

    declarer_pos: Pos
    turn_card: TurnCard
    pos: Pos


class DefenseMessage(DealMessage):
    """A defender's answer to a lone caller."""

    declarer_pos: Pos
    trump_suit: TrumpSuit
    pos: Pos


class PlayMessage(TrickMessage):
    """Card played: its seat, and its place in the trick."""

    trick_seq: TrickSeq
    pos: Pos


def _create_echo_model(
    name: str,
    base: type[ProtocolMessage],
    description: str,
    **extra_fields: Any,  # noqa: ANN401 - as pydantic has it
) -> type[ProtocolMessage]:
    """Create a model of a message that is only echoed: the fields of its base, and extra ones."""
    return create_model(
        name, __base__=base, __doc__=description, __module__=__name__, **extra_fields
    )


# --- beginnings and ends -----------------------------------------------------------------------


NewSession = _create_echo_model(
    "NewSession",
    SessionMessage,
    "A session begins; a token that was used before begins a fresh one.",
    status=(Status, NEW),
)
NewGame = _create_echo_model("NewGame", GameMessage, "A game begins.", status=(Status, NEW))


class NewDeal(DealMessage):
    """A deal begins; whatever was stored under its number is forgotten."""

    cards: DealtCards
    status: Status = NEW

    @model_validator(mode="after")
    def _check_cards(self) -> Self:
        if sorted(self.cards) != list(DECK):
            raise ValueError("cards must hold each of the 24 cards exactly once")
        return self


NewTrick = _create_echo_model(
    "NewTrick",
    TrickMessage,
    "A trick begins.",
    lead_pos=(Annotated[EchoedInt | None, Field(description="Who leads.")], None),
    status=(Status, NEW),
)
SessionActive = _create_echo_model(
    "SessionActive",
    SessionMessage,
    "The session has begun; cards and suits keep the client's own numbers.",
    status=(str, ACTIVE),
    cards=(tuple[int, ...], DECK),
    suits=(tuple[int, ...], SUITS),
)


_CONTEST_LEVELS = (
    ("Session", SessionMessage),
    ("Game", GameMessage),
    ("Deal", DealMessage),
    ("Trick", TrickMessage),
)
GameActive, DealActive, TrickActive = (
    _create_echo_model(
        f"{part}Active", base, f"The {part.lower()} has begun.", status=(str, ACTIVE)
    )
    for part, base in _CONTEST_LEVELS[1:]
)
_STATUS_FIELDS: Any = {"status": (Status, ...), "info": (Info, None)}
SessionStatus, GameStatus, DealStatus, TrickStatus = (
    _create_echo_model(f"{part}Status", base, f"A {part.lower()} ends.", **_STATUS_FIELDS)
    for part, base in _CONTEST_LEVELS
)


# --- questions ---------------------------------------------------------------------------------


class BidRequest(BidMessage):
    """Request for the position's bid."""


class SwapRequest(SwapMessage):
    """Request for the dealer's discard."""

    swappable_cards: Offered


class DefenseRequest(DefenseMessage):
    """Request whether the position defends alone."""


class PlayRequest(PlayMessage):
    """Request for the position's card."""

    playable_cards: Offered


_SUIT_ALONE: dict[str, Any] = {"suit": int, "alone": bool}
_CARD: dict[str, Any] = {"card": int}
_ALONE: dict[str, Any] = {"alone": bool}
_DECISION_MODELS = (
    ("Bid", BidMessage, "bid", _SUIT_ALONE, "The bid; `suit` -1 is a pass."),
    ("Swap", SwapMessage, "discard", _CARD, "The card that is laid aside, one of those offered."),
    ("Defense", DefenseMessage, "answer", _ALONE, "Whether the position defends alone."),
    ("Play", PlayMessage, "card", _CARD, "The card played, one of those offered."),
)
"""Questions with their messages, the fields of their answers, and descriptions."""

BidAnswer, SwapAnswer, DefenseAnswer, PlayAnswer = (
    _create_echo_model(
        f"{part}Answer", base, about, **{name: (kind, ...) for name, kind in fields.items()}
    )
    for part, base, _, fields, about in _DECISION_MODELS
)


# --- what others did ---------------------------------------------------------------------------


class BidNotification(BidMessage):
    """A bid of another player."""

    suit: BidSuit
    alone: Alone = False


SwapNotification = _create_echo_model(
    "SwapMade",
    SwapMessage,
    "Another player's discard, which no fair player looks at; it is not even stored.",
    card=(Annotated[EchoedInt | None, Field(description="Ignored.")], None),
)


class DefenseDecisionNotification(DefenseMessage):
    """Notification whether another player defends alone."""

    alone: DefendAlone


class PlayNotification(PlayMessage):
    """A card of another player."""

    card: CardIndex


BidNoted, SwapNoted, DefenseNoted, PlayNoted = (
    _create_echo_model(
        f"{part}Noted",
        base,
        f"The {decision} is known; we suggest no other.",
        **{name: (kind | None, None) for name, kind in fields.items()},
    )
    for part, base, decision, fields, _ in _DECISION_MODELS
)


class ErrorMessage(ProtocolMessage):
    """Reason why a request was not answered."""

    error: str
    message: str
