"""The small parts of the command line, each by itself."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

import cardsharp.cloud.telemetry  # noqa: F401 - its handler must not keep one test's stdout
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MoveRecord
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.deadmansdraw.replay import card_of, thought_of, turns_of
from cardsharp.errors import (
    CardsharpError,
    ConfigError,
    Garbled,
    Malformed,
    RateLimited,
    StoreError,
    Unauthorized,
    Unreachable,
)
from cardsharp.games import game
from cardsharp.registry import strategies_of
from cardsharp.replay import Outcome, parse
from workbench.cli import document, main
from workbench.cli.commands import all_commands
from workbench.deadmansdraw.arena import _check_watchdog
from workbench.deadmansdraw.cards import parse_cards
from workbench.deadmansdraw.checks import Skipped, judge_clock
from workbench.show.checks import DoctorCheck, Finding, report
from workbench.show.command import Command
from workbench.show.exits import Exit, exit_for
from workbench.show.lookup import find_match
from workbench.show.output import print_error
from workbench.stage.archive import copy_match
from workbench.stage.tally import kind_of
from workbench.stage.verdict import Verdict
from workbench.strategy_file import strategy_named

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


@pytest.mark.parametrize("command", all_commands(), ids=lambda command: command.name)
def test_every_command_teaches_with_examples(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command.name, "--help"]) == Exit.OK
    said = " ".join(capsys.readouterr().out.split())
    assert command.summary in said
    assert command.group or command.examples[0][0] in said
    assert "--json" in said


def test_the_table_of_commands_is_written_by_its_module() -> None:
    """If it is not: python -m workbench.cli.document."""
    assert document.written() == DOCS.read_text("utf-8")


def test_every_exit_code_is_documented() -> None:
    text = DOCS.read_text()
    assert all(f"| {code.value} |" in text for code in Exit)


def test_a_long_sentence_is_broken_between_words_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LINES", "24")  # or rich takes a dumb terminal for one of 80 columns
    sentence = "No strategy is called 'nosuch'. There are: adaptive, captain, champion."
    print_error(sentence)
    assert capsys.readouterr().err == f"cardsharp: {sentence}\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    print_error(sentence)
    lines = capsys.readouterr().err.splitlines()
    assert [line.strip() for line in lines] == [
        "cardsharp: No strategy is called",
        "'nosuch'. There are: adaptive, captain,",
        "champion.",
    ]


def test_help_imports_no_command() -> None:
    """So that it is there at once."""
    code = (
        "import sys; from workbench.cli import main; main(['--help']); "
        "sys.exit('requests' in sys.modules or 'starlette' in sys.modules)"
    )
    helped = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], check=False, stdout=subprocess.DEVNULL
    )
    assert helped.returncode == 0


def test_a_reader_that_has_gone_is_no_error() -> None:
    """As in `cardsharp strategies | head -0`."""
    command = f"{sys.executable} -m workbench.cli strategies; echo code $? >&2"
    shell = subprocess.run(  # noqa: S603 - our own command
        ["/bin/sh", "-c", f"({command}) | true"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert shell.stderr == "code 0\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), Exit.USAGE),
        (Malformed("x"), Exit.USAGE),
        (Unauthorized(401, "x"), Exit.USAGE),
        (Unreachable("x"), Exit.UNREACHABLE),
        (Garbled("x"), Exit.UNREACHABLE),
        (RateLimited("x", timedelta(seconds=1)), Exit.UNREACHABLE),
        (StoreError("x"), Exit.FAILED),
        (CardsharpError("x"), Exit.FAILED),
    ],
)
def test_an_exit_code_tells_what_kind_of_thing_went_wrong(
    error: CardsharpError, code: Exit
) -> None:
    assert exit_for(error) is code


def test_a_bug_of_ours_is_one_sentence_and_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("workbench.cli.line.build_app", broken)
    assert main(["play"]) == Exit.FAILED
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said
    assert len(said.splitlines()) == 1
    [file] = tmp_path.iterdir()
    assert "Traceback" in file.read_text()


def test_cards_are_read_whatever_their_case() -> None:
    expected = [Card(Suit.KEY, 3), Card(Suit.MERMAID, 9)]
    assert parse_cards(" Key3, mermaid9 ,") == expected
    assert parse_cards("") == []
    for wrong in ("Parrot3", "Key", "3", "Key-3"):
        with pytest.raises(ConfigError, match="is no card"):
            parse_cards(wrong)


def test_a_card_of_the_log_is_read_even_if_its_suit_is_new() -> None:
    assert card_of("Key3") == Card(Suit.KEY, 3)
    assert card_of("Parrot12") == Card("Parrot", 12)


@pytest.mark.parametrize(
    ("method", "target", "kind"),
    [
        ("GET", "/api/matches?active=true&wait=true", "list_wait"),
        ("GET", "/api/matches?id=1", "list"),
        ("POST", "/api/matches", "create"),
        ("GET", "/api/matches/1?showevents=true", "view"),
        ("GET", "/api/matches/1?waitactive=true&showevents=true", "view_wait"),
        ("POST", "/api/matches/1", "act"),
        ("GET", "/api/whoami", "other"),
    ],
)
def test_requests_are_counted_by_what_they_ask_for(method: str, target: str, kind: str) -> None:
    assert kind_of(method, target) == kind


def test_a_verdict_names_the_moves_that_are_wrong() -> None:
    assert str(Verdict(87, (), ())) == "log complete: 87 moves, equal to the arena's"
    wrong = Verdict(3, (1,), (2,))
    assert not wrong.complete
    assert str(wrong) == "log of 3 moves is without moves 1 and other in moves 2"


@pytest.mark.parametrize(("ahead", "words"), [(60, "60 s ahead of"), (-60, "60 s behind"), (0, "")])
def test_a_clock_is_judged_by_the_arenas(ahead: int, words: str) -> None:
    date = "Fri, 20 Nov 2026 12:00:00 GMT"
    now = NOON + timedelta(seconds=ahead + 0.5)
    if words:
        with pytest.raises(CardsharpError, match=words):
            judge_clock(date, now)
    else:
        assert judge_clock(date, now) == "within 1 s of the arena's"
    with pytest.raises(Skipped):
        judge_clock("", now)


def test_an_old_or_unknown_log_is_read_as_far_as_it_goes() -> None:
    assert parse(Outcome, {"result": "unknown", "turns": None}).turns == 0
    assert thought_of({}).action == "no decision"
    answer = {"etype": "ResponseToEffect", "effect": {"effectType": "Oracle", "card": None}}
    assert thought_of({"action": answer}).action == "Oracle: not taken"
    blind = {"etype": "EndTurn", "autopick": True}
    assert thought_of({"action": blind}).action == "EndTurn (autopick)"
    with pytest.raises(StoreError, match="outcome that cannot be read: turns"):
        parse(Outcome, {"turns": "many"})


def test_a_decision_that_the_arena_has_not_confirmed_is_a_step_of_its_turn() -> None:
    intent = {"seat": 1, "turn": 4, "action": {"etype": "Draw"}, "reason": "Why not."}
    [turn] = turns_of([MoveRecord(7, intent, None)])
    assert (turn.number, turn.player, turn.over) == (4, 1, False)
    assert turn.decisions[0].ours is not None


def test_a_move_that_cannot_be_read_is_named() -> None:
    with pytest.raises(StoreError, match="Move 3 "):
        turns_of([MoveRecord(3, None, {"events": "none"})])


def test_a_word_means_one_match(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "m.db", SystemClock())
    with pytest.raises(ConfigError, match="empty"):
        find_match(log, "last")
    for match_id in ("abc1", "abc2", "xyz"):
        log.announce(match_id, timedelta(seconds=1))
    assert find_match(log, "xyz").match_id == "xyz"
    assert find_match(log, "x").match_id == "xyz"
    assert find_match(log, "c2").match_id == "abc2"
    assert find_match(log, "last").match_id == "xyz"
    with pytest.raises(ConfigError, match="can be 2 matches"):
        find_match(log, "abc")
    with pytest.raises(ConfigError, match="No match 'q'"):
        find_match(log, "q")
    log.close()


def test_a_copied_match_is_the_same_match(tmp_path: Path) -> None:
    source = SqliteLog(tmp_path / "a.db", SystemClock())
    target = SqliteLog(tmp_path / "b.db", SystemClock())
    lease = source.take("m", "w", timedelta(minutes=1), {"names": ["A", "B"]})
    assert lease is not None
    source.intend(lease, 1, {"reason": "Because."})
    source.record(lease, {0: {"a": 1}, 1: {"b": 2}})
    source.note("m", "refused", {"why": "x"})
    copy_match("m", source, target, {})
    assert target.match("m") is None, "a match that still runs is not copied"
    source.finish(lease, {"result": "won"})
    for _ in range(2):
        copy_match("m", source, target, {"opponent": "champion"})
    assert target.moves("m") == source.moves("m")
    copied = target.match("m")
    assert copied is not None
    assert copied.header == {"names": ["A", "B"], "opponent": "champion"}
    assert copied.outcome == {"result": "won"}
    assert [note.body for note in target.notes("m")] == [{"why": "x"}]
    source.close()
    target.close()


def test_two_things_to_do_are_two_lines_of_a_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([DoctorCheck("settings", Finding.FAILED, "set a\nset b")], as_json=False) == 1
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["settings", "failed", "set", "a"],
        ["set", "b"],
    ]


def test_a_retry_writes_no_line_of_a_library_on_the_terminal() -> None:
    code = (
        "import cardsharp.exchange, stamina\n"
        "for attempt in stamina.retry_context(on=OSError, attempts=2, wait_max=0):\n"
        "    with attempt:\n"
        "        if attempt.num == 1: raise OSError\n"
    )
    ran = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert (ran.stdout, ran.stderr) == ("", "")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "registers no strategy"),
        ("import nothing_like_it", "line 1, fails: ModuleNotFoundError"),
        ("class A:\n  def f(self)\n", "line 2, fails: SyntaxError"),
        ("\0", "mine.py fails: SyntaxError"),
        ("import sys\nsys.exit(3)", "line 2, fails: SystemExit: 3"),
        ("@strategy('champion')\nclass A:\n  def __init__(self, r): pass", "takes the name"),
        ("@strategy('unmade')\nclass A:\n  pass", "takes one thing besides self"),
        ("@strategy('mute')\nclass A:\n  def __init__(self, r): pass", "no method decide"),
        (
            "@strategy('two-1')\n@strategy('two-2')\nclass A:\n  pass",
            "registers two-1, two-2; put each strategy in its own file",
        ),
    ],
)
def test_a_strategy_file_that_cannot_be_used_says_why(
    tmp_path: Path, text: str, sentence: str
) -> None:
    from cardsharp.deadmansdraw.strategies import registry  # noqa: PLC0415 - put back below

    path = tmp_path / "mine.py"
    imported = "from cardsharp.deadmansdraw.strategies import strategy\n" if "@" in text else ""
    path.write_text(imported + text)
    registry.names()  # so that all of ours are there
    before = dict(registry.STRATEGIES._makers)
    try:
        with pytest.raises(ConfigError, match=sentence):
            strategy_named(str(path))
    finally:
        registry.STRATEGIES._makers.clear()
        registry.STRATEGIES._makers.update(before)


def test_a_copy_of_a_strategy_file_meets_its_original(tmp_path: Path) -> None:
    """Both register the same name: a file is known by its path."""
    text = (
        "from cardsharp.deadmansdraw.strategies import strategy\n"
        "from cardsharp.deadmansdraw.strategies.uniform import Uniform\n"
        "@strategy('copied')\nclass Mine(Uniform):\n    VERSION = {}\n"
    )
    files = [tmp_path / place for place in ("mine.py", "older.py", "x/mine.py")]
    (tmp_path / "x").mkdir()
    for number, file in enumerate(files):
        file.write_text(text.format(number))
    names = [strategy_named(str(file)) for file in files]
    assert len(set(names)) == 3
    build = strategies_of(game(None).strategies).build
    assert [build(name, Random(1)).VERSION for name in names] == [0, 1, 2]


def test_a_name_that_is_almost_one_is_answered_by_that_one() -> None:
    with pytest.raises(ConfigError, match=r"Did you mean captain\?"):
        strategy_named("captian")


def test_an_arena_may_never_end_a_late_turn_itself() -> None:
    """As the original; the word is on docs/arena.md."""
    assert _check_watchdog(float, "never") is None
    with pytest.raises(ValueError, match="never"):
        _check_watchdog(float, -1.0)
