"""The JSON of a hosted game's service: every request and every answer as a model."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

# Bots of other versions compare these texts, so they do not change.
NO_GAME = "There is no such game."
GAME_FULL = "All players are there."
NO_PLAYER = "You do not play this game."
NOT_YOUR_TURN = "It is not your turn."

Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Secret = Annotated[str, Field(pattern=r"^[0-9a-f-]{36}$")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,31}$")]


class HostedMessageBase(BaseModel, frozen=True, extra="forbid", hide_input_in_errors=True):
    """Base of all messages; fields that a model does not name are rejected."""


class CreateGameParams(HostedMessageBase):
    """A game to create; `seats` is optional if the game has only one number of players."""

    seats: Annotated[int, Field(ge=1, le=16)] | None = None


class HostedGameCreatedBody(HostedMessageBase):
    """A new game."""

    game: Id


class GetGameParams(HostedMessageBase):
    """A game, as the player with `secret` sees it; others see no position while it runs.

    The response has the moves from the number `known` on. With `wait` it is delayed, by some
    seconds at most, until there is one.
    """

    game: Id
    secret: Secret = "0" * 36
    known: Annotated[int, Field(ge=0)] = 0
    wait: bool = False


class JoinGameParams(HostedMessageBase):
    """A player joins; the player makes up `secret`, which identifies them from then on."""

    game: Id
    name: Name
    secret: Secret


class ActParams(HostedMessageBase):
    """An action; `number` counts the game's moves from 0, so that none is made twice."""

    game: Id
    secret: Secret
    number: Annotated[int, Field(ge=0)]
    action: Any


class HostedDoneBody(HostedMessageBase):
    """Body of the response to an action that was carried out: the empty object."""


class HostedPastMoveBody(HostedMessageBase):
    """A move: who did what, what they knew before it, and what the asker knows after it.

    What somebody else knew is null where it was hidden.
    """

    seat: int
    player: str
    action: Any
    words: str
    seen: Any = None
    left: Any = None


class HostedGameBody(HostedMessageBase):
    """A game: `count` moves were made, and `turn` is to act.

    At its end there are `gains`, and all is shown: what whoever moved knew before each move.
    """

    seats: int
    names: list[str]
    count: int
    moves: list[HostedPastMoveBody]
    turn: int | None
    position: Any
    options: list[Any]
    gains: list[float] | None
    shown: list[Any] | None = None
