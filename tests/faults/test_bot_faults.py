"""R24, R25, R31 and R39 at the arena; and the bench of test_attending.py finds bad players out.

With Dead Man's Draw, whose server alone would take the same action twice; also where the arena is
newer than we are, and where two bots play as one user, as on two laptops.
"""

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from shutil import copyfile
from typing import Any

import pytest
from requests import PreparedRequest
from support.arena import ALICE
from support.size import cases
from world.arena import BY_FORCE, TABLE, BenchArena
from world.bench import HARD, Bench, played
from world.faults import FaultPlan, Kind, suffering
from world.judge import actions_of, intent_faults, log_faults
from world.network import ANSWERS, RETRY_AFTER, body_of
from world.schedule import Process, Schedule

from cardsharp.cloud.attended import Attended
from cardsharp.cloud.timing import Timing
from cardsharp.deadmansdraw.bot import ArenaMatch
from cardsharp.deadmansdraw.replay import turns_of
from cardsharp.far_clock import NEVER
from workbench.cloud.http_events import Answered

LONG = 10  # looks at a breath's distance, after which a denial is believed

LOST_STEPS = (2, 5, 15)
"""How long before an arena goes back its file was kept: for an action, for some, for a turn."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def clean(folder: Path) -> Bench:
    """A match in which nothing goes wrong."""
    return played(Bench(BenchArena, folder))


def test_the_match_of_the_bench_is_worth_it(clean: Bench) -> None:
    """Two turns of five actions, five effects, a long poll, a renewed lease; no fault found."""
    assert clean.found == []
    accepted, steps = clean.gate.accepted, clean.plan.steps
    answered = {str(one.body.get("effect", {}).get("effectType")) for one in accepted}
    assert answered - {"None"} == {"Cannon", "Map", "Oracle", "Sword", "Hook"}
    assert Counter(steps)["act"] == len(accepted) == 11
    assert {"renew", "describe", "wait"} <= set(steps)


def test_r24_a_match_that_was_denied_long_enough_to_be_closed_is_played_on(
    folder: Path, clean: Bench
) -> None:
    """Wherever the denials begin before our last action; after it the arena names it no more."""
    steps = clean.plan.steps
    last = max(at for at, step in enumerate(steps) if step == "act")
    looks = [at for at in range(last) if steps[at] in {"view", "wait"}]
    for at in looks:
        denials = dict.fromkeys(range(at, at + LONG), Kind.DENIED)
        bench = played(Bench(BenchArena, folder, denials))
        assert bench.found == [], f"from step {at}"
        assert "reopened" in bench.notes
    assert {steps[at] for at in looks} == {"view", "wait"}


def test_r25_a_match_of_which_the_arena_lost_the_last_moves_is_played_on(
    folder: Path, clean: Bench
) -> None:
    """Its file is put back while a worker dies at any step, or before the question what is so.

    Between a look and its action nobody could notice (docs/reliability.md).
    """
    steps = clean.plan.steps
    deaths = [*range(steps.index("act"), len(steps), cases(12, every=1)), steps.index("finish")]
    cuts = [({at: Kind.CRASH_AFTER}, at + 1) for at in deaths]
    cuts += [({}, at) for at, step in enumerate(steps) if step == "wait"]
    harmed, withdrawn = {}, 0
    for number, (faults, cut) in enumerate(cuts):
        for lost in LOST_STEPS[number % 3 :: cases(3, every=1)]:
            bench = power_cut(folder, max(0, cut - lost), cut, faults)
            withdrawn += "withdrawn" in bench.notes
            assert turns_of(bench.moves)[-1].last
            if bench.found:
                harmed[cut, lost] = bench.found
    assert harmed == {}
    assert withdrawn > len(cuts) / 4


def power_cut(folder: Path, kept: int, cut: int, faults: Mapping[int, Kind | float]) -> Bench:
    """A match whose arena loses at step `cut` all that it did since step `kept`."""
    data, copy = folder / "arena.db", folder / "arena.kept"
    data.unlink(missing_ok=True)
    bench = Bench(partial(BenchArena, data=data), folder, faults)
    arena = bench.place

    def before(_step: str) -> None:
        number = len(bench.plan.steps)
        if number == kept:
            arena.restart(partial(copyfile, data, copy))
        if number == cut:
            arena.restart(partial(copyfile, copy, data))
            accepted = bench.gate.accepted
            accepted[:] = [one for one in accepted if one.sequence < arena.sequence]

    bench.plan.before_step = before
    return played(bench)


LIMIT = timedelta(seconds=8)
OVERDUE = timedelta(milliseconds=350)
"""So long a worker is held up between decision and POST, and not so long that it notices."""


@dataclass
class WatchedArena(BenchArena):
    """An arena with a limit a move and a watchdog, and a match in mid-turn."""

    table: Mapping[str, Any] = field(default_factory=lambda: {**TABLE, "timeout": 8})

    def __post_init__(self) -> None:
        super().__post_init__()
        self.act_as_alice({"etype": "Draw"})

    def held_up(self) -> None:
        """Somebody is held up for so long that the watchdog and the opponent come between."""
        self.clock.advance(OVERDUE)
        self.arena.referee.end_overdue_turns()
        self.go_on()


@pytest.mark.parametrize("left", [OVERDUE / 7, OVERDUE / 2, OVERDUE, timedelta(seconds=1.2)])
def test_r31_no_action_opens_a_turn_that_it_was_not_meant_for(
    folder: Path, left: timedelta
) -> None:
    """The arena ends our turn while its action is between decision and POST."""
    assert harm_between_decision_and_post(folder, left) == []


def harm_between_decision_and_post(folder: Path, left: timedelta) -> list[str]:
    """What is wrong with the actions of a worker that is held up with so much of its turn left."""
    with closing(Bench(WatchedArena, folder)) as bench:
        place = bench.place
        bench.clock.advance(LIMIT - left)
        faults: dict[int, Kind | float] = {}

        def after_first_intent(step: str) -> None:
            if step == "intend" and not faults:
                faults[len(plan.steps)] = Kind.PAUSE_AFTER

        plan = FaultPlan(bench.clock, faults, after_first_intent, place.held_up)
        bench.attend(bench.match_id, plan)
        assert plan.hits
        return [fault for one in bench.gate.accepted for fault in one.faults]


@pytest.mark.parametrize("gone", [LIMIT / 2, LIMIT * 2], ids=["in time", "overdue"])
@pytest.mark.parametrize("ahead", [timedelta(0), timedelta(hours=1)], ids=["dated", "misdated"])
def test_r31_a_match_with_a_limit_is_played_on_whatever_the_dates_say(
    folder: Path, gone: timedelta, ahead: timedelta
) -> None:
    """Also where only an action ends a turn that is overdue, and where a gateway dates answers."""
    bench = Bench(WatchedArena, folder)
    bench.place.dates_ahead = ahead
    bench.clock.advance(gone)
    known = "count as ours", BY_FORCE if gone > LIMIT else "count as ours"  # the first draw; late
    assert [one for one in played(bench).found if not any(what in one for what in known)] == []


@pytest.fixture(scope="module")
def watched(folder: Path) -> Bench:
    """A match with a limit a move, in which nothing goes wrong."""
    return played(Bench(WatchedArena, folder))


def test_r31_a_turn_that_has_all_its_time_again_is_played_on(folder: Path, watched: Bench) -> None:
    """The arena was down after an action of ours; one EndTurn at most asks if the turn is over."""
    asked = []
    acts = [at for at, step in enumerate(watched.plan.steps) if step == "act"]
    for at in acts[:: cases(3, every=1)]:
        bench = back_again(folder, at)
        refused = bench.gate.refused
        asked += [one.action["etype"] for one in refused]
        known = "count as ours", *map(str, refused)  # the first draw
        assert [one for one in bench.found if not any(what in one for what in known)] == []
        assert len(refused) <= 1
    assert set(asked) == {"EndTurn"}


def back_again(folder: Path, at: int) -> Bench:
    """A match whose arena is down for longer than a turn may last, after the action of a step."""
    data = folder / "again.db"
    data.unlink(missing_ok=True)
    timing = replace(HARD, lease=timedelta(minutes=2), renew=timedelta(minutes=1))
    bench = Bench(partial(WatchedArena, data=data), folder, {at: Kind.PAUSE_AFTER}, timing=timing)
    arena = bench.place

    def down() -> None:
        bench.clock.advance(LIMIT * 2)
        arena.restart()

    bench.plan.pause = down
    return played(bench)


def test_r15_no_page_of_an_hour_stops_a_match_for_longer_than_its_turn_bears(
    folder: Path, watched: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ordinary maintenance page, once, in place of each answer; the turn's limit is 8 s."""
    page = Answered(503, (("Retry-After", "3600"),), b"maintenance")
    monkeypatch.setitem(ANSWERS, Kind.HTTP_503, page)
    for at in suffering(watched.plan.steps, Kind.HTTP_503)[:: cases(3, every=1)]:
        bench = played(Bench(WatchedArena, folder, {at: Kind.HTTP_503}))
        arena = bench.place
        assert arena.match.state.timeouts == 0, at
        assert bench.clock.passed - watched.clock.passed < 2 * RETRY_AFTER, at


def test_the_suite_misses_the_end_of_a_turn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation guard: who does not know when its turn ends opens the next one."""
    monkeypatch.setattr(ArenaMatch, "_end_of_turn", lambda *_: NEVER)
    found = harm_between_decision_and_post(folder, OVERDUE / 2)
    assert any("was meant for move" in fault for fault in found)


# --- an arena that is newer, and two bots of one user ------------------------------------------


HOUR = timedelta(hours=1)
PACE = (0.19, 0.21)  # seconds that a step takes besides, so that a match lasts half a minute

FOUND = "somebody else plays as this user"


@dataclass
class RenamedArena(BenchArena):
    """One in which we see other words than the arena's."""

    words: Mapping[str, str] = field(default_factory=dict)

    def ask(self, request: PreparedRequest) -> Answered:
        said = request.copy()
        said.body = self.renamed(body_of(request), {new: old for old, new in self.words.items()})
        said.headers["Content-Length"] = str(len(said.body))
        answer = super().ask(said)
        headers = tuple(one for one in answer.headers if one[0].lower() != "content-length")
        return Answered(answer.status, headers, self.renamed(answer.body, self.words))

    @staticmethod
    def renamed(text: bytes, words: Mapping[str, str]) -> bytes:
        text = text.replace(b": ", b":")
        for old, new in words.items():
            text = text.replace(old.encode(), new.encode())
        return text


PARROTS = {f'"{key}":"Hook"': f'"{key}":"Parrot"' for key in ("effectType", "responseToEffectType")}


@pytest.mark.parametrize(
    ("words", "strategy", "left"),
    [({'"Mermaid"': '"Siren"'}, "steady", set()), (PARROTS, "champion", {"Parrot"})],
    ids=["a suit without an effect", "an effect"],
)
def test_what_is_unknown_is_played_on_with(
    tmp_path: Path, words: Mapping[str, str], strategy: str, left: set[str]
) -> None:
    """An effect is left to the server by autopick, and of all six effects it alone."""
    place = partial(RenamedArena, words=words, strategy=strategy)
    with closing(Bench(place, tmp_path)) as bench:
        bench.play()
        text = RenamedArena.renamed(json.dumps(bench.place.look()).encode(), words)
        whole = json.loads(text)
        assert [*log_faults(whole, bench.log), *intent_faults(whole, bench.log, [ALICE])] == []
        assert bench.finished
        assert bench.gate.refused == []
    assert b"Siren" in text or left
    picked = [one for one in actions_of(whole, [ALICE]) if one["userAction"].get("autopick")]
    before = [whole["moves"][one["sequenceId"] - 1]["events"][-1] for one in picked]
    assert {one["cardPlayedEffect"]["effectType"] for one in before} == left


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", range(cases(1, every=40)))
def test_r39_two_bots_of_one_user_soon_become_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int, late: bool
) -> None:
    """The younger leaves the match for good; the elder plays it to its end."""
    clock, chance = Schedule(), Random(seed)
    first = Bench(partial(BenchArena, table={}), tmp_path, timing=Timing(), clock=clock)
    second = Bench(lambda *_: first.place, tmp_path, timing=Timing(), clock=clock)
    ends: list[tuple[object, Bench]] = []
    for bench in first, second:
        bench.plan.before_step = lambda _step: clock.sleep(timedelta(seconds=chance.uniform(*PACE)))

    def attend(bench: Bench) -> None:
        ends.append((bench.worker().attend(bench.match_id, lambda: HOUR), bench))

    clock.spawn(partial(attend, first), Process("first"))
    clock.spawn(partial(attend, second), Process("second"), seconds=3 if late else 0)
    with closing(first), closing(second.stores):
        clock.run()
    (left, younger), (ended, elder) = ends
    assert (left, ended) == (Attended.ELSEWHERE, Attended.FINISHED)
    assert len(elder.gate.accepted) > len(younger.gate.accepted)
    # The elder may have decided one action on what the younger had just changed.
    assert len(elder.gate.refused) <= 1
    # The elder sees nothing of one that comes late: that one looks first whether somebody plays.
    assert caplog.text.count(FOUND) == 2 - late
    if late:
        assert younger is second
        assert younger.gate.accepted == []
