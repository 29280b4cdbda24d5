"""Matches under everything that can go wrong at once, and whether a promise was broken.

python -m world.chaos [--matches 200] [--seed 7] [--home SQLite] [--calm] [--replay FILE]

Machines of ours share a match log; they are killed, frozen, and started anew with clocks that are
wrong. The network and the stores cut, delay, lose and forge answers, and the arena counts our
requests. Exits with 1 when an action was missing, doubled, not meant or refused, when a log differs
from the arena's history, when a match stands still, or when a turn was lost to a single fault. The
same seed at the same commit does the same to the last byte: `--replay` writes every step down.
With `--calm` nothing fails, and one machine plays at the arena's limit of requests.
"""

import logging
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import randbelow
from typing import Literal

import cyclopts

from world.hall import Hall
from world.kit import HOMES
from world.world import Outcome, Wish, stage

NIGHT = Wish(matches=50, at_once=12, turn=20, opponent=(0.5, 10), machines=3, rate=0.05, every=10)
"""Fifty matches of a machine's ordinary night, if everything fails in it."""

CALM = Wish(matches=50, at_once=6)
"""As many of one machine's as the limit of requests feeds, in which nothing fails."""


def played(wish: Wish, home: str, replay: Path | None = None) -> Outcome:
    with stage(replay) as (folder, say), HOMES[home]() as stores:
        return Hall(wish, folder, stores, say).play()


def told(outcomes: list[Outcome]) -> str:
    verdicts = [verdict for one in outcomes for verdict in one.verdicts]
    lost = [turn for verdict in verdicts for turn in verdict.lost]
    befell: Counter[str] = sum((one.befell for one in outcomes), Counter())
    hours = sum(one.match_minutes for one in outcomes) / 60
    pace = hours / max(sum(one.seconds for one in outcomes), 1) * 3600
    longest = max((t.took.total_seconds() for v in verdicts for t in v.turns), default=0)
    wrong = sum(bool(v.wrong) for v in verdicts)
    alone = sum(not turn.excused for turn in lost)
    held = sum(one.slowed.total() for one in outcomes)
    most = max(one.longest for one in outcomes)
    asked: Counter[str] = sum((one.asked for one in outcomes), Counter())
    a_match = {kind: number / max(len(verdicts), 1) for kind, number in asked.most_common()}
    return f"""\
{len(verdicts)} matches, {sum(v.actions for v in verdicts)} actions of ours
{hours:.1f} match-hours, {pace:.0f} for an hour of a processor
what happened: {", ".join(f"{n} {name}" for name, n in sorted(befell.items()))}
matches with actions missing, doubled or not meant, or another log than history: {wrong}
actions refused: {sum(len(v.refused) for v in verdicts)}
matches that stood still: {sum(len(one.stuck) for one in outcomes)}
turns lost: {len(lost)} of {sum(len(v.turns) for v in verdicts)}, {alone} to fewer than two faults
longest turn of ours: {longest:.1f} s
requests a match: {", ".join(f"{number:.1f} {kind}" for kind, number in a_match.items())}
requests held back by the arena: {held}, by {most:.1f} s at most"""


def main(  # noqa: PLR0913 - the options of a command
    *,
    matches: int = 200,
    seed: int | None = None,
    home: Literal["SQLite", "DynamoDB and SQS"] | None = None,
    calm: bool = False,
    strategy: str = CALM.strategy,
    at_once: int | None = None,
    turn: float | None = None,
    replay: Path | None = None,
) -> int:
    """Play what the command line says: a `turn` in seconds; by default a `seed` that is printed.

    Without a `home` of the match log one night of ten is played in the cloud; with `replay` the
    seed's first night alone, told there.
    """
    logging.disable()
    night, seed = CALM if calm else NIGHT, randbelow(10**6) if seed is None else seed
    limit, (least, most) = turn or night.turn, night.opponent
    night = replace(night, turn=limit, opponent=(least, most * limit / night.turn))
    night = replace(night, at_once=at_once or night.at_once, strategy=strategy)
    wishes = [  # each night has its own seed
        replace(night, matches=min(night.matches, matches - begun), seed=seed + number)
        for number, begun in enumerate(range(0, matches, night.matches))
    ]
    at_home, in_the_cloud = HOMES
    homes = [home] if home else [*[at_home] * 9, in_the_cloud]
    outcomes = list[Outcome]()
    if replay:
        runs = iter([played(wishes[0], homes[0], replay)])
    else:
        pool = ProcessPoolExecutor(os.cpu_count(), initializer=logging.disable)
        runs = pool.map(played, wishes, (homes[n % len(homes)] for n in range(len(wishes))))
    for wish, outcome in zip(wishes, runs, strict=False):
        outcomes.append(outcome)
        say = partial(print, flush=True)
        say(f"seed {wish.seed}: {outcome.ended} matches, replay {outcome.replay[:16]}")
        for fault in outcome.faults:
            say(f"  {fault[:300]}")
    print(told(outcomes))  # noqa: T201 - a command
    return 1 if any(one.faults for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
