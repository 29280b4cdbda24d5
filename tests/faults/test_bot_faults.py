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
from fault_simulation.checker import accepted_actions, intent_differences, log_differences
from fault_simulation.faults import FaultKind, FaultPlan, steps_with_fault
from fault_simulation.match_harness import HARSH_TIMING, MatchHarness, run_harness
from fault_simulation.scheduler import Process, Scheduler
from fault_simulation.simulated_arena import FORCED_TURN_TEXT, TABLE, SimulatedArena
from fault_simulation.transport import ANSWERS, RETRY_AFTER, body_of
from requests import PreparedRequest
from support.arena_server import ALICE
from support.case_counts import case_count
from support.store_fixtures import RecordingMeter

from cardsharp.bot.session_result import SessionResult
from cardsharp.bot.timing import SessionTiming
from cardsharp.client.remote_clock import NEVER_BOUNDS
from cardsharp.core.metrics import MetricName
from cardsharp.games.deadmansdraw.arena.randomness import NO_RANDOM_SEED, RandomnessMethod
from cardsharp.games.deadmansdraw.arena_bot.arena_match import ArenaBotMatch
from cardsharp.games.deadmansdraw.history.replay import group_into_turns
from cardsharp.games.deadmansdraw.rules import MAX_TIMEOUTS
from cardsharp_tools.local_cloud.api_gateway_events import HttpResponse

LONG = 10  # looks at a breath's distance, after which a denial is believed

LOST_STEPS = (2, 5, 15)
"""How long before an arena goes back its file was kept: for an action, for some, for a turn."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def clean(folder: Path) -> MatchHarness:
    """A match in which nothing goes wrong."""
    return run_harness(MatchHarness(SimulatedArena, folder))


def test_the_match_of_the_bench_is_worth_it(clean: MatchHarness) -> None:
    """Two turns of five actions, five effects, a long poll, a renewed lease; no fault found."""
    assert clean.observed_violations == []
    accepted, steps = clean.gate.accepted, clean.plan.steps
    answered = {str(action.body.get("effect", {}).get("effectType")) for action in accepted}
    assert answered - {"None"} == {"Cannon", "Map", "Oracle", "Sword", "Hook"}
    assert Counter(steps)["act"] == len(accepted) == 11
    assert {"renew_lease", "update_header", "wait"} <= set(steps)


def test_r24_a_match_that_was_denied_long_enough_to_be_closed_is_played_on(
    folder: Path, clean: MatchHarness
) -> None:
    """Wherever the denials begin before our last action; after it the arena names it no more."""
    steps = clean.plan.steps
    last = max(at for at, step in enumerate(steps) if step == "act")
    looks = [at for at in range(last) if steps[at] in {"view", "wait"}]
    for at in looks:
        denials = dict.fromkeys(range(at, at + LONG), FaultKind.NOT_FOUND_ONCE)
        bench = run_harness(MatchHarness(SimulatedArena, folder, denials))
        assert bench.observed_violations == [], f"from step {at}"
        assert "reopened" in bench.notes
    assert {steps[at] for at in looks} == {"view", "wait"}


def test_r25_a_match_of_which_the_arena_lost_the_last_moves_is_played_on(
    folder: Path, clean: MatchHarness
) -> None:
    """Its file is put back while a worker dies at any step, or before the question what is so.

    Between a look and its action nobody could notice (docs/reliability.md).
    """
    steps = clean.plan.steps
    deaths = [*range(steps.index("act"), len(steps), case_count(12, full=1)), steps.index("finish")]
    cuts = [({at: FaultKind.CRASH_AFTER}, at + 1) for at in deaths]
    cuts += [({}, at) for at, step in enumerate(steps) if step == "wait"]
    harmed, withdrawn = {}, 0
    for number, (faults, cut) in enumerate(cuts):
        for lost in LOST_STEPS[number % 3 :: case_count(3, full=1)]:
            bench = power_cut(folder, max(0, cut - lost), cut, faults)
            withdrawn += "withdrawn" in bench.notes
            assert group_into_turns(bench.moves)[-1].is_last
            if bench.observed_violations:
                harmed[cut, lost] = bench.observed_violations
    assert harmed == {}
    assert withdrawn > len(cuts) / 4


def power_cut(
    folder: Path, saved_step: int, cut: int, faults: Mapping[int, FaultKind | float]
) -> MatchHarness:
    """Run a match whose arena loses at step `cut` everything since step `saved_step`."""
    data, copy = folder / "arena.db", folder / "arena.kept"
    data.unlink(missing_ok=True)
    bench = MatchHarness(partial(SimulatedArena, data=data), folder, faults)
    arena = bench.place

    def save_or_restore(_step: str) -> None:
        number = len(bench.plan.steps)
        if number == saved_step:
            arena.restart(partial(copyfile, data, copy))
        if number == cut:
            arena.restart(partial(copyfile, copy, data))
            accepted = bench.gate.accepted
            accepted[:] = [action for action in accepted if action.sequence < arena.sequence]

    bench.plan.on_step = save_or_restore
    return run_harness(bench)


LIMIT = timedelta(seconds=8)
OVERDUE = timedelta(milliseconds=350)
"""So long a worker is held up between decision and POST, and not so long that it notices."""


@dataclass
class WatchedArena(SimulatedArena):
    """An arena with a limit a move and a watchdog, and a match in mid-turn."""

    table: Mapping[str, Any] = field(default_factory=lambda: {**TABLE, "timeout": 8})

    def __post_init__(self) -> None:
        super().__post_init__()
        self.act_outside_worker({"etype": "Draw"})

    def delay_past_turn_end(self) -> None:
        """Let so much time pass that the watchdog and the opponent act first."""
        self.clock.advance(OVERDUE)
        self.arena.referee.end_overdue_turns()
        self.play_rival()


@dataclass
class StuckArena(SimulatedArena):
    """An arena in whose match the next timeout is the fifth, and its autopick empties the pile."""

    randomness: RandomnessMethod = RandomnessMethod.ORIGINAL
    table: Mapping[str, Any] | None = field(
        default_factory=lambda: {
            "timeout": LIMIT.total_seconds(),
            "randomSeed": NO_RANDOM_SEED,  # Alice begins
            "drawPile": [["Kraken", 7], ["Hook", 5], ["Oracle", 5]],
        }
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for _ in range(MAX_TIMEOUTS - 1):
            self.run_out_of_time()
        self.act_outside_worker({"etype": "Draw"})
        self.run_out_of_time()

    def run_out_of_time(self) -> None:
        self.clock.advance(LIMIT + OVERDUE)
        self.arena.referee.end_overdue_turns()


def test_a_match_that_nobody_can_end_costs_few_requests_and_is_told_once(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The original refuses every action there, because it wants to end an ended match again."""
    meter = RecordingMeter()
    with closing(MatchHarness(StuckArena, folder, timing=SessionTiming(), meter=meter)) as bench:
        place = bench.place
        assert not place.match.is_finished
        end = bench.clock.now() + timedelta(minutes=10)
        bot = bench.make_worker()
        result = bot.run_session(place.match_id, lambda: end - bench.clock.now())
        steps = Counter(bench.plan.steps)
    assert result is SessionResult.HANDED_OVER
    assert steps["act"] <= 20
    assert steps["view"] <= 25
    assert caplog.text.count("the match stands still") == 1
    assert "No action possible on finished matches." in caplog.text
    assert meter.counts[MetricName.FALLBACK_ACTIONS] <= 1, "that the time was over at first"


def test_our_own_arena_ends_such_a_match(folder: Path) -> None:
    with closing(
        MatchHarness(partial(StuckArena, randomness=RandomnessMethod.FAIR), folder)
    ) as bench:
        assert bench.place.match.is_finished


@pytest.mark.parametrize("remaining", [OVERDUE / 7, OVERDUE / 2, OVERDUE, timedelta(seconds=1.2)])
def test_r31_no_action_opens_a_turn_that_it_was_not_meant_for(
    folder: Path, remaining: timedelta
) -> None:
    """The arena ends our turn while its action is between decision and POST."""
    assert harm_between_decision_and_post(folder, remaining) == []


def harm_between_decision_and_post(folder: Path, remaining: timedelta) -> list[str]:
    """Return the violations of a worker that is delayed with `remaining` of its turn to go."""
    with closing(MatchHarness(WatchedArena, folder)) as bench:
        place = bench.place
        bench.clock.advance(LIMIT - remaining)
        faults: dict[int, FaultKind | float] = {}

        def pause_once(step: str) -> None:
            if step == "write_intent" and not faults:
                faults[len(plan.steps)] = FaultKind.PAUSE_AFTER

        plan = FaultPlan(bench.clock, faults, pause_once, place.delay_past_turn_end)
        bench.run_session(bench.match_id, plan)
        assert plan.injected
        return [fault for action in bench.gate.accepted for fault in action.violations]


@pytest.mark.parametrize("gone", [LIMIT / 2, LIMIT * 2], ids=["in time", "overdue"])
@pytest.mark.parametrize("ahead", [timedelta(0), timedelta(hours=1)], ids=["dated", "misdated"])
def test_r31_a_match_with_a_limit_is_played_on_whatever_the_dates_say(
    folder: Path, gone: timedelta, ahead: timedelta
) -> None:
    """Also where only an action ends a turn that is overdue, and where a gateway dates answers."""
    bench = MatchHarness(WatchedArena, folder)
    bench.place.date_offset = ahead
    bench.clock.advance(gone)
    expected_violations = (
        "count as ours",
        FORCED_TURN_TEXT if gone > LIMIT else "count as ours",
    )  # the first draw; late
    assert [
        violation
        for violation in run_harness(bench).observed_violations
        if not any(expected in violation for expected in expected_violations)
    ] == []


@pytest.fixture(scope="module")
def watched(folder: Path) -> MatchHarness:
    """A match with a limit a move, in which nothing goes wrong."""
    return run_harness(MatchHarness(WatchedArena, folder))


def test_r31_a_turn_that_regains_its_full_time_is_played_on(
    folder: Path, watched: MatchHarness
) -> None:
    """The arena was down after an action of ours; one EndTurn at most asks if the turn is over."""
    refused_types = []
    acts = [at for at, step in enumerate(watched.plan.steps) if step == "act"]
    for at in acts[:: case_count(3, full=1)]:
        bench = run_with_arena_outage(folder, at)
        refused = bench.gate.refused
        refused_types += [action.action["etype"] for action in refused]
        expected_violations = "count as ours", *map(str, refused)  # the first draw
        assert [
            violation
            for violation in bench.observed_violations
            if not any(expected in violation for expected in expected_violations)
        ] == []
        assert len(refused) <= 1
    assert set(refused_types) == {"EndTurn"}


def run_with_arena_outage(folder: Path, at: int) -> MatchHarness:
    """Run a match whose arena is down for longer than a turn, from the action of step `at` on."""
    data = folder / "again.db"
    data.unlink(missing_ok=True)
    timing = replace(
        HARSH_TIMING, lease_ttl=timedelta(minutes=2), renew_interval=timedelta(minutes=1)
    )
    bench = MatchHarness(
        partial(WatchedArena, data=data), folder, {at: FaultKind.PAUSE_AFTER}, timing=timing
    )
    arena = bench.place

    def down() -> None:
        bench.clock.advance(LIMIT * 2)
        arena.restart()

    bench.plan.pause = down
    return run_harness(bench)


def test_r15_no_page_of_an_hour_stops_a_match_for_longer_than_its_turn_bears(
    folder: Path, watched: MatchHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ordinary maintenance page, once, in place of each answer; the turn's limit is 8 s."""
    page = HttpResponse(503, (("Retry-After", "3600"),), b"maintenance")
    monkeypatch.setitem(ANSWERS, FaultKind.HTTP_503, page)
    for at in steps_with_fault(watched.plan.steps, FaultKind.HTTP_503)[:: case_count(3, full=1)]:
        bench = run_harness(MatchHarness(WatchedArena, folder, {at: FaultKind.HTTP_503}))
        arena = bench.place
        assert arena.match.state.timeout_count == 0, at
        assert bench.clock.elapsed - watched.clock.elapsed < 2 * RETRY_AFTER, at


def test_the_suite_misses_the_end_of_a_turn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation guard: who does not know when its turn ends opens the next one."""
    monkeypatch.setattr(ArenaBotMatch, "_estimate_turn_end", lambda *_: NEVER_BOUNDS)
    violations = harm_between_decision_and_post(folder, OVERDUE / 2)
    assert any("was meant for move" in fault for fault in violations)


# --- an arena that is newer, and two bots of one user ------------------------------------------


HOUR = timedelta(hours=1)
PACE = (0.19, 0.21)  # seconds that a step takes besides, so that a match lasts half a minute

DUPLICATE_BOT_WARNING = "another bot or a person plays as this user"


@dataclass
class RenamedArena(SimulatedArena):
    """Arena whose words differ from those that the bot knows."""

    words: Mapping[str, str] = field(default_factory=dict)

    def handle_request(self, request: PreparedRequest) -> HttpResponse:
        translated = request.copy()
        translated.body = self.renamed(
            body_of(request), {new: old for old, new in self.words.items()}
        )
        translated.headers["Content-Length"] = str(len(translated.body))
        answer = super().handle_request(translated)
        headers = tuple(
            header for header in answer.headers if header[0].lower() != "content-length"
        )
        return HttpResponse(answer.status, headers, self.renamed(answer.body, self.words))

    @staticmethod
    def renamed(text: bytes, words: Mapping[str, str]) -> bytes:
        text = text.replace(b": ", b":")
        for old, new in words.items():
            text = text.replace(old.encode(), new.encode())
        return text


PARROTS = {f'"{key}":"Hook"': f'"{key}":"Parrot"' for key in ("effectType", "responseToEffectType")}


@pytest.mark.parametrize(
    ("words", "strategy", "autopicked_effects"),
    [({'"Mermaid"': '"Siren"'}, "steady", set()), (PARROTS, "champion", {"Parrot"})],
    ids=["a suit without an effect", "an effect"],
)
def test_unknown_suits_and_effects_do_not_stop_a_match(
    tmp_path: Path, words: Mapping[str, str], strategy: str, autopicked_effects: set[str]
) -> None:
    """Only an unknown effect is left to the server by autopick, and none of the six known ones."""
    place = partial(RenamedArena, words=words, strategy=strategy)
    with closing(MatchHarness(place, tmp_path)) as bench:
        bench.run_match()
        text = RenamedArena.renamed(json.dumps(bench.place.match_json()).encode(), words)
        match_view = json.loads(text)
        assert [
            *log_differences(match_view, bench.log),
            *intent_differences(match_view, bench.log, [ALICE]),
        ] == []
        assert bench.is_finished
        assert bench.gate.refused == []
    assert b"Siren" in text or autopicked_effects
    picked = [
        entry
        for entry in accepted_actions(match_view, [ALICE])
        if entry["userAction"].get("autopick")
    ]
    events = [match_view["moves"][entry["sequenceId"] - 1]["events"][-1] for entry in picked]
    assert {event["cardPlayedEffect"]["effectType"] for event in events} == autopicked_effects


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", range(case_count(1, full=40)))
def test_r39_of_two_bots_of_one_user_only_the_elder_continues(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int, late: bool
) -> None:
    """The younger leaves the match for good; the elder plays it to its end."""
    clock, chance = Scheduler(), Random(seed)
    first = MatchHarness(
        partial(SimulatedArena, table={}), tmp_path, timing=SessionTiming(), clock=clock
    )
    second = MatchHarness(lambda *_: first.place, tmp_path, timing=SessionTiming(), clock=clock)
    ends: list[tuple[object, MatchHarness]] = []
    for bench in first, second:
        bench.plan.on_step = lambda _step: clock.sleep(timedelta(seconds=chance.uniform(*PACE)))

    def attend(bench: MatchHarness) -> None:
        ends.append((bench.make_worker().run_session(bench.match_id, lambda: HOUR), bench))

    clock.start_thread(partial(attend, first), Process("first"))
    clock.start_thread(partial(attend, second), Process("second"), seconds=3 if late else 0)
    with closing(first), closing(second.stores):
        clock.run()
    (younger_result, younger), (elder_result, elder) = ends
    assert (younger_result, elder_result) == (SessionResult.LEASED_BY_OTHER, SessionResult.FINISHED)
    assert len(elder.gate.accepted) > len(younger.gate.accepted)
    # The elder may have decided one action on what the younger had just changed.
    assert len(elder.gate.refused) <= 1
    # The elder sees nothing of one that comes late: that one looks first whether somebody plays.
    assert caplog.text.count(DUPLICATE_BOT_WARNING) == 2 - late
    if late:
        assert younger is second
        assert younger.gate.accepted == []
