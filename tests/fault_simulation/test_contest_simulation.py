"""A small run of `make evidence-contest`: a seed repeats it, and its checker finds violations."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from cardsharp.contest.models import PairingResult
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from fault_simulation.checker import Incident
from fault_simulation.contest_checker import ContestRecord, excuse_for, forced_turns, violations
from fault_simulation.contest_simulation import ContestConfig, ContestScenario, run_contest

SMALL = ContestConfig(matches=1, teams=4, practice_seconds=6, trouble_interval=4, seed=1)
"""Practice and cup of the starter, a team of the house, our bot, and one that never comes."""


@pytest.fixture(scope="module")
def finished_contest() -> ContestScenario:
    return run_contest(SMALL)


@pytest.mark.slow
def test_a_seed_does_the_same_to_a_contest(
    finished_contest: ContestScenario, tmp_path: Path
) -> None:
    """In the small, `test_chaos.py` says so, and that what is written down is the same."""
    assert (
        run_contest(SMALL, tmp_path / "replay").outcome.trace_digest
        == finished_contest.outcome.trace_digest
    )


def test_a_contest_stays_consistent_whatever_fails(finished_contest: ContestScenario) -> None:
    assert finished_contest.faults == []
    befell = finished_contest.outcome.fault_counts
    assert {"the contest was killed", "the contest was frozen", "killed"} <= befell.keys()
    assert sum(verdict.action_count for verdict in finished_contest.outcome.match_checks) > 0


def turned(played: ContestRecord) -> Iterator[PairingResult]:
    """The results, the first that no organiser has decided won by the other team."""
    first_unruled = next(result for result in played.results if result.ruled is None)
    for result in played.results:
        other = next(team for team in result.teams if team != result.winner)
        yield replace(result, winner=other) if result is first_unruled else result


def wrong_contests(played: ContestRecord) -> Iterator[tuple[str, ContestRecord]]:
    """Yield contests with one defect each, and a part of the message that the checker gives."""
    first, *rest = played.results
    cup, practice = (
        played.matches_with_tag(tag)[0]
        for tag in (played.settings.name, played.settings.practice_tag)
    )

    def going_on(match: ArenaMatch) -> ContestRecord:
        running = replace(match, state=replace(match.state, outcome=None))
        return replace(
            played,
            matches=[
                (running if candidate == match else candidate, moves)
                for candidate, moves in played.matches
            ],
        )

    def with_results(*results: PairingResult) -> ContestRecord:
        return replace(played, results=results)

    unknown = replace(cup[0], params=replace(cup[0].params, tags=("", "cup", "cup:77:0")))
    yield "goes on after the contest", going_on(cup[0])
    yield "of practice goes on", going_on(practice[0])
    yield "was played twice", replace(played, matches=[*played.matches, cup])
    yield (
        "were played",
        replace(played, matches=[entry for entry in played.matches if entry != cup]),
    )
    yield (
        "does not know",
        replace(played, matches=[*played.matches, (unknown, [])], has_rulings=False),
    )
    yield "Practice counts 0", replace(played, practice_matches=())
    yield "counts other matches", with_results(replace(first, matches=()), *rest)
    yield "never decided", with_results(first, *rest[:-1], replace(rest[-1], decided=False))
    yield "have a life left", with_results(first, *rest[:-1])
    yield "decided otherwise", with_results(*turned(played))
    yield "has lost twice", with_results(first, first, *rest)
    yield "The pairings are", with_results(*rest)


def test_violations_of_a_contest_are_reported(finished_contest: ContestScenario) -> None:
    """A pairing that the contest does not know is none where its organiser has decided anything."""
    played = finished_contest.result
    assert list(violations(played)) == []
    for message, wrong in wrong_contests(played):
        assert message in " ".join(violations(wrong)), message
        if message == "does not know":
            assert list(violations(replace(wrong, has_rulings=True))) == []


def test_a_forced_turn_is_excused_only_by_incidents_of_its_team(
    finished_contest: ContestScenario,
) -> None:
    """That its team is like that, or that something befell it then; another's is none."""
    forced = next(forced_turns(finished_contest.result))
    begin, end = forced.begin, forced.end
    assert end - begin > timedelta(seconds=SMALL.turn_seconds)
    killed = Incident(begin - timedelta(seconds=9), "killed", begin - timedelta(seconds=2))
    assert excuse_for(forced, {forced.team: "slow"}, {}) == "slow"
    assert excuse_for(forced, {}, {forced.team: [killed]}) == "killed"
    assert excuse_for(forced, {}, {"another": [killed]}) is None
    for other in (
        killed._replace(finished_at=killed.began_at),
        killed._replace(began_at=end + timedelta(seconds=1)),
    ):
        assert excuse_for(forced, {}, {forced.team: [other]}) is None
