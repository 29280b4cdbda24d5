"""The players of Euchre, by name."""

import pytest
from support.euchre_random import views

from cardsharp.euchre.actions import Play
from cardsharp.euchre.cards import parse
from cardsharp.euchre.fallback import decide
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision


def cards(text: str) -> tuple[int, ...]:
    return tuple(map(parse, text.split()))


class Broken:
    def decide(self, view: Position) -> Decision:
        raise ZeroDivisionError(view.seat)


class Cheat:
    def decide(self, view: Position) -> Decision:
        return Decision(Play(view.unseen[0]), "I wish I had it.")


@pytest.mark.parametrize(
    ("strategy", "fault"), [(Broken(), "ZeroDivisionError"), (Cheat(), "may not play")]
)
def test_a_safe_answer_replaces_one_that_fails_or_is_not_allowed(
    strategy: Broken | Cheat, fault: str
) -> None:
    for view in views(20):
        decided = decide(strategy, view, lambda: 0.0)
        assert decided.fault is not None
        assert fault in decided.fault
        assert decided.decision.action in view.choices
