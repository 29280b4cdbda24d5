"""Worlds of a position: possible layouts of the cards that a seat cannot see.

They are sampled from the layouts that agree with all cards played and all revealed voids. They are
then resampled by the likelihood of the other seats' bids and plays. Sets of cards have a bit for
each card's number here; only where trumps matter do they use a `trump_layout`. The value of a
contract in a world is its points if everybody plays on by the rules.
"""

from collections import Counter
from itertools import accumulate
from operator import mul
from typing import NamedTuple

from cardsharp.games.euchre.cards import DECK, Card, suit_of
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.public_state import DEALER, MAX_BIDS, SEATS, TrumpCall
from cardsharp.games.euchre.rules import HAND_SIZE
from cardsharp.games.euchre.strategies.bidding import bid_likelihood, card_mask, value_hand
from cardsharp.games.euchre.strategies.card_play_rules import make_follow_rule, make_lead_rule
from cardsharp.games.euchre.strategies.playout import (
    ALL_CARDS,
    CardPlayState,
    play_order,
    playout_points,
    replay_card_play_states,
)
from cardsharp.games.euchre.strategies.portable_rng import PortableRng
from cardsharp.games.euchre.strategies.trump_layout import CardMask, trump_layout

DRAWS_PER_SAMPLE = 3  # sampled layouts for each world that is used
# factor of a layout's likelihood for each card that was played against the rules
SURPRISE_LIKELIHOOD = 0.1
_SURPRISE_LIKELIHOODS = tuple(accumulate([SURPRISE_LIKELIHOOD] * 20, mul, initial=1.0))

_MAX_SAMPLE_ATTEMPTS = 40


class EuchreWorld(NamedTuple):
    """Possible layout: the current and the dealt hand of each seat.

    The deciding seat's are real.
    """

    hands: tuple[int, ...]
    dealt_hands: tuple[int, ...]

    def not_dealt_masks_by_seat(self, trump_call: TrumpCall, turn_card: Card) -> list[CardMask]:
        """Return for each seat the mask of the cards that it was not dealt.

        The turn card is excluded if it lies turned down, and always for the dealer.
        """
        cards = trump_layout(trump_call.suit)
        turn = cards.bit[turn_card]
        candidate_cards = ALL_CARDS if trump_call.is_order_up else ALL_CARDS ^ turn
        hidden = [
            candidate_cards & ~cards.mask_from_card_set(dealt_cards)
            for dealt_cards in self.dealt_hands
        ]
        hidden[DEALER] &= ~turn
        return hidden


class WorldSampler:
    """Sampler of layouts for one position, in batches."""

    def __init__(self, position: EuchrePosition, rng: PortableRng) -> None:
        self._position, self._rng = position, rng
        table = position.public_state
        call = table.trump_call
        picks_up = call is not None and call.is_order_up
        self._dealer_picked_up = picks_up and position.seat != DEALER
        self._turn_card_mask = 1 << table.turn_card
        self._unseen_cards = [1 << card for card in position.unseen_cards]
        turn = self._turn_card_mask if picks_up else 0
        self._played_cards = [card_mask(table.cards_played_by(seat)) for seat in SEATS]
        self._public_cards = [
            played & ~(turn if seat == DEALER else 0)
            for seat, played in enumerate(self._played_cards)
        ]
        self._voids = [
            card_mask([card for card in DECK if suit_of(card, table.trump) in voids])
            for voids in table.revealed_voids
        ]
        # The seat with the most voids draws first. Otherwise the remaining cards may not fit it.
        self._seat_order = sorted(
            (seat for seat in SEATS if seat != position.seat),
            key=lambda seat: -self._voids[seat].bit_count(),
        )
        self._hand = card_mask(position.hand)
        self._dealt_cards = card_mask(position.seat_cards) & ~(
            turn if position.seat == DEALER else 0
        )
        self._play_history = (
            None if call is None or not table.tricks else _PlayHistory(position, call)
        )

    def sample(self, count: int) -> list[tuple[EuchreWorld, int]]:
        """Sample `count` worlds, each with its multiplicity; empty if the position allows none."""
        worlds: list[EuchreWorld] = []
        for _ in range(DRAWS_PER_SAMPLE * count):
            tries = (self._try_sample() for _ in range(_MAX_SAMPLE_ATTEMPTS))
            world = next((candidate for candidate in tries if candidate is not None), None)
            if world is None:
                break  # a layout that many tries did not find is most likely impossible
            worlds.append(world)
        if not worlds:
            return []
        weights = [self.likelihood(world) for world in worlds]
        return list(self._resample(worlds, weights, count).items())

    # Only other seats count: the deciding seat's own bids are the same in every world. The plays
    # count by how many contradict the rules, because players often have reasons of their own.
    def likelihood(self, world: EuchreWorld) -> float:
        """Return the likelihood of the other seats' bids and plays with these cards."""
        position, likely = self._position, 1.0
        for bid_index, bid in enumerate(position.public_state.bids):
            seat = bid_index % 4
            if seat != position.seat:
                likely *= bid_likelihood(
                    world.dealt_hands[seat], bid_index, position.public_state.turn_card, bid
                )
        return (
            likely
            if self._play_history is None
            else likely * _SURPRISE_LIKELIHOODS[self._play_history.count_surprises(world)]
        )

    def _resample(
        self, worlds: list[EuchreWorld], weights: list[float], sample_count: int
    ) -> Counter[EuchreWorld]:
        """Resample worlds in proportion to their weights, at even steps from one random start."""
        sums = list(accumulate(weights))
        interval = sums[-1] / sample_count
        threshold = self._rng.random() * interval
        counts: Counter[EuchreWorld] = Counter()
        for world, reached in zip(worlds, sums, strict=True):
            while threshold < reached:
                counts[world] += 1
                threshold += interval
        return counts

    def _try_sample(self) -> EuchreWorld | None:
        pool = self._unseen_cards[:]
        self._rng.shuffle(pool)
        hands, dealt_hands = [self._hand] * 4, [self._dealt_cards] * 4
        for seat in self._seat_order:
            count = HAND_SIZE - self._public_cards[seat].bit_count()
            spare = self._dealer_picked_up and seat == DEALER
            taken_cards = self._take_cards(pool, seat, count, may_discard=spare)
            if taken_cards is None:
                return None
            dealt_hands[seat] = self._public_cards[seat] | taken_cards
            hands[seat] = self._infer_dealer_hand(dealt_hands[seat]) if spare else taken_cards
        return EuchreWorld(tuple(hands), tuple(dealt_hands))

    def _take_cards(
        self, pool: list[int], seat: int, count: int, *, may_discard: bool
    ) -> int | None:
        """Take from the pool the first cards that the seat may have been dealt, and return them.

        With `may_discard`, the seat is a dealer that picked up and may have discarded one card of
        a void suit. Return None if there are not enough such cards.
        """
        void = self._voids[seat]
        if not void or not count:
            taken_cards = sum(pool[:count])
            del pool[:count]
            return taken_cards
        if void & self._turn_card_mask and not self._played_cards[seat] & self._turn_card_mask:
            may_discard = False  # the turn card itself was discarded
        cards = []
        for card in pool:
            if not card & void or may_discard:
                may_discard = may_discard and not card & void
                cards.append(card)
                if len(cards) == count:
                    break
        if len(cards) < count:
            return None
        for card in cards:
            pool.remove(card)
        return sum(cards)

    def _infer_dealer_hand(self, dealt_cards: int) -> int:
        """Return the current hand of a dealer that picked up, with a discard by the rules."""
        cards = trump_layout(self._position.public_state.turn_card & 3)
        hand = (dealt_cards | self._turn_card_mask) & ~self._played_cards[DEALER]
        void = hand & self._voids[DEALER]
        return hand ^ 1 << cards.number[cards.spare(cards.mask_from_card_set(void or hand))]


class _ObservedPlay(NamedTuple):
    """Card that another seat played, with that card and all later cards of the seat."""

    stage: CardPlayState
    card: CardMask
    later_cards: CardMask


class _PlayHistory:
    """Plays of the other seats, which are compared with a world."""

    def __init__(self, position: EuchrePosition, call: TrumpCall) -> None:
        table = position.public_state
        self._call, self._turn_card = call, table.turn_card
        self._seating = play_order(call, table.lone_defender)
        self._cards = cards = trump_layout(call.suit)
        plays = [(seat, cards.bit[card]) for trick in table.tricks for seat, card in trick]
        states = replay_card_play_states((card for _, card in plays), self._seating)
        self._plays = [
            _ObservedPlay(
                stage, card, sum(later for player, later in plays[spot:] if player == seat)
            )
            for spot, (stage, (seat, card)) in enumerate(zip(states, plays, strict=False))
            if seat != position.seat
        ]

    def count_surprises(self, world: EuchreWorld) -> int:
        """Return the number of plays that contradict the rules, given the cards of that world."""
        hands = [self._cards.mask_from_card_set(hand) for hand in world.hands]
        hidden = world.not_dealt_masks_by_seat(self._call, self._turn_card)
        count = 0
        for play in self._plays:
            seat = play.stage.seat
            hand = hands[seat] | play.later_cards
            count += self._is_surprising(play, hand, hidden[seat] & ~play.stage.played_cards)
        return count

    def _is_surprising(self, play: _ObservedPlay, hand: CardMask, hidden: CardMask) -> bool:
        stage, trump = play.stage, self._call.suit
        legal = (hand & stage.suit_led or hand) if stage.cards_in_trick else hand
        if not legal & (legal - 1):
            return False
        if stage.cards_in_trick:
            partners = stage.winning_seat == stage.seat ^ 2
            is_last = stage.cards_in_trick == self._seating.chairs - 1
            ruled = make_follow_rule(trump)(
                hand, hidden, stage.suit_led, stage.winning_card, partners, is_last
            )
        else:
            ruled = make_lead_rule(trump)(
                hand, hidden, self._seating.place[stage.seat], not stage.played_cards
            )
        if ruled == play.card:
            return False
        suit = self._cards.suit[ruled]
        low, high = min(ruled, play.card), max(ruled, play.card)
        between = suit & (high - 1) & ~(2 * low - 1)
        return not suit & play.card or bool(between & hidden)


def call_value(
    world: EuchreWorld,
    turn_card: Card,
    trump_call: TrumpCall,
    lone_defender: int | None = None,
    discard: Card | None = None,
) -> int:
    """Return the points of seats 0 and 2 less the others' if everybody plays on by the rules.

    Without `discard`, a dealer who picks up discards by the rules.
    """
    table, cards = play_order(trump_call, lone_defender), trump_layout(trump_call.suit)
    hands = [cards.mask_from_card_set(dealt_cards) for dealt_cards in world.dealt_hands]
    if trump_call.is_order_up:
        six = hands[DEALER] | cards.bit[turn_card]
        hands[DEALER] = six ^ (cards.spare(six) if discard is None else cards.bit[discard])
    stage = CardPlayState(table.first_playing_seat_from(0))
    points = playout_points(
        table, hands, world.not_dealt_masks_by_seat(trump_call, turn_card), stage
    )
    return -points if trump_call.caller_seat % 2 else points


def pass_value(world: EuchreWorld, turn_card: Card, bid_index: int) -> int:
    """Return the value of a pass, after which all others bid and play by the rules."""
    for later in range(bid_index + 1, MAX_BIDS):
        bid = value_hand(world.dealt_hands[later % 4], later, turn_card).best_bid
        if bid.suit is not None:
            return call_value(world, turn_card, TrumpCall(later, bid.suit, bid.goes_alone))
    return 0
