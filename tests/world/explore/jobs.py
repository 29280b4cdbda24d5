"""What `make explore` explores: the code as it is, and rules that are broken.

Apart from the command, so that a process of its own can import it.
"""

import logging
import time
from dataclasses import dataclass, replace
from datetime import timedelta

from world.explore.mutants import MUTANTS
from world.explore.process import no_threads
from world.explore.search import Found, explore
from world.explore.world import ONE_WORKER, TWO_CARDS, WATCHED, Setting, World

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Search:
    """What is explored as it is, and with up to how many faults."""

    words: str
    setting: Setting
    faults: int = 1


SEARCHES = (
    Search("one worker at a time and an onlooker, two cards", ONE_WORKER),
    Search("one worker at a time and an onlooker, one card", replace(ONE_WORKER, cards=1), 2),
    Search("two workers and an onlooker, one card", replace(TWO_CARDS, cards=1)),
    Search(
        "the same, the workers' clocks an hour before and behind",
        Setting(cards=1, skews=(HOUR, -HOUR)),
    ),
    Search("two workers and an onlooker, two cards", TWO_CARDS),
    Search("two workers and a poller, one card", WATCHED),
    Search("two workers and two pollers, one card", replace(WATCHED, onlookers=2)),
)


JOBS = (*SEARCHES, *MUTANTS)


@dataclass(frozen=True)
class Result:
    """What came of a search, or of a broken rule."""

    found: Found
    seconds: float
    """Of a processor."""

    alone: float
    """For how many seconds at most nobody attended the match."""


def run(number: int) -> Result:
    """One of all searches and broken rules, in a process of its own."""
    job = JOBS[number]
    logging.disable(logging.CRITICAL)
    began = time.process_time()
    with no_threads():
        if isinstance(job, Search):
            world = World(job.setting)
            found = explore(world, job.faults)
        else:
            with job.planted():
                world = World(job.setting)
                found = explore(world, 1)
    return Result(found, time.process_time() - began, world.longest / 2)
