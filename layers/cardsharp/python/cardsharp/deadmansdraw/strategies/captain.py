"""`captain`: the player for tournaments. Chances to win by search and learned values."""

import logging
from itertools import chain
from random import Random

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.base import Chance, Decision, Late, Option
from cardsharp.deadmansdraw.strategies.captain_words import Words
from cardsharp.deadmansdraw.strategies.registry import strategy
from cardsharp.deadmansdraw.strategies.search.leaves import SearchLimits, TooManyNodes, never
from cardsharp.deadmansdraw.strategies.search.model import Model
from cardsharp.deadmansdraw.strategies.search.sets import NO_CARD, NUMBER, bits_of
from cardsharp.deadmansdraw.strategies.search.tree import Search
from cardsharp.deadmansdraw.strategies.search.turn import CardSets, SimulatedTurn
from cardsharp.deadmansdraw.strategies.search.weights import model
from cardsharp.deadmansdraw.strategies.steady import Steady

WEIGHTS = "captain"

_log = logging.getLogger(__name__)


class Captain:
    """Plays what promises the highest chance to win the match.

    The value of an option is that chance. A table that cannot happen in a match, with a card
    twice or of no known suit, is left to `steady`. The work is bounded in nodes, so a decision
    depends on no clock, unless `late`, the last resort, says that time is short: then the options
    weighed so far must do.
    """

    def __init__(
        self, numbers: Model, limits: SearchLimits | None = None, late: Late | None = None
    ) -> None:
        self._model = numbers
        self._limits = limits or SearchLimits()
        self._late = late or never

    def hurried(self, late: Late) -> "Captain":
        """This captain with what says that time is short."""
        return Captain(self._model, self._limits, late)

    def decide(self, position: Position) -> Decision:
        """The action of the highest chance; of equal ones the first."""
        if not is_ordinary(position):
            return Steady(Random(0)).decide(position)
        search = Search(self._model, self._limits, deck_of(position))
        weighing = Weighing(position, search, self._late)
        options = weighing.options()
        best = max(options, key=lambda option: option.value)
        return Decision(best.action, weighing.words.reason(best, options), options)


@strategy("captain")
def captain(_rng: Random) -> Captain:
    """The captain with the weights that are shipped."""
    return Captain(model(WEIGHTS))


def is_ordinary(position: Position) -> bool:
    """Whether every card is of the server's deck, and in one place only."""
    cards = [*position.own, *position.other, *position.play_area, *position.discard_pile]
    cards += position.unseen
    if position.pending is not None and position.pending.effect_type is EffectType.MAP:
        cards += position.pending.cards
    return len(set(cards)) == len(cards) and all(card in NUMBER for card in cards)


def deck_of(position: Position) -> int:
    """All cards on the table."""
    pending = position.pending
    offered = pending.cards if pending is not None else ()
    piles = (*position.banks, position.play_area, position.discard_pile, position.unseen, offered)
    return bits_of(chain.from_iterable(piles))


def turn_of(position: Position) -> SimulatedTurn:
    """The turn as the search sees it; the cards that a Map offers count as discarded."""
    pending, known = position.pending, position.known_top
    discard = bits_of(position.discard_pile)
    if pending is not None and pending.effect_type is EffectType.MAP:
        discard |= bits_of(pending.cards)
    table = CardSets(
        own=bits_of(position.own),
        other=bits_of(position.other),
        pile=bits_of(position.unseen),
        discard=discard,
        known=NO_CARD if known is None else NUMBER[known],
    )
    return SimulatedTurn(table, (NUMBER[card] for card in position.play_area))


class Weighing:
    """The options of one position with their chances."""

    def __init__(self, position: Position, search: Search, late: Late = never) -> None:
        self.position = position
        self.search = search
        self.search.late = self.late = late
        self.turn = turn_of(position)
        self.words = Words(position)

    def options(self) -> tuple[Option, ...]:
        """The legal actions, in a fixed order: cards as in the deck, then Draw, then EndTurn.

        Refusing an Oracle's card is left out: stopping and taking it are never worse.
        """
        while True:
            try:
                return self._weighed()
            except TooManyNodes:
                self.search.look_less_far()

    def _weighed(self) -> tuple[Option, ...]:
        actions = self.position.legal_actions()
        if actions == (DRAW,):
            return (Chance(DRAW, self._forced(), self.words.draw()),)
        chosen = sorted((action for action in actions if not _refuses(action)), key=_order)
        weighed: list[Option] = []
        for action in chosen:
            if weighed and self.late():
                _log.warning("Time is short: %d of %d weighed.", len(weighed), len(chosen))
                break
            weighed.append(self._option(action))
        return tuple(weighed)

    def _forced(self) -> float:
        """The chance where there is no choice, without a search."""
        search, turn = self.search, self.turn
        if not turn.left:
            return search.stop(turn)
        if turn.lying:
            return search.drawing_on(turn).value
        return start_chance(search, self.position)

    def _option(self, action: Action) -> Option:
        search, turn, pending = self.search, self.turn, self.position.pending
        if action == END_TURN:
            value = search.stop(turn, search.limits.root_samples)
            return Chance(action, value, self.words.stop())
        if pending is None:
            return Chance(action, search.draw(turn), self.words.draw())
        card = _card_of(action)
        return Chance(action, self._answer(card), self.words.answer(card))

    def _answer(self, card: Card) -> float:
        search, turn, pending, number = self.search, self.turn, self.position.pending, NUMBER[card]
        kind, owed = (None, 0) if pending is None else (pending.effect_type, pending.kraken_count)
        match kind:
            case EffectType.HOOK:
                return search.hook(turn, number, 0)
            case EffectType.SWORD:
                return search.sword(turn, number, 0)
            case EffectType.CANNON:
                return search.cannon(turn, number, owed, 0)
            case EffectType.MAP:
                return search.map(turn, number, 0)
            case _:
                return search.place(turn.drawn(number), number, max(0, owed - 1), 0)


def start_chance(search: Search, position: Position) -> float:
    """The learned chance of the player whose turn begins in `position`."""
    swapped = CardSets(
        own=bits_of(position.other),
        other=bits_of(position.own),
        pile=bits_of(position.unseen),
        discard=bits_of(position.discard_pile),
        known=NO_CARD if position.known_top is None else NUMBER[position.known_top],
    )
    return 1.0 - search.stop(SimulatedTurn(swapped))


def _refuses(action: Action) -> bool:
    return action.response is not None and action.response.card is None


def _card_of(action: Action) -> Card:
    if action.response is None or action.response.card is None:
        raise ValueError(f"{action} names no card.")
    return action.response.card


def _order(action: Action) -> int:
    if action.response is None or action.response.card is None:
        return len(SERVER_DECK) + (action == END_TURN)
    return NUMBER[action.response.card]
