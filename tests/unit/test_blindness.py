"""Rules, positions and strategies reach nothing that they do not import (docs/architecture.md).

`tests/unit/test_house.py` looks at imports; these are the ways past them.
"""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.support.blindness import loads_by_name, reached

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "layers" / "cardsharp" / "python"
LOADERS = {"cardsharp.game", "cardsharp.registry"}
"""They load what a game names, and strategies; nobody else loads by name."""


@cache
def source(name: str) -> ast.Module | None:
    """The parsed text of a module of the library."""
    place = LIBRARY.joinpath(*name.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(file.read_text()) if name and file.is_file() else None


def blind() -> list[str]:
    """Every module that must be blind: those that the contracts of `pyproject.toml` guard."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    guarded = {
        importer.removeprefix(".")
        for contract in contracts["contracts"]
        if contract["type"] == "allow_list"
        for importer in contract["importers"]
        if importer.startswith(".") and importer != "."
    }
    games = [file.parent for file in LIBRARY.glob("cardsharp/*/game.py")]
    return [
        ".".join(file.relative_to(LIBRARY).with_suffix("").parts)
        for game in games
        for file in sorted(game.rglob("*.py"))
        if file.relative_to(game).with_suffix("").parts[0] in guarded
    ]


@pytest.mark.parametrize("module", blind())
def test_what_decides_reaches_nothing_past_its_imports(module: str) -> None:
    parsed = source(module.removesuffix(".__init__"))
    assert parsed is not None
    assert reached(parsed, source) == []


@pytest.mark.parametrize(
    "planted",
    [
        "open('/etc/passwd')",
        "__import__('os')",
        "eval('1')",
        "x = getattr(x, 'y')",
        "__builtins__['open']('x')",
        "().__class__.__base__.__subclasses__()",
        "strategy.__globals__",
        "from cardsharp.registry import inspect",
        "from cardsharp import registry\nregistry.importlib.import_module('os')",
        "from cardsharp import registry as listed\nlisted.pkgutil",
        "import cardsharp.registry\ncardsharp.registry.inspect",
    ],
)
def test_a_way_out_is_caught(planted: str) -> None:
    assert reached(ast.parse(planted), source)


def test_only_the_registry_loads_modules_by_name() -> None:
    for file in sorted(LIBRARY.rglob("*.py")):
        name = ".".join(file.relative_to(LIBRARY).with_suffix("").parts)
        found = loads_by_name(ast.parse(file.read_text()))
        assert not found or name in LOADERS, name
    assert loads_by_name(ast.parse("importlib.import_module('cardsharp.blef.rules')"))
