"""The judge of `make chaos`: it acquits a clean match, and each way to break a promise is found."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from support.arena import ALICE
from world.arena import BenchArena
from world.bench import Bench

from cardsharp.cloud.ports import MatchLog
from workbench.bench.chaos.faults import Suffered
from workbench.bench.chaos.judging import Evidence, judge


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A match of the real bot at the real arena, played to its end."""
    made = Bench(BenchArena, tmp_path_factory.mktemp("bench"))
    made.play()
    yield made
    made.close()


@pytest.fixture
def log(bench: Bench) -> MatchLog:
    return bench.log


@pytest.fixture
def evidence(bench: Bench) -> Evidence:
    place = bench.place
    assert isinstance(place, BenchArena)
    meant = [str(one.sequence) for one in bench.gate.accepted]
    return Evidence(whole=place.look(), meant=meant, suffered=[], us=ALICE)


def test_a_clean_match_is_acquitted(evidence: Evidence, log: MatchLog) -> None:
    verdict = judge(evidence, log)
    assert verdict.well
    assert verdict.actions == len(evidence.meant) > 5
    assert (verdict.missing, verdict.doubled, verdict.unintended) == (0, 0, 0)
    assert verdict.longest > timedelta(0)


def test_an_action_that_met_another_move_is_found(evidence: Evidence, log: MatchLog) -> None:
    meant = [*evidence.meant[:2], evidence.meant[1], *evidence.meant[3:]]
    verdict = judge(replace(evidence, meant=meant), log)
    assert (verdict.unintended, verdict.doubled, verdict.well) == (1, 1, False)


def test_an_action_that_the_arena_lost_is_found(evidence: Evidence, log: MatchLog) -> None:
    verdict = judge(replace(evidence, meant=[*evidence.meant, "99"]), log)
    assert (verdict.missing, verdict.well) == (1, False)


@pytest.mark.parametrize("field", ["etype", "at"])
def test_a_log_that_tells_a_move_otherwise_is_found(
    evidence: Evidence, log: MatchLog, field: str
) -> None:
    whole = deepcopy(evidence.whole)
    entry = whole["moves"][int(evidence.meant[3])]
    (entry["userAction"] if field == "etype" else entry)[field] = "another"
    if field == "at":
        entry["at"] = "2001-01-01T00:00:00Z"
    verdict = judge(replace(evidence, whole=whole), log)
    assert verdict.wrong
    assert not verdict.well


@pytest.mark.parametrize(
    ("names", "well"),
    [
        ([], False),
        (["no answer (act)"], False),
        (["no answer (wait)"], True),
        (["no answer (act)", "machine killed"], True),
    ],
)
def test_a_lost_turn_is_told_with_what_happened_in_it(
    evidence: Evidence, log: MatchLog, names: list[str], well: bool
) -> None:
    """And may be lost where more than one thing happened; what came long before is no reason."""
    whole, at = deepcopy(evidence.whole), int(evidence.meant[-1])
    force(whole["moves"][at])
    due = datetime.fromisoformat(whole["moves"][at - 1]["at"])
    # A wait that began half a minute ago may have been swallowed; all else is over by then.
    suffered = [Suffered(due - timedelta(seconds=30 if "wait" in n else 0), n) for n in names]
    suffered.insert(0, Suffered(due - timedelta(seconds=30), "before"))
    forced = replace(evidence, whole=whole, meant=evidence.meant[:-1], suffered=suffered)
    verdict = judge(forced, log)
    (lost,) = verdict.lost
    assert (lost.number, list(lost.why)) == (at, names)
    # The log knows nothing of the forgery, and says so in any case.
    assert replace(verdict, wrong=()).well is well


def force(entry: Any) -> None:  # noqa: ANN401 - JSON
    """Let a move of ours look as one that the arena made for want of time."""
    seat = entry["events"][0]["playerIndex"]
    entry["events"].insert(0, {"eventType": "Comment", "comment": "late", "playerIndex": seat})
