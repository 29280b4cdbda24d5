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
from cardsharp.core.text_files import read_json_text, source_fault
from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game
from cardsharp.play.game import Game
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors import external_program, strategy_modules, submission
from cardsharp_tools.executors.decide_checks import check_decide
from cardsharp_tools.executors.strategy_process import (
    StrategyFileInfo,
    is_registered_from_file,
    load_strategy_file,
    unique_name,
)
from cardsharp_tools.executors.submission import is_submission

SUFFIX = ".py"

WEIGHTS_SUFFIX = ".json"  # what the name of a file ends in that training wrote


PACKAGES_DIR = "packages"  # the folder beside a strategy file with packages of its own


def is_file(name: str) -> bool:
    """Return True if a player is named by a strategy file or by a file that training wrote."""
    return name.endswith((SUFFIX, WEIGHTS_SUFFIX)) and not external_program.is_program(name)


def is_weights_file(name: str) -> bool:
    """Return True if a player is named by a file that training wrote."""
    return name.endswith(WEIGHTS_SUFFIX) and is_file(name)


def display_name(name: str) -> str:
    """Return the display name of a player: a file without its folders."""
    if is_submission(name):
        return "its submission"
    return Path(name).name if is_file(name) else name


def with_absolute_paths(name: str) -> str:
    """The same player's name wherever it is read: files in it have their whole paths."""
    if is_file(name):
        return str(Path(name).absolute())
    return external_program.with_absolute_paths(name) if external_program.is_program(name) else name


def is_user_strategy(name: str) -> bool:
    """Return True if a player is named by a user's file or program, not by a strategy's name."""
    return is_file(name) or external_program.is_program(name) or is_submission(name)


def unknown_strategy_error(
    error: ConfigError, name: str, available_names: Sequence[str]
) -> ConfigError:
    """The error of a name that no strategy has, with what may be given in its place."""
    if "/" in name:
        return ConfigError(f"There is no program {name} that can be run; check the path.")
    near = get_close_matches(name, available_names, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return ConfigError(
        f"{error}{hint} Or give a file whose name ends in .py, one that training wrote (.json), "
        "or a command in quotes such as 'node bot.js'."
    )


def load_strategy(name_or_file: str, strategy_game: Game | None = None) -> str:
    """The name of a strategy that can be built now; a file is imported, a program started first.

    It is one of the first game's, where no game is given. Raises `ConfigError` if there is no such
    strategy, or the file cannot be used; it says what to do.
    """
    strategy_game, name = strategy_game or get_game(None), name_or_file
    for is_such, loader in (
        (is_submission, submission.load_submission),
        (external_program.is_program, external_program.load_program),
        (is_weights_file, _admit_trained),
    ):
        if is_such(name):
            return loader(name, strategy_game)
    if is_file(name):
        name = _strategy_info(Path(name).absolute(), strategy_game).name
        if not _listeners:
            return name
    strategies = registry_for(strategy_game.strategy_package)
    try:
        strategy = strategies.build(name, Random(0))
    except ConfigError as error:
        raise unknown_strategy_error(error, name, strategies.names()) from None
    except (Exception, SystemExit) as error:
        place = _place(error, Path(name_or_file).absolute())
        remedy = _remedy(error, Path(name_or_file)) or (
            "; its __init__ takes one thing besides self, a Random or in Euchre a stopwatch."
        )
        raise ConfigError(
            f"The strategy '{name}' cannot be made: {place} fails: {_error_text(error)}{remedy}"
        ) from error
    check_decide(strategy, name)
    return name


def source_files(name_or_file: str, game: Game) -> tuple[Path, ...]:
    """A file with its modules, or those a command names; none for a name; raises `ConfigError`."""
    if is_submission(name_or_file):
        return submission.submission_files(name_or_file)
    if external_program.is_program(name_or_file):
        return external_program.command_files(name_or_file)
    if is_weights_file(name_or_file):
        file = Path(name_or_file)
        if not file.exists():
            _admit_trained(name_or_file, game)  # says why it cannot be read
        return (file,)
    if not is_file(name_or_file):
        return ()
    return _strategy_info(Path(name_or_file).absolute(), game).files


def source_version(name_or_file: str, game: Game) -> str | None:
    """A word that changes as a user's files do; None for one of ours; raises `ConfigError`."""
    files = source_files(name_or_file, game)
    if not files:
        return None
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


@cache
def _admit_trained(name: str, of: Game) -> str:
    """The file's name as that of a strategy that can be built now: its weights are read once."""
    if of.load_trained_strategy is None:
        raise ConfigError(f"No player of {of.title} is trained into a file; {name} cannot play it.")
    try:
        player = of.load_trained_strategy.load()(read_json_text(Path(name)))
    except ConfigError:
        raise
    except Exception as error:
        error_text = _error_text(error).rstrip(".")
        raise ConfigError(f"{name} is no file that training wrote ({error_text}).") from error
    registry_for(of.strategy_package).register_external(name, lambda _rng: player)
    return name


_listeners: list[Callable[[Path], None]] = []


def import_in_this_process(on_import: Callable[[Path], None]) -> None:
    """From now on strategy files are imported here, after the listener has heard of each."""
    _listeners[:] = [on_import]


def _strategy_info(path: Path, of: Game) -> StrategyFileInfo:
    """The strategy that a file registers."""
    if not path.is_file():
        raise ConfigError(f"There is no strategy file {path}; check the path.")
    return _load(path, of.strategy_package) if _listeners else load_strategy_file(path, of)


@cache
def _load(path: Path, package: str) -> StrategyFileInfo:
    """The strategy that a file registers here."""
    registry = registry_for(package)
    previous_factories = {name: registry.factory(name) for name in registry.names()}
    files = _import(path, strategy_modules.name_of(path))
    new_names = [
        name
        for name in registry.names()
        if registry.factory(name) is not previous_factories.get(name)
    ]
    if not new_names:
        raise ConfigError(
            f'{path} registers no strategy; write @strategy("mine") above its class '
            f"(from {package} import strategy)."
        )
    if len(new_names) > 1:
        raise ConfigError(
            f"{path} registers {', '.join(new_names)}; put each strategy in its own file."
        )
    [name] = new_names
    if name in previous_factories and not is_registered_from_file(name, package):
        raise ConfigError(
            f"{path} takes the name '{name}', which a strategy of ours has; choose another, "
            f'such as @strategy("my-{name}").'
        )
    registered_name = unique_name(name, path, package)
    if registered_name != name:
        registry.register_external(registered_name, registry.factory(name))
        if name in previous_factories:
            registry.register(name)(previous_factories[name])
    return StrategyFileInfo(name=registered_name, files=files)


def _import(path: Path, module_name: str) -> tuple[Path, ...]:
    """Import the file at `path` as a module of that name; it, and its own modules beside it."""
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} cannot be imported as Python.")
    module = importlib.util.module_from_spec(spec)
    for name in _sibling_modules:
        sys.modules.pop(name, None)
    _sibling_modules.clear()
    sys.modules[module_name] = module
    loaded_modules = set(sys.modules)
    # These first of all strategy files' folders, but all of them last: none hides Python's own.
    import_folders = (str(path.parent), str(path.parent / PACKAGES_DIR))
    sys.path[:] = [place for place in sys.path if place not in _folders]
    _folders[:] = [*import_folders, *(place for place in _folders if place not in import_folders)]
    sys.path += _folders
    for listener in _listeners:
        listener(path)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        if unread := _unread(error, path):
            raise ConfigError(unread) from error
        raise ConfigError(
            f"The strategy file {_place(error, path)} fails: "
            f"{_error_text(error)}{_remedy(error, path)}"
        ) from error
    siblings = dict(_modules_in(set(sys.modules) - loaded_modules, path.parent))
    _sibling_modules.update(siblings)
    return path, *siblings.values()


_folders: list[str] = []
_sibling_modules: dict[str, Path] = {}
"""The modules beside the file that was imported last, which are imported anew by the next one.

So the same name in another folder is another module: a bot can play its older version. Until then
they are found by their names, as what a strategy gives to processes of its own must be.
"""


def _modules_in(names: set[str], folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield those modules that lie in the folder, with their files.

    Packages are none of them, for those with compiled code can be imported only once.
    """
    for name in sorted(names):
        file = getattr(sys.modules[name], "__file__", None)
        if file is None or Path(file).is_relative_to(folder / PACKAGES_DIR):
            continue
        if Path(file).is_relative_to(folder):
            yield name, Path(file)


def _place(error: BaseException, path: Path) -> str:
    """The file, and the line of it that failed where that is known."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.lineno is not None:
        lines.append(error.lineno)
    return f"{path}, line {lines[-1]}," if lines else str(path)


def _unread(error: BaseException, path: Path) -> str | None:
    """Say that a file cannot be read as Python's text; None where something else failed."""
    if not isinstance(error, SyntaxError | ValueError):
        return None
    error_path = error.filename if isinstance(error, SyntaxError) else None
    file = Path(error_path) if error_path and Path(error_path).is_file() else path
    fault = source_fault(file)
    return fault and f"The strategy file {file} cannot be read: {fault}."


def _remedy(error: BaseException, path: Path) -> str:
    """Return what to write if a file is not found, or what to type if a package is missing."""
    if isinstance(error, SystemExit):
        return "; a strategy file is imported, so leave out what ends the program"
    if isinstance(error, FileNotFoundError) and (path.parent / str(error.filename)).exists():
        return (
            ". It lies beside the strategy file, which may be played from any folder: write "
            f"Path(__file__).parent / {error.filename!r} (from pathlib import Path)"
        )
    if not isinstance(error, ModuleNotFoundError):
        return ""
    package, _, inner = str(error.name).partition(".")
    if package == cardsharp_tools.__name__:
        around = strategy_modules.__name__.split(".")[-2]
        return f": {strategy_modules.RELATIVE.format(inner.removeprefix(f'{around}.'))}"
    place = shlex.quote(str(path.parent / PACKAGES_DIR))
    pip = f"{sys.executable} -m pip install"
    if importlib.util.find_spec("pip") is None:  # as where uv has installed us
        pip = f"uv pip install --python {sys.executable}"
    return f". Is it a package? Install it beside the file: {pip} --target {place} {package}"


def _error_text(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}".rstrip(": ")
