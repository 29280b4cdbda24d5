"""Parts of the command line: help, progress, errors, strategy files and typed moves."""

import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from random import Random
from signal import SIGINT, SIGTERM
from unittest import mock

import pytest

import cardsharp.aws.telemetry  # noqa: F401 - its handler must not keep one test's stdout
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.games.blef.actions import CHECK, action_name
from cardsharp.games.deadmansdraw import strategies as registry
from cardsharp.play.catalog import get_game
from cardsharp.play.strategy_registry import registry_for
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.cli import generate_docs, main
from cardsharp_tools.cli.app import all_commands
from cardsharp_tools.cli.command_table import Command, load_command_table
from cardsharp_tools.cli.console import print_json, print_json_array
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.executors import strategy_import
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import BuiltIn, parse_strategy
from cardsharp_tools.project_files import missing_extra_error
from cardsharp_tools.terminal import progress
from cardsharp_tools.terminal.screen import Choice, matching_choices

_GET_A_SIGNAL_IN_A_CALLBACK = """
import os, signal, sys, weakref
from cardsharp_tools.cli.exit_codes import install_stop_signal_handlers, interrupt_exit_code
class Resource: pass
def send_signal(_reference):
    os.kill(os.getpid(), int(sys.argv[1]))
    for _ in range(1000): pass
resource = Resource()
reference = weakref.ref(resource, send_signal)
install_stop_signal_handlers([signal.SIGINT, signal.SIGTERM])
try:
    del resource
    print("still running", flush=True)
    while True: signal.pause()
except KeyboardInterrupt as stop:
    sys.exit(interrupt_exit_code(stop))
"""
"""Program that gets a signal in a callback of a weak reference, whose exceptions Python ignores."""


@pytest.mark.parametrize(
    ("signal_number", "exit_code"),
    [(SIGTERM, ExitCode.TERMINATED), (SIGINT, ExitCode.INTERRUPTED)],
)
def test_a_signal_whose_exception_python_ignores_is_sent_again(
    signal_number: int, exit_code: ExitCode
) -> None:
    process = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", _GET_A_SIGNAL_IN_A_CALLBACK, str(int(signal_number))],
        check=False,
        capture_output=True,
        text=True,
    )
    assert process.stdout == "still running\n"
    assert process.stderr == ""
    assert process.returncode == exit_code


@pytest.mark.parametrize("command", all_commands(), ids=lambda command: command.name)
def test_the_help_of_each_command_has_examples(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command.name, "--help"]) == ExitCode.OK
    output = capsys.readouterr().out
    assert max(map(len, output.partition("Examples:")[2].splitlines())) <= 80
    assert not [line for line in output.splitlines() if line.endswith(" ")]
    help_text = " ".join(output.split())
    assert command.summary in help_text
    assert command.is_group or command.examples[0][0] in help_text
    assert "--json" in help_text


def test_without_a_terminal_progress_is_announced_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "FIRST_MESSAGE_SECONDS", 0)
    with progress.ProgressBar(85, "judging") as bar:
        bar.line.join()
        bar.advance(85)
    assert capsys.readouterr().err == "judging 0/85 ...\n"


def test_docs_have_the_table_of_commands_and_every_exit_code() -> None:
    """To update the page, run `python -m cardsharp_tools.cli.generate_docs`."""
    text = generate_docs.CLI_PAGE.read_text("utf-8")
    assert generate_docs.generated_cli_page() == text
    assert all(f"| {code.value} |" in text for code in ExitCode)


def test_help_imports_no_command_and_a_reader_that_has_gone_is_no_error() -> None:
    """A closed pipe, as in `cardsharp strategies | head -0`, is no error."""
    code = (
        "import sys; from cardsharp_tools.cli import main; main(['--help']); "
        "sys.exit('requests' in sys.modules or 'starlette' in sys.modules)"
    )
    help_process = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], check=False, stdout=subprocess.DEVNULL
    )
    assert help_process.returncode == 0
    command = f"{sys.executable} -m cardsharp_tools.cli strategies; echo code $? >&2"
    shell_process = subprocess.run(  # noqa: S603 - our own command
        ["/bin/sh", "-c", f"({command}) | true"], check=False, capture_output=True, text=True
    )
    assert shell_process.stderr == "code 0\n"


def test_an_unknown_command_is_corrected_without_an_import_of_any_command() -> None:
    code = (
        "import sys; from cardsharp_tools.cli import main; main(['mathces']); "
        "sys.exit(any(name.startswith('cardsharp_tools.cli.commands.') for name in sys.modules))"
    )
    process = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )
    assert "has no command 'mathces'. Did you mean \"matches\"?" in process.stderr
    assert process.returncode == 0


@pytest.mark.parametrize("is_terminal", [False, True])
@pytest.mark.parametrize("items", [[], [{"a": [1, {"b": "\u00fc\x1b"}]}, {}], [1, "two", [3]]])
def test_an_array_is_printed_item_by_item_as_in_one_piece(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    items: list[object],
    is_terminal: bool,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    print_json(items)
    expected = capsys.readouterr().out
    print_json_array(iter(items))
    assert capsys.readouterr().out == expected


_HEAVY = (
    "requests stamina tenacity asyncio subprocess boto3 aws_lambda_powertools starlette jinja2 "
)
_HEAVY += "cardsharp.bot cardsharp.client cardsharp_tools.game_rooms cardsharp_tools.lab.runner"
_OF_DECISIONS = "cardsharp.play.decision_runner cardsharp.analysis.judged_match"
_OF_ANALYSIS = "rich.progress cardsharp.analysis.judge cardsharp.pages cardsharp_tools.lab"
# cyclopts builds a validator of pydantic for each option once pydantic is imported. And what reads
# package metadata imports the package email.
_OF_A_RUN = f"pydantic sqlite3 uvicorn email.message cardsharp.analysis {_HEAVY} {_OF_ANALYSIS}"
_WITH_OPTIONS_ALONE = [
    "play",
    "practice",
    "bot",
    "arena",
    "versus",
    "show",
    "why",
    "matches",
    "contest",
    "cloud",
]
"""Commands whose own modules have only their options; what runs is imported when they run."""


@pytest.mark.parametrize(
    ("line", "exit_code", "heavy_modules"),
    [
        ("--version", 0, f"cyclopts rich pydantic sqlite3 {_HEAVY} {_OF_ANALYSIS}"),
        ("mathces", 2, f"pydantic sqlite3 email.message tempfile {_HEAVY} {_OF_ANALYSIS}"),
        ("matches", 0, f"cyclopts.config email.message {_HEAVY} {_OF_ANALYSIS}"),
        ("show final-2023", 0, f"cyclopts.config sqlite3 {_OF_DECISIONS} {_HEAVY} {_OF_ANALYSIS}"),
        ("analyse final-2023", 0, f"{_HEAVY} cardsharp_tools.lab cardsharp.contest"),
        ("stats", 2, f"{_HEAVY} cardsharp.pages cardsharp.contest.view"),
        ("blef bot --help", 0, f"requests stamina boto3 cardsharp.bot {_OF_ANALYSIS}"),
        *((f"{command} --help", 0, _OF_A_RUN) for command in _WITH_OPTIONS_ALONE),
    ],
)
def test_a_quick_command_imports_no_heavy_module(
    line: str, exit_code: int, heavy_modules: str, tmp_path: Path
) -> None:
    """What a command does not use is not imported, so it starts at once."""
    if line == "matches":
        (tmp_path / "cardsharp").mkdir()
        SqliteMatchLog(tmp_path / "cardsharp" / "matches.db", SystemClock()).close()
    code = (
        "import sys; from cardsharp_tools.cli import main; code = main(sys.argv[2:]); "
        "heavy_modules = {*sys.argv[1].split()} & sys.modules.keys(); "
        "print(code, *sorted(heavy_modules), file=sys.stderr)"
    )
    process = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code, heavy_modules, *line.split()],
        check=False, capture_output=True, text=True,
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
    )  # fmt: skip
    assert process.stderr.splitlines()[-1] == str(exit_code)


def test_garbage_is_searched_for_only_where_a_command_creates_many_objects() -> None:
    """A short command ends before the first search; after that Python searches as usual."""
    code = (
        "import gc, sys; from cardsharp_tools.cli import main; counts = lambda: "
        "[generation['collections'] for generation in gc.get_stats()]; "
        "usual, before = gc.get_threshold(), counts(); main(sys.argv[1:]); after = counts(); "
        "many = [[] for _ in range(200_000)]; "
        "print(before == after, counts() != after, gc.get_threshold() == usual, gc.callbacks)"
    )
    process = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code, "show", "final-2023"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert process.stdout.splitlines()[-1] == "True True True []"


@pytest.mark.parametrize("group", ["contest", "cloud"])
def test_a_group_lists_each_command_by_the_first_line_of_its_docstring(group: str) -> None:
    """The list is read from a table, because the modules of the commands are slow to import."""
    table = REPOSITORY_ROOT / f"cardsharp_tools/cli/commands/{group}/commands.toml"
    for command in load_command_table(table):
        module, _, function = command.function.partition(":")
        target = getattr(import_module(f"{command.package}.{module}"), function)
        docstring = target.help if command.is_group else inspect.getdoc(target)
        assert docstring.partition("\n\n")[0] == command.summary


def test_an_internal_error_is_reported_in_a_sentence_and_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def raise_internal_error() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("cardsharp_tools.cli.app.build_app", raise_internal_error)
    assert main(["play"]) == ExitCode.FAILED
    error_output = capsys.readouterr().err
    assert "ZeroDivisionError" in error_output
    assert len(error_output.splitlines()) == 1
    [file] = tmp_path.iterdir()
    assert "Traceback" in file.read_text()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "registers no strategy"),
        ("import nothing_like_it", "line 1, fails: ModuleNotFoundError"),
        ("class A:\n  def f(self)\n", "line 2, fails: SyntaxError"),
        ("\0", "mine.py cannot be read: it is no text; save it as UTF-8"),
        ("import sys\nsys.exit(3)", "line 2, fails: SystemExit: 3"),
        (
            "@strategy('champion')\nclass A:\n  def __init__(self, r): pass",
            "uses the name 'champion' of a built-in strategy",
        ),
        ("@strategy('unmade')\nclass A:\n  pass", "must take exactly one argument besides self"),
        ("@strategy('mute')\nclass A:\n  def __init__(self, r): pass", "no method decide"),
        (
            "@strategy('two-1')\n@strategy('two-2')\nclass A:\n  pass",
            "registers several strategies: two-1, two-2. Put each one into its own file",
        ),
    ],
)
def test_an_unusable_strategy_file_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, sentence: str
) -> None:
    """Each fault is explained; the file that ends its process runs in a separate process."""
    is_hosted = "sys.exit" not in text
    monkeypatch.setattr(
        strategy_import, "_import_listeners", [lambda _file: None] if is_hosted else []
    )
    path = tmp_path / "mine.py"
    import_line = (
        "from cardsharp.games.deadmansdraw.strategies import strategy\n" if "@" in text else ""
    )
    path.write_text(import_line + text)
    registry.STRATEGIES.names()  # so that all of ours are there
    with mock.patch.dict(registry.STRATEGIES._makers), pytest.raises(ConfigError, match=sentence):
        register_strategy(parse_strategy(str(path)))


@pytest.mark.parametrize("is_hosted", [False, True], ids=["apart", "hosted"])
def test_a_copy_of_a_strategy_file_meets_its_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_hosted: bool
) -> None:
    """Files with the same strategy name are distinguished by path, also within a process."""
    monkeypatch.setattr(
        strategy_import, "_import_listeners", [lambda _file: None] if is_hosted else []
    )
    text = (
        "from cardsharp.games.deadmansdraw.strategies import strategy\n"
        "from cardsharp.games.deadmansdraw.strategies.uniform import DeadMansDrawUniformRandom\n"
        f"@strategy('copied-{is_hosted}')\nclass Mine(DeadMansDrawUniformRandom):\n    VERSION = "
    )
    files = [tmp_path / file_name for file_name in ("mine.py", "older.py", "x/mine.py")]
    (tmp_path / "x").mkdir()
    for number, file in enumerate(files):
        file.write_text(f"{text}{number}\n")
    names = [register_strategy(parse_strategy(str(file))) for file in files]
    assert len(set(names)) == 3
    build = registry_for(get_game(None).strategy_package).build
    strategies = [build(name, Random(1)) for name in names]
    if is_hosted:
        assert [strategy.VERSION for strategy in strategies] == [0, 1, 2]


def test_missing_packages_name_make_setup_and_misspelt_names_are_guessed() -> None:
    """An installed command names its extra instead (tests/e2e/test_installed.py)."""
    assert str(missing_extra_error("export", "numpy", "env")).endswith(
        "not installed: type make setup."
    )
    with pytest.raises(ConfigError, match=r"There is no executable program \./bot"):
        register_strategy(parse_strategy("./bot"))
    with pytest.raises(ConfigError, match=r"Did you mean captain\?"):
        register_strategy(BuiltIn("captian"))


ALL_BETS = [Choice(str(action), action_name(action), action) for action in range(CHECK + 1)]


@pytest.mark.parametrize(
    ("text", "expected_names"),
    [
        ("11", ["Pair of aces"]),
        ("PAIR OF ACES", ["Pair of aces"]),
        ("pair aces", ["Pair of aces"]),
        ("flush hearts", ["Flush, hearts"]),
        ("three aces", ["Three of a kind, aces"]),
        ("big straight", ["Big straight (10-A)"]),
        ("great flush hearts", ["Great straight flush (9-A), hearts"]),
        ("check", ["Check"]),
        ("che", ["Check"]),
        ("hi ki", ["High card, king"]),
        ("aces nines", []),
        ("89", []),
        ("", []),
        ("²", []),
    ],
)
def test_a_move_is_matched_by_number_name_or_part_of_its_name(
    text: str, expected_names: list[str]
) -> None:
    assert [choice.name for choice in matching_choices(text, ALL_BETS)] == expected_names
