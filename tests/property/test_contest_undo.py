"""History that leads back: acts of an organiser that are all undone equal no acts."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import cache, partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.arena_match_host import RealArenaMatchHost
from support.arena_server import ManualClock
from support.case_counts import case_count
from support.contests import new_contest
from support.fake_match_host import FakeMatchHost

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.director import ContestDirector
from cardsharp.contest.formats.base import FORMATS_BY_NAME
from cardsharp.contest.models import ContestStage
from cardsharp.contest.results import ContestRecords
from cardsharp.errors import ConfigError

MAX_STEPS = 600
ARENA_FORMATS = [name for name in sorted(FORMATS_BY_NAME) if name != "tables"]  # of two teams
ACTS = ("step", "step", "step", "crash", "rule", "withdraw", "rename", "freeze", "undo")


AnyHost = FakeMatchHost | RealArenaMatchHost


class UndoHarness:
    """Contest with its organiser and its director; by default its matches are without a game."""

    def __init__(
        self,
        team_count: int,
        form: str,
        seats: int = 4,
        build_host: Callable[[ContestRecords], AnyHost] = lambda _: FakeMatchHost(),
    ) -> None:
        self.records: ContestRecords = new_contest(
            team_count, format=form, matches=1, most=3, seats=seats
        )
        self.match_host, self.clock = build_host(self.records), ManualClock()
        self.admin = ContestAdmin(self.records, self.clock)
        self.restart_director()

    def restart_director(self) -> None:
        """Replace the director by a new one without state."""
        self.director = ContestDirector(self.records, self.match_host, self.clock)

    def run_to_end(self) -> None:
        assert any(self.director.step() for _ in range(MAX_STEPS)), "the contest ends"
        assert self.records.stage is ContestStage.OVER

    def undo_all(self) -> None:
        while any(act.changes and not act.undone for act in self.admin.action_history()):
            self.admin.undo()

    def summary(self) -> object:
        """Return everything that counts, with matches by pairing and number, not by id.

        Nor does it matter when a match was played.
        """
        names = self.match_host.names_by_match()
        results = [
            replace(
                result,
                matches=tuple(names[match] for match in result.matches),
                facts=tuple(replace(facts, seconds=0.0, began=None) for facts in result.facts),
            )
            for result in self.records.results()
        ]
        teams = [(team.id, team.name, team.since) for team in self.records.teams()]
        withdrawn = self.records.withdrawal_reasons_by_team()
        rulings = self.records.rulings_by_pairing()
        return results, self.records.standings(), teams, withdrawn, rulings

    def perform(self, act: str, data: st.DataObject) -> None:
        """Perform an act on a random team or pairing."""
        self.clock.advance(timedelta(seconds=1))
        team = data.draw(st.sampled_from(self.records.teams()))
        match act:
            case "step":
                [self.director.step() for _ in range(data.draw(st.integers(1, 6)))]
            case "crash":
                self.restart_director()
            case "undo":
                self.admin.undo()
            case "withdraw":
                self.admin.withdraw_team(team.name, "ill")
            case "rename":
                self.admin.rename_team(team.name, f"{team.name}*")
            case "freeze":
                self.admin.freeze(self.clock() + timedelta(seconds=data.draw(st.integers(0, 3))))
            case _ if results := self.records.results():
                result = data.draw(st.sampled_from(results))
                winner = data.draw(st.sampled_from(result.teams))
                self.admin.rule_pairing(result.pairing, winner, "appeal")


@given(data=st.data(), form=st.sampled_from(sorted(FORMATS_BY_NAME)), seats=st.integers(2, 4))
@settings(max_examples=case_count(12, full=1000), deadline=None)
def test_acts_that_are_all_undone_equal_no_acts(data: st.DataObject, form: str, seats: int) -> None:
    team_count = data.draw(st.integers(2, 7))
    plain, contest = (UndoHarness(team_count, form, seats) for _ in range(2))
    plain.run_to_end()
    contest.director.step()
    for act in data.draw(st.lists(st.sampled_from(ACTS), max_size=14)):
        with suppress(ConfigError):  # nothing to undo, nobody to withdraw, already frozen
            contest.perform(act, data)
    contest.undo_all()
    contest.run_to_end()
    assert contest.summary() == plain.summary()


@given(data=st.data(), form=st.sampled_from(ARENA_FORMATS))
@settings(max_examples=case_count(5, full=1000), deadline=None)
def test_acts_that_are_all_undone_equal_no_acts_over_arena_matches(
    data: st.DataObject, form: str
) -> None:
    """The matches are real ones of an arena: a match that an act meets halfway is played on."""
    team_count, moves = data.draw(st.integers(2, 4)), data.draw(st.sampled_from([7, 30, 200]))
    host = partial(RealArenaMatchHost, moves_per_look=moves)
    contest = UndoHarness(team_count, form, 2, host)
    contest.director.step()
    for act in data.draw(st.lists(st.sampled_from(ACTS), min_size=1, max_size=14)):
        with suppress(ConfigError):  # nothing to undo, nobody to withdraw, already frozen
            contest.perform(act, data)
    contest.undo_all()
    contest.run_to_end()
    assert contest.summary() == summary_without_acts(team_count, form)


@cache
def summary_without_acts(team_count: int, form: str) -> object:
    """Return what counts in a contest over arena matches in which the organiser does nothing."""
    contest = UndoHarness(team_count, form, 2, partial(RealArenaMatchHost, moves_per_look=1000))
    contest.run_to_end()
    return contest.summary()


@pytest.mark.parametrize("form", sorted(FORMATS_BY_NAME))
@pytest.mark.parametrize("act", ["rule", "withdraw"])
@pytest.mark.parametrize("steps", [1, 5, 100])
def test_an_act_in_mid_match_ends_no_match(
    form: str, act: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match that was running goes on, and it counts once the act is undone."""
    plain, contest = (UndoHarness(4, form, 2) for _ in range(2))
    plain.run_to_end()
    monkeypatch.delattr(FakeMatchHost, "end_match")
    contest.director.step()
    result = contest.records.results()[0]
    team = next(team for team in contest.records.teams() if team.id == result.teams[0])
    if act == "rule":
        contest.admin.rule_pairing(result.pairing, team.name, "mistake")
    else:
        contest.admin.withdraw_team(team.name, "mistake")
    for _ in range(steps):
        contest.director.step()
    contest.admin.undo()
    contest.run_to_end()
    assert contest.summary() == plain.summary()
