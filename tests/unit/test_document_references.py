"""References in documents and comments: pages, commands, sections, classes and sources."""

import inspect
import re
import shlex
from collections import defaultdict
from pathlib import Path

import cyclopts
import pytest
from mutation.mutants import ROOT, TARGETS

from cardsharp_tools.cli.app import build_app

PAGE_FOLDERS = ("docs", "cardsharp_tools/research", "starters", "tests/samples")
PAGES = [
    *ROOT.glob("*.md"),
    *(page for folder in PAGE_FOLDERS for page in (ROOT / folder).rglob("*.md")),
]
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
    headings = HEADING.findall(FENCED.sub("", text_of(page)))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def command_options(command: cyclopts.App) -> set[str]:
    """Return the options of a command; an empty set if it only groups other commands."""
    if command.default_command is None:
        return set()
    return {name for argument in command.assemble_argument_collection() for name in argument.names}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_page_and_a_heading_of_it(page: Path) -> None:
    for file, anchor in LINK.findall(FENCED.sub("", text_of(page))):
        target = page.parent / file if file else page
        assert target.exists(), file
        assert not anchor or anchor in anchors(target), f"{file}#{anchor}"


OLD_NAMES = {"CHANGELOG.md", "naming.md"}
"""Pages that list what was so before."""


@pytest.mark.slow
def test_every_documented_command_exists_with_its_options() -> None:
    """Commands outside the changelog exist; the test is slow, as it imports every command."""
    app, options_by_command = build_app(), dict[tuple[str, ...], set[str]]()
    for page in PAGES:
        command_lines = COMMAND.findall(text_of(page)) if page.name not in OLD_NAMES else []
        for line, inline in command_lines:
            arguments = shlex.split((line or inline).partition(" > ")[0], comments=True)
            command, apps, rest = app.parse_commands(arguments)
            if command not in options_by_command:
                options_by_command[command] = command_options(apps[-1])
            used_options = {token.partition("=")[0] for token in rest if token.startswith("-")}
            assert used_options <= options_by_command[command], f"{page.name}: {arguments}"
            assert apps[-1].default_command or not rest, f"{page.name}: {arguments}"


@pytest.mark.slow
def test_every_command_has_help_within_80_columns() -> None:
    commands = [build_app()]
    for command in commands:
        assert command.help, command.name
        multi_line_paragraphs = [
            paragraph
            for paragraph in inspect.cleandoc(command.help).split("\n\n")
            if "\n" in paragraph
        ]
        lines = "\n".join([*multi_line_paragraphs, str(command.help_epilogue or "")]).splitlines()
        assert [line for line in lines if len(line) > 80] == [], command.name
        commands += [command[name] for name in command if not name.startswith("-")]


SPEC_CITATION = re.compile(r"docs/spec/([\w-]+)\.md(?: sections? \d+(?:(?: and| to|,) \d+)*)?")
SPEC_HEADING = re.compile(r"^## (\d+)\.", re.MULTILINE)


def citations(file: Path) -> set[tuple[str, str]]:
    """Return the specifications and sections that a file cites, also across a line break."""
    text = " ".join(re.sub(r"\n\s*#", "\n", file.read_text(encoding="utf-8")).split())
    return {
        (match[1], section)
        for match in SPEC_CITATION.finditer(text)
        for section in re.findall(r"\d+", match[0].partition(".md")[2])
    }


def test_every_cited_section_of_a_specification_exists() -> None:
    spec = ROOT / "docs" / "spec"
    sections = {
        file.stem: SPEC_HEADING.findall(file.read_text(encoding="utf-8")) for file in spec.iterdir()
    }
    files = [
        file
        for folder in (
            "layers",
            "functions",
            "cardsharp_tools",
            "tests",
            "docs",
        )
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {".py", ".md"} and spec not in file.parents
    ]
    citations_in_files = {(file.name, *citation) for file in files for citation in citations(file)}
    assert {
        citation
        for citation in citations_in_files
        if citation[2] not in sections.get(citation[1], ())
    } == set()
    assert {name for _, name, _ in citations_in_files} == set(sections)
    assert len(citations_in_files) > 60


SOURCE_FOLDERS = ("layers", "functions", "cardsharp_tools", "tests")
C_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
CITED_SOURCE = re.compile(r"\w[\w./-]*\.(?:py|c|h)\b")


def test_every_source_that_a_c_comment_cites_exists() -> None:
    """A comment may cite the end of a source's path, such as `rules.py`."""
    sources = [
        file.relative_to(ROOT)
        for folder in SOURCE_FOLDERS
        for file in (ROOT / folder).rglob("*.*")
        if file.suffix in {".py", ".c", ".h"}
    ]
    path_ends = {
        "/".join(file.parts[start:]) for file in sources for start in range(len(file.parts))
    }
    citations_in_files = {
        (str(file), citation)
        for file in sources
        if file.suffix != ".py"
        for comment in C_COMMENT.findall((ROOT / file).read_text("utf-8"))
        for citation in CITED_SOURCE.findall(comment)
    }
    assert {cited for cited in citations_in_files if cited[1] not in path_ends} == set()
    assert len(citations_in_files) > 20


def test_every_mutation_target_names_existing_modules_and_tests() -> None:
    """The mutation run takes too long to detect a missing module or test."""
    library = ROOT / "layers/cardsharp/python/cardsharp"
    for target in TARGETS.values():
        assert all((library / f"{module}.py").exists() for module in target["modules"])
        for test in target["tests"]:
            file, _, name = test.partition("::")
            assert f"def {name}" in (ROOT / "tests" / file).read_text(encoding="utf-8")


CLASS = re.compile(r"^class (\w+)[(:]", re.MULTILINE)


def test_no_two_classes_share_a_name() -> None:
    """A search for a class name leads to a single class (docs/glossary.md)."""
    modules_by_class = defaultdict[str, list[str]](list)
    for folder in ("layers/cardsharp/python", "cardsharp_tools", "functions"):
        for file in (ROOT / folder).rglob("*.py"):
            for name in CLASS.findall(file.read_text("utf-8")):
                modules_by_class[name].append(str(file.relative_to(ROOT)))
    assert {name: files for name, files in modules_by_class.items() if len(files) > 1} == {}
    assert len(modules_by_class) > 500
