"""Matches at the arena's limit of requests: no turn of ours is lost, however many are played."""

from pathlib import Path

import pytest
from support.size import cases
from world.hall import Hall
from world.world import Outcome, Wish

from cardsharp.budget import Purpose
from cardsharp.contact import Contact
from cardsharp.deadmansdraw.arena.limits import PER_USER


def played(folder: Path, matches: int, at_once: int, **more: object) -> Outcome:
    return Hall(Wish(matches, at_once, **more), folder).play()  # type: ignore[arg-type]


@pytest.mark.parametrize("at_once", [1, 6])
def test_no_turn_is_lost_and_no_action_refused_at_the_limit(tmp_path: Path, at_once: int) -> None:
    """At 100 requests a minute and 7 s a turn, in matches that want three times as many."""
    outcome = played(tmp_path, at_once + cases(1, every=2), at_once)
    assert (outcome.forced, outcome.refused) == (0, [])
    assert outcome.most_at_once == at_once
    lists = outcome.asked["list"] + outcome.asked["list_wait"]
    assert lists / outcome.ended < 5


def test_a_limit_that_no_answer_tells_is_felt(tmp_path: Path) -> None:
    outcome = played(tmp_path, 3, 2, tells=False)
    assert (outcome.forced, outcome.refused) == (0, [])


def test_where_there_is_no_limit_nothing_waits(tmp_path: Path) -> None:
    outcome = played(tmp_path, 4, 4, limit=None)
    assert (outcome.forced, outcome.refused) == (0, [])
    assert sum(outcome.asked.values()) > 2 * PER_USER * outcome.minutes


def test_more_matches_than_the_limit_feeds_are_left_alone_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Half of that limit feeds three."""
    outcome = played(tmp_path, 6, 6, limit=PER_USER // 2)
    assert outcome.most_at_once == 3
    assert "the limit of requests feeds 3 at once" in caplog.text


@pytest.mark.slow
def test_the_suite_misses_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation guard: who asks whenever it likes is slowed by seconds, and loses turns."""

    def at_once(_contact: Contact, _purpose: Purpose, _latest: float) -> None:
        """Wait for nothing."""

    monkeypatch.setattr(Contact, "admit", at_once)
    outcome = played(tmp_path, 8, 6)
    assert outcome.longest > 3
    assert outcome.forced > 0
