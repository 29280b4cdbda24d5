"""The engine: the worlds that it draws, how choices race, and what it answers."""

from collections.abc import Sequence

import pytest
from support.euchre_random import views

from cardsharp.euchre.actions import Bid, Play, Question
from cardsharp.euchre.cards import DECK, parse, suit_of
from cardsharp.euchre.fallback import decide
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision
from cardsharp.euchre.strategies.dice import Dice
from cardsharp.euchre.strategies.pimc import Effort, Pimc
from cardsharp.euchre.strategies.worlds import sample
from cardsharp.euchre.table import DEALER, SEATS, PlayedCard, Table

SMALL = Effort(worlds=8, batch=8)
HEARTS = 2


def cards_of(held: int) -> tuple[int, ...]:
    return tuple(card for card in DECK if held >> card & 1)


def hand(held: str) -> tuple[int, ...]:
    return tuple(sorted(map(parse, held.split())))


def playing(held: str, table: Table) -> Position:
    """The question to seat 0 which card it plays."""
    cards = hand(held)
    return Position(0, Question.PLAY, cards, table, tuple(map(Play, cards)))


def test_every_world_agrees_with_what_the_seat_has_seen() -> None:
    for view in views(60):
        for world, _ in sample(view, 4, Dice(1)):
            check_world(view, list(map(cards_of, world.hands)), list(map(cards_of, world.dealt)))


def check_world(
    view: Position, hands: Sequence[Sequence[int]], dealt: Sequence[Sequence[int]]
) -> None:
    table = view.table
    assert tuple(hands[view.seat]) == view.hand
    held = [card for hand in hands for card in hand]
    played = {card for trick in table.tricks for _, card in trick}
    assert len(held) == len(set(held))
    assert played.isdisjoint(held)
    assert sorted(len(hand) for hand in dealt) == [5] * 4
    assert len({card for hand in dealt for card in hand}) == 20
    for seat in SEATS:
        own = table.played_by(seat)
        assert {*own} <= {*dealt[seat], table.turn_card}
        if view.question is not Question.DISCARD or seat != DEALER:
            assert len(hands[seat]) + len(own) == 5
        for card in hands[seat]:
            assert suit_of(card, table.trump) not in table.voids[seat]


def test_a_dealer_who_called_is_thought_to_hold_trumps() -> None:
    """Bids weigh: a caller's likely hands are not those of somebody who passed."""

    def trumps(table: Table) -> float:
        worlds = sample(playing("9C 10C 9D 10D 9S", table), 200, Dice(3))
        count = sum(
            times * sum(suit_of(card, HEARTS) == HEARTS for card in cards_of(world.dealt[2]))
            for world, times in worlds
        )
        return count / 200

    passes = (Bid(), Bid())
    called = Table(parse("QH"), (*passes, Bid(HEARTS)), swapped=True)
    by_dealer = Table(parse("QH"), (*passes, Bid(), Bid(HEARTS)), swapped=True)
    assert trumps(called) > trumps(by_dealer) + 0.5


@pytest.mark.parametrize(
    ("turned", "held", "bid"),
    [
        ("9H", "QH KH AH JD JH", Bid(HEARTS, alone=True)),  # it cannot lose
        ("JH", "9C 10C 9S 10S 9D", Bid()),  # it is hopeless
    ],
)
def test_a_hand_is_called_for_what_it_is_worth(turned: str, held: str, bid: Bid) -> None:
    choices = (Bid(), Bid(HEARTS), Bid(HEARTS, alone=True))
    view = Position(0, Question.BID, hand(held), Table(parse(turned)), choices)
    assert Pimc(effort=SMALL).decide(view).action == bid


def test_work_ends_at_its_limit_and_time_is_the_last_resort() -> None:
    view = next(
        one
        for one in views(20, Question.BID)
        if one.table.bids == () and len(Pimc(effort=SMALL).decide(one).options) > 1
    )
    limited = Pimc(effort=Effort(worlds=50, batch=10, work=1)).decide(view)
    assert limited.worlds == 10
    assert not limited.cut, "the same on any machine"
    ticks = iter(range(0, 1000, 10))
    hurried = Pimc(lambda: float(next(ticks)), Effort(worlds=50, batch=50)).decide(view)
    assert 0 < hurried.worlds < 50
    assert hurried.cut
    assert hurried.action in view.choices


def test_a_view_that_no_world_fits_is_answered_by_rule() -> None:
    """Seat 1 has shown void of all but diamonds, and all diamonds are gone."""
    tricks = tuple(
        tuple(PlayedCard(int(seat), parse(card)) for seat, card in map(str.split, trick))
        for trick in (
            ("0 9C", "1 9D", "2 10D", "3 QD"),
            ("0 9S", "1 KD", "2 AD", "3 9H"),
            ("3 10H", "0 10C", "1 QS", "2 KS"),
        )
    )
    table = Table(parse("AS"), (*[Bid()] * 4, Bid(HEARTS)), tricks=tricks)
    view = playing("QC AC", table)
    assert sample(view, 50, Dice(1)) == []
    decision = Pimc(effort=SMALL).decide(view)
    assert decision.action in view.choices
    assert decision.reason.startswith("No world fits the view.")


def test_dice_fall_the_same_way_everywhere() -> None:
    """These were thrown elsewhere."""
    dice, cards = Dice(42), list(DECK)
    dice.shuffle(cards)
    assert cards[:6] == [13, 6, 11, 16, 17, 5]
    assert dice.share() == 0.34461165588511367


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
