"""What only shows, beside what plays: its failures are said once, and nothing ends."""

import io
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from support.cli import Cli
from support.stored import any_match

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MoveRecord
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.errors import StoreError
from cardsharp.games import game
from workbench.cli.bot import _Steps
from workbench.deadmansdraw.show import let_go_on, watched
from workbench.show.display import DisplayGuard
from workbench.show.lookup import open_log
from workbench.show.output import print_aside, print_error
from workbench.show.progress import Bar
from workbench.stage.side import Glance

_HOUR = timedelta(hours=1)


def raising(error: BaseException) -> None:
    """Fail as something that shows might."""
    raise error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StoreError("Move 0 cannot be read."), "Match m cannot be shown: Move 0 cannot be read."),
        (BrokenPipeError(), "The output cannot be written: nobody reads it any more."),
        (OSError(28, "No space left on device"), "The output cannot be written: No space left"),
        (KeyError("x"), "Match m cannot be shown, by a fault of Cardsharp itself (KeyError)."),
    ],
)
@pytest.mark.usefixtures("capsys")  # whose stdout is no file of the system's
def test_a_failure_is_reported_once_and_playing_goes_on(error: Exception, told: str) -> None:
    said: list[str] = []
    guard = DisplayGuard(said.append)
    assert [guard.run(lambda: raising(error), "Match m") for _ in range(3)] == [False] * 3
    assert len(said) == 1
    assert said[0].startswith(told)
    assert said[0].endswith("Playing goes on.")
    assert guard.run(lambda: None, "Match m")


def test_ctrl_c_is_no_failure_of_showing() -> None:
    guard = DisplayGuard()
    with pytest.raises(KeyboardInterrupt):
        guard.run(lambda: raising(KeyboardInterrupt()), "Match m")


@pytest.mark.parametrize("is_there", [True, False])
def test_progress_and_errors_that_nobody_can_read_are_lost(
    monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """A closed file, and a program that was started without stderr."""
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed if is_there else None)
    print_aside("A sentence.")
    print_error("Another one.")
    with Bar(2, "playing") as bar:
        bar.advance()


@pytest.mark.parametrize("name", ["blef", "deadmansdraw", "euchre"])
def test_the_steps_of_any_games_bot_are_told_as_far_as_they_can_be_read(
    cli: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """A move that is none of the game's ends no bot: it is named, once."""
    del cli
    record, moves = any_match(name)
    with open_log(f"sqlite:{tmp_path / 'bot.db'}") as log:
        lease = log.take("m", "worker", _HOUR, record.header)
        log.record(lease, {one.sequence: one.facts for one in moves[:3] if one.facts})
        steps = _Steps(game(name), log, "m", as_json=True)
        steps.tell()
        steps.tell()
        assert len(capsys.readouterr().out.splitlines()) == len([*facts(moves[:3])])
        log.intend(lease, 99, {"options": 7})
        log.record(lease, {99: {"odd": True}})
        steps.tell()
        steps.tell()
    said = capsys.readouterr().err
    assert said.count("Match m cannot be shown") == 1
    assert said.count("Playing goes on.") == 1


def facts(moves: list[MoveRecord]) -> list[MoveRecord]:
    """The moves that have facts."""
    return [move for move in moves if move.facts]


@pytest.mark.parametrize("total", [1, 2])
def test_a_damaged_log_ends_no_match_that_is_watched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], total: int
) -> None:
    """As `play` and `practice` watch their matches, one alone or several behind a bar."""
    record, _ = any_match("deadmansdraw")
    log = SqliteLog(tmp_path / "log.db", SystemClock())
    for number in range(total):
        lease = log.take(f"m{number}", "worker", _HOUR, record.header)
        log.record(lease, {0: {"odd": True}})
        log.finish(lease, {"result": "won", "turns": "x"})
    ids = [f"m{number}" for number in range(total)]

    def unreadable(_log: object, _running: object) -> None:
        raise StoreError("Move 0 cannot be read.")

    for check in (let_go_on, unreadable):
        ended = watched(log, lambda glance: glanced(ids, glance), check, total=total, as_json=False)
        assert ended == ids
    log.close()
    said = capsys.readouterr().err
    assert said.count("Match m0 cannot be shown") == (2 if total == 1 else 0), "once a call"
    assert said.count("Faults of the strategy cannot be looked for") == 1


def glanced(ids: list[str], glance: Glance) -> Iterator[str]:
    """End matches one by one, and have each looked at before."""
    for match_id in ids:
        glance([match_id])
        yield match_id
