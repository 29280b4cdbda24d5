"""What the stored bodies of its matches have in common: each is packed against this text.

What stands near the end costs least to refer to. A changed text cannot read what was packed with
this one, so it is never changed: another would be another `Part`, beside this one.
"""

from pathlib import Path

WORDS = Path(__file__).with_suffix(".txt").read_text("utf-8").removesuffix("\n")
"""The eventful parts of a move, of an intent and of the position that it was decided in."""
