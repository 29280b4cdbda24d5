"""What the match log holds: the arena's own moves, our reasons beside them, and how it ended."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.arena_bodies import FINISHED, RUNNING
from support.bot_positions import effect_pending, opening

from cardsharp.deadmansdraw.actions import DRAW, EffectType, respond
from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.deadmansdraw.fallback import blind_action
from cardsharp.deadmansdraw.logbook import (
    blind_intent_body,
    facts_beyond,
    header_body,
    intent_body,
    missing_body,
    outcome_body,
)
from cardsharp.deadmansdraw.strategies import Decision, Option
from cardsharp.deadmansdraw.wire import parse_view
from cardsharp.deciding import Decided

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
ANSWER = respond(EffectType.ORACLE, Card(Suit.ANCHOR, 5))


def test_a_header_says_who_plays_and_which_seat_is_ours() -> None:
    view = parse_view(RUNNING)
    header = header_body(view, {1: "steady"})
    assert header["game"] == "deadmansdraw"
    assert header["players"] == list(view.player_ids)
    assert header["seats"] == {"1": "steady"}


def test_an_intent_has_the_action_its_reason_the_alternatives_and_the_position() -> None:
    options = (Option(ANSWER, 2.5, "safe"), Option(respond(EffectType.ORACLE), 1.0))
    decided = Decided(Decision(ANSWER, "It is safe.", options), timedelta(milliseconds=12.5))
    body = intent_body(effect_pending(EffectType.ORACLE), decided, AT, "worker-1", "steady")
    assert body["action"] == {
        "etype": "ResponseToEffect",
        "effect": {"effectType": "Oracle", "card": {"suit": "Anchor", "value": 5}},
    }
    assert body["reason"] == "It is safe."
    assert body["options"] == [
        {"action": "Oracle: Anchor5", "value": 2.5, "note": "safe"},
        {"action": "Oracle: not taken", "value": 1.0, "note": ""},
    ]
    assert (body["seat"], body["turn"], body["strategy"]) == (0, 1, "steady")
    assert (body["decisionMs"], body["worker"], body["fault"]) == (12.5, "worker-1", None)
    assert body["decidedAt"] == AT.isoformat()


def test_a_position_is_text_with_the_pending_effect() -> None:
    decided = Decided(Decision(DRAW, "why not"), timedelta(0))
    body = intent_body(effect_pending(EffectType.ORACLE), decided, AT, "w", "s")
    position = json.loads(json.dumps(body))["position"]
    assert position["banks"] == ["Key5 Mermaid8", "Chest4 Key7"]
    assert position["playArea"] == "Oracle6"
    assert position["pending"] == {"effect": "Oracle", "cards": "Anchor5", "krakenCount": 0}
    assert position["knownTop"] is None
    first = intent_body(opening(), decided, AT, "w", "s")
    assert json.loads(json.dumps(first))["position"]["pending"] is None


def test_a_blind_intent_tells_its_action_and_why_it_was_blind() -> None:
    body = blind_intent_body(blind_action(()), "an unknown effect", AT, "worker-1")
    assert body["action"] == {"etype": "Draw", "autopick": True}
    assert body["reason"] == body["fault"] == "an unknown effect"


def test_facts_are_the_arenas_moves_from_the_first_unknown_one_on() -> None:
    whole = json.loads(FINISHED)
    view = parse_view(whole)
    last = whole["moves"][-1]
    everything = facts_beyond(view, {})
    assert everything[last["sequenceId"]] == last
    known = {number: body for number, body in everything.items() if body != last}
    assert facts_beyond(view, known) == {last["sequenceId"]: last}
    assert facts_beyond(view, everything) == {}


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


def test_an_outcome_counts_what_happened() -> None:
    whole = finished(timeoutCount=2)
    outcome = outcome_body(parse_view(whole), {0})
    assert outcome["moves"] == whole["moveCount"]
    assert outcome["turns"] == whole["turnCount"]
    assert outcome["timeouts"] == 2
    assert outcome["endedAt"] == whole["lastMoveAt"]


def test_a_match_that_is_missing_has_an_outcome_with_the_same_fields() -> None:
    assert missing_body().keys() == outcome_body(parse_view(FINISHED), {0}).keys()
    assert missing_body()["result"] == "unknown"
