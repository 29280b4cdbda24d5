"""What a worker counts: so that an operator sees lost turns, deaths and a failing arena."""

from collections import Counter
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from world.arena import BenchArena
from world.bench import Bench, bot_of
from world.bench import played as finished
from world.faults import Kind
from world.network import Tools

from cardsharp.cloud.attend import Bot
from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.cloud.timing import Timing


class Counts(Meter):
    """A meter that keeps what was counted; a count with a status is kept by its status too."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.timed: Counter[str] = Counter()

    def count(self, metric: Metric, amount: int = 1, **dimensions: str) -> None:
        self.counted["/".join((metric, *dimensions.values()))] += amount

    def time(self, metric: Metric, duration: timedelta, **dimensions: str) -> None:
        del dimensions
        assert duration >= timedelta(0)
        self.timed[metric] += 1


@pytest.fixture
def counts() -> Counts:
    return Counts()


def played(folder: Path, counts: Counts, faults: dict[int, Kind]) -> Bench:
    """A match under faults that lose no turn, whose workers count."""

    def counting(bench: Bench, tools: Tools) -> Bot:
        return bot_of(bench, tools, counts)

    made = finished(Bench(BenchArena, folder, faults, make=counting, timing=Timing()))
    assert made.found == []
    return made


def test_a_match_without_trouble_counts_its_actions_and_its_end(
    tmp_path: Path, counts: Counts
) -> None:
    bench = played(tmp_path, counts, {})
    actions = len(bench.gate.accepted)
    assert +counts.counted == {Metric.ACTIONS: actions, Metric.MATCHES_WON: 1}
    assert counts.timed == {Metric.DECISION: actions, Metric.FIRST_PICK_UP: 1, Metric.PICK_UP: 1}


def test_only_a_death_counts_as_a_stolen_lease(tmp_path: Path, counts: Counts) -> None:
    with closing(Bench(BenchArena, tmp_path, make=lambda b, t: bot_of(b, t, counts))) as bench:
        for _ in range(2):
            bench.worker().attend(bench.match_id, lambda: timedelta(seconds=3))
        assert counts.counted[Metric.LEASE_STEALS] == 0, "it was handed on"

        def die_once(step: str) -> None:
            if step == "record" and not bench.plan.hits:
                bench.plan.faults = {len(bench.plan.steps): Kind.CRASH_AFTER}

        bench.plan.before_step = die_once
        bench.play()
    assert counts.counted[Metric.LEASE_STEALS] == 1


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (Kind.HTTP_500, "500"),
        (Kind.HTTP_429, "busy"),
        (Kind.GARBAGE, "garbled"),
        (Kind.RESPONSE_LOST, "unreachable"),
    ],
)
def test_errors_of_the_arena_are_counted_by_status_and_in_all(
    tmp_path: Path, counts: Counts, kind: Kind, status: str
) -> None:
    steps = played(tmp_path, Counts(), {}).plan.steps
    for step in ("view", "act"):
        played(tmp_path, counts, {steps.index(step): kind})
    assert counts.counted[Metric.ARENA_ERRORS] == 2
    assert counts.counted[f"{Metric.ARENA_ERRORS}/{status}"] == 2
