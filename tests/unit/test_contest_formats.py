"""Round robin and Swiss for 2 to 64 teams, and how matches decide a pairing."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.contest_formats import held, named
from support.size import cases

from cardsharp.contest.entries import Settings, decided_of, result_of
from cardsharp.contest.pairing import Decision, Pairing, Rules, Score
from cardsharp.contest.round_robin import RoundRobin
from cardsharp.contest.seated import SeatedTables
from cardsharp.contest.swiss import Swiss


def by_chance(chance: Random) -> Callable[[Pairing], Decision]:
    """How pairings end; a tenth of them level."""

    def decide(pairing: Pairing) -> Decision:
        winner = None if chance.random() < 0.1 else chance.choice(pairing.teams)
        return Decision(
            (1, 1) if winner is None else (2, 1) if winner == pairing.teams[0] else (1, 2), winner
        )

    return decide


def once_a_round(known: Sequence[Pairing]) -> bool:
    seats = Counter((pairing.round, team) for pairing in known for team in pairing.teams)
    return set(seats.values()) == {1}


@pytest.mark.parametrize("number", range(2, 65))
def test_in_a_round_robin_all_meet_once_and_nobody_twice_in_a_round(number: int) -> None:
    """With an odd number each sits out one round."""
    teams = named(number)
    known = RoundRobin().pairings(teams, {})
    pairs = {frozenset(pairing.teams) for pairing in known}
    assert len(known) == len(pairs) == number * (number - 1) // 2
    assert len({pairing.key for pairing in known}) == len(known)
    assert once_a_round(known)
    assert max(pairing.round for pairing in known) == number - 1 + number % 2


def test_places_are_by_points_then_by_matches() -> None:
    """A level pairing is half a point for both; who is level in all shares a place."""
    teams = named(4)
    won = {"t0 t1": None, "t0 t2": "t0", "t0 t3": "t0", "t1 t2": "t1", "t1 t3": "t1", "t2 t3": None}
    decided = {}
    for pairing in RoundRobin().pairings(teams, {}):
        winner = won[" ".join(pairing.teams)]
        wins = (3, 3) if winner is None else (5, 0) if pairing.teams == ("t0", "t2") else (3, 2)
        decided[pairing.key] = Decision(wins, winner)
    assert RoundRobin().table(teams, decided) == [["t0"], ["t1"], ["t3"], ["t2"]]
    assert RoundRobin().table(teams, {}) == [teams]


@pytest.mark.parametrize("name", ["swiss", "ladder"])
def test_who_looks_at_a_contest_needs_nothing_that_draws(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what was drawn stays while all before it does, however a later version would draw."""
    cup, teams = Settings("cup", name), named(6)
    whole = held(cup.form, teams, by_chance(Random(1)))
    results = [result_of(one, whole.decided[one.key], (), (), None) for one in whole.known]
    results = [replace(one, decided=one.round < 3) for one in results if one.round <= 3]
    monkeypatch.setitem(sys.modules, "networkx", None)
    for form in (cup.form_of((), results), cup.form_of((), results, draws=True)):
        assert form.pairings(teams, decided_of(results)) == tuple(one.drawn for one in results)
    ruled = decided_of([replace(results[0], winner=None, wins=(0, 0)), *results[1:]])
    assert {one.round for one in cup.form_of((), results).pairings(teams, ruled)} == {1}


@settings(max_examples=30, deadline=None)
@given(number=st.integers(2, cases(12, every=64)), seed=st.integers(0, 2**32))
def test_in_the_swiss_system_nobody_meets_twice_or_sits_out_twice(number: int, seed: int) -> None:
    """For as many rounds as single elimination needs and one more, with level pairings as well."""
    teams, form = named(number), Swiss()
    swiss = held(form, teams, by_chance(Random(seed)))
    known = swiss.known
    rounds = form.number_of_rounds(number)
    assert max(pairing.round for pairing in known) == rounds
    assert once_a_round(known)
    pairs = Counter(frozenset(pairing.teams) for pairing in known)
    assert max(pairs.values()) == 1
    games = Counter(team for pairing in known for team in pairing.teams)
    assert min(games[team] for team in teams) >= rounds - number % 2
    table = form.table(teams, swiss.decided)
    assert sorted(team for place in table for team in place) == sorted(teams)


def test_who_sits_out_has_a_point_for_it() -> None:
    """But not for a round that was played before it came."""
    teams, form = named(3), Swiss()
    assert form.scores(teams, {}) == {"t0": 0, "t1": 0, "t2": 1}
    assert form.given(late=(("t2", 2),)).scores(teams, {}) == {"t0": 0, "t1": 0, "t2": 0}


# --- tables of more than two ---------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(number=st.integers(2, 24), seats=st.integers(2, 8), seed=st.integers(0, 2**32))
def test_tables_are_full_and_the_best_and_the_worst_end_so(
    number: int, seats: int, seed: int
) -> None:
    """Everybody sits at one table a round, but for one where the last of the pairs is missing."""
    teams, form, chance = named(number), SeatedTables(seats), Random(seed)
    strength = {team: chance.random() for team in teams}

    def decide(table: Pairing) -> Decision:
        points = tuple(strength[team] for team in table.teams)
        return Decision.of(
            table.teams, [Score(points, None)], max(table.teams, key=strength.__getitem__)
        )

    contest = held(form, teams, decide)
    assert once_a_round(contest.known)
    assert len(contest.waves) == -(-(number - 1) // (seats - 1))
    alone = seats == 2 and number % 2
    for wave in contest.waves:
        sizes = {len(table.teams) for table in wave}
        assert (min(sizes) >= 2, max(sizes) <= seats, max(sizes) - min(sizes) <= 1) == (True,) * 3
        assert sum(len(table.teams) for table in wave) == number - alone
    idle = Counter({team: len(contest.waves) for team in teams})
    idle.subtract(team for table in contest.known for team in table.teams)
    assert max(idle.values()) - min(idle.values()) <= 1
    best, *_, last = form.table(teams, contest.decided)
    if not alone:
        assert (best, last) == (
            [max(teams, key=strength.__getitem__)],
            [min(teams, key=strength.__getitem__)],
        )


def test_who_has_won_a_table_stands_first_and_points_part_the_others() -> None:
    """Also where an organiser says who has won it."""
    teams, form = named(4), SeatedTables()
    (table,) = form.pairings(teams, {})
    scores = [Score((5, 0, -1.5, 2), 0), Score((0, 9, -1.5, 3), 1)]
    decision = Rules(2, by_points=True).decision(table, scores)
    assert decision == Decision((1, 1, 0, 0), "t1")
    assert form.table(teams, {table.key: decision}) == [["t1"], ["t0", "t3"], ["t2"]]
    ruled = Decision.of(table.teams, scores, "t2")
    assert form.table(teams, {table.key: ruled}) == [["t2"], ["t1"], ["t0", "t3"]]
    assert [table.seats(n)[0] for n in range(5)] == ["t0", "t1", "t2", "t3", "t0"]


# --- how matches decide a pairing ----------------------------------------------------------

PAIRING = Pairing("1", 1, "winners", ("better", "other"))
FIRST, SECOND, DRAW = Score((9, 4), 0), Score((3, 8), 1), Score((7, 7), None)


def test_all_matches_are_played_and_seats_change() -> None:
    """As on the last day of 2023, where four of seven would have done."""
    rules = Rules(matches=7)
    assert rules.decision(PAIRING, [FIRST] * 6) is None
    assert rules.decision(PAIRING, [FIRST] * 4 + [SECOND] * 3) == Decision((4, 3), "better")
    assert [PAIRING.seats(n)[0] for n in range(4)] == ["better", "other", "better", "other"]


def test_a_drawn_match_counts_for_nobody_and_is_replayed_while_it_matters() -> None:
    """4:2 with a draw is clear; 2:2 with a draw is not, and one more match is played at a time."""
    rules = Rules(matches=7)
    assert rules.decision(PAIRING, [FIRST] * 4 + [SECOND] * 2 + [DRAW]) == Decision(
        (4, 2), "better"
    )
    level = [FIRST, SECOND, FIRST, SECOND, DRAW]
    assert Rules(5).decision(PAIRING, level) is None
    assert Rules(5).decision(PAIRING, [*level, DRAW]) is None
    assert Rules(5).decision(PAIRING, [*level, DRAW, SECOND]) == Decision((2, 3), "other")


def test_what_stays_level_is_decided_by_points_then_by_the_seed_where_somebody_must_win() -> None:
    """Two teams that are both absent would draw for ever."""
    rules = Rules(matches=3, most=5)
    absent = [Score((0, 0), None)] * 5
    assert rules.decision(PAIRING, absent[:4]) is None
    assert rules.decision(PAIRING, absent) == Decision((0, 0), "better")
    more = [*absent[:4], Score((3, 5), None)]
    assert rules.decision(PAIRING, more) == Decision((0, 0), "other")
    # But where half points are awarded: round robin, Swiss and ladder.
    level = Rules(matches=3, level=True).decision(PAIRING, [FIRST, SECOND, DRAW])
    assert level == Decision((1, 1), None)
