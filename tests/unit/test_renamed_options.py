"""The spellings of 0.2.0 still work, in a command line and in cardsharp.toml; no help shows one."""

import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from itertools import islice
from pathlib import Path

import cyclopts
import pytest
from support.case_counts import case_count

from cardsharp_tools.cli import main
from cardsharp_tools.cli.app import build_app
from cardsharp_tools.cli.renamed import Renames
from cardsharp_tools.cli.settings_file import SettingsFile

RENAMES = Renames.load()
NAMING_PAGE = Path(__file__).parents[2] / "docs" / "naming.md"
OPTIONS = [
    (command, old, new) for command, rows in RENAMES.options.items() for old, new in rows.items()
]


def _command(words: str) -> cyclopts.App:
    """Return the app of a command; one that only games have is taken from one of them."""
    app = build_app()
    if words == "duel":
        words = f"euchre {words}"
    for word in words.split():
        app = app[word]
    return app


def _new_command(old: str) -> str:
    return " ".join((*old.split()[:-1], RENAMES.commands[old]))


def _option_names(app: cyclopts.App) -> set[str]:
    return {name for argument in app.assemble_argument_collection() for name in argument.names}


@pytest.mark.parametrize("old", RENAMES.commands)
def test_an_old_command_is_read_as_the_new_one(old: str) -> None:
    new = _new_command(old)

    assert RENAMES.current_arguments([*old.split(), "some", "--seed", "7"]) == [
        *new.split(), "some", "--seed", "7",
    ]  # fmt: skip
    assert _command(new).default_command is not None
    with pytest.raises(KeyError):
        _command(old)


@pytest.mark.parametrize(("command", "old", "new"), OPTIONS)
def test_an_old_option_is_read_as_the_new_one(command: str, old: str, new: str) -> None:
    names = _option_names(_command(command))

    for line in (["--" + old, "7"], [f"--{old}=7"], ["VALUE", f"--{old}"]):
        current = [word.replace(f"--{old}", f"--{new}") for word in line]
        assert RENAMES.current_arguments([*command.split(), *line]) == [*command.split(), *current]
    assert f"--{new}" in names
    assert f"--{old}" not in names


@pytest.mark.parametrize("game", ["deadmansdraw", "blef", "euchre"])
def test_the_commands_of_a_game_have_the_old_spellings_too(game: str) -> None:
    for old, new in (("try", "backtest"), ("lesson --number=3", "lesson --count=3")):
        assert RENAMES.current_arguments([game, *old.split()]) == [game, *new.split()]


def test_other_words_and_what_is_said_of_another_command_stay() -> None:
    lines = (
        [],
        ["--help"],
        ["ladder", "mine.py", "--from", "rule", "--to=third"],
        ["show", "last", "--turn", "7"],
        ["cloud", "set", "--strategy", "at-once"],
        ["cloud", "matches", "--limit", "3"],
        ["watch", "try"],
        ["versus", "--", "--why"],
    )
    assert [RENAMES.current_arguments(line) for line in lines] == [*lines]


@pytest.mark.parametrize("words", ["--default at-once", "--default=at-once --default tags"])
def test_an_old_value_is_read_as_the_new_one(words: str) -> None:
    current = RENAMES.current_arguments(["cloud", "set", *words.split()])

    assert current == ["cloud", "set", *words.replace("at-once", "concurrency").split()]


def _command_lines(app: cyclopts.App, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command of an app."""
    yield words
    for name in app:
        if not name.startswith("-"):
            yield from _command_lines(app[name], (*words, name))


@pytest.fixture(scope="module")
def help_pages() -> dict[tuple[str, ...], str]:
    """The help of every command by its words; of every third command in `make test`."""
    pages = {}
    for words in islice(_command_lines(build_app()), 0, None, case_count(3, full=1)):
        with redirect_stdout(StringIO()) as page:
            main([*words, "--help"])
        pages[words] = " ".join(page.getvalue().split())
    return pages


def test_no_help_shows_an_old_spelling(help_pages: dict[tuple[str, ...], str]) -> None:
    games = {"blef", "euchre", "deadmansdraw"}
    for words, page in help_pages.items():
        own_name = " ".join(words[1:] if words and words[0] in games else words)
        old_options = [old for command, old, _ in OPTIONS if command in {own_name, *words}]
        assert [old for old in RENAMES.commands if f"cardsharp {old} " in page] == [], words
        assert [old for old in old_options if f"--{old} " in page] == [], words


def test_the_help_of_every_command_has_an_example(help_pages: dict[tuple[str, ...], str]) -> None:
    lacking = [words for words, page in help_pages.items() if "Example" not in page]
    assert lacking == [()], "all commands together have none"


def test_a_command_line_says_what_was_renamed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "league", "captain", "third", "--copies=1", "--pairs", "1"]) == 0

    said = capsys.readouterr().err
    assert "league is now called round-robin. Version 0.4.0 drops the old name." in said
    assert "--copies is now called --opponent-copies. Version 0.4.0" in said


SETTINGS = """
[play]
at-once = 2
seed = "7"
[arena]
slow-down = true
[arena.match]
like = "last@3"
[blef.versus]
why = true
[cloud.listen]
for = "4h"
[cloud.keep-listening]
region = "eu-west-1"
[cloud.set]
default = ["at-once", "tags"]
[bot]
at-once = 3
concurrency = 4
"""


def test_settings_of_the_file_are_read_in_both_spellings(tmp_path: Path) -> None:
    (tmp_path / "cardsharp.toml").write_text(SETTINGS, "utf-8")

    assert SettingsFile(tmp_path / "cardsharp.toml").config == {
        "play": {"concurrency": 2, "seed": "7"},
        "arena": {"rate-limit": True, "match": {"from-position": "last@3"}},
        "blef": {"versus": {"explain": True}},
        "cloud": {
            "keep-listening": {"duration": "4h", "region": "eu-west-1"},
            "set": {"default": ["concurrency", "tags"]},
        },
        "bot": {"concurrency": 4},
    }
    new = RENAMES.current_settings(tomllib.loads("[new]\nfrom = 'rule'\n[ladder]\nfrom = 'rule'"))
    assert new == {"new": {"template": "rule"}, "ladder": {"from": "rule"}}


def test_the_page_of_names_lists_every_row() -> None:
    page = NAMING_PAGE.read_text("utf-8")

    for old in RENAMES.commands:
        assert f"| `cardsharp {old}` | `cardsharp {_new_command(old)}` |" in page
    for command, old, new in OPTIONS:
        assert any(
            f"`{command}`" in line and f"`--{old}`" in line and f"`--{new}`" in line
            for line in page.splitlines()
        ), (command, old)
