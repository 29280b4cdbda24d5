"""Euchre: its rules, its HTTP edge, and that a decision knows what its seat can see."""

import json
from datetime import UTC, datetime
from functools import reduce
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.euchre_api import CARDS, Json, Service
from support.euchre_random import decisions, views
from support.recorded import recording

from cardsharp.errors import Illegal, Malformed
from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.assembly import SERVICE
from cardsharp.euchre.cards import DECK, SUITS, name, parse
from cardsharp.euchre.fallback import DECIDER
from cardsharp.euchre.position import project
from cardsharp.euchre.replay import is_over, open_state
from cardsharp.euchre.rules import Deal, apply, legal_actions, legal_bids, start
from cardsharp.euchre.service import decision_entry
from cardsharp.euchre.store import BidEvent, DealKey, Event, PlayEvent, Record
from cardsharp.euchre.strategies import build
from cardsharp.euchre.table import DEALER, ToAct, turn
from cardsharp.web.request import MAX_BODY
from workbench.cloud.http_events import WireRequest, http_event
from workbench.euchre.probe import stations


def test_views_that_differ_have_different_seeds_the_same_in_every_process() -> None:
    """Seeds must not hang on Python's randomised hashes: one was made elsewhere."""
    seen = {*views(40)}
    assert len({one.seed for one in seen}) == len(seen)
    assert project(next(decisions("fixed"))).seed == 9043626633847032657


def test_a_dealer_is_not_told_that_an_opponent_calls_alone() -> None:
    """The discard is asked for before the call is told (docs/spec/euchre.md section 4)."""
    asked = views(100, Question.DISCARD)
    assert not any(one.table.call.alone for one in asked if one.table.call.seat % 2 != DEALER % 2)
    assert any(one.table.call.alone for one in asked), "of a partner it is"


KEY = DealKey("7f0e", 0, 3)


def test_the_entry_names_no_card_that_the_seat_does_not_know() -> None:
    for seen in views(30, Question.PLAY):
        decided = DECIDER.decide(build("rules"), seen, None, lambda: 0.0)
        entry = json.dumps(decision_entry(KEY, ToAct(seen.seat, seen.question), seen, decided))
        words = entry.replace('"', " ").replace(",", " ").split()
        shown = {parse(word) for word in words if word in {name(card) for card in DECK}}
        assert shown <= {*seen.dealt, *DECK} - set(seen.unseen)


CLUBS, DIAMONDS, HEARTS, SPADES = SUITS


def after(*actions: Action) -> Deal:
    """The deal of `CARDS`, of which spades are turned up, after these."""
    return reduce(apply, actions, start(tuple(CARDS)))


def test_what_lies_open_is_told_with_the_seats_as_the_asker_counts_them() -> None:
    table = after(PASS, Bid(SPADES), Discard(parse("9S")), Play(CARDS[0])).table
    told, lead = open_state(table, first=1), name(CARDS[0])
    assert told["bids"] == [[3, "pass"], [0, "order up"]]
    assert told["plays"] == told["trick"] == [[3, lead]]
    assert open_state(table)["bids"] == [[0, "pass"], [1, "order up"]]


def test_the_second_round_is_about_other_suits_and_a_call_of_the_first_makes_a_discard() -> None:
    turned = parse("9H")
    assert set(legal_bids(2, turned)) == {PASS, Bid(HEARTS), Bid(HEARTS, alone=True)}
    second = {bid.suit for bid in legal_bids(4, turned)}
    assert second == {None, CLUBS, DIAMONDS, SPADES}
    assert PASS in legal_bids(7, turned), "nobody is stuck"
    deal = after(PASS, Bid(SPADES))
    assert turn(deal.table) == ToAct(3, Question.DISCARD)
    assert len(legal_actions(deal)) == 6
    assert Discard(parse("AS")) in legal_actions(deal), "the turn card may go as well"
    deal = apply(deal, Discard(parse("9S")))
    assert {*deal.hand(3)} == {*map(parse, ("10S", "JS", "QS", "KS", "AS"))}
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


numbers = st.integers(-1, 23)
small = st.integers(0, 7)


@given(st.integers(0, 2**32))
def test_who_follows_suit_could_and_who_did_not_could_not(seed: int) -> None:
    *states, last = stations(Random(seed))
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


@settings(max_examples=60)
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


ADDRESS = "token=a1&gameNum=0&dealNum=3"
PLAY = f"/play?{ADDRESS}&trickNum=0&trickSeq=1&pos=1"
BID: Json = {
    "token": "a1", "gameNum": 0, "dealNum": 3, "round": 1, "turnCard": 5, "pos": 0, "suit": -1,
    "alone": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def service() -> Service:
    return Service()


LISTS = ("18&playableCards=4", "18,4", "18%2C4", "18&playableCards=4,-1&playableCards=-1")


@pytest.mark.parametrize("cards", LISTS)
def test_lists_in_query_strings_may_repeat_or_have_commas(service: Service, cards: str) -> None:
    answer = service.ok("GET", f"{PLAY}&playableCards={cards}")
    assert answer["card"] == 4, "the lowest, for the deal is not stored"


def test_a_notice_comes_back_without_unknown_fields_or_quotes(service: Service) -> None:
    """It is JSON whatever its type says, and at any stage."""
    for headers in ((), (("content-type", "text/plain"),)):
        asked = WireRequest("POST", "/live//bid", headers, json.dumps(BID).encode())
        made = http_event(asked, datetime.now(UTC))
        made["requestContext"]["stage"] = "live"
        assert service.answer(made)["statusCode"] == 200
    answer = service.ok("POST", "/bid", {"extra": [1], **BID})
    assert answer == {**BID, "suit": None, "alone": None}
    _, answer = service.call("POST", "/bid", {**BID, "suit": "<script>"})
    assert "script" not in json.dumps(answer)


DEAL = {"token": "a1", "gameNum": 0, "dealNum": 0, "status": "new"}
UNREADABLE = ("", "{", "[]", "null", "7", '"x"', "[" * 5000, '{"token": NaN}', "\ud800")
OFFERS = ("", "-1", "x", "24")
UNPLAYABLE = ([*range(23), 0], list(range(23)), [*range(23), 24], "x")


@pytest.mark.parametrize(
    ("target", "body"),
    [
        *(("POST /session", body) for body in UNREADABLE),
        ("POST /session", '{"token": "\\ud800"}'),
        ("POST /session", '{"token": ' + "9" * 5000 + "}"),
        ("POST /session", json.dumps({"token": "a", "info": "x" * MAX_BODY})),
        *(("POST /deal", json.dumps({**DEAL, "cards": cards})) for cards in UNPLAYABLE),
        *((f"GET {PLAY}{cards}", None) for cards in ("", *map("&playableCards={}".format, OFFERS))),
        (f"GET /play?{ADDRESS}&trickNum=5&trickSeq=0&pos=0&playableCards=1", None),
        *((f"GET /bid{query}", None) for query in ("", "?token=%ff%fe", f"?{'x' * 9000}")),
    ],
)
def test_what_cannot_be_read_is_refused(service: Service, target: str, body: str | None) -> None:
    method, path = target.split(" ", 1)
    status, answer = service.call(method, path, body)
    assert (status, answer["error"]) == (400, "malformed")
    assert answer["message"]


def test_every_published_operation_is_there_under_its_name() -> None:
    published = recording("euchre_operations")
    ours = json.loads(json.dumps(SERVICE.documents()[""]))["paths"]
    for one in published:
        operation = ours[one["path"]][one["method"]]
        assert operation["operationId"] == one["operationId"]
        assert [given["name"] for given in operation.get("parameters", [])] == one["parameters"]
    assert set(ours) - {one["path"] for one in published} == {"/openapi.json"}
    assert len(published) == 16


PASSES = [BidEvent(ours=False, round=n // 4, pos=n % 4, suit=-1, alone=False) for n in range(8)]


def called(plays: int, players: int = 4) -> list[Event]:
    """A first call, alone where three play, and so many plays."""
    call = BidEvent(ours=True, round=0, pos=0, suit=HEARTS, alone=players == 3)
    cards = zip(range(plays), DECK, strict=False)
    told = [PlayEvent(n // players, n % players, n % players, card) for n, card in cards]
    return [call, *told]


@pytest.mark.parametrize(
    ("events", "over"),
    [
        ([], False),
        (PASSES[:7], False),
        (PASSES, True),
        (called(0), False),
        (called(19), False),
        (called(20), True),
        (called(14, players=3), False),
        (called(15, players=3), True),
    ],
)
def test_a_deal_is_over_when_all_was_told(events: list[Event], *, over: bool) -> None:
    assert is_over(Record(DealKey("t", 0, 0), DECK, tuple(events))) is over
