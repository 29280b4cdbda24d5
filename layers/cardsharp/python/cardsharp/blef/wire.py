"""What travels: every request and answer as a model, and a state read back as a position.

The names, their order and their meaning are those of docs/spec/blef.md section 5.
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

from cardsharp.blef import rules
from cardsharp.blef.actions import CHECK, LOST
from cardsharp.blef.cards import Card
from cardsharp.blef.params import MAX_NICKNAME
from cardsharp.blef.position import Position
from cardsharp.blef.records import GameRecord, Status
from cardsharp.blef.rules import Move
from cardsharp.errors import Garbled

Uuid = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
_Printable = Annotated[str, Field(pattern=r"^[ -~]{1,64}$")]
_MOST_ROUNDS = 23
_MOST_CARDS = 11

BASE = "/v2"  # what all paths of the API begin with
VERSION_HEADER = "Game-Version"  # how often a game has changed; a long poll's `since`
_UUID = WithJsonSchema({"type": "string", "format": "uuid"})
_TEXT = WithJsonSchema({"type": "string"})
_ADMIN = "The secret uuid of the player who joined first."
_PLAYER = "The secret uuid that joining the game gave to you."
_NICKNAME = (
    f"An ASCII letter, then letters, digits, marks and underscores: {MAX_NICKNAME} characters at "
    "most, and nobody else's in this game."
)
_WISH = (
    "Optional: a random uuid (version 4) of your own, to be your secret one. Who sends the same "
    "again, for want of an answer, joins once."
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


class GameAsked(BaseModel):
    """A request about a game. Parameters are texts, None if not sent; the use cases read them."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    game_uuid: Annotated[str, _UUID]


class StateAsked(GameAsked):
    """What is there to be seen?"""

    player_uuid: Annotated[str | None, _UUID, Field(description=_PLAYER)] = None
    round: Annotated[str | None, _TEXT, Field(description=_ROUND)] = None
    wait: Annotated[str | None, _WISHED, Field(description=_WAIT)] = None
    since: Annotated[str | None, _VERSION, Field(description=_SINCE)] = None


class JoinAsked(GameAsked):
    """A new player."""

    nickname: Annotated[str | None, _TEXT, Field(description=_NICKNAME)] = None
    player_uuid: Annotated[str | None, _UUID, Field(description=_WISH)] = None


class AdminAsked(GameAsked):
    """What only the player who joined first may do."""

    admin_uuid: Annotated[str | None, _UUID, Field(description=_ADMIN)] = None


class PlayAsked(GameAsked):
    """A bet or a check."""

    player_uuid: Annotated[str | None, _UUID, Field(description=_PLAYER)] = None
    action_id: Annotated[str | None, _ACTION_ID, Field(description=_ACTION)] = None


class Body(BaseModel):
    """A body of the API; nothing is ever added to what its model says."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class VersionBody(Body):
    """The version of the API."""

    version: str


class CreatedBody(Body):
    """A new game."""

    game_uuid: Uuid


class JoinedBody(Body):
    """A new player: whoever has this uuid is this player, so it is to be kept secret."""

    player_uuid: Uuid


class MessageBody(Body):
    """What was done."""

    message: str


class FullBody(MessageBody):
    """There are too many games to create another one."""


class ErrorsBody(Body):
    """What was refused; both keys hold the same text."""

    error: str
    message: str


class RedundantBody(ErrorsBody):
    """Nothing was to be done; both keys hold the same text."""


class DoneBody(Body):
    """An action was carried out: the empty object."""


class ListedBody(Body):
    """A public game."""

    uuid: Uuid
    players: list[str]
    started: bool


class ListBody(RootModel[list[ListedBody]]):
    """The public games that changed in the last 30 minutes, by uuid."""


class PublicGame(BaseModel):
    """A game of a list, as a client reads either generation's."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    uuid: Uuid = Field(validation_alias=AliasChoices("game_uuid", "uuid"))
    players: tuple[_Printable, ...]
    room: int | None = None
    started: bool = False


class ActiveBody(Body):
    """How many games were changed in the last 30 minutes."""

    active_games: int = Field(ge=0)


class CardBody(Body):
    """A card: values 9, 10, J, Q, K, A are 0 to 5; clubs, diamonds, hearts, spades 0 to 3."""

    value: int = Field(ge=0, le=5)
    colour: int = Field(ge=0, le=3)


class HandBody(Body):
    """The cards of one player, the highest first."""

    nickname: str
    hand: list[CardBody]


class PlayerBody(Body):
    """A player; without cards before the start and when out of the game."""

    nickname: str
    n_cards: int = Field(ge=0, le=_MOST_CARDS)


class MoveBody(Body):
    """What a player did: 0 to 87 a bet, 88 the check, 89 lost the round."""

    player: str
    action_id: int = Field(ge=0, le=LOST)


_Nickname = Annotated[str | None, BeforeValidator(lambda name: None if name == {} else name)]
"""None also for the empty object by which the original says that there is nobody."""


class StateBody(Body):
    """A game, or one of its rounds, as whoever asks may see it."""

    admin_nickname: _Nickname
    public: bool
    status: Status
    round_number: int = Field(ge=0, le=_MOST_ROUNDS)
    max_cards: int = Field(ge=0, le=_MOST_CARDS)
    players: list[PlayerBody] = Field(max_length=rules.MAX_PLAYERS)
    hands: list[HandBody] = Field(max_length=rules.MAX_PLAYERS)
    cp_nickname: _Nickname
    history: list[MoveBody]


def state_body(game: GameRecord, position: Position | None) -> StateBody:
    """A game as seen in a position of it; None before the start."""
    names, seen = game.nicknames, position or before_start(game)
    # The last round of a finished game, closed before the loser's cards were taken, is still
    # "Running", as it is in the original.
    over = Status.RUNNING if seen.round().winner is None else Status.FINISHED
    return StateBody(
        admin_nickname=game.admin,
        public=game.public,
        status=Status.NOT_STARTED if position is None else over,
        round_number=seen.number,
        max_cards=seen.max_cards,
        players=[
            PlayerBody(nickname=name, n_cards=cards)
            for name, cards in zip(names, seen.n_cards, strict=True)
        ],
        hands=hands_of(names, seen),
        cp_nickname=None if seen.turn is None else names[seen.turn],
        history=moves_of(names, seen),
    )


def before_start(game: GameRecord) -> Position:
    """A game that has not started, as anybody sees it."""
    nobody = (0,) * len(game.players)
    return Position(None, 0, 0, nobody, ((),) * len(nobody), None)


def hands_of(names: Sequence[str], position: Position) -> list[HandBody]:
    """The hands that are seen, in seating order."""
    return [
        HandBody(nickname=name, hand=[CardBody(value=v, colour=c) for v, c in hand])
        for name, hand in zip(names, position.hands, strict=True)
        if hand
    ]


def moves_of(names: Sequence[str], position: Position) -> list[MoveBody]:
    """What was done in the round."""
    return [MoveBody(player=names[seat], action_id=act) for seat, act in position.history]


def parse_state(raw: bytes | str) -> StateBody:
    """A state as a service sent it, whatever else it says; raises `Garbled` without quoting."""
    try:
        return StateBody.model_validate_json(raw, extra="ignore")
    except ValidationError as error:
        raise Garbled(f"The answer is not a state of Blef: {error.error_count()} faults.") from None


def position_in(state: StateBody, nickname: str | None) -> Position | None:
    """The position that a state shows to that player, to an observer if None; None at first.

    Raises `Garbled` where it names somebody who does not play.
    """
    if state.status is Status.NOT_STARTED:
        return None
    names = [player.nickname for player in state.players]
    hands = {
        shown.nickname: tuple(Card(card.value, card.colour) for card in shown.hand)
        for shown in state.hands
    }
    try:
        return Position(
            me=None if nickname is None else names.index(nickname),
            number=state.round_number,
            max_cards=state.max_cards,
            n_cards=tuple(player.n_cards for player in state.players),
            hands=tuple(hands.get(name, ()) for name in names),
            turn=None if state.cp_nickname is None else names.index(state.cp_nickname),
            history=tuple(Move(names.index(move.player), move.action_id) for move in state.history),
        )
    except ValueError:
        raise Garbled("The state names somebody who does not play.") from None
