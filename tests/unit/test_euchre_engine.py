"""The engine: its exact search, the worlds that it draws, and what it answers."""

from collections.abc import Sequence
from random import Random

import pytest
from support.euchre_random import decisions

from cardsharp.euchre.actions import Bid, Discard, Play, Question
from cardsharp.euchre.cards import DECK, parse, strength, suit_of
from cardsharp.euchre.rules import legal_cards, turn
from cardsharp.euchre.strategies import build
from cardsharp.euchre.strategies.pimc import Effort, Pimc
from cardsharp.euchre.strategies.solver import Search, layout
from cardsharp.euchre.strategies.worlds import sample
from cardsharp.euchre.table import DEALER, SEATS, Played, Table
from cardsharp.euchre.view import View, project

SMALL = Effort(bid=6, discard=6, play=(6, 6, 6, 6, 6))
HEARTS = 2


def views(count: int, *questions: Question) -> list[View]:
    found = []
    for seed in range(count):
        for deal in decisions(seed):
            now = turn(deal.table)
            assert now is not None
            if not questions or now.question in questions:
                found.append(project(deal, now.seat))
    return found


def most_tricks(
    hands: Sequence[Sequence[int]], trump: int, side: int, leader: int, out: frozenset[int]
) -> int:
    """Tricks of a side with perfect play: every card of everybody tried, nothing clever."""
    if not any(hands[seat] for seat in SEATS if seat not in out):
        return 0

    def go_on(trick: list[tuple[int, int]], held: list[list[int]]) -> int:
        if len(trick) == 4 - len(out):
            led = suit_of(trick[0][1], trump)
            winner = max(trick, key=lambda one: strength(one[1], trump, led))[0]
            return (winner % 2 == side) + most_tricks(held, trump, side, winner, out)
        seat = trick[-1][0] + 1 if trick else leader
        while seat % 4 in out:
            seat += 1
        seat %= 4
        led_suit = suit_of(trick[0][1], trump) if trick else None
        values = []
        for card in legal_cards(tuple(held[seat]), led_suit, trump):
            after = [list(hand) for hand in held]
            after[seat].remove(card)
            values.append(go_on([*trick, (seat, card)], after))
        return max(values) if seat % 2 == side else min(values)

    return go_on([], [list(hand) for hand in hands])


@pytest.mark.parametrize("out", [frozenset[int](), frozenset({2}), frozenset({1, 2})])
def test_the_search_finds_what_trying_everything_finds(out: frozenset[int]) -> None:
    """Three cards each, 60 times: few enough to try every line of play."""
    rng = Random(7)
    for _ in range(60):
        cards = rng.sample(DECK, 12)
        hands = [cards[3 * seat : 3 * seat + 3] for seat in SEATS]
        trump, leader = rng.randrange(4), rng.randrange(4)
        caller = rng.choice([seat for seat in SEATS if seat not in out])
        best = most_tricks(hands, trump, caller % 2, leader, out)
        for need in range(5):
            search = Search(hands, trump, caller, out)
            assert search.makes(leader, need) == (best >= need)


def test_the_search_goes_on_from_the_middle_of_a_trick() -> None:
    """Whoever leads has the best of what each lead leads to; so has the second, of each reply."""
    rng = Random(8)
    for _ in range(60):
        cards = rng.sample(DECK, 12)
        hands = [cards[3 * seat : 3 * seat + 3] for seat in SEATS]
        search = Search(hands, HEARTS, 0)
        for need in (1, 2, 3):
            leads = [search.makes_after([(0, card)], need) for card in hands[0]]
            assert search.makes(0, need) == any(leads)
            for lead, makes in zip(hands[0], leads, strict=True):
                legal = legal_cards(tuple(hands[1]), suit_of(lead, HEARTS), HEARTS)
                replies = [search.makes_after([(0, lead), (1, card)], need) for card in legal]
                assert makes == all(replies)


def test_neighbours_in_a_suit_are_one_move_and_a_card_between_parts_them() -> None:
    cards = layout(HEARTS)
    held = cards.mask(map(parse, ("KS", "QS", "9S")))
    between = cards.mask([parse("10S")])
    assert len(cards.moves(held, held)) == 1
    assert [cards.card[bit.bit_length() - 1] for bit in cards.moves(held, held | between)] == [
        parse("KS"),
        parse("9S"),
    ]


def test_every_world_agrees_with_what_the_seat_has_seen() -> None:
    for view in views(60):
        for world, _ in sample(view, 4, Random(1)):
            check_world(view, world.hands, world.dealt)


def check_world(view: View, hands: Sequence[Sequence[int]], dealt: Sequence[Sequence[int]]) -> None:
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
        view = View(0, Question.PLAY, hand, table, tuple(map(Play, hand)))
        worlds = sample(view, 200, Random(3))
        count = sum(
            times * sum(suit_of(card, HEARTS) == HEARTS for card in world.dealt[2])
            for world, times in worlds
        )
        return count / 200

    hand = tuple(map(parse, ("9C", "10C", "9D", "10D", "9S")))
    passes = (Bid(), Bid())
    called = Table(parse("QH"), (*passes, Bid(HEARTS)), swapped=True)
    by_dealer = Table(parse("QH"), (*passes, Bid(), Bid(HEARTS)), swapped=True)
    assert trumps(called) > trumps(by_dealer) + 0.5


def test_the_engine_answers_legally_and_always_the_same() -> None:
    for view in views(8):
        decision = Pimc(effort=SMALL).decide(view)
        assert decision.action in view.choices
        assert Pimc(effort=SMALL).decide(view) == decision


def test_the_engine_explains_itself() -> None:
    view = next(one for one in views(3, Question.PLAY) if len(one.choices) > 3)
    decision = Pimc(effort=SMALL).decide(view)
    assert decision.worlds == 6
    assert decision.options
    points = [option.points for option in decision.options]
    assert all(value is not None and -4 <= value <= 4 for value in points)
    best = max(decision.options, key=lambda option: option.points or 0.0)
    chosen = next(one for one in decision.options if one.action == decision.action)
    assert chosen.points == best.points


def test_a_hand_that_cannot_lose_is_called_alone() -> None:
    hand = tuple(map(parse, ("QH", "KH", "AH", "JD", "JH")))
    table = Table(parse("9H"))
    choices = (Bid(), Bid(HEARTS), Bid(HEARTS, alone=True))
    view = View(0, Question.BID, tuple(sorted(hand)), table, choices)
    assert Pimc(effort=SMALL).decide(view).action == Bid(HEARTS, alone=True)


def test_a_hopeless_hand_is_passed() -> None:
    hand = tuple(sorted(map(parse, ("9C", "10C", "9S", "10S", "9D"))))
    view = View(
        0,
        Question.BID,
        hand,
        Table(parse("JH")),
        (Bid(), Bid(HEARTS), Bid(HEARTS, alone=True)),
    )
    assert Pimc(effort=SMALL).decide(view).action == Bid()


def test_a_useless_card_is_laid_aside_rather_than_a_trump() -> None:
    six = tuple(sorted(map(parse, ("JH", "JD", "AH", "KH", "9H", "9C"))))
    table = Table(parse("9H"), (Bid(), Bid(), Bid(), Bid(HEARTS)))
    view = View(DEALER, Question.DISCARD, six, table, tuple(map(Discard, six)))
    assert Pimc(effort=SMALL).decide(view).action == Discard(parse("9C"))


def test_work_ends_at_its_limit_and_time_is_the_last_resort() -> None:
    view = next(one for one in views(3, Question.BID) if one.table.bids == ())
    limited = Pimc(effort=Effort(bid=50, nodes=1)).decide(view)
    assert 0 < limited.worlds < 50
    assert not limited.cut, "the same on any machine"
    ticks = iter(range(0, 1000, 10))
    hurried = Pimc(lambda: float(next(ticks)), Effort(bid=50)).decide(view)
    assert 0 < hurried.worlds < 50
    assert hurried.cut
    assert hurried.action in view.choices


def test_a_view_that_no_world_fits_is_answered_by_rule() -> None:
    """Seat 1 has shown void of all but diamonds, and all diamonds are gone."""
    tricks = tuple(
        tuple(Played(int(seat), parse(card)) for seat, card in map(str.split, trick))
        for trick in (
            ("0 9C", "1 9D", "2 10D", "3 QD"),
            ("0 9S", "1 KD", "2 AD", "3 9H"),
            ("3 10H", "0 10C", "1 QS", "2 KS"),
        )
    )
    table = Table(parse("AS"), (*[Bid()] * 4, Bid(HEARTS)), tricks=tricks)
    hand = (parse("QC"), parse("KC"))
    view = View(0, Question.PLAY, hand, table, tuple(map(Play, hand)))
    assert sample(view, 50, Random(1)) == []
    decision = Pimc(effort=SMALL).decide(view)
    assert decision.action in view.choices
    assert decision.reason.startswith("No world fits the view.")


def test_the_engine_is_known_by_name() -> None:
    assert isinstance(build("pimc"), Pimc)
