"""Double elimination for 2 to 64 teams: two lives, fair byes, no early second meeting, a reset."""

from collections import Counter
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.contests import decided_by, named

from cardsharp.contest.bracket import Game, Loser, Part, Seed, Source, Winner, bracket, seeded
from cardsharp.contest.elimination import DoubleElimination
from cardsharp.contest.pairing import Decision


@settings(max_examples=30, deadline=None)
@given(number=st.integers(2, 64), chance=st.randoms(use_true_random=False))
def test_everyone_has_exactly_two_lives(number: int, chance: Random) -> None:
    """All but the champion lose twice, who loses at most once; and so the pairings are counted."""
    teams = named(number)
    cup = decided_by(
        DoubleElimination(), teams, lambda pairing: Decision((0, 1), chance.choice(pairing.teams))
    )
    for wave in cup.waves:
        busy = Counter(team for pairing in wave for team in pairing.teams)
        assert max(busy.values()) == 1, "a team is to be at two tables"
    known, decided = cup.known, cup.decided
    lost = Counter(
        team for pairing in known for team in pairing.teams if team != decided[pairing.key].winner
    )
    table = DoubleElimination().table(teams, decided)
    (champion,) = table[0]
    assert lost[champion] <= 1
    assert all(lost[team] == 2 for team in teams if team != champion)
    assert len(known) == 2 * number - 2 + lost[champion]
    assert sorted(team for place in table for team in place) == sorted(teams)
    out_in = {
        team: max(p.round for p in known if team in p.teams and decided[p.key].winner != team)
        for team in teams
        if team != champion
    }
    later_is_better = sorted(set(out_in.values()), reverse=True)
    assert [{out_in[team] for team in place} for place in table[1:]] == [
        {ended} for ended in later_is_better
    ]


@pytest.mark.parametrize("number", range(2, 65))
def test_byes_go_to_the_best_seeds_and_nobody_has_two_more_than_another(number: int) -> None:
    """In the winners' bracket one at most, for the first of the seeds."""
    games = DoubleElimination().games(number)
    first_round = {
        source.place
        for game in games
        for source in game.sources
        if isinstance(source, Seed) and game.round == 1
    }
    size = len(seeded(number))
    assert first_round == set(range(size - number, number))
    later = [game.round for game in games if any(isinstance(s, Seed) for s in game.sources)]
    assert max(later) <= 2


# --- second meetings ---------------------------------------------------------------------------


def early_meetings(games: tuple[Game, ...]) -> list[bool]:
    """For each round of the losers, whether two can meet in it who have met before.

    Somebody who fell in a game may have beaten whoever fell earlier in the part of the winners'
    bracket that leads to that game; in the losers' bracket nobody is met twice.
    """
    of = {game.number: game for game in games}

    def above(number: int) -> set[int]:
        below = [s.game for s in of[number].sources if not isinstance(s, Seed)]
        return {number}.union(*(above(game) for game in below))

    def fell(source: Source) -> set[int]:
        match source:
            case Loser(game):
                return {game}
            case Winner(game) if of[game].part is Part.LOSERS:
                return fell(of[game].sources[0]) | fell(of[game].sources[1])
            case _:
                return set()

    def met(one: int, other: int) -> bool:
        return one != other and (one in above(other) or other in above(one))

    rounds: dict[int, bool] = {}
    for game in games:
        if game.part is Part.LOSERS:
            first, second = map(fell, game.sources)
            again = any(met(one, other) for one, other in product(first, second))
            rounds[game.round] = rounds.get(game.round, False) or again
    return [rounds[number] for number in sorted(rounds)]


@pytest.mark.parametrize(("number", "free"), [(4, 1), (8, 2), (16, 3), (32, 4), (64, 6)])
def test_nobody_meets_again_earlier_than_in_any_other_order(number: int, free: int) -> None:
    """For so many rounds of the losers nobody can: no order in which losers come there has more."""
    again = early_meetings(bracket(seeded(number)))
    assert again == [False] * free + [True] * (len(again) - free)
