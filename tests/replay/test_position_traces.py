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
from cardsharp.games.deadmansdraw.history.arena_import import parse_arena_match
from cardsharp.games.deadmansdraw.history.decisions import decisions
from cardsharp.games.deadmansdraw.history.state_history import restore_states
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.store.match_log import MatchRecord, MoveRecord

PILES = ("playArea", "drawPile", "discardPile", "banks")


def position_of(look: RecordedView) -> DeadMansDrawPosition | None:
    """The position of the player to move; None once the match is over."""
    index = look.view.active_player_index
    return None if index is None else position_from_view(look.view, index)


@parametrize_sample_and_all(pytest.mark.slow)
def test_the_rebuilt_position_equals_the_recorded_hidden_state(matches: RecordedMatches) -> None:
    """In every recorded view: the discard pile in order, the rest of the deck as a set.

    A top card that an Oracle of either player showed, and that was not taken, stays known. The
    events of an answer suffice to go on in a turn without another GET: applying them to the old
    position leads to the position of a new view. And each decision of both players is restored
    from the moves alone, with the position that its player saw.
    """
    count = known_top_count = refused = followed = decision_count = 0
    for number, trace in enumerate(matches.started()):
        previous: tuple[RecordedView, DeadMansDrawPosition] | None = None
        seen: dict[int, DeadMansDrawPosition] = {}
        for look in recorded_views(trace):
            position, record = position_of(look), look.record
            if position is None:
                continue
            context = trace["name"], record.get("action")
            assert [str(card) for card in position.discard_pile] == record["discardPile"], context
            hidden = trace["deck"][len(trace["deck"]) - record["drawPileLeft"] :]
            assert sorted(map(str, position.unseen)) == sorted(hidden), context
            assert position.known_top is None or str(position.known_top) == hidden[0], context
            assert position.refused_oracle_card in {None, position.known_top}, context
            seen[look.view.move_count] = position
            count += 1
            known_top_count += position.known_top is not None
            refused += position.refused_oracle_card is not None
            if previous is not None:
                followed += check_follow(trace["name"], *previous, position)
            usable = record.get("status") == 200 and "action" in record and "watchdog" not in record
            previous = (look, position) if usable else None
        if began_as_all(trace) and number % case_count(9, full=1) == 0:
            decision_count += check_decisions(trace, seen)
    assert decision_count > 90
    assert count > 0.95 * matches.min_step_count
    assert known_top_count > count / 40
    assert refused > count / 400
    assert followed > matches.min_step_count / 2


def check_follow(
    name: str, look: RecordedView, old: DeadMansDrawPosition, new: DeadMansDrawPosition
) -> int:
    """Return 1 if the action could be followed, else 0; a followed one must equal the new view.

    Chains of the server's autopick, which the bot never requests, need a new view.
    """
    action = recorded_action(look.record["action"])
    if action.answers_pending_effects:
        return 0
    events = [EventView.model_validate(event) for event in look.record["response"]]
    followed = next_position(old, action, events)
    is_turn_over = any(event.event_type == "TurnEnded" for event in events)
    if followed is None:
        assert is_turn_over, (name, action)
        return 0
    assert replace(followed, history=()) == replace(new, history=()), (name, action)
    return 1


def began_as_all(trace: Json) -> bool:
    return not any(name in trace["initial"]["creationParams"] for name in PILES)


def arena_record(trace: Json) -> tuple[MatchRecord, list[MoveRecord]]:
    """Return the record and the moves of the match as an arena reports them at its end."""
    *_, last = recorded_views(trace)
    return parse_arena_match(
        json.dumps({**last.raw, "startedAt": "2023-11-06T10:00:00.000Z"}).encode()
    )


def check_decisions(trace: Json, seen: Mapping[int, DeadMansDrawPosition]) -> int:
    """Count the decisions in a match's moves; assert that each has the position of its time."""
    restored = list(decisions(*arena_record(trace)))
    for decision in restored:
        assert decision.position == seen[decision.step.sequence], trace["name"]
    return len(restored)


def test_the_decisions_of_a_match_that_did_not_begin_as_all_do_are_refused() -> None:
    odd = (trace for trace in SAMPLE.started() if not began_as_all(trace))
    for trace in islice(odd, 3):
        with pytest.raises(ConfigError, match="began with other cards"):
            list(decisions(*arena_record(trace)))


@parametrize_sample_and_all(pytest.mark.slow)
def test_every_recorded_match_is_restored_move_by_move(matches: RecordedMatches) -> None:
    """`restore_states` replays the moves by the rules, and compares every event."""
    restored_count = 0
    for trace in matches.started():
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
