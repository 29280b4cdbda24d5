"""`cardsharp new`: a file to begin a strategy with."""

import inspect
import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from cardsharp.errors import ConfigError
from cardsharp.play.catalog import all_games
from cardsharp.play.catalog import get_game as game_named
from cardsharp.play.game import Game
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.cli.console import print_command, print_json, result_console, write_file
from cardsharp_tools.cli.options import Json
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import (
    SUFFIX,
    Program,
    StrategyFile,
    StrategyReference,
    parse_strategy,
)
from cardsharp_tools.project_files import PROJECT_ROOT

DEFAULT_FILE_STEM = "mine"  # what every starter calls itself
PROGRAM_STARTERS = (
    PROJECT_ROOT / "starters" / "programs"
)  # a folder a game, with a starter a language


def new(
    file: Annotated[Path, Parameter(help="The file to create, such as mine.py or mine.js.")],
    *,
    game: Annotated[str | None, Parameter(help="The game. Default: Dead Man's Draw.")] = None,
    template: Annotated[
        str | None, Parameter(help="Begin with a copy of this strategy, such as rule.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a short, complete strategy with comments that explain it."""
    of = game_named(game)
    file = file if file.suffix else file.with_suffix(SUFFIX)
    if template is None:
        starter = _find_starter(of, file)
    else:  # where it is alone in its file
        starter = Path(inspect.getfile(registry_for(of.strategy_package).factory(template)))
        if file.suffix != SUFFIX or starter.read_text("utf-8").count("\n@strategy(") != 1:
            message = (
                f"{file} cannot be a copy of '{template}'. Remove --template, or name another "
                "strategy."
            )
            raise ConfigError(message)
    text = starter.read_text("utf-8").replace(
        f'"{template or DEFAULT_FILE_STEM}"', f'"{_strategy_name(file)}"'
    )
    text = text.replace(f"{DEFAULT_FILE_STEM}{SUFFIX}", shlex.quote(str(file)))
    text = text.replace(starter.name, shlex.quote(str(file)))
    text = text.replace("THE-GAME", of.name).replace(
        "THE-FOLDER", of.strategy_package.rpartition(".")[0]
    )
    write_file(file, text, "x")
    tries = [line.lstrip("/ ") for line in text.splitlines() if _COMMAND_PATTERN.match(line)]
    player: StrategyReference = StrategyFile(str(file))
    if file.suffix != SUFFIX:  # a program, as the first command has it
        quoted = map(parse_strategy, re.findall('"([^"]+)"', tries[0]))
        player = next(strategy for strategy in quoted if isinstance(strategy, Program))
    name = register_strategy(player, of)
    if as_json:
        print_json({"file": str(file), "strategy": name, "game": of.name})
        return
    console = result_console()
    console.print(f"Created {file}, a strategy that can play already. Try it, then change it:")
    console.print()
    lines = [line.removeprefix("cardsharp ").partition("#")[::2] for line in tries]
    width = max(len(command.rstrip()) for command, _ in lines)
    for command, about in lines:
        print_command(f"{command.rstrip():{width}}  #{about}")


_COMMAND_PATTERN = re.compile("[/ ]+cardsharp ")  # a line of a starter that is a command to try it


def _find_starter(of: Game, file: Path) -> Path:
    """Return the game's starter in the language of the file's suffix."""
    programs = {path.suffix: path for path in sorted((PROGRAM_STARTERS / of.name).glob("*"))}
    if file.suffix in programs:
        return programs[file.suffix]
    if file.suffix != SUFFIX:
        suffixes = " or ".join((SUFFIX, *programs))
        raise ConfigError(
            f"For {of.title} the name {file} must end in {suffixes}. docs/programs.md explains how "
            "a program in any other language plays."
        )
    spec = None if of.starter_module is None else find_spec(of.starter_module)
    if spec is None or spec.origin is None:
        game_names = ", ".join(game.name for game in all_games() if game.starter_module is not None)
        raise ConfigError(f"There is no template for {of.title}. There is one for: {game_names}.")
    return Path(spec.origin)


def _strategy_name(file: Path) -> str:
    """Return the strategy's name, made from the file's name.

    So the strategies of two files are two players.
    """
    name = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")
    if not name:
        raise ConfigError(
            f"The name of {file} has no letter or digit to name the strategy after. Choose another."
        )
    return name
