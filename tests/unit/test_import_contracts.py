"""Import contracts (docs/architecture.md), of which any planted breach is detected.

The contracts are in `pyproject.toml`; `make lint` applies them to the code.
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
CONTRACT_TYPES: dict[str, type[Contract]] = {
    "allow_list": AllowList,
    "forbidden": ForbiddenContract,
    "layers": LayersContract,
}
STRATEGY_CONTRACT = "A strategy knows rules and position, and is given its chance"


@pytest.fixture(scope="module")
def import_graph() -> grimp.ImportGraph:
    roots = SESSION["root_packages"]
    return grimp.build_graph(*roots, include_external_packages=True, cache_dir=None)


def broken_contracts(
    import_graph: grimp.ImportGraph, contract_name: str | None = None
) -> list[str]:
    contracts = [
        CONTRACT_TYPES[options["type"]](options["name"], SESSION, options)
        for options in CONFIGURATION["contracts_options"]
        if contract_name in {None, options["name"]}
    ]
    return [
        contract.name
        for contract in contracts
        if not contract.check(deepcopy(import_graph), verbose=False).kept
    ]


def test_no_contract_is_broken_and_every_function_is_in_the_graph(
    import_graph: grimp.ImportGraph,
) -> None:
    assert broken_contracts(import_graph) == []
    apps = {f"functions.{app.parent.name}.app" for app in ROOT.glob("functions/*/app.py")}
    assert apps
    assert apps <= import_graph.modules


def breaks_only_contract(
    contract_name: str,
    import_graph: grimp.ImportGraph,
    importer: str,
    imported_module: str,
    line: str,
) -> bool:
    changed_graph = deepcopy(import_graph)
    assert importer in changed_graph.modules
    if imported_module not in changed_graph.modules:
        changed_graph.add_module(imported_module, is_squashed=True)
    changed_graph.add_import(
        importer=importer, imported=imported_module, line_number=1, line_contents=line
    )
    return broken_contracts(changed_graph, contract_name) == [contract_name]


@pytest.mark.parametrize("row", sample_rows("breaches"))
def test_a_breach_breaks_its_contract(import_graph: grimp.ImportGraph, row: str) -> None:
    importer, imported_module, contract_name = re.split(" imports |: ", row, maxsplit=2)
    assert breaks_only_contract(
        contract_name, import_graph, importer, imported_module, f"import {imported_module}"
    )


@pytest.mark.parametrize(
    ("line", "is_detected"),
    [
        ("from random import Random", False),
        ("import random", True),
        ("from random import Random, random", True),
        ("from random import (", True),
        ("from random import SystemRandom as Random", True),
    ],
)
def test_a_strategy_uses_no_module_level_randomness(
    import_graph: grimp.ImportGraph, line: str, *, is_detected: bool
) -> None:
    assert (
        breaks_only_contract(
            STRATEGY_CONTRACT,
            import_graph,
            "cardsharp.games.blef.strategies.bet_probabilities",
            "random",
            line,
        )
        is is_detected
    )


LIBRARY = ROOT / "layers" / "cardsharp" / "python"


@cache
def parse_module(name: str) -> ast.Module | None:
    path = LIBRARY.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text()) if name and file.is_file() else None


ESCAPE_BUILTINS = frozenset((
    "__builtins__", "__import__", "breakpoint", "compile", "delattr", "eval", "exec", "getattr",
    "globals", "input", "locals", "open", "print", "setattr", "vars",
))  # fmt: skip
"""Builtins that reach files, other code or any name there is."""

ALLOWED_DUNDERS = frozenset({"__getitem__", "__init__", "__new__"})
"""What blind code asks of an object by its special name."""


@cache
def imported_module_names(name: str) -> frozenset[str]:
    """Return the names that `import` statements, not `from`, bind in one of our modules."""
    module = parse_module(name)
    return frozenset(
        (alias.asname or alias.name).partition(".")[0]
        for node in (() if module is None else module.body)
        if isinstance(node, ast.Import)
        for alias in node.names
    )


def list_escapes(module: ast.Module) -> list[str]:
    """Return the escapes of a module that an import linter cannot see, as `line: name`."""
    nodes = list(ast.walk(module))
    imports_by_name = {
        alias.asname or alias.name: imported_module_names(f"{node.module}.{alias.name}")
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return [
        f"{getattr(node, 'lineno', 0)}: {escape}"
        for node in nodes
        for escape in find_escapes(node, imports_by_name)
    ]


def find_escapes(node: ast.AST, imports_by_name: dict[str, frozenset[str]]) -> list[str]:
    """Return the names that a node reaches outside its module.

    `imports_by_name` maps the name of one of our modules to the names that the module
    imports.
    """
    match node:
        case ast.Name(id=name) if name in ESCAPE_BUILTINS:
            return [name]
        case ast.Import(names=names):
            return [alias.name for alias in names if alias.name.partition(".")[0] == "cardsharp"]
        case ast.ImportFrom(module=str() as owner, names=names):
            return [alias.name for alias in names if alias.name in imported_module_names(owner)]
        case ast.Attribute(attr=name) if name.startswith("__") and name.endswith("__"):
            return [name] if name not in ALLOWED_DUNDERS else []
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return [name] if name in imports_by_name.get(owner, ()) else []
    return []


def isolated_modules() -> list[str]:
    """Return the modules that the allow lists of `pyproject.toml` restrict."""
    guarded_importers = {
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
        if file.relative_to(game).with_suffix("").parts[0] in guarded_importers
    ]


@pytest.mark.parametrize("module", isolated_modules())
def test_isolated_modules_reach_nothing_beyond_their_imports(module: str) -> None:
    module_tree = parse_module(module.removesuffix(".__init__"))
    assert module_tree is not None
    assert list_escapes(module_tree) == []


@pytest.mark.parametrize(
    "source_code",
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
def test_an_escape_is_detected(source_code: str) -> None:
    assert list_escapes(ast.parse(source_code))


PACKAGES = sorted(
    str(file.parent.relative_to(LIBRARY)).replace("/", ".")
    for file in LIBRARY.rglob("__init__.py")
    if "lazy_exports(" in file.read_text()
)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_exports_each_public_name_from_the_module_that_defines_it(package: str) -> None:
    module = parse_module(package)
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
        defining_module, defined_name = imports[name]
        assert public is getattr(import_module(str(defining_module)), defined_name)


def test_every_package_of_the_library_exports_its_public_names() -> None:
    packages = {f"cardsharp.{path.parent.name}" for path in LIBRARY.glob("cardsharp/*/__init__.py")}
    assert packages - {"cardsharp.games"} <= set(PACKAGES)


def test_the_error_tree_in_the_docstring_is_that_of_the_classes() -> None:
    """The tree in the docstring has branches of four characters for each level."""
    parents: dict[int, str] = {}
    documented_parents = {}
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ([│├└─ ]*)([A-Z]\w+)", line)
        if match is None:
            continue
        level, name = len(match[1]) // 4, match[2]
        parents[level] = name
        documented_parents[name] = parents.get(level - 1, "Exception")
    classes = [
        error_class for error_class in vars(errors).values() if isinstance(error_class, type)
    ]
    error_classes = {
        error_class for error_class in classes if error_class.__module__ == errors.__name__
    }
    assert documented_parents == {
        error_class.__name__: error_class.__base__ and error_class.__base__.__name__
        for error_class in error_classes
    }


def test_only_games_strategies_and_lazy_exports_are_loaded_by_name() -> None:
    """The loaders are `cardsharp.play.game`, the registry and the lazy exports of packages."""
    importing_files = {
        str(file.relative_to(LIBRARY / "cardsharp"))
        for file in LIBRARY.rglob("*.py")
        if re.search("import_module|__import__", file.read_text())
    }
    assert importing_files == {"core/lazy_exports.py", "play/game.py", "play/strategy_registry.py"}


ITEM_REQUESTS = frozenset((
    "batch_execute_statement", "batch_get_item", "batch_write_item", "batch_writer", "delete_item",
    "execute_statement", "execute_transaction", "get_item", "put_item", "transact_get_items",
    "transact_write_items", "update_item",
))  # fmt: skip
"""Requests of DynamoDB that read or write items; `query` and `scan` are told by their owner."""


def list_item_requests(source_code: str) -> list[str]:
    """Return the methods of a client of DynamoDB that a module uses on items."""
    if not any(f".{name}" in source_code for name in (*ITEM_REQUESTS, "query", "scan")):
        return []  # parsing all modules takes seconds
    return [
        node.attr
        for node in ast.walk(ast.parse(source_code))
        if isinstance(node, ast.Attribute)
        and (
            node.attr in ITEM_REQUESTS
            or (
                node.attr in {"query", "scan"}
                and re.search(r"client(\(.*\))?$|dynamodb|moto", ast.unparse(node.value))
            )
        )
    ]


def test_one_module_requests_items_of_dynamodb() -> None:
    requests_by_file = {
        str(file.relative_to(ROOT)): list_item_requests(file.read_text())
        for folder in (LIBRARY, ROOT / "cardsharp_tools", ROOT / "functions")
        for file in folder.rglob("*.py")
    }
    assert {file for file, requests in requests_by_file.items() if requests} == {
        "layers/cardsharp/python/cardsharp/aws/dynamodb_table.py"
    }


@pytest.mark.parametrize(
    "source_code",
    [
        "stack.client('dynamodb').get_item(TableName='t', Key={})",
        "call_with_retries('t', self._client.query, TableName='t')",
        "dynamodb.scan(TableName='t')",
        "dynamodb.get_paginator, client.transact_write_items",
    ],
)
def test_a_request_for_items_is_detected(source_code: str) -> None:
    assert list_item_requests(source_code)
    assert not list_item_requests("self.documents.query('p'), yaml.scan('')")
