"""The exact search, by itself: what perfect play makes of open cards."""

from collections.abc import Sequence
from random import Random

import pytest

from cardsharp.euchre.cards import DECK, parse, strength, suit_of
from cardsharp.euchre.rules import legal_cards
from cardsharp.euchre.strategies.layout import layout
from cardsharp.euchre.strategies.playout import PlayStage, Seating
from cardsharp.euchre.strategies.solver import Search
from cardsharp.euchre.table import SEATS, Call

HEARTS = 2
CALL = Call(4, HEARTS, alone=False)


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


@pytest.mark.parametrize(
    ("call", "lone_defender"),
    [(CALL, None), (Call(4, 1, alone=True), None), (Call(7, 3, alone=True), 2)],
)
def test_the_search_finds_what_trying_everything_finds(
    call: Call, lone_defender: int | None
) -> None:
    """Three cards each, 40 times: few enough to try every line of play."""
    rng, table = Random(7), Seating(call, lone_defender)
    cards = layout(call.suit)
    for _ in range(40):
        dealt = rng.sample(DECK, 12)
        hands = [dealt[3 * seat : 3 * seat + 3] for seat in SEATS]
        leader = rng.randrange(4)
        best = most_tricks(hands, call.suit, call.seat % 2, leader, frozenset(table.out))
        search = Search(table, list(map(cards.mask, hands)))
        assert [search.makes(PlayStage(leader), need) for need in range(5)] == [
            best >= need for need in range(5)
        ]


def test_the_search_goes_on_from_the_middle_of_a_trick() -> None:
    """Whoever leads has the best of what each lead leads to; so has the second, of each reply."""
    rng, cards, table = Random(8), layout(HEARTS), Seating(CALL)
    for _ in range(60):
        dealt = rng.sample(DECK, 12)
        hands = [dealt[3 * seat : 3 * seat + 3] for seat in SEATS]
        search = Search(table, list(map(cards.mask, hands)))
        for need in (1, 2, 3):
            led = {card: PlayStage().after(cards.bit[card], table) for card in hands[0]}
            leads = {c: search.makes(led[c], need, cards.bit[c]) for c in hands[0]}
            assert search.makes(PlayStage(), need) == any(leads.values())
            for lead, makes in leads.items():
                replies = []
                for card in legal_cards(tuple(hands[1]), suit_of(lead, HEARTS), HEARTS):
                    both = cards.mask((lead, card))
                    then = led[lead].after(cards.bit[card], table)
                    replies.append(search.makes(then, need, both))
                assert makes == all(replies)


def test_points_tell_made_all_five_and_euchred_apart() -> None:
    table, cards = Seating(CALL), layout(HEARTS)
    best = cards.mask(map(parse, ("JH", "JD", "AH", "KH", "QH")))
    poor = cards.mask(map(parse, ("9C", "9S", "9D", "10C", "10S")))
    rest = [cards.mask(map(parse, text.split())) for text in ("AC KC QC JC AS", "KS QS JS AD KD")]
    assert Search(table, [best, rest[0], poor, rest[1]]).points(PlayStage()) == 2
    assert Search(table, [poor, best, rest[0], rest[1]]).points(PlayStage()) == -2
    assert Search(table, [best, rest[0], poor, rest[1]]).points(PlayStage(lost=1)) == 1
