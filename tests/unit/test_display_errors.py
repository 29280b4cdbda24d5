"""Failures of the display, each of which is reported once and ends no match."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from support.cli import Cli
from support.stored_matches import sample_match

from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.core.clock import SystemClock
from cardsharp.errors import StoreError
from cardsharp.play.catalog import get_game
from cardsharp.store.match_log import MoveRecord
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.cli.console import print_error, print_notice
from cardsharp_tools.cli.game_bot_runner import _StepPrinter
from cardsharp_tools.games.deadmansdraw.bot_runner import _MatchReporter
from cardsharp_tools.games.deadmansdraw.commands.bot import BotOptions
from cardsharp_tools.games.deadmansdraw.match_printer import (
    ignore_running_matches,
    play_and_print_matches,
)
from cardsharp_tools.local_play.bot_runtime import OnRunning
from cardsharp_tools.match_sources.match_logs import open_log
from cardsharp_tools.terminal.display import DisplayErrorGuard
from cardsharp_tools.terminal.progress import ProgressBar

_HOUR = timedelta(hours=1)


def raise_error(error: BaseException) -> None:
    """Raise the error, as a display function might."""
    raise error


@pytest.mark.parametrize(
    ("error", "expected_start"),
    [
        (StoreError("Move 0 cannot be read."), "Match m cannot be shown: Move 0 cannot be read."),
        (BrokenPipeError(), "The output cannot be written: its reader has gone."),
        (OSError(28, "No space left on device"), "The output cannot be written: No space left"),
        (KeyError("x"), "Match m cannot be shown, because of a bug in Cardsharp (KeyError)."),
    ],
)
@pytest.mark.usefixtures("capsys")  # whose stdout is no file of the system's
def test_a_failure_is_reported_once_and_playing_goes_on(
    error: Exception, expected_start: str
) -> None:
    messages: list[str] = []
    guard = DisplayErrorGuard(messages.append)
    assert [guard.run(lambda: raise_error(error), "Match m") for _ in range(3)] == [False] * 3
    assert len(messages) == 1
    assert messages[0].startswith(expected_start)
    assert messages[0].endswith("The match continues.")
    assert guard.run(lambda: None, "Match m")


def test_ctrl_c_is_no_failure_of_showing() -> None:
    guard = DisplayErrorGuard()
    with pytest.raises(KeyboardInterrupt):
        guard.run(lambda: raise_error(KeyboardInterrupt()), "Match m")


@pytest.mark.parametrize("has_stderr", [True, False])
def test_unwritable_progress_and_errors_are_dropped(
    monkeypatch: pytest.MonkeyPatch, has_stderr: bool
) -> None:
    """Stderr may be closed, or missing from the start of the program."""
    closed_stream = io.StringIO()
    closed_stream.close()
    monkeypatch.setattr(sys, "stderr", closed_stream if has_stderr else None)
    print_notice("A sentence.")
    print_error("Another one.")
    with ProgressBar(2, "playing") as bar:
        bar.advance()


@pytest.mark.parametrize("name", ["blef", "deadmansdraw", "euchre"])
def test_bot_steps_are_printed_as_far_as_they_are_readable(
    cli: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """A move that is invalid in the game ends no bot; it is reported once."""
    del cli
    record, moves = sample_match(name)
    with open_log(f"sqlite:{tmp_path / 'bot.db'}") as log:
        lease = log.acquire_lease("m", "worker", _HOUR, record.header)
        log.write_facts(lease, {move.sequence: move.facts for move in moves[:3] if move.facts})
        steps = _StepPrinter(get_game(name), log, "m", as_json=True)
        steps.print_new_steps()
        steps.print_new_steps()
        assert len(capsys.readouterr().out.splitlines()) == len([*moves_with_facts(moves[:3])])
        log.write_intent(lease, 99, {"options": 7})
        log.write_facts(lease, {99: {"odd": True}})
        steps.print_new_steps()
        steps.print_new_steps()
    error_output = capsys.readouterr().err
    assert error_output.count("Match m cannot be shown") == 1
    assert error_output.count("The match continues.") == 1


def moves_with_facts(moves: list[MoveRecord]) -> list[MoveRecord]:
    """Return the moves that have facts."""
    return [move for move in moves if move.facts]


@pytest.mark.parametrize("total", [1, 2])
def test_a_damaged_log_ends_no_match_that_is_watched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], total: int
) -> None:
    """`play` and `practice` watch a single match, or several matches with a progress bar."""
    record, _ = sample_match("deadmansdraw")
    log = SqliteMatchLog(tmp_path / "log.db", SystemClock())
    for number in range(total):
        lease = log.acquire_lease(f"m{number}", "worker", _HOUR, record.header)
        log.write_facts(lease, {0: {"odd": True}})
        log.finish(lease, {"result": "won", "turns": "x"})
    ids = [f"m{number}" for number in range(total)]

    def raise_store_error(_log: object, _running: object) -> None:
        raise StoreError("Move 0 cannot be read.")

    for check in (ignore_running_matches, raise_store_error):
        finished_ids = play_and_print_matches(
            log,
            lambda on_running: end_matches(ids, on_running),
            check,
            match_count=total,
            as_json=False,
        )
        assert finished_ids == ids
    log.close()
    error_output = capsys.readouterr().err
    assert error_output.count("Match m0 cannot be shown") == (2 if total == 1 else 0), "once a call"
    assert error_output.count("The strategy's failures cannot be read") == 1


def end_matches(ids: list[str], on_running: OnRunning) -> Iterator[str]:
    """Yield the matches as finished, each after a call of `on_running`."""
    for match_id in ids:
        on_running([match_id])
        yield match_id


class LogOfAMatchThatEndsNow(SqliteMatchLog):
    """Match log whose match `m` ends after its record was read and before its moves are."""

    end_match: Callable[[], None]

    def moves(self, match_id: str) -> list[MoveRecord]:
        """End the match, and return its moves."""
        self.end_match()
        return super().moves(match_id)


def test_the_end_of_a_damaged_match_is_printed_if_it_comes_while_it_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bot prints each end, once; a match without one would look as if it still ran."""
    record, _ = sample_match("deadmansdraw")
    clock = SystemClock()
    log = LogOfAMatchThatEndsNow(tmp_path / "log.db", clock)
    lease = log.acquire_lease("m", "worker", _HOUR, record.header)
    assert lease is not None
    log.write_facts(lease, {0: {"odd": True}})
    log.end_match = partial(log.finish, lease, record.outcome or {})
    dispatcher = MatchDispatcher(log, MemoryQueue(clock), clock, leased_ids={"m": None})
    messages: list[str] = []
    reporter = _MatchReporter(dispatcher, BotOptions(as_json=True), messages.append)
    for _ in range(3):
        reporter.report_news()
    log.close()
    assert [message.partition(":")[0] for message in messages] == ["Match m cannot be shown"]
    printed = [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()]
    assert printed == ["began", "ended"]
