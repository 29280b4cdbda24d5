"""Tests of a short run of `make evidence-contest`, and of the checker of contests."""

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
def test_a_seed_repeats_a_contest(finished_contest: ContestScenario, tmp_path: Path) -> None:
    """A seed repeats a contest; `test_chaos.py` compares the replay files as well."""
    assert (
        run_contest(SMALL, tmp_path / "replay").outcome.trace_digest
        == finished_contest.outcome.trace_digest
    )


def test_a_contest_stays_consistent_whatever_fails(finished_contest: ContestScenario) -> None:
    assert finished_contest.faults == []
    fault_counts = finished_contest.outcome.fault_counts
    assert {"the contest was killed", "the contest was frozen", "killed"} <= fault_counts.keys()
    assert (
        sum(match_check.action_count for match_check in finished_contest.outcome.match_checks) > 0
    )


def results_with_wrong_winner(record: ContestRecord) -> Iterator[PairingResult]:
    """Yield the results, with the wrong winner in the first that no organiser decided."""
    first_unruled = next(result for result in record.results if result.ruled is None)
    for result in record.results:
        other = next(team for team in result.teams if team != result.winner)
        yield replace(result, winner=other) if result is first_unruled else result


def wrong_contests(record: ContestRecord) -> Iterator[tuple[str, ContestRecord]]:
    """Yield contests with one defect each, and a part of the checker's message."""
    first, *rest = record.results
    cup, practice = (
        record.matches_with_tag(tag)[0]
        for tag in (record.settings.name, record.settings.practice_tag)
    )

    def with_unfinished_match(match: ArenaMatch) -> ContestRecord:
        running = replace(match, state=replace(match.state, outcome=None))
        return replace(
            record,
            matches=[
                (running if candidate == match else candidate, moves)
                for candidate, moves in record.matches
            ],
        )

    def with_results(*results: PairingResult) -> ContestRecord:
        return replace(record, results=results)

    unknown = replace(cup[0], params=replace(cup[0].params, tags=("", "cup", "cup:77:0")))
    yield "goes on after the contest", with_unfinished_match(cup[0])
    yield "of practice goes on", with_unfinished_match(practice[0])
    yield "was played twice", replace(record, matches=[*record.matches, cup])
    yield (
        "were played",
        replace(record, matches=[entry for entry in record.matches if entry != cup]),
    )
    yield (
        "does not know",
        replace(record, matches=[*record.matches, (unknown, [])], has_rulings=False),
    )
    yield "Practice counts 0", replace(record, practice_matches=())
    yield "counts other matches", with_results(replace(first, matches=()), *rest)
    yield "never decided", with_results(first, *rest[:-1], replace(rest[-1], decided=False))
    yield "have a life left", with_results(first, *rest[:-1])
    yield "decided otherwise", with_results(*results_with_wrong_winner(record))
    yield "has lost twice", with_results(first, first, *rest)
    yield "The pairings are", with_results(*rest)


def test_violations_of_a_contest_are_reported(finished_contest: ContestScenario) -> None:
    """Each defect is reported; unknown pairings are none if the organiser made rulings."""
    record = finished_contest.result
    assert list(violations(record)) == []
    for message, defective_record in wrong_contests(record):
        assert message in " ".join(violations(defective_record)), message
        if message == "does not know":
            assert list(violations(replace(defective_record, has_rulings=True))) == []


def test_a_forced_turn_is_excused_only_by_incidents_of_its_team(
    finished_contest: ContestScenario,
) -> None:
    """A team's behaviour, or its own incident at that time, excuses a forced turn."""
    forced = next(forced_turns(finished_contest.result))
    begin, end = forced.begin, forced.end
    assert end - begin > timedelta(seconds=SMALL.turn_seconds)
    incident = Incident(begin - timedelta(seconds=9), "killed", begin - timedelta(seconds=2))
    assert excuse_for(forced, {forced.team: "slow"}, {}) == "slow"
    assert excuse_for(forced, {}, {forced.team: [incident]}) == "killed"
    assert excuse_for(forced, {}, {"another": [incident]}) is None
    for other_incident in (
        incident._replace(finished_at=incident.began_at),
        incident._replace(began_at=end + timedelta(seconds=1)),
    ):
        assert excuse_for(forced, {}, {forced.team: [other_incident]}) is None
