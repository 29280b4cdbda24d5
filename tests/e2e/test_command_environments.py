"""Tests of ten commands in every kind of environment, each run as a separate program.

The encoding, the streams, the home folder, the proxies and the user vary. A command does
its work or says in a sentence what to do. It prints no traceback, and its output is
readable.
"""

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from support.forward_proxy import ForwardProxy
from support.surroundings import (
    ENCODINGS,
    HOMES,
    PROXIES,
    STREAMS,
    USERS,
    CommandEnvironment,
    CompletedCommand,
    all_pairs,
    other_user_problem,
    run_in_environment,
)

from cardsharp_tools.match_sources import sources
from cardsharp_tools.project_files import PROJECT_ROOT

TEAM_NAMES = ["Ünï Größe 🂡 日本\x1b[31m", "Ελληνικά \u202e \ud83d"]
"""Of teams: in many scripts, and with what would steer a terminal; the last is half an emoji."""

COMMANDS = {
    "strategies": "strategies",
    "analyse": "analyse match.json",
    "show": "show match.json",
    "stats": "stats match.json --json",
    "watch": "watch match.json --html page-ä.html",
    "play": "play --opponent random --strategy draw-3 --seed 3",
    "new": "new mine-ö.py",
    "versus": "versus random",
    "doctor": "doctor",
    "lab": "lab duel random draw-3 -n 2",
}
FACTORS = (tuple(COMMANDS), tuple(ENCODINGS), STREAMS, HOMES, PROXIES, USERS)
PAIRS = all_pairs(*FACTORS)


def rows_with_new_values(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the rows that contain a value that no earlier row of them contains."""
    seen_values, selected = set[tuple[int, str]](), list[tuple[str, ...]]()
    for row in rows:
        if new_values := {*enumerate(row)} - seen_values:
            seen_values |= new_values
            selected.append(row)
    return selected


FAST_PAIRS = rows_with_new_values(PAIRS)
"""The rows of `make test`: together they contain every command and every surrounding."""


@dataclass(frozen=True)
class CommandFolder:
    """A folder that every user may write to, and a proxy that must get no request."""

    folder: Path
    proxy: ForwardProxy


@pytest.fixture
def command_folder() -> Iterator[CommandFolder]:
    """A prepared folder that every user can reach; pytest's folders are private."""
    with tempfile.TemporaryDirectory(prefix="surroundings-") as name, ForwardProxy() as proxy:
        yield prepare_folder(Path(name), proxy)
        assert proxy.requests == [], "nothing here is on another machine"


def prepare_folder(folder: Path, proxy: ForwardProxy) -> CommandFolder:
    """Prepare a folder with a sample match, and return it."""
    folder.chmod(0o777)
    sample = Path(sources.__file__).parent / "samples" / "final-2023.json.gz"
    match = json.loads(gzip.decompress(sample.read_bytes()))
    (folder / "match.json").write_text(json.dumps(match | {"playernames": TEAM_NAMES}))
    (folder / "data").mkdir()
    (folder / "data").chmod(0o777)
    return CommandFolder(folder, proxy)


def variables_in(
    surroundings: CommandEnvironment, command_folder: CommandFolder, command: str = ""
) -> dict[str, str]:
    """Return the environment variables of a command.

    Of this process it has only the paths of programs and packages.
    """
    variables = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    variables |= ENCODINGS[surroundings.encoding]
    variables |= {"CARDSHARP_NATIVE": "0"} if command == "lab" else {}  # it would compile for 10 s
    variables |= {"TMPDIR": str(command_folder.folder), "TERM": "xterm"}
    variables["PYTHONPATH"] = os.pathsep.join(
        [str(PROJECT_ROOT), *filter(None, [variables.get("PYTHONPATH")])]
    )
    if surroundings.home == "unset":
        if surroundings.user == "root":  # else it would write to root's own home
            variables["XDG_DATA_HOME"] = str(command_folder.folder / "data")
    else:
        home = command_folder.folder / f"a home, {surroundings.home} äöü"
        home.mkdir(0o777)
        home.chmod(0o777 if surroundings.home == "umlauts" else 0o555)
        variables["HOME"] = str(home)
    if surroundings.proxy == "named":
        names = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY")
        variables |= dict.fromkeys(names, command_folder.proxy.url)
    return variables


def expected_code(command: str, surroundings: CommandEnvironment) -> int:
    """Return the expected exit code of a command.

    It is 2 if a required stream is closed, and 1 if `doctor` finds no folder to write to.
    """
    lacks_input = surroundings.stream == "closed input" and command == "versus"
    if surroundings.stream == "closed output" or lacks_input:
        return 2
    has_no_home = surroundings.user == "nobody" and surroundings.home != "umlauts"
    return 1 if command == "doctor" and has_no_home else 0


def run_and_check(
    command: str, surroundings: CommandEnvironment, command_folder: CommandFolder
) -> CompletedCommand:
    """Run a command, and check its exit code and its output."""
    if surroundings.user == "nobody" and (skip_reason := other_user_problem()):
        pytest.skip(skip_reason)
    arguments = COMMANDS[command].split()
    result = run_in_environment(
        surroundings,
        arguments,
        command_folder.folder,
        variables_in(surroundings, command_folder, command),
    )
    out, err = (text.decode(surroundings.encoding) for text in (result.out, result.err))
    output = out + err
    assert result.code == expected_code(command, surroundings), output
    assert "Traceback" not in output
    assert "bug in Cardsharp" not in output
    assert "\x1b[31mE" not in output
    if result.code == 2:
        assert "standard" in output, "which stream is closed, and what to do"
    elif command == "stats" and surroundings.stream != "terminal":
        assert TEAM_NAMES[0] in json.dumps(json.loads(out), ensure_ascii=False).replace(
            "\\u001b", "\x1b"
        )
    elif command in {"analyse", "show"} and surroundings.encoding == "utf-8":
        assert "Größe 🂡 日本" in out.replace("\r\n", "")
    return result


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=[] if row in FAST_PAIRS else pytest.mark.slow, id=", ".join(row))
        for row in PAIRS
    ],
)
def test_a_command_ends_as_it_should_in_any_two_surroundings(
    row: tuple[str, ...], command_folder: CommandFolder
) -> None:
    command, *surroundings = row
    run_and_check(command, CommandEnvironment(*surroundings), command_folder)


@pytest.mark.slow
@pytest.mark.parametrize("row", list(product(*FACTORS)), ids=", ".join)
def test_a_command_ends_as_it_should_in_all_surroundings(
    row: tuple[str, ...], command_folder: CommandFolder
) -> None:
    command, *surroundings = row
    run_and_check(command, CommandEnvironment(*surroundings), command_folder)


def test_the_pairs_cover_all_combinations() -> None:
    assert len(PAIRS) < 2 * len(COMMANDS) * len(STREAMS)
    for first, first_values in enumerate(FACTORS):
        for second, second_values in enumerate(FACTORS[:first]):
            value_pairs = {(row[first], row[second]) for row in PAIRS}
            assert len(value_pairs) == len(first_values) * len(second_values)
    assert len(FAST_PAIRS) <= len(COMMANDS) + 2
    assert [*map(set, zip(*FAST_PAIRS, strict=True))] == [*map(set, FACTORS)]


# --- single faults of a machine ---------------------------------------------------------------

DEFAULT_SURROUNDINGS = CommandEnvironment("utf-8", "pipe", "umlauts", "none", "root")


def run_words_in_folder(
    command_folder: CommandFolder,
    command: str,
    surroundings: CommandEnvironment = DEFAULT_SURROUNDINGS,
    folder: Path | None = None,
) -> CompletedCommand:
    return run_in_environment(
        surroundings,
        command.split(),
        folder or command_folder.folder,
        variables_in(surroundings, command_folder),
    )


def test_a_curve_has_the_same_shape_in_ascii_and_in_blocks(command_folder: CommandFolder) -> None:
    """Each block of a curve is replaced by one character, so the lines have equal lengths."""
    curves = []
    for encoding in ("utf-8", "ascii"):
        shutil.rmtree(command_folder.folder / "a home, umlauts äöü", ignore_errors=True)
        surroundings = CommandEnvironment(encoding, "pipe", "umlauts", "none", "root")
        text = run_words_in_folder(command_folder, "analyse match.json", surroundings).out.decode(
            encoding
        )
        curves.append([line for line in text.splitlines() if set(line) & {"█", "@"}])
    blocks, letters = curves
    assert [*map(len, blocks)] == [*map(len, letters)]
    assert "█" in blocks[-1]
    assert "@" in letters[-1]


def test_a_deleted_folder_is_reported(command_folder: CommandFolder) -> None:
    deleted_folder = command_folder.folder / "gone"
    deleted_folder.mkdir()
    command = ("sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh")
    result = _run_wrapped(command_folder, command, "matches", deleted_folder)
    assert (result.code, result.out) == (2, b"")
    assert b"current folder cannot be used" in result.err


def test_a_folder_closed_to_the_user_is_reported(command_folder: CommandFolder) -> None:
    if skip_reason := other_user_problem():
        pytest.skip(skip_reason)
    closed_folder = command_folder.folder / "closed"
    closed_folder.mkdir(0o700)
    surroundings = CommandEnvironment("utf-8", "pipe", "umlauts", "none", "nobody")
    result = run_words_in_folder(command_folder, "strategies", surroundings, closed_folder)
    assert result.code in {0, 2}  # 0 where this user may search all
    assert b"bug in Cardsharp" not in result.err


@pytest.mark.parametrize(
    "words", ["strategies", pytest.param("completion fish", marks=pytest.mark.slow), "--help"]
)
def test_a_full_disk_at_the_output_is_reported(words: str, command_folder: CommandFolder) -> None:
    result = _run_wrapped(command_folder, ("sh", "-c", 'exec "$@" > /dev/full', "sh"), words)
    assert result.code == 1
    assert b"The output cannot be written: No space left on device." in result.err


def test_a_closed_error_stream_leaves_the_output_empty(command_folder: CommandFolder) -> None:
    result = _run_wrapped(command_folder, ("sh", "-c", 'exec "$@" 2>&-', "sh"), "show nothing")
    assert (result.code, result.out) == (2, b"")


def test_the_limit_of_open_files_is_reported(command_folder: CommandFolder) -> None:
    limit = ("sh", "-c", 'ulimit -n 12; exec "$@"', "sh")
    result = _run_wrapped(command_folder, limit, "play --opponent random")
    assert result.code in {1, 2}
    assert b"Too many open files" in result.err
    assert b"Traceback" not in result.err


def test_a_missing_temporary_folder_is_reported(command_folder: CommandFolder) -> None:
    if skip_reason := other_user_problem():
        pytest.skip(skip_reason)
    surroundings = CommandEnvironment("utf-8", "pipe", "umlauts", "none", "nobody")
    read_only_folder = command_folder.folder / "nowhere"
    read_only_folder.mkdir(0o555)
    variables = variables_in(surroundings, command_folder) | {"TMPDIR": str(read_only_folder)}
    result = run_in_environment(
        surroundings, ["play", "--opponent", "random"], read_only_folder, variables
    )
    assert b"bug in Cardsharp" not in result.err


def test_files_are_written_as_utf_8_in_any_encoding(command_folder: CommandFolder) -> None:
    surroundings = CommandEnvironment("ascii", "pipe", "umlauts", "none", "root")
    assert (
        run_words_in_folder(command_folder, "watch match.json --html page.html", surroundings).code
        == 0
    )
    assert "Größe 🂡 日本" in (command_folder.folder / "page.html").read_text("utf-8")


def _run_wrapped(
    command_folder: CommandFolder,
    surroundings: tuple[str, ...],
    command: str,
    folder: Path | None = None,
) -> CompletedCommand:
    """Run our command by another command."""
    return run_in_environment(
        DEFAULT_SURROUNDINGS,
        command.split(),
        folder or command_folder.folder,
        variables_in(DEFAULT_SURROUNDINGS, command_folder),
        surroundings,
    )
