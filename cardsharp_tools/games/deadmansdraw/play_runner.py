"""Matches of `cardsharp play`: the arena, the bot and its opponent are set up, and play."""

import shlex
import shutil
import tempfile
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from cardsharp.core.private_files import ensure_private_file
from cardsharp.errors import ConfigError, StoreError
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp_tools.cli.console import (
    message_console,
    print_command,
    print_error,
    print_json,
    result_console,
)
from cardsharp_tools.cli.exit_codes import ExitCode, decision_exit_code
from cardsharp_tools.executors.strategy_file import register_strategy, source_version
from cardsharp_tools.executors.strategy_reference import FileReference
from cardsharp_tools.games.deadmansdraw.commands.play import PlayOptions
from cardsharp_tools.games.deadmansdraw.match_printer import (
    ignore_running_matches,
    play_and_print_matches,
)
from cardsharp_tools.games.deadmansdraw.run_report import (
    RunReport,
    build_match_report,
    print_replaced_decisions,
    print_run_report,
    raise_on_late_decisions,
    raise_on_replaced_decision,
    requests_text,
)
from cardsharp_tools.local_play.cloud_backend import CloudBackendKind
from cardsharp_tools.local_play.handler_environment import redirect_telemetry
from cardsharp_tools.local_play.local_run import LocalRunConfig, start_local_run
from cardsharp_tools.match_sources.match_logs import (
    copy_match,
    data_folder,
    open_log,
    resolve_match_log_location,
)


def run_play(options: PlayOptions) -> int:
    """Play the matches, print and store them; return the exit code of `cardsharp play`."""
    script = _build_run_config(options)
    folder, store = options.log_folder or data_folder(), _log_store_name(options)
    if store != resolve_match_log_location():
        with open_log(store):  # what is wrong with the place is said before the match
            pass
    with tempfile.TemporaryDirectory(prefix="cardsharp-") as name:
        work = Path(name)
        try:
            with redirect_telemetry(work / "play.log"):
                report = _run_matches(script, options, work, store)
        finally:
            with suppress(OSError):
                ensure_private_file(folder / "play.log")
                shutil.copyfile(work / "play.log", folder / "play.log")
    if options.as_json:
        print_json(report.document())
    else:
        _print_report(report, options)
    failed, decisions, name = (
        report.replaced_decision_count,
        report.decision_count,
        options.strategy.display_name,
    )
    if failed == decisions > 0:
        print_error(
            f"Every decision of {options.strategy} failed, so the results say nothing about it."
        )
    elif failed:
        many = f"{failed} of {decisions} decisions of {name} failed"
        print_error(f"{many}. Safe actions replaced them, so the result is only partly its own.")
    return decision_exit_code(decisions, failed) if report.are_logs_complete else ExitCode.FAILED


def _log_store_name(options: PlayOptions) -> str:
    """Return the name of the match log to write."""
    file = options.store or (options.log_folder and options.log_folder / "matches.db")
    return f"sqlite:{file}" if file else resolve_match_log_location()


def _build_run_config(options: PlayOptions) -> LocalRunConfig:
    if not isinstance(options.opponent, FileReference):
        register_strategy(options.opponent)
    elif not options.opponent.path.is_file():
        raise ConfigError(f"There is no strategy file {options.opponent}. Check the path.")
    return LocalRunConfig(
        strategy=register_strategy(options.strategy),
        opponent=options.opponent,
        cloud=options.cloud,
        seed=options.seed,
        turn_limit=timedelta(seconds=options.timeout),
        concurrency=min(options.concurrency, options.matches),
    )


def _run_matches(
    run_config: LocalRunConfig, options: PlayOptions, work_folder: Path, store: str
) -> RunReport:
    emulated = run_config.cloud is CloudBackendKind.EMULATOR
    cloud_name = "emulated AWS (SQS, DynamoDB)" if emulated else "embedded cloud"
    if not options.as_json:
        message_console().print(f"setting up arena, {cloud_name} and opponent ...", style="dim")
    with start_local_run(run_config, work_folder) as stage:
        began = time.monotonic()
        stop_check = (
            raise_on_late_decisions if options.strategy.is_user_code else ignore_running_matches
        )
        ids = play_and_print_matches(
            stage.assembly.match_log,
            lambda glance: stage.iter_finished(options.matches, glance),
            raise_on_replaced_decision if options.strict else stop_check,
            match_count=options.matches,
            as_json=options.as_json,
            opponent=options.opponent.display_name,
        )
        elapsed_seconds, requests = time.monotonic() - began, stage.request_counts
        log = stage.assembly.match_log
        more = {
            "opponent": options.opponent.display_name,
            "version": source_version(options.strategy, GAME),
        }
        try:
            with open_log(store) as target:
                for match_id in ids:
                    copy_match(match_id, log, target, more)
        except StoreError as error:
            print_error(f"The matches could not be stored. {error}")
            store = ""
        # Only now: whatever cannot be told of a match, it is kept.
        played = [build_match_report(log, view) for view in map(stage.organiser.get_match, ids)]
    return RunReport(
        strategy=run_config.strategy,
        opponent=options.opponent.display_name,
        cloud=run_config.cloud,
        store=store,
        seconds=elapsed_seconds,
        match_reports=played,
        requests=requests,
    )


def _print_report(report: RunReport, options: PlayOptions) -> None:
    console, last_report = result_console(), report.match_reports[-1]
    if len(report.match_reports) == 1:
        words, result = (
            {"won": "we won", "lost": "we lost", "tied": "a tie"},
            last_report.outcome.result,
        )
        template = "{}, {} : {}, in {} turns"
        line = template.format(
            words.get(result, result), *last_report.scores, last_report.outcome.turns
        )
        console.print()
        console.print(line, style="bold")
        console.print(f"{last_report.log_comparison}")
        console.print(f"requests {requests_text(report.requests, 1)}; {report.seconds:.1f} s")
    else:
        print_run_report(console, report)
        log_summary = (
            "every log complete, equal to the arena's"
            if report.are_logs_complete
            else "LOGS DIFFER"
        )
        console.print(
            f"{log_summary}: {sum(m.log_comparison.moves for m in report.match_reports)} moves"
        )
    store = (
        ""
        if _log_store_name(options) == resolve_match_log_location()
        else f" --store {shlex.quote(report.store)}"
    )
    print_replaced_decisions(report.match_reports, store)
    if report.store:
        match_id, turn = (
            last_report.match_id,
            last_report.longest_turn,
        )  # `last` may soon be another match
        console.print()
        print_command(f"show {match_id}{store}", "every turn and decision")
        print_command(f"why {match_id} {turn}{store}", f"what we considered in turn {turn}")
        print_command(f"watch {match_id}{store}", "the match in the browser")
