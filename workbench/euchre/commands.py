"""`cardsharp euchre …`: serve, play, duel, probe, strategies."""

from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from cardsharp.cloud.telemetry import redirect
from cardsharp.euchre.journal import NoJournal
from cardsharp.euchre.store import DealStore
from cardsharp.euchre.strategies import build, names
from cardsharp.euchre.wiring import DEFAULT_STRATEGY
from workbench.cli.options import Json
from workbench.cli.output import messages, print_json, results
from workbench.euchre.coordinator import StrategyPlayer, play_game
from workbench.euchre.duel import duel as run_duel
from workbench.euchre.home import embedded_store, emulated_store, euchre_front
from workbench.euchre.probe import probe as run_probe
from workbench.euchre.terminal import TerminalPlayer

app = cyclopts.App(
    name="euchre",
    help="Euchre: serve the engine, play it, and let players duel.",
    help_format="plaintext",
)

STORE = "sqlite:.cardsharp/euchre.db"


@app.command
def strategies(*, as_json: Json = False) -> None:
    """List the players."""
    if as_json:
        print_json(list(names()))
        return
    for name in names():
        results().print(name)


@app.command
def serve(
    *,
    strategy: Annotated[str, Parameter(help="Who decides.")] = DEFAULT_STRATEGY,
    port: Annotated[int, Parameter(help="0 takes any free one.")] = 8090,
    store: Annotated[str, Parameter(help="sqlite:FILE, or `emulator` for DynamoDB.")] = STORE,
    log: Annotated[Path, Parameter(help="Where the decisions are written.")] = Path(
        ".cardsharp/euchre.log"
    ),
) -> None:
    """Serve the API until Ctrl-C, on this machine only."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as stream:
        redirect(stream)
        if store == "emulator":
            with emulated_store() as kept:
                _serve(strategy, port, kept, log)
        else:
            _serve(strategy, port, embedded_store(store), log)


def _serve(strategy: str, port: int, kept: DealStore, log: Path) -> None:
    front = euchre_front(build(strategy), kept, port)
    text = f"{strategy} answers at {front.url} ; decisions are in {log}. Ctrl-C ends."
    messages().print(text, soft_wrap=True)
    front.run()


@app.command
def duel(  # noqa: PLR0913 - the options of a command line
    first: Annotated[str, Parameter(help="A strategy, or the address of a service.")],
    second: Annotated[str, Parameter(help="The same.")],
    *,
    games: Annotated[int, Parameter(name=["--games", "-n"])] = 200,
    url: Annotated[
        str | None, Parameter(help="Ask the service there for FIRST's decisions.")
    ] = None,
    seed: int = 1,
    workers: Annotated[int, Parameter(help="Processes.")] = 1,
    as_json: Json = False,
) -> None:
    """Play games to ten, every shuffle twice with the seats exchanged."""
    report = run_duel((url or first, second), games, seed, workers)
    if as_json:
        print_json(report.as_json())
    else:
        results().print(str(report), soft_wrap=True)


@app.command
def play(
    *,
    partner: Annotated[str, Parameter(help="Who sits opposite.")] = DEFAULT_STRATEGY,
    opponents: Annotated[str, Parameter(help="Who sits left and right.")] = DEFAULT_STRATEGY,
    seed: int | None = None,
) -> None:
    """Play a game to ten with a partner against two opponents."""
    you = TerminalPlayer(input, lambda line: results().print(line, soft_wrap=True, highlight=False))
    bots = [StrategyPlayer(build(name)) for name in (opponents, partner, opponents)]
    game = play_game((you, *bots), Random(seed), you.result)
    won = "You win" if game.winner == 0 else "You lose"
    results().print(f"\n{won}, {game.points[0]} to {game.points[1]} after {game.deals} deals.")


@app.command
def probe(
    *,
    strategy: Annotated[str, Parameter(help="Whose answers are looked at.")] = DEFAULT_STRATEGY,
    url: Annotated[str | None, Parameter(help="Those of the service there instead.")] = None,
    deals: Annotated[int, Parameter(help="Of each kind of decision.")] = 200,
    permutations: Annotated[int, Parameter(help="Of the hidden cards of each.")] = 3,
    as_json: Json = False,
) -> int:
    """Look whether hidden cards change an answer; the exit code is 1 if one does."""
    if url is not None:
        findings = run_probe(url, deals, permutations)
    else:
        with euchre_front(build(strategy), journal=NoJournal()) as front:
            findings = run_probe(front.url, deals, permutations)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            results().print(str(finding))
    return int(any(finding.changed for finding in findings))


if __name__ == "__main__":
    app()
