"""`cardsharp play`: matches on this machine from nothing to a finished, checked log."""

import shlex
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.cloud.private import make_private
from cardsharp.deadmansdraw.game import GAME
from cardsharp.errors import ConfigError, StoreError
from workbench.deadmansdraw.report import (
    RunReport,
    played_of,
    print_faults,
    print_table,
    requests_text,
    stop_at_fault,
    stop_where_late,
)
from workbench.deadmansdraw.show import let_go_on, watched
from workbench.show.exits import Exit, exit_after
from workbench.show.lookup import copy_match, data_folder, open_log, store_or_default
from workbench.show.options import CommandOptions, StoreFile
from workbench.show.output import messages, print_command, print_error, print_json, results
from workbench.stage.side import CloudKind
from workbench.stage.stage import Script, set_up
from workbench.stage.surroundings import telemetry_in
from workbench.strategy_file import called, is_file, is_own, strategy_named, version_of

DEFAULT_OPPONENT = "example-java"  # the organisers' own client, which a newcomer's bot beats


@dataclass(frozen=True, kw_only=True)
class PlayOptions(CommandOptions):
    """What `play` can be told."""

    opponent: str = DEFAULT_OPPONENT
    """Who plays against us: a strategy, FILE.py, FILE.json or 'command'."""
    strategy: str = GAME.default_strategy
    """Who plays for us: a strategy, FILE.py, FILE.json or 'command'."""
    matches: Annotated[int, Parameter(alias="-n", validator=validators.Number(gte=1))] = 1
    """How many matches."""
    cloud: CloudKind = CloudKind.EMBEDDED
    """embedded: queue in memory, log in SQLite. emulator: SQS and DynamoDB."""
    seed: str | None = None
    """The same seed deals the same cards; without it, chance."""
    timeout: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 10
    """Seconds that a turn's move may take."""
    at_once: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=200))] = 4
    """Matches played in parallel."""
    store: StoreFile = None
    keep: Annotated[Path | None, Parameter(show=False)] = None
    """Folder for matches.db and the program's own log."""
    strict: bool = False
    """Stop with exit code 1 at our strategy's first fault."""
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """Print one JSON document."""

    @property
    def log(self) -> str:
        """The match log that is written."""
        file = self.store or (self.keep and self.keep / "matches.db")
        return f"sqlite:{file}" if file else store_or_default()

    @property
    def opponent_name(self) -> str:
        """What the opponent is called: a file by its name, without its folders."""
        return called(self.opponent)


def play(*, options: PlayOptions = PlayOptions()) -> int:
    """Play, show, check and keep matches; 0 when all are decided, and their logs complete.

    Exits with 4 where safe actions replaced some decisions of the strategy, and with 1 where they
    replaced all.
    """
    script = _script(options)
    folder, store = options.keep or data_folder(), options.log
    if store != store_or_default():
        with open_log(store):  # what is wrong with the place is said before the match
            pass
    with tempfile.TemporaryDirectory(prefix="cardsharp-") as name:
        work = Path(name)
        try:
            with telemetry_in(work / "play.log"):
                report = _perform(script, options, work, store)
        finally:
            with suppress(OSError):
                make_private(folder / "play.log")
                shutil.copyfile(work / "play.log", folder / "play.log")
    if options.as_json:
        print_json(report.document())
    else:
        _print_end(report, options)
    failed, decisions, name = report.replaced, report.decisions, called(options.strategy)
    if failed == decisions > 0:
        print_error(f"Every decision of {options.strategy} failed: no match says how it plays.")
    elif failed:
        many = f"{failed} of {decisions} decisions of {name} failed"
        print_error(f"{many}; the result is in part that of safe actions.")
    return exit_after(decisions, failed) if report.complete else Exit.FAILED


def _script(options: PlayOptions) -> Script:
    if not is_file(options.opponent):
        strategy_named(options.opponent)
    elif not Path(options.opponent).is_file():
        raise ConfigError(f"There is no strategy file {options.opponent}; check the path.")
    return Script(
        strategy=strategy_named(options.strategy),
        opponent=options.opponent,
        cloud=options.cloud,
        seed=options.seed,
        turn_limit=timedelta(seconds=options.timeout),
        at_once=min(options.at_once, options.matches),
    )


def _perform(script: Script, options: PlayOptions, work: Path, store: str) -> RunReport:
    emulated = script.cloud is CloudKind.EMULATOR
    where = "emulated AWS (SQS, DynamoDB)" if emulated else "embedded cloud"
    if not options.as_json:
        messages().print(f"setting up arena, {where} and opponent ...", style="dim")
    with set_up(script, work) as stage:
        began = time.monotonic()
        at_own = stop_where_late if is_own(options.strategy) else let_go_on
        ids = watched(
            stage.assembly.log,
            lambda glance: stage.look_on(options.matches, glance),
            stop_at_fault if options.strict else at_own,
            total=options.matches,
            as_json=options.as_json,
            opponent=options.opponent_name,
        )
        seconds, requests = time.monotonic() - began, stage.requests
        log = stage.assembly.log
        more = {"opponent": options.opponent_name, "version": version_of(options.strategy, GAME)}
        try:
            with open_log(store) as target:
                for match_id in ids:
                    copy_match(match_id, log, target, more)
        except StoreError as error:
            print_error(f"The matches could not be kept. {error}")
            store = ""
        # Only now: whatever cannot be told of a match, it is kept.
        played = [played_of(log, view) for view in map(stage.organiser.view, ids)]
    return RunReport(
        strategy=script.strategy,
        opponent=options.opponent_name,
        cloud=script.cloud,
        store=store,
        seconds=seconds,
        played=played,
        requests=requests,
    )


def _print_end(report: RunReport, options: PlayOptions) -> None:
    console, last = results(), report.played[-1]
    if len(report.played) == 1:
        words, result = {"won": "we won", "lost": "we lost", "tied": "a tie"}, last.outcome.result
        told = "{}, {} : {}, in {} turns"
        line = told.format(words.get(result, result), *last.scores, last.outcome.turns)
        console.print()
        console.print(line, style="bold")
        console.print(f"{last.verdict}")
        console.print(f"requests {requests_text(report.requests, 1)}; {report.seconds:.1f} s")
    else:
        print_table(console, report)
        whole = "every log complete, equal to the arena's" if report.complete else "LOGS DIFFER"
        console.print(f"{whole}: {sum(m.verdict.moves for m in report.played)} moves")
    store = "" if options.log == store_or_default() else f" --store {shlex.quote(report.store)}"
    print_faults(report.played, store)
    if report.store:
        match_id, turn = last.match_id, last.longest_turn  # `last` may soon be another match
        console.print()
        print_command(f"show {match_id}{store}", "every turn and decision")
        print_command(f"why {match_id} {turn}{store}", f"what we weighed in turn {turn}")
        print_command(f"watch {match_id}{store}", "the match in the browser")
