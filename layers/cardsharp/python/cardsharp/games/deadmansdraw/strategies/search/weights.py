"""Weight files: the learned weights of a model or a network, with their provenance.

A file is JSON. It has the `format`, the `provenance` (command, seed, commit, date, measured
strength) and the `numbers`, little-endian, compressed and in base 85. Those of a model have 32
bits, and `network` says if the shipped network belongs to it. Those of a network have 16 bits.
"""

import json
import sys
from array import array
from base64 import b85decode, b85encode
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal
from zlib import compress, decompress
from zlib import error as zlib_error

from cardsharp.games.deadmansdraw.strategies.search.network import WEIGHT_COUNT as WEIGHTS
from cardsharp.games.deadmansdraw.strategies.search.network import ValueNetwork
from cardsharp.games.deadmansdraw.strategies.search.value_model import (
    WEIGHT_COUNT,
    ValueModel,
)

WEIGHTS_FORMAT = 1
FOLDER = Path(__file__).parent


def dump_weights(model: ValueModel | ValueNetwork, provenance: dict[str, object]) -> str:
    """Return the text of a weight file."""
    content = {"format": WEIGHTS_FORMAT, "provenance": provenance}
    if isinstance(model, ValueModel):
        content["network"] = model.network is not None
    encoded_weights = b85encode(compress(_swap_if_big_endian(model.numbers).tobytes(), 9)).decode()
    return json.dumps(content | {"numbers": encoded_weights}, indent=1, ensure_ascii=False)


def parse_value_model(text: str) -> ValueModel:
    """Return the model of a weight file; raise `ValueError` if it cannot be read."""
    content = _parse_weight_file(text)
    network = load_shipped_network() if content.get("network") else None
    return ValueModel(_decode_weights("i", content, WEIGHT_COUNT), network)


@cache
def load_shipped_network() -> ValueNetwork:
    """Load the shipped network, which a weight file may use beside its tables."""
    return parse_network((FOLDER / "network.json").read_text("utf-8"))


def parse_network(text: str) -> ValueNetwork:
    """Return the network of a weight file; raise `ValueError` if it cannot be read."""
    return ValueNetwork(_decode_weights("h", _parse_weight_file(text), WEIGHTS))


@cache  # an entry for each shipped weight file
def load_model(name: str) -> ValueModel:
    """Return the model of the weight file `name` beside this module, read once a process."""
    return parse_value_model((FOLDER / f"{name}.json").read_text("utf-8"))


def _parse_weight_file(text: str) -> dict[str, Any]:
    content = json.loads(text)
    if not isinstance(content, dict) or content.get("format") != WEIGHTS_FORMAT:
        raise ValueError(f"This is not a weight file of format {WEIGHTS_FORMAT}.")
    return content


def _decode_weights(
    typecode: Literal["i", "h"], content: Mapping[str, Any], expected_count: int
) -> "array[int]":
    weights = array(typecode)
    try:
        weights.frombytes(decompress(b85decode(content["numbers"])))
    except (KeyError, TypeError, ValueError, zlib_error):
        raise ValueError("The numbers of the file cannot be read.") from None
    if len(weights) != expected_count:
        raise ValueError(f"The file holds {len(weights)} numbers, not {expected_count}.")
    return _swap_if_big_endian(weights)


def _swap_if_big_endian(numbers: "array[int]") -> "array[int]":
    """Return `numbers` in little-endian order on any machine.

    The function is its own inverse.
    """
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers
