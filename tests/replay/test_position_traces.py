"""Positions rebuilt from public views, compared with the recorded hidden state."""

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
from cardsharp.games.deadmansdraw.history.arena_import import parse_arena_match
from cardsharp.games.deadmansdraw.history.decisions import decisions
from cardsharp.games.deadmansdraw.history.state_history import restore_states
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.store.match_log import MatchRecord, MoveRecord

PILES = ("playArea", "drawPile", "discardPile", "banks")


def position_of(recorded_view: RecordedView) -> DeadMansDrawPosition | None:
    """Return the position of the player to move, or None once the match is over."""
    index = recorded_view.view.active_player_index
    return None if index is None else position_from_view(recorded_view.view, index)


@parametrize_sample_and_all(pytest.mark.slow)
def test_the_rebuilt_position_equals_the_recorded_hidden_state(matches: RecordedMatches) -> None:
    """In every recorded view the discard pile is equal in order, the draw pile as a set.

    A top card that an Oracle showed and that was not taken stays known. The events of a
    response suffice to continue within a turn without another GET: applied to the previous
    position, they give the position of the new view. Each decision of both players is
    restored from the moves alone, with the position that its player saw.
    """
    count = known_top_count = refused_count = followed_count = decision_count = 0
    for number, trace in enumerate(matches.created_matches()):
        previous: tuple[RecordedView, DeadMansDrawPosition] | None = None
        position_by_move_count: dict[int, DeadMansDrawPosition] = {}
        for recorded_view in recorded_views(trace):
            position, record = position_of(recorded_view), recorded_view.record
            if position is None:
                continue
            context = trace["name"], record.get("action")
            assert [str(card) for card in position.discard_pile] == record["discardPile"], context
            hidden_cards = trace["deck"][len(trace["deck"]) - record["drawPileLeft"] :]
            assert sorted(map(str, position.unseen)) == sorted(hidden_cards), context
            assert position.known_top is None or str(position.known_top) == hidden_cards[0], context
            assert position.refused_oracle_card in {None, position.known_top}, context
            position_by_move_count[recorded_view.view.move_count] = position
            count += 1
            known_top_count += position.known_top is not None
            refused_count += position.refused_oracle_card is not None
            if previous is not None:
                followed_count += check_next_position(trace["name"], *previous, position)
            is_followable = (
                record.get("status") == 200 and "action" in record and "watchdog" not in record
            )
            previous = (recorded_view, position) if is_followable else None
        if has_standard_start(trace) and number % case_count(9, full=1) == 0:
            decision_count += check_decisions(trace, position_by_move_count)
    assert decision_count > 90
    assert count > 0.95 * matches.min_step_count
    assert known_top_count > count / 40
    assert refused_count > count / 400
    assert followed_count > matches.min_step_count / 2


def check_next_position(
    name: str,
    recorded_view: RecordedView,
    previous_position: DeadMansDrawPosition,
    expected_position: DeadMansDrawPosition,
) -> int:
    """Return 1 if the action could be followed, else 0; assert the position of the next view.

    Chains of the server's autopick, which the bot never requests, need a new view.
    """
    action = recorded_action(recorded_view.record["action"])
    if action.answers_pending_effects:
        return 0
    events = [EventView.model_validate(event) for event in recorded_view.record["response"]]
    position = next_position(previous_position, action, events)
    is_turn_over = any(event.event_type == "TurnEnded" for event in events)
    if position is None:
        assert is_turn_over, (name, action)
        return 0
    assert replace(position, history=()) == replace(expected_position, history=()), (name, action)
    return 1


def has_standard_start(trace: Json) -> bool:
    return not any(name in trace["initial"]["creationParams"] for name in PILES)


def arena_record(trace: Json) -> tuple[MatchRecord, list[MoveRecord]]:
    """Return the record and the moves of the match as an arena reports them at its end."""
    *_, last = recorded_views(trace)
    return parse_arena_match(
        json.dumps({**last.raw, "startedAt": "2023-11-06T10:00:00.000Z"}).encode()
    )


def check_decisions(trace: Json, position_by_move_count: Mapping[int, DeadMansDrawPosition]) -> int:
    """Return the number of decisions in a match; assert that each has its recorded position."""
    restored_decisions = list(decisions(*arena_record(trace)))
    for decision in restored_decisions:
        assert decision.position == position_by_move_count[decision.step.sequence], trace["name"]
    return len(restored_decisions)


def test_decisions_of_a_match_with_a_special_start_are_refused() -> None:
    unusual_traces = (trace for trace in SAMPLE.created_matches() if not has_standard_start(trace))
    for trace in islice(unusual_traces, 3):
        with pytest.raises(ConfigError, match="began with other cards"):
            list(decisions(*arena_record(trace)))


@parametrize_sample_and_all(pytest.mark.slow)
def test_every_recorded_match_is_restored_move_by_move(matches: RecordedMatches) -> None:
    """`restore_states` replays the moves by the rules, and compares every event."""
    restored_count = 0
    for trace in matches.created_matches():
        with annotate_with_match(trace):
            record, moves = parse_arena_match(json.dumps(trace).encode())
            states = list(restore_states(record, moves, Random(1)))
            assert [state.sequence for state in states] == [move.sequence for move in moves[1:]]
            piles = [list(map(str, state.state.state.draw_pile)) for state in states]
            if piles:  # what nobody drew lies in no order that is known
                draw_count = len(piles[0]) - len(piles[-1])
                assert piles[0][:draw_count] == trace["deck"][:draw_count]
                assert sorted(piles[0]) == sorted(trace["deck"])
            restored_count += len(states)
    assert restored_count > matches.min_step_count * 0.9
