"""The players of Euchre, by name."""

import pytest
from support.euchre_random import views

from cardsharp.errors import ConfigError
from cardsharp.euchre.actions import Bid, Discard, Play
from cardsharp.euchre.cards import SUITS, parse
from cardsharp.euchre.fallback import decide
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision, build, names
from cardsharp.euchre.strategies.sound import discard_first

HEARTS = 2


def cards(text: str) -> tuple[int, ...]:
    return tuple(map(parse, text.split()))


def test_the_strategies_are_known_by_name() -> None:
    assert {"pimc", "random", "rules"} <= set(names())
    with pytest.raises(ConfigError, match=r"No strategy is called 'x'. There are: .*rules"):
        build("x")


def test_chance_uses_every_choice() -> None:
    taken = {build("random").decide(view).action for view in views(150)}
    assert {Bid(suit, alone) for suit in SUITS for alone in (False, True)} < taken
    assert {Play(card) for card in range(24)} < taken
    assert any(isinstance(action, Discard) for action in taken)


def test_a_low_lonely_card_is_laid_aside_first_and_the_right_bower_last() -> None:
    order = discard_first(cards("JH AH 9C 9S 10S AD"), HEARTS)
    assert order[0] == parse("9C")
    assert order[-1] == parse("JH")
    assert order.index(parse("AD")) > order.index(parse("10S"))


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
