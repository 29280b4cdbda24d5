"""Who may know whom (docs/architecture.md): read from the imports of every module."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "layers" / "cardsharp" / "python"
GAMES = tuple(
    folder.name
    for folder in sorted((LIBRARY / "cardsharp").iterdir())
    if (folder / "rules.py").exists()
)
PURE = ("cards", "bank", "actions", "events", "state", "table", "rules")
"""The modules of a game that know nothing but the standard library and each other."""

OUTSIDE = {"time", "os", "socket", "http", "urllib", "asyncio", "subprocess", "datetime"}
"""What no rule and no strategy may touch: time, the environment, the network."""


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted name and file of every module of the library, the functions and the workbench."""
    for base, pattern in (
        (LIBRARY, "cardsharp/**/*.py"),
        (ROOT / "functions", "**/*.py"),
        (ROOT, "workbench/**/*.py"),
    ):
        for file in sorted(base.glob(pattern)):
            name = ".".join(file.relative_to(base).with_suffix("").parts)
            yield name.removesuffix(".__init__"), file


def imports(file: Path) -> set[str]:
    """Every dotted name that a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def breaches(module: str, imported: set[str]) -> list[str]:
    """The sentences of the house's rules that a module's imports break."""
    found = []
    top = module.split(".", maxsplit=1)[0]
    functions = {"poller", "worker", "practice", "web", "blef", "euchre"}
    parts = module.split(".")
    for name in sorted(imported):
        if top != "workbench" and within(name, "workbench"):
            found.append(f"{module} is deployed and imports {name}")
        if top == "cardsharp" and within(name, *functions, "functions"):
            found.append(f"{module} is the library and imports the function {name}")
        if within(module, "cardsharp.cloud") and within(name, *(f"cardsharp.{g}" for g in GAMES)):
            found.append(f"{module} is the cloud and imports the game {name}")
        if top == "cardsharp" and len(parts) > 1 and parts[1] in GAMES:
            found += game_breaches(module, parts[1], name)
    return found


def game_breaches(module: str, game: str, name: str) -> list[str]:
    found = []
    own = f"cardsharp.{game}"
    others = [f"cardsharp.{g}" for g in GAMES if g != game]
    if within(name, *others):
        found.append(f"{module} imports another game: {name}")
    pure = module in {f"{own}.{part}" for part in PURE}
    allowed = {f"{own}.{part}" for part in PURE} | {"cardsharp.errors"}
    stdlib = name.split(".", maxsplit=1)[0] in sys.stdlib_module_names
    if pure and not (within(name, *allowed) or stdlib):
        found.append(f"{module} is pure rules and imports {name}")
    if within(module, f"{own}.strategies"):
        allowed |= {f"{own}.position", f"{own}.view", f"{own}.strategies", "cardsharp.registry"}
        if not (within(name, *allowed) or stdlib):
            found.append(f"{module} is a strategy and imports {name}")
    if (pure or within(module, f"{own}.strategies", f"{own}.position")) and within(name, *OUTSIDE):
        found.append(f"{module} decides and imports {name}")
    return found


def test_nobody_imports_what_it_may_not_know() -> None:
    broken = [line for name, file in modules() for line in breaches(name, imports(file))]
    assert broken == []


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("cardsharp.deadmansdraw.rules", "requests.get"),
        ("cardsharp.deadmansdraw.rules", "cardsharp.deadmansdraw.arena.ArenaClient"),
        ("cardsharp.deadmansdraw.strategies.steady", "cardsharp.deadmansdraw.wire.MatchView"),
        ("cardsharp.deadmansdraw.strategies.steady", "time.monotonic"),
        ("cardsharp.cloud.sqs", "cardsharp.deadmansdraw.rules.apply"),
        ("cardsharp.cloud.sqs", "workbench.cloud.home.Home"),
        ("cardsharp.deadmansdraw.bot", "worker.app.handler"),
        ("worker.app", "workbench.arena.server.ArenaServer"),
    ],
)
def test_a_breach_is_noticed(module: str, name: str) -> None:
    assert breaches(module, {name})


def test_the_library_and_the_workbench_are_looked_at() -> None:
    names = {name for name, _ in modules()}
    assert {"cardsharp.deadmansdraw.rules", "cardsharp.cloud.ports", "workbench.arena.dto"} <= names
