"""Weight files: the learned numbers of a model with where they come from.

A file is JSON: `format`, the `provenance` (command, seed, commit, date, measured strength) and
the `numbers`, 32-bit little-endian, compressed and in base 85.
"""

import json
import sys
from array import array
from base64 import b85decode, b85encode
from functools import cache
from pathlib import Path
from zlib import compress, decompress

from cardsharp.deadmansdraw.strategies.search.model import NUMBERS, Model

FORMAT = 1
FOLDER = Path(__file__).parent


def dump_weights(numbers: "array[int]", provenance: dict[str, object]) -> str:
    """The text of a weight file."""
    packed = b85encode(compress(_little(numbers).tobytes(), 9)).decode()
    content = {"format": FORMAT, "provenance": provenance, "numbers": packed}
    return json.dumps(content, indent=1, ensure_ascii=False)


def read_weights(text: str) -> "array[int]":
    """The numbers in a weight file.

    Raises:
        ValueError: the file is not one, or of another format.
    """
    content = json.loads(text)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"This is no weight file of format {FORMAT}; train again.")
    numbers = array("i")
    numbers.frombytes(decompress(b85decode(content["numbers"])))
    if len(numbers) != NUMBERS:
        raise ValueError(f"The file holds {len(numbers)} numbers, not {NUMBERS}; train again.")
    return _little(numbers)


@cache
def model(name: str) -> Model:
    """The model of the weight file `name` beside this module, read once a process."""
    return Model(read_weights((FOLDER / f"{name}.json").read_text("utf-8")))


def _little(numbers: "array[int]") -> "array[int]":
    """`numbers` in little-endian order on any machine (its own inverse)."""
    if sys.byteorder == "big":
        numbers = array("i", numbers)
        numbers.byteswap()
    return numbers
