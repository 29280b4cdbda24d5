"""Wire format of the Blef API: models of all requests and responses, and the state's parser.

Names, order and meaning are those of docs/spec/blef.md section 5.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    ValidationError,
    WithJsonSchema,
)

from cardsharp.errors import MalformedResponse
from cardsharp.games.blef import rules
from cardsharp.games.blef.actions import CHECK, LOST_MARKER
from cardsharp.games.blef.cards import BlefCard
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import RoundMove
from cardsharp.games.blef.service.records import GameRecord, GameStatus
from cardsharp.games.blef.service.request_params import MAX_NICKNAME

Uuid = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
_Printable = Annotated[str, Field(pattern=r"^[ -~]{1,64}$")]
_MAX_ROUNDS = 23
_MAX_CARDS = 11

BASE_PATH = "/v2"  # what all paths of the API begin with
VERSION_HEADER = "Game-Version"  # how often a game has changed; a long poll's `since`
_UUID = WithJsonSchema({"type": "string", "format": "uuid"})
_TEXT = WithJsonSchema({"type": "string"})
_ADMIN = "The secret uuid of the player who joined first."
_PLAYER = "The secret uuid that joining the game gave to you."
_NICKNAME = (
    f"An ASCII letter, then letters, digits, marks and underscores: {MAX_NICKNAME} characters at "
    "most, and not used by another player of this game."
)
_WISH = (
    "Optional: a random uuid (version 4) of your own, which becomes your secret uuid. A client "
    "that gets no response can send the same request again and joins only once."
)
_ACTION = f"0 to {CHECK - 1} for a bet, higher than the last one; {CHECK} to check the last one."
_ROUND = "A round from 1 to the present one; -1 or nothing is the present one."
_WAIT = "true: answer when the game has changed, or after some 25 seconds as it is."
_SINCE = (
    f"With wait: the {VERSION_HEADER} of the state that you know; answered at once if the game has "
    "another one. Nothing means the present one."
)
_ACTION_ID = WithJsonSchema({"type": "integer", "minimum": 0, "maximum": CHECK})
_VERSION = WithJsonSchema({"type": "integer", "minimum": 0})
_WISHED = WithJsonSchema({"type": "boolean"})


class GameParams(BaseModel):
    """Parameters of a request about a game: texts, None if not sent, parsed by the use cases."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    game_uuid: Annotated[str, _UUID]


class StateParams(GameParams):
    """Parameters of a request for a game's state."""

    player_uuid: Annotated[str | None, _UUID, Field(description=_PLAYER)] = None
    round: Annotated[str | None, _TEXT, Field(description=_ROUND)] = None
    wait: Annotated[str | None, _WISHED, Field(description=_WAIT)] = None
    since: Annotated[str | None, _VERSION, Field(description=_SINCE)] = None


class BlefJoinParams(GameParams):
    """A new player."""

    nickname: Annotated[str | None, _TEXT, Field(description=_NICKNAME)] = None
    player_uuid: Annotated[str | None, _UUID, Field(description=_WISH)] = None


class AdminParams(GameParams):
    """Parameters of a request that only the player who joined first may make."""

    admin_uuid: Annotated[str | None, _UUID, Field(description=_ADMIN)] = None


class PlayParams(GameParams):
    """A bet or a check."""

    player_uuid: Annotated[str | None, _UUID, Field(description=_PLAYER)] = None
    action_id: Annotated[str | None, _ACTION_ID, Field(description=_ACTION)] = None


class ResponseBody(BaseModel):
    """A body of the API; nothing is ever added to what its model says."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class VersionBody(ResponseBody):
    """The version of the API."""

    version: str


class CreatedBody(ResponseBody):
    """Body of the response to the creation of a game, with its uuid."""

    game_uuid: Uuid


class JoinedBody(ResponseBody):
    """A new player: whoever has this uuid is this player, so it is to be kept secret."""

    player_uuid: Uuid


class MessageBody(ResponseBody):
    """Body of the response to a change, with a message about it."""

    message: str


class TooManyGamesBody(MessageBody):
    """There are too many games to create another one."""


class ErrorsBody(ResponseBody):
    """Refused request; both keys hold the same text."""

    error: str
    message: str


class AlreadyDoneBody(ErrorsBody):
    """Nothing was to be done; both keys hold the same text."""


class DoneBody(ResponseBody):
    """An action was carried out: the empty object."""


class ListedGameBody(ResponseBody):
    """A public game."""

    uuid: Uuid
    players: list[str]
    started: bool


class GameListBody(RootModel[list[ListedGameBody]]):
    """The public games that changed in the last 30 minutes, by uuid."""


class ListedGame(BaseModel):
    """A game of a list, as a client reads either generation's."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    uuid: Uuid = Field(validation_alias=AliasChoices("game_uuid", "uuid"))
    players: tuple[_Printable, ...]
    room: int | None = None
    started: bool = False


class ActiveGameCountBody(ResponseBody):
    """Number of games that changed in the last 30 minutes."""

    active_games: int = Field(ge=0)


class CardBody(ResponseBody):
    """A card: values 9, 10, J, Q, K, A are 0 to 5; clubs, diamonds, hearts, spades 0 to 3."""

    value: int = Field(ge=0, le=5)
    colour: int = Field(ge=0, le=3)


class HandBody(ResponseBody):
    """The cards of one player, the highest first."""

    nickname: str
    hand: list[CardBody]


class PlayerBody(ResponseBody):
    """A player; without cards before the start and when out of the game."""

    nickname: str
    n_cards: int = Field(ge=0, le=_MAX_CARDS)


class MoveBody(ResponseBody):
    """Action of a player: 0 to 87 a bet, 88 the check, 89 lost the round."""

    player: str
    action_id: int = Field(ge=0, le=LOST_MARKER)


_Nickname = Annotated[str | None, BeforeValidator(lambda name: None if name == {} else name)]
"""None also for the empty object by which the original says that there is nobody."""


class StateBody(ResponseBody):
    """A game, or one of its rounds, as whoever asks may see it."""

    admin_nickname: _Nickname
    public: bool
    status: GameStatus
    round_number: int = Field(ge=0, le=_MAX_ROUNDS)
    max_cards: int = Field(ge=0, le=_MAX_CARDS)
    players: list[PlayerBody] = Field(max_length=rules.MAX_PLAYERS)
    hands: list[HandBody] = Field(max_length=rules.MAX_PLAYERS)
    cp_nickname: _Nickname
    history: list[MoveBody]


def state_body(game: GameRecord, position: BlefPosition | None) -> StateBody:
    """Return the state body of a game seen from a position; None means it has not started."""
    names, viewed_position = game.nicknames, position or unstarted_position(game)
    # The last round of a finished game, closed before the loser's cards were taken, is still
    # "Running", as it is in the original.
    over = GameStatus.RUNNING if viewed_position.to_round().winner is None else GameStatus.FINISHED
    return StateBody(
        admin_nickname=game.admin_digest,
        public=game.is_public,
        status=GameStatus.NOT_STARTED if position is None else over,
        round_number=viewed_position.round_number,
        max_cards=viewed_position.max_cards,
        players=[
            PlayerBody(nickname=name, n_cards=cards)
            for name, cards in zip(names, viewed_position.card_counts, strict=True)
        ],
        hands=hand_bodies(names, viewed_position),
        cp_nickname=None if viewed_position.turn is None else names[viewed_position.turn],
        history=move_bodies(names, viewed_position),
    )


def unstarted_position(game: GameRecord) -> BlefPosition:
    """Return the position of a game that has not started, the same for every viewer."""
    empty_counts = (0,) * len(game.players)
    return BlefPosition(None, 0, 0, empty_counts, ((),) * len(empty_counts), None)


def hand_bodies(names: Sequence[str], position: BlefPosition) -> list[HandBody]:
    """Return the bodies of the visible hands, in seating order."""
    return [
        HandBody(nickname=name, hand=[CardBody(value=v, colour=c) for v, c in hand])
        for name, hand in zip(names, position.hands, strict=True)
        if hand
    ]


def move_bodies(names: Sequence[str], position: BlefPosition) -> list[MoveBody]:
    """Return the moves of the round."""
    return [MoveBody(player=names[seat], action_id=act) for seat, act in position.history]


def parse_state(raw: bytes | str) -> StateBody:
    """Parse a state, ignoring unknown fields.

    Raises `MalformedResponse`, which does not quote the response.
    """
    try:
        return StateBody.model_validate_json(raw, extra="ignore")
    except ValidationError as error:
        raise MalformedResponse(
            f"The answer is not a state of Blef: {error.error_count()} faults."
        ) from None


def position_from_state(state: StateBody, nickname: str | None) -> BlefPosition | None:
    """Return the position of a player, or of an observer if None; None until the start.

    Raises `MalformedResponse` if the state names an unknown player.
    """
    if state.status is GameStatus.NOT_STARTED:
        return None
    names = [player.nickname for player in state.players]
    hands = {
        hand_body.nickname: tuple(BlefCard(card.value, card.colour) for card in hand_body.hand)
        for hand_body in state.hands
    }
    try:
        return BlefPosition(
            seat=None if nickname is None else names.index(nickname),
            round_number=state.round_number,
            max_cards=state.max_cards,
            card_counts=tuple(player.n_cards for player in state.players),
            hands=tuple(hands.get(name, ()) for name in names),
            turn=None if state.cp_nickname is None else names.index(state.cp_nickname),
            history=tuple(
                RoundMove(names.index(move.player), move.action_id) for move in state.history
            ),
        )
    except ValueError:
        raise MalformedResponse("The state names somebody who does not play.") from None
