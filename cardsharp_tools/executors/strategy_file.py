"""A user's own strategy: one Python file with one class, named as `@strategy("mine")` names it.

The file needs nothing else, and works unchanged when it is copied into the game's package of
strategies. It may import modules that lie beside it, and packages from the folder `packages` there.
"""

import importlib.util
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random

import cardsharp_tools
from cardsharp.core.text_files import describe_source_encoding_error, read_valid_json_text
from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game
from cardsharp.play.game import Game
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors import external_program, strategy_modules, submission
from cardsharp_tools.executors.decide_checks import check_decide
from cardsharp_tools.executors.strategy_process import (
    StrategyFileReport,
    is_registered_from_file,
    register_strategy_file,
    unique_strategy_name,
)
from cardsharp_tools.executors.strategy_reference import (
    Program,
    StrategyFile,
    StrategyReference,
    Submission,
    Weights,
)

PACKAGES_DIR = "packages"  # the folder beside a strategy file with packages of its own


def unknown_strategy_error(
    error: ConfigError, name: str, available_names: Sequence[str]
) -> ConfigError:
    """Return the error for an unknown strategy name, with the names that can be given instead."""
    if "/" in name:
        return ConfigError(f"There is no executable program {name}. Check the path.")
    near = get_close_matches(name, available_names, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return ConfigError(
        f"{error}{hint} Or give a strategy file (.py), a file that training wrote (.json), or a "
        "command in quotes such as 'node bot.js'."
    )


def register_strategy(reference: StrategyReference, strategy_game: Game | None = None) -> str:
    """Make a strategy ready to be built and return its name in the registry.

    A file is imported and a program is started. Without `strategy_game` the first game is used.
    Raises `ConfigError`, with what to do, if there is no such strategy or it cannot be used.
    """
    strategy_game = strategy_game or get_game(None)
    match reference:
        case Submission():
            return submission.register_submission(reference, strategy_game)
        case Program(command):
            return external_program.register_program(command, strategy_game)
        case Weights():
            return _register_trained_strategy(reference, strategy_game)
    name = str(reference)
    if isinstance(reference, StrategyFile):
        name = _load_strategy_info(reference, strategy_game).name
        if not _import_listeners:
            return name  # its process has checked it
    _check_can_decide(reference, name, strategy_game)
    return name


def _check_can_decide(reference: StrategyReference, name: str, game: Game) -> None:
    """Build a registered strategy once; raise `ConfigError`, with what to do, if that fails."""
    strategies = registry_for(game.strategy_package)
    try:
        strategy = strategies.build(name, Random(0))
    except ConfigError as error:
        raise unknown_strategy_error(error, name, strategies.names()) from None
    except (Exception, SystemExit) as error:
        path = Path(str(reference))
        location = _format_error_location(error, path.absolute())
        remedy = _suggest_fix(error, path) or (
            ". Its __init__ must take exactly one argument besides self: a Random, or in Euchre a "
            "stopwatch."
        )
        raise ConfigError(
            f"The strategy '{name}' cannot be created: {location} fails: "
            f"{_format_error(error)}{remedy}"
        ) from error
    check_decide(strategy, name)


def source_files(reference: StrategyReference, game: Game) -> tuple[Path, ...]:
    """Return the files that a player consists of: a strategy file with its modules, or a command's.

    A built-in strategy has none. Raises `ConfigError` if the file cannot be used.
    """
    match reference:
        case Submission():
            return submission.submission_files(reference)
        case Program():
            return reference.files
        case Weights():
            if not reference.path.exists():
                _register_trained_strategy(reference, game)  # says why it cannot be read
            return (reference.path,)
        case StrategyFile():
            return _load_strategy_info(reference, game).files
    return ()


def source_version(reference: StrategyReference, game: Game) -> str | None:
    """Return a hash of a user's files, or None for a built-in strategy.

    Raises `ConfigError` if the files cannot be read.
    """
    files = source_files(reference, game)
    if not files:
        return None
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


@cache
def _register_trained_strategy(reference: Weights, game: Game) -> str:
    """Register the strategy of a file that training wrote; return its name.

    The file is read only once.
    """
    name = reference.name
    if game.load_trained_strategy is None:
        raise ConfigError(
            f"{name} cannot play {game.title}: no strategy of that game is trained into a file."
        )
    try:
        player = game.load_trained_strategy.load()(read_valid_json_text(reference.path))
    except ConfigError:
        raise
    except Exception as error:
        error_text = _format_error(error).rstrip(".")
        raise ConfigError(
            f"{name} is not a file that training wrote, or it is damaged ({error_text})."
        ) from error
    registry_for(game.strategy_package).register_unlisted(name, lambda _rng: player)
    return name


_import_listeners: list[Callable[[Path], None]] = []


def enable_in_process_imports(on_import: Callable[[Path], None]) -> None:
    """Import strategy files in this process from now on; call `on_import` before each import."""
    _import_listeners[:] = [on_import]


def _load_strategy_info(reference: StrategyFile, game: Game) -> StrategyFileReport:
    """Return the strategy that a file registers, imported here or in a process of its own."""
    path = reference.path.absolute()
    if not path.is_file():
        raise ConfigError(f"There is no strategy file {path}. Check the path.")
    return (
        _import_strategy(path, game.strategy_package)
        if _import_listeners
        else register_strategy_file(path, game)
    )


@cache
def _import_strategy(path: Path, package: str) -> StrategyFileReport:
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
    if name in previous_factories and not is_registered_from_file(name, package):
        raise ConfigError(
            f"{path} uses the name '{name}' of a built-in strategy. Choose another name, such as "
            f'@strategy("my-{name}").'
        )
    registered_name = unique_strategy_name(name, path, package)
    if registered_name != name:
        registry.register_unlisted(registered_name, registry.factory(name))
        if name in previous_factories:
            registry.register(name)(previous_factories[name])
    return StrategyFileReport(name=registered_name, files=files)


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
            f"{_format_error(error)}{_suggest_fix(error, path)}"
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


def _format_error(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}".rstrip(": ")
