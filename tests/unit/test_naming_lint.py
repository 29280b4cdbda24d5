"""Lint for names and English: planted breaches, and names that it accepts."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cardsharp_tools.build.naming_lint import (
    OPENINGS,
    ROOT,
    LintConfig,
    check_name,
    find_breaches,
    main,
    read_config,
)

MAX_TERMS = 25


def lint(root: Path, files: dict[str, str], **exceptions: str) -> list[tuple[str, int, str, str]]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    paths = ["code"] if (root / "code").is_dir() else []
    c_paths = ["native"] if (root / "native").is_dir() else []
    config = LintConfig(root, paths, ["*.md"], exceptions, c_paths)
    return [(b.path, b.line, b.name, b.rule) for b in find_breaches(config)]


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("told", "participle"),
        ("_KEPT", "participle"),
        ("Found", "participle"),
        ("as_asked", "participle"),
        ("one", "participle"),
        ("who", "pronoun"),
        ("what_ended", "pronoun"),
        ("_is_there", "pronoun"),
        ("theirs", "pronoun"),
        ("most_moves", "limit"),
        ("LEAST_WAIT", "limit"),
        ("WardenProcess", "metaphor"),
        ("scout", "metaphor"),
    ],
)
def test_a_name_of_the_private_dialect_breaks_a_rule(name: str, rule: str) -> None:
    breach = check_name(name)
    assert breach
    assert breach[0] == rule
    assert breach[1], "each breach has a suggestion"


@pytest.mark.parametrize(
    "name",
    [
        "match", "is_known", "has_ended", "known_cards", "sent_at", "made_by", "max_moves",
        "NotFound", "own_bank", "house_team", "almost", "somewhere", "one_hot", "T", "_", "__all__",
    ],
)  # fmt: skip
def test_a_name_of_the_field_breaks_none(name: str) -> None:
    assert check_name(name) is None


DEFINITION_KINDS = """
import json as told
from os import path as told

class told:
    told: int = 0

async def told(told, *, told=1): ...
def plain(*told, **told): ...

for told in ():
    plain.told = told
with open("a") as told:
    pass
[told for told in ()]
if (told := 1): pass
try: ...
except ValueError as told: ...
match 1:
    case [*told]: ...
    case {**told}: ...
    case int() as told: ...
lambda told: told.read(told=1)
"""


def test_each_kind_of_definition_is_checked_and_no_use(tmp_path: Path) -> None:
    path = "code/module.py"
    # The parser does not mind a name that is given twice.
    breaches = lint(tmp_path, {path: DEFINITION_KINDS})
    assert {(breach_path, name, rule) for breach_path, _, name, rule in breaches} == {
        (path, "told", "participle")
    }
    assert [line for _, line, _, _ in breaches] == [
        2, 3, 5, 6, 8, 8, 8, 9, 9, 11, 12, 13, 15, 16, 18, 20, 21, 22, 23,
    ]  # fmt: skip


def test_the_name_of_a_module_is_checked_and_a_test_is_named_by_a_sentence(tmp_path: Path) -> None:
    text = "def test_who_waits_is_told() -> None: ...\n"
    assert lint(tmp_path, {"code/scout.py": text}) == [("code/scout.py", 1, "scout", "metaphor")]


def test_each_name_of_a_c_file_is_checked_at_its_first_use(tmp_path: Path) -> None:
    text = (
        '#include "told.h"\n'
        "/* What was told,\n * and who told it. */\n"
        "enum { KEPT = 1, MAX_KEPT_CARDS = 2 };\n"
        'int told(int kept) { return kept + puts("told"); } // told\n'
    )
    assert lint(tmp_path, {"native/scout.c": text}) == [
        ("native/scout.c", 1, "scout", "metaphor"),
        ("native/scout.c", 4, "KEPT", "participle"),
        ("native/scout.c", 5, "kept", "participle"),
        ("native/scout.c", 5, "told", "participle"),
    ]


# --- docstrings and classes -----------------------------------------------------------------------


@pytest.mark.parametrize("opening", sorted(OPENINGS))
def test_no_docstring_opens_with_a_question_word(tmp_path: Path, opening: str) -> None:
    text = (
        f'"""{opening} is here."""\n\nLIMIT = 1\n"""{opening} it limits."""\n\n\n'
        f'class Match:\n    """{opening} it is."""\n\n'
        f'    def end(self):\n        """{opening} it ended."""\n'
    )
    breaches = lint(tmp_path, {"code/module.py": text})
    assert breaches == [("code/module.py", line, opening, "docstring") for line in (1, 4, 8, 11)]


def test_a_docstring_with_a_noun_or_an_imperative_is_fine(tmp_path: Path) -> None:
    text = (
        '"""Lease of a match."""\n\n\ndef read():\n    """Return what was stored."""\n    "What"\n'
    )
    assert lint(tmp_path, {"code/module.py": text}) == []


def test_two_classes_share_no_name(tmp_path: Path) -> None:
    files = {
        "code/alpha.py": "class Match: ...\nclass _Part: ...\n",
        "code/beta.py": "class Match: ...\nclass _Part(alpha._Part): ...\n",
    }
    assert lint(tmp_path, files) == [
        ("code/beta.py", 1, "Match", "class-name"),
        ("code/beta.py", 2, "_Part", "class-name"),
    ]
    assert lint(tmp_path, {}, Match="no exception helps")[0][3] == "class-name"


def test_two_modules_share_no_name_of_a_limit(tmp_path: Path) -> None:
    """Other constants may share a name: each game has its own cards. Imports define nothing."""
    files = {
        "code/alpha.py": "CACHE_TTL = 3\nMAX_MATCHES: int = 2\nSUITS = 4\n",
        "code/beta.py": "from alpha import CACHE_TTL\nMAX_MATCHES = 5\nSUITS = 9\n",
        "code/gamma.py": "CACHE_TTL = 10\n",
    }
    assert lint(tmp_path, files) == [
        ("code/beta.py", 2, "MAX_MATCHES", "limit-name"),
        ("code/gamma.py", 1, "CACHE_TTL", "limit-name"),
    ]


def test_two_games_share_no_class_name_either(tmp_path: Path) -> None:
    files = {
        "code/games/blef/position.py": "class Position: ...\n",
        "code/games/euchre/position.py": "class Position: ...\n",
    }
    assert lint(tmp_path, files) == [("code/games/euchre/position.py", 1, "Position", "class-name")]


# --- pages ----------------------------------------------------------------------------------------

LONG = " ".join(["word"] * 31)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{LONG}.\n", [1]),
        (f"# Head\n\nShort. {LONG}.\nShort again.\n", [3]),
        (f"- Short\n- {LONG}\n  end\n", [2]),
        (f"| a | b |\n|---|---|\n| short | {LONG} |\n", [3]),
        (f"One. {LONG[:79]}.\nW{LONG[:80]}.\n", []),
        (f"```\n{LONG}\n```\n\n    {LONG}\n\n<!-- {LONG} -->\n", []),
        (f"The `{LONG}` is one word, and [a link]({LONG.replace(' ', '/')}) is two.\n", []),
    ],
)
def test_a_long_sentence_is_a_warning(tmp_path: Path, text: str, lines: list[int]) -> None:
    breaches = lint(tmp_path, {"page.md": text})
    assert [line for _, line, _, rule in breaches if rule == "sentence"] == lines


# --- exceptions and the report --------------------------------------------------------------------


def test_an_allowed_name_needs_a_reason_and_a_use(tmp_path: Path) -> None:
    files = {"code/one_file.py": "def told(): ...\n", "code/other.py": "def told(): ...\n"}
    assert lint(tmp_path, files, told="the name of a wire field") == []
    single_exception = {"one_file.py:told": "the name of a wire field"}
    assert lint(tmp_path, {}, **single_exception) == [("code/other.py", 1, "told", "participle")]
    assert lint(tmp_path, {}, told=" ") == [("pyproject.toml", 1, "told", "exception")]
    unused = lint(tmp_path, {}, told="a wire field", kept="a wire field")
    assert unused == [("pyproject.toml", 1, "kept", "exception")]


def test_the_report_has_a_line_for_each_breach_counts_and_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "pyproject.toml").write_text(
        '[tool.naming_lint]\npaths = ["code"]\npages = ["*.md"]\n', encoding="utf-8"
    )
    (tmp_path / "page.md").write_text(LONG, encoding="utf-8")
    assert main(["--root", str(tmp_path), "--summary"]) == 0
    assert "sentence 1" in capsys.readouterr().out

    (tmp_path / "code" / "module.py").write_text("x = 1\nkept = 2\n", encoding="utf-8")
    assert main(["--root", str(tmp_path)]) == 1
    first, *_, last = capsys.readouterr().out.splitlines()
    assert re.match(r"code/module\.py:2: kept: participle \(.+\)$", first)
    assert last.startswith("naming: participle 1, pronoun 0, ")
    assert last.endswith("sentence 1")


def test_a_folder_that_is_missing_is_a_breach(tmp_path: Path) -> None:
    breaches = find_breaches(LintConfig(tmp_path, ["gone"]))
    assert [(b.name, b.rule) for b in breaches] == [("gone", "exception")]


# --- the project ----------------------------------------------------------------------------------


def test_the_configured_folders_exist_and_the_lint_keeps_its_own_rules() -> None:
    config = read_config(ROOT)
    assert config.paths
    assert all((ROOT / path).is_dir() for path in (*config.paths, *config.c_paths))
    assert all(any(ROOT.glob(pattern)) for pattern in config.pages)
    # `make lint` reads the whole project; here it would be read a second time.
    breaches = find_breaches(
        replace(config, paths=("cardsharp_tools/build",), c_paths=(), pages=())
    )
    assert [breach for breach in breaches if breach.path.endswith("naming_lint.py")] == []


def test_the_glossary_has_few_terms_in_order() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    terms = re.findall(r"^\| ([\w -]+) \| \w", page, re.MULTILINE)[1:]
    assert "lease" in terms
    assert len(terms) <= MAX_TERMS
    assert terms == sorted(terms)
