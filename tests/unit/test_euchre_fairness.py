"""A decision knows what its seat can see, and nothing else (docs/spec/euchre.md section 9)."""

import json
from dataclasses import replace

import pytest
from support.euchre_random import decisions, view, views

from cardsharp.euchre.actions import Question
from cardsharp.euchre.cards import DECK, Card, name, parse
from cardsharp.euchre.fallback import decide
from cardsharp.euchre.journal import decision_entry
from cardsharp.euchre.records import DealKey
from cardsharp.euchre.state import HAND, TURN, Deal
from cardsharp.euchre.strategies import build, names
from cardsharp.euchre.table import DEALER, ToAct, turn

DEALS = {"pimc": 2}
"""Deals that a strategy is asked about, 60 of those that are quick."""


class Poison(int):
    """A card that nobody may look at: whatever is done with it fails."""

    def _fail(self, *_: object) -> int:
        raise AssertionError("somebody looked at a hidden card")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _fail  # type: ignore[assignment]
    __add__ = __sub__ = __and__ = __rshift__ = __mod__ = __floordiv__ = _fail
    __hash__ = __index__ = __int__ = __bool__ = __str__ = __repr__ = __format__ = _fail  # type: ignore[assignment]


def poisoned(deal: Deal) -> Deal:
    """The deal with every card poisoned that the seat to decide has not held or seen."""
    now = turn(deal.table)
    assert now is not None
    own = range(HAND * now.seat, HAND * (now.seat + 1))
    cards: list[Card] = [
        card if place in own or place == TURN else Poison() for place, card in enumerate(deal.cards)
    ]
    laid = deal.discard
    if laid is not None and now.seat != DEALER:
        laid = Poison()
    return replace(deal, cards=tuple(cards), discard=laid)


def test_poison_works() -> None:
    with pytest.raises(AssertionError, match="hidden card"):
        sorted([Poison(), 3])
    with pytest.raises(AssertionError, match="hidden card"):
        {Poison()}
    with pytest.raises(AssertionError, match="hidden card"):
        Poison() == 3  # noqa: B015 - comparing is the point


@pytest.mark.parametrize("name", names())
def test_every_decision_works_with_all_hidden_cards_poisoned(name: str) -> None:
    strategy = build(name)
    seen = set()
    for seed in range(DEALS.get(name, 60)):
        for deal in decisions(seed):
            honest = view(deal)
            blind = view(poisoned(deal))
            assert blind == honest
            assert strategy.decide(blind) == strategy.decide(honest)
            seen.add(honest.question)
    assert {"bid", "play"} <= seen
    assert len(seen) == 4 or name in DEALS, "every question was asked"


def test_views_that_differ_have_different_seeds() -> None:
    views = {view(deal) for seed in range(40) for deal in decisions(seed)}
    assert len({one.seed for one in views}) == len(views)


def test_own_cards_and_unseen_cards_are_told_apart() -> None:
    """What a seat has not held and not seen is exactly what lies where it cannot look."""
    for seed in range(40):
        for deal in decisions(seed):
            shown = view(deal)
            played = {card for trick in deal.table.tricks for _, card in trick}
            own = {*deal.cards[HAND * shown.seat : HAND * shown.seat + HAND]}
            seen = own | played | {deal.table.turn_card}
            assert set(shown.unseen) == set(range(24)) - seen
            assert set(shown.dealt) - {deal.table.turn_card} == own - {deal.table.turn_card}


def test_a_dealer_does_not_know_at_the_discard_whether_an_opponent_calls_alone() -> None:
    """The discard is asked for before the call is told (docs/spec/euchre.md section 4)."""
    for seed in range(200):
        for deal in decisions(seed):
            call = deal.table.call
            shown = view(deal)
            if call is None or shown.question != "discard":
                continue
            told = shown.table.call
            assert told is not None
            assert told.alone == (call.alone and call.seat % 2 == DEALER % 2)


def test_the_seed_is_the_same_in_every_process() -> None:
    """Seeds must not hang on Python's randomised hashes: this one was made elsewhere."""
    deal = next(decisions("fixed"))
    assert view(deal).seed == 9043626633847032657


KEY = DealKey("7f0e", 0, 3)


def test_the_entry_names_no_card_that_the_seat_does_not_know() -> None:
    for seen in views(30, Question.PLAY):
        decided = decide(build("rules"), seen, lambda: 0.0)
        entry = json.dumps(decision_entry(KEY, ToAct(seen.seat, seen.question), seen, decided))
        words = entry.replace('"', " ").replace(",", " ").split()
        shown = {parse(word) for word in words if word in {name(card) for card in DECK}}
        assert shown <= {*seen.dealt, *DECK} - set(seen.unseen)
