"""Behaviour of the real client that no document describes (docs/spec/euchre.md section 5).

tests/replay/test_euchre_traffic.py replays the part that was recorded.
"""

import pytest
from support.euchre_service import (
    CARDS,
    TOKEN,
    DealMessages,
    EuchreServiceHarness,
    RecordingStrategy,
)

from cardsharp.games.euchre.actions import PASS, Bid, DecisionType, Defend, Discard
from cardsharp.games.euchre.service.deal_store import DealKey

SPADES, HEARTS = 3, 2


@pytest.fixture
def recording_strategy() -> RecordingStrategy:
    return RecordingStrategy()


@pytest.fixture
def deal(recording_strategy: RecordingStrategy) -> DealMessages:
    messages = DealMessages(EuchreServiceHarness(recording_strategy))
    messages.begin()
    return messages


@pytest.mark.parametrize(
    ("messages", "expected_counts"),
    [
        # Here as the documents have it for the seats 0 and 2; the client sends 4 and 6 at last.
        ("told 00, asked 01, told 02, asked 03, told 10, asked 11, told 12, asked 13", "1357"),
        # Our own bid is told back to us: it is not counted twice, in either round.
        ("asked 10, told 20, asked 11, told 11, told 22, told 32, asked 13", "013"),
        ("told 13, asked 20, told 20, asked 21, told 26, asked 23", "457"),
        ("told 13, asked 20, told 24, asked 21, told 26, asked 23", "457"),
        # And bids that nobody told of count, where a later one says its number.
        ("told 25, asked 22", "6"),
    ],
)
def test_the_service_numbers_bids_itself_whatever_round_and_pos_are(
    deal: DealMessages, recording_strategy: RecordingStrategy, messages: str, expected_counts: str
) -> None:
    """The service counts bids itself, so that it bids in the same round as the client.

    Each message is a notice or a request with its round and position. The expected counts are
    the bids known at each request.
    """
    for message in messages.split(", "):
        message_type, address = message.split()
        round_number, pos = map(int, address)
        if message_type == "asked":
            deal.request_bid(round_number, pos)
        else:
            response = deal.send_bid(round_number, pos, -1)
            assert (response["round"], response["pos"]) == (round_number, pos), (
                "they come back unchanged"
            )
    assert (
        "".join(str(len(view.public_state.bids)) for view in recording_strategy.positions)
        == expected_counts
    )
    assert all(view.decision_type is DecisionType.BID for view in recording_strategy.positions)


@pytest.mark.parametrize("suit", [4, SPADES])
def test_suit_four_or_an_early_call_counts_as_a_pass(
    deal: DealMessages, recording_strategy: RecordingStrategy, suit: int
) -> None:
    """The client decides which actions have happened."""
    deal.send_bid(1, 0, suit)
    deal.request_bid(1, 1)
    assert recording_strategy.positions[0].public_state.bids == (PASS,)


@pytest.mark.parametrize(("bid_position", "suit", "bid_number"), [(5, SPADES, 1), (1, HEARTS, 5)])
def test_a_call_is_of_the_round_that_its_suit_tells(
    deal: DealMessages,
    recording_strategy: RecordingStrategy,
    bid_position: int,
    suit: int,
    bid_number: int,
) -> None:
    """The turned suit is called in the first round only, however many bids were lost."""
    deal.send_bid(1, bid_position, suit)
    deal.send_swap(1, 3)
    deal.request_play(0, 0, 0, CARDS[:5])
    assert recording_strategy.positions[-1].public_state.trump_call == (bid_number, suit, False)


def test_another_turn_card_is_of_another_deal(
    deal: DealMessages, recording_strategy: RecordingStrategy
) -> None:
    """A bid of an earlier deal would be illegal in a deal that could not be stored."""
    recording_strategy.answer = lambda _: Bid(SPADES)
    assert deal.request_bid(1, 0)["suit"] == SPADES
    assert deal.get("/bid", round=1, turnCard=5, pos=0)["suit"] == -1
    assert deal.request_bid(1, 0)["suit"] == SPADES


def test_a_dealer_sitting_out_is_requested_to_discard(
    deal: DealMessages, recording_strategy: RecordingStrategy
) -> None:
    recording_strategy.answer = lambda view: (
        Bid(SPADES, goes_alone=True)
        if view.decision_type is DecisionType.BID
        else view.legal_actions[-1]
    )
    deal.send_bid(1, 0, -1)
    assert deal.request_bid(1, 1)["alone"] is True
    offered_cards = [*CARDS[15:20], CARDS[20]]
    assert deal.request_swap(1, offered_cards)["card"] in offered_cards
    assert recording_strategy.positions[-1].public_state.trump_call == (1, SPADES, True)


def test_turn_card_may_be_discarded_and_opponent_discards_are_not_stored(
    deal: DealMessages, recording_strategy: RecordingStrategy
) -> None:
    recording_strategy.answer = lambda view: Discard(view.public_state.turn_card)
    assert deal.request_swap(0, [*CARDS[15:20], CARDS[20]])["card"] == CARDS[20]
    other_deal = DealMessages(deal.service, deal=1)
    other_deal.begin()
    other_deal.send_bid(1, 0, SPADES)
    stored_deal = deal.service.store.read(DealKey(TOKEN, 0, 1))
    other_deal.send_swap(0, 7)
    assert deal.service.store.read(DealKey(TOKEN, 0, 1)) == stored_deal
    assert other_deal.request_swap(0, [*CARDS[15:20], -1])["card"] in CARDS[15:20]


def test_a_repeated_request_gets_the_same_answer_while_its_card_is_offered(
    deal: DealMessages, recording_strategy: RecordingStrategy
) -> None:
    recording_strategy.answer = lambda view: view.legal_actions[1]
    first_answer = deal.request_bid(1, 0)
    recording_strategy.answer = lambda view: view.legal_actions[0]
    assert deal.request_bid(1, 0) == first_answer
    assert len(recording_strategy.positions) == 1, "the strategy is asked once"
    deal.send_bid(1, 0, SPADES)
    assert deal.request_play(0, 0, 0, [4, 8])["card"] == 4
    assert deal.request_play(0, 0, 0, [8, 12])["card"] == 8
    assert len(recording_strategy.positions) == 3


def test_a_message_with_other_content_replaces_the_first(
    deal: DealMessages, recording_strategy: RecordingStrategy
) -> None:
    """Different content is no conflict, because a refusal would end the tournament."""
    deal.send_bid(1, 0, -1)
    deal.send_bid(1, 0, SPADES)
    deal.send_bid(1, 0, SPADES)
    deal.send_play(0, 0, 0, 0)
    deal.send_play(0, 0, 0, 4)
    deal.request_play(0, 1, 1, CARDS[5:10])
    view = recording_strategy.positions[-1]
    assert view.public_state.trump_call == (0, SPADES, False)
    assert view.public_state.current_trick == ((0, 4),)


def test_a_missing_play_is_noticed_and_answered_legally(
    deal: DealMessages, recording_strategy: RecordingStrategy
) -> None:
    deal.send_bid(1, 0, SPADES)
    deal.send_play(0, 0, 0, 0)
    assert deal.request_play(0, 2, 2, [2, 6])["card"] in {2, 6}
    assert recording_strategy.positions == []
    assert deal.service.log.strategy_failures == ["no stored deal matches this question"]


def test_a_lone_defence_is_requested_as_documented(
    deal: DealMessages, recording_strategy: RecordingStrategy
) -> None:
    recording_strategy.answer = lambda view: (
        Defend(goes_alone=True)
        if view.decision_type is DecisionType.DEFEND
        else view.legal_actions[0]
    )
    deal.send_bid(1, 0, SPADES, alone=True)
    deal.request_swap(0, [*CARDS[15:20], CARDS[20]])
    response = deal.get("/defense", declarerPos=0, trumpSuit=SPADES, pos=3)
    assert response["alone"] is True
    view = recording_strategy.positions[-1]
    assert view.public_state.defense_answers == (False,)
    assert view.public_state.trump_call == (0, SPADES, True)
