"""The log entry of a decision: what was weighed, and nothing that the seat cannot know."""

import io
import json
import sys

from support.euchre_random import views

from cardsharp.cloud import telemetry
from cardsharp.deciding import Decided
from cardsharp.euchre.actions import Question
from cardsharp.euchre.asks import PlayAsk
from cardsharp.euchre.cards import DECK, name, parse
from cardsharp.euchre.fallback import decide
from cardsharp.euchre.journal import LogJournal, decision_entry
from cardsharp.euchre.position import Position
from cardsharp.euchre.records import DealKey
from cardsharp.euchre.strategies import Decision, Option, build

KEY = DealKey("7f0e", 0, 3)


def asked(view: Position) -> PlayAsk:
    cards = tuple(action.card for action in view.choices if hasattr(action, "card"))
    return PlayAsk(len(view.table.complete_tricks), 0, view.seat, cards)


def test_the_entry_names_the_candidates_with_their_points_and_the_worlds() -> None:
    view = views(1, Question.PLAY)[0]
    options = tuple(Option(action, 0.12345) for action in view.choices)
    decision = Decision(view.choices[0], "The best.", options, worlds=30)
    entry = decision_entry(KEY, asked(view), view, Decided(decision))
    assert entry["worlds"] == 30
    assert entry["question"] == "play"
    assert entry["answer"] == str(view.choices[0])
    assert entry["candidates"] == [
        {"answer": str(action), "points": 0.123} for action in view.choices
    ]
    assert "cut" not in entry
    assert "fault" not in entry


def test_the_entry_names_no_card_that_the_seat_does_not_know() -> None:
    for view in views(30, Question.PLAY):
        decided = decide(build("rules"), view, lambda: 0.0)
        entry = json.dumps(decision_entry(KEY, asked(view), view, decided))
        words = entry.replace('"', " ").replace(",", " ").split()
        shown = {parse(word) for word in words if word in {name(card) for card in DECK}}
        assert shown <= {*view.dealt, *DECK} - set(view.unseen)


def test_a_safe_answer_is_written_as_a_warning_with_its_fault() -> None:
    stream = io.StringIO()
    telemetry.redirect(stream)
    try:
        journal = LogJournal(telemetry.logger, telemetry.meter)
        view = views(1, Question.PLAY)[0]
        decision = Decision(view.choices[0], "Safe answer.")
        journal.decided(KEY, asked(view), view, Decided(decision, fault="the strategy failed"))
        journal.troubled(KEY, "trying again", OSError("gone"))
        telemetry.meter.flush()
    finally:
        telemetry.redirect(sys.stdout)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    warnings = [line for line in lines if line.get("level") == "WARNING"]
    assert [line["message"] for line in warnings] == ["decision", "trying again"]
    assert warnings[0]["fault"] == "the strategy failed"
    assert warnings[1]["cause"] == "OSError: gone"
    assert any("SafeActions" in line for line in lines)
    assert any("DecisionTime" in line for line in lines)
