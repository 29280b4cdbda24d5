"""Habits of a user's strategy that break no rule but do harm, with hints on what to change.

They are: global random numbers, and globals that change with the decisions. The worker process of
a file detects them. Its parent collects the hints (`strategy_hints`).
"""

import ast
import random
import sys
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from time import monotonic
from types import ModuleType

MIN_GLOBAL_CHANGES = (
    3  # decisions that change a global until there is a hint: the first ones may set it up
)

_CONTAINER_TYPES = (list, dict, set, deque)
_VALUE_TYPES = (int, float, str, tuple, frozenset)


def time_without_cpu_wait() -> float:
    """Return a time in seconds that stands still while this thread waits for a processor.

    So a busy machine makes no strategy look slow. Where the system does not report the wait,
    this is an ordinary monotonic clock.
    """
    try:
        waited = Path("/proc/thread-self/schedstat").read_text("ascii").split()[1]
    except (OSError, ValueError, IndexError):
        waited = "0"
    return monotonic() - int(waited) / 1e9


class GlobalStateMonitor:
    """Global state that a strategy's decisions change: random numbers and its module's globals."""

    def __init__(self, owner: object) -> None:
        self._module = sys.modules.get(type(owner).__module__)
        self._class = type(owner)
        self._random_module = ""
        self._change_counts: Counter[str] = Counter()
        self._previous_state = self._read_state()

    def _read_state(self) -> tuple[object, object, dict[str, object]]:
        return random.getstate(), _read_numpy_state(), dict(self._read_globals())

    def _read_globals(self) -> Iterator[tuple[str, object]]:
        """Yield the name of each global, with its size if it is a container, else its value."""
        spaces: list[tuple[str, Mapping[str, object]]] = [
            ("", {} if self._module is None else vars(self._module)),
            (f"{self._class.__name__}.", vars(self._class)),
        ]
        for prefix, space in spaces:
            for name, value in list(space.items()):
                if name.startswith("__"):
                    continue
                if isinstance(value, _CONTAINER_TYPES):
                    yield f"{prefix}{name}", len(value)
                elif isinstance(value, _VALUE_TYPES):
                    yield f"{prefix}{name}", value

    def record_state(self) -> None:
        """Record the global state before a decision, for `record_changes`."""
        self._previous_state = self._read_state()

    def record_changes(self) -> None:
        """Record which global state a decision has changed: random numbers and globals.

        The state is compared with that of `record_state`.
        """
        random_state, numpy_state, globals_ = self._previous_state
        new_random_state, new_numpy_state, new_globals = self._read_state()
        if new_random_state != random_state:
            self._random_module = "random"
        elif new_numpy_state != numpy_state:
            self._random_module = "numpy.random"
        changed_names = (name for name, value in new_globals.items() if globals_.get(name) != value)
        self._change_counts.update(changed_names)

    def hints(self) -> list[str]:
        """Return the hints about the file, each in one to three sentences."""
        changed = [
            variable
            for variable, change_count in self._change_counts.items()
            if change_count >= MIN_GLOBAL_CHANGES
        ]
        if not self._random_module and not changed:
            return []  # as after most decisions: parsing the file takes longer than they do
        file = getattr(self._module, "__file__", None)
        tree = _parse_source(file)
        name = "The strategy" if file is None else Path(file).name
        hints = [self._build_randomness_hint(name, tree)] if self._random_module else []
        if changed:
            line = next(_find_assignment_lines(tree, changed[0]), 0)
            location = f"{name}, line {line}" if line else name
            hints.append(
                f"{location}: the global {' and '.join(changed)} changes with the "
                "decisions. Another "
                "match or process starts without these changes, so decide from the position alone. "
                "A global cache is fine if the position alone determines its values."
            )
        return hints

    def _build_randomness_hint(self, name: str, tree: ast.Module) -> str:
        call, function, line = next(
            _find_calls(tree, self._random_module), (self._random_module, "", 0)
        )
        location = f"{name}, line {line}" if line else name
        replacement = f"self.rng.{function}" if function in dir(random.Random) else "self.rng"
        return (
            f"{location}: {call} draws from global random numbers, which a match's seed "
            "does not set. "
            f"Write {replacement}, the Random that __init__ gets: then the same seed plays the "
            "same match."
        )


def _read_numpy_state() -> object:
    numpy_random = sys.modules.get("numpy.random")
    if not isinstance(numpy_random, ModuleType):
        return None
    state = numpy_random.get_state(legacy=False)["state"]
    return state["key"].tobytes(), state["pos"]


@cache
def _parse_source(file: str | None) -> ast.Module:
    """Return the syntax tree of the file; empty if it cannot be read."""
    try:
        return ast.parse(Path(file).read_bytes() if file else b"")
    except (OSError, SyntaxError, ValueError):
        return ast.parse("")


def _find_calls(tree: ast.Module, module: str) -> Iterator[tuple[str, str, int]]:
    """Yield each call of a function of the module: source text, function name and line."""
    roots, functions = {module}, dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {alias.asname or alias.name for alias in node.names if alias.name == module}
            roots |= {f"{alias.asname}.random" for alias in node.names if alias.name == "numpy"}
        elif isinstance(node, ast.ImportFrom) and node.module == module:
            functions |= {alias.asname or alias.name: alias.name for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            text = ast.unparse(node.func)
            root, _, attribute = text.rpartition(".")
            function = attribute if root in roots else functions.get(text, "")
            if function and not function[0].isupper():  # as Random and SystemRandom
                yield text, function, node.lineno


def _find_assignment_lines(tree: ast.Module, name: str) -> Iterator[int]:
    """Yield the lines that assign a global of that name."""
    plain = name.rpartition(".")[2]
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == plain for target in targets):
                yield node.lineno
