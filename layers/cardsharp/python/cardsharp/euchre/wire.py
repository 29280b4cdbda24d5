"""The messages of the protocol (docs/spec/euchre.md section 3), each parsed once, here.

Bodies are read strictly: an echo must come back with the JSON type that it came with. Query
strings have no types. Fields that we do not know are ignored.
"""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic.alias_generators import to_camel

from cardsharp.euchre import fields
from cardsharp.euchre.cards import DECK, SUITS

NEW, ACTIVE, COMPLETE = "new", "active", "complete"


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

    token: fields.Token


class InGame(InSession):
    """Says which game it belongs to."""

    game_num: fields.GameNum


class InDeal(InGame):
    """Says which deal it belongs to."""

    deal_num: fields.DealNum


class InTrick(InDeal):
    """Says which trick it belongs to."""

    trick_num: fields.TrickNum


class OfBid(InDeal):
    """Whose bid, and where in the bidding."""

    round: fields.Round
    turn_card: fields.TurnCard
    pos: fields.BidPos


class OfSwap(InDeal):
    """The dealer's discard."""

    declarer_pos: fields.Pos
    turn_card: fields.TurnCard
    pos: fields.Pos


class OfDefense(InDeal):
    """A defender's answer to a lone caller."""

    declarer_pos: fields.Pos
    trump_suit: fields.TrumpSuit
    pos: fields.Pos


class OfPlay(InTrick):
    """Whose card, and where in the trick."""

    trick_seq: fields.TrickSeq
    pos: fields.Pos


def _echo(name: str, base: type[Message], about: str, **more: Any) -> type[Message]:  # noqa: ANN401
    """A message that nobody here looks into: the fields of its base, and these."""
    return create_model(name, __base__=base, __doc__=about, __module__=__name__, **more)


# --- beginnings and ends -----------------------------------------------------------------------


NewSession = _echo(
    "NewSession",
    InSession,
    "A session begins; a token that was used before begins a fresh one.",
    status=(fields.Status, NEW),
)
NewGame = _echo("NewGame", InGame, "A game begins.", status=(fields.Status, NEW))


class NewDeal(InDeal):
    """A deal begins; whatever was stored under its number is forgotten."""

    cards: fields.Dealt
    status: fields.Status = NEW

    @model_validator(mode="after")
    def _check_cards(self) -> Self:
        if sorted(self.cards) != list(DECK):
            raise ValueError("cards must hold each of the 24 cards exactly once")
        return self


NewTrick = _echo(
    "NewTrick",
    InTrick,
    "A trick begins.",
    lead_pos=(Annotated[fields.Echoed | None, Field(description="Who leads.")], None),
    status=(fields.Status, NEW),
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
_ENDED: Any = {"status": (fields.Status, ...), "info": (fields.Info, None)}
SessionStatus, GameStatus, DealStatus, TrickStatus = (
    _echo(f"{part}Status", base, f"A {part.lower()} ends.", **_ENDED) for part, base in _PARTS
)


# --- questions ---------------------------------------------------------------------------------


class BidAsked(OfBid):
    """What does the position bid?"""


class SwapAsked(OfSwap):
    """Which card does the dealer lay aside?"""

    swappable_cards: fields.Offered


class DefenseAsked(OfDefense):
    """Does the position defend alone?"""


class PlayAsked(OfPlay):
    """Which card does the position play?"""

    playable_cards: fields.Offered


BidAnswer = _echo(
    "BidAnswer", OfBid, "The bid; `suit` -1 is a pass.", suit=(int, ...), alone=(bool, ...)
)
SwapAnswer = _echo(
    "SwapAnswer", OfSwap, "The card that is laid aside, one of those offered.", card=(int, ...)
)
DefenseAnswer = _echo(
    "DefenseAnswer", OfDefense, "Whether the position defends alone.", alone=(bool, ...)
)
PlayAnswer = _echo("PlayAnswer", OfPlay, "The card played, one of those offered.", card=(int, ...))


# --- what others did ---------------------------------------------------------------------------


class BidMade(OfBid):
    """A bid of another player."""

    suit: fields.BidSuit
    alone: fields.Alone = False


SwapMade = _echo(
    "SwapMade",
    OfSwap,
    "Another player's discard, which no fair player looks at; it is not even stored.",
    card=(Annotated[fields.Echoed | None, Field(description="Ignored.")], None),
)


class DefenseMade(OfDefense):
    """Whether another player defends alone."""

    alone: fields.DefendAlone


class PlayMade(OfPlay):
    """A card of another player."""

    card: fields.CardIndex


BidNoted = _echo(
    "BidNoted",
    OfBid,
    "The bid is known; we suggest no other.",
    suit=(int | None, None),
    alone=(bool | None, None),
)
SwapNoted = _echo(
    "SwapNoted", OfSwap, "The discard is known; we suggest no other.", card=(int | None, None)
)
DefenseNoted = _echo(
    "DefenseNoted",
    OfDefense,
    "The answer is known; we suggest no other.",
    alone=(bool | None, None),
)
PlayNoted = _echo(
    "PlayNoted", OfPlay, "The card is known; we suggest no other.", card=(int | None, None)
)


class Refusal(Message):
    """Why a request was not answered."""

    error: str
    message: str
