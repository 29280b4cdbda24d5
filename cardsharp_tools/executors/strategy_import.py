"""Import of a strategy file into this process, and the check that its strategy can be built.

Only processes that may die with a user's code import it: the worker of a strategy file, and the
lab's worker processes. Any other process asks `strategy_process`, which starts such a worker.
"""

import importlib.util
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

import cardsharp_tools
from cardsharp.core.text_files import describe_source_encoding_error
from cardsharp.errors import ConfigError
from cardsharp.play.game import Game
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors import strategy_modules
from cardsharp_tools.executors.decide_checks import check_decide

PACKAGES_DIR = "packages"  # the folder beside a strategy file with packages of its own


class ImportedStrategy(NamedTuple):
    """Strategy of an imported file: its name in the registry, and the files that it consists of."""

    name: str
    files: tuple[Path, ...]


_import_listeners: list[Callable[[Path], None]] = []


def enable_in_process_imports(on_import: Callable[[Path], None]) -> None:
    """Import strategy files in this process from now on; call `on_import` before each import."""
    _import_listeners[:] = [on_import]


def is_in_process_import_enabled() -> bool:
    """Return True if this process imports strategy files itself."""
    return bool(_import_listeners)


def import_strategy_file(path: Path, game: Game) -> ImportedStrategy:
    """Import a strategy file, given by its absolute path, and build its strategy once.

    Raises `ConfigError`, with what to do, if the file cannot be used.
    """
    imported = _import_strategy(path, game.strategy_package)
    _check_import(imported, path, game)
    return imported


@cache
def _check_import(imported: ImportedStrategy, path: Path, game: Game) -> None:
    """Check an import once: the lab asks for a file's strategy in each match."""
    check_can_build(imported.name, path, game)


def check_can_build(name: str, path: Path, game: Game) -> None:
    """Build a registered strategy once; raise `ConfigError`, with what to do, if that fails.

    `path` is the file of its code, so that the error names the line.
    """
    try:
        strategy = registry_for(game.strategy_package).build(name, Random(0))
    except ConfigError:  # it says itself what to do
        raise
    except (Exception, SystemExit) as error:
        location = _format_error_location(error, path)
        remedy = _suggest_fix(error, path) or (
            ". Its __init__ must take exactly one argument besides self: a Random, or in Euchre a "
            "stopwatch."
        )
        raise ConfigError(
            f"The strategy '{name}' cannot be created: {location} fails: "
            f"{format_error(error)}{remedy}"
        ) from error
    check_decide(strategy, name)


_paths_by_name: dict[tuple[str, str], Path] = {}  # which file has a name, by package of strategies


def unique_strategy_name(name: str, path: Path, package: str) -> str:
    """Return a name for the strategy of a file that no other file's strategy has.

    If another file has registered the name, as when a file was copied, the path is added to it.
    """
    if _paths_by_name.setdefault((package, name), path) == path:
        return name
    return f"{name} ({path.parent.name}/{path.name})"


@cache
def _import_strategy(path: Path, package: str) -> ImportedStrategy:
    """Import a file in this process and return the strategy that it registers."""
    registry = registry_for(package)
    previous_factories = {name: registry.factory(name) for name in registry.names()}
    files = _import_file(path, strategy_modules.module_name(path))
    new_names = [
        name
        for name in registry.names()
        if registry.factory(name) is not previous_factories.get(name)
    ]
    if not new_names:
        raise ConfigError(
            f'{path} registers no strategy. Write @strategy("mine") above its class '
            f"(from {package} import strategy)."
        )
    if len(new_names) > 1:
        raise ConfigError(
            f"{path} registers several strategies: {', '.join(new_names)}. Put each one into its "
            "own file."
        )
    [name] = new_names
    if name in previous_factories and (package, name) not in _paths_by_name:
        raise ConfigError(
            f"{path} uses the name '{name}' of a built-in strategy. Choose another name, such as "
            f'@strategy("my-{name}").'
        )
    registered_name = unique_strategy_name(name, path, package)
    if registered_name != name:
        registry.register_unlisted(registered_name, registry.factory(name))
        if name in previous_factories:
            registry.register(name)(previous_factories[name])
    return ImportedStrategy(name=registered_name, files=files)


def _import_file(path: Path, module_name: str) -> tuple[Path, ...]:
    """Import a file as a module of that name.

    Return the file, and the files of the modules in its folder that it imports.
    """
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} cannot be imported as Python.")
    module = importlib.util.module_from_spec(spec)
    for name in _sibling_modules:
        sys.modules.pop(name, None)
    _sibling_modules.clear()
    sys.modules[module_name] = module
    loaded_modules = set(sys.modules)
    # The folders of this file come before those of other strategy files, so that it finds its own
    # modules. All of them come after Python's own, so that no `random.py` hides the standard one.
    import_folders = (str(path.parent), str(path.parent / PACKAGES_DIR))
    sys.path[:] = [folder for folder in sys.path if folder not in _import_folders]
    _import_folders[:] = [
        *import_folders,
        *(folder for folder in _import_folders if folder not in import_folders),
    ]
    sys.path += _import_folders
    for listener in _import_listeners:
        listener(path)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        if unread := _describe_unreadable_source(error, path):
            raise ConfigError(unread) from error
        raise ConfigError(
            f"The strategy file {_format_error_location(error, path)} fails: "
            f"{format_error(error)}{_suggest_fix(error, path)}"
        ) from error
    siblings = dict(_find_modules_in(set(sys.modules) - loaded_modules, path.parent))
    _sibling_modules.update(siblings)
    return path, *siblings.values()


_import_folders: list[str] = []
_sibling_modules: dict[str, Path] = {}
"""Modules beside the strategy file that was imported last; the next import removes them.

So a module of the same name in another folder is imported anew, and a bot can play against its
older version. Until then the modules stay in `sys.modules`, because processes that a strategy
starts find its objects by the name of their module.
"""


def _find_modules_in(module_names: set[str], folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the names and files of the modules in the folder.

    The folder `packages` is left out, because packages with compiled code can be imported
    only once.
    """
    for name in sorted(module_names):
        file = getattr(sys.modules[name], "__file__", None)
        if file is None or Path(file).is_relative_to(folder / PACKAGES_DIR):
            continue
        if Path(file).is_relative_to(folder):
            yield name, Path(file)


def _format_error_location(error: BaseException, path: Path) -> str:
    """Return the file and, if available, the line that failed."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.lineno is not None:
        lines.append(error.lineno)
    return f"{path}, line {lines[-1]}," if lines else str(path)


def _describe_unreadable_source(error: BaseException, path: Path) -> str | None:
    """Return why a file cannot be read as Python source; None for any other error."""
    if not isinstance(error, SyntaxError | ValueError):
        return None
    error_path = error.filename if isinstance(error, SyntaxError) else None
    file = Path(error_path) if error_path and Path(error_path).is_file() else path
    fault = describe_source_encoding_error(file)
    return fault and f"The strategy file {file} cannot be read: {fault}."


def _suggest_fix(error: BaseException, path: Path) -> str:
    """Return what to change if a file is missing, or what to type if a package is missing."""
    if isinstance(error, SystemExit):
        return ". A strategy file is imported, so remove the code that ends the program"
    if isinstance(error, FileNotFoundError) and (path.parent / str(error.filename)).exists():
        return (
            ". That file is in the folder of the strategy file, not in the working folder. Write "
            f"Path(__file__).parent / {error.filename!r} (from pathlib import Path)"
        )
    if not isinstance(error, ModuleNotFoundError):
        return ""
    package, _, inner = str(error.name).partition(".")
    if package == cardsharp_tools.__name__:
        around = strategy_modules.__name__.split(".")[-2]
        return f": {strategy_modules.RELATIVE.format(inner.removeprefix(f'{around}.'))}"
    packages_folder = shlex.quote(str(path.parent / PACKAGES_DIR))
    pip = f"{sys.executable} -m pip install"
    if importlib.util.find_spec("pip") is None:  # as where uv has installed us
        pip = f"uv pip install --python {sys.executable}"
    return (
        f". Is it a package? Install it beside the file: {pip} --target {packages_folder} {package}"
    )


def format_error(error: BaseException) -> str:
    """Return the class of an error and its message."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}".rstrip(": ")
