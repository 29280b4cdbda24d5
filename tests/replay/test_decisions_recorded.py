"""The decisions of matches that the real server told, found again from their moves alone."""

import json
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from support.recorded import SAMPLE, Look, looks

from cardsharp.deadmansdraw.decisions import decisions
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import rebuild
from cardsharp.deadmansdraw.recorded import recorded
from cardsharp.errors import ConfigError

PILES = ("playArea", "drawPile", "discardPile", "banks")


def began_as_all(trace: dict[str, Any]) -> bool:
    return not any(name in trace["initial"]["creationParams"] for name in PILES)


def told(look: Look) -> bytes:
    """The view as an arena answers it."""
    return json.dumps({**look.raw, "startedAt": "2023-11-06T10:00:00.000Z"}).encode()


@pytest.mark.parametrize("number", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_every_decision_of_both_players_has_the_position_that_its_player_saw(
    number: int,
) -> None:
    found = 0
    for trace in islice(filter(began_as_all, SAMPLE.started()), number):
        seen: dict[int, Position] = {}
        last = None
        for look in looks(trace):
            last, index = look, look.view.active_player_index
            if index is not None:
                seen[look.view.move_count] = rebuild(look.view, index)
        if last is None:
            continue
        record, moves = recorded(told(last))
        for asked in decisions(record, moves):
            there = seen[asked.step.sequence]
            assert replace(asked.position, history=()) == replace(there, history=()), trace["name"]
            assert asked.position.history == there.history
            found += 1
    assert found > 30 * number


def test_a_match_that_did_not_begin_as_all_do_is_refused() -> None:
    odd = (trace for trace in SAMPLE.started() if not began_as_all(trace))
    for trace in islice(odd, 3):
        *_, last = looks(trace)
        record, moves = recorded(told(last))
        with pytest.raises(ConfigError, match="began with cards of its own"):
            list(decisions(record, moves))
