"""Lint for names and English: `python -m cardsharp_tools.build.naming_lint [--summary]`.

Checks the rules of CONTRIBUTING.md ("Names") that a program can check, in the folders that
`[tool.naming_lint]` of pyproject.toml lists. The words are in naming_words.toml. Prints
`path:line: name: rule` and a suggestion for each breach, then the count of each rule, and exits
with 1 if there is a breach. Long sentences in the documentation are warnings: they are printed and
counted, and do not change the exit code.

| rule         | breach                                                                           |
|--------------|----------------------------------------------------------------------------------|
| participle   | a name without a noun or a verb: `told`, `found`, `as_asked`; `is_known` is fine |
| pronoun      | a name with a pronoun in it: `who`, `what_ended`, `ours`                         |
| limit        | `most` or `least` in a name                                                      |
| metaphor     | a word that only this project used: `scout`, `warden`, `hall`                    |
| docstring    | a docstring that opens with What, Whether, How, Who ...                          |
| class-name   | a class name that a second module gives to another class                         |
| limit-name   | a limit or duration whose name a second module gives to another one              |
| exception    | an allowed name without a reason, or that nothing uses                           |
| sentence     | warning: a sentence of the documentation with more than 30 words                 |
"""

import argparse
import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cardsharp_tools.build.c_identifiers import c_identifiers

ROOT = Path(__file__).parents[2]
MAX_SENTENCE_WORDS = 30
WARNING = "sentence"
RULES = (
    "participle", "pronoun", "limit", "metaphor", "docstring", "class-name", "limit-name",
    "exception", WARNING,
)  # fmt: skip

WORDS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("naming_words.toml").read_text("utf-8")
)
"""For each rule about names the words that break it, each with better ones."""

CONNECTIVES = frozenset((
    "a", "all", "an", "and", "any", "as", "but", "for", "from", "how", "if", "in", "it", "its",
    "no", "of", "off", "on", "once", "only", "or", "so", "than", "that", "the", "then", "these",
    "this", "those", "to", "too", "up", "was", "when", "which", "with", "yet",
))  # fmt: skip
"""Words that join others. A name of these and participles alone names nothing.

`at`, `by` and `not` are missing: `sent_at` is the usual name of a time, `made_by` that of an
author, `NotFound` that of an error.
"""

OPENINGS = frozenset((
    "How", "What", "Whatever", "When", "Where", "Wherever", "Whether", "Which", "Who", "Whoever",
    "Whom", "Whose", "Why",
))  # fmt: skip

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[)*_\"']*\s+(?=\W*[A-Z0-9])")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
_CODE_SPAN = re.compile(r"`[^`]*`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, order=True, slots=True)
class Breach:
    """A place that breaks a rule."""

    path: str
    line: int
    name: str
    rule: str
    suggestion: str = ""

    def __str__(self) -> str:
        """One line of the report."""
        hint = f" ({self.suggestion})" if self.suggestion else ""
        return f"{self.path}:{self.line}: {self.name}: {self.rule}{hint}"


@dataclass(frozen=True, slots=True)
class LintConfig:
    """`[tool.naming_lint]` of pyproject.toml.

    `paths` are folders of Python files, `c_paths` folders of C files, of which the names are
    checked, and `pages` globs of Markdown files, from the root.
    `allowed` has a reason for each allowed name; a key `file.py:name` allows it in such files only.
    """

    root: Path
    paths: Sequence[str] = ()
    pages: Sequence[str] = ()
    allowed: Mapping[str, str] = field(default_factory=dict)
    c_paths: Sequence[str] = ()


def read_config(root: Path) -> LintConfig:
    """Read the configuration from the project's pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    section = project.get("tool", {}).get("naming_lint", {})
    return LintConfig(root, **section)


# --- names ----------------------------------------------------------------------------------------


def identifier_words(name: str) -> list[str]:
    """Split an identifier into its words, in lower case."""
    return [word.lower() for word in _WORD.findall(name)]


def check_name(name: str) -> tuple[str, str] | None:
    """Return the rule that a name breaks, with a suggestion, or None."""
    words = identifier_words(name)
    for rule in ("pronoun", "limit", "metaphor"):
        for word in words:
            if word in WORDS[rule]:
                return rule, WORDS[rule][word]
    table = WORDS["participle"]
    participles = [word for word in words if word in table]
    if participles and all(word in table or word in CONNECTIVES for word in words):
        return "participle", table[participles[0]]
    return None


def defined_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node of a syntax tree defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            if not name.startswith("test_"):  # a test's name is a sentence
                yield name
        case (
            ast.ClassDef(name=name)
            | ast.arg(arg=name)
            | ast.Name(id=name, ctx=ast.Store())
            | ast.Attribute(attr=name, ctx=ast.Store())
        ):
            yield name
        case (
            ast.alias(asname=str(name))
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            yield name


def docstrings(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the docstrings in the body of a module, class or function, also those of fields."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return
    for index, statement in enumerate(node.body):
        match statement:
            case ast.Expr(value=ast.Constant(value=str()) as constant):
                if index == 0 or isinstance(node.body[index - 1], ast.Assign | ast.AnnAssign):
                    yield constant


def first_word(text: str) -> str:
    """Return the first word of a text, or an empty string."""
    match = re.search(r"[A-Za-z]+", text)
    return match[0] if match else ""


def check_node(path: str, node: ast.AST) -> Iterator[Breach]:
    """Yield the breaches of one node of a syntax tree."""
    line = getattr(node, "lineno", 1)
    for name in defined_names(node):
        if breach := check_name(name):
            yield Breach(path, line, name, *breach)
    for docstring in docstrings(node):
        opening = first_word(str(docstring.value))
        if opening in OPENINGS:
            hint = "begin with a noun phrase or an imperative"
            yield Breach(path, docstring.lineno, opening, "docstring", hint)


# --- classes of one name --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DefinitionLocation:
    """Place at which a class or a limit is defined."""

    path: str
    line: int


def module_classes(path: str, tree: ast.Module) -> Iterator[tuple[str, DefinitionLocation]]:
    """Yield the classes at the top of a module, by name."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name, DefinitionLocation(path, node.lineno)


def duplicate_names(
    definitions: Mapping[str, Sequence[DefinitionLocation]], rule: str
) -> Iterator[Breach]:
    """Yield a breach for each definition whose name an earlier module gives to another.

    It names that module.
    """
    for name, places in definitions.items():
        for place in places[1:]:
            yield Breach(place.path, place.line, name, rule, f"also in {places[0].path}")


_LIMIT_NAME = re.compile(
    r"(?:MAX|MIN)_[A-Z0-9_]+|[A-Z0-9_]*(?:TIMEOUT|TTL|INTERVAL|DELAY|MARGIN|GRACE|SECONDS|BYTES|TIME"
    r"|DURATION|PERIOD|WINDOW)"
)


def limit_constants(path: str, tree: ast.Module) -> Iterator[tuple[str, DefinitionLocation]]:
    """Yield each public limit or duration that a module defines, with its place."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and _LIMIT_NAME.fullmatch(target.id):
                yield target.id, DefinitionLocation(path, node.lineno)


# --- pages ----------------------------------------------------------------------------------------


def markdown_prose_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield paragraphs, list items and table cells of a Markdown page, with their first lines."""
    block: list[str] = []
    start, is_code = 1, False
    for line_number, line in enumerate([*text.splitlines(), ""], 1):
        is_fence = line.lstrip().startswith("```")
        is_code ^= is_fence
        item = _LIST_ITEM.match(line)
        is_text = bool(line.strip()) and not (
            is_fence or is_code or (line.startswith(("#", "    ", "|", "<")) and not item)
        )
        if block and (item or not is_text):
            yield start, " ".join(block)
            block = []
        if is_text:
            start = start if block else line_number
            block.append(line[item.end() :] if item else line.strip())
        elif line.startswith("|") and not is_code:
            yield from ((line_number, cell) for cell in line.strip("|").split("|"))


def long_sentences(path: str, text: str) -> Iterator[Breach]:
    """Yield the sentences of a page with too many words; code counts as one word."""
    for line, block in markdown_prose_blocks(text):
        plain = _LINK.sub(r"\1", _CODE_SPAN.sub("Code", block))
        for sentence in _SENTENCE_END.split(plain):
            words = re.findall(r"\S*\w\S*", sentence)
            if len(words) > MAX_SENTENCE_WORDS:
                name = f'"{" ".join(words[:5])} …"'
                yield Breach(path, line, name, WARNING, f"{len(words)} words")


# --- the project ----------------------------------------------------------------------------------


def python_breaches(config: LintConfig) -> Iterator[Breach]:
    """Yield the breaches in all Python files."""
    classes = defaultdict[str, list[DefinitionLocation]](list)
    limits = defaultdict[str, list[DefinitionLocation]](list)
    files = [file for path in config.paths for file in sorted((config.root / path).rglob("*.py"))]
    for file in files:
        path = file.relative_to(config.root).as_posix()
        if breach := check_name(file.stem):
            yield Breach(path, 1, file.stem, *breach)
        tree = ast.parse(file.read_text("utf-8"))
        for node in ast.walk(tree):
            yield from check_node(path, node)
        for name, location in module_classes(path, tree):
            classes[name].append(location)
        for name, location in limit_constants(path, tree):
            limits[name].append(location)
    yield from duplicate_names(classes, "class-name")
    yield from duplicate_names(limits, "limit-name")


def c_breaches(config: LintConfig) -> Iterator[Breach]:
    """Yield the breaches in the names of all C files, at the first use of each name in a file."""
    for file in (file for path in config.c_paths for file in (config.root / path).glob("*.[ch]")):
        path = file.relative_to(config.root).as_posix()
        for name, line in {file.stem: 1, **c_identifiers(file.read_text("utf-8"))}.items():
            if breach := check_name(name):
                yield Breach(path, line, name, *breach)


def long_sentence_warnings(config: LintConfig) -> Iterator[Breach]:
    """Yield the long sentences of all pages."""
    pages = {page for pattern in config.pages for page in config.root.glob(pattern)}
    for page in sorted(pages):
        yield from long_sentences(page.relative_to(config.root).as_posix(), page.read_text("utf-8"))


def exception_key(config: LintConfig, breach: Breach) -> str | None:
    """Return the key of the exception that allows a breach, or None."""
    if breach.rule in {"docstring", "class-name", "limit-name", WARNING}:
        return None
    for key in config.allowed:
        file, _, name = key.rpartition(":")
        if name == breach.name and breach.path.endswith(file):
            return key
    return None


def find_breaches(config: LintConfig) -> list[Breach]:
    """Return all breaches and warnings of a project that are not allowed, sorted by place."""
    folders = (*config.paths, *config.c_paths)
    missing = [path for path in folders if not (config.root / path).is_dir()]
    breaches = [
        Breach("pyproject.toml", 1, path, "exception", "no such folder") for path in missing
    ]
    used = set[str]()
    all_breaches = *python_breaches(config), *c_breaches(config), *long_sentence_warnings(config)
    for breach in all_breaches:
        if key := exception_key(config, breach):
            used.add(key)
        else:
            breaches.append(breach)
    for key, reason in config.allowed.items():
        if key not in used or not reason.strip():
            hint = "give a reason" if key in used else "remove it: no such breach"
            breaches.append(Breach("pyproject.toml", 1, key, "exception", hint))
    return sorted(breaches)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the breaches and counts of a project; return 1 if there is a breach."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the project's folder")
    parser.add_argument("--summary", action="store_true", help="print the counts only")
    options = parser.parse_args(arguments)
    breaches = find_breaches(read_config(options.root))
    counts = Counter(breach.rule for breach in breaches)
    lines = [] if options.summary else [str(breach) for breach in breaches]
    totals = ", ".join(f"{rule} {counts[rule]}" for rule in RULES)
    print(*lines, f"naming: {totals}", sep="\n")  # noqa: T201 - a lint reports on the terminal
    return int(any(rule != WARNING for rule in counts))


if __name__ == "__main__":
    raise SystemExit(main())
