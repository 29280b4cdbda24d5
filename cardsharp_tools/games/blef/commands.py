"""`cardsharp blef`: what its help says; the commands are those that every game has."""

from pathlib import Path

import cyclopts

_EXAMPLES = Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip()

app = cyclopts.App(name="blef", help_format="plaintext", help_epilogue=_EXAMPLES)
