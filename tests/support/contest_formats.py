"""Whole contests without matches, for what formats promise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cardsharp.contest.formats import Format
from cardsharp.contest.pairing import Decision, Pairing


def named(number: int) -> list[str]:
    """So many teams, the best seed first."""
    return [f"t{place}" for place in range(number)]


@dataclass(frozen=True)
class Held:
    """A contest that was held: its pairings, how each ended, and those decided at one time."""

    known: tuple[Pairing, ...]
    decided: dict[str, Decision]
    waves: list[list[Pairing]]


def held(form: Format, teams: Sequence[str], decide: Callable[[Pairing], Decision]) -> Held:
    """A whole contest: all that can be played is decided, then what follows from it."""
    decided: dict[str, Decision] = {}
    waves: list[list[Pairing]] = []
    while True:
        known = form.pairings(teams, decided)
        before = {pairing for wave in waves for pairing in wave}
        assert before <= set(known), "a pairing has changed"
        waiting = [pairing for pairing in known if pairing.key not in decided]
        if not waiting:
            return Held(known, decided, waves)
        decided |= {pairing.key: decide(pairing) for pairing in waiting}
        waves.append(waiting)
