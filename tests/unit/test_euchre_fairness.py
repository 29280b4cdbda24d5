"""Euchre: its rules, its HTTP edge, and that a decision knows what its seat can see."""

import json
from datetime import UTC, datetime
from functools import reduce
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.euchre_deals import decision_states, positions
from support.euchre_service import CARDS, EuchreServiceHarness, Json
from support.recordings import recording

from cardsharp.errors import IllegalAction, InvalidInput
from cardsharp.games.euchre.actions import (
    PASS,
    Action,
    Bid,
    DecisionType,
    Defend,
    Discard,
    Play,
)
from cardsharp.games.euchre.cards import DECK, SUITS, card_name, parse_card
from cardsharp.games.euchre.fallback import DECISION_RUNNER
from cardsharp.games.euchre.history.replay import is_over, public_state_body
from cardsharp.games.euchre.position import current_position
from cardsharp.games.euchre.public_state import DEALER, PendingDecision, pending_decision
from cardsharp.games.euchre.rules import Deal, apply, legal_actions, legal_bids, start
from cardsharp.games.euchre.service.bootstrap import SERVICE
from cardsharp.games.euchre.service.deal_store import (
    BidEvent,
    DealKey,
    DealRecord,
    Event,
    PlayEvent,
)
from cardsharp.games.euchre.service.service import decision_log_entry
from cardsharp.games.euchre.strategies import build
from cardsharp.server.request_parsing import MAX_BODY
from cardsharp_tools.games.euchre.leak_probe import random_deal_states
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, to_event


def test_views_that_differ_have_different_seeds_the_same_in_every_process() -> None:
    """Seeds must not hang on Python's randomised hashes: one was made elsewhere."""
    seen = {*positions(40)}
    assert len({view.seed for view in seen}) == len(seen)
    assert current_position(next(decision_states("fixed"))).seed == 9043626633847032657


def test_a_dealer_does_not_learn_that_an_opponent_calls_alone() -> None:
    """The discard is asked for before the call is told (docs/spec/euchre.md section 4)."""
    discard_positions = positions(100, DecisionType.DISCARD)
    assert not any(
        position.public_state.trump_call.goes_alone
        for position in discard_positions
        if position.public_state.trump_call.caller_seat % 2 != DEALER % 2
    )
    assert any(position.public_state.trump_call.goes_alone for position in discard_positions), (
        "of a partner it is"
    )


KEY = DealKey("7f0e", 0, 3)


def test_the_entry_names_no_card_that_the_seat_does_not_know() -> None:
    for seen in positions(30, DecisionType.PLAY):
        decided = DECISION_RUNNER.decide(build("rules"), seen, None, lambda: 0.0)
        entry = json.dumps(
            decision_log_entry(KEY, PendingDecision(seen.seat, seen.decision_type), seen, decided)
        )
        words = entry.replace('"', " ").replace(",", " ").split()
        named_cards = {
            parse_card(token) for token in words if token in {card_name(card) for card in DECK}
        }
        assert named_cards <= {*seen.seat_cards, *DECK} - set(seen.unseen_cards)


CLUBS, DIAMONDS, HEARTS, SPADES = SUITS


def deal_with_actions(*actions: Action) -> Deal:
    """The deal of `CARDS`, of which spades are turned up, after these."""
    return reduce(apply, actions, start(tuple(CARDS)))


def test_public_state_uses_the_seat_numbers_of_its_reader() -> None:
    table = deal_with_actions(
        PASS, Bid(SPADES), Discard(parse_card("9S")), Play(CARDS[0])
    ).public_state
    body, lead = public_state_body(table, first_seat=1), card_name(CARDS[0])
    assert body["bids"] == [[3, "pass"], [0, "order up"]]
    assert body["plays"] == body["trick"] == [[3, lead]]
    assert public_state_body(table)["bids"] == [[0, "pass"], [1, "order up"]]


def test_the_second_round_is_about_other_suits_and_a_call_of_the_first_makes_a_discard() -> None:
    turned = parse_card("9H")
    assert set(legal_bids(2, turned)) == {PASS, Bid(HEARTS), Bid(HEARTS, goes_alone=True)}
    second = {bid.suit for bid in legal_bids(4, turned)}
    assert second == {None, CLUBS, DIAMONDS, SPADES}
    assert PASS in legal_bids(7, turned), "nobody is stuck"
    deal = deal_with_actions(PASS, Bid(SPADES))
    assert pending_decision(deal.public_state) == PendingDecision(3, DecisionType.DISCARD)
    assert len(legal_actions(deal)) == 6
    assert Discard(parse_card("AS")) in legal_actions(deal), "the turn card may go as well"
    deal = apply(deal, Discard(parse_card("9S")))
    assert {*deal.hand(3)} == {*map(parse_card, ("10S", "JS", "QS", "KS", "AS"))}
    assert pending_decision(deal.public_state) == PendingDecision(0, DecisionType.PLAY)


def test_only_a_lone_caller_may_be_defended_against_alone_and_the_first_yes_counts() -> None:
    deal = deal_with_actions(*[PASS] * 5, Bid(DIAMONDS, goes_alone=True))
    assert pending_decision(deal.public_state) == PendingDecision(2, DecisionType.DEFEND)
    declined = apply(deal, Defend(goes_alone=False))
    assert pending_decision(declined.public_state) == PendingDecision(0, DecisionType.DEFEND)
    accepted = apply(declined, Defend(goes_alone=True))
    assert accepted.public_state.seats_sitting_out == {3, 2}
    assert accepted.public_state.lone_defender == 0
    assert pending_decision(accepted.public_state) == PendingDecision(0, DecisionType.PLAY)
    assert apply(deal, Defend(goes_alone=True)).public_state.seats_sitting_out == {3, 0}


def test_an_action_out_of_turn_is_refused_with_a_reason() -> None:
    with pytest.raises(IllegalAction, match="Seat 0 is to bid and may not play 9C"):
        deal_with_actions(Play(parse_card("9C")))
    with pytest.raises(IllegalAction, match="may not spades"):
        deal_with_actions(*[PASS] * 4, Bid(SPADES))
    with pytest.raises(IllegalAction, match="The deal is over"):
        deal_with_actions(*[PASS] * 9)
    with pytest.raises(InvalidInput, match="exactly once"):
        start((0,) * 24)


numbers = st.integers(-1, 23)
small = st.integers(0, 7)


@given(st.integers(0, 2**32))
def test_revealed_voids_agree_with_the_cards_played_later(seed: int) -> None:
    *states, last = random_deal_states(Random(seed))
    for deal in states:
        for seat, voids in enumerate(deal.public_state.revealed_voids):
            later = {*last.public_state.cards_played_by(seat)} - {
                *deal.public_state.cards_played_by(seat)
            }
            trump = deal.public_state.trump
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
    st.tuples(st.just(path), st.fixed_dictionaries(request_fields, optional=answer_fields))
    for path, (request_fields, answer_fields) in MESSAGES.items()
)
offers = st.lists(st.integers(0, 23), min_size=1, max_size=6)


@settings(max_examples=60)
@given(st.permutations(DECK), st.lists(st.tuples(messages, offers), max_size=25))
def test_any_messages_in_any_order_are_answered_and_every_answer_is_among_the_offers(
    cards: list[int], sent: list[tuple[tuple[str, dict[str, int]], list[int]]]
) -> None:
    """The service never fails or invents a card, whatever a confused client sends in any order.

    A message that carries a decision is a notice; any other message is a request.
    """
    service = EuchreServiceHarness()
    address: dict[str, object] = {"token": "a", "gameNum": 0, "dealNum": 0}
    service.call_ok("POST", "/deal", {**address, "cards": cards})
    for (path, fields), offered in sent:
        body = {**address, "turnCard": cards[20], **fields}
        decision = "suit" if path == "/bid" else "alone" if path == "/defense" else "card"
        if decision in fields:
            service.call_ok("POST", path, body)
            continue
        query = "&".join(f"{name}={value}" for name, value in body.items())
        lists = {"/swap": "swappableCards", "/play": "playableCards"}
        if path in lists:
            query += "".join(f"&{lists[path]}={card}" for card in offered)
        answer = service.call_ok("GET", f"{path}?{query}")
        repeated_answer = service.call_ok("GET", f"{path}?{query}")
        assert repeated_answer == answer, "the same question is given the same answer"
        assert answer.get("card", offered[0]) in offered
        assert answer.get("suit", -1) in {-1, 0, 1, 2, 3}


ADDRESS = "token=a1&gameNum=0&dealNum=3"
PLAY = f"/play?{ADDRESS}&trickNum=0&trickSeq=1&pos=1"
BID: Json = {
    "token": "a1", "gameNum": 0, "dealNum": 3, "round": 1, "turnCard": 5, "pos": 0, "suit": -1,
    "alone": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def service() -> EuchreServiceHarness:
    return EuchreServiceHarness()


LISTS = ("18&playableCards=4", "18,4", "18%2C4", "18&playableCards=4,-1&playableCards=-1")


@pytest.mark.parametrize("cards", LISTS)
def test_lists_in_query_strings_may_repeat_or_have_commas(
    service: EuchreServiceHarness, cards: str
) -> None:
    answer = service.call_ok("GET", f"{PLAY}&playableCards={cards}")
    assert answer["card"] == 4, "the lowest, for the deal is not stored"


def test_a_notice_comes_back_without_unknown_fields_or_quotes(
    service: EuchreServiceHarness,
) -> None:
    """It is JSON whatever its type says, and at any stage."""
    for headers in ((), (("content-type", "text/plain"),)):
        request = HttpRequest("POST", "/live//bid", headers, json.dumps(BID).encode())
        event = to_event(request, datetime.now(UTC))
        event["requestContext"]["stage"] = "live"
        assert service.answer(event)["statusCode"] == 200
    answer = service.call_ok("POST", "/bid", {"extra": [1], **BID})
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
def test_unreadable_requests_are_refused(
    service: EuchreServiceHarness, target: str, body: str | None
) -> None:
    method, path = target.split(" ", 1)
    status, answer = service.call(method, path, body)
    assert (status, answer["error"]) == (400, "malformed")
    assert answer["message"]


def test_every_published_operation_exists_under_its_name() -> None:
    published = recording("euchre_operations")
    paths = json.loads(json.dumps(SERVICE.openapi_documents()[""]))["paths"]
    for published_operation in published:
        operation = paths[published_operation["path"]][published_operation["method"]]
        assert operation["operationId"] == published_operation["operationId"]
        assert [
            parameter["name"] for parameter in operation.get("parameters", [])
        ] == published_operation["parameters"]
    assert set(paths) - {published_operation["path"] for published_operation in published} == {
        "/openapi.json"
    }
    assert len(published) == 16


PASSES = [
    BidEvent(is_answer=False, round=n // 4, bid_index=n % 4, suit=-1, alone=False) for n in range(8)
]


def called(plays: int, players: int = 4) -> list[Event]:
    """A first call, alone where three play, and so many plays."""
    call = BidEvent(is_answer=True, round=0, bid_index=0, suit=HEARTS, alone=players == 3)
    cards = zip(range(plays), DECK, strict=False)
    play_events = [PlayEvent(n // players, n % players, n % players, card) for n, card in cards]
    return [call, *play_events]


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
def test_a_deal_is_over_with_its_last_event(events: list[Event], *, over: bool) -> None:
    assert is_over(DealRecord(DealKey("t", 0, 0), DECK, tuple(events))) is over
