"""What a contest takes, and how likely the best team wins it, said before it begins.

It is simulated from strengths in Elo points: those of practice with their margins, or a guess of
how far apart teams are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

from cardsharp.contest import entries  # noqa: F401 - with it the formats enter themselves
from cardsharp.contest.formats import FORMATS, Format
from cardsharp.contest.pairing import Decision, Rules, Score, Team
from cardsharp.ratings import NORMAL_95, Rating, share_at

MATCHES = (1, 3, 5, 7)  # matches a pairing that are tried
RUNS = 200  # contests simulated of each kind: a chance is right to some 3 in a hundred

PLANNED = {name: form for name, form in sorted(FORMATS.items()) if form.planned}
"""The formats that are tried."""

KINDS = len(PLANNED) * len(MATCHES)  # how many kinds of contest are tried


@dataclass(frozen=True, slots=True)
class Proposal:
    """A kind of contest: the chance that the best team wins, and the minutes that it takes."""

    format: str
    matches: int
    best_wins: float
    minutes: float


def proposals(
    teams: int, seconds: float, spread: float, known: Sequence[Rating] = ()
) -> Iterator[Proposal]:
    """Yield kinds of contest; strengths are drawn by a deviation of `spread`, or round `known`."""
    for name, form in PLANNED.items():
        for matches in MATCHES:
            rules = form.rules(matches, 3 * matches)
            runs = [_run(form, rules, teams, spread, known, seed) for seed in range(RUNS)]
            minutes = fmean(slots for _, slots in runs) * seconds / 60
            yield Proposal(name, matches, fmean(won for won, _ in runs), minutes)


def _run(  # noqa: PLR0913, PLR0917 - what a contest is made of
    form: Format, rules: Rules, teams: int, spread: float, known: Sequence[Rating], seed: int
) -> tuple[float, int]:
    """A contest: the best team's share of the first place, and how many matches were in a row."""
    dice = Random(seed)
    strengths = {
        str(place): dice.gauss(one.value, one.margin / NORMAL_95)
        for place, one in enumerate(sorted(known, key=lambda one: -one.value))
    } or {str(place): dice.gauss(0, spread) for place in range(teams)}
    champions, slots = held(form, rules, strengths, dice)
    best = max(strengths, key=strengths.__getitem__)
    return (best in champions) / len(champions), slots


def held(
    form: Format, rules: Rules, strengths: Mapping[Team, float], dice: Random
) -> tuple[list[Team], int]:
    """Who wins a contest of teams so strong, seeded in their order, and its matches in a row."""
    order, slots = list(strengths), 0
    decided: dict[str, Decision] = {}
    while True:
        waiting = [one for one in form.pairings(order, decided) if one.key not in decided]
        if not waiting:
            return form.table(order, decided)[0], slots
        busy: set[Team] = set()
        longest = 0
        for pairing in waiting:
            if not busy.isdisjoint(pairing.teams):
                continue
            busy.update(pairing.teams)
            share = share_at(strengths[pairing.teams[0]] - strengths[pairing.teams[1]])
            scores: list[Score] = []
            while (decision := rules.decision(pairing, scores)) is None:
                scores.append(Score((0, 0), int(dice.random() >= share)))
            decided[pairing.key] = decision
            longest = max(longest, len(scores))
        slots += longest
