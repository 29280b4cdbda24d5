"""`cardsharp new`: a file to begin a strategy with."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.games import game as game_named
from cardsharp.games import games
from workbench.show.options import Json
from workbench.show.output import print_json, program, results
from workbench.strategy_file import SUFFIX, strategy_named

STARTER = "mine"
"""What every starter calls itself."""


def new(
    file: Annotated[Path, Parameter(help="Where to write it, such as mine.py.")],
    *,
    game: Annotated[
        str | None, Parameter(help="For which game; Dead Man's Draw if you do not say.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a short strategy that plays at once, with comments that say how to go on."""
    of = game_named(game)
    file = file if file.suffix else file.with_suffix(SUFFIX)
    text = _starter(of).replace(f'"{STARTER}"', f'"{_name(file)}"')
    text = text.replace(f"{STARTER}{SUFFIX}", shlex.quote(str(file)))
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError:
        raise ConfigError(f"{file} is there already; choose another name.") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from None
    name = strategy_named(str(file), of)
    if as_json:
        print_json({"file": str(file), "strategy": name, "game": of.name})
        return
    _print_next_steps(file, text.partition("Try it:\n\n")[2].partition('"""')[0])


def _starter(of: Game) -> str:
    """The text of the game's starter, which is a module that nobody imports."""
    spec = None if of.starter is None else find_spec(of.starter)
    if spec is None or spec.origin is None:
        there = ", ".join(one.name for one in games() if one.starter is not None)
        raise ConfigError(f"There is no starter for {of.title}; there is one for: {there}.")
    return Path(spec.origin).read_text("utf-8")


def _name(file: Path) -> str:
    """What the strategy is called: as its file, so that two files are two players."""
    if file.suffix != SUFFIX:
        raise ConfigError(f"{file} must end in {SUFFIX}: a strategy is a Python file.")
    name = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")
    if not name:
        raise ConfigError(f"{file} gives the strategy no name; use letters or digits.")
    return name


def _print_next_steps(file: Path, tries: str) -> None:
    """The commands of the starter, ready to be copied."""
    console = results()
    console.print(f"wrote {file}, a strategy that plays as it is. Try it, then change it:")
    console.print()
    for line in tries.splitlines():
        console.print(line.replace("cardsharp", program(), 1), style="dim", soft_wrap=True)
