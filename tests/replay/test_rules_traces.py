"""The rules replay every recorded match of the real server: events, statuses and views."""

from typing import Any

import pytest
from support.recorded import Matches, about, recorded_action, sample_and_whole

from cardsharp.deadmansdraw.arena.dto import bank_json, cards_json, effect_json, event_json
from cardsharp.deadmansdraw.arena.inputs import parse_body
from cardsharp.deadmansdraw.bank import bank_of
from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.deadmansdraw.events import TurnStarted
from cardsharp.deadmansdraw.rules import State, apply, force_turn_end, start
from cardsharp.errors import RulesError

JS_ENGINE_TEXTS = ("Unexpected token", "Expected ','", "The expression evaluated to a falsy value")


def card(name: str) -> Card:
    return Card(Suit(name[:-1]), int(name[-1]))


def cards(items: list[dict[str, Any]]) -> tuple[Card, ...]:
    return tuple(Card(Suit(item["suit"]), item["value"]) for item in items)


class Recorded:
    """Chance that repeats the picks that the server made in one recorded response."""

    def __init__(self, response: object) -> None:
        events = response if isinstance(response, list) else []
        self.picks = [
            picked
            for event in events
            for picked in (
                [event["cardPlayedEffect"]["cards"]]
                if event.get("cardPlayedEffect", {}).get("effectType") == "Map"
                else [event["turnEndedBonusCards"]]
                if event.get("turnEndedBonusCards")
                else []
            )
        ]

    def __call__(self, pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
        picked = cards(self.picks.pop(0))
        assert len(picked) == number
        assert set(picked) <= set(pile)
        return picked


class TracedMatch:
    """One match as the rules and the counters of moves and turns tell it."""

    def __init__(self, trace: dict[str, Any]) -> None:
        initial = trace["initial"]
        banks = [
            bank_of(Card(Suit(suit), value) for suit, values in bank.items() for value in values)
            for bank in initial["state"]["banks"]
        ]
        self.state: State = start(
            tuple(card(name) for name in trace["deck"]),
            tuple(card(name) for name in trace["initialDiscard"]),
            initial["activePlayerIndex"],
            (banks[0], banks[1]),
            cards(initial["state"]["playArea"]),
        )
        self.players = trace["players"]
        self.moves, self.turn, self.moves_in_turn = 1, 1, 1

    def view(self) -> dict[str, Any]:
        state = self.state
        over = state.outcome is not None
        shown: dict[str, Any] = {
            "banks": [bank_json(bank) for bank in state.banks],
            "playArea": cards_json(state.play_area),
            "currentPlayerIndex": None if over else state.player,
        }
        if state.pending:
            shown["pendingEffect"] = effect_json(state.pending)
        if state.outcome:
            shown["winnerIdx"] = state.outcome.winner
        if state.timeouts:
            shown["timeoutCount"] = state.timeouts
        return {
            "state": shown,
            "moveCount": self.moves,
            "turnCount": self.turn,
            "moveCountInTurn": self.moves_in_turn
            if not state.between_turns or self.ended_naturally
            else None,
            "activePlayerIndex": state.active,
            "drawPileSize": len(state.draw_pile),
            "discardPileSize": len(state.discard_pile),
        }

    @property
    def ended_naturally(self) -> bool:
        return self.state.outcome is not None and not self.state.outcome.terminated

    def advance(self, state: State, events: tuple[Any, ...]) -> None:
        self.state = state
        self.moves += 1
        if any(isinstance(event, TurnStarted) for event in events):
            self.turn, self.moves_in_turn = self.turn + 1, 1
        else:
            self.moves_in_turn += 1


def play(match: TracedMatch, step: dict[str, Any]) -> tuple[int, object]:
    """Status and body that our rules give to a recorded request of the player to move."""
    chance = Recorded(step["response"])
    comments = [
        event["comment"]
        for event in (step["response"] if isinstance(step["response"], list) else [])
        if event["eventType"] == "Comment"
    ]
    raw = step.get("raw_body")
    try:
        body = step["action"] if raw is None else parse_body(raw.encode(), is_json=True)
        action = recorded_action(body)
        if comments:
            state, events = force_turn_end(match.state, comments[0], comments[-1], chance)
        else:
            state, events = apply(match.state, action, chance)
    except RulesError as error:
        return 400, {"error": str(error)}
    match.advance(state, events)
    assert not chance.picks
    return 200, [event_json(event) for event in events]


def same_error(ours: object, recorded: object) -> bool:
    """Equal texts, but for the JavaScript engine's own (docs/spec/arena.md section 10)."""
    assert isinstance(recorded, dict)
    text = str(recorded.get("error"))
    return ours == recorded or text.startswith(JS_ENGINE_TEXTS)


def check_view(match: TracedMatch, look: dict[str, Any]) -> None:
    ours = match.view()
    assert ours == {key: look["view"][key] for key in ours}
    # json equality ignores the order of a bank's suits, which autopick and opponents depend on
    for bank, recorded in zip(ours["state"]["banks"], look["view"]["state"]["banks"], strict=True):
        assert list(bank) == list(recorded)
    assert [str(c) for c in match.state.discard_pile] == look["discardPile"]
    assert len(match.state.draw_pile) == look["drawPileLeft"]


def seen(look: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    """A recorded look whose view is written out where it is "the same as before"."""
    if look["view"] != "same":
        return look
    assert before is not None
    return {**look, "view": before["view"]}


def replay(trace: dict[str, Any]) -> int:
    """Play a trace up to its end or a watchdog call; the number of steps compared."""
    match, steps = TracedMatch(trace), 0
    last: dict[str, Any] | None = None
    for step in trace["steps"]:
        if "wait_s" in step:
            continue
        last = seen(step, last)
        check_view(match, last)
        if step.get("watchdog"):
            return steps
        steps += 1
        active = match.state.active
        if step["status"] in (401, 409, 410) or step["as"] != match.players[active]:
            continue  # refused before the rules are asked: the arena's own replay covers it
        status, body = play(match, step)
        assert status == step["status"], (step["action"], body)
        assert body == step["response"] or (status == 400 and same_error(body, step["response"]))
    check_view(match, seen(trace["final"]["last_look"], last))
    return steps


@sample_and_whole(pytest.mark.slow)
def test_every_recorded_match_replays_exactly(matches: Matches) -> None:
    """All events, statuses and views of all recorded matches are equal."""
    steps = 0
    for trace in matches.started():
        with about(trace):
            steps += replay(trace)
    assert steps > matches.least
