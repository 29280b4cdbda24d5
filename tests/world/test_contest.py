"""`make contest` in small, that a seed says all of it, and that its judge tells what is amiss."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cardsharp.contest.entries import Result, Settings
from cardsharp.contest.pairing import Decision
from cardsharp.deadmansdraw.arena.creation import CreationParams
from cardsharp.deadmansdraw.arena.match import (
    Match,
    Move,
    Origin,
    Pairing,
    begin,
    end_by_decision,
    end_turn_by_force,
)
from cardsharp.deadmansdraw.arena.randomness import Randomness
from world.contest import Rehearsal, rehearsed
from world.contest_judge import Played, Spell, excuse_of, faults_of, forced_turns

TEAMS = ["1" * 24, "2" * 24, "3" * 24]
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
Record = tuple[Match, list[Move]]


def begun(teams: tuple[str, str], *tags: str, name: str = "match") -> Record:
    params = CreationParams("seed", tags=tags)
    match, move = begin(name, Pairing(teams, None), params, Randomness.FAIR, Origin(NOON))
    return match, [move]


def won(record: Record, winner: int) -> Record:
    match, moves = record
    after, move = end_by_decision(match, winner, None, Origin(NOON + timedelta(seconds=2)))
    return after, [*moves, move]


def a_cup() -> Played:
    """A cup of three teams with one match a pairing, in which the better seed always wins."""
    settings = Settings("cup", matches=1, most=3)
    decided: dict[str, Decision] = {}
    results: list[Result] = []
    matches: list[Record] = []
    while len(found := settings.form.pairings(TEAMS, decided)) > len(results):
        pairing = found[len(results)]
        name = f"match {pairing.key}"
        tags = f"cup_Round{pairing.round}", "cup", f"cup:{pairing.key}:0"
        matches.append(won(begun(pairing.teams, *tags, name=name), 0))
        decided[pairing.key] = Decision((1, 0), pairing.teams[0])
        results.append(
            Result(
                pairing.key,
                pairing.round,
                pairing.part,
                pairing.teams,
                wins=(1, 0),
                winner=pairing.teams[0],
                decided=True,
                matches=(name,),
            )
        )
    return Played(settings, TEAMS, results, [], matches)


SMALL = Rehearsal(matches=1, teams=4, practice=6, every=4, seed=1)
"""Practice and cup of the starter, a team of the house, our bot, and one that never comes."""


@pytest.mark.timeout(300)
def test_a_contest_is_whole_whatever_fails_and_a_seed_does_the_same_to_it(tmp_path: Path) -> None:
    told = []
    for number in range(2):
        contest, _ = rehearsed(SMALL, tmp_path / str(number))
        assert contest.faults == []
        told.append((contest.outcome.replay, (tmp_path / str(number)).read_bytes()))
    assert told[0] == told[1]
    befell = contest.outcome.befell
    assert {"the contest was killed", "the contest was frozen", "killed"} <= befell.keys()
    assert sum(verdict.actions for verdict in contest.verdicts) > 0


def test_a_contest_that_went_well_is_whole() -> None:
    """Of one whose organiser has decided something also where others had met before."""
    cup = a_cup()
    assert list(faults_of(cup)) == []
    assert len(cup.results) == 4
    before = won(begun((TEAMS[2], TEAMS[0]), "", "cup", f"cup:{cup.results[-1].pairing}:0"), 1)
    first = replace(cup.results[0], wins=(0, 0), ruled="appeal")
    cup = replace(cup, matches=[*cup.matches, before], results=[first, *cup.results[1:]])
    assert len(list(faults_of(cup))) == 1
    assert list(faults_of(replace(cup, decided=True))) == []


def wrong_contests() -> Iterator[tuple[str, Played]]:
    cup = a_cup()
    first, *rest = cup.results
    match, moves = cup.matches[0]
    yield "goes on", replace(cup, matches=[begun(first.teams, *(match.params.tags or ()))])
    yield "was played twice", replace(cup, matches=[*cup.matches, (match, moves)])
    yield "were played", replace(cup, matches=cup.matches[1:])
    yield "counts other matches", replace(cup, results=[replace(first, matches=()), *rest])
    yield (
        "does not know",
        replace(cup, matches=[*cup.matches, won(begun(first.teams, "", "cup", "cup:77:0"), 0)]),
    )
    yield (
        "never decided",
        replace(cup, results=[*cup.results[:-1], replace(rest[-1], decided=False)]),
    )
    yield "have a life left", replace(cup, results=cup.results[:-1])
    yield (
        "decided otherwise",
        replace(cup, results=[replace(first, winner=first.teams[1], wins=(0, 1)), *rest]),
    )
    yield "has lost twice", replace(cup, results=[first, first, *rest])
    practised = begun((TEAMS[0], TEAMS[1]), "", "cup-practice", "cup-practice:1:0")
    yield "Practice counts 0", replace(cup, matches=[*cup.matches, won(practised, 0)])
    yield "of practice goes on", replace(cup, matches=[*cup.matches, practised])
    yield "The pairings are", replace(cup, results=cup.results[1:])


@pytest.mark.parametrize(
    ("told", "contest"), list(wrong_contests()), ids=lambda value: str(value)[:20]
)
def test_what_is_amiss_is_told(told: str, contest: Played) -> None:
    assert told in " ".join(faults_of(contest))


def test_a_turn_ended_by_force_needs_an_excuse_of_its_own_team() -> None:
    """That its team is like that, or that something befell it then; another's is none."""
    match, moves = begun((TEAMS[0], TEAMS[1]), "cup")
    after, move = end_turn_by_force(match, Origin(NOON + timedelta(seconds=10)))
    cup = replace(a_cup(), matches=[(after, [*moves, move])])
    (forced,) = forced_turns(cup)
    late = TEAMS[match.state.player]
    assert (forced.team, forced.begin) == (late, NOON)
    killed = Spell("killed", late, NOON - timedelta(seconds=9), NOON - timedelta(seconds=2))
    assert excuse_of(forced, {late: "slow"}, []) == "slow"
    assert excuse_of(forced, {}, [killed]) == "killed"
    for other in (
        replace(killed, team=None),
        replace(killed, end=killed.begin),
        replace(killed, begin=move.at + timedelta(seconds=1)),
    ):
        assert excuse_of(forced, {}, [other]) is None
