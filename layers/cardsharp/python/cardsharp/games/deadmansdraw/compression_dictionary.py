"""Compression dictionary of this game: text that the stored bodies of its matches share.

Text near the end is the cheapest to refer to. Never change this text: bodies packed with it
could not be read any more. A new dictionary must be another `LazyImport` beside this one.
"""

from pathlib import Path

COMPRESSION_DICTIONARY = Path(__file__).with_suffix(".txt").read_text("utf-8").removesuffix("\n")
"""The eventful parts of a move, of an intent and of the position that it was decided in."""
