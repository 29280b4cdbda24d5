"""The scout's manners, and its memory, which is the match log; on a clock that stands still.

It asks the real arena in this process, which answers at once for as long as it is our turn
anywhere.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.arena import ALICE, PASSWORDS
from support.cloud_benches import NotedMeter, known, taken
from world.arena import BenchArena
from world.bench import Bench
from world.faults import STEP, FaultPlan, Kind
from world.network import RETRY_AFTER

from cardsharp.access import Credentials
from cardsharp.cloud.messages import LookMessage, parse_look, parse_message
from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.offering import SETTLED, Offering
from cardsharp.cloud.ports import Status
from cardsharp.cloud.settings import Window
from cardsharp.cloud.switches import Switches
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.logbook import missing_body
from cardsharp.deadmansdraw.scout import Post, Scout, ScoutTiming
from cardsharp.errors import Unauthorized
from workbench.cloud.template import all_resources

MINUTE = timedelta(minutes=1)
TIMING = ScoutTiming()
ANNOUNCE = timedelta(seconds=3)
SLACK = STEP * 10  # what a few steps take on this clock


@dataclass
class Listening:
    """A scout at an arena with one match in which it is our turn; its relay and switchboard."""

    bench: Bench
    faults: Mapping[int, Kind | float] = field(default_factory=dict)
    asked: list[datetime] = field(default_factory=list)
    offered: list[tuple[datetime, str]] = field(default_factory=list)
    meter: NotedMeter = field(default_factory=NotedMeter)
    passwords: Iterator[str] = field(default_factory=lambda: iter(()))
    takes: timedelta = timedelta(0)
    successors: list[datetime] = field(default_factory=list)  # when later pollers begin
    switches: Switches = field(default_factory=Switches)

    def __post_init__(self) -> None:
        self.post = Post(self)
        self.ended = self.bench.clock.now()

    def begin(self) -> int:
        return 1

    def newest(self) -> int:
        return 1 + sum(at <= self.bench.clock.now() for at in self.successors)

    def read(self) -> Switches:
        return self.switches

    @contextmanager
    def scout(self) -> Iterator[Scout]:
        bench, clock = self.bench, self.bench.clock
        tools = bench.tools(FaultPlan(clock, self.faults, before_step=self._note))
        offering = Offering(tools.log, bench.queue, clock, ANNOUNCE, self.meter, switchboard=self)
        with bench.place.client(tools) as client:
            renew = partial(self.new_password, client)
            renew()
            yield Scout(client, offering, (), TIMING, self.post, renew)

    def listen(self, budget: timedelta) -> int:
        clock, queue = self.bench.clock, self.bench.queue
        end = clock.now() + budget
        with self.scout() as scout:
            try:
                count = scout.listen(lambda: end - clock.now())
            finally:
                self.ended = clock.now()
        assert self.ended <= end, "it listened longer than it may"
        while message := queue.receive(timedelta(0)):
            self.offered.append((message.sent_at, parse_message(message.body).match_id))
        return count

    def new_password(self, client: ArenaClient) -> None:
        client.sign_in(Credentials(ALICE, next(self.passwords, PASSWORDS[ALICE])))

    def fall_silent(self) -> None:
        """Have the dummy to move, who never does: a question takes the arena's 30 s now."""
        leave_to_the_dummy(self)
        attend(self, timedelta(hours=1))
        self.takes = timedelta(seconds=30)

    def _note(self, step: str) -> None:
        if step == "list":
            self.asked.append(self.bench.clock.now())
            self.bench.clock.advance(self.takes)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Listening]:
    bench = Bench(partial(BenchArena, counts=False), tmp_path)
    yield Listening(bench)
    bench.close()


def attend(scene: Listening, ttl: timedelta) -> None:
    assert scene.bench.log.take(scene.bench.match_id, "worker", ttl) is not None


def leave_to_the_dummy(scene: Listening) -> None:
    """Have the dummy to move, who never does: Alice ends her first turn by two actions."""
    for body in ({"etype": "Draw"}, {"etype": "EndTurn"}):
        scene.bench.place.act_as_alice(body)


@pytest.mark.parametrize(
    "why", ["", "a match waits", "a match runs", "an operator wants it", "a window is open"]
)
def test_r37_a_quiet_scout_listens_while_there_is_reason_to(scene: Listening, why: str) -> None:
    """Without one it asks once and goes."""
    scene.post.quiet, began = True, scene.bench.clock.now()
    if why != "a match waits":
        leave_to_the_dummy(scene)
    if why == "a match runs":
        attend(scene, timedelta(hours=1))
    if why == "an operator wants it":
        scene.switches = Switches(awake_until=began + timedelta(hours=4))
    if why == "a window is open":
        scene.post.windows = (Window("daily", timedelta(0), timedelta(days=1)),)
    scene.listen(2 * MINUTE)
    offered = [match for _, match in scene.offered[:1]]
    assert offered == [scene.bench.match_id] * (why == "a match waits")
    if why:
        assert len(scene.asked) > 20
    else:
        assert len(scene.asked) == 1
        assert scene.ended - began <= SLACK


def look_by_look(scene: Listening, until: timedelta) -> list[float]:
    """The seconds at which the arena was asked by the looks that are on the queue."""
    clock, queue = scene.bench.clock, scene.bench.queue
    began, scene.asked = clock.now(), []
    with scene.scout() as scout:
        while clock.now() - began < until:
            clock.advance(timedelta(seconds=1))
            while (message := queue.receive(timedelta(0))) is not None:
                queue.delete(message)
                if (due := parse_look(message.body)) is not None:
                    scout.look(due)
    return [(at - began).total_seconds() for at in scene.asked]


def test_r37_with_looks_the_arena_is_asked_every_five_seconds(scene: Listening) -> None:
    """Until a successor has begun."""
    scene.post.quiet = scene.post.looks = True
    leave_to_the_dummy(scene)
    began = scene.bench.clock.now()
    assert scene.listen(4 * MINUTE) == 0
    assert scene.bench.clock.now() - began <= SLACK, "it does not wait"
    seconds = look_by_look(scene, MINUTE)
    assert [b - a for a, b in pairwise([0.0, *seconds])] == pytest.approx([5] * 12, abs=1.1)
    late = look_by_look(scene, 3 * MINUTE)
    assert len(late) == pytest.approx(TIMING.patience / TIMING.between, abs=1)
    assert max(b - a for a, b in pairwise(late)) <= 6.1, "nor is a late tick a gap"
    scene.bench.queue.send(LookMessage(look=1, left=9).body)
    scene.successors = [scene.bench.clock.now()]
    assert look_by_look(scene, MINUTE) == []
    assert scene.bench.queue.receive(timedelta(0)) is None


def test_matches_are_asked_for_by_the_tags_that_an_operator_set_last(
    scene: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_to_the_dummy(scene)
    asked: list[tuple[str, ...]] = []
    matches = ArenaClient.matches

    def note(client: ArenaClient, tags: tuple[str, ...], **more: bool) -> Any:  # noqa: ANN401
        asked.append(tags)
        scene.switches = Switches(tags=("final",) if len(asked) < 2 else None)
        return matches(client, tags, **more)

    monkeypatch.setattr(ArenaClient, "matches", note)
    scene.listen(TIMING.long_poll + timedelta(seconds=8))
    assert asked[:3] == [(), ("final",), ()]


def test_r15_a_match_that_waits_is_offered_at_once_and_more_and_more_seldom_while_no_worker_comes(
    scene: Listening, caplog: pytest.LogCaptureFixture
) -> None:
    """And the arena, which answers at once, is asked at a calm pace."""
    began = scene.bench.clock.now()
    assert scene.listen(TIMING.long_poll + timedelta(seconds=110)) == 7
    times = [at for at, _ in scene.offered]
    assert times[0] - began <= SLACK
    gaps = [(b - a).total_seconds() for a, b in pairwise(times)]
    assert gaps == pytest.approx([3, 6, 12, 24, 30, 30], abs=1.5)
    assert {match_id for _, match_id in scene.offered} == {scene.bench.match_id}
    assert scene.meter.counted[Metric.UNANSWERED] == len(gaps)
    pauses = [later - earlier for earlier, later in pairwise(scene.asked)]
    assert len(pauses) > 20
    assert TIMING.pace <= min(pauses) <= max(pauses) <= TIMING.pace + SLACK
    told = [line for line in caplog.records if line.message.startswith("no worker came")]
    assert [vars(line)["match_id"] for line in told] == [scene.bench.match_id] * len(gaps)


@pytest.mark.parametrize(
    ("ended", "settles"), [({}, timedelta(0)), ({"result": "lost"}, SETTLED + TIMING.watch)]
)
def test_r24_r25_a_match_that_was_closed_is_offered_again_when_it_is_named(
    scene: Listening, ended: dict[str, str], settles: timedelta
) -> None:
    """At once if it was missing; long after its end, as just after it the naming may be older."""
    log, match_id = scene.bench.log, scene.bench.match_id
    lease, began = taken(log, name=match_id, ttl=MINUTE), scene.bench.clock.now()
    log.finish(lease, {**missing_body(), **ended})
    scene.listen(TIMING.long_poll + 2 * SETTLED)
    assert scene.offered[0][1] == match_id
    waited = scene.offered[0][0] - began
    assert settles - TIMING.watch <= waited <= settles + SLACK
    assert known(log, match_id).status is Status.RUNNING
    assert [note.kind for note in log.notes(match_id)] == ["reopened"]


@pytest.mark.parametrize("takes", [timedelta(0), timedelta(seconds=2)])
def test_r14_r15_retry_after_is_kept_and_leases_in_the_log_are_watched(
    scene: Listening, takes: timedelta
) -> None:
    """That of a match that the arena does not name, as it is not our turn there."""
    scene.takes = takes
    attend(scene, timedelta(seconds=1))
    leave_to_the_dummy(scene)
    scene.faults = {1: Kind.HTTP_429}
    scene.listen(TIMING.long_poll + timedelta(seconds=10))
    assert scene.asked[1] - scene.asked[0] >= max(takes + RETRY_AFTER, TIMING.pace)
    at, match_id = scene.offered[0]
    assert at < scene.asked[1]
    assert match_id == scene.bench.match_id


def test_r29_a_refusal_is_asked_again_soon_by_the_newest_password_then_ever_more_seldom(
    scene: Listening,
) -> None:
    scene.passwords = iter(["the old one"])
    scene.listen(TIMING.long_poll + timedelta(seconds=8))
    assert scene.asked[1] - scene.asked[0] == pytest.approx(TIMING.pace, abs=SLACK)
    assert scene.offered != []
    scene.passwords, scene.asked = iter(["a wrong one"] * 100), []
    with pytest.raises(Unauthorized):
        scene.listen(TIMING.long_poll + timedelta(seconds=110))
    gaps = [(b - a).total_seconds() for a, b in pairwise(scene.asked)]
    assert gaps == pytest.approx([3, 6, 12, 24, 30, 30], abs=1.5)


LIFE = timedelta(seconds=all_resources()["Poller"]["Properties"]["Timeout"])
START = timedelta(seconds=6)  # more than a poller takes from its tick to its first question


def unheard(scene: Listening, until: datetime) -> timedelta:
    """The longest time until a moment in which no question was under way."""
    ends = [min(at + scene.takes, until) for at in scene.asked]
    begins = [at for at in scene.asked[1:] if at < until]
    return max((b - e for e, b in zip(ends, [*begins, until], strict=False)), default=LIFE)


@pytest.mark.parametrize(
    "later", [(30,), (60,), (61,), (64,), (90,), (119,), (60, 179), (119, 179)]
)
def test_r28_r29_a_poller_listens_until_its_successors_do(
    scene: Listening, later: tuple[int, ...]
) -> None:
    """One of two until two others do, so any one of them may die."""
    scene.fall_silent()
    scene.post.listeners = len(later)
    began = scene.bench.clock.now()
    scene.successors = [began + timedelta(seconds=after) + START for after in later]
    scene.listen(LIFE)
    last = scene.successors[-1]
    assert last <= scene.ended <= last + scene.takes + TIMING.pace
    assert unheard(scene, last) <= TIMING.pace + SLACK
