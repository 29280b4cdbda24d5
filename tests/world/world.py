"""The one simulated world: an arena with its limiter, a network and time, in which anything fails.

The arena, its slow-down and everything that asks it are the real ones; the network between them is
a number of milliseconds, and by a seed any of it goes wrong (`Wish.rate`, `Wish.every`). What is
played in it is a scenario's: many matches of our machines (`chaos`), a contest (`contest`).
"""

import gc
import hashlib
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from cardsharp.cloud.ports import MatchLog
from cardsharp.deadmansdraw.arena.limits import PER_USER, SlowDown
from world.arena import BenchArena
from world.judge import Evidence, Suffered, Verdict, judge
from world.schedule import Process, Schedule

RARELY = 200_000
"""After so many new objects Python looks for those that nobody has; else it takes a fifth."""

FREEZE = (0.5, 12)  # how long a freeze may last, in seconds


@dataclass(frozen=True)
class Wish:
    """What is played: so many matches, at so many at once are begun; times in seconds."""

    matches: int
    at_once: int
    turn: float = 7
    limit: int | None = PER_USER
    tells: bool = True  # whether the arena's answers tell the limit
    way: float = 0.02
    deciding: float = 0.3  # the longest that a decision of ours takes
    opponent: tuple[float, float] = (0.5, 2.5)  # how long an opponent takes for an action
    strategy: str = "draw-3"
    seed: int = 1
    machines: int = 1
    rate: float = 0  # the share of requests to which something happens
    every: float | None = None  # the mean time from a trouble's end to the next, None for none


@dataclass
class Outcome:
    """What became of it."""

    verdicts: list[Verdict] = field(default_factory=list)
    stuck: list[int] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    slowed: Counter[str] = field(default_factory=Counter)
    befell: Counter[str] = field(default_factory=Counter)
    longest: float = 0  # for so long the arena held a request back
    seconds: float = 0  # of a processor
    minutes: float = 0
    match_minutes: float = 0
    most_at_once: int = 0
    replay: str = ""  # a digest of every step and every answer, each with its moment

    @property
    def ended(self) -> int:
        return len(self.verdicts)

    @property
    def faults(self) -> list[str]:
        """Every promise that was broken, with the number of its match."""
        found = [f"match {one.match}: {fault}" for one in self.verdicts for fault in one.faults]
        return [*found, *(f"match {number} stands still" for number in self.stuck)]


@contextmanager
def stage(replay: Path | None = None) -> Iterator[tuple[Path, Callable[[str], object]]]:
    """A folder for as long as something is played, and what writes each step down, if wanted."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if replay is None:
            yield folder, lambda _line: None
        else:
            file = stack.enter_context(replay.open("w"))
            yield folder, lambda line: print(line, file=file)


class World:
    """What every scenario is played in; `wish` says under which conditions."""

    def __init__(
        self,
        wish: Wish,
        folder: Path,
        say: Callable[[str], object],
        **arena: Any,  # noqa: ANN401 - what a scenario's is beside
    ) -> None:
        self.wish, self.chance, self.say = wish, Random(wish.seed), say
        self.time, self.outcome = Schedule(), Outcome()
        self.arena = BenchArena(folder, self.time, table=None, counts=False, **arena)
        self.limiter = None if wish.limit is None else SlowDown(wish.limit, self.time.now)
        self.ours: set[str] = set()  # whose actions our match logs tell of
        self.numbers: dict[str, int] = {}
        # What became of our actions, by match and player.
        self.accepted: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
        self.refused: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
        self.suffered: defaultdict[str, list[Suffered]] = defaultdict(list)
        self.looks: Counter[str] = Counter()
        self.attended: list[str] = []
        self.done = False
        self.starts = 0  # how often the arena was started again, which drops all that waits there
        self.cut_until = self.locked_until = self.down_until = 0.0
        self._told = hashlib.sha256()

    def run(self) -> None:
        """Let all happen that was begun, to the end."""
        often, began = gc.get_threshold(), time.process_time()
        gc.set_threshold(RARELY)
        try:
            self.time.run()
        finally:
            gc.set_threshold(*often)
            self.arena.close()
        self.outcome.seconds = time.process_time() - began
        self.outcome.minutes = self.time.monotonic() / 60
        self.outcome.replay = self._told.hexdigest()

    def sleep(self, seconds: float) -> None:
        self.time.sleep(timedelta(seconds=seconds))

    def tell(self, *what: object) -> None:
        """Write down what happened, and when."""
        line = f"{self.time.monotonic():.3f} {' '.join(map(str, what))}"
        self._told.update(line.encode())
        self.say(line)

    def number_of(self, match_id: str) -> int:
        """The number of a match, in the order in which they were seen."""
        return self.numbers.setdefault(match_id, len(self.numbers) + 1)

    def judged(
        self, match_id: str, us: str, log: MatchLog, suffered: Sequence[Suffered] = ()
    ) -> Verdict:
        """The verdict on a match of ours."""
        self.arena.match_id = match_id
        accepted, refused = (one.pop((match_id, us), []) for one in (self.accepted, self.refused))
        evidence = Evidence(self.arena.look(), us, log, accepted, refused, suffered)
        verdict = judge(self.number_of(match_id), evidence)
        self.outcome.verdicts.append(verdict)
        return verdict

    def suffer(self, name: str, whom: str = "", lasts: float = 0) -> None:
        """Note what befalls a match or a team, or all of them."""
        now = self.time.now()
        self.outcome.befell[name.partition(" (")[0]] += 1
        self.suffered[whom].append(Suffered(now, name, now + timedelta(seconds=lasts)))

    def befall(self, trouble: str) -> None:
        self.suffer(trouble)
        self.tell("world", trouble)

    def freeze(self, process: Process) -> float:
        """Have a process stand still from now on; for how many seconds."""
        lasts = self.chance.uniform(*FREEZE)
        process.frozen = self.time.monotonic() + lasts
        return lasts

    def pause(self, process: Process) -> None:
        """Have this thread's process stand still at once."""
        self.freeze(process)
        self.sleep(0)
