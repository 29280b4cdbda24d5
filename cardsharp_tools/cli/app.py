"""The sub-commands by name: the module that runs each, its help, and hints for a wrong line.

The texts are in tables (`commands.toml`) rather than in the modules, so that `cardsharp
--help` imports none of the modules. A command line is run to its exit code; an error is
reported in a sentence.
"""

import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import cyclopts
from cyclopts import Parameter

from cardsharp.core.redaction import redact
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.play.catalog import all_games
from cardsharp_tools.cli.command_table import Command, load_command_table, register_commands
from cardsharp_tools.cli.console import (
    help_console,
    print_error,
    print_json,
    print_notice,
    program_command,
)
from cardsharp_tools.cli.exit_codes import ExitCode, error_exit_code, interrupt_exit_code
from cardsharp_tools.cli.options import STDIN_PATH
from cardsharp_tools.cli.renamed import END_OF_RELEASE, Renames
from cardsharp_tools.executors.strategy_hints import take_hints
from cardsharp_tools.games.deadmansdraw.commands import COMMANDS as OF_THE_FIRST_GAME
from cardsharp_tools.loopback import loopback_environment
from cardsharp_tools.terminal.machine_faults import describe_machine_fault
from cardsharp_tools.terminal.streams import (
    check_working_folder,
    discard_pending_output,
    prepare_streams,
)

if TYPE_CHECKING:
    from cardsharp_tools.cli.settings_file import SettingsFile  # slow to import, and rarely used

SETTINGS_FILE = "cardsharp.toml"
"""A file in the current folder with options that need not be typed: a table a command."""

_MAX_SUGGESTIONS = 3  # so many options are named that a lost word may belong to

ABOUT = "Play card games, write bots that play them, and run arenas and contests."

EXIT_CODES = """\
Every command takes --help. Commands with results for programs take --json.
Exit codes: 0 success, also if a match was lost; 1 failure; 2 wrong usage or
settings; 3 the arena cannot be reached; 130 stopped with Ctrl-C, 143 stopped
by SIGTERM, 129 by SIGHUP."""


COMMANDS = load_command_table(Path(__file__).with_name("commands.toml"))

COMMAND_ORDER = (
    "play new ladder versus lesson strategies matches show watch why analyse stats "
    "backtest export arena contest bot practice doctor cloud cost"
)
"""The sub-commands as they are listed."""

COMMAND_GROUPS = (
    (
        "lab",
        "cardsharp_tools.lab.commands:app",
        "Measure strategies: duels, round robins, ratings.",
    ),
)
"""Commands that have commands of their own; each is an `App` that brings its help along."""

RESEARCH = (
    "research",
    "cardsharp_tools.research.commands:app",
    "Train strategies, solve small games, and measure what is missing.",
)
"""The same for the folder `cardsharp_tools/research/`, without which everything else works."""


def all_commands() -> tuple[Command, ...]:
    """Return all top-level commands, also those of the first game, in the order of the help."""
    commands_by_name = {command.name: command for command in (*COMMANDS, *OF_THE_FIRST_GAME)}
    return tuple(commands_by_name[name] for name in COMMAND_ORDER.split())


def find_command(name: str) -> Command:
    """Return the top-level command of that name."""
    return next(command for command in COMMANDS if command.name == name)


def build_app() -> cyclopts.App:
    """Build the command line; the module of a command is imported when the command is called."""
    app = cyclopts.App(
        name="cardsharp",
        help=ABOUT,
        help_format="plaintext",
        help_epilogue=EXIT_CODES,
        version=lambda: import_module("importlib.metadata").version("cardsharp"),  # slow to import
        suppress_keyboard_interrupt=False,
        default_parameter=Parameter(negative=()),
        config=_settings_files(),
    )
    app["--help"].show = False
    app["--version"].show = False
    register_commands(app, all_commands())
    for sort_key, (name, target, summary) in enumerate(command_groups(), len(all_commands())):
        app.command(target, name=name, help=summary, sort_key=sort_key)

    @app.command(sort_key=sort_key + 1)
    def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
        """Print a script that lets your shell complete commands and options.

        Write the output into a file that your shell reads. For bash this is cardsharp
        in ~/.local/share/bash-completion/completions, for zsh _cardsharp in a folder
        of $fpath, for fish cardsharp.fish in ~/.config/fish/completions.

        Example: cardsharp completion fish > ~/.config/fish/completions/cardsharp.fish
        """
        sys.stdout.write(app.generate_completion(prog_name="cardsharp", shell=shell))

    return app


def _settings_files() -> "list[SettingsFile]":
    """Return the settings file of the current folder, if there is one."""
    if not Path(SETTINGS_FILE).exists():
        return []
    from cardsharp_tools.cli.settings_file import SettingsFile  # noqa: PLC0415 - slow to import

    return [SettingsFile(SETTINGS_FILE)]


def command_groups() -> Iterator[tuple[str, str, str]]:
    """Yield name, target and help of each group: the lab, the games and, if present, research."""
    yield from COMMAND_GROUPS
    for game in all_games():
        yield game.name, f"cardsharp_tools.cli.game_commands:{game.name}", game.summary
    if find_spec("cardsharp_tools.research"):
        yield RESEARCH


def usage_error_text(error: cyclopts.CycloptsError) -> str:
    """Return a message that explains a wrong command line and suggests a correction."""
    error.verbose = False
    command = " ".join(("cardsharp", *(error.command_chain or ())))
    if isinstance(error, cyclopts.UnknownCommandError) and error.app is not None:
        return _unknown_command_text(error.app, command, (error.unused_tokens or [""])[0])
    if isinstance(error, cyclopts.UnusedCliTokensError) and error.unused_tokens:
        token = error.unused_tokens[0]
        options = list(_iter_possible_options(error.app, token))[:_MAX_SUGGESTIONS]
        suggestion = f" Did you mean {' or '.join(options)}?" if options else ""
        return f"`{command}` takes no argument '{token}'.{suggestion}"
    if isinstance(error, cyclopts.MissingArgumentError) and error.argument is not None:
        argument = _add_docstring_help(error.app, error.argument)
        value_count, _ = argument.token_count()
        about = f" ({str(argument.parameter.help).rstrip('.')})" if argument.parameter.help else ""
        if argument.field_info.is_positional:
            return f"`{command}` needs {argument.name.lstrip('-').upper()}{about}."
        needed = "a value" if value_count == 1 else f"{value_count} values"
        return f"{argument.name} needs {needed}{about}."
    return str(error)


def _unknown_command_text(app: cyclopts.App, command: str, token: str) -> str:
    """Return a message about a wrong command; it imports the module of no command."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, and rarely used

    names = [name for name in app if not name.startswith("-")]
    matches = get_close_matches(token, names, _MAX_SUGGESTIONS)
    if matches:
        suggestion = " or ".join(f'"{name}"' for name in matches)
        return f"`{command}` has no command '{token}'. Did you mean {suggestion}?"
    return f"`{command}` has no command '{token}'. Its commands are {', '.join(names)}."


def _add_docstring_help(app: cyclopts.App | None, argument: cyclopts.Argument) -> cyclopts.Argument:
    """Return the argument with the help from its field's docstring.

    Docstrings are not parsed to run a command.
    """
    documented_arguments = (
        () if app is None else app.assemble_argument_collection(parse_docstring=True)
    )
    return next(
        (candidate for candidate in documented_arguments if candidate.name == argument.name),
        argument,
    )


def _iter_possible_options(app: cyclopts.App | None, token: str) -> Iterator[str]:
    """Yield the options of a command that take a word as their value.

    These are the options with text; for a number they are all options.
    """
    for argument in () if app is None else app.assemble_argument_collection():
        takes = token.isdigit() or "str" in str(argument.hint)
        if (
            takes
            and argument.show
            and not argument.field_info.is_positional
            and argument.token_count()[0] == 1
        ):
            yield argument.name


_EXAMPLE_PATTERN = re.compile(r"(?m)^  (cardsharp .*)$((?:\n {4,}.*)*)")


def narrow_examples(app: cyclopts.App, arguments: Sequence[str]) -> None:
    """Limit the examples in a sub-command's help to those of this sub-command."""
    chain, apps, _ = app.parse_commands(
        [argument for argument in arguments if argument not in app.help_flags]
    )
    group = next((candidate for candidate in apps[::-1] if candidate.help_epilogue), None)
    if len(chain) < 2 or group is None or group is apps[-1]:  # noqa: PLR2004 - a group's command
        return
    # The first game's commands have their examples without its name, which may be left out.
    starts = tuple(" ".join(("cardsharp", *names, "")) for names in (chain, chain[1:]))
    every = _EXAMPLE_PATTERN.finditer(str(group.help_epilogue))
    examples = [match.group() for match in every if f"{match[1]} ".startswith(starts)]
    apps[-1].help_epilogue = "\n".join(("Examples:", *examples)) if examples else " "


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code. With --json an error is `{"error": ...}` too."""
    try:
        prepare_streams()
        check_working_folder()
    except ConfigError as error:
        return _report_failure(str(error), ExitCode.USAGE, arguments)
    os.environ.update(loopback_environment())
    arguments = _current_arguments(arguments)
    try:
        exit_code = _run_app(arguments)
        for hint in take_hints():
            print_error(hint)
        with suppress(ValueError):  # a stream that whoever calls us has closed
            sys.stdout.flush()
    except BrokenPipeError:
        discard_pending_output()
        return ExitCode.OK
    except OSError as error:
        return _report_unexpected_error(error, arguments)
    return exit_code


def _current_arguments(arguments: list[str]) -> list[str]:
    """Return the command line in its new spelling; print on stderr which names are old."""
    current = Renames.load().current_arguments(arguments)
    for old_argument, new_argument in zip(arguments, current, strict=True):
        if old_argument != new_argument:
            old_name, new_name = old_argument.partition("=")[0], new_argument.partition("=")[0]
            print_notice(
                f"{old_name} is now called {new_name}. Version {END_OF_RELEASE} drops the old name."
            )
    return current


def _run_app(arguments: list[str]) -> int:
    try:
        app = build_app()
        if not {"--help", "-h"}.isdisjoint(arguments):
            narrow_examples(app, arguments)
        result = app(
            [
                STDIN_PATH if argument == "-" else argument for argument in arguments
            ],  # it would be taken for an option
            console=help_console(),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except cyclopts.CycloptsError as error:
        command = " ".join(("cardsharp", *(error.command_chain or ())))
        return _report_failure(
            f"{usage_error_text(error)} Try `{command} --help`.", ExitCode.USAGE, arguments
        )
    except CardsharpError as error:
        return _report_failure(str(error), error_exit_code(error), arguments)
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # a terminal that was hung up
            print_error(f"Stopped.{_resume_hint(arguments, stop)}")
        return interrupt_exit_code(stop)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the end of the program
        return _report_unexpected_error(error, arguments)
    return result if isinstance(result, int) else ExitCode.OK


GO_ON = (
    *("contest run", "contest practice", "ladder", "bot", "blef bot", "euchre bot", "versus"),
    *("blef versus", "euchre versus", "lesson", "research blef train"),
)
"""The commands that go on where they were stopped; so does a duel with a file for it."""


def _resume_hint(arguments: Sequence[str], stop: KeyboardInterrupt) -> str:
    """Return a sentence with the command that continues, or starts again.

    A person who stopped a command by Ctrl-C knows how to start it again.
    """
    line, start = shlex.join([program_command(), *arguments]), " ".join((*arguments, ""))
    has_run_file = "duel" in arguments and not {"--out", "--resume"}.isdisjoint(arguments)
    if has_run_file or start.startswith(tuple(f"{prefix} " for prefix in GO_ON)):
        return f" To continue, type: {line}"
    return (
        f" To start again, type: {line}"
        if interrupt_exit_code(stop) != ExitCode.INTERRUPTED
        else ""
    )


def _report_failure(message: str, exit_code: ExitCode, arguments: Sequence[str]) -> ExitCode:
    """Print the error, also as JSON if the program asked for it; return the exit code."""
    print_error(message)
    if "--json" in arguments:
        print_json({"error": message})
    return exit_code


def _report_unexpected_error(error: Exception, arguments: Sequence[str]) -> ExitCode:
    """Report a fault of the machine or, if it is none, a bug of ours; return the exit code."""
    message = describe_machine_fault(error)
    if isinstance(error, OSError) and error.filename is None:  # perhaps of the output itself
        discard_pending_output()
    if message is None:
        return _report_failure(save_and_describe_traceback(error), ExitCode.FAILED, arguments)
    return _report_failure(message, ExitCode.FAILED, arguments)


ISSUE_HINT = "under Issues on the project's GitHub page"  # where faults are told


def save_and_describe_traceback(error: Exception) -> str:
    """Save the traceback of a bug in a file; return a request to report it.

    The returned text names the file.
    """
    import tempfile  # noqa: PLC0415 - slow to import, and few commands fail by a bug
    import traceback  # noqa: PLC0415 - as above

    text = redact("".join(traceback.format_exception(error)))
    with tempfile.NamedTemporaryFile(
        "w", prefix="cardsharp-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
    return (
        f"This is a bug in Cardsharp ({type(error).__name__}). "
        f"Please report it {ISSUE_HINT}, with the file {Path(file.name)}."
    )
