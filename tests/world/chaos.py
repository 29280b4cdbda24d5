"""Matches under everything that can go wrong at once, and whether a promise was broken.

python -m world.chaos [--matches 200] [--seed 7] [--home SQLite] [--calm] [--replay FILE]

Machines of ours share a match log; they are killed, frozen, and started anew with clocks that are
wrong. The network and the stores cut, delay, lose and forge answers, and the arena counts our
requests. Exits with 1 when an action was missing, doubled, not meant or refused, when a log differs
from the arena's history, when a match stands still, or when a turn was lost to a single fault. The
same seed at the same commit does the same to the last byte: `--replay` writes every step down.
With `--calm` nothing fails, and one machine plays at the arena's limit of requests.
"""

import argparse
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import randbelow

from world.hall import Hall
from world.kit import HOMES
from world.world import Outcome, Wish, stage

NIGHT = Wish(matches=50, at_once=12, turn=20, opponent=(0.5, 10), machines=3, rate=0.05, every=10)
"""Fifty matches of a machine's ordinary night, if everything fails in it."""


CALM = Wish(matches=50, at_once=6)
"""As many of one machine's as the limit of requests feeds, in which nothing fails."""


def played(wish: Wish, home: str, replay: Path | None = None) -> tuple[Outcome, float]:
    """What became of a night, and the seconds of a processor that it took."""
    began = time.process_time()
    with stage(replay) as (folder, say), HOMES[home]() as stores:
        outcome = Hall(wish, folder, stores, say).play()
    return outcome, time.process_time() - began


def nights(matches: int, seed: int, night: Wish) -> Iterator[Wish]:
    """So many matches, of which each night has its own seed."""
    for number, begun in enumerate(range(0, matches, night.matches)):
        yield replace(night, matches=min(night.matches, matches - begun), seed=seed + number)


def told(outcomes: list[Outcome], seconds: float) -> str:
    """All that is to be said of some nights."""
    verdicts = [verdict for one in outcomes for verdict in one.verdicts]
    lost = [turn for verdict in verdicts for turn in verdict.lost]
    befell: Counter[str] = sum((one.befell for one in outcomes), Counter())
    hours = sum(one.match_minutes for one in outcomes) / 60
    longest = max((t.took.total_seconds() for v in verdicts for t in v.turns), default=0)
    wrong = sum(bool(v.wrong) for v in verdicts)
    alone = sum(not turn.excused for turn in lost)
    held = sum(one.slowed.total() for one in outcomes)
    most = max(one.longest for one in outcomes)
    asked: Counter[str] = sum((one.asked for one in outcomes), Counter())
    a_match = {kind: number / max(len(verdicts), 1) for kind, number in asked.most_common()}
    return f"""\
{len(verdicts)} matches, {sum(v.actions for v in verdicts)} actions of ours
{hours:.1f} match-hours, {hours / max(seconds, 1) * 3600:.0f} for an hour of a processor
what happened: {", ".join(f"{n} {name}" for name, n in sorted(befell.items()))}
matches with actions missing, doubled or not meant, or another log than history: {wrong}
actions refused: {sum(len(v.refused) for v in verdicts)}
matches that stood still: {sum(len(one.stuck) for one in outcomes)}
turns lost: {len(lost)} of {sum(len(v.turns) for v in verdicts)}, {alone} to fewer than two faults
longest turn of ours: {longest:.1f} s
requests a match: {", ".join(f"{number:.1f} {kind}" for kind, number in a_match.items())}
requests held back by the arena: {held}, by {most:.1f} s at most"""


def main() -> int:
    """Play what the command line says."""
    logging.disable()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None, help="printed where none is given")
    parser.add_argument(
        "--home", choices=HOMES, help="of the match log; else both, one night of ten in the cloud"
    )
    parser.add_argument("--calm", action="store_true", help="nothing fails but what we do")
    parser.add_argument("--strategy", default=CALM.strategy)
    parser.add_argument("--at-once", type=int, default=None)
    parser.add_argument("--turn", type=float, default=None, help="its limit in seconds")
    parser.add_argument("--replay", type=Path, help="play the seed's first night alone, told here")
    given = parser.parse_args()
    seed = randbelow(10**6) if given.seed is None else given.seed
    night = CALM if given.calm else NIGHT
    turn, (least, most) = given.turn or night.turn, night.opponent
    night = replace(night, turn=turn, opponent=(least, most * turn / night.turn))
    night = replace(night, at_once=given.at_once or night.at_once, strategy=given.strategy)
    wishes = list(nights(given.matches, seed, night))
    at_home, in_the_cloud = HOMES
    homes = [given.home] if given.home else [*[at_home] * 9, in_the_cloud]
    seconds, outcomes, faults = 0.0, list[Outcome](), 0
    if given.replay:
        runs = iter([played(wishes[0], homes[0], given.replay)])
    else:
        pool = ProcessPoolExecutor(os.cpu_count(), initializer=logging.disable)
        runs = pool.map(played, wishes, (homes[n % len(homes)] for n in range(len(wishes))))
    for wish, (outcome, took) in zip(wishes, runs, strict=False):
        seconds, faults = seconds + took, faults + len(outcome.faults)
        outcomes.append(outcome)
        say = partial(print, flush=True)
        say(f"seed {wish.seed}: {outcome.ended} matches, replay {outcome.replay[:16]}")
        for fault in outcome.faults:
            say(f"  {fault[:300]}")
    print(told(outcomes, seconds))  # noqa: T201 - a command
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
