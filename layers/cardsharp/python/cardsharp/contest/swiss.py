"""The Swiss system: in each round teams of like points meet who have not met before."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from cardsharp.contest.formats import DrawnFormat, contest_format, decided_of, points, sat_out
from cardsharp.contest.pairing import Decisions, Pairing, Pairings, Seeds, Team, pairs

NOBODY = -1  # stands for the opponent of whoever sits out
_AGAIN, _APART = 10**8, 10**4  # against a pair: to have met, half points apart squared


@contest_format("swiss")
@dataclass(frozen=True, slots=True)
class Swiss(DrawnFormat):
    """The format; the next round is known when the one before has ended.

    There are as many rounds as single elimination would need and one more, but not more than half
    as many as teams: so many always work out with nobody met twice (Dirac's theorem).
    With an odd number of teams one sits out a round, for a point: the last of those who have done
    so least.
    """

    def draw(self, number: int, teams: Seeds, known: Pairings, decided: Decisions) -> Pairings:
        """The pairings of the next round."""
        score = self._points(teams, known, decided)
        found = _paired(tuple(teams), known, tuple(score[team] for team in teams))
        return tuple(
            Pairing(f"{number}-{place}", number, "round", pair)
            for place, pair in enumerate(found, 1)
        )

    def scores(self, teams: Seeds, decided: Decisions) -> dict[Team, float]:
        """A point for a pairing won or a round sat out, a half for a level one."""
        return self._points(teams, self.pairings(teams, decided), decided)

    def number_of_rounds(self, teams: int) -> int:
        """How many rounds there are."""
        return min((teams - 1).bit_length() + 1, (teams + 1) // 2)

    def _points(
        self, teams: Seeds, known: Sequence[Pairing], decided: Decisions
    ) -> dict[Team, float]:
        score = points(teams, decided_of(known, decided))
        for team, times in sat_out(teams, known, self.late).items():
            score[team] += times
        return score


@lru_cache(maxsize=256)
def _paired(
    teams: tuple[Team, ...], known: Pairings, score: tuple[float, ...]
) -> list[tuple[Team, Team]]:
    """The next round's pairs, the best first, in each the better seed; `score` is by team."""
    met = Counter(frozenset(pairing.teams) for pairing in known)
    idle = sat_out(teams, known)
    order = sorted(range(len(teams)), key=lambda seed: (-score[seed], seed))
    level = Counter(score)
    place = {seed: at for at, seed in enumerate(order)}

    def against(one: int, other: int) -> int:
        if NOBODY in (one, other):
            seed = max(one, other)
            return _AGAIN * idle[teams[seed]] + _APART * (len(teams) - place[seed])
        again = met[frozenset((teams[one], teams[other]))]
        apart = round(2 * abs(score[one] - score[other])) ** 2
        # Of those level in points the upper half meets the lower, as in a first round.
        fold = 0 if apart else abs(abs(place[one] - place[other]) - level[score[one]] // 2)
        return _AGAIN * again + _APART * apart + fold

    nobody = [NOBODY] if len(teams) % 2 else []
    found = pairs([*order, *nobody], against)
    return [(teams[min(pair)], teams[max(pair)]) for pair in found if NOBODY not in pair]
