"""The game's own commands, which `cardsharp` has without its name too: it was there first."""

from pathlib import Path

import cyclopts

from cardsharp_tools.cli.command_table import load_command_table, register_commands

COMMANDS = load_command_table(Path(__file__).with_name("commands.toml"))

_EXAMPLES = """\
Examples:
  cardsharp deadmansdraw play            the same as cardsharp play
  cardsharp deadmansdraw show last       the newest match of this game"""

app = cyclopts.App(name="deadmansdraw", help_format="plaintext", help_epilogue=_EXAMPLES)
register_commands(app, COMMANDS)
