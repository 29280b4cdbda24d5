"""A ladder of practice: pairs for as long as there is time, and everybody plays as often."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from cardsharp.deadmansdraw.contest.matching import pairs
from cardsharp.deadmansdraw.contest.pairing import Pairing, Team

AHEAD = 2
"""Pairings that a team may have more than the one with the fewest, so that nobody starves."""


def next_pairings(
    teams: Sequence[Team],
    known: Sequence[Pairing],
    busy: Collection[Team],
    strength: Mapping[Team, float],
) -> list[Pairing]:
    """The pairings to begin now, of teams that are not busy.

    Who has played least comes first, and meets whom they met least, and of those who is nearest
    in strength (any numbers below a million). `known` are all pairings so far, running ones too.
    """
    played = Counter(team for pairing in known for team in pairing.teams)
    met = Counter(frozenset(pairing.teams) for pairing in known)
    fewest = min(played[team] for team in teams)
    free = [team for team in teams if team not in busy and played[team] < fewest + AHEAD]

    def against(one: Team, other: Team) -> int:
        again = met[frozenset((one, other))] ** 2
        apart = abs(strength.get(one, 0) - strength.get(other, 0))
        return 10**9 * (played[one] + played[other]) + 10**6 * again + round(apart)

    return [
        Pairing(str(number), 1 + min(played[team] for team in pair), "ladder", pair)
        for number, pair in enumerate(pairs(free, against), len(known) + 1)
    ]
