"""Text files of users in any encoding: read, or reported with file, line and remedy."""

import codecs
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import Cli

from cardsharp.core.text_files import (
    describe_json_error,
    describe_source_encoding_error,
    read_text,
    read_valid_json_text,
)
from cardsharp.errors import ConfigError
from cardsharp_tools.contest.teams_file import TeamRow, read_teams
from cardsharp_tools.executors.strategy_reference import BuiltIn

TEXT = "name,strategy\nKräuter,random\n"
CODEC_ERROR_TEXT = re.compile(r"codec|can't decode|UnicodeDecodeError|bug in Cardsharp")

READABLE = {
    "utf-8": TEXT.encode(),
    "a mark": TEXT.encode("utf-8-sig"),
    "utf-16": TEXT.encode("utf-16"),
    "utf-16-be": codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    "utf-32": TEXT.encode("utf-32"),
    "windows": TEXT.replace("\n", "\r\n").encode(),
    "old macs": TEXT.replace("\n", "\r").encode(),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "given"


@pytest.mark.parametrize("data", READABLE.values(), ids=READABLE.keys())
def test_a_text_is_the_same_however_it_was_saved(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    assert read_text(file).text == TEXT
    assert not read_text(file).is_guess
    assert read_teams(file) == ((TeamRow("Kräuter", BuiltIn("random"), 2),), None)


def test_encodings_are_guessed_only_on_request(file: Path) -> None:
    """The guess is Windows-1252, and Latin-1 for bytes that Windows-1252 lacks."""
    file.write_bytes("a\nKräuter € x".encode("cp1252"))
    assert read_text(file, guess=True) == ("a\nKräuter € x", "cp1252", True)
    file.write_bytes("Kräuter \x81".encode("latin-1"))
    assert read_text(file, guess=True) == ("Kräuter \x81", "latin-1", True)
    with pytest.raises(ConfigError, match="given, line 1, column 3, is not in UTF-8; save it as"):
        read_text(file)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("eins\r\nzwei ä\xdf".encode("latin-1"), "line 2, column 6, is not in UTF-8; save it"),
        ("ä".encode() * 3 + b"\xff", "line 1, column 4, is not in UTF-8"),
        (TEXT.replace("ä", "a").encode("utf-16-le"), "line 1, is no text; save it as UTF-8"),
        (codecs.BOM_UTF16_LE + b"abc", "begins as UTF-16-LE does and is not; save it as UTF-8"),
        (b"\x80\0", "line 1, column 1, is not in UTF-8"),
    ],
)
def test_unreadable_text_is_reported_with_its_position(
    file: Path, data: bytes, expected: str
) -> None:
    file.write_bytes(data)
    with pytest.raises(ConfigError, match=re.escape(expected)) as error_info:
        read_text(file)
    assert str(error_info.value).startswith(str(file))
    assert not CODEC_ERROR_TEXT.search(str(error_info.value))


def test_invalid_json_is_reported_with_its_position(file: Path) -> None:
    assert describe_json_error('{"a": "\u2028"}') is None
    assert describe_json_error("  \n") == " is empty"
    assert (
        describe_json_error('{"a":\n x}', 7) == ", line 8, column 2, is no JSON (Expecting value)"
    )
    assert "too deeply" in str(describe_json_error("[" * 200_000))
    file.write_text("{}}")
    with pytest.raises(ConfigError, match=r"given, line 1, column 3, is no JSON \(Extra data\);"):
        read_valid_json_text(file)
    with pytest.raises(ConfigError, match="away cannot be read: No such file or directory; check"):
        read_valid_json_text(file.with_name("away"))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"x = 1\n", None),
        ("# -*- coding: latin-1 -*-\nx = 'ä'\n".encode("latin-1"), None),
        ("x = 1\ny = 2\nz = 'ä'\n".encode("latin-1"), "line 3 is not in UTF-8"),
        ("x = 'ä'\n".encode("latin-1"), "line 1 is not in UTF-8"),
        ("x = 1\n".encode("utf-16"), "it is in UTF-16-LE; save it as UTF-8"),
        (b"x = 1\0\n", "it is no text"),
    ],
)
def test_unreadable_python_source_is_reported(
    file: Path, data: bytes, expected: str | None
) -> None:
    file.write_bytes(data)
    fault = describe_source_encoding_error(file)
    assert fault == expected if expected is None else str(fault).startswith(expected)


TEAMS = [
    ("Name,Strategy\nA,random\n", [("A", "random", 2)]),
    ("name;strategy\nA;random\n", [("A", "random", 2)]),
    ("name\tstrategy\nA, B\trandom\n", [("A, B", "random", 2)]),
    ("sep=;\nname;x\nA, B;1\n", [("A, B", None, 3)]),
    ('\n " NAME ", Strategy \n\n "A", \n,,\n', [("A", None, 4)]),
    ('"name"\n"Ann ""Ace"" Lee"\n', [('Ann "Ace" Lee', None, 2)]),
    ("strategy,town,name\n,Ulm,A\nrandom,Bonn,B\n", [("A", None, 2), ("B", "random", 3)]),
    ('name,note\nA,"two\nlines"\nB,\n', [("A", None, 2), ("B", None, 4)]),
    ("name,a;b\nA,1\n", [("A", None, 2)]),
    ("name\nA,,\n", [("A", None, 2)]),
]


@pytest.mark.parametrize(("text", "rows"), TEAMS)
def test_teams_are_read_as_spreadsheets_save_them(
    file: Path, text: str, rows: list[tuple[str, str | None, int]]
) -> None:
    file.write_text(text)
    read_rows = [
        (name, None if strategy is None else str(strategy), line)
        for name, strategy, line in read_teams(file).rows
    ]
    assert read_rows == rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty. Write name,strategy into its first line"),
        ("\r\n \n", "is empty."),
        (
            "name,strategy\n",
            "has a title line but no team. Write a line for each team below line 1",
        ),
        ("team,bot\nA,b\n", "line 1, needs a column `name` but has `team`, `bot`. Write name,str"),
        ("\nAnn\nBob\n", "line 2, needs a column `name` but has `Ann`"),
        ("name,Name\nA,B\n", "line 1, has the column `name` twice. Remove one of them"),
        ("name,strategy\nA,\n,random\n", "line 3, has no name in column 1. Write one"),
        ("name,strategy\nLee, Ann,random\n", "line 2, has 3 cells, but line 1 has 2 titles. Put"),
        ("name;strategy\nLee; A;random\n", 'contains a semicolon in quotation marks: "Lee; Ann"'),
        (
            "name\nA\nB\nA\n",
            "line 4, has the same name as line 2: A. Give each team a name of its own",
        ),
        ('name\nA\n"B\nC\n', "line 3, has a quotation mark without a second one. Write a name"),
        ('name\n"A"x\n', "line 2, has a quotation mark without a second one"),
    ],
)
def test_an_invalid_team_file_is_reported_with_its_line(
    file: Path, text: str, expected: str
) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(expected)) as error_info:
        read_teams(file)
    assert str(error_info.value).startswith(str(file))


INVALID_FILES = {
    "latin-1": '{"ä": 1}\n'.encode("latin-1"),
    "utf-16 without a mark": '{"ä": 1}\n'.encode("utf-16-le"),
    "half of utf-16": codecs.BOM_UTF16_LE + b"abc",
    "bytes": bytes(range(256)),
    "empty": b"",
    "no json": b"{}\n\n{{{\n",
    "too deep": b"[" * 100_000,
}

COMMANDS = {
    "settings": ("cardsharp.toml", "matches"),
    "weights": ("given.json", "play -n 1 --strategy given.json"),
    "players": ("given.json", "arena --port 0 --players given.json"),
    "matches": ("given.jsonl", "matches given.jsonl"),
    "packed matches": ("given.gz", "matches given.gz"),
    "a duel": ("given.jsonl", "lab compare given.jsonl given.jsonl"),
    "teams": ("given.csv", "contest teams import cup given.csv"),
}


@pytest.mark.parametrize("invalid_kind", INVALID_FILES)
@pytest.mark.parametrize("file_kind", COMMANDS)
def test_every_command_explains_an_invalid_user_file(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_kind: str, invalid_kind: str
) -> None:
    """The message names the file, without a codec's terms and without a traceback."""
    monkeypatch.chdir(tmp_path)
    if file_kind == "teams":
        assert cli("contest", "new", "cup").code == 0
    name, line = COMMANDS[file_kind]
    Path(name).write_bytes(
        gzip.compress(INVALID_FILES[invalid_kind])
        if name.endswith(".gz")
        else INVALID_FILES[invalid_kind]
    )
    if (file_kind, invalid_kind) == ("settings", "empty"):
        return  # no options
    result = cli(*line.split())
    assert result.code == 2, result
    assert name in result.err
    assert not CODEC_ERROR_TEXT.search(result.err)
    assert "Traceback" not in result.err + result.out


GZIP_DATA = gzip.compress(b"{}" * 99, mtime=0)


@pytest.mark.parametrize("data", [b"no", GZIP_DATA[:-9], GZIP_DATA[:10] + b"z" * 99])
def test_a_truncated_gz_file_is_reported(cli: Cli, file: Path, data: bytes) -> None:
    gzip_path = file.with_suffix(".gz")
    gzip_path.write_bytes(data)
    error_output = cli("matches", str(gzip_path)).err
    assert "given.gz cannot be read: it is not a complete .gz file" in error_output


def test_an_invalid_duel_line_is_reported_and_any_encoding_is_read(cli: Cli, file: Path) -> None:
    duel = "lab", "duel", "random", "random", "-n", "2", "--out", str(file)
    assert cli(*duel).code == 0
    lines = file.read_text()
    utf16_file = file.with_name("other")
    utf16_file.write_bytes(lines.replace("\n", "\r\n").encode("utf-16"))
    assert cli("lab", "compare", str(file), str(utf16_file), "--json").code == 0
    assert "other is in UTF-16-LE; save it as UTF-8" in cli(*duel[:-1], str(utf16_file)).err
    file.write_text(lines.replace('"number":1', '"number":"x"'))
    assert f"{file}, line 3, is not a line of a duel's file" in " ".join(cli(*duel).err.split())


def test_teams_in_another_encoding_are_imported_with_a_notice(cli: Cli, tmp_path: Path) -> None:
    folder, file = tmp_path / "cup", tmp_path / "teams.csv"
    assert cli("contest", "new", str(folder)).code == 0
    file.write_bytes("Name;Strategy\nKräuter;random\n".encode("latin-1"))
    result = cli("contest", "teams", "import", str(folder), str(file))
    assert (result.code, "was read as cp1252" in " ".join(result.err.split())) == (0, True)
    teams = cli("contest", "teams", "list", str(folder), "--json").json()
    assert [team["name"] for team in teams] == ["Kräuter"]
    file.write_text("name,strategy\nB,random\nC,nobody\n")
    failed_import = cli("contest", "teams", "import", str(folder), str(file))
    assert f"{file}, line 3: " in failed_import.err
    assert len(cli("contest", "teams", "list", str(folder), "--json").json()) == 1


def test_a_strategy_file_in_another_encoding_is_reported(cli: Cli, file: Path) -> None:
    """The encoding of a helper module is checked, too, and reported in plain terms."""
    strategy_path, helper_path = file.with_suffix(".py"), file.with_name("beside_in_latin.py")
    strategy_path.write_text("import beside_in_latin\n")
    helper_path.write_bytes("x = 'ä'\n".encode("latin-1"))
    for faulty_path in (helper_path, strategy_path):
        error_output = cli("play", "-n", "1", "--strategy", str(strategy_path)).err
        assert f"{faulty_path} cannot be read: " in error_output, error_output
        assert not CODEC_ERROR_TEXT.search(error_output)
        strategy_path.write_text("x = 1\n", "utf-16")


def test_typed_input_in_another_encoding_is_answered(home: Path) -> None:
    """The input is piped, and the terminal is strict about UTF-8."""
    process = subprocess.run(
        [sys.executable, "-m", "cardsharp_tools.cli", "versus", "--seed", "1"],
        input=b"h\xe4llo\n",
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict", "XDG_DATA_HOME": str(home)},
    )
    assert b"That is not one of your moves" in process.stdout, process
    assert not CODEC_ERROR_TEXT.search(process.stderr.decode())


def test_json_lines_end_at_line_ends_only(file: Path) -> None:
    """A JSON string may contain characters at which Python's splitlines would split."""
    file.write_text(json.dumps({"a": "\x85\u2028"}, ensure_ascii=False) + "\r\n{}\r\n")
    assert [json.loads(line) for line in read_text(file).lines] == [{"a": "\x85\u2028"}, {}]
