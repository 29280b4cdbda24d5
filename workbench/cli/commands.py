"""The sub-commands by name: which module runs each, what `--help` says, and how one was meant.

The texts stand in tables (`commands.toml`) rather than in the modules so that `cardsharp --help`
imports none of them. A line is run to its exit code; what goes wrong is told in a sentence.
"""

import os
import re
import shlex
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import cyclopts
from cyclopts import Parameter

from cardsharp.cloud.redaction import redact
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games import games
from workbench.cli.settings_file import SettingsFile
from workbench.deadmansdraw.commands import COMMANDS as OF_THE_FIRST_GAME
from workbench.habits import take_hints
from workbench.show.command import Command, commands_in, mount
from workbench.show.exits import Exit, exit_for, exit_of
from workbench.show.loopback import direct_to_loopback
from workbench.show.machine_faults import machine_fault
from workbench.show.options import PASTED
from workbench.show.output import help_console, print_error, print_json, program
from workbench.show.streams import check_folder, drop_output, prepare_streams

SETTINGS = "cardsharp.toml"
"""A file in the current folder with options that need not be typed: a table a command."""

_NAMED = 3  # so many options are named that a lost word may belong to

ABOUT = "Bots that play card games, and an arena to play in on this machine."

EXIT_CODES = """\
Every command takes --help, and --json where a program could use what it says.
Exit codes: 0 it worked (a lost match did), 1 it failed,
2 wrong usage or settings, 3 no arena to be reached, 130 stopped with Ctrl-C,
143 by SIGTERM, 129 by SIGHUP."""


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
        version=lambda: import_module("importlib.metadata").version("cardsharp"),  # slow to import
        suppress_keyboard_interrupt=False,
        default_parameter=Parameter(negative=()),
        config=SettingsFile(SETTINGS, must_exist=False),
    )
    app["--help"].show = False
    app["--version"].show = False
    mount(app, all_commands())
    for place, (name, target, summary) in enumerate(rooms(), len(all_commands())):
        app.command(target, name=name, help=summary, sort_key=place)

    @app.command(sort_key=place + 1)
    def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
        """Print a script with which a shell completes commands and options.

        Write it into a file, which your shell reads when it is needed: for bash
        cardsharp in ~/.local/share/bash-completion/completions, for zsh _cardsharp in
        a folder of $fpath, for fish cardsharp.fish in ~/.config/fish/completions.
        """
        sys.stdout.write(app.generate_completion(prog_name="cardsharp", shell=shell))

    return app


def rooms() -> Iterator[tuple[str, str, str]]:
    """The lab, each game, and the folder of research where it is there."""
    yield from ROOMS
    for game in games():
        yield game.name, f"workbench.cli.games:{game.name}", game.about
    if find_spec(RESEARCH[0]):
        yield RESEARCH


def misused(error: cyclopts.CycloptsError) -> str:
    """What is wrong with a command line, and what it should have been."""
    error.verbose = False
    command = " ".join(("cardsharp", *(error.command_chain or ())))
    if isinstance(error, cyclopts.UnusedCliTokensError) and error.unused_tokens:
        word = error.unused_tokens[0]
        options = list(_options(error.app, word))[:_NAMED]
        meant = f" Is it for {' or '.join(options)}?" if options else ""
        return f"`{command}` has no place for '{word}'.{meant}"
    if isinstance(error, cyclopts.MissingArgumentError) and error.argument is not None:
        argument = _explained(error.app, error.argument)
        number, _ = argument.token_count()
        about = f" ({str(argument.parameter.help).rstrip('.')})" if argument.parameter.help else ""
        if argument.field_info.is_positional:
            return f"`{command}` needs {argument.name.lstrip('-').upper()}{about}."
        return f"{argument.name} needs {'a value' if number == 1 else f'{number} values'}{about}."
    return str(error)


def _explained(app: cyclopts.App | None, asked: cyclopts.Argument) -> cyclopts.Argument:
    """An argument with what its field's docstring says, which is not read to run a command."""
    known = () if app is None else app.assemble_argument_collection(parse_docstring=True)
    return next((one for one in known if one.name == asked.name), asked)


def _options(app: cyclopts.App | None, word: str) -> Iterator[str]:
    """The options of a command that take this word: of text, or any for a number."""
    for one in () if app is None else app.assemble_argument_collection():
        takes = word.isdigit() or "str" in str(one.hint)
        if takes and one.show and not one.field_info.is_positional and one.token_count()[0] == 1:
            yield one.name


_EXAMPLE = re.compile(r"(?m)^  (cardsharp .*)$((?:\n {4,}.*)*)")


def narrow_examples(app: cyclopts.App, given: Sequence[str]) -> None:
    """Have a sub-command's help show those examples of its group that are its own."""
    chain, apps, _ = app.parse_commands([word for word in given if word not in app.help_flags])
    group = next((one for one in apps[::-1] if one.help_epilogue), None)
    if len(chain) < 2 or group is None or group is apps[-1]:  # noqa: PLR2004 - a group's command
        return
    start = " ".join(("cardsharp", *chain, ""))
    every = _EXAMPLE.finditer(str(group.help_epilogue))
    own = [found.group() for found in every if f"{found[1]} ".startswith(start)]
    apps[-1].help_epilogue = "\n".join(("Examples:", *own)) if own else " "


def run(given: list[str]) -> int:
    """Run a command line; the exit code. With --json a fault is `{"error": ...}` as well."""
    try:
        prepare_streams()
        check_folder()
    except ConfigError as error:
        return _failed(str(error), Exit.USAGE, given)
    os.environ.update(direct_to_loopback())
    try:
        code = _run(given)
        for hint in take_hints():
            print_error(hint)
        with suppress(ValueError):  # a stream that whoever calls us has closed
            sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
        return Exit.OK
    except OSError as error:
        return _failed_outside(error, given)
    return code


def _run(given: list[str]) -> int:
    try:
        app = build_app()
        if not {"--help", "-h"}.isdisjoint(given):
            narrow_examples(app, given)
        code = app(
            [PASTED if word == "-" else word for word in given],  # it would be taken for an option
            console=help_console(),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except cyclopts.CycloptsError as error:
        command = " ".join(("cardsharp", *(error.command_chain or ())))
        return _failed(f"{misused(error)} Try `{command} --help`.", Exit.USAGE, given)
    except CardsharpError as error:
        return _failed(str(error), exit_for(error), given)
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # a terminal that was hung up
            print_error(f"stopped.{_how_to_go_on(given, stop)}")
        return exit_of(stop)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the end of the program
        return _failed_outside(error, given)
    return code if isinstance(code, int) else Exit.OK


GO_ON = (
    *("contest run", "contest practice", "ladder", "bot", "blef bot", "euchre bot", "versus"),
    *("blef versus", "euchre versus", "lesson", "research blef train"),
)
"""The commands that go on where they were stopped; so does a duel with a file for it."""


def _how_to_go_on(given: Sequence[str], stop: KeyboardInterrupt) -> str:
    """A sentence with the command that goes on, or begins again, which Ctrl-C knows by itself."""
    line, start = shlex.join([program(), *given]), " ".join((*given, ""))
    kept = "duel" in given and not {"--out", "--resume"}.isdisjoint(given)
    if kept or start.startswith(tuple(f"{one} " for one in GO_ON)):
        return f" To go on, type: {line}"
    return f" To begin again, type: {line}" if exit_of(stop) != Exit.INTERRUPTED else ""


def _failed(message: str, code: Exit, given: Sequence[str]) -> Exit:
    """Tell people, and the program that asked for JSON; the exit code."""
    print_error(message)
    if "--json" in given:
        print_json({"error": message})
    return code


def _failed_outside(error: Exception, given: Sequence[str]) -> Exit:
    """Tell of a fault of the machine's or, where it is none, of ours; the exit code."""
    message = machine_fault(error)
    if isinstance(error, OSError) and error.filename is None:  # perhaps of the output itself
        drop_output()
    if message is None:
        return _failed(keep_traceback(error), Exit.FAILED, given)
    return _failed(message, Exit.FAILED, given)


ADDRESS = "under Issues on the project's GitHub page"  # where faults are told


def keep_traceback(error: Exception) -> str:
    """One sentence about a bug of ours, which says where its traceback lies."""
    text = redact("".join(traceback.format_exception(error)))
    with tempfile.NamedTemporaryFile(
        "w", prefix="cardsharp-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
    return (
        f"This is a fault of Cardsharp itself ({type(error).__name__}). "
        f"Please report it {ADDRESS}, with {Path(file.name)}."
    )
