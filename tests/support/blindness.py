"""What an import linter cannot see: builtins and foreign modules reached without an import.

`reached` reads a module's text and names every such way out. It is asked of what must be blind
(rules, positions, strategies); `loads_by_name` is asked of everything that is deployed.
"""

import ast
from collections.abc import Callable, Iterator

Source = Callable[[str], ast.Module | None]
"""The parsed text of one of our modules by its full name, None where none is called that."""

WAYS_OUT = frozenset((
    "__builtins__", "__import__", "breakpoint", "compile", "delattr", "eval", "exec", "getattr",
    "globals", "input", "locals", "open", "print", "setattr", "vars",
))  # fmt: skip
"""Builtins that reach files, other code or any name there is."""

_HARMLESS = frozenset({"__getitem__", "__init__", "__new__"})
"""What blind code asks of an object by its special name."""


def reached(module: ast.Module, source: Source) -> list[str]:
    """Every way out of a module, as `line: what`."""
    ours = dict(_modules_of_ours(module, source))
    found = [*_outright(module), *_borrowed(module, source)]
    for node in ast.walk(module):
        if not isinstance(node, ast.Attribute):
            continue
        special = node.attr.startswith("__") and node.attr.endswith("__")
        if special and node.attr not in _HARMLESS:
            found.append(f"{node.lineno}: .{node.attr}")
        owner = ours.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if owner is not None and node.attr in _imports_of(owner):
            found.append(f"{node.lineno}: .{node.attr}")
    return sorted(found)


def loads_by_name(module: ast.Module) -> list[str]:
    """Every place where a module loads one by a name that is worked out."""
    names = {"import_module", "__import__"}
    return [
        f"{node.lineno}: {name}"
        for node in ast.walk(module)
        for name in [getattr(node, "attr", getattr(node, "id", None))]
        if isinstance(node, ast.Attribute | ast.Name) and name in names
    ]


def _outright(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and node.id in WAYS_OUT:
            yield f"{node.lineno}: {node.id}"
        if isinstance(node, ast.Import):
            whole = (one.name for one in node.names if one.name.partition(".")[0] == "cardsharp")
            yield from (f"{node.lineno}: {name}" for name in whole)


def _borrowed(module: ast.Module, source: Source) -> Iterator[str]:
    """Names taken from a module of ours that has them from elsewhere only."""
    for node in ast.walk(module):
        owner = source(node.module or "") if isinstance(node, ast.ImportFrom) else None
        if owner is None or not isinstance(node, ast.ImportFrom):
            continue
        foreign = _imports_of(owner)
        yield from (f"{node.lineno}: {one.name}" for one in node.names if one.name in foreign)


def _modules_of_ours(module: ast.Module, source: Source) -> Iterator[tuple[str, ast.Module]]:
    """The names that stand for whole modules of ours."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            for one in node.names:
                found = source(f"{node.module}.{one.name}")
                if found is not None:
                    yield one.asname or one.name, found


def _imports_of(module: ast.Module) -> frozenset[str]:
    """The names by which a module knows whole modules: what `import` binds, not `from`."""
    return frozenset(
        (one.asname or one.name).partition(".")[0]
        for node in module.body
        if isinstance(node, ast.Import)
        for one in node.names
    )
