"""The ladder: everybody who is there plays as often, near ones meet more often, all meet all."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations, pairwise
from random import Random
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.contests import named

from cardsharp.contest.ladder import AHEAD, next_pairings, ratings
from cardsharp.contest.pairing import Pairing


class Day:
    """A day of practice, in which pairings end in any order and teams come and go."""

    def __init__(self, teams: Sequence[str], strength: dict[str, float], chance: Random) -> None:
        self.present = list(teams)
        self.known: list[Pairing] = []
        self.running: list[Pairing] = []
        self._strength, self._chance = strength, chance

    def step(self) -> None:
        """Begin what can begin; one pairing ends."""
        busy = {team for pairing in self.running for team in pairing.teams}
        new = next_pairings(self.present, self.known, busy, self._strength)
        begun = [team for pairing in new for team in pairing.teams]
        assert len(set(begun)) == len(begun)
        assert busy.isdisjoint(begun)
        assert set(begun) <= set(self.present)
        self.known += new
        self.running += new
        assert self.running or len(self.present) < 2, "nobody plays"
        if self.running:
            self.running.remove(self._chance.choice(self.running))

    @property
    def counts(self) -> Counter[str]:
        """How often each has played."""
        return Counter(team for pairing in self.known for team in pairing.teams)


@settings(max_examples=20, deadline=None)
@given(number=st.integers(2, 20), steps=st.integers(1, 80), seed=st.integers(0, 2**32))
def test_everybody_plays_as_often(number: int, steps: int, seed: int) -> None:
    """However long single pairings take, nobody is further ahead than allowed; seats change."""
    teams, chance = named(number), Random(seed)
    day = Day(teams, {team: chance.gauss(1000, 200) for team in teams}, chance)
    for _ in range(steps):
        day.step()
        counts = [day.counts[team] for team in teams]
        assert max(counts) - min(counts) <= AHEAD
    assert [pairing.key for pairing in day.known] == [str(n + 1) for n in range(len(day.known))]
    meetings = defaultdict(list)
    for pairing in day.known:
        meetings[frozenset(pairing.teams)].append(pairing.teams)
    for order in meetings.values():
        assert all(before == after[::-1] for before, after in pairwise(order))


@settings(max_examples=20, deadline=None)
@given(number=st.integers(3, 12), steps=st.integers(30, 80), seed=st.integers(0, 2**32))
def test_who_comes_and_goes_holds_up_nobody(number: int, steps: int, seed: int) -> None:
    """Those who are there all the time play as often; who comes late has nothing to make up for."""
    teams, chance = named(number), Random(seed)
    stays, day = teams[: (number + 1) // 2], Day(teams, {}, chance)
    for _ in range(steps):
        day.present = [team for team in teams if team in stays or chance.random() < 0.5]
        before = day.counts
        day.step()
        counts = [day.counts[team] for team in stays]
        assert max(counts) - min(counts) <= AHEAD + 1
        assert all(day.counts[team] - before[team] <= 1 for team in teams)


def test_those_of_like_strength_meet_more_often_and_everybody_meets() -> None:
    """Ten teams, 100 Elo points from one to the next, 45 matches each."""
    teams = named(10)
    strength = {team: 1000.0 + 100 * place for place, team in enumerate(teams)}
    day = Day(teams, strength, Random(1))
    while len(day.known) < 225:
        day.step()
    met = Counter(frozenset(pairing.teams) for pairing in day.known)
    apart = defaultdict(list)
    for one, other in combinations(range(10), 2):
        apart[other - one].append(met[frozenset((teams[one], teams[other]))])
    assert min(met[frozenset(pair)] for pair in combinations(teams, 2)) >= 1
    assert fmean(apart[1]) > 1.5 * fmean(apart[7] + apart[8] + apart[9])


# --- ratings -------------------------------------------------------------------------------


def test_who_has_won_everything_is_not_rated_without_end() -> None:
    """Nor is one that has not played."""
    found = ratings(["a", "b", "c"], [(("a", "b"), 1.0), (("b", "a"), 0.0)] * 3)
    assert 1000 < found["a"].value < 1700
    assert found["c"].value == pytest.approx(1000, abs=60)


# --- as a format ---------------------------------------------------------------------------
