"""Whatever goes wrong at any step, the bot's game of Blef is played on, and played as meant.

A short game against the real handler in this process, every I/O step of whoever orders the seat
and of every worker numbered. A fault hits each of them in turn; workers that die leave a lease
that runs out, and the poller's look at the match log finds the seat again.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.blef_bot import HARD, NAME, SECRET, Bench, play_out
from support.bot_faults import FaultPlan, Kind, kinds_for

from cardsharp.blef.seat import find_seat
from cardsharp.cloud import hold
from cardsharp.cloud.attended import Attended
from cardsharp.cloud.ports import Body

KINDS = (
    Kind.CRASH_BEFORE,
    Kind.CRASH_AFTER,
    Kind.RESPONSE_LOST,
    Kind.LATE,
    Kind.CRASH_LATE,
    Kind.CONFLICT,
    Kind.DOWN,
)
PAIRS = 12


@pytest.fixture(autouse=True)
def nothing_secret_is_said(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No line that is logged in this suite has the uuid by which the service knows us."""
    caplog.set_level(logging.INFO)
    yield
    assert str(SECRET) not in caplog.text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def steps(folder: Path) -> list[str]:
    """The names of the I/O steps of a game in which nothing goes wrong."""
    return play_out(folder, {}).plan.steps


def suffering(steps: list[str], kind: Kind) -> list[int]:
    found = [at for at, step in enumerate(steps) if kind in kinds_for(step)]
    assert found, f"nothing ever suffers {kind}"
    return found


def test_the_game_of_this_suite_is_worth_it(folder: Path) -> None:
    """Ordered, joined, waited for, several turns in several rounds, closed; no fault found."""
    bench = play_out(folder, {})
    assert bench.found == []
    counts = Counter(bench.plan.steps)
    assert len(bench.taken) >= 2
    assert counts["act"] == 1 + len(bench.taken), "one join, and each action sent once"
    assert len({one.sequence // 100 for one in bench.taken}) >= 2
    wanted = {"vault add", "vault find", "take", "view", "wait", "intend", "record", "finish"}
    assert wanted <= counts.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_one_fault_at_any_step_harms_nothing(folder: Path, steps: list[str], kind: Kind) -> None:
    found = {(at, steps[at]): play_out(folder, {at: kind}).found for at in suffering(steps, kind)}
    assert {at: faults for at, faults in found.items() if faults} == {}


def test_two_faults_harm_nothing(folder: Path, steps: list[str]) -> None:
    """A seeded sample of pairs: the second befalls one of the next dozen steps."""
    rng = Random(3)
    harmed = {}
    for _ in range(PAIRS):
        first = rng.randrange(len(steps) - 1)
        faults: dict[int, Kind | float] = {
            at: rng.choice((Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.RESPONSE_LOST))
            for at in (first, first + rng.randint(1, 12))
        }
        bench = play_out(folder, faults)
        if bench.found:
            harmed[str(bench.plan.hits)] = bench.found
    assert harmed == {}


def test_a_message_that_comes_again_after_the_end_changes_nothing(folder: Path) -> None:
    bench = Bench(folder)
    try:
        bench.play()
        before = bench.everything()
        assert bench.attend(bench.match_id) is Attended.ELSEWHERE
        bench.seat()
        assert bench.everything() == before
    finally:
        bench.close()


def test_at_a_service_that_gives_out_the_uuids_the_given_one_is_kept(folder: Path) -> None:
    bench = play_out(folder, {}, chosen=False)
    assert bench.found == []
    assert Counter(bench.plan.steps)["vault replace"] == 1


def test_a_seat_that_another_worker_has_joined_meanwhile_is_played_by_the_uuid_it_was_given(
    folder: Path,
) -> None:
    """What the vault said before the lease was taken is old; joining again would be refused."""
    steps = play_out(folder, {}, chosen=False).plan.steps
    joined = steps.index("vault replace") - steps.index("vault find")
    bench = Bench(folder, chosen=False)
    late, early = bench.plan, FaultPlan(bench.clock, {joined: Kind.CRASH_AFTER})

    def come_between(step: str) -> None:
        if step == "take" and not early.steps:
            bench.plan = early
            bench.attend(bench.match_id)
            bench.plan = late
            bench.clock.advance(HARD.lease)
        bench.go_on()

    try:
        bench.seat()
        late.before_step = come_between
        bench.attend(bench.match_id)
        assert early.steps[-1] == "vault replace"
        assert bench.faults_found() == []
    finally:
        bench.close()


def test_a_game_without_a_seat_for_us_is_closed_and_not_tried_again(folder: Path) -> None:
    """It has started without us; the log says why, and nobody offers it any more."""
    bench = Bench(folder)
    try:
        bench.client.join(bench.game, "another")
        bench.client.post(f"/games/{bench.game}/start", {"admin_uuid": bench.rival})
        bench.seat()
        assert bench.attend(bench.match_id) is Attended.UNKNOWN
        record = bench.log.match(bench.match_id)
        assert record is not None
        assert record.outcome is not None
        assert record.outcome["reason"] == "Game already started"
        assert bench.offering().offer() == 0
    finally:
        bench.close()


def test_a_worker_that_runs_out_of_time_hands_the_seat_on(folder: Path) -> None:
    bench = Bench(folder)
    try:
        bench.seat()
        end = bench.clock.now() + timedelta(seconds=20)
        attended = bench.worker().attend(bench.match_id, lambda: end - bench.clock.now())
        assert attended is Attended.HANDED_ON
        assert bench.clock.now() < end
        bench.play()
        assert bench.faults_found() == []
    finally:
        bench.close()


def test_the_secret_is_in_the_vault_alone(folder: Path) -> None:
    """Neither in the match log, nor in what is queued, nor in what an object shows of itself."""
    bench = Bench(folder)
    try:
        bench.seat()
        message = bench.queue.receive(timedelta(0))
        assert message is not None
        assert str(SECRET) not in message.body + bench.everything()
        kept = bench.vault.find(bench.match_id)
        assert kept is not None
        assert kept["player"] == str(SECRET)
        assert str(SECRET) not in repr(find_seat(bench.vault, bench.match_id))
        assert (folder / "log.vault").stat().st_mode & 0o077 == 0
    finally:
        bench.close()


def test_every_choice_is_explained_in_the_log(folder: Path) -> None:
    """Reason, options, hand and bets of each action, beside what came of it."""
    bench = Bench(folder)
    try:
        bench.play()
        moves = {move.sequence: move for move in bench.log.moves(bench.match_id)}
        for one in bench.taken:
            intent, facts = moves[one.sequence].intent, moves[one.sequence].facts
            assert intent is not None
            assert facts is not None
            assert facts["player"] == NAME
            assert str(intent["reason"]).endswith(".")
            assert intent["options"]
            assert len(str(intent["hand"])) > 0
    finally:
        bench.close()


# --- the suite itself ------------------------------------------------------------------------


def test_the_suite_finds_a_log_that_lacks_its_intents(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mutation guard: an action that was sent without its intent is found out."""

    def never(_self: hold.Hold, _sequence: int, _intent: Body) -> bool:
        return True

    monkeypatch.setattr(hold.Hold, "intend", never)
    assert any("meant was None" in fault for fault in play_out(folder, {}).found)
