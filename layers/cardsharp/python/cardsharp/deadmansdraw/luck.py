"""What chance brought: the judged worth of the cards that came, less that of what could have come.

The mean of that difference is 0 whatever the judge thinks, as long as the order of the draw pile
and the server's picks are fair. A judge who is wrong takes out less of the luck, and nothing else.
Twin: `research/deadmansdraw/native/luck.c`.
"""

from collections.abc import Callable, Iterable
from math import comb

from cardsharp.deadmansdraw.actions import Effect, EffectType
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.events import (
    CardPlaced,
    Drawn,
    EffectAnswered,
    EffectPlayed,
    Event,
    TurnEnded,
)
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS, is_ordinary, turn_of
from cardsharp.deadmansdraw.strategies.search.leaves import SHORT, with_cards
from cardsharp.deadmansdraw.strategies.search.sets import (
    NO_CARD,
    NUMBER,
    SUIT_BITS,
    SUIT_OF,
    bits_of,
    numbers_in,
)
from cardsharp.deadmansdraw.strategies.search.tree import Search, best_of_offer, groups_in
from cardsharp.deadmansdraw.strategies.search.turn import SimulatedTurn
from cardsharp.deadmansdraw.strategies.search.weights import model


def luck_of(position: Position, events: Iterable[Event]) -> float | None:
    """What chance brought who acts in `position` by these events, as a chance to win.

    A short search takes out nearly as much as the captain's own. None for a table that cannot
    happen in a match that began as all do.
    """
    if not is_ordinary(position):
        return None
    telling = _Telling(position)
    return sum(map(telling.luck, events), 0.0)


class _Telling:
    """One action, event by event."""

    def __init__(self, position: Position) -> None:
        pending = position.pending
        self.search = Search(model(WEIGHTS), SHORT)
        self.turn = turn_of(position)
        self.owed = 0
        self.duty = 0 if pending is None else max(0, pending.kraken_count - 1)
        self.falling = 0
        """The card that has left its place, as a set: it is thrown away where it busts."""

    def luck(self, event: Event) -> float:
        """What chance brought by that event."""
        match event:
            case Drawn(card):
                return self._drawn(NUMBER[card])
            case EffectAnswered(effect, Card() as card):
                self._answered(effect, NUMBER[card])
            case CardPlaced(card):
                self.turn = self.turn.copy()
                self.turn.lay(NUMBER[card])
            case EffectPlayed(Effect(EffectType.MAP, cards)):
                return self._offered(bits_of(cards))
            case EffectPlayed(Effect(EffectType.ORACLE, (card,))):
                return self._shown(NUMBER[card])
            case TurnEnded(successful, bonus) if bonus:
                return self._brought(bits_of(bonus), banked=successful)
        return 0.0

    def _drawn(self, card: int) -> float:
        turn, self.owed = self.turn, self.duty
        values = {} if turn.known >= 0 else self._draws(turn, self.owed)
        self.turn, self.falling = turn.drawn(card), 1 << card
        return values[card] - _mean(values) if values else 0.0

    def _answered(self, effect: EffectType | str, card: int) -> None:
        match effect:
            case EffectType.HOOK:
                self.turn = self.turn.hooked(card)
            case EffectType.SWORD | EffectType.CANNON:
                self.turn = self.turn.robbed(card)
                if effect is EffectType.CANNON:
                    self.turn.discard |= 1 << card
            case EffectType.MAP:
                self.turn = self.turn.salvaged(card)
        self.falling = 1 << card

    def _offered(self, cards: int) -> float:
        turn, search = self.turn, self.search
        values = _values(turn, turn.discard, lambda card: search.map(turn, card, 0))
        best = max(values[card] for card in numbers_in(cards))
        return best - best_of_offer(list(values.values()))

    def _shown(self, card: int) -> float:
        turn = self.turn.copy()
        turn.known = NO_CARD
        values = self._draws(turn, max(0, self.owed - 1))
        for one, value in values.items():
            turn.known = one
            values[one] = max(value, self.search.stop(turn))
        return values[card] - _mean(values)

    def _brought(self, got: int, *, banked: bool) -> float:
        """Only the highest card of each suit counts, as if it came alone."""
        turn, search = self.turn, self.search
        thrown = 0 if banked else turn.area & ~turn.saved | self.falling
        keys = turn.stop if banked else turn.bust
        cards, none = turn.discard | thrown, search.end(turn, keys)
        every, taken, luck = cards.bit_count(), got.bit_count(), 0.0
        for card in numbers_in(cards):
            higher = cards & SUIT_BITS[SUIT_OF[card]] & ~(2 * (1 << card) - 1)
            chance = comb(every - 1 - higher.bit_count(), taken - 1) / comb(every, taken)
            highest = got >> card & 1 and not got & higher
            alone = search.end(turn, with_cards(keys, [card]))
            luck += (bool(highest) - chance) * (alone - none)
        return luck

    def _draws(self, turn: SimulatedTurn, owed: int) -> dict[int, float]:
        place = self.search.place
        return _values(turn, turn.pile, lambda card: place(turn.drawn(card), card, owed, 0))


def _values(turn: SimulatedTurn, cards: int, value_of: Callable[[int], float]) -> dict[int, float]:
    """What each of those cards is worth where it comes: as much as the one that stands for it."""
    values, numbers = dict[int, float](), numbers_in(cards)
    for card, number in groups_in(cards, turn.own, turn.barred, finely=True):
        values |= dict.fromkeys(numbers[:number], value_of(card))
        del numbers[:number]
    return values


def _mean(values: dict[int, float]) -> float:
    """The mean, added up in order as the twin does."""
    total = 0.0
    for value in values.values():
        total += value
    return total / len(values)
