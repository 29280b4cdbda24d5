"""The sixteen operations of the protocol (SPEC.md section 3) as a table.

Half of them only echo and need no store: nobody asks about sessions and games, and the begin and
end of a trick say nothing that its plays do not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from cardsharp.euchre import wire
from cardsharp.euchre.service import EuchreService

Q = TypeVar("Q", bound=wire.Message)
Act = Callable[[EuchreService, wire.Message], wire.Message]


@dataclass(frozen=True, slots=True)
class Operation:
    """A method and path: what it takes, what it answers, and what it does in between."""

    method: str
    path: str
    summary: str
    request: type[wire.Message]
    answer: type[wire.Message]
    act: Act

    @property
    def name(self) -> str:
        """The operation's id in the published document, e.g. getBid."""
        return self.method.lower() + self.path[1:].capitalize()


def _operation(
    route: str,
    summary: str,
    request: type[Q],
    answer: type[wire.Message],
    act: Callable[[EuchreService, Q], wire.Message],
) -> Operation:
    method, path = route.split()
    return Operation(method, path, summary, request, answer, cast("Act", act))


def _address(kind: type[wire.Message], message: wire.Message) -> dict[str, Any]:
    """The fields that say which deal, trick or bid a message is about: all of them come back."""
    return {name: getattr(message, name) for name in kind.model_fields}


# --- begin and end -----------------------------------------------------------------------------


def _begin_session(_: EuchreService, told: wire.NewSession) -> wire.SessionActive:
    return wire.SessionActive(**_address(wire.InSession, told))


def _begin_game(_: EuchreService, told: wire.NewGame) -> wire.GameActive:
    return wire.GameActive(**_address(wire.InGame, told))


def _begin_deal(service: EuchreService, told: wire.NewDeal) -> wire.DealActive:
    service.begin_deal(told)
    return wire.DealActive(**_address(wire.InDeal, told))


def _begin_trick(_: EuchreService, told: wire.NewTrick) -> wire.TrickActive:
    return wire.TrickActive(**_address(wire.InTrick, told))


def _echo(_: EuchreService, told: Q) -> Q:
    return told


# --- asked -------------------------------------------------------------------------------------


def _ask_bid(service: EuchreService, asked: wire.BidAsked) -> wire.BidAnswer:
    bid = service.bid(asked)
    return wire.BidAnswer(**_address(wire.OfBid, asked), suit=bid.suit, alone=bid.alone)


def _ask_swap(service: EuchreService, asked: wire.SwapAsked) -> wire.SwapAnswer:
    return wire.SwapAnswer(**_address(wire.OfSwap, asked), card=service.swap(asked).card)


def _ask_defense(service: EuchreService, asked: wire.DefenseAsked) -> wire.DefenseAnswer:
    return wire.DefenseAnswer(**_address(wire.OfDefense, asked), alone=service.defend(asked).alone)


def _ask_play(service: EuchreService, asked: wire.PlayAsked) -> wire.PlayAnswer:
    return wire.PlayAnswer(**_address(wire.OfPlay, asked), card=service.play(asked).card)


# --- told --------------------------------------------------------------------------------------


def _note_bid(service: EuchreService, told: wire.BidMade) -> wire.BidNoted:
    service.note_bid(told)
    return wire.BidNoted(**_address(wire.OfBid, told))


def _note_swap(_: EuchreService, told: wire.SwapMade) -> wire.SwapNoted:
    return wire.SwapNoted(**_address(wire.OfSwap, told))


def _note_defense(service: EuchreService, told: wire.DefenseMade) -> wire.DefenseNoted:
    service.note_defense(told)
    return wire.DefenseNoted(**_address(wire.OfDefense, told))


def _note_play(service: EuchreService, told: wire.PlayMade) -> wire.PlayNoted:
    service.note_play(told)
    return wire.PlayNoted(**_address(wire.OfPlay, told))


OPERATIONS = (
    _operation(
        "POST /session", "Begin a session", wire.NewSession, wire.SessionActive, _begin_session
    ),
    _operation("PATCH /session", "End a session", wire.SessionStatus, wire.SessionStatus, _echo),
    _operation("POST /game", "Begin a game", wire.NewGame, wire.GameActive, _begin_game),
    _operation("PATCH /game", "End a game", wire.GameStatus, wire.GameStatus, _echo),
    _operation("POST /deal", "Begin a deal", wire.NewDeal, wire.DealActive, _begin_deal),
    _operation("PATCH /deal", "End a deal", wire.DealStatus, wire.DealStatus, _echo),
    _operation("GET /bid", "Ask for a bid", wire.BidAsked, wire.BidAnswer, _ask_bid),
    _operation("POST /bid", "Tell of a bid", wire.BidMade, wire.BidNoted, _note_bid),
    _operation("GET /swap", "Ask for the discard", wire.SwapAsked, wire.SwapAnswer, _ask_swap),
    _operation("POST /swap", "Tell of a discard", wire.SwapMade, wire.SwapNoted, _note_swap),
    _operation(
        "GET /defense",
        "Ask whether to defend alone",
        wire.DefenseAsked,
        wire.DefenseAnswer,
        _ask_defense,
    ),
    _operation(
        "POST /defense",
        "Tell whether somebody defends alone",
        wire.DefenseMade,
        wire.DefenseNoted,
        _note_defense,
    ),
    _operation("POST /trick", "Begin a trick", wire.NewTrick, wire.TrickActive, _begin_trick),
    _operation("PATCH /trick", "End a trick", wire.TrickStatus, wire.TrickStatus, _echo),
    _operation("GET /play", "Ask for a card", wire.PlayAsked, wire.PlayAnswer, _ask_play),
    _operation("POST /play", "Tell of a card", wire.PlayMade, wire.PlayNoted, _note_play),
)
