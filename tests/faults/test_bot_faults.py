"""Tests of R24, R25, R31 and R39 at the arena, where the harness must detect bad bots.

The game is Dead Man's Draw, whose server alone would execute the same action twice.
Further tests use an arena that is newer than our code, and two bots of one user, as on
two laptops.
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
from fault_simulation.transport import FAULT_RESPONSES, RETRY_AFTER, request_body
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

DENIAL_COUNT = 10  # looks at a breath's distance, after which a denial is believed

LOST_STEP_COUNTS = (2, 5, 15)
"""How long before an arena goes back its file was kept: for an action, for some, for a turn."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def faultless_run(folder: Path) -> MatchHarness:
    """Return the harness of a match in which nothing fails."""
    return run_harness(MatchHarness(SimulatedArena, folder))


def test_the_match_of_the_harness_has_all_kinds_of_steps(faultless_run: MatchHarness) -> None:
    """The match has two turns of five actions, five effects, a long poll and a lease renewal."""
    assert faultless_run.observed_violations == []
    accepted, steps = faultless_run.proxy.accepted, faultless_run.plan.steps
    effect_types = {str(action.body.get("effect", {}).get("effectType")) for action in accepted}
    assert effect_types - {"None"} == {"Cannon", "Map", "Oracle", "Sword", "Hook"}
    assert Counter(steps)["act"] == len(accepted) == 11
    assert {"renew_lease", "update_header", "wait"} <= set(steps)


def test_r24_a_match_that_was_denied_long_enough_to_be_closed_is_played_on(
    folder: Path, faultless_run: MatchHarness
) -> None:
    """The match is reopened, wherever the denials begin before our last action."""
    steps = faultless_run.plan.steps
    last_action_step = max(step_index for step_index, step in enumerate(steps) if step == "act")
    read_steps = [
        step_index
        for step_index in range(last_action_step)
        if steps[step_index] in {"view", "wait"}
    ]
    for step_index in read_steps:
        denials = dict.fromkeys(
            range(step_index, step_index + DENIAL_COUNT), FaultKind.NOT_FOUND_ONCE
        )
        harness = run_harness(MatchHarness(SimulatedArena, folder, denials))
        assert harness.observed_violations == [], f"from step {step_index}"
        assert "reopened" in harness.notes
    assert {steps[step_index] for step_index in read_steps} == {"view", "wait"}


def test_r25_a_match_of_which_the_arena_lost_the_last_moves_is_played_on(
    folder: Path, faultless_run: MatchHarness
) -> None:
    """The arena's file is put back while a worker dies at any step, or before a long poll.

    Between a read and its action nobody could notice (docs/reliability.md).
    """
    steps = faultless_run.plan.steps
    crash_steps = [
        *range(steps.index("act"), len(steps), case_count(12, full=1)),
        steps.index("finish"),
    ]
    cases = [({step_index: FaultKind.CRASH_AFTER}, step_index + 1) for step_index in crash_steps]
    cases += [({}, step_index) for step_index, step in enumerate(steps) if step == "wait"]
    violations_by_case, withdrawal_count = {}, 0
    for case_index, (faults, restore_step) in enumerate(cases):
        for lost_step_count in LOST_STEP_COUNTS[case_index % 3 :: case_count(3, full=1)]:
            harness = run_with_restored_arena(
                folder, max(0, restore_step - lost_step_count), restore_step, faults
            )
            withdrawal_count += "withdrawn" in harness.notes
            assert group_into_turns(harness.moves)[-1].is_last
            if harness.observed_violations:
                violations_by_case[restore_step, lost_step_count] = harness.observed_violations
    assert violations_by_case == {}
    assert withdrawal_count > len(cases) / 4


def run_with_restored_arena(
    folder: Path, saved_step: int, restore_step: int, faults: Mapping[int, FaultKind | float]
) -> MatchHarness:
    """Run a match whose arena loses, at step `restore_step`, all since step `saved_step`."""
    data, backup = folder / "arena.db", folder / "arena.kept"
    data.unlink(missing_ok=True)
    harness = MatchHarness(partial(SimulatedArena, data=data), folder, faults)
    arena = harness.server

    def save_or_restore(_step: str) -> None:
        step_count = len(harness.plan.steps)
        if step_count == saved_step:
            arena.restart(partial(copyfile, data, backup))
        if step_count == restore_step:
            arena.restart(partial(copyfile, backup, data))
            accepted = harness.proxy.accepted
            accepted[:] = [action for action in accepted if action.sequence < arena.sequence]

    harness.plan.on_step = save_or_restore
    return run_harness(harness)


TURN_TIMEOUT = timedelta(seconds=8)
WORKER_DELAY = timedelta(milliseconds=350)
"""So long a worker is held up between decision and POST, and not so long that it notices."""


@dataclass
class WatchedArena(SimulatedArena):
    """Arena with a time limit for each move, a watchdog, and a match in mid-turn."""

    table: Mapping[str, Any] = field(default_factory=lambda: {**TABLE, "timeout": 8})

    def __post_init__(self) -> None:
        super().__post_init__()
        self.act_outside_worker({"etype": "Draw"})

    def delay_past_turn_end(self) -> None:
        """Advance the time so that the watchdog and the opponent act first."""
        self.clock.advance(WORKER_DELAY)
        self.arena.referee.end_overdue_turns()
        self.play_rival()


@dataclass
class StuckArena(SimulatedArena):
    """Arena in whose match the next timeout is the fifth, and its autopick empties the pile."""

    randomness: RandomnessMethod = RandomnessMethod.ORIGINAL
    table: Mapping[str, Any] | None = field(
        default_factory=lambda: {
            "timeout": TURN_TIMEOUT.total_seconds(),
            "randomSeed": NO_RANDOM_SEED,  # Alice begins
            "drawPile": [["Kraken", 7], ["Hook", 5], ["Oracle", 5]],
        }
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for _ in range(MAX_TIMEOUTS - 1):
            self.time_out_turn()
        self.act_outside_worker({"etype": "Draw"})
        self.time_out_turn()

    def time_out_turn(self) -> None:
        self.clock.advance(TURN_TIMEOUT + WORKER_DELAY)
        self.arena.referee.end_overdue_turns()


def test_a_match_that_never_finishes_costs_few_requests_and_is_logged_once(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The original refuses every action there, because it tries to end a finished match."""
    meter = RecordingMeter()
    with closing(MatchHarness(StuckArena, folder, timing=SessionTiming(), meter=meter)) as harness:
        server = harness.server
        assert not server.match.is_finished
        deadline = harness.clock.now() + timedelta(minutes=10)
        bot = harness.make_worker()
        result = bot.run_session(server.match_id, lambda: deadline - harness.clock.now())
        step_counts = Counter(harness.plan.steps)
    assert result is SessionResult.HANDED_OVER
    assert step_counts["act"] <= 20
    assert step_counts["view"] <= 25
    assert caplog.text.count("the match stands still") == 1
    assert "No action possible on finished matches." in caplog.text
    assert meter.counts[MetricName.FALLBACK_ACTIONS] <= 1, "that the time was over at first"


def test_our_arena_finishes_a_match_that_never_finishes_at_the_original(folder: Path) -> None:
    with closing(
        MatchHarness(partial(StuckArena, randomness=RandomnessMethod.FAIR), folder)
    ) as harness:
        assert harness.server.match.is_finished


@pytest.mark.parametrize(
    "remaining", [WORKER_DELAY / 7, WORKER_DELAY / 2, WORKER_DELAY, timedelta(seconds=1.2)]
)
def test_r31_no_action_opens_a_turn_that_it_was_not_intended_for(
    folder: Path, remaining: timedelta
) -> None:
    """The arena may end our turn between the decision and the request without harm."""
    assert violations_with_delayed_request(folder, remaining) == []


def violations_with_delayed_request(folder: Path, remaining: timedelta) -> list[str]:
    """Return the violations of a worker that is delayed with `remaining` of its turn to go."""
    with closing(MatchHarness(WatchedArena, folder)) as harness:
        server = harness.server
        harness.clock.advance(TURN_TIMEOUT - remaining)
        faults: dict[int, FaultKind | float] = {}

        def pause_once(step: str) -> None:
            if step == "write_intent" and not faults:
                faults[len(plan.steps)] = FaultKind.PAUSE_AFTER

        plan = FaultPlan(harness.clock, faults, pause_once, server.delay_past_turn_end)
        harness.run_session(harness.match_id, plan)
        assert plan.injected
        return [fault for action in harness.proxy.accepted for fault in action.violations]


@pytest.mark.parametrize(
    "elapsed", [TURN_TIMEOUT / 2, TURN_TIMEOUT * 2], ids=["in time", "overdue"]
)
@pytest.mark.parametrize(
    "date_offset", [timedelta(0), timedelta(hours=1)], ids=["dated", "misdated"]
)
def test_r31_a_match_with_a_limit_is_played_on_whatever_the_dates_say(
    folder: Path, elapsed: timedelta, date_offset: timedelta
) -> None:
    """An overdue turn is ended by an action, and wrong dates of a gateway do no harm."""
    harness = MatchHarness(WatchedArena, folder)
    harness.server.date_offset = date_offset
    harness.clock.advance(elapsed)
    expected_violations = (
        "count as ours",
        FORCED_TURN_TEXT if elapsed > TURN_TIMEOUT else "count as ours",
    )  # the first draw; late
    assert [
        violation
        for violation in run_harness(harness).observed_violations
        if not any(expected in violation for expected in expected_violations)
    ] == []


@pytest.fixture(scope="module")
def faultless_watched_run(folder: Path) -> MatchHarness:
    """Return the harness of a match with a time limit for each move, in which nothing fails."""
    return run_harness(MatchHarness(WatchedArena, folder))


def test_r31_a_turn_that_regains_its_full_time_is_played_on(
    folder: Path, faultless_watched_run: MatchHarness
) -> None:
    """The arena was down during our turn; at most one EndTurn probes if the turn is over."""
    refused_types = []
    action_steps = [
        step_index
        for step_index, step in enumerate(faultless_watched_run.plan.steps)
        if step == "act"
    ]
    for step_index in action_steps[:: case_count(3, full=1)]:
        harness = run_with_arena_outage(folder, step_index)
        refused_actions = harness.proxy.refused
        refused_types += [action.action["etype"] for action in refused_actions]
        expected_violations = "count as ours", *map(str, refused_actions)  # the first draw
        assert [
            violation
            for violation in harness.observed_violations
            if not any(expected in violation for expected in expected_violations)
        ] == []
        assert len(refused_actions) <= 1
    assert set(refused_types) == {"EndTurn"}


def run_with_arena_outage(folder: Path, outage_step: int) -> MatchHarness:
    """Run a match whose arena is down for longer than a turn from step `outage_step` on."""
    data_file = folder / "again.db"
    data_file.unlink(missing_ok=True)
    timing = replace(
        HARSH_TIMING, lease_ttl=timedelta(minutes=2), renew_interval=timedelta(minutes=1)
    )
    harness = MatchHarness(
        partial(WatchedArena, data=data_file),
        folder,
        {outage_step: FaultKind.PAUSE_AFTER},
        timing=timing,
    )
    arena = harness.server

    def restart_arena() -> None:
        harness.clock.advance(TURN_TIMEOUT * 2)
        arena.restart()

    harness.plan.pause = restart_arena
    return run_harness(harness)


def test_r15_a_page_with_a_long_retry_delay_costs_no_turn(
    folder: Path, faultless_watched_run: MatchHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A maintenance page with a delay of an hour, once at any step, costs no turn of 8 s."""
    page = HttpResponse(503, (("Retry-After", "3600"),), b"maintenance")
    monkeypatch.setitem(FAULT_RESPONSES, FaultKind.HTTP_503, page)
    for step_index in steps_with_fault(faultless_watched_run.plan.steps, FaultKind.HTTP_503)[
        :: case_count(3, full=1)
    ]:
        harness = run_harness(MatchHarness(WatchedArena, folder, {step_index: FaultKind.HTTP_503}))
        arena = harness.server
        assert arena.match.state.timeout_count == 0, step_index
        assert harness.clock.elapsed - faultless_watched_run.clock.elapsed < 2 * RETRY_AFTER, (
            step_index
        )


def test_a_bot_that_does_not_know_when_its_turn_ends_is_detected(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mutation guard: a bot that does not know when its turn ends opens the next turn."""
    monkeypatch.setattr(ArenaBotMatch, "_estimate_turn_end", lambda *_: NEVER_BOUNDS)
    violations = violations_with_delayed_request(folder, WORKER_DELAY / 2)
    assert any("was meant for move" in fault for fault in violations)


# --- an arena that is newer, and two bots of one user ------------------------------------------


HOUR = timedelta(hours=1)
STEP_SECONDS = (
    0.19,
    0.21,
)  # seconds that a step takes besides, so that a match lasts half a minute

DUPLICATE_BOT_WARNING = "another bot or a person plays as this user"


@dataclass
class RenamedArena(SimulatedArena):
    """Arena with other names for suits and effects than those that the bot knows."""

    replacements: Mapping[str, str] = field(default_factory=dict)

    def handle_request(self, request: PreparedRequest) -> HttpResponse:
        translated = request.copy()
        translated.body = self.replace_names(
            request_body(request), {new: old for old, new in self.replacements.items()}
        )
        translated.headers["Content-Length"] = str(len(translated.body))
        response = super().handle_request(translated)
        headers = tuple(
            header for header in response.headers if header[0].lower() != "content-length"
        )
        return HttpResponse(
            response.status, headers, self.replace_names(response.body, self.replacements)
        )

    @staticmethod
    def replace_names(text: bytes, replacements: Mapping[str, str]) -> bytes:
        text = text.replace(b": ", b":")
        for old, new in replacements.items():
            text = text.replace(old.encode(), new.encode())
        return text


PARROTS = {f'"{key}":"Hook"': f'"{key}":"Parrot"' for key in ("effectType", "responseToEffectType")}


@pytest.mark.parametrize(
    ("replacements", "strategy", "autopicked_effects"),
    [({'"Mermaid"': '"Siren"'}, "steady", set()), (PARROTS, "champion", {"Parrot"})],
    ids=["a suit without an effect", "an effect"],
)
def test_unknown_suits_and_effects_do_not_stop_a_match(
    tmp_path: Path, replacements: Mapping[str, str], strategy: str, autopicked_effects: set[str]
) -> None:
    """Autopick is used for an unknown effect only, not for any of the six that the bot knows."""
    make_server = partial(RenamedArena, replacements=replacements, strategy=strategy)
    with closing(MatchHarness(make_server, tmp_path)) as harness:
        harness.run_match()
        text = RenamedArena.replace_names(
            json.dumps(harness.server.match_json()).encode(), replacements
        )
        match_view = json.loads(text)
        assert [
            *log_differences(match_view, harness.log),
            *intent_differences(match_view, harness.log, [ALICE]),
        ] == []
        assert harness.is_finished
        assert harness.proxy.refused == []
    assert b"Siren" in text or autopicked_effects
    autopicked_entries = [
        entry
        for entry in accepted_actions(match_view, [ALICE])
        if entry["userAction"].get("autopick")
    ]
    events = [
        match_view["moves"][entry["sequenceId"] - 1]["events"][-1] for entry in autopicked_entries
    ]
    assert {event["cardPlayedEffect"]["effectType"] for event in events} == autopicked_effects


@pytest.mark.parametrize("is_second_late", [False, True])
@pytest.mark.parametrize("seed", range(case_count(1, full=40)))
def test_r39_of_two_bots_of_a_user_only_the_first_continues(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int, is_second_late: bool
) -> None:
    """The second bot leaves the match for good; the first plays it to its end."""
    clock, rng = Scheduler(), Random(seed)
    first = MatchHarness(
        partial(SimulatedArena, table={}), tmp_path, timing=SessionTiming(), clock=clock
    )
    second = MatchHarness(lambda *_: first.server, tmp_path, timing=SessionTiming(), clock=clock)
    results: list[tuple[object, MatchHarness]] = []
    for harness in first, second:
        harness.plan.on_step = lambda _step: clock.sleep(
            timedelta(seconds=rng.uniform(*STEP_SECONDS))
        )

    def run_bot(harness: MatchHarness) -> None:
        results.append((harness.make_worker().run_session(harness.match_id, lambda: HOUR), harness))

    clock.start_thread(partial(run_bot, first), Process("first"))
    clock.start_thread(
        partial(run_bot, second), Process("second"), seconds=3 if is_second_late else 0
    )
    with closing(first), closing(second.stores):
        clock.run()
    (leaving_result, leaving_bot), (finishing_result, finishing_bot) = results
    assert (leaving_result, finishing_result) == (
        SessionResult.LEASED_BY_OTHER,
        SessionResult.FINISHED,
    )
    assert len(finishing_bot.proxy.accepted) > len(leaving_bot.proxy.accepted)
    # The elder may have decided one action on what the younger had just changed.
    assert len(finishing_bot.proxy.refused) <= 1
    # The elder sees nothing of one that comes late: that one looks first whether somebody plays.
    assert caplog.text.count(DUPLICATE_BOT_WARNING) == 2 - is_second_late
    if is_second_late:
        assert leaving_bot is second
        assert leaving_bot.proxy.accepted == []
