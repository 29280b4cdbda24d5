"""Weight files: the learned numbers of a model, or a network's, with where they come from.

A file is JSON: `format`, the `provenance` (command, seed, commit, date, measured strength) and the
`numbers`, little-endian, compressed and in base 85; of a model of 32 bits, and whether the shipped
`network` goes beside it; of a network of 16.
"""

import json
import sys
from array import array
from base64 import b85decode, b85encode
from functools import cache
from pathlib import Path
from typing import Literal
from zlib import compress, decompress

from cardsharp.deadmansdraw.strategies.search.model import NUMBERS, Model
from cardsharp.deadmansdraw.strategies.search.network import NUMBERS as WEIGHTS
from cardsharp.deadmansdraw.strategies.search.network import Network

FORMAT = 1
FOLDER = Path(__file__).parent


def dump_weights(learned: Model | Network, provenance: dict[str, object]) -> str:
    """The text of a weight file."""
    content = {"format": FORMAT, "provenance": provenance}
    if isinstance(learned, Model):
        content["network"] = learned.network is not None
    numbers = b85encode(compress(_little(learned.numbers).tobytes(), 9)).decode()
    return json.dumps(content | {"numbers": numbers}, indent=1, ensure_ascii=False)


def read_weights(text: str) -> Model:
    """The model in a weight file; raises `ValueError` if it is none, or of another format."""
    content = json.loads(text)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"This is no weight file of format {FORMAT}; train again.")
    network = shipped() if content.get("network") else None
    return Model(_unpacked("i", content["numbers"], NUMBERS), network)


@cache
def shipped() -> Network:
    """The network beside captain's tables, and beside what was learned from them on."""
    content = json.loads((FOLDER / "network.json").read_text("utf-8"))
    return Network(_unpacked("h", content["numbers"], WEIGHTS))


@cache
def model(name: str) -> Model:
    """The model of the weight file `name` beside this module, read once a process."""
    return read_weights((FOLDER / f"{name}.json").read_text("utf-8"))


def _unpacked(kind: Literal["i", "h"], packed: str, number: int) -> "array[int]":
    numbers = array(kind)
    numbers.frombytes(decompress(b85decode(packed)))
    if len(numbers) != number:
        raise ValueError(f"The file holds {len(numbers)} numbers, not {number}; train again.")
    return _little(numbers)


def _little(numbers: "array[int]") -> "array[int]":
    """`numbers` in little-endian order on any machine (its own inverse)."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers
