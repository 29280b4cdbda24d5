"""Readers of what the arena says, and of packed bodies: by whose words they are kept."""

import json
from datetime import timedelta

import pytest
from support import recorded_arena_responses as bodies
from support.recordings import recording

from cardsharp.errors import MalformedResponse
from cardsharp.games.deadmansdraw.actions import (
    Action,
    ActionType,
    EffectType,
    action_json,
    respond,
)
from cardsharp.games.deadmansdraw.arena_bot import wire, wire_views
from cardsharp.games.deadmansdraw.cards import Card


def changed(**fields: object) -> bytes:
    return json.dumps(bodies.running() | fields).encode()


def with_state(**fields: object) -> bytes:
    return changed(state=bodies.running()["state"] | fields)


def with_event(**fields: object) -> bytes:
    match = bodies.running()
    match["moves"][1]["events"].append(fields)
    return json.dumps(match).encode()


def test_seeds_and_hidden_piles_leave_no_trace_in_a_view() -> None:
    pile = [{"suit": "Mermaid", "value": 5}, {"suit": "Key", "value": 3}]
    nulls = wire.parse_view(changed(creationParams={"tags": None, "banks": None, "timeout": 0}))
    assert nulls.creation_params == wire_views.CreationParamsView()
    first_view = wire.parse_view(changed(creationParams={"drawPile": pile, "timeout": 600}))
    second_view = wire.parse_view(changed(creationParams={"drawPile": pile[::-1], "timeout": 600}))
    assert first_view == second_view
    assert first_view.creation_params.timeout == timedelta(minutes=10)
    assert set(first_view.creation_params.draw_pile or ()) == {Card("Mermaid", 5), Card("Key", 3)}
    match = bodies.running()
    match["creationParams"]["randomSeed"] = "canary-seed"
    match["moves"][0]["events"][0]["matchStartedSeed"] = "canary-seed"
    match["state"] |= {"drawPile": [{"suit": "Kraken", "value": 7}], "discardPile": []}
    view = wire.parse_view(match)
    assert view == wire.parse_view(bodies.RUNNING)
    assert "canary-seed" not in repr(view)
    assert "Kraken" not in view.model_dump_json()
    assert "seed" not in repr(wire.parse_created(bodies.CREATED)).lower()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        bodies.RUNNING[:-40],
        b"\xff\xfe",
        b"[" * 100_000,
        changed(moveCount="2"),
        changed(activePlayerIndex=2),
        changed(playerids=["a", "b", "c"]),
        changed(state=None),
        changed(moves=[{"events": []}]),
        with_state(banks=[{"Key": ["3"]}, {}]),
        with_state(playArea=[{"suit": "Key", "value": "3"}]),
        with_state(playArea=[{"suit": "Key", "value": 10**400}] * 2 + [None]),
        with_event(eventType=7),
    ],
)
def test_a_malformed_match_is_described_in_a_short_sentence(body: bytes) -> None:
    with pytest.raises(MalformedResponse) as caught:
        wire.parse_view(body)
    assert str(caught.value).startswith("The arena's answer is not a match: ")
    assert len(str(caught.value)) < 260
    assert caught.value.__suppress_context__, "the body would show in the traceback"


def test_a_garbled_answer_is_not_quoted_and_a_missing_player_no_end_of_a_match() -> None:
    match = bodies.running()
    del match["activePlayerIndex"]
    with pytest.raises(MalformedResponse, match="activePlayerIndex"):
        wire.parse_view(match)
    with pytest.raises(MalformedResponse) as caught:
        wire.parse_whoami(b'{"username": ["canary"], "name": {"canary": 1}}')
    assert "canary" not in str(caught.value)


def test_a_list_skips_malformed_matches_and_matches_without_id() -> None:
    strange = (bodies.running() | {"_id": "a/b"}, bodies.running() | {"state": None}, 7)
    [view] = wire.parse_match_list([*strange, bodies.running()])
    assert view == wire.parse_view(bodies.RUNNING)


def test_an_oracles_card_is_refused_by_null_and_autopick_is_requested() -> None:
    refusal = {"etype": "ResponseToEffect", "effect": {"effectType": "Oracle", "card": None}}
    assert action_json(respond(EffectType.ORACLE)) == refusal
    picked = {"etype": "Draw", "autopick": True}
    assert action_json(Action(ActionType.DRAW, answers_pending_effects=True)) == picked


READERS = {
    '[{"eventType"': wire.parse_events,
    "[": wire.parse_match_list,
    '{"id"': wire.parse_created,
    '{"events"': wire.parse_ending,
    "{": wire.parse_view,
}
"""What reads an answer, by how it begins."""


def test_every_recorded_example_is_read() -> None:
    """All of it: a list of matches leaves out what it cannot read."""
    read = 0
    for example in recording("arena_examples"):
        path, answer = example["request"].split(" ")[1], example["response"]
        if example["status"] not in {200, 410} or "condensed" in path or "busydays" in path:
            continue
        if path.startswith("/api/matches"):
            reader = next(READERS[start] for start in READERS if answer.startswith(start))
            parsed = reader(answer)
            assert not isinstance(parsed, list) or len(parsed) == len(json.loads(answer))
            read += 1
    assert read >= 45
