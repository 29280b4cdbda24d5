"""The engine: cards as bits, its worlds and its search, how choices race, and what it answers."""

from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest
from support.euchre_deals import decision_states, positions

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

SMALL = SearchBudget(max_worlds=8, batch_size=8)
HEARTS = 2


def cards_of(hand_bits: int) -> tuple[int, ...]:
    return tuple(card for card in DECK if hand_bits >> card & 1)


def hand(hand_text: str) -> tuple[int, ...]:
    return tuple(sorted(map(parse_card, hand_text.split())))


def playing(hand_text: str, table: PublicState) -> EuchrePosition:
    cards = hand(hand_text)
    return EuchrePosition(0, DecisionType.PLAY, cards, table, tuple(map(Play, cards)))


def test_every_sampled_world_agrees_with_the_observations_of_the_seat() -> None:
    for view in positions(24):
        table = view.public_state
        played = {card for trick in table.tricks for _, card in trick}
        for world, _ in WorldSampler(view, PortableRng(1)).sample(3):
            hands, dealt = list(map(cards_of, world.hands)), list(map(cards_of, world.dealt_hands))
            assert hands[view.seat] == view.hand
            all_cards = [card for hand in hands for card in hand]
            assert len(all_cards) == len(set(all_cards))
            assert played.isdisjoint(all_cards)
            assert [*map(len, dealt)] == [5] * 4
            assert len({card for hand in dealt for card in hand}) == 20
            for seat in SEATS:
                played_by_seat = table.cards_played_by(seat)
                assert {*played_by_seat} <= {*dealt[seat], table.turn_card}
                if view.decision_type is not DecisionType.DISCARD or seat != DEALER:
                    assert len(hands[seat]) + len(played_by_seat) == 5
                suits = {suit_of(card, table.trump) for card in hands[seat]}
                assert suits.isdisjoint(table.revealed_voids[seat])


def test_a_dealer_that_called_is_expected_to_have_trumps() -> None:
    """Bids weigh: a caller's likely hands are not those of somebody who passed."""

    def trumps(table: PublicState) -> float:
        worlds = WorldSampler(playing("9C 10C 9D 10D 9S", table), PortableRng(3)).sample(200)
        count = sum(
            times * sum(suit_of(card, HEARTS) == HEARTS for card in cards_of(world.dealt_hands[2]))
            for world, times in worlds
        )
        return count / 200

    passes = (Bid(), Bid())
    called = PublicState(parse_card("QH"), (*passes, Bid(HEARTS)), has_discarded=True)
    by_dealer = PublicState(parse_card("QH"), (*passes, Bid(), Bid(HEARTS)), has_discarded=True)
    assert trumps(called) > trumps(by_dealer) + 0.5


@pytest.mark.parametrize(
    ("turned", "hand_text", "bid"),
    [
        ("9H", "QH KH AH JD JH", Bid(HEARTS, goes_alone=True)),  # it cannot lose
        ("JH", "9C 10C 9S 10S 9D", Bid()),  # it is hopeless
    ],
)
def test_bids_follow_the_value_of_the_hand(turned: str, hand_text: str, bid: Bid) -> None:
    choices = (Bid(), Bid(HEARTS), Bid(HEARTS, goes_alone=True))
    view = EuchrePosition(
        0, DecisionType.BID, hand(hand_text), PublicState(parse_card(turned)), choices
    )
    assert Pimc(budget=SMALL).decide(view).action == bid


def test_work_ends_at_its_limit_and_time_is_the_last_resort() -> None:
    view = next(
        position
        for position in positions(20, DecisionType.BID)
        if position.public_state.bids == () and len(Pimc(budget=SMALL).decide(position).options) > 1
    )
    limited = Pimc(budget=SearchBudget(max_worlds=50, batch_size=10, max_work=1)).decide(view)
    assert limited.world_count == 10
    assert not limited.was_cut_short, "the same on any machine"
    ticks = iter(range(0, 1000, 10))
    hurried = Pimc(lambda: float(next(ticks)), SearchBudget(max_worlds=50, batch_size=50)).decide(
        view
    )
    assert 0 < hurried.world_count < 50
    assert hurried.was_cut_short
    assert hurried.action in view.legal_actions


def test_a_view_that_no_world_fits_is_answered_by_rule() -> None:
    """Seat 1 has shown void of all but diamonds, and all diamonds are gone."""
    tricks = tuple(
        tuple(TrickCard(int(seat), parse_card(card)) for seat, card in map(str.split, trick))
        for trick in (
            ("0 9C", "1 9D", "2 10D", "3 QD"),
            ("0 9S", "1 KD", "2 AD", "3 9H"),
            ("3 10H", "0 10C", "1 QS", "2 KS"),
        )
    )
    table = PublicState(parse_card("AS"), (*[Bid()] * 4, Bid(HEARTS)), tricks=tricks)
    view = playing("QC AC", table)
    assert WorldSampler(view, PortableRng(1)).sample(50) == []
    decision = Pimc(budget=SMALL).decide(view)
    assert decision.action in view.legal_actions
    assert decision.reason.startswith("No world fits the view.")


def test_portable_rng_rolls_the_same_on_every_platform() -> None:
    dice, cards = PortableRng(42), list(DECK)
    dice.shuffle(cards)
    assert cards[:6] == [13, 6, 11, 16, 17, 5]
    assert dice.random() == 0.34461165588511367


def test_a_safe_action_replaces_an_illegal_action() -> None:
    cheat = SimpleNamespace(
        decide=lambda view: EuchreDecision(Play(view.unseen_cards[0]), "I wish I had it.")
    )
    for view in positions(20):
        decided = DECISION_RUNNER.decide(cheat, view, None, lambda: 0.0)
        assert "may not play" in str(decided.error)
        assert decided.decision.action in view.legal_actions


CALL = TrumpCall(4, HEARTS, goes_alone=False)


def max_tricks(
    hands: list[tuple[int, ...]], table: PlayOrder, side: int, trick: list[TrickCard], seat: int
) -> int:
    """Tricks of a side with perfect play: every card of everybody tried, nothing clever."""
    led = suit_of(trick[0].card, table.trump) if trick else None
    if len(trick) == table.chairs:
        winner = max(
            trick, key=lambda trick_card: trick_strength(trick_card.card, table.trump, led)
        ).seat
        return (winner % 2 == side) + max_tricks(hands, table, side, [], winner)
    seat = table.first_playing_seat_from(seat)
    if not hands[seat]:
        return 0
    values = [
        max_tricks(without(card, hands), table, side, [*trick, TrickCard(seat, card)], seat + 1)
        for card in legal_cards(hands[seat], led, table.trump)
    ]
    return max(values) if seat % 2 == side else min(values)


def without(card: int, hands: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [tuple(hand_card for hand_card in hand if hand_card != card) for hand in hands]


@pytest.mark.parametrize(
    ("call", "lone_defender"),
    [(CALL, None), (TrumpCall(4, 1, goes_alone=True), None), (TrumpCall(7, 3, goes_alone=True), 2)],
)
def test_solver_agrees_with_exhaustive_search(call: TrumpCall, lone_defender: int | None) -> None:
    """Three cards each: few enough to try every line of play, also from the middle of a trick."""
    rng, table, cards = Random(7), PlayOrder(call, lone_defender), trump_layout(call.suit)
    for number in range(36):
        dealt = rng.sample(DECK, 12)
        hands = [tuple(dealt[3 * seat : 3 * seat + 3]) for seat in SEATS]
        search = DoubleDummySolver(table, list(map(cards.to_mask, hands)))
        stage, trick = CardPlayState(rng.randrange(4)), []
        for _ in range(number % table.chairs):
            seat = table.first_playing_seat_from(stage.seat)
            led = suit_of(trick[0].card, call.suit) if trick else None
            trick.append(TrickCard(seat, rng.choice(legal_cards(hands[seat], led, call.suit))))
            hands = without(trick[-1].card, hands)
            stage = replace(stage, seat=seat).with_card(cards.bit[trick[-1].card], table)
        best = max_tricks(hands, table, call.caller_seat % 2, trick, stage.seat)
        lying = cards.to_mask(card for _, card in trick)
        assert [search.can_caller_side_win(stage, need, lying) for need in range(5)] == [
            best >= need for need in range(5)
        ]


def test_points_distinguish_win_march_and_euchre() -> None:
    table, cards = PlayOrder(CALL), trump_layout(HEARTS)
    best = cards.to_mask(map(parse_card, ("JH", "JD", "AH", "KH", "QH")))
    poor = cards.to_mask(map(parse_card, ("9C", "9S", "9D", "10C", "10S")))
    rest = [
        cards.to_mask(map(parse_card, text.split()))
        for text in ("AC KC QC JC AS", "KS QS JS AD KD")
    ]
    assert (
        DoubleDummySolver(table, [best, rest[0], poor, rest[1]]).solve_point_difference(
            CardPlayState()
        )
        == 2
    )
    assert (
        DoubleDummySolver(table, [poor, best, rest[0], rest[1]]).solve_point_difference(
            CardPlayState()
        )
        == -2
    )
    assert (
        DoubleDummySolver(table, [best, rest[0], poor, rest[1]]).solve_point_difference(
            CardPlayState(tricks_lost=1)
        )
        == 1
    )


@pytest.mark.parametrize(
    ("hand", "parts"),
    [
        ("JH JD AH KH QH", [1000, 900, 750, 600, 500, 900, 250, 250, 250]),
        ("9H AS AC 9C 10D", [400, 600, 450]),
        ("9H 10H KS QS 9S", [400, 450, 120, 250, 250]),
    ],
)
def test_a_hand_is_worth_its_parts(hand: str, parts: list[int]) -> None:
    """Trumps by rank and number, aces by their company, kings, voids to ruff; in thousandths."""
    cards = trump_layout(HEARTS)
    assert cards.expected_caller_tricks(cards.to_mask(map(parse_card, hand.split()))) == sum(parts)


@pytest.mark.parametrize(
    ("hand", "missed"),
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
def test_discard_prefers_the_offered_card_of_lowest_value(hand: str, missed: str) -> None:
    """`missed` are the cards in the order in which they go while the others stay in the hand."""
    cards = trump_layout(HEARTS)
    hand_bits = remaining_bits = cards.to_mask(map(parse_card, hand.split()))
    for card in map(parse_card, missed.split()):
        assert cards.number[cards.best_discard(hand_bits, remaining_bits)] == card
        remaining_bits ^= cards.bit[card]


def test_a_world_is_played_out_as_the_player_rules_plays_it() -> None:
    """From every card of dealt deals on, played to the end by `rules` and over bits."""
    for seed in range(25):
        for deal in decision_states(seed):
            if pending_decision(deal.public_state).decision_type is DecisionType.PLAY:
                assert over_bits(deal) == by_rules(deal)


def by_rules(deal: Deal) -> int:
    """Points of the caller's side less the others', when all seats play as `rules` does."""
    while pending_decision(deal.public_state) is not None:
        deal = apply(deal, RuleBased().decide(current_position(deal)).action)
    result = score(deal.public_state)
    side = result.caller_side % 2
    return result.points[side] - result.points[1 - side]


def over_bits(deal: Deal) -> int:
    table = deal.public_state
    seating, cards = (
        PlayOrder(table.trump_call, table.lone_defender),
        trump_layout(table.trump_call.suit),
    )
    dealt = tuple(card_mask(deal.cards[5 * seat : 5 * seat + 5]) for seat in SEATS)
    hidden = EuchreWorld((), dealt).not_dealt_masks_by_seat(table.trump_call, table.turn_card)
    played_bits = (cards.bit[card] for trick in table.tricks for _, card in trick)
    *_, stage = replay_card_play_states(played_bits, seating)
    return playout_points(
        seating, [cards.to_mask(deal.hand(seat)) for seat in SEATS], hidden, stage
    )
