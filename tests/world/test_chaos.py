"""`make chaos` and `make limits` in small, the judge's own eyes, and that a seed says all."""

from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from requests import ReadTimeout
from support.arena import ALICE
from support.size import cases

from cardsharp.cloud import hold
from cardsharp.contact import Contact
from cardsharp.deadmansdraw import scout
from cardsharp.deadmansdraw.arena.limits import PER_USER
from world.arena import BenchArena
from world.bench import Bench
from world.chaos import CALM, NIGHT, played
from world.clock import START
from world.faults import Kind
from world.judge import Evidence, Suffered, judge
from world.kit import HOMES
from world.network import Accepted, Refused
from world.road import INSTANT, Road
from world.world import Outcome

HOME, CLOUD = HOMES
SMALL = replace(NIGHT, matches=3, at_once=3, every=5, rate=0.08)


@pytest.mark.parametrize(
    ("home", "matches", "turn"),
    [(HOME, 4, 20), (HOME, 4, 7), pytest.param(CLOUD, 3, 20, marks=pytest.mark.slow)],
)
def test_no_promise_is_broken_whatever_fails(home: str, matches: int, turn: float) -> None:
    wish = replace(SMALL, turn=turn, at_once=3 if turn > 7 else 2, opponent=(0.5, turn / 2))
    outcome = played(replace(wish, matches=matches, seed=3), home)
    assert outcome.faults == []
    assert outcome.ended == matches
    assert {"machine killed", "machine frozen", "message again"} <= outcome.befell.keys()


def test_a_seed_does_the_same_to_the_last_byte(tmp_path: Path) -> None:
    told = []
    for number in range(2):
        outcome = played(replace(SMALL, matches=1, seed=5), HOME, tmp_path / str(number))
        told.append((outcome.replay, (tmp_path / str(number)).read_bytes()))
    other = played(replace(SMALL, matches=1, seed=6), HOME)
    assert told[0] == told[1]
    assert other.replay != told[0][0]


def test_a_broken_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation guard: intents that nobody stores."""
    monkeypatch.setattr(hold.Hold, "intend", lambda *_: True)
    faults = played(replace(SMALL, matches=1), HOME).faults
    assert any("without an intent" in fault for fault in faults)


def test_r14_a_worker_that_dies_while_newer_matches_are_polled_for_costs_no_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 7 s; where nobody looks at leases meanwhile, one death costs several."""

    def lost() -> int:
        return sum(len(verdict.lost) for verdict in played(wish, HOME).verdicts)

    wish = replace(NIGHT, matches=4, at_once=4, turn=7, opponent=(0.5, 2.5), machines=2)
    wish = replace(wish, rate=0.01, every=None, seed=13)
    assert lost() == 0
    monkeypatch.setattr(scout, "beside", lambda *_: nullcontext())
    assert lost() > 1


def test_a_retry_after_is_obeyed_for_no_longer_than_a_short_turn_bears() -> None:
    """A quarter of its limit; with this seed a long poll is answered by one of 2 s."""
    wish = replace(SMALL, matches=1, at_once=1, every=None, rate=0.3, turn=5, seed=21)
    outcome = played(wish, HOME)
    assert outcome.ended == 1
    assert not {Kind.HTTP_429, Kind.HTTP_503}.isdisjoint(outcome.befell)


def test_an_action_is_given_up_at_its_limit_however_late_it_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As by a real client: the time before it is sent is a part of the limit."""
    late, carry = list[float](), Road.carry

    def timed(road: Road, request: Any, meant: Any, timeout: Any, began: float) -> Any:  # noqa: ANN401
        try:
            return carry(road, request, meant, timeout, began)
        except ReadTimeout:
            if request.method == "POST":
                late.append(road.clock.monotonic() - began - timeout.total)
            raise

    monkeypatch.setattr(Road, "carry", timed)
    played(replace(SMALL, matches=1, rate=0, every=2, deciding=1, seed=6), HOME)
    assert late
    assert max(late) <= SMALL.way + INSTANT


def at_limit(matches: int, at_once: int, limit: int | None = PER_USER, **more: Any) -> Outcome:  # noqa: ANN401
    """Matches in which nothing fails; of all that are played here no turn may be lost."""
    return played(replace(CALM, matches=matches, at_once=at_once, limit=limit, **more), HOME)


@pytest.mark.parametrize("at_once", [1, 6])
def test_r40_no_turn_is_lost_and_no_action_refused_at_the_limit(at_once: int) -> None:
    """At 100 requests a minute and 7 s a turn, in matches that want three times as many."""
    outcome = at_limit(at_once + cases(1, every=2), at_once)
    assert outcome.faults == []
    assert outcome.most_at_once == at_once
    lists = outcome.asked["list"] + outcome.asked["list_wait"]
    assert lists / outcome.ended < 5


def test_r40_a_limit_that_no_answer_tells_is_felt_and_where_there_is_none_nothing_waits() -> None:
    silent, free = at_limit(3, 2, tells=False), at_limit(4, 4, limit=None)
    assert silent.faults == free.faults == []
    assert sum(free.asked.values()) > 2 * PER_USER * free.minutes


def test_r40_more_matches_than_the_limit_feeds_are_left_alone_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Half of that limit feeds three."""
    assert at_limit(6, 6, limit=PER_USER // 2).most_at_once == 3
    assert "the limit of requests feeds 3 at once" in caplog.text


@pytest.mark.slow
def test_r40_the_suite_misses_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation guard: who asks whenever it likes is slowed by seconds, and loses turns."""
    monkeypatch.setattr(Contact, "admit", lambda *_: None)
    outcome = at_limit(8, 6)
    assert outcome.longest > 3
    assert any("was lost" in fault for fault in outcome.faults)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """A match of the real bot at the real arena, played to its end."""
    with closing(Bench(BenchArena, tmp_path_factory.mktemp("bench"))) as bench:
        bench.play()
        assert isinstance(bench.place, BenchArena)
        yield Evidence(bench.place.look(), ALICE, bench.log, bench.gate.accepted)


@pytest.fixture
def forced(evidence: Evidence) -> Evidence:
    """The match, had the arena made our last move for want of time."""
    whole = deepcopy(evidence.whole)
    events = whole["moves"][evidence.accepted[-1].sequence]["events"]
    seat = events[0]["playerIndex"]
    events.insert(0, {"eventType": "Comment", "comment": "late", "playerIndex": seat})
    return replace(evidence, whole=whole, accepted=evidence.accepted[:-1])


def before(evidence: Evidence, move: int) -> datetime:
    """When the move before this one was made."""
    return datetime.fromisoformat(evidence.whole["moves"][move - 1]["at"])


def test_what_the_network_saw_of_an_action_is_held_against_the_history(
    evidence: Evidence,
) -> None:
    """A clean match is acquitted; an action that was doubled, got lost or was strange is found."""

    def faults(accepted: Sequence[Accepted], *refused: Refused) -> list[str]:
        return judge(1, replace(evidence, accepted=accepted, refused=refused)).faults

    first, *rest = evidence.accepted
    assert faults([first, *rest]) == []
    assert len(rest) > 5
    for wrong in (rest, [first, *rest[:-1]], [first, *rest, rest[-1]]):
        assert any("count as ours" in fault for fault in faults(wrong))
    strange = replace(first, faults=["was meant for another move"])
    refused = Refused(4, {"etype": "Draw"}, "403", START)
    assert faults([strange, *rest], refused) == [*strange.faults, str(refused)]


@pytest.mark.parametrize("field", ["etype", "at"])
def test_a_log_that_tells_a_move_otherwise_is_found(evidence: Evidence, field: str) -> None:
    whole = deepcopy(evidence.whole)
    entry = whole["moves"][evidence.accepted[3].sequence]
    (entry["userAction"] if field == "etype" else entry)[field] = "2001-01-01T00:00:00Z"
    assert judge(1, replace(evidence, whole=whole)).faults


@pytest.mark.parametrize(
    ("names", "well"),
    [
        ([], False),
        ([f"{Kind.TIMED_OUT} (act)"], False),
        ([f"{Kind.TIMED_OUT} (wait)"], True),
        ([f"{Kind.TIMED_OUT} (act)", "machine killed"], True),
    ],
)
def test_a_lost_turn_is_told_with_what_happened_in_it(
    forced: Evidence, names: list[str], well: bool
) -> None:
    """And may be lost where more than one thing happened; what came long before is no reason."""
    at = forced.accepted[-1].sequence + 1
    long_before = before(forced, at) - timedelta(seconds=30)
    # A wait that began half a minute ago may have been swallowed; all else is over by then.
    suffered = [Suffered(long_before if "wait" in n else before(forced, at), n) for n in names]
    suffered.insert(0, Suffered(long_before, "before"))
    (lost,) = judge(1, replace(forced, suffered=suffered)).lost
    assert (lost.number, list(lost.why), lost.excused) == (at, names, well)


def test_to_end_a_turn_that_the_watchdog_ended_first_is_no_fault(forced: Evidence) -> None:
    at = forced.accepted[-1].sequence + 1
    late = [
        Refused(at + moves, {"etype": kind}, "409", START)
        for moves, kind in ((1, "EndTurn"), (3, "EndTurn"), (1, "Draw"))
    ]
    assert judge(1, replace(forced, refused=late)).refused == (late[2],)


def test_to_ask_once_if_a_turn_goes_on_is_no_fault(evidence: Evidence) -> None:
    """By an EndTurn, when the time of the turn is over."""
    whole, at = deepcopy(evidence.whole), evidence.accepted[-1].sequence
    whole["creationParams"]["timeout"] = 8
    over = before(evidence, at) + timedelta(seconds=9)
    asked = Refused(at, {"etype": "EndTurn"}, "400", over)
    early, drawn = asked._replace(at=over - timedelta(seconds=2)), asked._replace(action={})
    for refused, wrong in (
        ([asked], []),
        ([asked, asked._replace(answer="again")], [1]),
        ([asked, asked._replace(at=over + timedelta(seconds=9))], []),
        ([early], [0]),
        ([drawn], [0]),
    ):
        verdict = judge(1, replace(evidence, whole=whole, refused=refused))
        assert [refused.index(one) for one in verdict.refused] == wrong
