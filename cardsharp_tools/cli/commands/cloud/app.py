"""`cardsharp cloud`: the list of its commands; each module is imported when it is called."""

from pathlib import Path

import cyclopts

from cardsharp_tools.cli.app import find_command
from cardsharp_tools.cli.command_table import load_command_table, register_commands

cloud = cyclopts.App(name="cloud", help_epilogue=find_command("cloud").epilogue)
register_commands(cloud, load_command_table(Path(__file__).with_name("commands.toml")))
