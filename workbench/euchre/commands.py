"""`cardsharp euchre …`: serve, duel, probe, strategies."""

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.cloud.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.euchre.assembly import DEFAULT_STRATEGY, STRATEGY
from cardsharp.euchre.game import GAME
from cardsharp.euchre.routes import API
from cardsharp.euchre.service import EuchreService
from cardsharp.euchre.store import DEAL_STORE
from cardsharp.euchre.strategies import build
from workbench.euchre.probe import KINDS, USUAL, ProbeOptions, probe_kind
from workbench.euchre.remote import RemotePlayer
from workbench.listening import HOST
from workbench.show.http_session import proxy_option
from workbench.show.lookup import data_folder
from workbench.show.options import CommandOptions, Json
from workbench.show.output import print_json, results
from workbench.show.progress import Bar
from workbench.stage import serving
from workbench.stage.serving import IN_MEMORY, front
from workbench.stage.surroundings import LogFile
from workbench.strategy_file import strategy_named

_EXAMPLES = Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip()

app = cyclopts.App(
    name="euchre",
    help="Euchre: play it, serve the engine, and let players duel.",
    help_format="plaintext",
    help_epilogue=_EXAMPLES,
)


@dataclass(frozen=True, kw_only=True)
class EuchreServeOptions(CommandOptions):
    """What is served, and where."""

    strategy: str = DEFAULT_STRATEGY
    """Who decides: a strategy, FILE.py, or 'command'."""
    port: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=65535))] = 8090
    """0 takes any free one."""
    host: str = HOST
    """The address to listen on; 0.0.0.0 for all."""
    store: str | None = None
    """sqlite:FILE, or emulator for DynamoDB of an AWS emulator; else our own file."""
    log: Path | None = None
    """Log file of the decisions; else euchre.log beside the store."""
    as_json: Json = False


@app.command
def serve(*, options: EuchreServeOptions = EuchreServeOptions()) -> None:
    """Serve the API through the handler that the cloud runs, until Ctrl-C.

    Give the address that it prints to the tournament program as the base URL of its remote player.
    """
    log = options.log or data_folder() / "euchre.log"

    def announce(url: str) -> None:
        docs = f"{url}/docs"
        if options.as_json:
            told = {"url": url, "openapi": f"{url}/openapi.json", "docs": docs, "log": str(log)}
            print_json(told)
            return
        line = f"Euchre at {url}, its API at {docs}; {options.strategy} decides."
        results().print(line, soft_wrap=True)
        results().print(f"Each decision is explained in {log}.", soft_wrap=True)
        results().print("Ctrl-C stops it.", style="dim")

    settings = {STRATEGY: strategy_named(options.strategy, GAME)}
    store = options.store or f"sqlite:{data_folder() / 'euchre.db'}"
    try:
        written = LogFile(log)
    except OSError as error:
        raise ConfigError(
            f"The log {log} cannot be written: {error.strerror}. Name another with --log."
        ) from None
    with written:
        serving.serve(GAME, announce, store, (options.host, options.port), settings)
    if not options.as_json:
        results().print("Euchre is closed.")


@app.command
def probe(*, options: ProbeOptions = USUAL) -> int:
    """Test over HTTP that hidden cards change no answer; exits with 1 if one does.

    Each deal is told up to a decision, then again with the cards exchanged that
    the player cannot see. A fair player gives the same answer every time.
    """
    with ExitStack() as stack:
        url = options.url
        if url is None:
            clock = SystemClock()
            store, strategy = DEAL_STORE.open(IN_MEMORY, clock), build(options.strategy)
            served = front(API, EuchreService(store, strategy, clock))
            url = stack.enter_context(served).url
        stack.enter_context(proxy_option(options.proxy))
        player = stack.enter_context(RemotePlayer(url))
        bar = stack.enter_context(Bar(len(KINDS) * options.deals))
        findings = []
        for kind in KINDS:
            bar.describe(kind)
            findings.append(probe_kind(player, kind, options, bar.advance))
            if not options.as_json:
                results().print(str(findings[-1]))
    if options.as_json:
        print_json([asdict(finding) for finding in findings])
    return int(any(finding.changed for finding in findings))
