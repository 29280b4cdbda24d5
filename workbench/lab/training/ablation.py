"""What a part of the captain's search is worth: the captain against itself without that part.

Run as `python -m workbench.lab.training.ablation endgame --pairs 5000`; needs the compiled engine.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import cyclopts

from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.leaves import Limits
from cardsharp.deadmansdraw.strategies.search.weights import model
from cardsharp.errors import ConfigError
from workbench.lab.native import NativePolicy, load, why_not
from workbench.lab.training.curve import Measured

WITHOUT: dict[str, Limits] = {
    "endgame": replace(Limits(), endgame=0, whole_turns=0),
    "second-draws": replace(Limits(), second_draws=-1),
}
"""The captain's limits without each part."""

SHARE = 50
"""Pairs that a thread plays at a time."""


def measure(part: str, pairs: int, seed: int, workers: int) -> Measured:
    """The captain's points against the captain without `part`.

    Raises:
        ConfigError: there is no such part, or no compiled engine.
    """
    engine = load()
    if engine is None:
        raise ConfigError(f"This needs the compiled engine. {why_not()}")
    if part not in WITHOUT:
        raise ConfigError(f"There is no part '{part}'. There are: {', '.join(WITHOUT)}.")
    numbers = model(WEIGHTS).numbers
    players: tuple[NativePolicy, NativePolicy] = (
        engine.captain(numbers),
        engine.captain(numbers, WITHOUT[part]),
    )
    play = partial(engine.play_pairs, players, seed, count=SHARE)
    with ThreadPoolExecutor(workers) as pool:
        played = pool.map(lambda first: play(first=first), range(0, pairs, SHARE))
        results = [pair for share in played for pair in share][:pairs]
    return Measured.of([(there.points + back.points) / 2 for there, back in results])


def main(part: str, *, pairs: int = 500, seed: int = 1, workers: int | None = None) -> None:
    """Print the captain's points in 100 against the captain without PART."""
    found = measure(part, pairs, seed, workers or os.cpu_count() or 1)
    print(f"captain v captain without {part}: {found.points:.1f} ± {found.margin:.1f} %")  # noqa: T201 (a command)


if __name__ == "__main__":
    cyclopts.run(main)
