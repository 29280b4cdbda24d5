"""Ten commands in each of the surroundings in which people start them, as programs of their own.

Whatever the encoding, the streams, the home folder, proxies and user: a command does its work or
says in a sentence what to do, never with a traceback, and all it writes can be read.
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
    CompletedCommand,
    Surroundings,
    all_pairs,
    lacking_user,
    run_in,
)

from cardsharp_tools.match_sources import sources
from cardsharp_tools.project_files import PROJECT_ROOT

NAMES = ["Ünï Größe 🂡 日本\x1b[31m", "Ελληνικά \u202e \ud83d"]
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
    seen, selected = set[tuple[int, str]](), list[tuple[str, ...]]()
    for row in rows:
        if new_values := {*enumerate(row)} - seen:
            seen |= new_values
            selected.append(row)
    return selected


FAST_PAIRS = rows_with_new_values(PAIRS)
"""The rows of `make test`: together they contain every command and every surrounding."""


@dataclass(frozen=True)
class Place:
    """A folder that anybody may write to, and a proxy that nobody may ask."""

    folder: Path
    proxy: ForwardProxy


@pytest.fixture
def place() -> Iterator[Place]:
    """The place, within reach of every user; pytest's own folders are not."""
    with tempfile.TemporaryDirectory(prefix="surroundings-") as name, ForwardProxy() as proxy:
        yield placed(Path(name), proxy)
        assert proxy.requests == [], "nothing here is on another machine"


def placed(folder: Path, proxy: ForwardProxy) -> Place:
    """A place in that folder."""
    folder.chmod(0o777)
    sample = Path(sources.__file__).parent / "samples" / "final-2023.json.gz"
    match = json.loads(gzip.decompress(sample.read_bytes()))
    (folder / "match.json").write_text(json.dumps(match | {"playernames": NAMES}))
    (folder / "data").mkdir()
    (folder / "data").chmod(0o777)
    return Place(folder, proxy)


def variables_in(around: Surroundings, place: Place, command: str = "") -> dict[str, str]:
    """The environment: nothing of this process's but where programs and packages are."""
    variables = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    variables |= ENCODINGS[around.encoding]
    variables |= {"CARDSHARP_NATIVE": "0"} if command == "lab" else {}  # it would compile for 10 s
    variables |= {"TMPDIR": str(place.folder), "TERM": "xterm"}
    variables["PYTHONPATH"] = os.pathsep.join(
        [str(PROJECT_ROOT), *filter(None, [variables.get("PYTHONPATH")])]
    )
    if around.home == "unset":
        if around.user == "root":  # else it would write to root's own home
            variables["XDG_DATA_HOME"] = str(place.folder / "data")
    else:
        home = place.folder / f"a home, {around.home} äöü"
        home.mkdir(0o777)
        home.chmod(0o777 if around.home == "umlauts" else 0o555)
        variables["HOME"] = str(home)
    if around.proxy == "named":
        names = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY")
        variables |= dict.fromkeys(names, place.proxy.url)
    return variables


def expected_code(command: str, around: Surroundings) -> int:
    """2 where a stream is lacking that is needed, 1 where `doctor` finds no place to write."""
    lacks_input = around.stream == "closed input" and command == "versus"
    if around.stream == "closed output" or lacks_input:
        return 2
    has_no_home = around.user == "nobody" and around.home != "umlauts"
    return 1 if command == "doctor" and has_no_home else 0


def check(command: str, around: Surroundings, place: Place) -> CompletedCommand:
    """Run it, and look at what it said."""
    if around.user == "nobody" and (skip_reason := lacking_user()):
        pytest.skip(skip_reason)
    words = COMMANDS[command].split()
    result = run_in(around, words, place.folder, variables_in(around, place, command))
    out, err = (text.decode(around.encoding) for text in (result.out, result.err))
    output = out + err
    assert result.code == expected_code(command, around), output
    assert "Traceback" not in output
    assert "bug in Cardsharp" not in output
    assert "\x1b[31mE" not in output
    if result.code == 2:
        assert "standard" in output, "which stream is closed, and what to do"
    elif command == "stats" and around.stream != "terminal":
        assert NAMES[0] in json.dumps(json.loads(out), ensure_ascii=False).replace(
            "\\u001b", "\x1b"
        )
    elif command in {"analyse", "show"} and around.encoding == "utf-8":
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
    row: tuple[str, ...], place: Place
) -> None:
    command, *around = row
    check(command, Surroundings(*around), place)


@pytest.mark.slow
@pytest.mark.parametrize("row", list(product(*FACTORS)), ids=", ".join)
def test_a_command_ends_as_it_should_in_all_surroundings(
    row: tuple[str, ...], place: Place
) -> None:
    command, *around = row
    check(command, Surroundings(*around), place)


def test_the_pairs_cover_all_combinations() -> None:
    assert len(PAIRS) < 2 * len(COMMANDS) * len(STREAMS)
    for first, some in enumerate(FACTORS):
        for second, other_values in enumerate(FACTORS[:first]):
            seen = {(row[first], row[second]) for row in PAIRS}
            assert len(seen) == len(some) * len(other_values)
    assert len(FAST_PAIRS) <= len(COMMANDS) + 2
    assert [*map(set, zip(*FAST_PAIRS, strict=True))] == [*map(set, FACTORS)]


# --- single faults of a machine ---------------------------------------------------------------

USUAL = Surroundings("utf-8", "pipe", "umlauts", "none", "root")


def ran(
    place: Place, words: str, around: Surroundings = USUAL, folder: Path | None = None
) -> CompletedCommand:
    return run_in(around, words.split(), folder or place.folder, variables_in(around, place))


def test_a_curve_has_the_same_shape_in_ascii_and_in_blocks(place: Place) -> None:
    """A block becomes one character, so that the lines are as long."""
    curves = []
    for encoding in ("utf-8", "ascii"):
        shutil.rmtree(place.folder / "a home, umlauts äöü", ignore_errors=True)
        around = Surroundings(encoding, "pipe", "umlauts", "none", "root")
        text = ran(place, "analyse match.json", around).out.decode(encoding)
        curves.append([line for line in text.splitlines() if set(line) & {"█", "@"}])
    blocks, letters = curves
    assert [*map(len, blocks)] == [*map(len, letters)]
    assert "█" in blocks[-1]
    assert "@" in letters[-1]


def test_a_folder_that_is_gone_is_named(place: Place) -> None:
    gone = place.folder / "gone"
    gone.mkdir()
    command = ("sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh")
    result = _wrapped(place, command, "matches", gone)
    assert (result.code, result.out) == (2, b"")
    assert b"current folder cannot be used" in result.err


def test_a_folder_that_is_closed_to_the_user_is_named(place: Place) -> None:
    if skip_reason := lacking_user():
        pytest.skip(skip_reason)
    closed = place.folder / "closed"
    closed.mkdir(0o700)
    around = Surroundings("utf-8", "pipe", "umlauts", "none", "nobody")
    result = ran(place, "strategies", around, closed)
    assert result.code in {0, 2}  # 0 where this user may search all
    assert b"bug in Cardsharp" not in result.err


@pytest.mark.parametrize(
    "words", ["strategies", pytest.param("completion fish", marks=pytest.mark.slow), "--help"]
)
def test_a_full_disk_behind_the_output_is_named(words: str, place: Place) -> None:
    result = _wrapped(place, ("sh", "-c", 'exec "$@" > /dev/full', "sh"), words)
    assert result.code == 1
    assert b"The output cannot be written: No space left on device." in result.err


def test_a_closed_error_stream_leaves_the_output_empty(place: Place) -> None:
    result = _wrapped(place, ("sh", "-c", 'exec "$@" 2>&-', "sh"), "show nothing")
    assert (result.code, result.out) == (2, b"")


def test_too_few_files_are_a_sentence(place: Place) -> None:
    limit = ("sh", "-c", 'ulimit -n 12; exec "$@"', "sh")
    result = _wrapped(place, limit, "play --opponent random")
    assert result.code in {1, 2}
    assert b"Too many open files" in result.err
    assert b"Traceback" not in result.err


def test_no_folder_for_temporary_files_is_a_sentence(place: Place) -> None:
    if skip_reason := lacking_user():
        pytest.skip(skip_reason)
    around = Surroundings("utf-8", "pipe", "umlauts", "none", "nobody")
    nowhere = place.folder / "nowhere"
    nowhere.mkdir(0o555)
    variables = variables_in(around, place) | {"TMPDIR": str(nowhere)}
    result = run_in(around, ["play", "--opponent", "random"], nowhere, variables)
    assert b"bug in Cardsharp" not in result.err


def test_files_are_written_as_utf_8_in_any_encoding(place: Place) -> None:
    around = Surroundings("ascii", "pipe", "umlauts", "none", "root")
    assert ran(place, "watch match.json --html page.html", around).code == 0
    assert "Größe 🂡 日本" in (place.folder / "page.html").read_text("utf-8")


def _wrapped(
    place: Place, around: tuple[str, ...], words: str, folder: Path | None = None
) -> CompletedCommand:
    """The end of our command, started by another one."""
    return run_in(USUAL, words.split(), folder or place.folder, variables_in(USUAL, place), around)
