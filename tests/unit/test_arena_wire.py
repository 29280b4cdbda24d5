"""Parsers of the arena's responses: hidden data, malformed bodies, recorded examples."""

import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel
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
from cardsharp.games.deadmansdraw.arena import api_types
from cardsharp.games.deadmansdraw.arena_bot import wire, wire_views
from cardsharp.games.deadmansdraw.cards import Card


def match_with_fields(**fields: object) -> bytes:
    return json.dumps(bodies.running_view() | fields).encode()


def match_with_state(**fields: object) -> bytes:
    return match_with_fields(state=bodies.running_view()["state"] | fields)


def match_with_event(**fields: object) -> bytes:
    match = bodies.running_view()
    match["moves"][1]["events"].append(fields)
    return json.dumps(match).encode()


@pytest.mark.parametrize(
    ("view", "documented_type"),
    [
        (wire_views.PendingEffectView, api_types.EffectJson),
        (wire_views.StackDeltaView, api_types.StackDeltaJson),
        (wire_views.TurnDeltaView, api_types.DeltaJson),
        (wire_views.EventView, api_types.EventJson),
        (wire_views.MoveView, api_types.MoveJson),
        (wire_views.StateView, api_types.StateJson),
        (wire_views.CreationParamsView, api_types.CreationParamsJson),
        (wire_views.MatchView, api_types.MatchJson),
        (wire_views.MatchOverErrorView, api_types.ClosingJson),
        (wire_views.MatchCreatedView, api_types.CreatedJson),
        (wire_views.WhoAmIView, api_types.UserJson),
        (wire_views.PlayerView, api_types.PlayerJson),
        (wire_views.HelloView, api_types.HelloJson),
    ],
)
def test_the_client_reads_only_what_the_arena_documents(
    view: type[BaseModel],
    documented_type: Any,  # noqa: ANN401 - no type stands for all typed dictionaries
) -> None:
    """The client's fields are the server's, and what the client needs the server always sends."""
    is_required_by_name = {field.alias: field.is_required() for field in view.model_fields.values()}
    required_names = {name for name, is_required in is_required_by_name.items() if is_required}
    assert is_required_by_name.keys() <= documented_type.__annotations__.keys()
    assert required_names <= documented_type.__required_keys__


def test_seeds_and_hidden_piles_leave_no_trace_in_a_view() -> None:
    pile = [{"suit": "Mermaid", "value": 5}, {"suit": "Key", "value": 3}]
    view_with_nulls = wire.parse_view(
        match_with_fields(creationParams={"tags": None, "banks": None, "timeout": 0})
    )
    assert view_with_nulls.creation_params == wire_views.CreationParamsView()
    first_view = wire.parse_view(
        match_with_fields(creationParams={"drawPile": pile, "timeout": 600})
    )
    second_view = wire.parse_view(
        match_with_fields(creationParams={"drawPile": pile[::-1], "timeout": 600})
    )
    assert first_view == second_view
    assert first_view.creation_params.timeout == timedelta(minutes=10)
    assert set(first_view.creation_params.draw_pile or ()) == {Card("Mermaid", 5), Card("Key", 3)}
    match = bodies.running_view()
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
        match_with_fields(moveCount="2"),
        match_with_fields(activePlayerIndex=2),
        match_with_fields(playerids=["a", "b", "c"]),
        match_with_fields(state=None),
        match_with_fields(moves=[{"events": []}]),
        match_with_state(banks=[{"Key": ["3"]}, {}]),
        match_with_state(playArea=[{"suit": "Key", "value": "3"}]),
        match_with_state(playArea=[{"suit": "Key", "value": 10**400}] * 2 + [None]),
        match_with_event(eventType=7),
    ],
)
def test_a_malformed_match_is_described_in_a_short_sentence(body: bytes) -> None:
    with pytest.raises(MalformedResponse) as error_info:
        wire.parse_view(body)
    assert str(error_info.value).startswith("The arena's answer is not a match: ")
    assert len(str(error_info.value)) < 260
    assert error_info.value.__suppress_context__, "the body would show in the traceback"


def test_a_malformed_response_is_not_quoted_and_a_missing_player_ends_no_match() -> None:
    match = bodies.running_view()
    del match["activePlayerIndex"]
    with pytest.raises(MalformedResponse, match="activePlayerIndex"):
        wire.parse_view(match)
    with pytest.raises(MalformedResponse) as error_info:
        wire.parse_whoami(b'{"username": ["canary"], "name": {"canary": 1}}')
    assert "canary" not in str(error_info.value)


def test_a_list_skips_malformed_matches_and_matches_without_id() -> None:
    invalid_matches = (
        bodies.running_view() | {"_id": "a/b"},
        bodies.running_view() | {"state": None},
        7,
    )
    [view] = wire.parse_match_list([*invalid_matches, bodies.running_view()])
    assert view == wire.parse_view(bodies.RUNNING)


def test_an_oracles_card_is_refused_by_null_and_autopick_is_requested() -> None:
    refusal = {"etype": "ResponseToEffect", "effect": {"effectType": "Oracle", "card": None}}
    assert action_json(respond(EffectType.ORACLE)) == refusal
    autopick_body = {"etype": "Draw", "autopick": True}
    assert action_json(Action(ActionType.DRAW, answers_pending_effects=True)) == autopick_body


PARSERS_BY_START = {
    '[{"eventType"': wire.parse_events,
    "[": wire.parse_match_list,
    '{"id"': wire.parse_created,
    '{"events"': wire.parse_ending,
    "{": wire.parse_view,
}
"""What reads an answer, by how it begins."""


def test_every_recorded_example_is_read() -> None:
    """Lists are checked for completeness, because a list skips matches that it cannot parse."""
    read_count = 0
    for example in recording("arena_examples"):
        path, response_text = example["request"].split(" ")[1], example["response"]
        if example["status"] not in {200, 410} or "condensed" in path or "busydays" in path:
            continue
        if path.startswith("/api/matches"):
            parse = next(
                PARSERS_BY_START[start]
                for start in PARSERS_BY_START
                if response_text.startswith(start)
            )
            parsed = parse(response_text)
            assert not isinstance(parsed, list) or len(parsed) == len(json.loads(response_text))
            read_count += 1
    assert read_count >= 45
