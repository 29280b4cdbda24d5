"""Behaviour of the real client that no document describes (docs/spec/euchre.md section 5).

tests/replay/test_euchre_traffic.py replays all of it that was recorded.
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
def scribe() -> RecordingStrategy:
    return RecordingStrategy()


@pytest.fixture
def deal(scribe: RecordingStrategy) -> DealMessages:
    messages = DealMessages(EuchreServiceHarness(scribe))
    messages.begin()
    return messages


@pytest.mark.parametrize(
    ("sent", "counted"),
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
def test_bids_are_numbered_by_ourselves_whatever_round_and_pos_say(
    deal: DealMessages, scribe: RecordingStrategy, sent: str, counted: str
) -> None:
    """Else we would bid as in the one round while the client is in the other.

    What is told, and what is asked, at which round and position; how many bids there are then.
    """
    for message in sent.split(", "):
        kind, address = message.split()
        number, pos = map(int, address)
        if kind == "asked":
            deal.request_bid(number, pos)
        else:
            answer = deal.send_bid(number, pos, -1)
            assert (answer["round"], answer["pos"]) == (number, pos), "they come back unchanged"
    assert "".join(str(len(view.public_state.bids)) for view in scribe.positions) == counted
    assert all(view.decision_type is DecisionType.BID for view in scribe.positions)


@pytest.mark.parametrize("suit", [4, SPADES])
def test_suit_four_or_an_early_call_counts_as_a_pass(
    deal: DealMessages, scribe: RecordingStrategy, suit: int
) -> None:
    """The client is the authority: what it goes on from is what happened."""
    deal.send_bid(1, 0, suit)
    deal.request_bid(1, 1)
    assert scribe.positions[0].public_state.bids == (PASS,)


@pytest.mark.parametrize(("bid_position", "suit", "number"), [(5, SPADES, 1), (1, HEARTS, 5)])
def test_a_call_is_of_the_round_that_its_suit_tells(
    deal: DealMessages, scribe: RecordingStrategy, bid_position: int, suit: int, number: int
) -> None:
    """However many bids were lost: the turned suit is called in the first round only."""
    deal.send_bid(1, bid_position, suit)
    deal.send_swap(1, 3)
    deal.request_play(0, 0, 0, CARDS[:5])
    assert scribe.positions[-1].public_state.trump_call == (number, suit, False)


def test_another_turn_card_is_of_another_deal(
    deal: DealMessages, scribe: RecordingStrategy
) -> None:
    """One that could not be stored, say: a bid of the old deal would be illegal in it."""
    scribe.answer = lambda _: Bid(SPADES)
    assert deal.request_bid(1, 0)["suit"] == SPADES
    assert deal.get("/bid", round=1, turnCard=5, pos=0)["suit"] == -1
    assert deal.request_bid(1, 0)["suit"] == SPADES


def test_a_dealer_sitting_out_is_requested_to_discard(
    deal: DealMessages, scribe: RecordingStrategy
) -> None:
    scribe.answer = lambda view: (
        Bid(SPADES, goes_alone=True)
        if view.decision_type is DecisionType.BID
        else view.legal_actions[-1]
    )
    deal.send_bid(1, 0, -1)
    assert deal.request_bid(1, 1)["alone"] is True
    six = [*CARDS[15:20], CARDS[20]]
    assert deal.request_swap(1, six)["card"] in six
    assert scribe.positions[-1].public_state.trump_call == (1, SPADES, True)


def test_turn_card_may_be_discarded_and_opponent_discards_are_not_stored(
    deal: DealMessages, scribe: RecordingStrategy
) -> None:
    scribe.answer = lambda view: Discard(view.public_state.turn_card)
    assert deal.request_swap(0, [*CARDS[15:20], CARDS[20]])["card"] == CARDS[20]
    other = DealMessages(deal.service, deal=1)
    other.begin()
    other.send_bid(1, 0, SPADES)
    stored_deal = deal.service.store.read(DealKey(TOKEN, 0, 1))
    other.send_swap(0, 7)
    assert deal.service.store.read(DealKey(TOKEN, 0, 1)) == stored_deal
    assert other.request_swap(0, [*CARDS[15:20], -1])["card"] in CARDS[15:20]


def test_a_repeated_request_gets_the_same_answer_while_its_card_is_offered(
    deal: DealMessages, scribe: RecordingStrategy
) -> None:
    scribe.answer = lambda view: view.legal_actions[1]
    first = deal.request_bid(1, 0)
    scribe.answer = lambda view: view.legal_actions[0]
    assert deal.request_bid(1, 0) == first
    assert len(scribe.positions) == 1, "the strategy is asked once"
    deal.send_bid(1, 0, SPADES)
    assert deal.request_play(0, 0, 0, [4, 8])["card"] == 4
    assert deal.request_play(0, 0, 0, [8, 12])["card"] == 8
    assert len(scribe.positions) == 3


def test_a_message_with_other_content_replaces_the_first(
    deal: DealMessages, scribe: RecordingStrategy
) -> None:
    """Never a conflict: a refusal would end the tournament."""
    deal.send_bid(1, 0, -1)
    deal.send_bid(1, 0, SPADES)
    deal.send_bid(1, 0, SPADES)
    deal.send_play(0, 0, 0, 0)
    deal.send_play(0, 0, 0, 4)
    deal.request_play(0, 1, 1, CARDS[5:10])
    view = scribe.positions[-1]
    assert view.public_state.trump_call == (0, SPADES, False)
    assert view.public_state.current_trick == ((0, 4),)


def test_a_missing_play_is_noticed_and_answered_legally(
    deal: DealMessages, scribe: RecordingStrategy
) -> None:
    deal.send_bid(1, 0, SPADES)
    deal.send_play(0, 0, 0, 0)
    assert deal.request_play(0, 2, 2, [2, 6])["card"] in {2, 6}
    assert scribe.positions == []
    assert deal.service.log.strategy_failures == ["no stored deal matches this question"]


def test_a_lone_defence_is_requested_as_documented(
    deal: DealMessages, scribe: RecordingStrategy
) -> None:
    scribe.answer = lambda view: (
        Defend(goes_alone=True)
        if view.decision_type is DecisionType.DEFEND
        else view.legal_actions[0]
    )
    deal.send_bid(1, 0, SPADES, alone=True)
    deal.request_swap(0, [*CARDS[15:20], CARDS[20]])
    answer = deal.get("/defense", declarerPos=0, trumpSuit=SPADES, pos=3)
    assert answer["alone"] is True
    view = scribe.positions[-1]
    assert view.public_state.defense_answers == (False,)
    assert view.public_state.trump_call == (0, SPADES, True)
