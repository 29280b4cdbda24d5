"""A user's own strategy: one Python file with one class, named as `@strategy("mine")` names it.

The file needs nothing else, and works unchanged when it is copied into the game's package of
strategies.
"""

import importlib.util
import sys
import traceback
from functools import cache
from pathlib import Path
from random import Random

from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.games import game
from cardsharp.registry import strategies_of

SUFFIX = ".py"


def strategy_named(name_or_file: str, of: Game | None = None) -> str:
    """The name of a strategy that can be built now; a file is imported first.

    It is one of the first game's, where no game is given.

    Raises:
        ConfigError: there is no such strategy, or the file cannot be used; it says what to do.
    """
    is_file = name_or_file.endswith(SUFFIX)
    package = (of or game(None)).strategies
    name = _load(Path(name_or_file).absolute(), package) if is_file else name_or_file
    try:
        strategy = strategies_of(package).build(name, Random(0))
    except ConfigError as error:
        raise ConfigError(f"{error} Or give a file whose name ends in .py.") from None
    except Exception as error:
        raise ConfigError(
            f"The strategy '{name}' cannot be made: {_said(error)}; "
            "its __init__ takes a Random besides self."
        ) from error
    if not callable(getattr(strategy, "decide", None)):
        raise ConfigError(f"The strategy '{name}' has no method decide(self, position); add it.")
    return name


@cache
def _load(path: Path, package: str) -> str:
    """The name under which the strategy of a file was registered."""
    if not path.is_file():
        raise ConfigError(f"There is no strategy file {path}; check the path.")
    module_name = f"cardsharp_strategy_{path.stem}"
    registry = strategies_of(package)
    before = set(registry.names())
    _import(path, module_name)
    new = sorted(set(registry.names()) - before)
    if len(new) == 1:
        return new[0]
    if new:
        raise ConfigError(f"{path} registers {', '.join(new)}; put each strategy in its own file.")
    taken = [name for name in registry.names() if registry.maker(name).__module__ == module_name]
    if taken:
        raise ConfigError(f"{path} takes the name '{taken[0]}', which another strategy has.")
    raise ConfigError(
        f'{path} registers no strategy; write @strategy("mine") above its class '
        f"(from {package} import strategy)."
    )


def _import(path: Path, module_name: str) -> None:
    """Import the file at `path` as a module of that name."""
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} cannot be imported as Python.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[module_name]
        raise ConfigError(
            f"The strategy file {_place(error, path)} fails: {_said(error)}"
        ) from error


def _place(error: Exception, path: Path) -> str:
    """The file, and the line of it that failed where that is known."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    if isinstance(error, SyntaxError):
        lines.append(error.lineno)
    return f"{path}, line {lines[-1]}," if lines else str(path)


def _said(error: Exception) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}".rstrip(": ")
