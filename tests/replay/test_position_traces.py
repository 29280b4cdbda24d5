"""The position rebuilt from public views equals what the real server recorded as hidden."""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from random import Random

import pytest
from support.recorded import (
    SAMPLE,
    Json,
    Look,
    Matches,
    about,
    looks,
    recorded_action,
    sample_and_whole,
)
from support.size import cases

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deadmansdraw.decisions import decisions
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import follow, rebuild
from cardsharp.deadmansdraw.recorded import recorded
from cardsharp.deadmansdraw.restore import restore
from cardsharp.deadmansdraw.wire_views import EventView
from cardsharp.errors import ConfigError

PILES = ("playArea", "drawPile", "discardPile", "banks")


def position_of(look: Look) -> Position | None:
    """The position of the player to move; None once the match is over."""
    index = look.view.active_player_index
    return None if index is None else rebuild(look.view, index)


@sample_and_whole(pytest.mark.slow)
def test_the_rebuilt_position_equals_the_hidden_one(matches: Matches) -> None:
    """In every recorded view: the discard pile in order, the rest of the deck as a set.

    A top card that an Oracle showed, ours or the opponent's, and that was not taken stays known.
    The events of an answer are enough to go on in a turn without another GET: following our own
    action leads to what a new view would say. And from the moves alone each decision of both
    players is found again, with the position that its player saw.
    """
    count = known = refused = followed = found = 0
    for number, trace in enumerate(matches.started()):
        before: tuple[Look, Position] | None = None
        seen: dict[int, Position] = {}
        for look in looks(trace):
            position, record = position_of(look), look.record
            if position is None:
                continue
            where = trace["name"], record.get("action")
            assert [str(card) for card in position.discard_pile] == record["discardPile"], where
            hidden = trace["deck"][len(trace["deck"]) - record["drawPileLeft"] :]
            assert sorted(map(str, position.unseen)) == sorted(hidden), where
            assert position.known_top is None or str(position.known_top) == hidden[0], where
            assert position.refused in {None, position.known_top}, where
            seen[look.view.move_count] = position
            count += 1
            known += position.known_top is not None
            refused += position.refused is not None
            if before is not None:
                followed += check_follow(trace["name"], *before, position)
            usable = record.get("status") == 200 and "action" in record and "watchdog" not in record
            before = (look, position) if usable else None
        if began_as_all(trace) and number % cases(9, every=1) == 0:
            found += check_decisions(trace, seen)
    assert found > 90
    assert count > 0.95 * matches.least
    assert known > count / 40
    assert refused > count / 400
    assert followed > matches.least / 2


def check_follow(name: str, look: Look, old: Position, new: Position) -> int:
    """1 where the action could be followed; it must then agree with the new view.

    Chains of the server's autopick, which the bot never asks for, need a new view.
    """
    action = recorded_action(look.record["action"])
    if action.autopick:
        return 0
    events = [EventView.model_validate(event) for event in look.record["response"]]
    followed = follow(old, action, events)
    ended = any(event.event_type == "TurnEnded" for event in events)
    if followed is None:
        assert ended, (name, action)
        return 0
    assert replace(followed, history=()) == replace(new, history=()), (name, action)
    return 1


def began_as_all(trace: Json) -> bool:
    return not any(name in trace["initial"]["creationParams"] for name in PILES)


def told(trace: Json) -> tuple[MatchRecord, list[MoveRecord]]:
    """The match as an arena answers at its end."""
    *_, last = looks(trace)
    return recorded(json.dumps({**last.raw, "startedAt": "2023-11-06T10:00:00.000Z"}).encode())


def check_decisions(trace: Json, seen: Mapping[int, Position]) -> int:
    """How many decisions the moves of a match tell; each must be of the position of then."""
    found = list(decisions(*told(trace)))
    for asked in found:
        assert asked.position == seen[asked.step.sequence], trace["name"]
    return len(found)


def test_the_decisions_of_a_match_that_did_not_begin_as_all_do_are_refused() -> None:
    odd = (trace for trace in SAMPLE.started() if not began_as_all(trace))
    for trace in islice(odd, 3):
        with pytest.raises(ConfigError, match="began with cards of its own"):
            list(decisions(*told(trace)))


@sample_and_whole(pytest.mark.slow)
def test_every_recorded_match_is_made_again_move_by_move(matches: Matches) -> None:
    """By the rules, from what its events tell alone: `restore` compares every event."""
    made = 0
    for trace in matches.started():
        with about(trace):
            record, moves = recorded(json.dumps(trace).encode())
            found = list(restore(record, moves, Random(1)))
            assert [one.sequence for one in found] == [move.sequence for move in moves[1:]]
            piles = [list(map(str, one.state.state.draw_pile)) for one in found]
            if piles:  # what nobody drew lies in no order that is known
                drawn = len(piles[0]) - len(piles[-1])
                assert piles[0][:drawn] == trace["deck"][:drawn]
                assert sorted(piles[0]) == sorted(trace["deck"])
            made += len(found)
    assert made > matches.least * 0.9
