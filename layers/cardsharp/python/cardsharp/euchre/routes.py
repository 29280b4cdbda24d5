"""The sixteen operations of the protocol (docs/spec/euchre.md section 3) as a table.

Half of them only echo and need no store: nobody asks about sessions and games, and the begin and
end of a trick say nothing that its plays do not.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from pydantic import BaseModel

from cardsharp.euchre import wire
from cardsharp.euchre.service import EuchreService
from cardsharp.web.api import Api
from cardsharp.web.reading import Messages
from cardsharp.web.refusals import NoSuchMethod, NoSuchPath, Refused
from cardsharp.web.route import Answer, Route

Q = TypeVar("Q", bound=wire.Message)

_VERSION = "0.5"
"""Of the API that the tournament framework publishes; this service adds nothing to it."""

_INTRODUCTION = """\
Plays hands of Euchre for a tournament's coordinator, which deals, enforces the rules and keeps \
the score. POST and PATCH tell what happens, GET asks for a decision; the same question is given \
the same answer again. Cards are numbered 4 x rank + suit: ranks 0 to 5 are 9, 10, J, Q, K, A, \
suits 0 to 3 clubs, diamonds, hearts, spades. What is only echoed may have any value of its type, \
and unknown fields are ignored."""


def _route(
    route: str,
    summary: str,
    request: type[Q],
    answer: type[wire.Message],
    act: Callable[[EuchreService, Q], wire.Message],
) -> Route[EuchreService]:
    method, path = route.split()
    return Route(
        methods=(method,),
        path=path,
        name=method.lower() + path[1:].capitalize(),
        summary=summary,
        act=lambda service, call: Answer(act(service, call.asked)),
        request=request,
        answers={HTTPStatus.OK: (answer,)},
        error=wire.Refusal,
    )


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


ROUTES: tuple[Route[EuchreService], ...] = (
    _route("POST /session", "Begin a session", wire.NewSession, wire.SessionActive, _begin_session),
    _route("PATCH /session", "End a session", wire.SessionStatus, wire.SessionStatus, _echo),
    _route("POST /game", "Begin a game", wire.NewGame, wire.GameActive, _begin_game),
    _route("PATCH /game", "End a game", wire.GameStatus, wire.GameStatus, _echo),
    _route("POST /deal", "Begin a deal", wire.NewDeal, wire.DealActive, _begin_deal),
    _route("PATCH /deal", "End a deal", wire.DealStatus, wire.DealStatus, _echo),
    _route("GET /bid", "Ask for a bid", wire.BidAsked, wire.BidAnswer, _ask_bid),
    _route("POST /bid", "Tell of a bid", wire.BidMade, wire.BidNoted, _note_bid),
    _route("GET /swap", "Ask for the discard", wire.SwapAsked, wire.SwapAnswer, _ask_swap),
    _route("POST /swap", "Tell of a discard", wire.SwapMade, wire.SwapNoted, _note_swap),
    _route(
        "GET /defense",
        "Ask whether to defend alone",
        wire.DefenseAsked,
        wire.DefenseAnswer,
        _ask_defense,
    ),
    _route(
        "POST /defense",
        "Tell whether somebody defends alone",
        wire.DefenseMade,
        wire.DefenseNoted,
        _note_defense,
    ),
    _route("POST /trick", "Begin a trick", wire.NewTrick, wire.TrickActive, _begin_trick),
    _route("PATCH /trick", "End a trick", wire.TrickStatus, wire.TrickStatus, _echo),
    _route("GET /play", "Ask for a card", wire.PlayAsked, wire.PlayAnswer, _ask_play),
    _route("POST /play", "Tell of a card", wire.PlayMade, wire.PlayNoted, _note_play),
)


def _explain(error: Exception, _model: type[BaseModel]) -> Answer:
    """The answer to a request that ended with this error."""
    match error:
        case NoSuchPath():
            return _refusal(error.status, "unknown_path", f"There is no {error.path[:100]}.")
        case NoSuchMethod():
            text = f"{error.path} knows {', '.join(error.methods)}."
            return _refusal(error.status, "unknown_method", text)
        case Refused():
            return _refusal(error.status, "malformed", error.text)
    text = "The service failed; its log says why."
    return _refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "failed", text)


def _refusal(status: int, error: str, message: str) -> Answer:
    return Answer(wire.Refusal(error=error, message=message), status)


API = Api(
    title="Euchre Endpoint",
    version=_VERSION,
    introduction=_INTRODUCTION,
    routes=ROUTES,
    reading=Messages(),
    refusals=(HTTPStatus.INTERNAL_SERVER_ERROR,),
    error=wire.Refusal,
    explain=_explain,
    headers={"Content-Type": "application/json", "Cache-Control": "no-store"},
    cross_origin=False,
    merge_slashes=True,
)
