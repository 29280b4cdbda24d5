"""Matches of Dead Man's Draw in process: repeatable, and told by figures that add up."""

from random import Random

from cardsharp.deadmansdraw.cards import RULEBOOK_DECK, SERVER_DECK
from cardsharp.deadmansdraw.simulation import deal


def test_a_deal_is_the_whole_deck_with_the_lowest_of_each_suit_discarded() -> None:
    for deck, low in ((SERVER_DECK, 10), (RULEBOOK_DECK, 9)):
        state = deal(Random(1), deck)
        assert len(state.discard_pile) == low
        assert sorted((*state.draw_pile, *state.discard_pile)) == sorted(deck)
    assert {deal(Random(seed)).player for seed in range(20)} == {0, 1}
