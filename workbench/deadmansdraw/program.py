"""What a program is told of Dead Man's Draw: a position in the arena's own words for it."""

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from cardsharp.deadmansdraw.actions import action_body
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, Option
from cardsharp.deadmansdraw.wire_views import BankView, Cards, CardView, PendingEffect
from workbench.program import Translation


class Shown(BaseModel, alias_generator=to_camel, validate_by_name=True):
    """A position of player `me`, 0 or 1; `unseen` are the cards that the draw pile can hold.

    The arena has the same names for what it shows (docs/spec/arena.md section 4). `known_top` is
    the next card where an Oracle has shown it, `refused` the one that was left lying just now.
    """

    me: int
    turn: int
    banks: tuple[BankView, BankView]
    play_area: Cards
    pending_effect: PendingEffect | None
    discard_pile: Cards
    unseen: Cards
    known_top: CardView | None
    refused: CardView | None


def shown(position: Position) -> Shown:
    """The position as a program reads it, without the history."""
    effect = position.pending
    return Shown(
        me=position.me,
        turn=position.turn,
        banks=(dict(position.banks[0].stacks), dict(position.banks[1].stacks)),
        play_area=position.play_area,
        pending_effect=None
        if effect is None
        else PendingEffect(
            effect_type=effect.effect_type, cards=effect.cards, kraken_count=effect.kraken_count
        ),
        discard_pile=position.discard_pile,
        unseen=position.unseen,
        known_top=position.known_top,
        refused=position.refused,
    )


TRANSLATION = Translation(shown, Position.legal_actions, action_body, Decision, Option)
