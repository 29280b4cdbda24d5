"""The log entry of a decision: what was weighed, and nothing that the seat cannot know."""

import json

from support.euchre_random import views

from cardsharp.euchre.actions import Question
from cardsharp.euchre.asks import PlayAsk
from cardsharp.euchre.cards import DECK, name, parse
from cardsharp.euchre.fallback import decide
from cardsharp.euchre.journal import decision_entry
from cardsharp.euchre.position import Position
from cardsharp.euchre.records import DealKey
from cardsharp.euchre.strategies import build

KEY = DealKey("7f0e", 0, 3)


def asked(view: Position) -> PlayAsk:
    cards = tuple(action.card for action in view.choices if hasattr(action, "card"))
    return PlayAsk(len(view.table.complete_tricks), 0, view.seat, cards)


def test_the_entry_names_no_card_that_the_seat_does_not_know() -> None:
    for view in views(30, Question.PLAY):
        decided = decide(build("rules"), view, lambda: 0.0)
        entry = json.dumps(decision_entry(KEY, asked(view), view, decided))
        words = entry.replace('"', " ").replace(",", " ").split()
        shown = {parse(word) for word in words if word in {name(card) for card in DECK}}
        assert shown <= {*view.dealt, *DECK} - set(view.unseen)
