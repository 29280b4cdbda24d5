"""`cardsharp research blef games`: whole games of two, compiled."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators
from rich.table import Table

from cardsharp.blef.strategies.trained import FILE
from research.blef.compiled import library
from research.blef.games import Player, Setup, Tally, compiled, play_games
from workbench.lab.options import Cluster, Seed
from workbench.lab.pools import pool_of
from workbench.show.options import Json
from workbench.show.output import print_json, results
from workbench.show.progress import Bar

Name = Annotated[str, Parameter(help="solved, bayes, greedy, threshold(C,B) or random.")]
File = Annotated[
    Path, Parameter(help="The tables of FIRST where it is `solved`; SECOND has the shipped ones.")
]


Number = Parameter(alias="-n", validator=validators.Number(gte=1))


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """By what it is played, and how it is told."""

    seed: Seed = 1
    workers: Annotated[int, Parameter(validator=validators.Number(gte=1), help="Processes.")] = 1
    cluster: Cluster = None
    as_json: Json = False


WORK = WorkOptions()
"""Where nothing else is said."""


def games(
    first: Name,
    second: Name,
    /,
    *,
    games: Annotated[int, Number, Parameter(help="Two of a deal; an odd one is added.")] = 10_000,
    file: File = FILE,
    options: WorkOptions = WORK,
) -> None:
    """Play whole games of two in C: the share that FIRST wins, and of which rounds."""
    players, tally, pairs = players_of(first, second, file), Tally(), -(-games // 2)
    with Bar(pairs, "pairs of games") as bar, pool_of(options.workers, options.cluster) as pool:
        for part in play_games(players, pairs, options.seed, pool):
            tally.add(part)
            bar.advance(len(part.shares))
    if options.as_json:
        print_json({"first": first, "second": second, "seed": options.seed, **_document(tally)})
    else:
        _print(first, second, tally)


def players_of(first: str, second: str, file: Path) -> tuple[Player, Player]:
    """Both, once it is known that they are compiled; raises `ConfigError` where one is not."""
    library()
    players = Player(first, file), Player(second)
    for player in players:
        compiled(player)
    return players


def named(setup: Setup) -> dict[str, object]:
    """A setup in a document."""
    own, other = setup.cards
    return {"cards": f"{own}v{other}", "begins": "first" if setup.begins else "second"}


def _document(tally: Tally) -> dict[str, object]:
    setups = [
        {**named(setup), "rounds": tally.rounds[setup], "won": tally.won[setup]}
        for setup in sorted(tally.rounds)
    ]
    low, high = tally.interval
    number = len(tally.shares)
    share = sum(tally.shares) / number
    return {"games": 2 * number, "won": share, "low": low, "high": high, "setups": setups}


def _print(first: str, second: str, tally: Tally) -> None:
    number, found = len(tally.shares), tally.interval
    results().print(
        f"{first} wins {_percent(sum(tally.shares), number)} "
        f"({100 * found.low:.1f} to {100 * found.high:.1f}) of {2 * number:,} games "
        f"against {second}.",
        soft_wrap=True,
    )
    results().print()
    shown = Table(box=None, padding=(0, 2), pad_edge=False)
    for heading in ("cards in play", "rounds", "won", "where it begins", "where it does not"):
        shown.add_column(heading, justify="right")
    rounds, won = _by_cards(tally.rounds), _by_cards(tally.won)
    for cards in sorted({cards for cards, _ in rounds}):
        both, ours = (
            [counted[cards, begins] for begins in (True, False)] for counted in (rounds, won)
        )
        parts = (_percent(one, of) for one, of in zip(ours, both, strict=True))
        shown.add_row(str(cards), f"{sum(both):,}", _percent(sum(ours), sum(both)), *parts)
    results().print(shown)


def _by_cards(counted: Counter[Setup]) -> Counter[tuple[int, bool]]:
    found: Counter[tuple[int, bool]] = Counter()
    for setup, number in counted.items():
        found[sum(setup.cards), setup.begins] += number
    return found


def _percent(part: float, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
