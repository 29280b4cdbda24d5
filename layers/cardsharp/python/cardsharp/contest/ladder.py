"""A ladder: everybody plays as often, and meets those of like strength more often than others."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from cardsharp.contest.formats import DrawnFormat, contest_format, decided_of, ranked
from cardsharp.contest.pairing import Decisions, Pairing, Pairings, Seeds, Team, pairs
from cardsharp.ratings import MEAN, PairScore, Rating, ratings_of

AHEAD = 2  # pairings that a team may have more than the one with the fewest, so that nobody starves
NEAR = 3  # how many times more often than teams far apart in strength those meet who are level
HALF = 100  # Elo points apart at which half of that is left
ROUND = 20  # matches of practice that are one round: what an answer of the arena holds with ease
_LEVEL = 10**9  # weighs against a pair with one pairing more; to have met, below 10**6
_NOBODY = ""  # met by everybody once, so that nobody is infinitely strong


def next_pairings(
    present: Sequence[Team],
    known: Sequence[Pairing],
    busy: Collection[Team],
    strength: Mapping[Team, float],
) -> list[Pairing]:
    """The pairings to begin now, of teams that are here; those that are `busy` play already.

    Who has played least comes first, and meets who is due: whom it met least, where a team of like
    strength (in Elo points) is due more often. Nobody meets the same team twice in a row while
    there are others, who are at play. `known` are all pairings so far, the running ones too.
    """
    free = [team for team in present if team not in busy]
    level = levels(present, known)
    fewest = min(level.values(), default=0)
    met = Counter(frozenset(pairing.teams) for pairing in known)
    last = {team: frozenset(pairing.teams) for pairing in known for team in pairing.teams}

    def against(one: Team, other: Team) -> int | None:
        pair = frozenset((one, other))
        if busy and last.get(one) == last.get(other) == pair:
            return None
        apart = abs(strength.get(one, MEAN) - strength.get(other, MEAN))
        due = (met[pair] + 1) / (1 + NEAR * 2 ** (-apart / HALF))
        return _LEVEL * (level[one] + level[other] - 2 * fewest) + min(10**6, round(1000 * due))

    found = pairs([team for team in free if level[team] < fewest + AHEAD], against)
    if not found and not busy and free:
        behind = min(free, key=level.__getitem__)
        found = pairs(free, lambda *two: against(*two) if behind in two else None)
    order = {frozenset(pairing.teams): pairing.teams for pairing in known}
    changed = (order.get(frozenset(pair), pair[::-1])[::-1] for pair in found)
    return [
        Pairing(str(number), round_of(number), "practice", teams)
        for number, teams in enumerate(changed, len(known) + 1)
    ]


def round_of(number: int) -> int:
    """The round of the practice match of that number."""
    return 1 + (number - 1) // ROUND


def levels(teams: Iterable[Team], known: Iterable[Pairing]) -> dict[Team, int]:
    """How often each has played; who comes late, or comes back, begins where the last stand.

    Whoever was here all the time is not lifted by that: in every pairing is somebody who had less
    than `AHEAD` more than the fewest.
    """
    level: Counter[Team] = Counter()
    highest = 0
    for pairing in known:
        begun = {team: max(level[team], highest - AHEAD + 1) for team in pairing.teams}
        highest = max(highest, min(begun.values()))
        level.update({team: at + 1 - level[team] for team, at in begun.items()})
    return {team: max(level[team], highest - AHEAD + 1) for team in teams}


def ratings(
    teams: Iterable[Team], shares: Iterable[tuple[tuple[Team, ...], float]]
) -> dict[Team, Rating]:
    """The ratings by the share that the first of two made; all have met an average player once."""
    made: defaultdict[tuple[Team, Team], list[float]] = defaultdict(list)
    for (one, other), share in shares:
        if one < other:
            made[one, other].append(share)
        else:
            made[other, one].append(1 - share)
    duels = {pair: PairScore.of(found) for pair, found in made.items()}
    duels |= {(team, _NOBODY): PairScore.of(()).tempered for team in teams}
    found = ratings_of(duels, tempered=False) if duels else {}
    return {team: rating for team, rating in found.items() if team != _NOBODY}


@contest_format("ladder")
@dataclass(frozen=True, slots=True)
class Ladder(DrawnFormat):
    """As a format: rounds as of a round robin, each after the last; of odd teams one sits out."""

    planned: ClassVar[bool] = False

    def draw(self, number: int, teams: Seeds, known: Pairings, decided: Decisions) -> Pairings:
        """The pairings of the next round."""
        rated = _rated(teams, known, decided)
        strength = {team: rating.value for team, rating in rated.items()}
        found = next_pairings(teams, known, (), strength)
        return tuple(Pairing(one.key, number, "round", one.teams) for one in found)

    def table(self, teams: Seeds, decided: Decisions) -> list[list[Team]]:
        """The teams by their rating; who is level in whole points shares a place."""
        rated = _rated(teams, self.pairings(teams, decided), decided)
        return ranked(teams, {team: (round(rated[team].value),) for team in teams})

    def number_of_rounds(self, teams: int) -> int:
        """How many rounds there are."""
        return teams - 1 + teams % 2


def _rated(teams: Seeds, known: Pairings, decided: Decisions) -> dict[Team, Rating]:
    """The ratings by the matches of the pairings that ended."""
    shares = [
        (pairing.teams, share)
        for pairing, decision in decided_of(known, decided)
        for share in [1.0] * decision.wins[0] + [0.0] * decision.wins[1]
    ]
    return ratings(teams, shares)
