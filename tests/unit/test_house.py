"""Import contracts (docs/architecture.md): a planted breach of any contract is detected.

The contracts are in `pyproject.toml`; `make lint` runs them over the code.
"""

import ast
import re
from copy import deepcopy
from functools import cache
from importlib import import_module
from pathlib import Path

import grimp
import pytest
from importlinter import Contract
from importlinter.api import read_configuration
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from support.recordings import sample_rows

from cardsharp import errors
from cardsharp.core.lazy_exports import lazy_exports
from tests.support.import_allow_list import AllowList

ROOT = Path(__file__).parents[2]
CONFIGURATION = read_configuration(str(ROOT / "pyproject.toml"))
SESSION = CONFIGURATION["session_options"]
TYPES: dict[str, type[Contract]] = {
    "allow_list": AllowList,
    "forbidden": ForbiddenContract,
    "layers": LayersContract,
}
STRATEGY = "A strategy knows rules and position, and is given its chance"


@pytest.fixture(scope="module")
def house() -> grimp.ImportGraph:
    roots = SESSION["root_packages"]
    return grimp.build_graph(*roots, include_external_packages=True, cache_dir=None)


def broken(house: grimp.ImportGraph, fence: str | None = None) -> list[str]:
    contracts = [
        TYPES[options["type"]](options["name"], SESSION, options)
        for options in CONFIGURATION["contracts_options"]
        if fence in {None, options["name"]}
    ]
    return [
        contract.name
        for contract in contracts
        if not contract.check(deepcopy(house), verbose=False).kept
    ]


def test_no_fence_is_broken_and_every_function_is_fenced(house: grimp.ImportGraph) -> None:
    assert broken(house) == []
    apps = {f"functions.{app.parent.name}.app" for app in ROOT.glob("functions/*/app.py")}
    assert apps
    assert apps <= house.modules


def breaks(fence: str, house: grimp.ImportGraph, importer: str, imported: str, line: str) -> bool:
    planted = deepcopy(house)
    assert importer in planted.modules
    if imported not in planted.modules:
        planted.add_module(imported, is_squashed=True)
    planted.add_import(importer=importer, imported=imported, line_number=1, line_contents=line)
    return broken(planted, fence) == [fence]


@pytest.mark.parametrize("row", sample_rows("breaches"))
def test_a_breach_breaks_its_fence(house: grimp.ImportGraph, row: str) -> None:
    importer, imported, fence = re.split(" imports |: ", row, maxsplit=2)
    assert breaks(fence, house, importer, imported, f"import {imported}")


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("from random import Random", False),
        ("import random", True),
        ("from random import Random, random", True),
        ("from random import (", True),
        ("from random import SystemRandom as Random", True),
    ],
)
def test_a_strategy_makes_no_chance(house: grimp.ImportGraph, line: str, *, caught: bool) -> None:
    assert (
        breaks(STRATEGY, house, "cardsharp.games.blef.strategies.bet_probabilities", "random", line)
        is caught
    )


LIBRARY = ROOT / "layers" / "cardsharp" / "python"


@cache
def source(name: str) -> ast.Module | None:
    place = LIBRARY.joinpath(*name.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(file.read_text()) if name and file.is_file() else None


WAYS_OUT = frozenset((
    "__builtins__", "__import__", "breakpoint", "compile", "delattr", "eval", "exec", "getattr",
    "globals", "input", "locals", "open", "print", "setattr", "vars",
))  # fmt: skip
"""Builtins that reach files, other code or any name there is."""

HARMLESS = frozenset({"__getitem__", "__init__", "__new__"})
"""What blind code asks of an object by its special name."""


@cache
def imports_of(name: str) -> frozenset[str]:
    """The names by which a module of ours knows whole modules: what `import` binds, not `from`."""
    module = source(name)
    return frozenset(
        (alias.asname or alias.name).partition(".")[0]
        for node in (() if module is None else module.body)
        if isinstance(node, ast.Import)
        for alias in node.names
    )


def reached(module: ast.Module) -> list[str]:
    """Every way out of a module that an import linter cannot see, as `line: what`."""
    nodes = list(ast.walk(module))
    imports_by_name = {
        alias.asname or alias.name: imports_of(f"{node.module}.{alias.name}")
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return [
        f"{getattr(node, 'lineno', 0)}: {escape}"
        for node in nodes
        for escape in out(node, imports_by_name)
    ]


def out(node: ast.AST, imports_by_name: dict[str, frozenset[str]]) -> list[str]:
    """Return the names that a node reaches outside its module.

    `imports_by_name` maps a name that stands for a module of ours to what that module imports.
    """
    match node:
        case ast.Name(id=name) if name in WAYS_OUT:
            return [name]
        case ast.Import(names=names):
            return [alias.name for alias in names if alias.name.partition(".")[0] == "cardsharp"]
        case ast.ImportFrom(module=str() as owner, names=names):
            return [alias.name for alias in names if alias.name in imports_of(owner)]
        case ast.Attribute(attr=name) if name.startswith("__") and name.endswith("__"):
            return [name] if name not in HARMLESS else []
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return [name] if name in imports_by_name.get(owner, ()) else []
    return []


def blind() -> list[str]:
    """Every module that must be blind: those that the contracts of `pyproject.toml` guard."""
    guarded = {
        importer.removeprefix(".")
        for contract in CONFIGURATION["contracts_options"]
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
def test_blind_modules_reach_nothing_beyond_their_imports(module: str) -> None:
    parsed = source(module.removesuffix(".__init__"))
    assert parsed is not None
    assert reached(parsed) == []


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
        "from cardsharp.play.strategy_registry import inspect",
        (
            "from cardsharp.play import "
            "strategy_registry\nstrategy_registry.importlib.import_module('os')"
        ),
        "from cardsharp.play import strategy_registry as listed\nlisted.pkgutil",
        "import cardsharp.play.strategy_registry\ncardsharp.play.strategy_registry.inspect",
    ],
)
def test_an_escape_is_detected(planted: str) -> None:
    assert reached(ast.parse(planted))


PACKAGES = sorted(
    str(file.parent.relative_to(LIBRARY)).replace("/", ".")
    for file in LIBRARY.rglob("__init__.py")
    if "lazy_exports(" in file.read_text()
)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_exports_each_public_name_from_the_module_that_defines_it(package: str) -> None:
    module = source(package)
    assert module is not None
    imports = {
        name.asname or name.name: (node.module, name.name)
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(f"{package}.")
        and node.module != lazy_exports.__module__
        for name in node.names
    }
    exports = import_module(package).__all__
    assert set(exports) == set(imports)
    folder = LIBRARY.joinpath(*package.split("."))
    submodules = {path.stem for path in folder.iterdir()}
    assert not submodules & set(exports)  # an imported module would hide the name
    for name in exports:
        public = getattr(import_module(package), name)
        defining_module, own_name = imports[name]
        assert public is getattr(import_module(str(defining_module)), own_name)


def test_every_room_of_the_library_exports_its_public_names() -> None:
    rooms = {f"cardsharp.{path.parent.name}" for path in LIBRARY.glob("cardsharp/*/__init__.py")}
    assert rooms - {"cardsharp.games"} <= set(PACKAGES)


def test_the_error_tree_in_the_docstring_is_that_of_the_classes() -> None:
    """As drawn with a branch of four characters for each level."""
    parents: dict[int, str] = {}
    drawn = {}
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ([│├└─ ]*)([A-Z]\w+)", line)
        if match is None:
            continue
        level, name = len(match[1]) // 4, match[2]
        parents[level] = name
        drawn[name] = parents.get(level - 1, "Exception")
    classes = [one for one in vars(errors).values() if isinstance(one, type)]
    defined = {one for one in classes if one.__module__ == errors.__name__}
    assert drawn == {one.__name__: one.__base__ and one.__base__.__name__ for one in defined}


def test_modules_are_loaded_by_name_of_games_and_strategies_alone() -> None:
    """By `cardsharp.play.game`, the registry, and the packages that list their public names."""
    loading = {
        str(file.relative_to(LIBRARY / "cardsharp"))
        for file in LIBRARY.rglob("*.py")
        if re.search("import_module|__import__", file.read_text())
    }
    assert loading == {"core/lazy_exports.py", "play/game.py", "play/strategy_registry.py"}
