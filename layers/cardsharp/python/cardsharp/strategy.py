"""What a strategy is, whatever the game: one method, from a position to a decision.

A game names its own `Option`, `Decision` and `Strategy` after these, with what it adds to them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

A = TypeVar("A")  # an action
P_contra = TypeVar("P_contra", contravariant=True)  # what one player may know
D_co = TypeVar("D_co", bound="Decision[Any]", covariant=True)  # a game's own decision


@dataclass(frozen=True, slots=True)
class Option(Generic[A]):
    """An action that was considered and what it was thought to be worth.

    The unit of `value` is the strategy's own: it ranks the options of one decision and explains
    them, nothing more. It is None where the strategy puts no number to them. Where they are
    chances, a class says so with the `unit` "%", and they are told as per cent.
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
        """What it was thought to be worth, None where no number was put to it."""


V = TypeVar("V", bound=_Valued)


def ranked(options: Iterable[V]) -> list[V]:
    """Return the options, the best first and those without a value last."""
    return sorted(options, key=lambda one: (one.value is None, -(one.value or 0.0)))


def percent(share: float) -> str:
    """A share or a chance in words, such as "12.5 %"."""
    return f"{100 * share:.1f} %"
