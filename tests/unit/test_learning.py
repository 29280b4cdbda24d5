"""`cardsharp learn`: opponents are made from the log, tested on later matches, and taken back."""

from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random

import pytest
from support.matches import RunningMatch

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MatchLog
from cardsharp.deadmansdraw.simulation import deal, fair_chance
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.strategies.adaptive_belief import Entry, parse_entries
from cardsharp.deadmansdraw.strategies.adaptive_seen import decisions_of
from cardsharp.deadmansdraw.strategies.dossier import PastMatch
from workbench.deadmansdraw.learning import LEAST, Learned, Learning, Met, opponents

WEIGHTS: dict[str, object] = {"numbers": ""}


@cache
def met(name: str, number: int) -> Met:
    """A match of that player, as it shows it."""
    rng = Random(number)
    match = RunningMatch(deal(rng), fair_chance(rng))
    match.finish(build("third", rng), build(name, rng))
    return Met(f"{name} {number}", tuple(decisions_of(PastMatch(1, match.history))))


def learned_from(learned: Learned, matches: list[Met], *, gains: bool = True) -> list[str]:
    """The stages that are told of, in their order."""
    told: list[str] = []

    def test(_weights: dict[str, object], _entry: Entry) -> tuple[bool, str]:
        return gains, "as measured"

    learning = Learning(
        learned, lambda _entry: WEIGHTS, test, lambda _name, stage, _why: told.append(stage)
    )
    learning.opponent("id", "Foe", matches)
    return told


WEAK = [met("draw-3", number) for number in range(LEAST + 12)]


def test_an_opponent_is_promoted_by_later_matches_and_rolled_back_by_others() -> None:
    learned = Learned()
    assert learned_from(learned, WEAK[: LEAST - 1]) == ["waits"]
    assert learned_from(learned, WEAK[:LEAST]) == ["candidate", "candidate"]
    assert not learned.opponents, "nothing speaks for it yet but what it was made from"
    assert learned_from(learned, WEAK) == ["promoted"]
    assert learned_from(learned, WEAK) == [], "the same matches change nothing"
    [entry] = parse_entries(learned.model_dump_json())
    assert entry.weights in learned.weights
    changed = [*WEAK, *(met("random", number) for number in range(4))]
    assert learned_from(learned, changed)[0] == "rolled back"
    assert not learned.opponents
    assert not learned.weights


def test_weights_that_gain_nothing_are_rejected_and_others_are_made_from_fresh_matches() -> None:
    learned = Learned()
    assert learned_from(learned, WEAK, gains=False) == ["candidate", "rejected", "waits"]
    more = [*WEAK, *(met("draw-3", number) for number in range(50, 50 + LEAST))]
    assert learned_from(learned, more)[0] == "candidate"


ME, FOE, OTHER = "me", "foe", "other"


@pytest.fixture
def log(tmp_path: Path) -> MatchLog:
    return build_log(f"sqlite:{tmp_path / 'matches.db'}", SystemClock())


def keep(log: MatchLog, match_id: str, foe: str, **header: str) -> None:
    names = {ME: "Me", FOE: "Rovers", OTHER: "Rovers"}
    body = {
        "players": [ME, foe],
        "names": [names[ME], names[foe]],
        "seats": {"0": "steady"},
        **header,
    }
    lease = log.take(match_id, "worker", timedelta(minutes=1), body)
    assert lease is not None
    log.finish(lease, {"scores": [1, 2]})


def test_opponents_are_told_apart_by_id_or_as_strategies_of_ours(log: MatchLog) -> None:
    keep(log, "a", FOE)
    keep(log, "b", OTHER)
    keep(log, "c", OTHER, opponent="champion")
    found = opponents(log)
    assert {key: name for key, (name, _) in found.items()} == {
        FOE: FOE,
        OTHER: OTHER,
        "champion": "champion",
    }, "two of one name are called by their ids"
    assert all(len(matches) == 1 for _, matches in found.values())
