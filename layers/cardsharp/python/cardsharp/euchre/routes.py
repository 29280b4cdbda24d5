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
from cardsharp.web.route import Answer, NoSuchMethod, NoSuchPath, Refused, Route

Q = TypeVar("Q", bound=wire.Message)

_VERSION = "0.5"  # of the API that the tournament framework publishes, to which nothing is added
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
    act: Callable[[EuchreService, Q], object] = lambda *_: None,
) -> Route[EuchreService]:
    """An operation that sends back what says what it is about, beside what was answered.

    That are the fields of the request's base; all of them where the answer is of the same kind.
    """
    method, path = route.split()
    (base,) = request.__bases__
    address: Any = request if answer is request else base
    own = answer.model_fields.keys() - address.model_fields.keys()

    def answered(service: EuchreService, message: Q) -> wire.Message:
        made = act(service, message)
        echoed = {name: getattr(message, name) for name in address.model_fields}
        ours = {name: getattr(made, name) for name in own if hasattr(made, name)}
        return answer(**echoed, **ours)

    return Route(
        methods=(method,),
        path=path,
        name=method.lower() + path[1:].capitalize(),
        summary=summary,
        act=lambda service, call: Answer(answered(service, call.asked)),
        request=request,
        answers={HTTPStatus.OK: (answer,)},
        error=wire.Refusal,
    )


ROUTES: tuple[Route[EuchreService], ...] = (
    _route("POST /session", "Begin a session", wire.NewSession, wire.SessionActive),
    _route("PATCH /session", "End a session", wire.SessionStatus, wire.SessionStatus),
    _route("POST /game", "Begin a game", wire.NewGame, wire.GameActive),
    _route("PATCH /game", "End a game", wire.GameStatus, wire.GameStatus),
    _route("POST /deal", "Begin a deal", wire.NewDeal, wire.DealActive, EuchreService.begin_deal),
    _route("PATCH /deal", "End a deal", wire.DealStatus, wire.DealStatus),
    _route("GET /bid", "Ask for a bid", wire.BidAsked, wire.BidAnswer, EuchreService.answer),
    _route("POST /bid", "Tell of a bid", wire.BidMade, wire.BidNoted, EuchreService.note),
    _route(
        "GET /swap", "Ask for the discard", wire.SwapAsked, wire.SwapAnswer, EuchreService.answer
    ),
    _route("POST /swap", "Tell of a discard", wire.SwapMade, wire.SwapNoted),
    _route(
        "GET /defense",
        "Ask whether to defend alone",
        wire.DefenseAsked,
        wire.DefenseAnswer,
        EuchreService.answer,
    ),
    _route(
        "POST /defense",
        "Tell whether somebody defends alone",
        wire.DefenseMade,
        wire.DefenseNoted,
        EuchreService.note,
    ),
    _route("POST /trick", "Begin a trick", wire.NewTrick, wire.TrickActive),
    _route("PATCH /trick", "End a trick", wire.TrickStatus, wire.TrickStatus),
    _route("GET /play", "Ask for a card", wire.PlayAsked, wire.PlayAnswer, EuchreService.answer),
    _route("POST /play", "Tell of a card", wire.PlayMade, wire.PlayNoted, EuchreService.note),
)


def _explain(error: Exception, _model: type[BaseModel]) -> Answer:
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
