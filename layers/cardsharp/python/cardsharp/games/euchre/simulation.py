"""Simulation of Euchre in one process: deals to ten points (docs/spec/euchre.md section 1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from cardsharp.errors import ConfigError, IllegalAction
from cardsharp.games.euchre.actions import Action
from cardsharp.games.euchre.cards import DECK, Card, suit_of
from cardsharp.games.euchre.position import EuchrePosition, position_for
from cardsharp.games.euchre.public_state import (
    DEALER,
    SEATS,
    TRICKS,
    TrumpCall,
    pending_decision,
    required_pending_decision,
)
from cardsharp.games.euchre.rules import (
    HAND_SIZE,
    TURN_CARD_INDEX,
    Deal,
    DealResult,
    apply,
    legal_actions,
    score,
    start,
)
from cardsharp.games.euchre.strategies import Strategy, build
from cardsharp.play.simulation import RatioStat, Simulation

WINNING_SCORE = 10  # points that win a match
PLAYER_COUNT = 4


@dataclass(frozen=True, slots=True)
class SeatedDeal:
    """Deal of a match; `first_player` is the player at seat 0, to the dealer's left."""

    deal: Deal
    first_player: int

    def player_at(self, seat: int) -> int:
        """Return the player at a seat of this deal: seats rotate with the dealer, players stay."""
        return (self.first_player + seat) % PLAYER_COUNT

    def seat_of(self, player: int) -> int:
        """Return the seat of a player in this deal."""
        return (player - self.first_player) % PLAYER_COUNT


@dataclass(frozen=True, slots=True)
class SimulatedEuchreMatch:
    """Match: the current deal, finished deals, and the points of both sides.

    Players 0 and 2 play against 1 and 3. When the match has ended, `current` is its last deal,
    which is not in `finished`.
    """

    current: SeatedDeal
    finished: tuple[SeatedDeal, ...] = ()
    points: tuple[int, int] = (0, 0)

    @property
    def is_over(self) -> bool:
        """True if a side has its ten points."""
        return max(self.points) >= WINNING_SCORE

    @property
    def all_deals(self) -> tuple[SeatedDeal, ...]:
        """All deals of the match."""
        return (*self.finished, self.current)

    def with_finished_deal(self, deal: Deal, rng: Random) -> "SimulatedEuchreMatch":
        """Return the match after its current deal; deal the next one unless the match is over."""
        seated_deal, deal_points = replace(self.current, deal=deal), score(deal.public_state).points
        sides = deal_points if seated_deal.first_player % 2 == 0 else deal_points[::-1]
        result = SimulatedEuchreMatch(
            seated_deal, self.finished, (self.points[0] + sides[0], self.points[1] + sides[1])
        )
        if result.is_over:
            return result
        return SimulatedEuchreMatch(
            SeatedDeal(start(shuffled_deck(rng)), seated_deal.player_at(1)),
            result.all_deals,
            result.points,
        )


def shuffled_deck(rng: Random) -> tuple[Card, ...]:
    """Return the 24 cards in random order."""
    cards = list(DECK)
    rng.shuffle(cards)
    return tuple(cards)


class EuchreSimulation(Simulation[SimulatedEuchreMatch, EuchrePosition, Action]):
    """Simulation of a match of four players, partners opposite; it goes to ten points."""

    sides = ((0, 2), (1, 3))
    stats = (
        RatioStat("calls {:.1%} of the deals", "calls", "deals"),
        RatioStat("{:.1%} of them in the first round", "first_round", "calls"),
        RatioStat("makes {:.1%}", "made", "calls"),
        RatioStat("all five {:.1%}", "marches", "calls"),
        RatioStat("euchred {:.1%}", "euchred", "calls"),
        RatioStat("alone {:.1%}", "alone", "calls"),
        RatioStat("{:.1%} of those all five", "lone_marches", "alone"),
        RatioStat("{:.3f} points a deal", "points", "deals"),
        RatioStat("{:.1f} deals", "deals"),
        RatioStat("{:.2f} passed out", "passed_out"),
    )

    def __init__(self, seats: int | None = None) -> None:
        if seats not in {None, PLAYER_COUNT}:
            raise ConfigError(f"Euchre is played by four, not by {seats}.")

    def initial_state(self, rng: Random) -> SimulatedEuchreMatch:
        """Return a new match: the first dealer is drawn at random, then the cards are shuffled."""
        dealer = rng.randrange(PLAYER_COUNT)
        return SimulatedEuchreMatch(
            SeatedDeal(start(shuffled_deck(rng)), (dealer + 1) % PLAYER_COUNT)
        )

    def current_seat(self, state: SimulatedEuchreMatch) -> int | None:
        """Return the player to act, None if a side has its points."""
        pending = pending_decision(state.current.deal.public_state)
        return None if pending is None else state.current.player_at(pending.seat)

    def position_for(self, state: SimulatedEuchreMatch, seat: int) -> EuchrePosition:
        """Return a player's position in the current or last deal, at any time."""
        return position_for(state.current.deal, state.current.seat_of(seat))

    def legal_actions(self, state: SimulatedEuchreMatch) -> Sequence[Action]:
        """Return the legal answers to the pending decision."""
        return legal_actions(state.current.deal)

    def apply_action(
        self, state: SimulatedEuchreMatch, action: Action, rng: Random
    ) -> SimulatedEuchreMatch:
        """Return the match after an action; if it ends a deal, the next one is dealt.

        Raises `IllegalAction` if the action is illegal.
        """
        deal = apply(state.current.deal, action)
        if pending_decision(deal.public_state) is None:
            return state.with_finished_deal(deal, rng)
        return replace(state, current=replace(state.current, deal=deal))

    def scores(self, state: SimulatedEuchreMatch) -> tuple[float, ...]:
        """Return a half for each winner; raise `IllegalAction` if the match is not over."""
        if not state.is_over:
            raise IllegalAction("The match has not ended yet.")
        won = int(state.points[1] > state.points[0])
        return tuple(0.5 * (seat % 2 == won) for seat in range(PLAYER_COUNT))

    def returns(self, state: SimulatedEuchreMatch) -> tuple[float, ...]:
        """Return half of its side's match points for each player."""
        return tuple(state.points[seat % 2] / 2 for seat in range(PLAYER_COUNT))

    @property
    def returns_range(self) -> tuple[float, float]:
        """Minimum and maximum of a side's points: none, and those that win."""
        return 0, WINNING_SCORE

    def stat_counts(self, state: SimulatedEuchreMatch) -> Mapping[str, tuple[float, ...]]:
        """Return the deals, the passed-out deals, and each side's calls with their results."""
        counted: dict[str, list[float]] = {name: [0, 0] for name in ("points", *_OF_CALLS)}
        passed_out = 0
        for seated_deal in state.all_deals:
            result, call = (
                score(seated_deal.deal.public_state),
                seated_deal.deal.public_state.trump_call,
            )
            for seat, points in enumerate(result.points):
                counted["points"][seated_deal.player_at(seat) % 2] += points
            passed_out += call is None
            for name, is_so in _OF_CALLS.items():
                if call is not None:
                    counted[name][seated_deal.player_at(call.caller_seat) % 2] += is_so(
                        call, result
                    )
        by_side = {name: tuple(counts) for name, counts in counted.items()}
        return {**by_side, "deals": (len(state.all_deals),), "passed_out": (passed_out,)}

    def build_strategy(
        self,
        name: str,
        _rng: Random,
        _past_matches: Sequence[tuple[int, SimulatedEuchreMatch]] = (),
    ) -> Strategy:
        """Return the strategy with this name. None of Euchre's is random or learns."""
        return build(name)

    def resample_hidden(self, state: SimulatedEuchreMatch, rng: Random) -> SimulatedEuchreMatch:
        """Resample unseen cards; no seat gets a card of a suit that it has shown void."""
        voids = state.current.deal.public_state.revealed_voids
        while True:
            deal = resample_unseen_cards(state.current.deal, rng)
            suits_by_seat = (
                (seat, suit_of(card, deal.public_state.trump))
                for seat in SEATS
                for card in deal.hand(seat)
            )
            if not any(suit in voids[seat] for seat, suit in suits_by_seat):
                return replace(state, current=replace(state.current, deal=deal))


_OF_CALLS: Mapping[str, Callable[[TrumpCall, DealResult], bool]] = {
    "calls": lambda *_: True,
    "first_round": lambda call, _: call.is_order_up,
    "alone": lambda call, _: call.goes_alone,
    "made": lambda _, result: not result.is_euchred,
    "marches": lambda _, result: result.tricks == TRICKS,
    "lone_marches": lambda call, result: call.goes_alone and result.tricks == TRICKS,
    "euchred": lambda _, result: result.is_euchred,
}
"""Conditions by which calls and their results are counted."""


def resample_unseen_cards(deal: Deal, rng: Random) -> Deal:
    """Resample all cards that the seat to decide cannot see; raise `IllegalAction`."""
    pending = required_pending_decision(deal.public_state)
    played = {card for trick in deal.public_state.tricks for _, card in trick}
    seat_places = range(HAND_SIZE * pending.seat, HAND_SIZE * (pending.seat + 1))
    hidden = [
        card_index
        for card_index, card in enumerate(deal.cards)
        if card_index not in seat_places and card_index != TURN_CARD_INDEX and card not in played
    ]
    moved = rng.sample(hidden, len(hidden))
    cards = list(deal.cards)
    for card_index, source in zip(hidden, moved, strict=True):
        cards[card_index] = deal.cards[source]
    laid = deal.discard
    if laid is not None and pending.seat != DEALER:
        candidates = {
            *cards[HAND_SIZE * DEALER : HAND_SIZE * (DEALER + 1)],
            deal.public_state.turn_card,
        } - played
        laid = rng.choice(sorted(candidates))
    return replace(deal, cards=tuple(cards), discard=laid)
