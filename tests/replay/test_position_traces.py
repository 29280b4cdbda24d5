"""The position rebuilt from public views equals what the real server recorded as hidden."""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from random import Random

import pytest
from support.case_counts import case_count
from support.recordings import (
    SAMPLE,
    Json,
    RecordedMatches,
    RecordedView,
    annotate_with_match,
    parametrize_sample_and_all,
    recorded_action,
    recorded_views,
)

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import (
    next_position,
    position_from_view,
)
from cardsharp.games.deadmansdraw.arena_bot.wire_views import EventView
from cardsharp.games.deadmansdraw.history.arena_import import import_match
from cardsharp.games.deadmansdraw.history.decisions import decisions
from cardsharp.games.deadmansdraw.history.state_history import restore_states
from cardsharp.games.deadmansdraw.position import Position
from cardsharp.store.match_log import MatchRecord, MoveRecord

PILES = ("playArea", "drawPile", "discardPile", "banks")


def position_of(look: RecordedView) -> Position | None:
    """The position of the player to move; None once the match is over."""
    index = look.view.active_player_index
    return None if index is None else position_from_view(look.view, index)


@parametrize_sample_and_all(pytest.mark.slow)
def test_the_rebuilt_position_equals_the_hidden_one(matches: RecordedMatches) -> None:
    """In every recorded view: the discard pile in order, the rest of the deck as a set.

    A top card that an Oracle showed, ours or the opponent's, and that was not taken stays known.
    The events of an answer are enough to go on in a turn without another GET: following our own
    action leads to what a new view would say. And from the moves alone each decision of both
    players is found again, with the position that its player saw.
    """
    count = known = refused = followed = found = 0
    for number, trace in enumerate(matches.started()):
        before: tuple[RecordedView, Position] | None = None
        seen: dict[int, Position] = {}
        for look in recorded_views(trace):
            position, record = position_of(look), look.record
            if position is None:
                continue
            where = trace["name"], record.get("action")
            assert [str(card) for card in position.discard_pile] == record["discardPile"], where
            hidden = trace["deck"][len(trace["deck"]) - record["drawPileLeft"] :]
            assert sorted(map(str, position.unseen)) == sorted(hidden), where
            assert position.known_top is None or str(position.known_top) == hidden[0], where
            assert position.refused_oracle_card in {None, position.known_top}, where
            seen[look.view.move_count] = position
            count += 1
            known += position.known_top is not None
            refused += position.refused_oracle_card is not None
            if before is not None:
                followed += check_follow(trace["name"], *before, position)
            usable = record.get("status") == 200 and "action" in record and "watchdog" not in record
            before = (look, position) if usable else None
        if began_as_all(trace) and number % case_count(9, full=1) == 0:
            found += check_decisions(trace, seen)
    assert found > 90
    assert count > 0.95 * matches.min_step_count
    assert known > count / 40
    assert refused > count / 400
    assert followed > matches.min_step_count / 2


def check_follow(name: str, look: RecordedView, old: Position, new: Position) -> int:
    """1 where the action could be followed; it must then agree with the new view.

    Chains of the server's autopick, which the bot never asks for, need a new view.
    """
    action = recorded_action(look.record["action"])
    if action.answers_pending_effects:
        return 0
    events = [EventView.model_validate(event) for event in look.record["response"]]
    followed = next_position(old, action, events)
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
    *_, last = recorded_views(trace)
    return import_match(json.dumps({**last.raw, "startedAt": "2023-11-06T10:00:00.000Z"}).encode())


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


@parametrize_sample_and_all(pytest.mark.slow)
def test_every_recorded_match_is_made_again_move_by_move(matches: RecordedMatches) -> None:
    """By the rules, from what its events tell alone: `restore` compares every event."""
    made = 0
    for trace in matches.started():
        with annotate_with_match(trace):
            record, moves = import_match(json.dumps(trace).encode())
            found = list(restore_states(record, moves, Random(1)))
            assert [one.sequence for one in found] == [move.sequence for move in moves[1:]]
            piles = [list(map(str, one.state.state.draw_pile)) for one in found]
            if piles:  # what nobody drew lies in no order that is known
                drawn = len(piles[0]) - len(piles[-1])
                assert piles[0][:drawn] == trace["deck"][:drawn]
                assert sorted(piles[0]) == sorted(trace["deck"])
            made += len(found)
    assert made > matches.min_step_count * 0.9
