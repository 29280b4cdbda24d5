"""Strategies by their references: what `register_strategy` needs to make each one playable.

A strategy file of a user is imported in a process of its own, or in this one where that is enabled
(`strategy_import`).
"""

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from pathlib import Path

from cardsharp.core.text_files import read_valid_json_text
from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game
from cardsharp.play.game import Game
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors import external_program, strategy_import, submission
from cardsharp_tools.executors.strategy_process import register_strategy_file
from cardsharp_tools.executors.strategy_reference import (
    Program,
    StrategyFile,
    StrategyReference,
    Submission,
    Weights,
)


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
        case StrategyFile():
            return _load_strategy_file(reference, strategy_game).name
    name = str(reference)
    try:
        strategy_import.check_can_build(name, Path(name).absolute(), strategy_game)
    except ConfigError as error:
        strategy_names = registry_for(strategy_game.strategy_package).names()
        raise unknown_strategy_error(error, name, strategy_names) from None
    return name


def _load_strategy_file(reference: StrategyFile, game: Game) -> strategy_import.ImportedStrategy:
    """Return the strategy that a file registers, imported here or in a process of its own."""
    path = reference.path.absolute()
    if not path.is_file():
        raise ConfigError(f"There is no strategy file {path}. Check the path.")
    if strategy_import.is_in_process_import_enabled():
        return strategy_import.import_strategy_file(path, game)
    return register_strategy_file(path, game)


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
            return _load_strategy_file(reference, game).files
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
        error_text = strategy_import.format_error(error).rstrip(".")
        raise ConfigError(
            f"{name} is not a file that training wrote, or it is damaged ({error_text}). "
            "Train again, or give another file."
        ) from error
    registry_for(game.strategy_package).register_unlisted(name, lambda _rng: player)
    return name
