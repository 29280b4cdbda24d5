"""What a strategy is: one method, from a position to a decision with its reason."""

from dataclasses import dataclass
from typing import Protocol

from cardsharp.blef.position import Position
from cardsharp.errors import Illegal


@dataclass(frozen=True, slots=True)
class Option:
    """An action that was considered and what it was thought to be worth.

    `value` is a chance between 0 and 1, of what is the strategy's own: it ranks the options of
    one decision and explains them, nothing more.
    """

    action: int
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The chosen action, why it was chosen in one sentence, and what else was weighed."""

    action: int
    reason: str
    options: tuple[Option, ...] = ()


class Strategy(Protocol):
    """A player: same position, same decision, but for the randomness given at construction."""

    def decide(self, position: Position) -> Decision:
        """The decision of the player who is to act in `position`, which is the viewer's.

        Raises:
            Illegal: the viewer is not to act.
        """
        ...


def choices(position: Position) -> tuple[int, ...]:
    """What the viewer may do, at least one action.

    Raises:
        Illegal: the viewer is not to act.
    """
    if position.me is None or position.turn != position.me:
        raise Illegal("There is nothing to decide: the viewer of this position is not to act.")
    return position.legal_actions()
