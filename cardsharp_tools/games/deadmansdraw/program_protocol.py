"""JSON protocol of programs that play Dead Man's Draw: a position in the arena's terms."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field
from pydantic.alias_generators import to_camel

from cardsharp.games.deadmansdraw.actions import action_json
from cardsharp.games.deadmansdraw.arena_bot.wire_views import (
    BankView,
    Cards,
    CardView,
    PendingEffectView,
)
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, PointsOption
from cardsharp_tools.executors.external_program import ProtocolCodec, position_encoder

BankStacks = Annotated[BankView, BeforeValidator(lambda bank: dict(bank.stacks))]  # from a `Bank`


class PositionView(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """Position of player `me`, 0 or 1; `unseen` are the cards that may be in the draw pile.

    The names are those of the arena (docs/spec/arena.md section 4). `known_top` is the next card if
    an Oracle has shown it. `refused` is the Oracle's card that was refused with the previous
    action.
    """

    me: int = Field(validation_alias="seat")
    turn: int
    banks: tuple[BankStacks, BankStacks]
    play_area: Cards
    pending_effect: PendingEffectView | None = Field(validation_alias="pending")
    discard_pile: Cards
    unseen: Cards
    known_top: CardView | None
    refused: CardView | None = Field(validation_alias="refused_oracle_card")


CODEC = ProtocolCodec(
    position_encoder(PositionView),
    DeadMansDrawPosition.legal_actions,
    action_json,
    DeadMansDrawDecision,
    PointsOption,
)
