"""What holds in every deal, however it is played."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from support.euchre_api import Service

from cardsharp.euchre.cards import DECK
from cardsharp.euchre.rules import Deal
from workbench.euchre.probe import stations

deals = st.integers(0, 2**32).map(lambda seed: list(stations(Random(seed))))
numbers = st.integers(-1, 23)
small = st.integers(0, 7)


@given(deals)
def test_who_follows_suit_could_and_who_did_not_could_not(states: list[Deal]) -> None:
    last = states[-1]
    for deal in states:
        for seat, voids in enumerate(deal.table.voids):
            later = {*last.table.played_by(seat)} - {*deal.table.played_by(seat)}
            trump = deal.table.trump
            assert trump is not None or not voids
            for card in later:
                suit = trump if trump is not None and card == 8 + (3 - trump) else card % 4
                assert suit not in voids


SEATS = st.integers(0, 3)
MESSAGES = {
    "/bid": ({"round": small, "pos": small}, {"suit": st.integers(-1, 4), "alone": st.booleans()}),
    "/swap": ({"declarerPos": SEATS, "turnCard": numbers, "pos": st.just(3)}, {"card": numbers}),
    "/defense": (
        {"declarerPos": SEATS, "trumpSuit": SEATS, "pos": SEATS},
        {"alone": st.booleans()},
    ),
    "/play": (
        {"trickNum": st.integers(0, 4), "trickSeq": SEATS, "pos": SEATS},
        {"card": st.integers(0, 23)},
    ),
}
"""Of each path the fields of a question, and those of a message that tells the answer."""

messages = st.one_of(
    st.tuples(st.just(path), st.fixed_dictionaries(asked, optional=told))
    for path, (asked, told) in MESSAGES.items()
)
offers = st.lists(st.integers(0, 23), min_size=1, max_size=6)


@settings(max_examples=150)
@given(st.permutations(DECK), st.lists(st.tuples(messages, offers), max_size=25))
def test_any_messages_in_any_order_are_answered_and_every_answer_is_among_the_offers(
    cards: list[int], sent: list[tuple[tuple[str, dict[str, int]], list[int]]]
) -> None:
    """Whatever a confused client sends in whatever order: never a failure, never a made-up card.

    A message that carries a decision is told, one that does not is asked.
    """
    service = Service()
    address: dict[str, object] = {"token": "a", "gameNum": 0, "dealNum": 0}
    service.ok("POST", "/deal", {**address, "cards": cards})
    for (path, fields), offered in sent:
        body = {**address, "turnCard": cards[20], **fields}
        decision = "suit" if path == "/bid" else "alone" if path == "/defense" else "card"
        if decision in fields:
            service.ok("POST", path, body)
            continue
        query = "&".join(f"{name}={value}" for name, value in body.items())
        lists = {"/swap": "swappableCards", "/play": "playableCards"}
        if path in lists:
            query += "".join(f"&{lists[path]}={card}" for card in offered)
        answer = service.ok("GET", f"{path}?{query}")
        again = service.ok("GET", f"{path}?{query}")
        assert again == answer, "the same question is given the same answer"
        assert answer.get("card", offered[0]) in offered
        assert answer.get("suit", -1) in {-1, 0, 1, 2, 3}
