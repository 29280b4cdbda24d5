"""What is named elsewhere is there: pages, headings, commands, sections, classes, targets."""

import inspect
import re
import shlex
from collections import defaultdict
from pathlib import Path

import cyclopts
import pytest
from mutation.mutants import ROOT, TARGETS
from support.games import HOSTED
from support.recordings import sample_table

from cardsharp_tools.cli.app import build_app

ROOMS = ("docs", "cardsharp_tools/research", "starters", "tests/samples")
PAGES = [*ROOT.glob("*.md"), *(page for room in ROOMS for page in (ROOT / room).rglob("*.md"))]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(\s*(?!\w+:)([^)#\s]*)#?([^)\s]*)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
COMMAND = re.compile(
    r"^[ $]*cardsharp ((?!yours).*)|`cardsharp ((?!yours|GAME)[^`|…]*)`", re.MULTILINE
)
"""Those of a game that a reader adds, and of any, are not there."""


def text_of(page: Path) -> str:
    return re.sub(r"\\\n\s*", " ", page.read_text("utf-8")).replace(".venv/bin/", "")


def anchors(page: Path) -> set[str]:
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
    commands = [build_app()]
    for command in commands:
        assert command.help, command.name
        broken = [one for one in inspect.cleandoc(command.help).split("\n\n") if "\n" in one]
        lines = "\n".join([*broken, str(command.help_epilogue or "")]).splitlines()
        assert [line for line in lines if len(line) > 80] == [], command.name
        commands += [command[name] for name in command if not name.startswith("-")]


CITED = re.compile(r"docs/spec/([\w-]+)\.md(?: sections? \d+(?:(?: and| to|,) \d+)*)?")
HEADED = re.compile(r"^## (\d+)\.", re.MULTILINE)


def citations(file: Path) -> set[tuple[str, str]]:
    """Each specification and section that a file cites, also where a line breaks in between."""
    text = " ".join(re.sub(r"\n\s*#", "\n", file.read_text(encoding="utf-8")).split())
    return {
        (found[1], section)
        for found in CITED.finditer(text)
        for section in re.findall(r"\d+", found[0].partition(".md")[2])
    }


def test_every_cited_section_of_a_specification_exists() -> None:
    spec = ROOT / "docs" / "spec"
    sections = {
        file.stem: HEADED.findall(file.read_text(encoding="utf-8")) for file in spec.iterdir()
    }
    files = [
        file
        for room in (
            "layers",
            "functions",
            "cardsharp_tools",
            "tests",
            "docs",
        )
        for file in (ROOT / room).rglob("*")
        if file.suffix in {".py", ".md"} and spec not in file.parents
    ]
    cited = {(file.name, *one) for file in files for one in citations(file)}
    assert {one for one in cited if one[2] not in sections.get(one[1], ())} == set()
    assert {name for _, name, _ in cited} == set(sections)
    assert len(cited) > 60


def test_every_target_names_modules_and_tests_that_are_there() -> None:
    """`make evidence-mutation-test` takes too long to find out that one is gone."""
    library = ROOT / "layers/cardsharp/python/cardsharp"
    for target in TARGETS.values():
        assert all((library / f"{module}.py").exists() for module in target["modules"])
        for test in target["tests"]:
            file, _, name = test.partition("::")
            assert f"def {name}" in (ROOT / "tests" / file).read_text(encoding="utf-8")


CLASS = re.compile(r"^class (\w+)[(:]", re.MULTILINE)


def test_a_class_name_means_one_thing() -> None:
    """Who shares one is listed, with why, in samples/class_names.toml (docs/glossary.md)."""
    library = "layers/cardsharp/python"
    hosted = {ROOT / library / package.replace(".", "/") for package in HOSTED.values()}
    hosted.add(ROOT / "cardsharp_tools" / "research")  # which nothing else imports
    found = defaultdict[str, list[str]](list)
    for room in (library, "cardsharp_tools", "functions"):
        for file in (ROOT / room).rglob("*.py"):
            if not hosted.intersection(file.parents):
                for name in CLASS.findall(file.read_text("utf-8")):
                    found[name].append(str(file.relative_to(ROOT)))
    shared = {name: modules for name, modules in found.items() if len(modules) > 1}
    listed = sample_table("class_names")
    same_job, own, apart = {*listed["same_job"]}, {*listed["own"]}, listed["apart"]
    unlisted = shared.keys() - same_job - own - apart.keys()
    assert {name: shared[name] for name in unlisted} == {}
    assert {name for name, most in apart.items() if len(shared.get(name, ())) > most} == set()
    assert same_job | apart.keys() <= shared.keys()
    assert same_job.isdisjoint(apart)
