"""`captain`: the player for tournaments. Chances to win by search and learned values."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Protocol, TypeVar

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, Effect, EffectType, respond
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card, Suit, saved_by_anchor
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Chance, Decision, Late, Option, strategy
from cardsharp.deadmansdraw.strategies.choices import busting, busts, gain, loss, lying, rise
from cardsharp.deadmansdraw.strategies.search.endgame import Endgame, LastTurn, TooManyEnds
from cardsharp.deadmansdraw.strategies.search.leaves import SearchLimits, never
from cardsharp.deadmansdraw.strategies.search.model import Model
from cardsharp.deadmansdraw.strategies.search.sets import NO_CARD, NUMBER, bits_of
from cardsharp.deadmansdraw.strategies.search.tree import Search
from cardsharp.deadmansdraw.strategies.search.turn import CardSets, SimulatedTurn
from cardsharp.deadmansdraw.strategies.search.weights import model
from cardsharp.deadmansdraw.strategies.steady import Steady
from cardsharp.strategy import percent

WEIGHTS = "captain"
REFUSAL = respond(EffectType.ORACLE)  # leaving the card that an Oracle showed, and going on

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
        search = Search(self._model, self._limits)
        weighing = Weighing(position, search, self._late)
        options = weighing.options()
        best = max(options, key=lambda option: option.value)
        return Decision(best.action, _reason(best, options), options)


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


_Turn = TypeVar("_Turn", contravariant=True)  # noqa: PLC0105 (one letter more says nothing)


class _Values(Protocol[_Turn]):
    """What weighs options: the search ahead, or the one to the end."""

    def end_turn(self, turn: _Turn) -> float: ...
    def draw(self, turn: _Turn) -> float: ...
    def hook(self, turn: _Turn, card: int) -> float: ...
    def sword(self, turn: _Turn, card: int) -> float: ...
    def cannon(self, turn: _Turn, card: int, owed: int) -> float: ...
    def map(self, turn: _Turn, card: int) -> float: ...
    def take(self, turn: _Turn, card: int, owed: int) -> float: ...


class Weighing:
    """The options of one position with their chances; `nodes` are the ends of turns valued."""

    def __init__(self, position: Position, search: Search, late: Late = never) -> None:
        self.position = position
        self.search = search
        self.late = late
        self.turn = turn_of(position)
        self._ends = 0

    @property
    def nodes(self) -> int:
        """The ends of turns that were valued."""
        return self.search.nodes + self._ends

    def options(self) -> tuple[Option, ...]:
        """The legal actions, in a fixed order: cards as in the deck, then Draw, then EndTurn.

        Refusing an Oracle's card is left out: stopping and taking it are never worse.
        """
        actions = self.position.legal_actions()
        if actions == (DRAW,):
            return (self._told(DRAW, self._forced()),)
        chosen = sorted((action for action in actions if action != REFUSAL), key=_order)
        return self._to_the_end(chosen) or self._looked_ahead(chosen)

    def _to_the_end(self, actions: Sequence[Action]) -> tuple[Option, ...]:
        """Searched to the end of the match; none where that takes too much."""
        limits = self.search.limits
        if not limits.endgame or self.turn.left > limits.endgame:
            return ()
        values, self._ends = _ended(self.position, tuple(actions), limits.most_ends, self.late)
        return tuple(map(self._told, actions, values))

    def _looked_ahead(self, actions: Sequence[Action]) -> tuple[Option, ...]:
        weighed: list[Option] = []
        for action in actions:
            if weighed and self.late():
                _log.warning("Time is short: %d of %d weighed.", len(weighed), len(actions))
                break
            value = _value(self.position, action, self.search, self.turn)
            weighed.append(self._told(action, value))
        return tuple(weighed)

    def _forced(self) -> float:
        search, turn = self.search, self.turn
        if not turn.left:
            return search.stop(turn)
        if turn.lying:
            return search.drawing_on(turn)[0]
        # The learned chance of the player whose turn begins here.
        swapped = CardSets(turn.other, turn.own, turn.pile, turn.discard, turn.known)
        return 1.0 - search.stop(SimulatedTurn(swapped))

    def _told(self, action: Action, value: float) -> Option:
        return Chance(action, value, _note(self.position, action))


@lru_cache(maxsize=1)  # `adaptive` asks again with other numbers, which say nothing of the end
def _ended(
    position: Position, actions: tuple[Action, ...], most: int, late: Late
) -> tuple[tuple[float, ...], int]:
    """What actions are worth, none where that takes too much; and the ends of turns met."""
    endgame, now = Endgame(most, late), turn_of(position)
    sets = now.own, now.other, now.pile, now.discard
    turn = LastTurn(*sets, now.area, now.saved, now.known)
    try:
        values = [_value(position, action, endgame, turn) for action in actions]
    except TooManyEnds:
        values = []
    return tuple(values), endgame.ends


def _value(position: Position, action: Action, values: _Values[_Turn], turn: _Turn) -> float:
    if action == END_TURN:
        return values.end_turn(turn)
    if position.pending is None or action.card is None:
        return values.draw(turn)
    return _answered(position.pending, NUMBER[action.card], values, turn)


def _answered(pending: Effect, card: int, values: _Values[_Turn], turn: _Turn) -> float:
    owed = pending.kraken_count
    match pending.effect_type:
        case EffectType.HOOK:
            return values.hook(turn, card)
        case EffectType.SWORD:
            return values.sword(turn, card)
        case EffectType.CANNON:
            return values.cannon(turn, card, owed)
        case EffectType.MAP:
            return values.map(turn, card)
        case _:
            return values.take(turn, card, owed)


def _order(action: Action) -> int:
    if action.card is None:
        return len(SERVER_DECK) + (action == END_TURN)
    return NUMBER[action.card]


# --- words -----------------------------------------------------------------------------------


def _note(position: Position, action: Action) -> str:
    """What an option brings, or risks."""
    pending, area = position.pending, position.play_area
    if action == END_TURN:
        treasure = {Suit.CHEST, Suit.KEY} <= lying(position)
        bonus = f" and up to {len(area)} bonus cards" if treasure else ""
        return f"banks {rise(position.own, area)}{bonus}"
    if pending is not None and action.card is not None:
        note = _effect(position, pending, action.card)
        return f"{note}, busts" if busts(position, action.card) else note
    known, unseen = position.known_top, position.unseen
    if known is not None:
        return f"{known} is next and {'busts' if known.suit in lying(position) else 'is safe'}"
    saved = rise(position.own, area[: saved_by_anchor(area)])
    kept = f", the Anchor saves {saved}" if saved else ""
    risk = busting(position) / len(unseen) if unseen else 0.0
    return f"busts {percent(risk)}{kept}"


def _effect(position: Position, pending: Effect, card: Card) -> str:
    match pending.effect_type:
        case EffectType.CANNON | EffectType.SWORD:
            return f"costs the opponent {loss(position.other, card)}"
        case EffectType.HOOK:
            return f"puts {loss(position.own, card)} at stake again"
        case EffectType.ORACLE:
            return "is the next card"
        case _:
            return f"would bank {gain(position.own, card)}"


def _reason(best: Option, options: Sequence[Option]) -> str:
    """Why `best` is played, in one sentence."""
    verb = {DRAW: "Draw", END_TURN: "Stop"}.get(best.action, str(best.action))
    others = sorted((o for o in options if o is not best), key=lambda o: o.value, reverse=True)
    chance = f"{percent(best.value)} to win"
    if not others:
        return f"{verb}: there is no choice; {chance}, {best.note}."
    second = {DRAW: "drawing", END_TURN: "stopping"}.get(others[0].action)
    against = f"against {percent(others[0].value)} for {second or others[0].action}"
    return f"{verb}: {chance} {against}; {best.note}."
