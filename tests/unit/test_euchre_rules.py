"""The rules of Euchre (docs/spec/euchre.md section 6)."""

import pytest

from cardsharp.errors import Illegal, Malformed
from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import DECK, JACK, SUITS, card, parse, strength, suit_of
from cardsharp.euchre.rules import apply, legal_actions, legal_bids, score, start
from cardsharp.euchre.state import Deal
from cardsharp.euchre.table import PlayedCard, Table, ToAct, turn

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


@pytest.mark.parametrize("trump", SUITS)
def test_the_bowers_are_the_highest_trumps_and_the_left_counts_as_one(trump: int) -> None:
    by_height = sorted(DECK, key=lambda one: strength(one, trump, trump), reverse=True)
    trumps = [one for one in DECK if suit_of(one, trump) == trump]
    assert len(trumps) == 7
    right, left = card(JACK, trump), card(JACK, 3 - trump)
    assert by_height[:2] == [right, left]
    assert set(by_height[:7]) == set(trumps)
    assert left % 4 != trump


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


def finished(tricks: int, *, alone: bool = False, lone_defender: bool = False) -> Table:
    """A deal that seat 0 called, and in which its side took that many tricks.

    Hearts are trumps: whoever is to win plays one, everybody else clubs.
    """
    defences = ((True,) if lone_defender else (False, False)) if alone else ()
    table = Table(0, (*[PASS] * 4, Bid(HEARTS, alone)), False, defences)  # noqa: FBT003 - as dealt
    trumps, others = iter(cards("9H 10H QH KH AH")), iter([*cards("9C 10C QC KC AC")] * 4)
    for number in range(5):
        winner = 0 if number < tricks else 1
        seats = [seat for seat in range(4) if seat not in table.sitting_out]
        trick = tuple(
            PlayedCard(seat, next(trumps) if seat == winner else next(others)) for seat in seats
        )
        table = Table(0, table.bids, False, defences, (*table.tricks, trick))  # noqa: FBT003 - as above
    return table


@pytest.mark.parametrize(
    ("tricks", "alone", "lone_defender", "points"),
    [
        (3, False, False, (1, 0)),
        (4, False, False, (1, 0)),
        (5, False, False, (2, 0)),
        (3, True, False, (1, 0)),
        (4, True, False, (1, 0)),
        (5, True, False, (4, 0)),
        (5, True, True, (4, 0)),
        (2, False, False, (0, 2)),
        (0, False, False, (0, 2)),
        (2, True, False, (0, 2)),
        (2, True, True, (0, 4)),
    ],
)
def test_points(*, tricks: int, alone: bool, lone_defender: bool, points: tuple[int, int]) -> None:
    result = score(finished(tricks, alone=alone, lone_defender=lone_defender))
    assert result.alone == alone
    assert result.points == points
    assert result.tricks == tricks
    assert result.euchred == (tricks < 3)
