"""Forecast of a contest's length and of how likely the best team is to win it.

It simulates contests with strengths in Elo points. They come from the ratings of practice with
their margins, or from a guess of how much the teams differ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

from cardsharp.analysis.ratings import Z_95, Rating
from cardsharp.contest import models  # noqa: F401 - importing it registers the formats
from cardsharp.contest.formats.base import FORMATS_BY_NAME, Format
from cardsharp.contest.formats.forecast import simulate_contest
from cardsharp.contest.formats.pairing import SeriesRules

MATCH_COUNTS = (1, 3, 5, 7)  # numbers of matches per pairing that are simulated
SIMULATION_RUNS = 200  # simulations per variant: a probability is then accurate to about 3 %

PLANNED_FORMATS = {
    name: form for name, form in sorted(FORMATS_BY_NAME.items()) if form.is_simulated
}
"""The formats that are simulated."""

VARIANT_COUNT = len(PLANNED_FORMATS) * len(MATCH_COUNTS)  # a variant: format and match count


@dataclass(frozen=True, slots=True)
class FormatForecast:
    """Forecast for a contest format: its length and the chance that the best team wins."""

    format: str
    matches: int
    best_team_win_chance: float
    minutes: float


def forecast_formats(
    teams: int, match_seconds: float, strength_deviation: float, ratings: Sequence[Rating] = ()
) -> Iterator[FormatForecast]:
    """Yield the forecast for each combination of format and match count.

    The strengths of the teams are drawn around their `ratings`. Without ratings they are drawn
    with `strength_deviation`, in Elo points. `match_seconds` is the length of a match.
    """
    for name, contest_format in PLANNED_FORMATS.items():
        for matches in MATCH_COUNTS:
            rules = contest_format.series_rules(matches, 3 * matches)
            runs = [
                _simulate_once(contest_format, rules, teams, strength_deviation, ratings, seed)
                for seed in range(SIMULATION_RUNS)
            ]
            minutes = fmean(slots for _, slots in runs) * match_seconds / 60
            yield FormatForecast(name, matches, fmean(won for won, _ in runs), minutes)


def _simulate_once(  # noqa: PLR0913, PLR0917 - what a contest is made of
    contest_format: Format,
    rules: SeriesRules,
    teams: int,
    spread: float,
    ratings: Sequence[Rating],
    seed: int,
) -> tuple[float, int]:
    """Simulate a contest once.

    Return the best team's share of the first place, and the number of match slots.
    """
    dice = Random(seed)
    strengths = {
        str(team_index): dice.gauss(rating.value, rating.margin / Z_95)
        for team_index, rating in enumerate(sorted(ratings, key=lambda rating: -rating.value))
    } or {str(team_index): dice.gauss(0, spread) for team_index in range(teams)}
    simulated = simulate_contest(contest_format, rules, strengths, dice)
    best = max(strengths, key=strengths.__getitem__)
    return (best in simulated.champions) / len(simulated.champions), simulated.slot_count
