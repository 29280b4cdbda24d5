"""The rules of Euchre (docs/spec/euchre.md section 6)."""

import pytest

from cardsharp.errors import Illegal, Malformed
from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import SUITS, parse
from cardsharp.euchre.rules import Deal, apply, legal_actions, legal_bids, start
from cardsharp.euchre.table import ToAct, turn

CLUBS, DIAMONDS, HEARTS, SPADES = SUITS


def cards(text: str) -> tuple[int, ...]:
    return tuple(map(parse, text.split()))


# Seat 0 to 3, the turn card, the buried ones. Spades are turned up.
DEALT = cards("9C 10C JC QC KC  9D 10D JD QD KD  9H 10H JH QH KH  9S 10S JS QS KS  AS  AC AD AH")


def after(*actions: Action, dealt: tuple[int, ...] = DEALT) -> Deal:
    deal = start(dealt)
    for action in actions:
        deal = apply(deal, action)
    return deal


def test_the_first_round_is_about_the_turned_suit_the_second_about_the_others() -> None:
    turned = parse("9H")
    assert set(legal_bids(2, turned)) == {PASS, Bid(HEARTS), Bid(HEARTS, alone=True)}
    second = {bid.suit for bid in legal_bids(4, turned)}
    assert second == {None, CLUBS, DIAMONDS, SPADES}
    assert PASS in legal_bids(7, turned), "nobody is stuck"


def test_a_call_of_the_first_round_makes_the_dealer_discard_one_of_six() -> None:
    deal = after(PASS, Bid(SPADES))
    assert turn(deal.table) == ToAct(3, Question.DISCARD)
    assert len(legal_actions(deal)) == 6
    assert Discard(parse("AS")) in legal_actions(deal), "the turn card may go as well"
    deal = apply(deal, Discard(parse("9S")))
    assert set(deal.hand(3)) == set(cards("10S JS QS KS AS"))
    assert turn(deal.table) == ToAct(0, Question.PLAY)


def test_only_a_lone_caller_may_be_defended_against_alone_and_the_first_yes_counts() -> None:
    deal = after(*[PASS] * 5, Bid(DIAMONDS, alone=True))
    assert turn(deal.table) == ToAct(2, Question.DEFEND)
    declined = apply(deal, Defend(alone=False))
    assert turn(declined.table) == ToAct(0, Question.DEFEND)
    accepted = apply(declined, Defend(alone=True))
    assert accepted.table.sitting_out == {3, 2}
    assert accepted.table.lone_defender == 0
    assert turn(accepted.table) == ToAct(0, Question.PLAY)
    assert apply(deal, Defend(alone=True)).table.sitting_out == {3, 0}


def test_an_action_out_of_place_is_refused_and_says_why() -> None:
    with pytest.raises(Illegal, match="Seat 0 is to bid and may not play 9C"):
        after(Play(parse("9C")))
    with pytest.raises(Illegal, match="may not spades"):
        after(*[PASS] * 4, Bid(SPADES))
    with pytest.raises(Illegal, match="The deal is over"):
        after(*[PASS] * 9)
    with pytest.raises(Malformed, match="exactly once"):
        start((0,) * 24)
