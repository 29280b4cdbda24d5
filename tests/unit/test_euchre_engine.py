"""Euchre engine: bit masks of cards, sampled worlds, search, playouts and decisions."""

from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest
from support.euchre_deals import random_decision_states, random_positions

from cardsharp.games.euchre.actions import Bid, DecisionType, Play
from cardsharp.games.euchre.cards import DECK, parse_card, suit_of, trick_strength
from cardsharp.games.euchre.fallback import DECISION_RUNNER
from cardsharp.games.euchre.position import EuchrePosition, current_position
from cardsharp.games.euchre.public_state import (
    DEALER,
    SEATS,
    PublicState,
    TrickCard,
    TrumpCall,
    pending_decision,
)
from cardsharp.games.euchre.rules import Deal, apply, legal_cards, score
from cardsharp.games.euchre.strategies import EuchreDecision
from cardsharp.games.euchre.strategies.bidding import card_mask
from cardsharp.games.euchre.strategies.double_dummy import DoubleDummySolver
from cardsharp.games.euchre.strategies.pimc import Pimc, SearchBudget
from cardsharp.games.euchre.strategies.playout import (
    CardPlayState,
    PlayOrder,
    playout_points,
    replay_card_play_states,
)
from cardsharp.games.euchre.strategies.portable_rng import PortableRng
from cardsharp.games.euchre.strategies.rule_based import RuleBased
from cardsharp.games.euchre.strategies.trump_layout import trump_layout
from cardsharp.games.euchre.strategies.worlds import EuchreWorld, WorldSampler

SMALL_BUDGET = SearchBudget(max_worlds=8, batch_size=8)
HEARTS = 2


def cards_of(hand_bits: int) -> tuple[int, ...]:
    return tuple(card for card in DECK if hand_bits >> card & 1)


def hand(hand_text: str) -> tuple[int, ...]:
    return tuple(sorted(map(parse_card, hand_text.split())))


def playing_position(hand_text: str, public_state: PublicState) -> EuchrePosition:
    cards = hand(hand_text)
    return EuchrePosition(0, DecisionType.PLAY, cards, public_state, tuple(map(Play, cards)))


def test_every_sampled_world_agrees_with_the_observations_of_the_seat() -> None:
    for view in random_positions(24):
        public_state = view.public_state
        played_cards = {card for trick in public_state.tricks for _, card in trick}
        for world, _ in WorldSampler(view, PortableRng(1)).sample(3):
            hands, dealt_hands = (
                list(map(cards_of, world.hands)),
                list(map(cards_of, world.dealt_hands)),
            )
            assert hands[view.seat] == view.hand
            all_cards = [card for hand in hands for card in hand]
            assert len(all_cards) == len(set(all_cards))
            assert played_cards.isdisjoint(all_cards)
            assert [*map(len, dealt_hands)] == [5] * 4
            assert len({card for hand in dealt_hands for card in hand}) == 20
            for seat in SEATS:
                played_by_seat = public_state.cards_played_by(seat)
                assert {*played_by_seat} <= {*dealt_hands[seat], public_state.turn_card}
                if view.decision_type is not DecisionType.DISCARD or seat != DEALER:
                    assert len(hands[seat]) + len(played_by_seat) == 5
                suits = {suit_of(card, public_state.trump) for card in hands[seat]}
                assert suits.isdisjoint(public_state.revealed_voids[seat])


def test_a_dealer_that_called_is_expected_to_have_trumps() -> None:
    """Sampled worlds weigh bids: a caller has other likely hands than a player that passed."""

    def mean_trump_count(public_state: PublicState) -> float:
        worlds = WorldSampler(
            playing_position("9C 10C 9D 10D 9S", public_state), PortableRng(3)
        ).sample(200)
        count = sum(
            times * sum(suit_of(card, HEARTS) == HEARTS for card in cards_of(world.dealt_hands[2]))
            for world, times in worlds
        )
        return count / 200

    passes = (Bid(), Bid())
    passed_state = PublicState(parse_card("QH"), (*passes, Bid(HEARTS)), has_discarded=True)
    dealer_call_state = PublicState(
        parse_card("QH"), (*passes, Bid(), Bid(HEARTS)), has_discarded=True
    )
    assert mean_trump_count(passed_state) > mean_trump_count(dealer_call_state) + 0.5


@pytest.mark.parametrize(
    ("turn_card", "hand_text", "bid"),
    [
        ("9H", "QH KH AH JD JH", Bid(HEARTS, goes_alone=True)),  # it cannot lose
        ("JH", "9C 10C 9S 10S 9D", Bid()),  # it is hopeless
    ],
)
def test_bids_follow_the_value_of_the_hand(turn_card: str, hand_text: str, bid: Bid) -> None:
    choices = (Bid(), Bid(HEARTS), Bid(HEARTS, goes_alone=True))
    view = EuchrePosition(
        0, DecisionType.BID, hand(hand_text), PublicState(parse_card(turn_card)), choices
    )
    assert Pimc(budget=SMALL_BUDGET).decide(view).action == bid


def test_work_ends_at_its_limit_and_time_is_the_last_resort() -> None:
    view = next(
        position
        for position in random_positions(20, DecisionType.BID)
        if position.public_state.bids == ()
        and len(Pimc(budget=SMALL_BUDGET).decide(position).options) > 1
    )
    limited_decision = Pimc(budget=SearchBudget(max_worlds=50, batch_size=10, max_work=1)).decide(
        view
    )
    assert limited_decision.world_count == 10
    assert not limited_decision.was_cut_short, "the same on any machine"
    ticks = iter(range(0, 1000, 10))
    cut_decision = Pimc(
        lambda: float(next(ticks)), SearchBudget(max_worlds=50, batch_size=50)
    ).decide(view)
    assert 0 < cut_decision.world_count < 50
    assert cut_decision.was_cut_short
    assert cut_decision.action in view.legal_actions


def test_a_view_that_no_world_fits_is_answered_by_rule() -> None:
    """Seat 1 is void of all suits but diamonds, and all diamonds have been played."""
    tricks = tuple(
        tuple(TrickCard(int(seat), parse_card(card)) for seat, card in map(str.split, trick))
        for trick in (
            ("0 9C", "1 9D", "2 10D", "3 QD"),
            ("0 9S", "1 KD", "2 AD", "3 9H"),
            ("3 10H", "0 10C", "1 QS", "2 KS"),
        )
    )
    public_state = PublicState(parse_card("AS"), (*[Bid()] * 4, Bid(HEARTS)), tricks=tricks)
    view = playing_position("QC AC", public_state)
    assert WorldSampler(view, PortableRng(1)).sample(50) == []
    decision = Pimc(budget=SMALL_BUDGET).decide(view)
    assert decision.action in view.legal_actions
    assert decision.reason.startswith("No deal fits what has been seen, so a rule decides.")


def test_portable_rng_rolls_the_same_on_every_platform() -> None:
    rng, cards = PortableRng(42), list(DECK)
    rng.shuffle(cards)
    assert cards[:6] == [13, 6, 11, 16, 17, 5]
    assert rng.random() == 0.34461165588511367


def test_a_safe_action_replaces_an_illegal_action() -> None:
    illegal_strategy = SimpleNamespace(
        decide=lambda view: EuchreDecision(Play(view.unseen_cards[0]), "I wish I had it.")
    )
    for view in random_positions(20):
        result = DECISION_RUNNER.decide(illegal_strategy, view, None, lambda: 0.0)
        assert "may not play" in str(result.error)
        assert result.decision.action in view.legal_actions


HEARTS_CALL = TrumpCall(4, HEARTS, goes_alone=False)


def count_best_play_tricks(
    hands: list[tuple[int, ...]],
    play_order: PlayOrder,
    side: int,
    trick: list[TrickCard],
    seat: int,
) -> int:
    """Return the tricks of a side with perfect play, by an exhaustive search."""
    led = suit_of(trick[0].card, play_order.trump) if trick else None
    if len(trick) == play_order.chairs:
        winner = max(
            trick, key=lambda trick_card: trick_strength(trick_card.card, play_order.trump, led)
        ).seat
        return (winner % 2 == side) + count_best_play_tricks(hands, play_order, side, [], winner)
    seat = play_order.first_playing_seat_from(seat)
    if not hands[seat]:
        return 0
    values = [
        count_best_play_tricks(
            remove_card(card, hands), play_order, side, [*trick, TrickCard(seat, card)], seat + 1
        )
        for card in legal_cards(hands[seat], led, play_order.trump)
    ]
    return max(values) if seat % 2 == side else min(values)


def remove_card(card: int, hands: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [tuple(hand_card for hand_card in hand if hand_card != card) for hand in hands]


@pytest.mark.parametrize(
    ("call", "lone_defender"),
    [
        (HEARTS_CALL, None),
        (TrumpCall(4, 1, goes_alone=True), None),
        (TrumpCall(7, 3, goes_alone=True), 2),
    ],
)
def test_solver_agrees_with_exhaustive_search(call: TrumpCall, lone_defender: int | None) -> None:
    """With three cards each, all lines of play are searched, also from within a trick."""
    rng, play_order, layout = Random(7), PlayOrder(call, lone_defender), trump_layout(call.suit)
    for number in range(36):
        dealt_cards = rng.sample(DECK, 12)
        hands = [tuple(dealt_cards[3 * seat : 3 * seat + 3]) for seat in SEATS]
        solver = DoubleDummySolver(play_order, list(map(layout.to_mask, hands)))
        play_state, trick = CardPlayState(rng.randrange(4)), []
        for _ in range(number % play_order.chairs):
            seat = play_order.first_playing_seat_from(play_state.seat)
            led = suit_of(trick[0].card, call.suit) if trick else None
            trick.append(TrickCard(seat, rng.choice(legal_cards(hands[seat], led, call.suit))))
            hands = remove_card(trick[-1].card, hands)
            play_state = replace(play_state, seat=seat).with_card(
                layout.bit[trick[-1].card], play_order
            )
        max_trick_count = count_best_play_tricks(
            hands, play_order, call.caller_seat % 2, trick, play_state.seat
        )
        trick_mask = layout.to_mask(card for _, card in trick)
        assert [
            solver.can_caller_side_win(play_state, trick_count, trick_mask)
            for trick_count in range(5)
        ] == [max_trick_count >= trick_count for trick_count in range(5)]


def test_points_distinguish_win_march_and_euchre() -> None:
    play_order, layout = PlayOrder(HEARTS_CALL), trump_layout(HEARTS)
    best_hand = layout.to_mask(map(parse_card, ("JH", "JD", "AH", "KH", "QH")))
    poor_hand = layout.to_mask(map(parse_card, ("9C", "9S", "9D", "10C", "10S")))
    other_hands = [
        layout.to_mask(map(parse_card, text.split()))
        for text in ("AC KC QC JC AS", "KS QS JS AD KD")
    ]
    assert (
        DoubleDummySolver(
            play_order, [best_hand, other_hands[0], poor_hand, other_hands[1]]
        ).solve_point_difference(CardPlayState())
        == 2
    )
    assert (
        DoubleDummySolver(
            play_order, [poor_hand, best_hand, other_hands[0], other_hands[1]]
        ).solve_point_difference(CardPlayState())
        == -2
    )
    assert (
        DoubleDummySolver(
            play_order, [best_hand, other_hands[0], poor_hand, other_hands[1]]
        ).solve_point_difference(CardPlayState(tricks_lost=1))
        == 1
    )


@pytest.mark.parametrize(
    ("hand", "values"),
    [
        ("JH JD AH KH QH", [1000, 900, 750, 600, 500, 900, 250, 250, 250]),
        ("9H AS AC 9C 10D", [400, 600, 450]),
        ("9H 10H KS QS 9S", [400, 450, 120, 250, 250]),
    ],
)
def test_a_hand_is_worth_its_parts(hand: str, values: list[int]) -> None:
    """The value adds trumps, aces, kings and voids, in thousandths of a trick."""
    layout = trump_layout(HEARTS)
    assert layout.expected_caller_tricks(layout.to_mask(map(parse_card, hand.split()))) == sum(
        values
    )


@pytest.mark.parametrize(
    ("hand", "discard_order"),
    [
        ("10D AS 9H KD 10C 10S", "10C 10D 10S KD AS 9H"),  # of a rank by number, trumps last
        ("JH JD 9H AH", "9H AH JD JH"),  # the left bower is a trump
        ("QC 10S KS AH", "QC 10S KS AH"),  # a lonely card before those of two ranks lower
        ("QC 9S KS AH", "9S QC KS AH"),
        ("9S 10S 10C QC AH", "9S 10C 10S QC AH"),  # 10S has company, whatever is offered
        ("AC KS AS AH", "KS AC AS AH"),  # but no ace
        ("QC 10S KS", "10S QC KS"),  # and only with a trump
    ],
)
def test_discard_prefers_the_offered_card_of_lowest_value(hand: str, discard_order: str) -> None:
    """The cards are discarded in the given order while the other cards stay in the hand."""
    layout = trump_layout(HEARTS)
    hand_bits = remaining_bits = layout.to_mask(map(parse_card, hand.split()))
    for card in map(parse_card, discard_order.split()):
        assert layout.number[layout.best_discard(hand_bits, remaining_bits)] == card
        remaining_bits ^= layout.bit[card]


def test_a_world_is_played_out_as_the_player_rules_plays_it() -> None:
    """The bit playout gives the points of `rules`, from every card of a deal on."""
    for seed in range(25):
        for deal in random_decision_states(seed):
            if pending_decision(deal.public_state).decision_type is DecisionType.PLAY:
                assert points_by_bit_playout(deal) == points_by_rules(deal)


def points_by_rules(deal: Deal) -> int:
    """Return the caller side's points less the other side's, when all seats play `rules`."""
    while pending_decision(deal.public_state) is not None:
        deal = apply(deal, RuleBased().decide(current_position(deal)).action)
    result = score(deal.public_state)
    side = result.caller_side % 2
    return result.points[side] - result.points[1 - side]


def points_by_bit_playout(deal: Deal) -> int:
    public_state = deal.public_state
    play_order, layout = (
        PlayOrder(public_state.trump_call, public_state.lone_defender),
        trump_layout(public_state.trump_call.suit),
    )
    dealt_masks = tuple(card_mask(deal.cards[5 * seat : 5 * seat + 5]) for seat in SEATS)
    hidden_masks = EuchreWorld((), dealt_masks).not_dealt_masks_by_seat(
        public_state.trump_call, public_state.turn_card
    )
    played_bits = (layout.bit[card] for trick in public_state.tricks for _, card in trick)
    *_, play_state = replay_card_play_states(played_bits, play_order)
    return playout_points(
        play_order, [layout.to_mask(deal.hand(seat)) for seat in SEATS], hidden_masks, play_state
    )
