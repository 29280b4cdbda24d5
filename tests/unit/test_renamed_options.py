"""Names of 0.2.0 in a command line and in cardsharp.toml: they work, and no help has any."""

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


def _command(command_name: str) -> cyclopts.App:
    """Return the app of a command; a command that only games have is taken from Euchre."""
    app = build_app()
    if command_name == "duel":
        command_name = f"euchre {command_name}"
    for name in command_name.split():
        app = app[name]
    return app


def _new_command(old_command: str) -> str:
    return " ".join((*old_command.split()[:-1], RENAMES.commands[old_command]))


def _option_names(app: cyclopts.App) -> set[str]:
    return {name for argument in app.assemble_argument_collection() for name in argument.names}


@pytest.mark.parametrize("old_command", RENAMES.commands)
def test_an_old_command_is_read_as_the_new_one(old_command: str) -> None:
    new_command = _new_command(old_command)

    assert RENAMES.current_arguments([*old_command.split(), "some", "--seed", "7"]) == [
        *new_command.split(), "some", "--seed", "7",
    ]  # fmt: skip
    assert _command(new_command).default_command is not None
    with pytest.raises(KeyError):
        _command(old_command)


@pytest.mark.parametrize(("command", "old_option", "new_option"), OPTIONS)
def test_an_old_option_is_read_as_the_new_one(
    command: str, old_option: str, new_option: str
) -> None:
    names = _option_names(_command(command))

    for line in (["--" + old_option, "7"], [f"--{old_option}=7"], ["VALUE", f"--{old_option}"]):
        current = [argument.replace(f"--{old_option}", f"--{new_option}") for argument in line]
        assert RENAMES.current_arguments([*command.split(), *line]) == [*command.split(), *current]
    assert f"--{new_option}" in names
    assert f"--{old_option}" not in names


@pytest.mark.parametrize("game", ["deadmansdraw", "blef", "euchre"])
def test_the_commands_of_a_game_have_the_old_spellings_too(game: str) -> None:
    for old, new in (("try", "backtest"), ("lesson --number=3", "lesson --count=3")):
        assert RENAMES.current_arguments([game, *old.split()]) == [game, *new.split()]


def test_other_arguments_and_options_of_another_command_are_unchanged() -> None:
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


@pytest.mark.parametrize("arguments", ["--default at-once", "--default=at-once --default tags"])
def test_an_old_value_is_read_as_the_new_one(arguments: str) -> None:
    current = RENAMES.current_arguments(["cloud", "set", *arguments.split()])

    assert current == ["cloud", "set", *arguments.replace("at-once", "concurrency").split()]


def _command_lines(app: cyclopts.App, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every command of an app."""
    yield path
    for name in app:
        if not name.startswith("-"):
            yield from _command_lines(app[name], (*path, name))


@pytest.fixture(scope="module")
def help_pages() -> dict[tuple[str, ...], str]:
    """Return the help of every command by its path; in `make test` of every third command."""
    pages = {}
    for path in islice(_command_lines(build_app()), 0, None, case_count(3, full=1)):
        with redirect_stdout(StringIO()) as page:
            main([*path, "--help"])
        pages[path] = " ".join(page.getvalue().split())
    return pages


def test_no_help_shows_an_old_spelling(help_pages: dict[tuple[str, ...], str]) -> None:
    games = {"blef", "euchre", "deadmansdraw"}
    for path, page in help_pages.items():
        command_name = " ".join(path[1:] if path and path[0] in games else path)
        old_options = [old for command, old, _ in OPTIONS if command in {command_name, *path}]
        assert [old for old in RENAMES.commands if f"cardsharp {old} " in page] == [], path
        assert [old for old in old_options if f"--{old} " in page] == [], path


def test_the_help_of_every_command_has_an_example(help_pages: dict[tuple[str, ...], str]) -> None:
    paths_without_example = [path for path, page in help_pages.items() if "Example" not in page]
    assert paths_without_example == [()], "all commands together have none"


def test_a_command_line_says_what_was_renamed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "league", "captain", "third", "--copies=1", "--pairs", "1"]) == 0

    error_output = capsys.readouterr().err
    assert "league is now called round-robin. Version 0.4.0 drops the old name." in error_output
    assert "--copies is now called --opponent-copies. Version 0.4.0" in error_output


SETTINGS_TEXT = """
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
    (tmp_path / "cardsharp.toml").write_text(SETTINGS_TEXT, "utf-8")

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
