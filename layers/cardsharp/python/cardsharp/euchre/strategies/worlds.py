"""Worlds that a position allows: how the cards that a seat cannot see may lie.

Drawn at random among the layouts that agree with every card played and every suit shown void,
and then kept as often as the bids and plays of the others make them likely. Sets of cards have a
bit for each card's number here; only where trumps matter are they laid out (see `layout`).
What a contract is worth in a world are its points when everybody plays on as the rules do.
"""

from collections import Counter
from itertools import accumulate
from operator import mul
from typing import NamedTuple

from cardsharp.euchre.cards import DECK, Card, suit_of
from cardsharp.euchre.position import Position
from cardsharp.euchre.rules import HAND
from cardsharp.euchre.strategies.bidding import appraise, card_set, likelihood
from cardsharp.euchre.strategies.dice import Dice
from cardsharp.euchre.strategies.layout import Mask, layout
from cardsharp.euchre.strategies.playout import ALL, PlayStage, played_out, seated, stages
from cardsharp.euchre.strategies.thumb import following, leading
from cardsharp.euchre.table import DEALER, MAX_BIDS, SEATS, Call

DRAWS = 3  # layouts drawn for each that is kept
SURPRISE = 0.1  # how much less likely a layout is for each card played against the rules
_SURPRISES = tuple(accumulate([SURPRISE] * 20, mul, initial=1.0))

_TRIES = 40


class World(NamedTuple):
    """One layout: what each seat holds now, and was dealt; the own seat's as it really is."""

    hands: tuple[int, ...]
    dealt: tuple[int, ...]

    def hidden(self, call: Call, turn_card: Card) -> list[Mask]:
        """The cards that each seat was not dealt, but for one that lies turned down."""
        cards = layout(call.suit)
        turn = cards.bit[turn_card]
        seen = ALL if call.picks_up else ALL ^ turn
        hidden = [seen & ~cards.of(dealt) for dealt in self.dealt]
        hidden[DEALER] &= ~turn
        return hidden


class Sampler:
    """Draws layouts for one position, batch after batch."""

    def __init__(self, position: Position, dice: Dice) -> None:
        self._view, self._dice = position, dice
        table = position.table
        call = table.call
        picks_up = call is not None and call.picks_up
        self._picked_up = picks_up and position.seat != DEALER
        self._turn = 1 << table.turn_card
        self._pool = [1 << card for card in position.unseen]
        turn = self._turn if picks_up else 0
        self._played = [card_set(table.played_by(seat)) for seat in SEATS]
        self._shown = [
            played & ~(turn if seat == DEALER else 0) for seat, played in enumerate(self._played)
        ]
        self._voids = [
            card_set([card for card in DECK if suit_of(card, table.trump) in voids])
            for voids in table.voids
        ]
        # Whoever has shown most voids chooses first, or there may be nothing left for it.
        self._order = sorted(
            (seat for seat in SEATS if seat != position.seat),
            key=lambda seat: -self._voids[seat].bit_count(),
        )
        self._hand = card_set(position.hand)
        self._own = card_set(position.dealt) & ~(turn if position.seat == DEALER else 0)
        self._story = None if call is None or not table.tricks else _Story(position, call)

    def worlds(self, number: int) -> list[tuple[World, int]]:
        """That many more, each with how often it was drawn; none if the position allows none."""
        drawn: list[World] = []
        for _ in range(DRAWS * number):
            tries = (self._try() for _ in range(_TRIES))
            world = next((one for one in tries if one is not None), None)
            if world is None:
                break  # what was not found in many tries will not be found in many more
            drawn.append(world)
        if not drawn:
            return []
        weights = [self.likelihood(world) for world in drawn]
        return list(self._resampled(drawn, weights, number).items())

    def likelihood(self, world: World) -> float:
        """How likely the others are to have bid and played as they did, with these cards."""
        position, likely = self._view, 1.0
        for number, bid in enumerate(position.table.bids):
            seat = number % 4
            if seat != position.seat:
                likely *= likelihood(world.dealt[seat], number, position.table.turn_card, bid)
        return likely if self._story is None else likely * _SURPRISES[self._story.surprises(world)]

    def _resampled(self, drawn: list[World], weights: list[float], number: int) -> Counter[World]:
        """Worlds in proportion to their weights, at even steps from one random start."""
        sums = list(accumulate(weights))
        step = sums[-1] / number
        mark = self._dice.share() * step
        kept: Counter[World] = Counter()
        for world, reached in zip(drawn, sums, strict=True):
            while mark < reached:
                kept[world] += 1
                mark += step
        return kept

    def _try(self) -> World | None:
        pool = self._pool[:]
        self._dice.shuffle(pool)
        hands, dealt = [self._hand] * 4, [self._own] * 4
        for seat in self._order:
            wanted = HAND - self._shown[seat].bit_count()
            spare = self._picked_up and seat == DEALER
            taken = self._take(pool, seat, wanted, spare=spare)
            if taken is None:
                return None
            dealt[seat] = self._shown[seat] | taken
            hands[seat] = self._after_discard(dealt[seat]) if spare else taken
        return World(tuple(hands), tuple(dealt))

    def _take(self, pool: list[int], seat: int, wanted: int, *, spare: bool) -> int | None:
        """The first cards of the pool that the seat may have been dealt, taken out of it.

        A dealer who picked up may have laid one card of a suit aside that it has shown void.
        """
        void = self._voids[seat]
        if not void or not wanted:
            taken = sum(pool[:wanted])
            del pool[:wanted]
            return taken
        if void & self._turn and not self._played[seat] & self._turn:
            spare = False  # the turn card itself was laid aside
        found = []
        for card in pool:
            if not card & void or spare:
                spare = spare and not card & void
                found.append(card)
                if len(found) == wanted:
                    break
        if len(found) < wanted:
            return None
        for card in found:
            pool.remove(card)
        return sum(found)

    def _after_discard(self, dealt: int) -> int:
        """What a dealer holds who has picked up, discarded by rule, and played."""
        cards = layout(self._view.table.turn_card & 3)
        held = (dealt | self._turn) & ~self._played[DEALER]
        void = held & self._voids[DEALER]
        return held ^ 1 << cards.number[cards.spare(cards.of(void or held))]


class _Played(NamedTuple):
    """A card that somebody else has played, with all that the seat has played since then."""

    stage: PlayStage
    card: Mask
    from_here: Mask


class _Story:
    """The cards that the others have played, to be told again in a world."""

    def __init__(self, position: Position, call: Call) -> None:
        table = position.table
        self._call, self._turn_card = call, table.turn_card
        self._seating = seated(call, table.lone_defender)
        self._cards = cards = layout(call.suit)
        plays = [(seat, cards.bit[card]) for trick in table.tricks for seat, card in trick]
        before = stages((card for _, card in plays), self._seating)
        self._told = [
            _Played(stage, card, sum(later for who, later in plays[spot:] if who == seat))
            for spot, (stage, (seat, card)) in enumerate(zip(before, plays, strict=False))
            if seat != position.seat
        ]

    def surprises(self, world: World) -> int:
        """How many of them the rules would not have played, with the cards of that world."""
        held = [self._cards.of(hand) for hand in world.hands]
        hidden = world.hidden(self._call, self._turn_card)
        count = 0
        for told in self._told:
            seat = told.stage.seat
            hand = held[seat] | told.from_here
            count += self._surprising(told, hand, hidden[seat] & ~told.stage.gone)
        return count

    def _surprising(self, told: _Played, hand: Mask, hidden: Mask) -> bool:
        stage, trump = told.stage, self._call.suit
        legal = (hand & stage.led or hand) if stage.laid else hand
        if not legal & (legal - 1):
            return False
        if stage.laid:
            partners = stage.by == stage.seat ^ 2
            last = stage.laid == self._seating.chairs - 1
            ruled = following(trump)(hand, hidden, stage.led, stage.best, partners, last)
        else:
            ruled = leading(trump)(hand, hidden, self._seating.place[stage.seat], not stage.gone)
        if ruled == told.card:
            return False
        suit = self._cards.suit[ruled]
        low, high = min(ruled, told.card), max(ruled, told.card)
        between = suit & (high - 1) & ~(2 * low - 1)
        return not suit & told.card or bool(between & hidden)


def worth_of_call(
    world: World,
    turn_card: Card,
    call: Call,
    lone_defender: int | None = None,
    laid: Card | None = None,
) -> int:
    """The points of the seats 0 and 2, less the others'; a dealer discards by rule unless told."""
    table, cards = seated(call, lone_defender), layout(call.suit)
    hands = [cards.of(dealt) for dealt in world.dealt]
    if call.picks_up:
        six = hands[DEALER] | cards.bit[turn_card]
        hands[DEALER] = six ^ (cards.spare(six) if laid is None else cards.bit[laid])
    stage = PlayStage(table.next_from(0))
    points = played_out(table, hands, world.hidden(call, turn_card), stage)
    return -points if call.seat % 2 else points


def worth_of_pass(world: World, turn_card: Card, number: int) -> int:
    """The same if bid `number` is a pass, and all others go on by the rules."""
    for later in range(number + 1, MAX_BIDS):
        bid = appraise(world.dealt[later % 4], later, turn_card).bid
        if bid.suit is not None:
            return worth_of_call(world, turn_card, Call(later, bid.suit, bid.alone))
    return 0
