"""How strong the engine is, and how long it thinks.

cardsharp research euchre curve     strength against `rules` over the number of worlds
cardsharp research euchre ceiling   what there is to be won of `rules` at all
cardsharp research euchre times     CPU of the decisions, in Python as it is deployed
cardsharp research euchre calls     what better calls could win
cardsharp research euchre judge FILE   points that recorded players gave away
"""

import time
from collections import defaultdict
from pathlib import Path
from random import Random
from statistics import fmean, quantiles
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from cardsharp.euchre.actions import Question
from cardsharp.euchre.position import Position
from cardsharp.euchre.simulation import shuffled
from cardsharp.euchre.strategies import Decision, Strategy, build
from research.compiling import why_not
from research.euchre.compiled import ANSWER, available
from research.pictures import Picture, Point
from workbench.euchre.coordinator import StrategyPlayer, play_deal
from workbench.euchre.lab import ENGINE, YARDSTICK
from workbench.lab.duel import Duel
from workbench.lab.plan import Plan
from workbench.lab.pools import pool_of
from workbench.lab.runs import run
from workbench.show.progress import Bar

MS = 1000

app = cyclopts.App(name="euchre", help=__doc__, help_format="plaintext")
console = Console(highlight=False)

app.command("research.euchre.judging:judge", name="judge")
app.command("research.euchre.calls:calls", name="calls")


class Timed:
    """A strategy whose CPU seconds are noted, by kind of decision."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self.spent: dict[str, list[float]] = defaultdict(list)
        self.worlds: dict[str, list[int]] = defaultdict(list)

    def decide(self, view: Position) -> Decision:
        """Decide."""
        began = time.process_time()
        decision = self._strategy.decide(view)
        kind = kind_of(view)
        self.spent[kind].append(time.process_time() - began)
        self.worlds[kind].append(decision.worlds)
        return decision


def kind_of(view: Position) -> str:
    """What kind of decision it is: of plays, the trick; and whether there is a choice at all."""
    if len(view.choices) == 1:
        return "one choice only"
    if view.question is not Question.PLAY:
        return view.question.value
    return f"play, trick {len(view.table.complete_tricks) + 1}"


@app.command
def curve(
    *,
    worlds: Annotated[list[int] | None, Parameter(help="Each a line of the table.")] = None,
    games: Annotated[int, Parameter(alias="-n")] = 2000,
    seed: int = 1,
    workers: int = 1,
    picture: Annotated[Path | None, Parameter(help="Its figures as .json, or drawn.")] = None,
) -> None:
    """Let the engine play with ever more worlds, on the same cards."""
    measured: list[Point] = []
    table = _strengths("worlds")
    numbers = worlds or [5, 10, 20, 40, 80, 160, 320, 512]
    with Bar(games * len(numbers)) as bar:
        for number in numbers:
            bar.describe(f"{number} worlds, games")
            played = _played(f"{ENGINE}@{number}", games, seed, workers, bar)
            measured.append((number, played.points, *played.interval))
            table.add_row(*_strength(str(number), played))
    console.print(table)
    if picture is not None:
        Picture(
            title=f"{ENGINE} against {YARDSTICK}",
            x="worlds at most",
            y="games won in 100",
            points=tuple(measured),
            logarithmic=True,
        ).write(picture)


@app.command
def ceiling(
    *,
    worlds: Annotated[int, Parameter(help="Worlds in which the best answer is looked for.")] = 1000,
    games: Annotated[int, Parameter(alias="-n")] = 2000,
    seed: int = 1,
    workers: int = 1,
) -> None:
    """Let a player that knows how `rules` plays answer it as well as can be, on the same cards.

    It takes the others to play exactly by the rules, as the two opponents do, and
    chooses its cards with all its later choices in view. What it leaves, nobody is
    likely to win who cannot see the others' cards. It needs a C compiler.
    """
    if not available():
        raise SystemExit(f"{why_not()} The best answer exists compiled only.")
    table = _strengths("player")
    players = ENGINE, f"{ANSWER}@{worlds}"
    with Bar(games * len(players)) as bar:
        for player in players:
            bar.describe(f"{player}, games")
            table.add_row(*_strength(player, _played(player, games, seed, workers, bar)))
    console.print(table)


def _strengths(what: str) -> Table:
    return Table(what, "games won", "95 %", "points a deal more than the other")


def _played(player: str, games: int, seed: int, workers: int, bar: Bar) -> Duel:
    """A duel against the yardstick."""
    plan = Plan(game="euchre", first=player, second=YARDSTICK, pairs=games // 2, seed=seed)
    with pool_of(workers) as pool:
        return run(plan, pool, tell=lambda pairs: bar.advance(2 * len(pairs)))


def _strength(what: str, played: Duel) -> tuple[str, str, str, str]:
    """A line of such a table."""
    low, high = played.interval
    gain = (played.total("points", 0) - played.total("points", 1)) / played.total("deals", 0)
    return what, f"{played.points:.1f}%", f"{low:.1f}% to {high:.1f}%", f"{gain:+.3f}"


@app.command
def times(
    *, strategy: str = ENGINE, deals: Annotated[int, Parameter(alias="-n")] = 100, seed: int = 1
) -> None:
    """Note the CPU time of each decision, against the yardstick."""
    rng, timed = Random(seed), Timed(build(strategy))
    players = [StrategyPlayer(timed), StrategyPlayer(build(YARDSTICK))]
    with Bar(deals) as bar:
        bar.describe("deals")
        for deal in range(deals):
            first, second = players if deal % 2 else players[::-1]
            play_deal(shuffled(rng), (first, second, first, second))
            bar.advance()
    table = Table("decision", "number", "worlds", "mean ms", "95 % below", "99 % below", "longest")
    kinds = sorted(timed.spent)
    for kind in kinds:
        table.add_row(*_line(kind, timed.spent[kind], timed.worlds[kind]))
    chosen = [kind for kind in kinds if not kind.startswith("one")]
    spent = [one for kind in chosen for one in timed.spent[kind]]
    worlds = [one for kind in chosen for one in timed.worlds[kind]]
    table.add_row(*_line("all with a choice", spent, worlds))
    console.print(table)


def _line(kind: str, spent: list[float], worlds: list[int]) -> list[str]:
    hundredths = quantiles(spent, n=100, method="inclusive") if len(spent) > 1 else spent * 99
    figures = [fmean(spent), hundredths[94], hundredths[98], max(spent)]
    ms = [f"{MS * figure:.2f}" if figure < 1 / MS else f"{MS * figure:.0f}" for figure in figures]
    return [kind, str(len(spent)), f"{fmean(worlds):.0f}", *ms]
