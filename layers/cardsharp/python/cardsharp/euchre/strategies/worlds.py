"""Worlds that a view allows: how the cards that a seat cannot see may lie.

Drawn at random among the layouts that agree with every card played and every suit shown void,
and then kept as often as the bids of the others make them likely.
"""

from collections import Counter
from dataclasses import dataclass
from random import Random

from cardsharp.euchre.cards import Card, Suit, suit_of
from cardsharp.euchre.state import HAND
from cardsharp.euchre.strategies.bidding import appraise
from cardsharp.euchre.strategies.estimates import discard_first
from cardsharp.euchre.table import DEALER, SEATS
from cardsharp.euchre.view import View

DRAWS = 4
"""Layouts drawn for each that is kept."""

_TRIES = 40


@dataclass(frozen=True, slots=True)
class World:
    """One layout: what each seat holds now, and what it was dealt, without the turn card.

    The own seat's are its real ones.
    """

    hands: tuple[tuple[Card, ...], ...]
    dealt: tuple[tuple[Card, ...], ...]


def sample(view: View, number: int, rng: Random) -> list[tuple[World, int]]:
    """That many worlds, each with how often it was drawn; none if the view allows none."""
    sampler = _Sampler(view, rng)
    drawn: list[World] = []
    for _ in range(DRAWS * number):
        world = sampler.draw()
        if world is None:
            break  # what was not found in many tries will not be found in many more
        drawn.append(world)
    if not drawn:
        return []
    weights = [sampler.likelihood(world) for world in drawn]
    return list(_resampled(drawn, weights, number, rng).items())


def _resampled(
    drawn: list[World], weights: list[float], number: int, rng: Random
) -> Counter[World]:
    """Worlds in proportion to their weights, at even steps from one random start."""
    step = sum(weights) / number
    mark, reached = rng.random() * step, 0.0
    kept: Counter[World] = Counter()
    for world, weight in zip(drawn, weights, strict=True):
        reached += weight
        while mark < reached:
            kept[world] += 1
            mark += step
    return kept


class _Sampler:
    """Draws layouts for one view."""

    def __init__(self, view: View, rng: Random) -> None:
        self.view, self.rng = view, rng
        table = view.table
        call, self.trump = table.call, table.trump
        self.picked_up = call is not None and call.picks_up and view.seat != DEALER
        self.unseen = view.unseen
        turn = {table.turn_card} if call is not None and call.picks_up else set()
        self.played = [set(table.played_by(seat)) for seat in SEATS]
        self.shown = [self.played[seat] - (turn if seat == DEALER else set()) for seat in SEATS]
        self.voids = table.voids
        # Whoever has shown most voids chooses first, or there may be nothing left for it.
        self.order = sorted(
            (seat for seat in SEATS if seat != view.seat),
            key=lambda seat: -len(self.voids[seat]),
        )
        self.own = tuple(card for card in view.dealt if card not in turn or view.seat != DEALER)

    def draw(self) -> World | None:
        """A layout, None if none was found in a few tries."""
        for _ in range(_TRIES):
            world = self._try()
            if world is not None:
                return world
        return None

    def likelihood(self, world: World) -> float:
        """How likely the others are to have bid as they did, with these cards."""
        table, likely = self.view.table, 1.0
        for number, bid in enumerate(table.bids):
            seat = number % 4
            if seat != self.view.seat:
                likely *= appraise(world.dealt[seat], number, table.turn_card).likelihood(bid)
        return likely

    def _try(self) -> World | None:
        pool = self.rng.sample(self.unseen, len(self.unseen))
        hands: list[tuple[Card, ...]] = [self.view.hand] * 4
        dealt: list[tuple[Card, ...]] = [self.own] * 4
        for seat in self.order:
            wanted = HAND - len(self.shown[seat])
            spare = self.picked_up and seat == DEALER
            taken = self._take(pool, seat, wanted, spare=spare)
            if len(taken) < wanted:
                return None
            pool = [card for card in pool if card not in taken]
            dealt[seat] = (*self.shown[seat], *taken)
            hands[seat] = self._after_discard(dealt[seat]) if spare else tuple(taken)
        return World(tuple(hands), tuple(dealt))

    def _take(self, pool: list[Card], seat: int, wanted: int, *, spare: bool) -> list[Card]:
        """The first cards of the pool that the seat may have been dealt.

        A dealer who picked up may have laid one card of a suit aside that it has shown void.
        """
        void = self.voids[seat]
        if not void:
            return pool[:wanted]
        taken: list[Card] = []
        if self.trump in void and self.view.table.turn_card not in self.played[seat]:
            spare = False  # the turn card itself was laid aside
        for card in pool:
            if len(taken) == wanted:
                break
            if suit_of(card, self.trump) not in void:
                taken.append(card)
            elif spare:
                taken.append(card)
                spare = False
        return taken

    def _after_discard(self, dealt: tuple[Card, ...]) -> tuple[Card, ...]:
        """What a dealer holds who has picked up, discarded by rule, and played."""
        turn_card = self.view.table.turn_card
        trump: Suit = turn_card & 3
        left = [
            card
            for card in discard_first([*dealt, turn_card], trump)
            if card not in self.played[DEALER]
        ]
        void = self.voids[DEALER]
        laid = next((card for card in left if suit_of(card, trump) in void), left[0])
        left.remove(laid)
        return tuple(left)
