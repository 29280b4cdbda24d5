"""Plays matches at the arena's limit of requests, many at once, on a clock of its own.

python -m world.limits [--matches 200] [--at-once 1 2 4 6] [--turn 7] [--limit 100]

The arena, its slow-down, our client, scout and bot are the real ones. Says of each number of
matches at once what was asked, and ends with 1 where a turn of ours was lost or an action refused.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path

from world.hall import Hall
from world.world import Wish


def main() -> int:
    """Play what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=200)
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 2, 4, 6])
    parser.add_argument("--turn", type=float, default=7)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--strategy", default="draw-3")
    given = parser.parse_args()
    logging.disable()
    faults = 0
    for at_once in given.at_once:
        wish = Wish(given.matches, at_once, given.turn, given.limit, strategy=given.strategy)
        with tempfile.TemporaryDirectory() as folder:
            outcome = Hall(wish, Path(folder)).play()
        faults += outcome.forced + len(outcome.refused)
        print(f"{at_once} at once: {outcome}", flush=True)  # noqa: T201 - a command
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
