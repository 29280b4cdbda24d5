"""The director may die at any moment: no match is lost, none begun or counted twice."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fault_simulation.faults import CRASHES, Crash, FaultKind, FaultPlan
from fault_simulation.virtual_clock import VirtualClock
from hypothesis import given, settings
from hypothesis import strategies as st
from support.arena_server import ManualClock
from support.case_counts import case_count
from support.contests import new_contest, play_practice
from support.fake_match_host import FakeMatchHost, with_faults

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.contest_file import create_contest_in
from cardsharp.contest.director import ContestDirector
from cardsharp.contest.formats.base import FORMATS_BY_NAME
from cardsharp.contest.freeze import (
    active_or_scheduled_freeze,
    build_freeze_filter,
    spectator_records,
)
from cardsharp.contest.match_host import MatchRequest
from cardsharp.contest.models import ContestSettings, ContestStage, PairingResult
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.view.pages import contest_page, running_matches_fragment
from cardsharp.errors import ConfigError, Unreachable
from cardsharp.pages.templates import SiteInfo

DEEDS = ("step", "step", "crash", "rule", "withdraw", "rename", "enter", "undo")
"""What may happen in a contest, most often that it goes on."""

LARGE = {
    form: case_count(8, full=48 if form in ("ladder", "round-robin") else 64)
    for form in FORMATS_BY_NAME
}
"""Of how many teams a contest is at most: all against all has as many matches as their square."""


BEFALLS = [*sorted(CRASHES), FaultKind.REQUEST_LOST, FaultKind.RESPONSE_LOST]
STEP = case_count(len(BEFALLS), full=1)


class Cup:
    """A contest at tables without a game, with its organiser and its director."""

    def __init__(self, teams: int, **settings: object) -> None:
        self.records, self.tables, self.clock = (
            new_contest(teams, **settings),
            FakeMatchHost(),
            ManualClock(),
        )
        self.desk = ContestAdmin(self.records, self.clock)
        self.restart()

    def restart(self) -> None:
        """Have a director that knows nothing."""
        self.director = ContestDirector(self.records, self.tables, self.clock)

    def goes_on(self, steps: int = 400) -> bool:
        """So many steps at most; whether it is over."""
        return any(self.director.step() for _ in range(steps))

    def recompute_results(self) -> tuple[list[PairingResult], list[list[str]]]:
        """Results and places as a director finds them that knows nothing."""
        self.records.save_results([])
        self.restart()
        assert self.goes_on()
        return self.records.results(), self.records.standings()

    @property
    def public_records(self) -> ContestRecords:
        return spectator_records(self.records, self.clock())

    @property
    def public(self) -> str:
        """All that spectators see."""
        return contest_page(SiteInfo("Arena"), self.public_records) + running_matches_fragment(
            SiteInfo("Arena"), self.public_records
        )


def run_contest(records: ContestRecords, tables: FakeMatchHost) -> list[PairingResult]:
    """The results of a contest whose director is started again whenever it dies."""
    records.save_results([])
    director = ContestDirector(records, tables)
    for _ in range(500):
        try:
            if director.step():
                return [replace(result, matches=()) for result in records.results()]
        except Crash:
            director = ContestDirector(records, tables)
        except Unreachable:
            pass
    raise AssertionError("the contest does not end")


@pytest.mark.parametrize("kind", BEFALLS)
def test_a_director_that_dies_at_any_call_changes_nothing(kind: FaultKind) -> None:
    """In the sample each call suffers one kind of death; its neighbours have the others."""
    small = new_contest(3, matches=1, most=3)
    undisturbed = FakeMatchHost()
    plan = FaultPlan(VirtualClock())
    expected = run_contest(small, with_faults(undisturbed, plan))
    assert len(plan.steps) > 15
    for call in range(len(plan.steps))[BEFALLS.index(kind) % STEP :: STEP]:
        tables = FakeMatchHost()
        faulty = with_faults(tables, FaultPlan(VirtualClock(), {call: kind}))
        assert run_contest(small, faulty) == expected, call
        tags = Counter(match.name for match in tables.begun_matches)
        assert set(tags.values()) == {1}, call
        assert len(tables.begun_matches) == len(undisturbed.begun_matches)


def test_a_match_that_a_team_has_tagged_counts_for_nothing() -> None:
    """Only the organiser's matches do; and of two for one place the first."""
    cup = Cup(5)
    teams = [team.id for team in cup.records.teams()]
    order = MatchRequest((teams[3], teams[4]), ("x", "cup", "cup:1:0"), "1", timedelta(seconds=1))
    cup.tables.add("0" * 24, order, foreign=True)
    cup.director.step()
    assert [match.name for match in cup.tables.begun_matches].count("cup:1:0") == 2
    cup.tables.add("f" * 24, order)
    cup.restart()
    cup.director.step()
    (first,) = (result for result in cup.records.results() if result.pairing == "1")
    assert first.matches == (cup.tables.begun_matches[1].id,)


def test_a_contest_is_not_over_while_its_organiser_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rulings made during the last step count, and matches that follow from them are played."""
    cup, ruled = Cup(5), list[PairingResult]()
    keep = cup.records.save_results

    def save_and_rule(results: list[PairingResult], aside: list[PairingResult]) -> None:
        keep(results, aside)
        if not ruled and all(result.decided for result in results):
            ruled.append(results[0])
            cup.desk.rule_pairing(results[0].pairing, results[0].teams[1], "appeal")

    monkeypatch.setattr(cup.records, "save_results", save_and_rule)
    assert cup.goes_on()
    assert cup.records.stage is ContestStage.OVER
    assert cup.records.results()[0].winner == ruled[0].teams[1]


def test_a_password_is_returned_once_and_stored_as_a_hash(tmp_path: Path) -> None:
    with create_contest_in(tmp_path, ContestSettings("cup")) as records:
        initial_team, _ = records.add_team("One")
        _, password = records.reset_password("One")
        stored_bytes = b"".join(
            (tmp_path / f"contest.db{end}").read_bytes() for end in ("", "-wal")
        )
        assert password.encode() not in stored_bytes
        assert records.resolve_team("One").ha1 != initial_team.ha1
        assert len(password) >= 24


@pytest.mark.parametrize(
    "name", ["", "  ", "x" * 101, "One\u202e", "O\u200bne", " One", "one", "\uff2fne", "a\tb"]
)
def test_no_two_teams_look_alike_and_the_arena_takes_each_name(name: str) -> None:
    records = new_contest(0)
    records.add_team("One")
    with pytest.raises(ConfigError, match=r"invisible|already|1 to 100 characters"):
        records.add_team(name)
    records.add_team("x" * 100)


def test_once_begun_no_team_is_removed_and_its_bracket_takes_none() -> None:
    cup = Cup(5)
    with pytest.raises(ConfigError, match="Teams of this contest: Team 0, Team 1"):
        cup.records.remove_team("Nobody")
    cup.records.remove_team("Team 4")
    with pytest.raises(ConfigError, match="Remove it instead"):
        cup.desk.withdraw_team("Team 0", "ill")
    with pytest.raises(ConfigError, match="no action to undo"):
        cup.desk.undo()
    cup.director.step()
    with pytest.raises(ConfigError, match="has begun"):
        cup.records.remove_team("Team 3")
    with pytest.raises(
        ConfigError, match=r"bracket is drawn, so no team can enter\. Six can replace"
    ):
        cup.records.add_team("Six")


@pytest.mark.parametrize("form", ["swiss", "ladder", "round-robin", "tables"])
def test_a_late_team_plays_from_the_next_round(form: str) -> None:
    """A match under way stays what it is; in a round robin all are met whoever comes when."""
    cup = Cup(6, format=form, matches=1, most=3, seats=2)
    records = cup.records
    while len(records.results()) < 4 or not all(result.decided for result in records.results()[:3]):
        cup.director.step()
    begun = [match.id for match in cup.tables.begun_matches]
    late, password = records.add_team("Late")
    assert (late.since, len(password)) == (3, 32)
    assert cup.goes_on()
    results = records.results()
    assert {*begun} <= {match for result in results for match in result.matches}
    assert min(result.round for result in results if late.id in result.teams) == 3
    assert late.id in {team for level in records.standings() for team in level}
    if form == "round-robin":
        assert len({frozenset(result.teams) for result in results}) == len(results) == 21
    with pytest.raises(ConfigError, match="over, so Later cannot enter"):
        records.add_team("Later")


def organised(deed: str, cup: Cup, data: st.DataObject) -> None:
    """Something that happens in a contest, to whomever it may be."""
    records, desk = cup.records, cup.desk
    team = data.draw(st.sampled_from(records.teams()))
    match deed:
        case "step":
            cup.goes_on(data.draw(st.integers(1, 30)))
        case "crash":
            cup.restart()
        case "undo":
            desk.undo()
        case "withdraw":
            desk.withdraw_team(team.name, "ill")
        case "rename":
            desk.rename_team(team.name, f"{team.name}*")
        case "enter":
            records.add_team(f"Late {len(records.teams())}")
        case _ if results := records.results():
            result = data.draw(st.sampled_from(results))
            desk.rule_pairing(result.pairing, data.draw(st.sampled_from(result.teams)), "appeal")


@given(data=st.data(), form=st.sampled_from(sorted(FORMATS_BY_NAME)), seats=st.integers(2, 8))
@settings(max_examples=case_count(15, full=200), deadline=None)
def test_a_contest_goes_on_whatever_is_decided(data: st.DataObject, form: str, seats: int) -> None:
    """Rulings, withdrawals, late entries, undoing and crashes in any order, also after its end.

    Its places follow from what is on record: a director that knows nothing finds the same.
    """
    cup = Cup(data.draw(st.integers(2, LARGE[form])), format=form, matches=1, most=3, seats=seats)
    records = cup.records
    for deed in data.draw(st.lists(st.sampled_from(DEEDS), max_size=12)):
        with suppress(ConfigError):  # there is nothing to undo, or nobody can come any more
            organised(deed, cup, data)
    assert cup.goes_on(), "the contest does not end"
    cup.restart()
    assert cup.goes_on(2)
    results, table = records.results(), records.standings()
    gone, rulings = records.withdrawal_reasons_by_team(), records.rulings_by_pairing()
    matches_by_id = {match.id: match for match in cup.tables.begun_matches}
    for result in results:
        assert result.decided
        for match, facts in result.finished_match_ids_and_facts:
            seated = dict(
                zip(
                    matches_by_id[match].request.teams,
                    matches_by_id[match].score.points,
                    strict=True,
                )
            )
            assert dict(zip(result.teams, facts.points, strict=True)) == seated
        ruling = rulings.get(result.pairing)
        if ruling is not None and ruling.winner in result.teams:
            assert result.winner == ruling.winner
        elif result.ruled is not None:
            assert {*result.teams} & gone.keys()
        else:
            decision = records.settings.series_rules.outcome(result.as_pairing, result.facts)
            assert (decision.wins, decision.winner) == (result.wins, result.winner)
    assert not [match for match in cup.tables.begun_matches if match.score is None]
    listed = [match for result in records.results_with_discarded() for match in result.matches]
    assert sorted(listed) == [*matches_by_id], "what counts no more is kept"
    assert cup.recompute_results() == (results, table)


def test_a_ruling_that_changes_later_pairings_is_refused_without_replay() -> None:
    """Else what was played before is listed as what does not count, until that is undone.

    A director that comes after the ruling tells the same as one that saw the matches before it.
    """
    cup = Cup(4)
    records, desk = cup.records, cup.desk
    assert cup.goes_on()
    initial_results = records.results()
    first, last = initial_results[0], initial_results[-1]
    (loser,) = {*first.teams} - {first.winner}
    with pytest.raises(ConfigError, match=r"already played: 3, 4.* Remove --refuse-replay"):
        desk.rule_pairing(first.pairing, loser, "appeal", play_again=False)
    desk.rule_pairing(last.pairing, last.teams[0], "appeal", play_again=False)
    desk.undo()
    desk.rule_pairing(first.pairing, loser, "appeal")
    assert records.stage is ContestStage.RUNNING, "it goes on"
    assert cup.goes_on()
    assert {match.pairing for match in records.discarded_results()} >= {"3", "4"}
    assert "<b>Does not count:</b>" in cup.public
    assert (records.results(), records.standings()) == cup.recompute_results()
    desk.undo()
    assert cup.goes_on()
    assert records.results() == initial_results
    assert records.discarded_results()


@given(data=st.data(), form=st.sampled_from(sorted(FORMATS_BY_NAME)))
@settings(max_examples=case_count(6, full=1000), deadline=None)
def test_a_freeze_hides_results_until_they_are_revealed(data: st.DataObject, form: str) -> None:
    cup = Cup(data.draw(st.integers(2, case_count(8, full=20))), format=form, matches=1, most=3)
    cup.director.step()

    def happens() -> Iterator[None]:
        for deed in data.draw(st.lists(st.sampled_from((*DEEDS[:2], *DEEDS[3:7])), max_size=6)):
            cup.clock.advance(timedelta(seconds=1))
            with suppress(ConfigError):  # there is nobody to withdraw
                organised(deed, cup, data)
            yield

    def hidden() -> set[str]:
        match_filter = build_freeze_filter([cup.records], cup.clock())
        return {
            match.id
            for match in cup.tables.begun_matches
            if match_filter.hides_organiser_match(match.request.tags, match.id)
        }

    for _ in happens():
        pass
    cup.desk.freeze(cup.clock())
    frozen_page, ids_at_freeze = cup.public, {match.id for match in cup.tables.begun_matches}
    seen = ids_at_freeze - hidden()
    for _ in happens():
        assert cup.public == frozen_page
    assert cup.goes_on()
    assert cup.public == frozen_page
    assert {match.id for match in cup.tables.begun_matches} - ids_at_freeze <= hidden()
    assert not seen & hidden()
    while freeze := active_or_scheduled_freeze(cup.records):
        public_results, live_results = (
            [result for result in contest_records.results() if result.round <= freeze.revealed]
            for contest_records in (cup.public_records, cup.records)
        )
        assert public_results == live_results
        assert cup.public
        cup.desk.reveal_round()
    assert cup.public_records is cup.records
    assert not hidden()
    assert cup.records.stage is ContestStage.OVER


def test_a_freeze_to_come_comes_by_itself_and_is_taken_back_as_every_act_is() -> None:
    """That a frozen contest is over is not told by its place among others, either."""
    cup = Cup(4)
    records, desk = cup.records, cup.desk
    contests = ContestRepository(records.documents)
    contests.create(ContestSettings("another"))
    with pytest.raises(ConfigError, match=r"not begun\. Give a time"):
        cup.desk.freeze(cup.clock())
    desk.freeze(cup.clock() + timedelta(minutes=40))
    with pytest.raises(ConfigError, match="already frozen from 2026-11-20 12:40:00 UTC"):
        cup.desk.freeze(cup.clock())
    cup.director.step()
    with pytest.raises(ConfigError, match="is not frozen"):
        desk.reveal_round()
    records.set_paused(paused=True)
    cup.clock.advance(timedelta(minutes=41))
    cup.director.step()
    frozen_page = cup.public
    with pytest.raises(ConfigError, match="already revealed"):
        desk.reveal_round()
    play_practice(records, 8)
    records.set_paused(paused=False)
    assert (cup.public, cup.public_records.is_paused) == (frozen_page, True)
    assert cup.goes_on()
    assert cup.public == frozen_page
    assert contests.contest_names() == ["cup", "another"]
    desk.reveal_round(everything=True)
    assert cup.public_records is records
    assert contests.contest_names() == ["another", "cup"]
    desk.undo()
    assert cup.public == frozen_page
    desk.undo()
    assert cup.public_records is records
    assert records.stage is ContestStage.OVER


def test_a_rename_during_a_freeze_reaches_the_arena_at_its_end() -> None:
    cup = Cup(4)
    cup.director.step()
    cup.desk.freeze(cup.clock() + timedelta(minutes=1))

    def announced_names() -> list[str]:
        return list(cup.records.team_names_at_arena().values())[:2]

    cup.desk.rename_team("Team 0", "Zero")
    assert announced_names() == ["Zero", "Team 1"]
    cup.clock.advance(timedelta(minutes=2))
    cup.desk.undo()
    cup.desk.rename_team("Team 1", "One")
    cup.records.reset_password("One")
    assert announced_names() == ["Zero", "Team 1"]
    cup.desk.reveal_round(everything=True)
    assert announced_names() == ["Team 0", "One"]
    cup.desk.undo()
    assert announced_names() == ["Zero", "Team 1"]
    cup.desk.undo()
    cup.desk.undo()
    assert announced_names() == ["Team 0", "Team 1"]
