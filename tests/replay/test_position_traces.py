"""The position rebuilt from public views equals what the real server recorded as hidden."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from support.traces import needs_traces, started_traces

from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import follow, rebuild
from cardsharp.deadmansdraw.wire import EventView, MatchView, MoveView
from workbench.arena.inputs import parse_action

pytestmark = needs_traces

Look = tuple[dict[str, Any], MatchView]


def looks(trace: dict[str, Any]) -> Iterator[Look]:
    """Each recorded look at a match, with the view that a GET with showevents gives there."""
    view, moves = None, ()
    for look in (*trace["steps"], trace["final"]["last_look"]):
        if "wait_s" in look:
            continue
        moves += tuple(MoveView.model_validate(move) for move in look["new_moves"])
        if look["view"] != "same":
            view = look["view"]
        yield look, MatchView.model_validate(view).model_copy(update={"moves": moves})


def positions() -> Iterator[tuple[dict[str, Any], dict[str, Any], Position]]:
    """Trace, look and rebuilt position of every recorded decision."""
    for trace in started_traces():
        for look, view in looks(trace):
            if view.active_player_index is not None:
                yield trace, look, rebuild(view, view.active_player_index)


def test_the_rebuilt_position_equals_the_hidden_one() -> None:
    """In every recorded view: the discard pile in order, the rest of the deck as a set.

    A top card that an Oracle showed, ours or the opponent's, and that was not taken stays known.
    """
    count = known = refused = 0
    for trace, look, position in positions():
        count += 1
        where = trace["name"], look.get("action")
        assert [str(card) for card in position.discard_pile] == look["discardPile"], where
        deck, left = trace["deck"], look["drawPileLeft"]
        hidden = deck[len(deck) - left :]
        assert sorted(map(str, position.unseen)) == sorted(hidden), where
        if position.known_top is not None:
            known += 1
            assert str(position.known_top) == hidden[0], where
        if position.refused is not None:
            refused += 1
            assert position.refused == position.known_top, where
    assert count > 32_000
    assert known > 1_000
    assert refused > 100


def test_following_our_own_action_leads_to_what_a_new_view_would_say() -> None:
    """The events of an answer are enough to go on in a turn without another GET.

    Of every third match, which is some 6,000 actions, as each look rebuilds a whole match.
    """
    followed = 0
    for trace in islice(started_traces(), 0, None, 3):
        before: tuple[dict[str, Any], Position] | None = None
        for look, view in looks(trace):
            if view.active_player_index is None:
                break
            position = rebuild(view, view.active_player_index)
            if before is not None:
                followed += check_follow(trace["name"], *before, position)
            usable = look.get("status") == 200 and "action" in look and not look.get("watchdog")
            before = (look, position) if usable else None
    assert followed > 5_000


def check_follow(name: str, look: dict[str, Any], old: Position, new: Position) -> int:
    """1 where the action could be followed; it must then agree with the new view.

    Chains of the server's autopick, which the bot never asks for, need a new view.
    """
    action = parse_action(look["action"])
    if action.autopick:
        return 0
    events = [EventView.model_validate(event) for event in look["response"]]
    followed = follow(old, action, events)
    ended = any(event.event_type == "TurnEnded" for event in events)
    if followed is None:
        assert ended, (name, look["action"])
        return 0
    assert replace(followed, history=()) == replace(new, history=()), (name, look["action"])
    return 1


def test_the_seed_changes_nothing() -> None:
    """Positions are identical when every seed field of the view is changed."""
    for trace in list(started_traces())[:50]:
        raw = trace["initial"]
        other = {**raw, "creationParams": {**raw["creationParams"], "randomSeed": "another"}}
        other["moves"] = [
            {**move, "events": [{**e, "matchStartedSeed": "another"} for e in move["events"]]}
            for move in raw["moves"]
        ]
        first, second = MatchView.model_validate(raw), MatchView.model_validate(other)
        index = first.active_player_index
        if index is not None:
            assert rebuild(first, index) == rebuild(second, index)
