"""Contest director: no crash loses a match, begins it twice or counts it twice."""

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
from cardsharp.contest.view.pages import (
    ContestPageView,
    contest_page,
    running_matches_fragment,
)
from cardsharp.errors import ConfigError, Unreachable
from cardsharp.pages.templates import SiteInfo

CONTEST_ACTIONS = ("step", "step", "crash", "rule", "withdraw", "rename", "enter", "undo")
"""What may happen in a contest, most often that it goes on."""

MAX_TEAMS = {
    form: case_count(8, full=48 if form in ("ladder", "round-robin") else 64)
    for form in FORMATS_BY_NAME
}
"""Of how many teams a contest is at most: all against all has as many matches as their square."""


FAULT_KINDS = [*sorted(CRASHES), FaultKind.REQUEST_LOST, FaultKind.RESPONSE_LOST]
STEP = case_count(len(FAULT_KINDS), full=1)


class ContestHarness:
    """Contest with matches that need no game, with its organiser and its director."""

    def __init__(self, teams: int, **settings: object) -> None:
        self.records, self.match_host, self.clock = (
            new_contest(teams, **settings),
            FakeMatchHost(),
            ManualClock(),
        )
        self.admin = ContestAdmin(self.records, self.clock)
        self.restart_director()

    def restart_director(self) -> None:
        """Replace the director by a new one without state."""
        self.director = ContestDirector(self.records, self.match_host, self.clock)

    def run_steps(self, steps: int = 400) -> bool:
        """Run at most that many steps; return True if the contest is over."""
        return any(self.director.step() for _ in range(steps))

    def recompute_results(self) -> tuple[list[PairingResult], list[list[str]]]:
        """Return the results and standings that a director without state computes."""
        self.records.save_results([])
        self.restart_director()
        assert self.run_steps()
        return self.records.results(), self.records.standings()

    @property
    def public_records(self) -> ContestRecords:
        return spectator_records(self.records, self.clock())

    @property
    def public_page(self) -> str:
        """Return the pages that spectators see."""
        view = ContestPageView(SiteInfo("Arena"))
        return contest_page(view, self.public_records) + running_matches_fragment(
            view, self.public_records
        )


def run_contest(records: ContestRecords, match_host: FakeMatchHost) -> list[PairingResult]:
    """Return the results of a contest whose director is restarted after each crash."""
    records.save_results([])
    director = ContestDirector(records, match_host)
    for _ in range(500):
        try:
            if director.step():
                return [replace(result, matches=()) for result in records.results()]
        except Crash:
            director = ContestDirector(records, match_host)
        except Unreachable:
            pass
    raise AssertionError("the contest does not end")


@pytest.mark.parametrize("kind", FAULT_KINDS)
def test_a_director_that_dies_at_any_call_changes_nothing(kind: FaultKind) -> None:
    """A crash at any call has no effect; in the sample each call has a single kind of fault."""
    small_contest = new_contest(3, matches=1, most=3)
    faultless_host = FakeMatchHost()
    plan = FaultPlan(VirtualClock())
    expected = run_contest(small_contest, with_faults(faultless_host, plan))
    assert len(plan.steps) > 15
    for call in range(len(plan.steps))[FAULT_KINDS.index(kind) % STEP :: STEP]:
        match_host = FakeMatchHost()
        faulty_host = with_faults(match_host, FaultPlan(VirtualClock(), {call: kind}))
        assert run_contest(small_contest, faulty_host) == expected, call
        tags = Counter(match.name for match in match_host.begun_matches)
        assert set(tags.values()) == {1}, call
        assert len(match_host.begun_matches) == len(faultless_host.begun_matches)


def test_a_match_that_a_team_has_tagged_counts_for_nothing() -> None:
    """Only the organiser's matches count; of two for a place in a series the first counts."""
    contest = ContestHarness(5)
    teams = [team.id for team in contest.records.teams()]
    match_request = MatchRequest(
        (teams[3], teams[4]), ("x", "cup", "cup:1:0"), "1", timedelta(seconds=1)
    )
    contest.match_host.add("0" * 24, match_request, foreign=True)
    contest.director.step()
    assert [match.name for match in contest.match_host.begun_matches].count("cup:1:0") == 2
    contest.match_host.add("f" * 24, match_request)
    contest.restart_director()
    contest.director.step()
    (first_result,) = (result for result in contest.records.results() if result.pairing == "1")
    assert first_result.matches == (contest.match_host.begun_matches[1].id,)


def test_a_contest_is_not_over_while_its_organiser_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ruling during the last step counts, and its further matches are played."""
    contest, overruled_results = ContestHarness(5), list[PairingResult]()
    original_save = contest.records.save_results

    def save_and_rule(results: list[PairingResult], discarded_results: list[PairingResult]) -> None:
        original_save(results, discarded_results)
        if not overruled_results and all(result.decided for result in results):
            overruled_results.append(results[0])
            contest.admin.rule_pairing(results[0].pairing, results[0].teams[1], "appeal")

    monkeypatch.setattr(contest.records, "save_results", save_and_rule)
    assert contest.run_steps()
    assert contest.records.stage is ContestStage.OVER
    assert contest.records.results()[0].winner == overruled_results[0].teams[1]


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


def test_a_started_contest_loses_no_team_and_its_bracket_takes_no_other() -> None:
    contest = ContestHarness(5)
    with pytest.raises(ConfigError, match="Teams of this contest: Team 0, Team 1"):
        contest.records.remove_team("Nobody")
    contest.records.remove_team("Team 4")
    with pytest.raises(ConfigError, match="Remove it instead"):
        contest.admin.withdraw_team("Team 0", "ill")
    with pytest.raises(ConfigError, match="no action to undo"):
        contest.admin.undo()
    contest.director.step()
    with pytest.raises(ConfigError, match="has begun"):
        contest.records.remove_team("Team 3")
    with pytest.raises(
        ConfigError, match=r"bracket is drawn, so no team can enter\. Six can replace"
    ):
        contest.records.add_team("Six")


@pytest.mark.parametrize("form", ["swiss", "ladder", "round-robin", "tables"])
def test_a_late_team_plays_from_the_next_round(form: str) -> None:
    """A running match is unaffected; in a round robin all teams still meet each other."""
    contest = ContestHarness(6, format=form, matches=1, most=3, seats=2)
    records = contest.records
    while len(records.results()) < 4 or not all(result.decided for result in records.results()[:3]):
        contest.director.step()
    begun_ids = [match.id for match in contest.match_host.begun_matches]
    late_team, password = records.add_team("Late")
    assert (late_team.since, len(password)) == (3, 32)
    assert contest.run_steps()
    results = records.results()
    assert {*begun_ids} <= {match for result in results for match in result.matches}
    assert min(result.round for result in results if late_team.id in result.teams) == 3
    assert late_team.id in {team for rank_group in records.standings() for team in rank_group}
    if form == "round-robin":
        assert len({frozenset(result.teams) for result in results}) == len(results) == 21
    with pytest.raises(ConfigError, match="over, so Later cannot enter"):
        records.add_team("Later")


def perform_contest_action(action: str, contest: ContestHarness, data: st.DataObject) -> None:
    """Perform an action of a contest on random teams and results."""
    records, admin = contest.records, contest.admin
    team = data.draw(st.sampled_from(records.teams()))
    match action:
        case "step":
            contest.run_steps(data.draw(st.integers(1, 30)))
        case "crash":
            contest.restart_director()
        case "undo":
            admin.undo()
        case "withdraw":
            admin.withdraw_team(team.name, "ill")
        case "rename":
            admin.rename_team(team.name, f"{team.name}*")
        case "enter":
            records.add_team(f"Late {len(records.teams())}")
        case _ if results := records.results():
            result = data.draw(st.sampled_from(results))
            admin.rule_pairing(result.pairing, data.draw(st.sampled_from(result.teams)), "appeal")


@given(data=st.data(), form=st.sampled_from(sorted(FORMATS_BY_NAME)), seats=st.integers(2, 8))
@settings(max_examples=case_count(15, full=200), deadline=None)
def test_a_contest_goes_on_whatever_is_decided(data: st.DataObject, form: str, seats: int) -> None:
    """Rulings, withdrawals, late entries, undoing and crashes may occur in any order.

    The standings follow from the records: a director without state computes the same.
    """
    contest = ContestHarness(
        data.draw(st.integers(2, MAX_TEAMS[form])), format=form, matches=1, most=3, seats=seats
    )
    records = contest.records
    for action in data.draw(st.lists(st.sampled_from(CONTEST_ACTIONS), max_size=12)):
        with suppress(ConfigError):  # there is nothing to undo, or nobody can come any more
            perform_contest_action(action, contest, data)
    assert contest.run_steps(), "the contest does not end"
    contest.restart_director()
    assert contest.run_steps(2)
    results, standings = records.results(), records.standings()
    withdrawal_reasons, rulings = records.withdrawal_reasons_by_team(), records.rulings_by_pairing()
    matches_by_id = {match.id: match for match in contest.match_host.begun_matches}
    for result in results:
        assert result.decided
        for match, facts in result.finished_match_ids_and_facts:
            points_by_team = dict(
                zip(
                    matches_by_id[match].request.teams,
                    matches_by_id[match].score.points,
                    strict=True,
                )
            )
            assert dict(zip(result.teams, facts.points, strict=True)) == points_by_team
        ruling = rulings.get(result.pairing)
        if ruling is not None and ruling.winner in result.teams:
            assert result.winner == ruling.winner
        elif result.ruled is not None:
            assert {*result.teams} & withdrawal_reasons.keys()
        else:
            decision = records.settings.series_rules.outcome(result.as_pairing, result.facts)
            assert (decision.wins, decision.winner) == (result.wins, result.winner)
    assert not [match for match in contest.match_host.begun_matches if match.score is None]
    listed_ids = [match for result in records.results_with_discarded() for match in result.matches]
    assert sorted(listed_ids) == [*matches_by_id], "what counts no more is kept"
    assert contest.recompute_results() == (results, standings)


def test_a_ruling_that_changes_later_pairings_is_refused_without_replay() -> None:
    """Matches that a ruling makes obsolete are listed as not counting, until it is undone.

    A director that starts after the ruling reports the same as the director that saw the
    matches.
    """
    contest = ContestHarness(4)
    records, admin = contest.records, contest.admin
    assert contest.run_steps()
    initial_results = records.results()
    first_result, last_result = initial_results[0], initial_results[-1]
    (loser,) = {*first_result.teams} - {first_result.winner}
    with pytest.raises(ConfigError, match=r"already played: 3, 4.* Remove --refuse-replay"):
        admin.rule_pairing(first_result.pairing, loser, "appeal", play_again=False)
    admin.rule_pairing(last_result.pairing, last_result.teams[0], "appeal", play_again=False)
    admin.undo()
    admin.rule_pairing(first_result.pairing, loser, "appeal")
    assert records.stage is ContestStage.RUNNING, "it goes on"
    assert contest.run_steps()
    assert {match.pairing for match in records.discarded_results()} >= {"3", "4"}
    assert "<b>Does not count:</b>" in contest.public_page
    assert (records.results(), records.standings()) == contest.recompute_results()
    admin.undo()
    assert contest.run_steps()
    assert records.results() == initial_results
    assert records.discarded_results()


@given(data=st.data(), form=st.sampled_from(sorted(FORMATS_BY_NAME)))
@settings(max_examples=case_count(6, full=1000), deadline=None)
def test_a_freeze_hides_results_until_they_are_revealed(data: st.DataObject, form: str) -> None:
    contest = ContestHarness(
        data.draw(st.integers(2, case_count(8, full=20))), format=form, matches=1, most=3
    )
    contest.director.step()

    def perform_random_actions() -> Iterator[None]:
        for action in data.draw(
            st.lists(st.sampled_from((*CONTEST_ACTIONS[:2], *CONTEST_ACTIONS[3:7])), max_size=6)
        ):
            contest.clock.advance(timedelta(seconds=1))
            with suppress(ConfigError):  # there is nobody to withdraw
                perform_contest_action(action, contest, data)
            yield

    def hidden_ids() -> set[str]:
        match_filter = build_freeze_filter([contest.records], contest.clock())
        return {
            match.id
            for match in contest.match_host.begun_matches
            if match_filter.hides_organiser_match(match.request.tags, match.id)
        }

    for _ in perform_random_actions():
        pass
    contest.admin.freeze(contest.clock())
    frozen_page, ids_at_freeze = (
        contest.public_page,
        {match.id for match in contest.match_host.begun_matches},
    )
    visible_ids = ids_at_freeze - hidden_ids()
    for _ in perform_random_actions():
        assert contest.public_page == frozen_page
    assert contest.run_steps()
    assert contest.public_page == frozen_page
    assert {match.id for match in contest.match_host.begun_matches} - ids_at_freeze <= hidden_ids()
    assert not visible_ids & hidden_ids()
    while freeze := active_or_scheduled_freeze(contest.records):
        public_results, live_results = (
            [result for result in contest_records.results() if result.round <= freeze.revealed]
            for contest_records in (contest.public_records, contest.records)
        )
        assert public_results == live_results
        assert contest.public_page
        contest.admin.reveal_round()
    assert contest.public_records is contest.records
    assert not hidden_ids()
    assert contest.records.stage is ContestStage.OVER


def test_a_scheduled_freeze_starts_by_itself_and_can_be_undone() -> None:
    """The list of contests does not reveal that a frozen contest is over."""
    contest = ContestHarness(4)
    records, admin = contest.records, contest.admin
    contests = ContestRepository(records.documents)
    contests.create(ContestSettings("another"))
    with pytest.raises(ConfigError, match=r"not begun\. Give a time"):
        contest.admin.freeze(contest.clock())
    admin.freeze(contest.clock() + timedelta(minutes=40))
    with pytest.raises(ConfigError, match="already frozen from 2026-11-20 12:40:00 UTC"):
        contest.admin.freeze(contest.clock())
    contest.director.step()
    with pytest.raises(ConfigError, match="is not frozen"):
        admin.reveal_round()
    records.set_paused(paused=True)
    contest.clock.advance(timedelta(minutes=41))
    contest.director.step()
    frozen_page = contest.public_page
    with pytest.raises(ConfigError, match="already revealed"):
        admin.reveal_round()
    play_practice(records, 8)
    records.set_paused(paused=False)
    assert (contest.public_page, contest.public_records.is_paused) == (frozen_page, True)
    assert contest.run_steps()
    assert contest.public_page == frozen_page
    assert contests.contest_names() == ["cup", "another"]
    admin.reveal_round(everything=True)
    assert contest.public_records is records
    assert contests.contest_names() == ["another", "cup"]
    admin.undo()
    assert contest.public_page == frozen_page
    admin.undo()
    assert contest.public_records is records
    assert records.stage is ContestStage.OVER


def test_a_rename_during_a_freeze_reaches_the_arena_at_its_end() -> None:
    contest = ContestHarness(4)
    contest.director.step()
    contest.admin.freeze(contest.clock() + timedelta(minutes=1))

    def announced_names() -> list[str]:
        return list(contest.records.team_names_at_arena().values())[:2]

    contest.admin.rename_team("Team 0", "Zero")
    assert announced_names() == ["Zero", "Team 1"]
    contest.clock.advance(timedelta(minutes=2))
    contest.admin.undo()
    contest.admin.rename_team("Team 1", "One")
    contest.records.reset_password("One")
    assert announced_names() == ["Zero", "Team 1"]
    contest.admin.reveal_round(everything=True)
    assert announced_names() == ["Team 0", "One"]
    contest.admin.undo()
    assert announced_names() == ["Zero", "Team 1"]
    contest.admin.undo()
    contest.admin.undo()
    assert announced_names() == ["Team 0", "Team 1"]
