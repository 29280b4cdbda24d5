"""The game's own commands, which `cardsharp` has without its name too: it was there first."""

from pathlib import Path

import cyclopts

from workbench.show.command import commands_in, mount

COMMANDS = commands_in(Path(__file__).with_suffix(".toml"))

app = cyclopts.App(name="deadmansdraw", help_format="plaintext")
mount(app, COMMANDS)
