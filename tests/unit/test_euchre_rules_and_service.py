"""Euchre rules, HTTP interface, and decisions limited to the knowledge of a seat."""

import json
from datetime import UTC, datetime
from functools import reduce
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.euchre_deals import random_decision_states, random_positions
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
    """Seeds do not depend on Python's randomised hashes; another process made the constant."""
    views = {*random_positions(40)}
    assert len({view.seed for view in views}) == len(views)
    assert current_position(next(random_decision_states("fixed"))).seed == 9043626633847032657


def test_a_dealer_does_not_learn_that_an_opponent_calls_alone() -> None:
    """The dealer discards before the call is announced (docs/spec/euchre.md section 4)."""
    discard_positions = random_positions(100, DecisionType.DISCARD)
    assert not any(
        position.public_state.trump_call.goes_alone
        for position in discard_positions
        if position.public_state.trump_call.caller_seat % 2 != DEALER % 2
    )
    assert any(position.public_state.trump_call.goes_alone for position in discard_positions), (
        "of a partner it is"
    )


DEAL_KEY = DealKey("7f0e", 0, 3)


def test_the_decision_log_names_no_card_that_the_seat_does_not_know() -> None:
    for position in random_positions(30, DecisionType.PLAY):
        result = DECISION_RUNNER.decide(build("rules"), position, None, lambda: 0.0)
        entry = json.dumps(
            decision_log_entry(
                DEAL_KEY, PendingDecision(position.seat, position.decision_type), position, result
            )
        )
        tokens = entry.replace('"', " ").replace(",", " ").split()
        named_cards = {
            parse_card(token) for token in tokens if token in {card_name(card) for card in DECK}
        }
        assert named_cards <= {*position.seat_cards, *DECK} - set(position.unseen_cards)


CLUBS, DIAMONDS, HEARTS, SPADES = SUITS


def deal_with_actions(*actions: Action) -> Deal:
    """Return the deal of `CARDS` after the actions; the turn card is a spade."""
    return reduce(apply, actions, start(tuple(CARDS)))


def test_public_state_uses_the_seat_numbers_of_its_reader() -> None:
    public_state = deal_with_actions(
        PASS, Bid(SPADES), Discard(parse_card("9S")), Play(CARDS[0])
    ).public_state
    body, lead = public_state_body(public_state, first_seat=1), card_name(CARDS[0])
    assert body["bids"] == [[3, "pass"], [0, "order up"]]
    assert body["plays"] == body["trick"] == [[3, lead]]
    assert public_state_body(public_state)["bids"] == [[0, "pass"], [1, "order up"]]


def test_the_second_round_is_about_other_suits_and_a_call_of_the_first_makes_a_discard() -> None:
    turn_card = parse_card("9H")
    assert set(legal_bids(2, turn_card)) == {PASS, Bid(HEARTS), Bid(HEARTS, goes_alone=True)}
    second_round_suits = {bid.suit for bid in legal_bids(4, turn_card)}
    assert second_round_suits == {None, CLUBS, DIAMONDS, SPADES}
    assert PASS in legal_bids(7, turn_card), "nobody is stuck"
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
    declined_deal = apply(deal, Defend(goes_alone=False))
    assert pending_decision(declined_deal.public_state) == PendingDecision(0, DecisionType.DEFEND)
    accepted_deal = apply(declined_deal, Defend(goes_alone=True))
    assert accepted_deal.public_state.seats_sitting_out == {3, 2}
    assert accepted_deal.public_state.lone_defender == 0
    assert pending_decision(accepted_deal.public_state) == PendingDecision(0, DecisionType.PLAY)
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
small_numbers = st.integers(0, 7)


@given(st.integers(0, 2**32))
def test_revealed_voids_agree_with_the_cards_played_later(seed: int) -> None:
    *states, last = random_deal_states(Random(seed))
    for deal in states:
        for seat, voids in enumerate(deal.public_state.revealed_voids):
            later_cards = {*last.public_state.cards_played_by(seat)} - {
                *deal.public_state.cards_played_by(seat)
            }
            trump = deal.public_state.trump
            assert trump is not None or not voids
            for card in later_cards:
                suit = trump if trump is not None and card == 8 + (3 - trump) else card % 4
                assert suit not in voids


SEATS = st.integers(0, 3)
MESSAGES = {
    "/bid": (
        {"round": small_numbers, "pos": small_numbers},
        {"suit": st.integers(-1, 4), "alone": st.booleans()},
    ),
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
    cards: list[int], messages_and_offers: list[tuple[tuple[str, dict[str, int]], list[int]]]
) -> None:
    """The service never fails or invents a card, whatever a confused client sends in any order.

    A message that carries a decision is a notice; any other message is a request.
    """
    service = EuchreServiceHarness()
    address: dict[str, object] = {"token": "a", "gameNum": 0, "dealNum": 0}
    service.call_ok("POST", "/deal", {**address, "cards": cards})
    for (path, fields), offered_cards in messages_and_offers:
        body = {**address, "turnCard": cards[20], **fields}
        decision = "suit" if path == "/bid" else "alone" if path == "/defense" else "card"
        if decision in fields:
            service.call_ok("POST", path, body)
            continue
        query = "&".join(f"{name}={value}" for name, value in body.items())
        lists = {"/swap": "swappableCards", "/play": "playableCards"}
        if path in lists:
            query += "".join(f"&{lists[path]}={card}" for card in offered_cards)
        response = service.call_ok("GET", f"{path}?{query}")
        repeated_response = service.call_ok("GET", f"{path}?{query}")
        assert repeated_response == response, "the same question is given the same answer"
        assert response.get("card", offered_cards[0]) in offered_cards
        assert response.get("suit", -1) in {-1, 0, 1, 2, 3}


ADDRESS = "token=a1&gameNum=0&dealNum=3"
PLAY_PATH = f"/play?{ADDRESS}&trickNum=0&trickSeq=1&pos=1"
BID_BODY: Json = {
    "token": "a1", "gameNum": 0, "dealNum": 3, "round": 1, "turnCard": 5, "pos": 0, "suit": -1,
    "alone": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def service() -> EuchreServiceHarness:
    return EuchreServiceHarness()


CARD_LIST_QUERIES = (
    "18&playableCards=4",
    "18,4",
    "18%2C4",
    "18&playableCards=4,-1&playableCards=-1",
)


@pytest.mark.parametrize("cards", CARD_LIST_QUERIES)
def test_lists_in_query_strings_may_repeat_or_have_commas(
    service: EuchreServiceHarness, cards: str
) -> None:
    response = service.call_ok("GET", f"{PLAY_PATH}&playableCards={cards}")
    assert response["card"] == 4, "the lowest, for the deal is not stored"


def test_a_notice_comes_back_without_unknown_fields_or_quotes(
    service: EuchreServiceHarness,
) -> None:
    """The body is read as JSON whatever its content type is, in any API stage."""
    for headers in ((), (("content-type", "text/plain"),)):
        request = HttpRequest("POST", "/live//bid", headers, json.dumps(BID_BODY).encode())
        event = to_event(request, datetime.now(UTC))
        event["requestContext"]["stage"] = "live"
        assert service.handle_event(event)["statusCode"] == 200
    response = service.call_ok("POST", "/bid", {"extra": [1], **BID_BODY})
    assert response == {**BID_BODY, "suit": None, "alone": None}
    _, response = service.call("POST", "/bid", {**BID_BODY, "suit": "<script>"})
    assert "script" not in json.dumps(response)


DEAL_BODY = {"token": "a1", "gameNum": 0, "dealNum": 0, "status": "new"}
MALFORMED_BODIES = ("", "{", "[]", "null", "7", '"x"', "[" * 5000, '{"token": NaN}', "\ud800")
INVALID_OFFERS = ("", "-1", "x", "24")
INVALID_DECKS = ([*range(23), 0], list(range(23)), [*range(23), 24], "x")


@pytest.mark.parametrize(
    ("target", "body"),
    [
        *(("POST /session", body) for body in MALFORMED_BODIES),
        ("POST /session", '{"token": "\\ud800"}'),
        ("POST /session", '{"token": ' + "9" * 5000 + "}"),
        ("POST /session", json.dumps({"token": "a", "info": "x" * MAX_BODY})),
        *(("POST /deal", json.dumps({**DEAL_BODY, "cards": cards})) for cards in INVALID_DECKS),
        *(
            (f"GET {PLAY_PATH}{cards}", None)
            for cards in ("", *map("&playableCards={}".format, INVALID_OFFERS))
        ),
        (f"GET /play?{ADDRESS}&trickNum=5&trickSeq=0&pos=0&playableCards=1", None),
        *((f"GET /bid{query}", None) for query in ("", "?token=%ff%fe", f"?{'x' * 9000}")),
    ],
)
def test_unreadable_requests_are_refused(
    service: EuchreServiceHarness, target: str, body: str | None
) -> None:
    method, path = target.split(" ", 1)
    status, response = service.call(method, path, body)
    assert (status, response["error"]) == (400, "malformed")
    assert response["message"]


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


def events_with_plays(play_count: int, player_count: int = 4) -> list[Event]:
    """Return the events of a first-round call and of the plays; with three players it is alone."""
    call = BidEvent(is_answer=True, round=0, bid_index=0, suit=HEARTS, alone=player_count == 3)
    cards = zip(range(play_count), DECK, strict=False)
    play_events = [
        PlayEvent(n // player_count, n % player_count, n % player_count, card) for n, card in cards
    ]
    return [call, *play_events]


@pytest.mark.parametrize(
    ("events", "is_finished"),
    [
        ([], False),
        (PASSES[:7], False),
        (PASSES, True),
        (events_with_plays(0), False),
        (events_with_plays(19), False),
        (events_with_plays(20), True),
        (events_with_plays(14, player_count=3), False),
        (events_with_plays(15, player_count=3), True),
    ],
)
def test_a_deal_is_over_with_its_last_event(events: list[Event], *, is_finished: bool) -> None:
    assert is_over(DealRecord(DealKey("t", 0, 0), DECK, tuple(events))) is is_finished
