"""`cardsharp research blef values`: what the rounds of a game of two are worth."""

from collections.abc import Iterable, Sequence
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table

from cardsharp.blef.strategies.trained import FILE
from research.blef.game_commands import WORK, File, Name, Number, WorkOptions, named, players_of
from research.blef.games import Setup
from research.blef.values import MOST_CARDS, SETUPS, Values, measure
from workbench.lab.pools import pool_of
from workbench.show.output import print_json, results
from workbench.show.progress import Bar

_CARDS = range(1, MOST_CARDS + 1)


def values(
    first: Name,
    second: Name | None = None,
    /,
    *,
    rounds: Annotated[int, Number, Parameter(help="Of each setup, of which there are 242.")] = 400,
    file: File = FILE,
    options: WorkOptions = WORK,
) -> None:
    """Say what each round is worth: FIRST's chance to win the game from there."""
    second = second or first
    players, chances = players_of(first, second, file), dict[Setup, float]()
    with Bar(len(SETUPS), "setups") as bar, pool_of(options.workers, options.cluster) as pool:
        for setup, chance in measure(players, rounds, options.seed, pool):
            chances[setup] = chance
            bar.advance()
    found = Values(chances)
    if options.as_json:
        head = {"first": first, "second": second, "seed": options.seed, "rounds": rounds}
        print_json(head | _document(found, rounds))
    else:
        _print((first, second), found, rounds)


def _document(found: Values, rounds: int) -> dict[str, object]:
    setups = [
        {
            **named(setup),
            "round": found.chances[setup],
            "game": found.game[setup],
            "weight": found.weights[setup],
        }
        for setup in SETUPS
    ]
    return {
        "won": found.chance,
        "margin": found.margin(rounds),
        "setups": setups,
        "better_lost": list(map(named, found.exceptions)),
    }


def _print(names: tuple[str, str], found: Values, rounds: int) -> None:
    first, second = names
    won = f"{100 * found.chance:.1f} % of games against {second}"
    _say(f"{first} wins {won}, give or take {100 * found.margin(rounds):.1f}.")
    for begins, who in ((True, first), (False, f"the other, {second},")):
        _say("")
        _say(f"The chance in % where {who} begins, by the cards of {first} (lines) and the other:")
        lines = [[found.game[Setup((own, other), begins)] for other in _CARDS] for own in _CARDS]
        shown = ([str(own), *_percents(line)] for own, line in zip(_CARDS, lines, strict=True))
        _table(["", *map(str, _CARDS)], shown)
    _say("")
    _say("What a point more of the rounds adds to games, by cards in play:")
    weights = dict.fromkeys(range(2, 2 * MOST_CARDS + 1), 0.0)
    for setup, weight in found.weights.items():
        weights[sum(setup.cards)] += weight
    _table(map(str, weights), [[f"{weight:.2f}" for weight in weights.values()]])
    for setup in found.exceptions:
        _say(f"Better lost than won, as far as so few rounds tell: {named(setup)}.")


def _say(sentence: str) -> None:
    results().print(sentence, soft_wrap=True)


def _percents(chances: Iterable[float]) -> list[str]:
    return [f"{100 * chance:.0f}" for chance in chances]


def _table(headings: Iterable[str], lines: Iterable[Sequence[str]]) -> None:
    shown = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in headings:
        shown.add_column(heading, justify="right")
    for line in lines:
        shown.add_row(*line)
    results().print(shown)
