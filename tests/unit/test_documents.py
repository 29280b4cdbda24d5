"""What the documents name is there: pages, their headings, commands and options."""

import inspect
import re
import shlex
from pathlib import Path

import cyclopts
import pytest

from workbench.cli.commands import build_app

ROOT = Path(__file__).parents[2]
ROOMS = ("docs", "research", "starters", "tests/samples")
PAGES = [*ROOT.glob("*.md"), *(page for room in ROOMS for page in (ROOT / room).rglob("*.md"))]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(\s*(?!\w+:)([^)#\s]*)#?([^)\s]*)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
COMMAND = re.compile(
    r"^[ $]*cardsharp ((?!yours).*)|`cardsharp ((?!yours|GAME)[^`|…]*)`", re.MULTILINE
)
"""Those of a game that a reader adds, and of any, are not there."""


def text_of(page: Path) -> str:
    """A page, each command on one line."""
    return re.sub(r"\\\n\s*", " ", page.read_text("utf-8")).replace(".venv/bin/", "")


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them in an address."""
    found = HEADING.findall(FENCED.sub("", text_of(page)))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def options(command: cyclopts.App) -> set[str]:
    """What a command takes; nothing where it only has commands of its own."""
    if command.default_command is None:
        return set()
    return {name for one in command.assemble_argument_collection() for name in one.names}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_page_and_a_heading_of_it(page: Path) -> None:
    for file, anchor in LINK.findall(FENCED.sub("", text_of(page))):
        there = page.parent / file if file else page
        assert there.exists(), file
        assert not anchor or anchor in anchors(there), f"{file}#{anchor}"


@pytest.mark.slow
def test_every_command_is_there_with_its_options() -> None:
    """But those of the changelog, which were so then. Slow: it imports every command."""
    app, known = build_app(), dict[tuple[str, ...], set[str]]()
    for page in PAGES:
        given = COMMAND.findall(text_of(page)) if page.name != "CHANGELOG.md" else []
        for line, inline in given:
            words = shlex.split((line or inline).partition(" > ")[0], comments=True)
            command, apps, rest = app.parse_commands(words)
            if command not in known:
                known[command] = options(apps[-1])
            options_given = {word.partition("=")[0] for word in rest if word.startswith("-")}
            assert options_given <= known[command], f"{page.name}: {words}"
            assert apps[-1].default_command or not rest, f"{page.name}: {words}"


@pytest.mark.slow
def test_every_command_has_help_whose_lines_fit_into_80_columns() -> None:
    """Those that somebody broke; a paragraph in one line is broken where the terminal ends."""
    commands = [build_app()]
    for command in commands:
        assert command.help, command.name
        broken = [one for one in inspect.cleandoc(command.help).split("\n\n") if "\n" in one]
        lines = "\n".join([*broken, str(command.help_epilogue or "")]).splitlines()
        assert [line for line in lines if len(line) > 80] == [], command.name
        commands += [command[name] for name in command if not name.startswith("-")]
