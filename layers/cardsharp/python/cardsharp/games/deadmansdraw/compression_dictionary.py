"""Compression dictionary of this game: text that the stored bodies of its matches share.

Compression refers most cheaply to text near the end. Never change this text: bodies that were
compressed with it could not be read any more. A new dictionary must be another `LazyImport` beside
this one.
"""

from pathlib import Path

COMPRESSION_DICTIONARY = Path(__file__).with_suffix(".txt").read_text("utf-8").removesuffix("\n")
"""Frequent parts of moves, of intents, and of the positions in which they were decided."""
