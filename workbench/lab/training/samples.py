"""A position to learn from: of V where a turn begins, of D where one might go on."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample.

    `keys` are those of all suits; `target` is the mover's chance (V), or that of drawing on (D).
    The rest beyond `known`, the suit of the next card, is for D: `size` of the play area, `risk`
    of a bust in sixteenths, the step of `hope`, the chance after a bust and that of one, and the
    log-odds of the next player after stopping.
    """

    keys: tuple[int, ...]
    left: int
    target: float
    known: int = -1
    is_turn: bool = True
    size: int = 0
    risk: int = 0
    hope: int = 0
    bust: float = 0.0
    bust_chance: float = 0.0
    stop_sum: int = 0
