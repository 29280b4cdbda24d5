"""Places by points: a pairing won is one, a level one a half; more matches won part those level."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from cardsharp.contest.pairing import Decision, Decisions, Late, Pairing, Seeds, Team


def points(teams: Seeds, played: Iterable[tuple[Pairing, Decision]]) -> dict[Team, float]:
    """The points of each team."""
    found = dict.fromkeys(teams, 0.0)
    for pairing, decision in played:
        for team in pairing.teams:
            if decision.winner in (team, None):
                found[team] += 1.0 if decision.winner else 0.5
    return found


def decided_of(pairings: Iterable[Pairing], decided: Decisions) -> list[tuple[Pairing, Decision]]:
    """The pairings that ended, each with how."""
    return [(pairing, decided[pairing.key]) for pairing in pairings if pairing.key in decided]


def sat_out(teams: Seeds, known: Sequence[Pairing], late: Late = ()) -> Counter[Team]:
    """How often each team had no opponent since it was there."""
    rounds, since = {pairing.round for pairing in known}, dict(late)
    played = Counter(team for pairing in known for team in pairing.teams)
    there = {team: sum(number >= since.get(team, 1) for number in rounds) for team in teams}
    return Counter({team: there[team] - played[team] for team in teams})


def places(
    teams: Seeds, score: Mapping[Team, float], played: Iterable[tuple[Pairing, Decision]]
) -> list[list[Team]]:
    """The teams by points, then by matches won less matches lost; who is level shares a place."""
    margin = dict.fromkeys(teams, 0)
    for pairing, decision in played:
        first, second = pairing.teams
        difference = decision.wins[0] - decision.wins[1]
        margin[first] += difference
        margin[second] -= difference
    return ranked(teams, {team: (score[team], margin[team]) for team in teams})


def ranked(teams: Seeds, by: Mapping[Team, tuple[float, ...]]) -> list[list[Team]]:
    """The teams, those with the most of it first; who has as much shares a place."""
    ranks = sorted(set(by.values()), reverse=True)
    return [[team for team in teams if by[team] == rank] for rank in ranks]
