"""`cardsharp blef`: serve games of Blef, play one, and let strategies duel."""

from dataclasses import dataclass
from random import Random, SystemRandom
from typing import Annotated

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.blef.cards import DECK
from cardsharp.blef.strategies import build, names
from workbench.blef import home
from workbench.blef.duel import Pairing
from workbench.blef.duel import duel as run_duel
from workbench.blef.play import Left, Table
from workbench.cli.options import Json
from workbench.cli.output import print_json, results
from workbench.cloud.http_front import HOST

EMULATOR = "emulator"
_EXAMPLES = """\
Examples:
  cardsharp blef play --bots 3                  you against three bots
  cardsharp blef serve                          the API, on port 8000
  cardsharp blef duel bayes greedy --games 200  who is stronger
serve, duel and strategies take --json."""

blef = cyclopts.App(name="blef", help_format="plaintext", help_epilogue=_EXAMPLES)


@blef.command
def serve(
    *,
    port: Annotated[
        int,
        Parameter(
            validator=validators.Number(gte=0, lte=65535), help="The port; 0 for a free one."
        ),
    ] = 8000,
    host: Annotated[str, Parameter(help="The address to listen on; 0.0.0.0 for all.")] = HOST,
    store: Annotated[
        str, Parameter(help="sqlite:FILE keeps the games; emulator: DynamoDB of an AWS emulator.")
    ] = home.IN_MEMORY,
    as_json: Json = False,
) -> None:
    """Serve games through the handler that the cloud runs, until Ctrl-C."""

    def announce(url: str) -> None:
        if as_json:
            print_json({"url": f"{url}/v2", "openapi": f"{url}/v2/openapi.json"})
        else:
            results().print(f"Blef at {url}/v2, its document at {url}/v2/openapi.json")
            results().print("Ctrl-C stops it.", style="dim")

    if store == EMULATOR:
        with home.emulated_store() as games:
            home.serve(games, announce, port, host)
    else:
        home.serve(home.embedded_store(store), announce, port, host)
    if not as_json:
        results().print("Blef is closed")


@blef.command
def play(
    *,
    bots: Annotated[
        int, Parameter(validator=validators.Number(gte=1, lte=7), help="How many bots.")
    ] = 1,
    strategy: Annotated[str, Parameter(help="Who the bots are: a strategy's name.")] = "bayes",
    seed: Annotated[
        str | None, Parameter(help="The same seed deals the same cards; without it, chance.")
    ] = None,
    why: Annotated[
        bool, Parameter(negative=(), help="Tell the bots' reasons after each round.")
    ] = False,
) -> None:
    """Play against bots in the terminal, until somebody wins or you leave."""
    dice = SystemRandom() if seed is None else Random(seed)
    console = results()

    def tell(line: str) -> None:
        console.print(line, soft_wrap=True)

    players = [build(strategy, dice) for _ in range(bots)]
    table = Table(players, dice.randrange(bots + 1), input, tell, why, console.width)
    try:
        winner = table.play(lambda cards: tuple(dice.sample(DECK, cards)))
    except Left:
        tell("\nYou have left the table.")
    else:
        tell("You have won!" if winner == table.you else f"{table.name(winner)} has won.")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class DuelOptions:
    """How a duel is fought."""

    games: Annotated[
        int, Parameter(alias="-n", validator=validators.Number(gte=1), help="How many games.")
    ] = 100
    copies: Annotated[
        int, Parameter(validator=validators.Number(gte=1, lte=7), help="How many play as SECOND.")
    ] = 1
    seed: Annotated[int, Parameter(help="The same seed deals the same cards.")] = 1
    as_json: Json = False


@blef.command
def duel(
    first: Annotated[str, Parameter(help="A strategy, e.g. bayes.")],
    second: Annotated[str, Parameter(help="Another, e.g. 'threshold(0.2,0.5)'.")],
    *,
    options: DuelOptions = DuelOptions(),
) -> None:
    """Let FIRST play against one or more SECOND, seats rotating; prints FIRST's share won."""
    report = run_duel(Pairing(first, second, options.games, options.seed, options.copies))
    if options.as_json:
        print_json(report.as_json())
    else:
        results().print(str(report), soft_wrap=True)


@blef.command
def strategies(*, as_json: Json = False) -> None:
    """List the strategies that can play."""
    if as_json:
        print_json(list(names()))
        return
    for name in names():
        results().print(name)
