"""A decision knows what its seat can see, and nothing else (docs/spec/euchre.md section 9).

That no hidden card changes a position or a decision is in tests/contract.
"""

import json

from support.euchre_random import decisions, view, views

from cardsharp.euchre.actions import Question
from cardsharp.euchre.cards import DECK, name, parse
from cardsharp.euchre.fallback import decide
from cardsharp.euchre.journal import decision_entry
from cardsharp.euchre.records import DealKey
from cardsharp.euchre.rules import HAND
from cardsharp.euchre.strategies import build
from cardsharp.euchre.table import DEALER, ToAct


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
