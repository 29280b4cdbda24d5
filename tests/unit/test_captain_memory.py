"""What the captain remembers of its sums: never more than so much, and nothing but what is so."""

from itertools import islice, product

from cardsharp.deadmansdraw.strategies.search.model import KEYS, LYING, SUITS
from cardsharp.deadmansdraw.strategies.search.weights import model


def test_a_process_that_plays_for_days_remembers_no_more_than_so_many_sums() -> None:
    parts = model("captain").parts[30]
    keys = list(islice(product(range(0, LYING * 2, LYING), range(SUITS * KEYS)), 0, None, 7))
    before = {first + key: parts[first + key] for first, key in keys[:100]}
    for first, key in keys:
        assert parts[first + key] == parts[first + key]
        assert len(parts) <= 2048
    assert {key: parts[key] for key in before} == before
