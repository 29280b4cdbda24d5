"""The JSON of the service: every request and every answer as a model."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from nim.rules import Action

NO_GAME = "There is no such game."
FULL = "Both players are there."
"""Why there is no seat for somebody, in the service's words."""

Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Secret = Annotated[str, Field(pattern=r"^[0-9a-f-]{36}$")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9]{0,31}$")]
Heap = Annotated[int, Field(ge=0, le=100)]


class Message(BaseModel):
    """Shared settings: nothing is ever added to what its model says."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class CreateAsked(Message):
    """The heaps of a new game."""

    heaps: Annotated[list[Annotated[int, Field(ge=1, le=100)]], Field(min_length=1, max_length=9)]


class CreatedBody(Message):
    """A new game."""

    game: Id


class LookAsked(Message):
    """Which game."""

    game: Id


class JoinAsked(LookAsked):
    """Who joins; whoever has `secret`, which the player makes up, is this player."""

    name: Name
    secret: Secret


class ActAsked(LookAsked):
    """What is taken; `number` counts the game's moves from 0, so that none is made twice."""

    secret: Secret
    number: Annotated[int, Field(ge=0)]
    heap: Heap
    stones: Heap

    @property
    def action(self) -> Action:
        """What is taken, in the rules' own terms."""
        return Action(self.heap, self.stones)


class MoveBody(Message):
    """What was taken, by whom, and what it left."""

    seat: int
    player: Name
    heap: Heap
    stones: Heap
    left: list[Heap]


class GameBody(Message):
    """A game: `turn` is the seat that is to act, if both players are there."""

    names: list[Name]
    heaps: list[Heap]
    moves: list[MoveBody]
    turn: int | None
    winner: int | None
