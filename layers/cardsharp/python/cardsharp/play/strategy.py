"""Base classes of strategies of any game: one method, from a position to a decision.

A game derives its `Option`, `Decision` and `Strategy` from these and may add to them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

A = TypeVar("A")  # an action
P_contra = TypeVar("P_contra", contravariant=True)  # what one player may know
D_co = TypeVar("D_co", bound="Decision[Any]", covariant=True)  # a game's own decision


@dataclass(frozen=True, slots=True)
class Option(Generic[A]):
    """An action that was considered, with its estimated value.

    The unit of `value` is up to the strategy: it only ranks and explains the options of one
    decision. It is None if the strategy gives no number. If the values are chances, the class
    sets `unit` to "%", and they are shown in per cent.
    """

    unit: ClassVar[str] = ""

    action: A
    value: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Decision(Generic[A]):
    """The chosen action, why it was chosen in one sentence, and what else was weighed."""

    action: A
    reason: str
    options: tuple[Option[A], ...] = ()


class Strategy(Protocol[P_contra, D_co]):
    """A player: same position, same decision, but for the randomness given at construction."""

    def decide(self, position: P_contra, /) -> D_co:
        """The decision of the player who is to act in `position`."""


class _Valued(Protocol):
    """An option or what a log has of it."""

    @property
    def value(self) -> float | None:
        """Estimated value, None if the strategy gave none."""


V = TypeVar("V", bound=_Valued)


def ranked(options: Iterable[V]) -> list[V]:
    """Return the options, the best first and those without a value last."""
    return sorted(options, key=lambda option: (option.value is None, -(option.value or 0.0)))


def format_percent(share: float) -> str:
    """A share or a chance in words, such as "12.5 %"."""
    return f"{100 * share:.1f} %"
