"""The first recorded matches of random play, read without the rest of the file."""

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from cardsharp.deadmansdraw.views import MatchView, MoveView
from support.traces import TRACES


def first_random_matches(number: int) -> Iterator[dict[str, Any]]:
    """As TRACES.md describes them."""
    with gzip.open(TRACES, "rt", encoding="utf-8") as lines:
        random = (json.loads(line) for line in lines if '"kind":"random"' in line[:100])
        yield from islice(random, number)


def views_of(trace: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The raw view of each recorded look at a running match, all its moves in it."""
    view: dict[str, Any] = {}
    moves: list[Any] = []
    for look in (*trace["steps"], trace["final"]["last_look"]):
        if "wait_s" in look:
            continue
        moves = [*moves, *look["new_moves"]]
        view = view if look["view"] == "same" else look["view"]
        yield {**view, "moves": moves}


def parsed(raw: dict[str, Any]) -> MatchView:
    """A raw view as our client reads it."""
    moves = tuple(MoveView.model_validate(move) for move in raw["moves"])
    return MatchView.model_validate({**raw, "moves": []}).model_copy(update={"moves": moves})
