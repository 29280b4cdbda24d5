"""`make contest` in small, that a seed says all of it, and that its judge tells what is amiss."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from cardsharp.contest.entries import Result
from cardsharp.deadmansdraw.arena.match import Match
from world.contest import Contest, Rehearsal, rehearsed
from world.contest_judge import Played, excuse_of, faults_of, forced_turns
from world.judge import Suffered

SMALL = Rehearsal(matches=1, teams=4, practice=6, every=4, seed=1)
"""Practice and cup of the starter, a team of the house, our bot, and one that never comes."""


@pytest.fixture(scope="module")
def held() -> Contest:
    return rehearsed(SMALL)


@pytest.mark.slow
def test_a_seed_does_the_same_to_a_contest(held: Contest, tmp_path: Path) -> None:
    """In the small, `test_chaos.py` says so, and that what is written down is the same."""
    assert rehearsed(SMALL, tmp_path / "replay").outcome.replay == held.outcome.replay


def test_a_contest_is_whole_whatever_fails(held: Contest) -> None:
    assert held.faults == []
    befell = held.outcome.befell
    assert {"the contest was killed", "the contest was frozen", "killed"} <= befell.keys()
    assert sum(verdict.actions for verdict in held.outcome.verdicts) > 0


def turned(played: Played) -> Iterator[Result]:
    """The results, the first that no organiser has decided won by the other team."""
    left = next(one for one in played.results if one.ruled is None)
    for one in played.results:
        other = next(team for team in one.teams if team != one.winner)
        yield replace(one, winner=other) if one is left else one


def wrong_contests(played: Played) -> Iterator[tuple[str, Played]]:
    """What the judge has to say of a contest in which one thing is as it must not be."""
    first, *rest = played.results
    cup, practice = (
        played.tagged(tag)[0] for tag in (played.settings.name, played.settings.practice)
    )

    def going_on(match: Match) -> Played:
        running = replace(match, state=replace(match.state, outcome=None))
        return replace(
            played,
            matches=[(running if one == match else one, moves) for one, moves in played.matches],
        )

    def with_results(*results: Result) -> Played:
        return replace(played, results=results)

    unknown = replace(cup[0], params=replace(cup[0].params, tags=("", "cup", "cup:77:0")))
    yield "goes on after the contest", going_on(cup[0])
    yield "of practice goes on", going_on(practice[0])
    yield "was played twice", replace(played, matches=[*played.matches, cup])
    yield "were played", replace(played, matches=[one for one in played.matches if one != cup])
    yield "does not know", replace(played, matches=[*played.matches, (unknown, [])], decided=False)
    yield "Practice counts 0", replace(played, meetings=())
    yield "counts other matches", with_results(replace(first, matches=()), *rest)
    yield "never decided", with_results(first, *rest[:-1], replace(rest[-1], decided=False))
    yield "have a life left", with_results(first, *rest[:-1])
    yield "decided otherwise", with_results(*turned(played))
    yield "has lost twice", with_results(first, first, *rest)
    yield "The pairings are", with_results(*rest)


def test_what_is_amiss_is_told(held: Contest) -> None:
    """A pairing that the contest does not know is none where its organiser has decided anything."""
    played = held.played
    assert list(faults_of(played)) == []
    for told, wrong in wrong_contests(played):
        assert told in " ".join(faults_of(wrong)), told
        if told == "does not know":
            assert list(faults_of(replace(wrong, decided=True))) == []


def test_a_turn_ended_by_force_needs_an_excuse_of_its_own_team(held: Contest) -> None:
    """That its team is like that, or that something befell it then; another's is none."""
    forced = next(forced_turns(held.played))
    begin, end = forced.begin, forced.end
    assert end - begin > timedelta(seconds=SMALL.turn)
    killed = Suffered(begin - timedelta(seconds=9), "killed", begin - timedelta(seconds=2))
    assert excuse_of(forced, {forced.team: "slow"}, {}) == "slow"
    assert excuse_of(forced, {}, {forced.team: [killed]}) == "killed"
    assert excuse_of(forced, {}, {"another": [killed]}) is None
    for other in killed._replace(until=killed.at), killed._replace(at=end + timedelta(seconds=1)):
        assert excuse_of(forced, {}, {forced.team: [other]}) is None
