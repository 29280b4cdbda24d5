"""Whatever the position, a strategy does what is allowed and says why."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from support.blef import random_round

from cardsharp.blef.actions import BETS
from cardsharp.blef.cards import DECK
from cardsharp.blef.position import position_of
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.odds import bits_of, odds, truths

pools = st.sets(st.sampled_from(DECK)).map(lambda cards: tuple(sorted(cards)))


@given(pool=pools)
def test_the_fast_verdicts_are_the_rules(pool: tuple[object, ...]) -> None:
    cards = [card for card in DECK if card in pool]
    held = truths(bits_of(cards))
    assert [bool(held >> number & 1) for number in range(len(BETS))] == [
        bet.holds(cards) for bet in BETS
    ]


@given(pool=pools)
def test_without_hidden_cards_odds_are_verdicts(pool: tuple[object, ...]) -> None:
    cards = [card for card in DECK if card in pool]
    assert odds(bits_of(cards), 0) == [float(bet.holds(cards)) for bet in BETS]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    players=st.integers(2, 8),
    out=st.integers(0, 6),
    name=st.sampled_from(["bayes", "greedy", "random", "reader", "solved", "threshold(0.1,0.7)"]),
)
def test_every_decision_is_legal_explained_and_repeatable(
    seed: int, players: int, out: int, name: str
) -> None:
    live = random_round(Random(seed), players, min(out, players - 2))
    assert live.turn is not None
    position = position_of(live, live.turn)
    decision = build(name, Random(seed)).decide(position)
    assert decision.action in position.legal_actions()
    assert decision.reason.endswith(".")
    assert decision == build(name, Random(seed)).decide(position)
    if name not in {"random", "reader", "solved"}:
        assert decision == build(name, Random(seed + 1)).decide(position), "it rolls no dice"
    for option in decision.options:
        assert option.action in position.legal_actions()
        assert 0 <= option.value <= 1 + 1e-9
