"""The sub-commands by name: which module runs each, and what `--help` says.

The texts stand in tables (`commands.toml`) rather than in the modules so that `cardsharp --help`
imports none of them.
"""

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import cyclopts
from cyclopts import Parameter

from cardsharp.games import games
from workbench.cli.usage import SETTINGS
from workbench.deadmansdraw.commands import COMMANDS as OF_THE_FIRST_GAME
from workbench.show.command import Command, commands_in, mount

ABOUT = "Bots that play card games, and an arena to play in on this machine."

EXIT_CODES = """\
Every command takes --help, and --json where a program could use what it says.
Exit codes: 0 it worked (a lost match did), 1 it failed,
2 wrong usage or settings, 3 no arena to be reached, 130 stopped with Ctrl-C."""


COMMANDS = commands_in(Path(__file__).with_suffix(".toml"))

ORDER = (
    "play new ladder versus lesson strategies matches show watch why analyse stats learn try "
    "export arena contest bot practice doctor cloud cost"
)
"""The sub-commands as they are listed."""

ROOMS = (("lab", "workbench.lab.commands:app", "Measure strategies: duels, leagues, probes."),)
"""Commands that have commands of their own; each is an `App` that brings its help along."""

RESEARCH = ("research", "research.commands:app", "Train strategies, and solve what can be solved.")
"""The same for the folder `research/`, without which everything else works."""


def all_commands() -> tuple[Command, ...]:
    """Every sub-command in the order of the list, those of the first game among them."""
    found = {one.name: one for one in (*COMMANDS, *OF_THE_FIRST_GAME)}
    return tuple(found[name] for name in ORDER.split())


def command(name: str) -> Command:
    """The sub-command of that name."""
    return next(one for one in COMMANDS if one.name == name)


def build_app() -> cyclopts.App:
    """The command line; a command's module is imported when it is called."""
    app = cyclopts.App(
        name="cardsharp",
        help=ABOUT,
        help_format="plaintext",
        help_epilogue=EXIT_CODES,
        version=_version,
        suppress_keyboard_interrupt=False,
        default_parameter=Parameter(negative=()),
        config=cyclopts.config.Toml(SETTINGS, must_exist=False),
    )
    app["--help"].show = False
    app["--version"].show = False
    mount(app, all_commands())
    for place, (name, target, summary) in enumerate(rooms(), len(all_commands())):
        app.command(target, name=name, help=summary, sort_key=place)
    app.command(_completion(app), name="completion", sort_key=place + 1)
    return app


def _completion(app: cyclopts.App) -> Callable[[Literal["bash", "zsh", "fish"]], None]:
    def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
        """Print a script with which a shell completes commands and options.

        Write it into a file, which your shell reads when it is needed: for bash
        cardsharp in ~/.local/share/bash-completion/completions, for zsh _cardsharp in
        a folder of $fpath, for fish cardsharp.fish in ~/.config/fish/completions.
        """
        sys.stdout.write(app.generate_completion(prog_name="cardsharp", shell=shell))

    return completion


def _version() -> str:
    """Our version, read only where it is asked for."""
    from importlib.metadata import version  # noqa: PLC0415 - slow to import

    return version("cardsharp")


def rooms() -> Iterator[tuple[str, str, str]]:
    """The lab, each game, and the folder of research where it is there."""
    yield from ROOMS
    for game in games():
        yield game.name, f"workbench.cli.games:{game.name}", game.about
    if find_spec(RESEARCH[0]):
        yield RESEARCH
