"""What the match log holds: the arena's own moves, our reasons beside them, and how it ended."""

import json
from typing import Any

import pytest
from support.arena_bodies import FINISHED

from cardsharp.deadmansdraw.logbook import (
    outcome_body,
)
from cardsharp.deadmansdraw.wire import parse_view


def finished(**state: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of the state
    body: dict[str, Any] = json.loads(FINISHED)
    return {**body, "state": {**body["state"], **state}}


@pytest.mark.parametrize(
    ("winner", "seats", "result"),
    [
        (0, {0}, "won"),
        (0, {1}, "lost"),
        (1, {1}, "won"),
        (None, {0}, "tied"),
        (0, {0, 1}, "both seats"),
    ],
)
def test_an_outcome_is_told_from_our_seat(winner: int | None, seats: set[int], result: str) -> None:
    outcome = outcome_body(parse_view(finished(winnerIdx=winner)), seats)
    assert (outcome["winner"], outcome["result"]) == (winner, result)
