"""The weight files: whole, and named by where they come from."""

import json
from array import array
from random import Random

import pytest

from cardsharp.deadmansdraw.strategies.search.model import NUMBERS
from cardsharp.deadmansdraw.strategies.search.weights import FOLDER, dump_weights, read_weights


def test_numbers_survive_the_file() -> None:
    rng = Random(1)
    numbers = array("i", (rng.randrange(-(2**31), 2**31) for _ in range(NUMBERS)))
    assert read_weights(dump_weights(numbers, {"seed": 1})) == numbers


@pytest.mark.parametrize("content", ['{"format": 0}', "[]", '{"numbers": ""}'])
def test_another_format_is_refused_with_a_way_out(content: str) -> None:
    with pytest.raises(ValueError, match="train again"):
        read_weights(content)


def test_a_file_of_another_model_is_refused() -> None:
    short = dump_weights(array("i", [1, 2, 3]), {})
    with pytest.raises(ValueError, match="train again"):
        read_weights(short)


def test_the_shipped_weights_say_where_they_come_from() -> None:
    text = (FOLDER / "captain.json").read_text("utf-8")
    assert len(text) < 100_000
    assert {"command", "date"} <= json.loads(text)["provenance"].keys()
