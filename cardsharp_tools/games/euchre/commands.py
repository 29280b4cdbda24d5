"""`cardsharp euchre …`: serve, duel, probe, strategies."""

from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.games.euchre.game import GAME
from cardsharp.games.euchre.service.bootstrap import DEFAULT_STRATEGY, STRATEGY_SETTING
from cardsharp.games.euchre.service.deal_store import DEAL_STORE_FACTORY
from cardsharp.games.euchre.service.routes import API
from cardsharp.games.euchre.service.service import EuchreService
from cardsharp.games.euchre.strategies import build
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.options import CommandOptions, Json
from cardsharp_tools.cli.strategy_option import StrategyArgument, UserCodeOptions
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.games.euchre.leak_probe import (
    DECISION_KINDS,
    DEFAULT_PROBE_OPTIONS,
    ProbeOptions,
    probe_decision_kind,
)
from cardsharp_tools.games.euchre.remote_player import RemotePlayerClient
from cardsharp_tools.local_play import game_service
from cardsharp_tools.local_play.game_service import IN_MEMORY, api_server
from cardsharp_tools.local_play.handler_environment import LogFile
from cardsharp_tools.local_server.http_server import HOST
from cardsharp_tools.match_sources.match_logs import data_folder
from cardsharp_tools.proxy_option import override_proxy_during_block
from cardsharp_tools.terminal.progress import ProgressBar

_EXAMPLES = Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip()

app = cyclopts.App(
    name="euchre",
    help="Euchre: play it, serve the engine, and let players duel.",
    help_format="plaintext",
    help_epilogue=_EXAMPLES,
)


@dataclass(frozen=True, kw_only=True)
class EuchreServeOptions(CommandOptions):
    """Options of the Euchre server."""

    strategy: StrategyArgument = BuiltIn(DEFAULT_STRATEGY)
    """The strategy that decides: its name, FILE.py, or a 'command'."""
    port: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=65535))] = 8090
    """The port to listen on; 0 takes a free one."""
    host: str = HOST
    """The address to listen on; 0.0.0.0 accepts other machines."""
    store: str | None = None
    """Store of the deals: sqlite:FILE, or emulator for DynamoDB. Default: our own file."""
    log: Path | None = None
    """Log file of the decisions. Default: euchre.log beside the store."""
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)
    as_json: Json = False


@app.command
def serve(*, options: EuchreServeOptions = EuchreServeOptions()) -> None:
    """Serve the game's HTTP API until Ctrl-C. It is the code that runs in the cloud.

    Give the printed address to the tournament program as the base URL of its remote
    player.
    """
    log = options.log or data_folder() / "euchre.log"

    def announce(url: str) -> None:
        docs = f"{url}/docs"
        if options.as_json:
            service_info = {
                "url": url,
                "openapi": f"{url}/openapi.json",
                "docs": docs,
                "log": str(log),
            }
            print_json(service_info)
            return
        line = (
            f"Euchre is served at {url}. API documentation: {docs}. Strategy: {options.strategy}."
        )
        result_console().print(line, soft_wrap=True)
        result_console().print(f"Each decision is explained in {log}.", soft_wrap=True)
        result_console().print("Ctrl-C stops it.", style="dim")

    settings = {STRATEGY_SETTING: register_strategy(options.strategy, GAME)}
    store = options.store or f"sqlite:{data_folder() / 'euchre.db'}"
    try:
        written = LogFile(log)
    except OSError as error:
        raise ConfigError(
            f"The log {log} cannot be written: {error.strerror}. Name another with --log."
        ) from None
    with written:
        game_service.serve(GAME, announce, store, (options.host, options.port), settings)
    if not options.as_json:
        result_console().print("Euchre is stopped.")


@app.command
def check_leaks(*, options: ProbeOptions = DEFAULT_PROBE_OPTIONS) -> int:
    """Check over HTTP that hidden cards change no answer. Exit code 1 if one does.

    Each deal is sent up to a decision, and then again with other hidden cards. A
    fair player gives the same answer every time.
    """
    with ExitStack() as stack:
        url = options.url
        if url is None:
            clock = SystemClock()
            store, strategy = DEAL_STORE_FACTORY.open(IN_MEMORY, clock), build(options.strategy)
            served = api_server(API, EuchreService(store, strategy, clock))
            url = stack.enter_context(served).url
        stack.enter_context(override_proxy_during_block(options.proxy))
        player = stack.enter_context(RemotePlayerClient(url))
        bar = stack.enter_context(ProgressBar(len(DECISION_KINDS) * options.deals))
        findings = []
        for kind in DECISION_KINDS:
            bar.describe(kind)
            findings.append(probe_decision_kind(player, kind, options, bar.advance))
            if not options.as_json:
                result_console().print(str(findings[-1]))
    if options.as_json:
        print_json([asdict(finding) for finding in findings])
    return int(any(finding.changed for finding in findings))
