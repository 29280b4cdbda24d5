"""The sixteen operations of the protocol (docs/spec/euchre.md section 3) as a table.

Half of them only echo and need no store. No question refers to sessions or games, and the begin
and end of a trick add nothing to its plays.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from pydantic import BaseModel

from cardsharp.games.euchre.service import wire
from cardsharp.games.euchre.service.service import EuchreService
from cardsharp.server.api import Api
from cardsharp.server.request_parsing import QueryOrJsonParser
from cardsharp.server.routing import ApiResponse, HttpError, MethodNotAllowed, PathNotFound, Route

Q = TypeVar("Q", bound=wire.ProtocolMessage)

_VERSION = "0.5"  # of the API that the tournament framework publishes, to which nothing is added
_API_DESCRIPTION = """\
Plays hands of Euchre for a tournament's coordinator, which deals, enforces the rules and keeps \
the score. POST and PATCH report what happens, and GET asks for a decision. A repeated question \
gets the same answer. Cards are numbered 4 x rank + suit: ranks 0 to 5 are 9, 10, J, Q, K, A, and \
suits 0 to 3 are clubs, diamonds, hearts, spades. A field that is only echoed may have any value \
of its type. Unknown fields are ignored."""


def _build_route(
    route: str,
    summary: str,
    request: type[Q],
    response_model: type[wire.ProtocolMessage],
    handle: Callable[[EuchreService, Q], object] = lambda *_: None,
) -> Route[EuchreService]:
    """Build the route of an operation, whose response echoes the request's identification.

    The echoed fields are those of the request's base class, or all of them if the response is
    of the same class.
    """
    method, path = route.split()
    (base,) = request.__bases__
    address: Any = request if response_model is request else base
    extra_fields = response_model.model_fields.keys() - address.model_fields.keys()

    def answered(service: EuchreService, message: Q) -> wire.ProtocolMessage:
        result = handle(service, message)
        echoed = {name: getattr(message, name) for name in address.model_fields}
        extra = {name: getattr(result, name) for name in extra_fields if hasattr(result, name)}
        return response_model(**echoed, **extra)

    return Route(
        methods=(method,),
        path=path,
        name=method.lower() + path[1:].capitalize(),
        summary=summary,
        endpoint=lambda service, call: ApiResponse(answered(service, call.params)),
        params_model=request,
        response_models={HTTPStatus.OK: (response_model,)},
        default_error_model=wire.ErrorMessage,
    )


ROUTES: tuple[Route[EuchreService], ...] = (
    _build_route("POST /session", "Begin a session", wire.NewSession, wire.SessionActive),
    _build_route("PATCH /session", "End a session", wire.SessionStatus, wire.SessionStatus),
    _build_route("POST /game", "Begin a game", wire.NewGame, wire.GameActive),
    _build_route("PATCH /game", "End a game", wire.GameStatus, wire.GameStatus),
    _build_route(
        "POST /deal", "Begin a deal", wire.NewDeal, wire.DealActive, EuchreService.begin_deal
    ),
    _build_route("PATCH /deal", "End a deal", wire.DealStatus, wire.DealStatus),
    _build_route(
        "GET /bid", "Ask for a bid", wire.BidRequest, wire.BidAnswer, EuchreService.answer_question
    ),
    _build_route(
        "POST /bid",
        "Report a bid",
        wire.BidNotification,
        wire.BidNoted,
        EuchreService.record_event,
    ),
    _build_route(
        "GET /swap",
        "Ask for the discard",
        wire.SwapRequest,
        wire.SwapAnswer,
        EuchreService.answer_question,
    ),
    _build_route("POST /swap", "Report a discard", wire.SwapNotification, wire.SwapNoted),
    _build_route(
        "GET /defense",
        "Ask whether to defend alone",
        wire.DefenseRequest,
        wire.DefenseAnswer,
        EuchreService.answer_question,
    ),
    _build_route(
        "POST /defense",
        "Report whether a player defends alone",
        wire.DefenseDecisionNotification,
        wire.DefenseNoted,
        EuchreService.record_event,
    ),
    _build_route("POST /trick", "Begin a trick", wire.NewTrick, wire.TrickActive),
    _build_route("PATCH /trick", "End a trick", wire.TrickStatus, wire.TrickStatus),
    _build_route(
        "GET /play",
        "Ask for a card",
        wire.PlayRequest,
        wire.PlayAnswer,
        EuchreService.answer_question,
    ),
    _build_route(
        "POST /play",
        "Report a card",
        wire.PlayNotification,
        wire.PlayNoted,
        EuchreService.record_event,
    ),
)


def _to_error_response(error: Exception, _model: type[BaseModel]) -> ApiResponse:
    match error:
        case PathNotFound():
            return _error_response(error.status, "unknown_path", f"There is no {error.path[:100]}.")
        case MethodNotAllowed():
            message = f"{error.path} knows {', '.join(error.methods)}."
            return _error_response(error.status, "unknown_method", message)
        case HttpError():
            return _error_response(error.status, "malformed", error.text)
    message = "The service failed; its log says why."
    return _error_response(HTTPStatus.INTERNAL_SERVER_ERROR, "failed", message)


def _error_response(status: int, error: str, message: str) -> ApiResponse:
    return ApiResponse(wire.ErrorMessage(error=error, message=message), status)


API = Api(
    schema_names={
        "BidNotification": "BidMade",
        "DefenseDecisionNotification": "DefenseMade",
        "PlayNotification": "PlayMade",
        "ErrorMessage": "Refusal",
    },
    title="Euchre Endpoint",
    version=_VERSION,
    description=_API_DESCRIPTION,
    routes=ROUTES,
    request_parser=QueryOrJsonParser(),
    default_error_statuses=(HTTPStatus.INTERNAL_SERVER_ERROR,),
    error_model=wire.ErrorMessage,
    error_response=_to_error_response,
    headers={"Content-Type": "application/json", "Cache-Control": "no-store"},
    allow_cors=False,
    merge_slashes=True,
)
