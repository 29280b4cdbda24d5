"""`cardsharp contest`: the list of its commands; each module is imported when it is called."""

from pathlib import Path

import cyclopts

from cardsharp_tools.cli.app import find_command
from cardsharp_tools.cli.command_table import load_command_table, register_commands

contest = cyclopts.App(name="contest", help_epilogue=find_command("contest").epilogue)
register_commands(contest, load_command_table(Path(__file__).with_name("commands.toml")))
