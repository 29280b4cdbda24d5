"""The API's endpoints in one table, from which both the routes and the document are made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel

from cardsharp.blef import wire
from cardsharp.blef.actions import CHECK
from cardsharp.blef.params import MAX_NICKNAME
from cardsharp.blef.refusals import BAD_REQUEST, CONFLICT, FORBIDDEN, TOO_MANY
from cardsharp.blef.service import Blef, Look, Patience

BASE = "/v2"
VERSION = "2.3.0"
"""The version of the API that is spoken; clients check that it has three parts."""

VERSION_HEADER = "Game-Version"
"""Says how often a game has changed; what a long poll's `since` is to be."""

OK = 200
ACCEPTED = 202


@dataclass(frozen=True, slots=True)
class Ask:
    """A request without the HTTP around it; of the parameters only those with a value."""

    game_uuid: str
    given: Mapping[str, str]
    patience: Patience

    def get(self, name: str) -> str | None:
        """Return a parameter as it was sent, None if it was not."""
        return self.given.get(name)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered: a body, a status and the version of the game where there is one."""

    body: BaseModel
    status: int = OK
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an endpoint: how it is called and what it means."""

    name: str
    description: str
    schema: Mapping[str, object] = field(default_factory=lambda: {"type": "string"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One path of the API.

    `answers` are the bodies of success by status, `refusals` the statuses of refusal, whose
    body is `error`. One that `changes` something is also there for POST.
    """

    name: str
    path: str
    summary: str
    act: Callable[[Blef, Ask], Answer]
    answers: Mapping[int, tuple[type[BaseModel], ...]]
    refusals: tuple[int, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    changes: bool = False
    error: type[BaseModel] = wire.ErrorBody

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that the endpoint answers."""
        return ("GET", "POST") if self.changes else ("GET",)

    def refusal(self, status: int, text: str) -> Answer:
        """The answer that refuses a request."""
        model = self.refusal_model(status)
        return Answer(model(**dict.fromkeys(model.model_fields, text)), status)

    def refusal_model(self, status: int) -> type[BaseModel]:
        """The body of a refusal with this status."""
        return wire.FullBody if status == TOO_MANY else self.error


def _version(_blef: Blef, _ask: Ask) -> Answer:
    return Answer(wire.VersionBody(version=VERSION))


def _list(blef: Blef, _ask: Ask) -> Answer:
    games = [
        wire.ListedBody(uuid=game.uuid, players=list(game.nicknames), started=game.started)
        for game in blef.listed()
    ]
    return Answer(wire.ListBody(games))


def _active(blef: Blef, _ask: Ask) -> Answer:
    return Answer(wire.ActiveBody(active_games=blef.count_active()))


def _create(blef: Blef, _ask: Ask) -> Answer:
    return Answer(wire.CreatedBody(game_uuid=blef.create()))


def _state(blef: Blef, ask: Ask) -> Answer:
    look = Look(ask.get("player_uuid"), ask.get("round"), ask.get("wait"), ask.get("since"))
    sight = blef.state(ask.game_uuid, look, ask.patience)
    return Answer(wire.state_body(sight.game, sight.position), version=sight.version)


def _join(blef: Blef, ask: Ask) -> Answer:
    uuid = blef.join(ask.game_uuid, ask.get("nickname"), ask.get("player_uuid"))
    return Answer(wire.JoinedBody(player_uuid=uuid))


def _start(blef: Blef, ask: Ask) -> Answer:
    blef.start(ask.game_uuid, ask.get("admin_uuid"))
    return Answer(wire.MessageBody(message="Game started"), ACCEPTED)


def _play(blef: Blef, ask: Ask) -> Answer:
    blef.play(ask.game_uuid, ask.get("player_uuid"), ask.get("action_id"))
    return Answer(wire.DoneBody())


def _make_public(blef: Blef, ask: Ask) -> Answer:
    changed = blef.show(ask.game_uuid, ask.get("admin_uuid"), public=True)
    return _shown("public", changed=changed)


def _make_private(blef: Blef, ask: Ask) -> Answer:
    changed = blef.show(ask.game_uuid, ask.get("admin_uuid"), public=False)
    return _shown("private", changed=changed)


def _shown(how: str, *, changed: bool) -> Answer:
    if changed:
        return Answer(wire.MessageBody(message=f"Game made {how}"))
    text = f"Request redundant - game already {how}"
    return Answer(wire.RedundantBody(error=text, message=text))


_UUID = {"type": "string", "format": "uuid"}
_PLAYER = Parameter("player_uuid", "The secret uuid that joining the game gave to you.", _UUID)
_ADMIN = Parameter("admin_uuid", "The secret uuid of the player who joined first.", _UUID)
_NICKNAME = Parameter(
    "nickname",
    f"An ASCII letter, then letters, digits, marks and underscores: {MAX_NICKNAME} characters "
    "at most, and nobody else's in this game.",
)
_WISH = Parameter(
    "player_uuid",
    "Optional: a random uuid of your own, to be your secret one. Who sends the same again, for "
    "want of an answer, joins once.",
    _UUID,
)
_ACTION = Parameter(
    "action_id",
    f"0 to {CHECK - 1} for a bet, higher than the last one; {CHECK} to check the last one.",
    {"type": "integer", "minimum": 0, "maximum": CHECK},
)
_LOOK = (
    _PLAYER,
    Parameter("round", "A round from 1 to the present one; -1 or nothing is the present one."),
    Parameter(
        "wait",
        "true: answer when the game has changed, or after some 25 seconds as it is.",
        {"type": "boolean"},
    ),
    Parameter(
        "since",
        f"With wait: the {VERSION_HEADER} of the state that you know; answered at once if the "
        "game has another one. Nothing means the present one.",
        {"type": "integer", "minimum": 0},
    ),
)
_ANSWERS_SHOWN = {OK: (wire.MessageBody, wire.RedundantBody)}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("version", "/version", "The version of this API", _version, {OK: (wire.VersionBody,)}),
    Endpoint("list", "/games", "The public games", _list, {OK: (wire.ListBody,)}),
    Endpoint("active", "/games/active", "How busy it is here", _active, {OK: (wire.ActiveBody,)}),
    Endpoint(
        "create",
        "/games/create",
        "Create a private game without players",
        _create,
        {OK: (wire.CreatedBody,)},
        changes=True,
        refusals=(TOO_MANY,),
    ),
    Endpoint(
        "state",
        "/games/{game_uuid}",
        "A game or one of its past rounds, with the hands that you may see",
        _state,
        {OK: (wire.StateBody,)},
        refusals=(BAD_REQUEST,),
        parameters=_LOOK,
        error=wire.ErrorsBody,
    ),
    Endpoint(
        "join",
        "/games/{game_uuid}/join",
        "Join a game that has not started",
        _join,
        {OK: (wire.JoinedBody,)},
        changes=True,
        refusals=(BAD_REQUEST, FORBIDDEN, CONFLICT),
        parameters=(_NICKNAME, _WISH),
    ),
    Endpoint(
        "start",
        "/games/{game_uuid}/start",
        "Start a game, as its admin",
        _start,
        {ACCEPTED: (wire.MessageBody,)},
        changes=True,
        refusals=(BAD_REQUEST, FORBIDDEN),
        parameters=(_ADMIN,),
    ),
    Endpoint(
        "play",
        "/games/{game_uuid}/play",
        "Bet or check, as the player to move",
        _play,
        {OK: (wire.DoneBody,)},
        changes=True,
        refusals=(BAD_REQUEST,),
        parameters=(_PLAYER, _ACTION),
        error=wire.ErrorsBody,
    ),
    Endpoint(
        "make-public",
        "/games/{game_uuid}/make-public",
        "Show a game in the list, as its admin and before its start",
        _make_public,
        _ANSWERS_SHOWN,
        changes=True,
        refusals=(BAD_REQUEST, FORBIDDEN),
        parameters=(_ADMIN,),
        error=wire.ErrorsBody,
    ),
    Endpoint(
        "make-private",
        "/games/{game_uuid}/make-private",
        "Hide a game from the list, as its admin and before its start",
        _make_private,
        _ANSWERS_SHOWN,
        changes=True,
        refusals=(BAD_REQUEST, FORBIDDEN),
        parameters=(_ADMIN,),
        error=wire.ErrorsBody,
    ),
)
