"""Documentation pages: the paths, modules, links, commands and lists that they cite."""

import ast
import importlib
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from cardsharp_tools.cli.app import build_app
from cardsharp_tools.lab.ladder import load_ladder

ROOT = Path(__file__).parents[2]
IGNORED_FOLDERS = {"node_modules", "__pycache__"}


def files_under(folder: Path) -> Iterator[str]:
    """Yield the repository's files, without the built or installed files in it."""
    for path in sorted(folder.iterdir()):
        is_hidden = path.name.startswith(".") and path.name not in {".github", ".devcontainer"}
        if path.is_dir() and not is_hidden and path.name not in IGNORED_FOLDERS:
            yield from files_under(path)
        elif path.is_file():
            yield str(path.relative_to(ROOT))


OLD_NAMES = {"CHANGELOG.md", "docs/naming.md"}
"""Pages that name what was there once."""

TRACKED = list(files_under(ROOT))
PAGES = [name for name in TRACKED if name.endswith(".md") and name not in OLD_NAMES]
every_page = pytest.mark.parametrize("page", PAGES)

READER_FILES = {"mine.py", "older.py", "helper.py", "ruled.py", "bot.py", "bot.js", "main.py",
               "page.html", "cardsharp.toml", "FILE.py", "FILE.json", "NAME.py",
               "matches.db"}  # fmt: skip
"""Files that a page has its reader write, or that a command writes."""

_FILE = re.compile(r"[\w./*-]*\w\.(py|toml|json|md|html|js|css|c|yaml|yml|txt|svg|png|sql|mk)")
_MODULE = re.compile(
    r"(cardsharp_tools|cardsharp|cardsharp_tools.research|functions)(\.[A-Za-z_]\w*)+"
)


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def code_tokens(text: str) -> Iterator[str]:
    """Yield the tokens between backticks on a line."""
    for code in re.findall(r"`([^`\n]+)`", text):
        yield from (token.strip("(),;:'\"") for token in code.split())


def is_tracked(path: str) -> bool:
    """Return True if a file ends with this path; `GAME` is any game, and `*` anything."""
    pattern = re.escape(path.lstrip("./")).replace(r"\*", r"\w*").replace("GAME", r"\w+")
    return any(re.search(rf"(^|[/.]){pattern}$", name) for name in TRACKED)


@every_page
def test_files_that_a_page_names_exist(page: str) -> None:
    file_names = {token for token in code_tokens(read(page)) if _FILE.fullmatch(token)}
    project_files = {
        file_name for file_name in file_names if Path(file_name).name not in READER_FILES
    }
    generated_files = {
        file_name for file_name in project_files if file_name.startswith((".aws-sam/", "/"))
    }
    assert [
        file_name
        for file_name in sorted(project_files - generated_files)
        if not is_tracked(file_name)
    ] == []


@every_page
def test_modules_that_a_page_names_can_be_imported(page: str) -> None:
    dotted_names = {token for token in code_tokens(read(page)) if _MODULE.fullmatch(token)}
    example_names = {
        dotted_name for dotted_name in dotted_names if ".yours" in dotted_name
    } | READER_FILES
    for dotted_name in sorted(dotted_names - example_names):
        module, _, name = dotted_name.rpartition(".")
        try:
            importlib.import_module(dotted_name)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(module), name), dotted_name


@cache
def anchors(file: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub builds them."""
    headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
    plain_headings = (
        re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings
    )
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain_headings
    }


@every_page
def test_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"```.*?```", "", read(page), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.resolve()), link


@every_page
def test_make_targets_that_a_page_names_exist(page: str) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    code = re.findall(r"`make ([a-z][\w-]*)[` ]", read(page))
    code += re.findall(r"^ {4}make ([a-z][\w-]*)", read(page), re.MULTILINE)
    assert set(code) <= targets


def typed_commands(page: str) -> set[str]:
    """Return the commands that a page has its reader type, without shell syntax."""
    text = read(page)
    commands = re.findall(r"^(?: {4}|\$ |)(?:\.venv/bin/)?(cardsharp [a-z].*)$", text, re.MULTILINE)
    commands += re.findall(r"`(?:\.venv/bin/)?(cardsharp [a-z][^`\n]*)`", text)
    command_end = re.compile(r" # | [|>&\\] ?|  +|\.\.\.| …")
    return {command_end.split(f"{command} ")[0].strip() for command in commands}


APP = build_app()


@every_page
def test_commands_and_options_that_a_page_names_exist(page: str) -> None:
    for command in sorted(typed_commands(page)):
        command_words = shlex.split(command)[1:]
        if command_words[0] == "yours":  # the reader's own game
            continue
        chain, apps, _ = APP.parse_commands(command_words)
        assert chain, f"{command}: there is no such command"
        valid_options = {"--help", "--version", "--config"}
        if apps[-1].default_command is not None:  # else it is a group of commands
            arguments = apps[-1].assemble_argument_collection()
            valid_options |= {name for argument in arguments for name in argument.names}
        options = {
            token.partition("=")[0] for token in command_words if re.match(r"--[a-z]", token)
        }
        assert options <= valid_options, f"{command}: {sorted(options - valid_options)}"


# --- what is ordered ------------------------------------------------------------------------------


_RUNG = re.compile(r"^ +([\w-]+) +([\d,]+) ± \d+ +(?:not )?beaten ", re.MULTILINE)


def test_ladders_on_the_pages_are_as_measured_from_the_weakest_up() -> None:
    players, ladder_count = load_ladder(None).players, 0
    for page in PAGES:
        for block in re.findall(r"(?ms)^```\w*\n(.*?)^```", read(page)):
            rungs = [(name, int(value.replace(",", ""))) for name, value in _RUNG.findall(block)]
            ladder_count += bool(rungs)
            assert [name for name, _ in rungs] == list(players)[: len(rungs)]
            assert [value for _, value in rungs] == [players[name].value for name, _ in rungs]
    assert ladder_count == 3, "README.md has one, docs/your-own-bot.md two"


# --- where a reader is sent -----------------------------------------------------------------------


def test_the_pages_lead_to_the_rules_of_the_effects() -> None:
    folder = "layers/cardsharp/python/cardsharp/games/deadmansdraw"
    assert "EffectType.KRAKEN" in read(f"{folder}/transitions.py")
    for page in ("docs/architecture.md", "docs/rules.md"):
        assert "`games/deadmansdraw/transitions.py`" in read(page)


def test_files_in_the_source_layout_exist() -> None:
    source_layout = read("docs/architecture.md").partition("## Source layout")[2].split("```")[1]
    file_names = {
        token.strip("();,")
        for token in source_layout.split()
        if _FILE.fullmatch(token.strip("();,"))
    }
    assert len(file_names) > 20
    assert [file_name for file_name in sorted(file_names) if not is_tracked(file_name)] == []


@pytest.mark.parametrize("page", ["README.md", "docs/write-a-bot.md", "docs/your-own-bot.md"])
def test_beginner_pages_mention_the_starter_rule(page: str) -> None:
    assert "--template rule`" in read(page)
    assert "67 %" in read(page)


def test_every_new_name_of_the_naming_page_exists() -> None:
    """Each row leads from a name of 0.2 to a name that a reader can search for today."""
    row = re.compile(
        r"^\| `(?:cardsharp|workbench|research)\.[\w.]+` \| `([A-Za-z_][\w.]*)` \|", re.MULTILINE
    )
    new_names = set(row.findall(read("docs/naming.md")))
    assert len(new_names) > 1000
    assert sorted(new_names - defined_names()) == []


def defined_names() -> set[str]:
    """Return the dotted modules, module-level names and `Class.member` names of the project."""
    names: set[str] = set()
    for path in (ROOT / name for name in TRACKED if name.endswith(".py")):
        dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        parts = dotted.removeprefix("layers.cardsharp.python.").removesuffix(".__init__").split(".")
        names |= {".".join(parts[: length + 1]) for length in range(len(parts))}
        tree = ast.parse(path.read_text("utf-8"))
        names |= {name for node in tree.body for name in _bound_names(node)}
        for scope in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            members = {name for node in ast.walk(scope) for name in _bound_names(node)}
            names |= {f"{scope.name}.{member}" for member in members}
    return names


def _bound_names(node: ast.AST) -> list[str]:
    """Return the names that a definition or an assignment binds, also as attributes."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [name for target in targets for name in _bound_names(target)]
        case ast.AnnAssign(target=target):
            return _bound_names(target)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return [name]
        case ast.Tuple(elts=parts):
            return [name for part in parts for name in _bound_names(part)]
        case _:
            return []


FOREIGN_NAMES = {"scmp_arg_cmp"}
"""Names in our docstrings and comments that are defined elsewhere."""

_CODE_IN_TEXT = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")


def test_every_name_that_a_docstring_or_comment_cites_exists() -> None:
    """Names that a text cites in backticks must exist in the code."""
    kinds = (".py", ".c", ".h", ".toml", ".yaml")
    sources = {name: read(name) for name in TRACKED if name.endswith(kinds)}
    code = "".join(_CODE_IN_TEXT.sub("", text) for text in sources.values())
    known_names = {*re.findall(r"\w+", code), *FOREIGN_NAMES}
    known_names |= {Path(name).stem for name in TRACKED}
    stale = [
        f"{name}: {citation}"
        for name, text in sources.items()
        if name.startswith(("layers/", "cardsharp_tools/", "functions/"))
        for citation in _CODE_IN_TEXT.findall(text)
        for part in citation.split(".")
        if "_" in part and part not in known_names
    ]
    assert stale == []
