"""What a program is told of Dead Man's Draw: a position in the arena's own words for it."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field
from pydantic.alias_generators import to_camel

from cardsharp.deadmansdraw.actions import action_body
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, Option
from cardsharp.deadmansdraw.wire_views import BankView, Cards, CardView, PendingEffect
from workbench.program import Translation, told_by

Held = Annotated[BankView, BeforeValidator(lambda bank: dict(bank.stacks))]  # of a `Bank`


class Shown(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """A position of player `me`, 0 or 1; `unseen` are the cards that the draw pile can hold.

    The arena has the same names for what it shows (docs/spec/arena.md section 4). `known_top` is
    the next card where an Oracle has shown it, `refused` the one that was left lying just now.
    """

    me: int
    turn: int
    banks: tuple[Held, Held]
    play_area: Cards
    pending_effect: PendingEffect | None = Field(validation_alias="pending")
    discard_pile: Cards
    unseen: Cards
    known_top: CardView | None
    refused: CardView | None


TRANSLATION = Translation(told_by(Shown), Position.legal_actions, action_body, Decision, Option)
