"""Base classes of strategies: one method returns a decision for a position.

Each game derives its own `Option`, `Decision` and `Strategy` from these and may add to them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

A = TypeVar("A")  # an action
P_contra = TypeVar("P_contra", contravariant=True)  # the position of the player to act
D_co = TypeVar("D_co", bound="Decision[Any]", covariant=True)  # a game's own decision


@dataclass(frozen=True, slots=True)
class Option(Generic[A]):
    """Action that a strategy considered, with its estimated value.

    The strategy chooses the unit of `value`, which only ranks and explains the options of one
    decision. It is None if the strategy gives no number. If the values are probabilities, the class
    sets `unit` to "%", and they are shown in per cent.
    """

    unit: ClassVar[str] = ""

    action: A
    value: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Decision(Generic[A]):
    """Chosen action, the reason in one sentence, and the options that were considered."""

    action: A
    reason: str
    options: tuple[Option[A], ...] = ()


class Strategy(Protocol[P_contra, D_co]):
    """Player of a game.

    The same position always gives the same decision, except for the random generator that the
    constructor received.
    """

    def decide(self, position: P_contra, /) -> D_co:
        """Return the decision of the player to act in `position`."""


class _OptionLike(Protocol):
    """Protocol of an option and of its record in a log."""

    @property
    def value(self) -> float | None:
        """Estimated value, None if the strategy gave none."""


V = TypeVar("V", bound=_OptionLike)


def ranked(options: Iterable[V]) -> list[V]:
    """Return the options by descending value; those without a value come last."""
    return sorted(options, key=lambda option: (option.value is None, -(option.value or 0.0)))


def format_percent(share: float) -> str:
    """Return a share or a probability in per cent, such as "12.5 %"."""
    return f"{100 * share:.1f} %"
