"""Cards as bits, and the rules of thumb over them: the same as over cards."""

from dataclasses import replace
from random import Random

from support.euchre_random import decisions

from cardsharp.euchre.actions import Question
from cardsharp.euchre.cards import DECK, parse
from cardsharp.euchre.position import project
from cardsharp.euchre.rules import apply, score
from cardsharp.euchre.state import Deal
from cardsharp.euchre.strategies.layout import layout
from cardsharp.euchre.strategies.playout import ALL, PlayStage, Seating, played_out
from cardsharp.euchre.strategies.sound import Rules, discard_first
from cardsharp.euchre.table import DEALER, SEATS, turn


def test_the_spare_card_is_the_first_that_the_rules_discard() -> None:
    rng = Random(4)
    for _ in range(2000):
        trump, hand = rng.randrange(4), rng.sample(DECK, rng.randint(1, 6))
        cards = layout(trump)
        assert cards.number[cards.spare(cards.mask(hand))] == discard_first(hand, trump)[0]


def test_a_hand_is_worth_what_its_cards_are() -> None:
    """Written out: trumps by rank and number, aces by their company, kings, voids to ruff."""
    for hand, thousandths in (
        ("JH JD AH KH QH", [1000, 900, 750, 600, 500, 900, 250, 250, 250]),
        ("9H AS AC 9C 10D", [400, 600, 450]),
        ("9H 10H KS QS 9S", [400, 450, 120, 250, 250]),
    ):
        assert layout(2).worth(layout(2).mask(map(parse, hand.split()))) == sum(thousandths)


def test_a_world_is_played_out_as_the_player_rules_plays_it() -> None:
    """From every card of dealt deals on, played to the end by `rules` and over bits."""
    for seed in range(60):
        for deal in decisions(seed):
            now = turn(deal.table)
            assert now is not None
            if now.question is Question.PLAY:
                assert over_bits(deal) == by_rules(deal)


def by_rules(deal: Deal) -> int:
    """Points of the caller's side less the others', when all seats play as `rules` does."""
    while (now := turn(deal.table)) is not None:
        deal = apply(deal, Rules().decide(project(deal, now.seat)).action)
    result = score(deal.table)
    assert result.caller is not None
    side = result.caller % 2
    return result.points[side] - result.points[1 - side]


def over_bits(deal: Deal) -> int:
    table, now = deal.table, turn(deal.table)
    assert now is not None
    assert table.call is not None
    seating, cards = Seating(table.call, table.lone_defender), layout(table.call.suit)
    stage = PlayStage()
    for trick in table.tricks:
        for seat, card in trick:
            stage = replace(stage, seat=seat).after(cards.bit[card], seating)
    stage = replace(stage, seat=now.seat)
    hands = [cards.mask(deal.hand(seat)) for seat in SEATS]
    turned = cards.bit[table.turn_card]
    dealt = [cards.mask(deal.cards[5 * seat : 5 * seat + 5]) for seat in SEATS]
    if table.call.picks_up:
        dealt[DEALER] |= turned
    down = 0 if table.call.picks_up else turned
    return played_out(seating, hands, [ALL & ~held & ~down for held in dealt], stage)
