"""Whole matches through arena, poller, queue, worker and match log, judged one by one."""

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from support.bot_stage import Casting, stage
from support.bot_table import Account
from support.size import ALL, cases

from cardsharp.cloud import timing
from cardsharp.deadmansdraw.actions import EffectType
from cardsharp.deadmansdraw.strategies import names

MATCHES = cases(1, every=2)
"""Against each opponent."""

AT_ONCE = 6
"""All share one interpreter with their opponents; more of them would wait for it, not for us."""

_SHIPPED = tuple(name for name in names() if not name.startswith(("champion-", "captain-")))
OPPONENTS = _SHIPPED if ALL else ("champion", "draw-2", "draw-4", "example-node", "third")
"""Those that think little; else all that ship, without the lab's variants of two of them."""

RESTLESS = {
    "CARDSHARP_HANDOVER_SECONDS": "1",
    "CARDSHARP_READ_SECONDS": "0.9",
    "CARDSHARP_ACT_SECONDS": "0.4",
    "CARDSHARP_DECISION_SECONDS": "0.15",
}
"""For a worker that has hardly time for a turn or a wait before it hands its match on."""


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> list[Account]:
    """Matches against each of the opponents."""
    folder = tmp_path_factory.mktemp("stage")
    with stage(Casting(opponents=OPPONENTS), folder) as scene:
        return scene.play(MATCHES, AT_ONCE)


def test_every_match_ends_naturally_and_its_log_equals_the_arenas_history(
    accounts: list[Account],
) -> None:
    assert len(accounts) == MATCHES * len(OPPONENTS)
    assert [account.faults for account in accounts if account.faults] == []
    assert all(account.natural for account in accounts)


def test_no_action_is_refused(accounts: list[Account]) -> None:
    """No 4xx but 409 and 410, in any request about a match."""
    assert [account for account in accounts if account.refused] == []


def test_all_six_effects_are_answered_by_our_own_choice(accounts: list[Account]) -> None:
    answered = frozenset[str]().union(*(account.answered for account in accounts))
    assert answered == {effect.value for effect in EffectType}
    assert sum(account.autopicks for account in accounts) == 0


def test_a_turn_costs_one_get_and_an_action_one_post(accounts: list[Account]) -> None:
    """Besides the first look, the last one, and waits that ended without a turn."""
    assert [account for account in accounts if account.looks > account.our_turns + 2] == []
    assert [account for account in accounts if account.posts != account.our_actions] == []


def test_a_match_is_handed_on_from_worker_to_worker(tmp_path: Path) -> None:
    """Each has so little time that a match takes several of them; nothing of it is lost."""
    casting = Casting(
        opponents=("draw-3", "champion"),
        worker_time=timedelta(seconds=2.5),
        poll_timeout=timedelta(seconds=0.5),
        pause=timedelta(seconds=0.2),
        settings=RESTLESS,
    )
    with stage(casting, tmp_path) as scene:
        accounts = scene.play(each=1)
    assert [account for account in accounts if not account.well] == []
    assert all(account.attendances >= 3 for account in accounts), accounts


@pytest.mark.slow
def test_r38_a_slow_match_is_left_to_the_poller_in_every_turn_of_the_opponent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the opponent ends the match, nobody names it: it is found when its rest is over."""
    monkeypatch.setattr(timing, "Timing", partial(timing.Timing, rest=timedelta(seconds=2)))
    casting = Casting(
        opponents=("draw-4",), poll_timeout=timedelta(seconds=0.2), pause=timedelta(seconds=1)
    )
    with stage(casting, tmp_path) as scene:
        accounts = scene.play(each=1)
    assert [account for account in accounts if not account.well] == []
    assert all(one.attendances > one.our_turns / 2 > 1 for one in accounts), accounts
