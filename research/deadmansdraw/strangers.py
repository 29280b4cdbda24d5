"""Eight opponents that nobody has met, and who pretends: to measure how `adaptive` learns.

Twins of `native/style.c` and `native/mimic.c`.
"""

from ctypes import Structure, byref, c_int, c_int32, c_void_p
from random import Random
from typing import NamedTuple

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.deadmansdraw.cards import SUIT_ORDER, Card, Suit, deck_order
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision
from cardsharp.deadmansdraw.strategies.choices import choices, lying
from research.deadmansdraw.engine import Engine, Twin


class Style(NamedTuple):
    """A rule: stops once any bound is reached; 0 stands for none.

    The bounds are cards that lie there, points to gain, and the per cent of unseen cards that bust;
    they are `behind` steps further off where the opponent leads. Of its answers it likes the
    dearest, the cheapest, the first suit's or the last's best.
    """

    cards: int
    points: int
    risk: int
    behind: int
    taste: int
    oracle: int


STRANGERS = {
    "counter": Style(3, 0, 0, 0, 0, 1),
    "saver": Style(0, 6, 0, 0, 2, 0),
    "gambler": Style(0, 0, 45, 0, 0, 1),
    "greedy": Style(0, 14, 0, 1, 0, 0),
    "timid": Style(2, 5, 0, 0, 1, 0),
    "chaser": Style(3, 0, 0, 1, 3, 1),
    "careful": Style(0, 0, 25, 1, 3, 1),
    "mixed": Style(5, 9, 35, 0, 1, 1),
}
"""The last four were held out: nothing was chosen by what came out against them."""


class Stranger:
    """A player of a style."""

    def __init__(self, style: Style, _rng: Random | None = None) -> None:
        self.style = style

    def decide(self, position: Position) -> Decision:
        """The action of the style."""
        return Decision(self._action(position), "It is its style.")

    def _action(self, position: Position) -> Action:
        pending, area = position.pending, lying(position)
        if pending is None or pending.effect_type is EffectType.KRAKEN:
            may = END_TURN in position.legal_actions() and position.play_area
            return END_TURN if may and self._stops(position) else DRAW
        if pending.effect_type is EffectType.ORACLE:
            takes = self.style.oracle and pending.cards[0].suit not in area
            return respond(EffectType.ORACLE, pending.cards[0] if takes else None)
        shoots = pending.effect_type is EffectType.CANNON
        cards = sorted(choices(position), key=deck_order)
        best = max(
            cards, key=lambda card: self._liking(card) - 100 * (card.suit in area and not shoots)
        )
        return respond(pending.effect_type, best)

    def _stops(self, position: Position) -> bool:
        style, area = self.style, position.play_area
        more = style.behind * (position.own.score < position.other.score)
        gain = position.own.with_cards(area).score - position.own.score
        busting = sum(card.suit in lying(position) for card in position.unseen)
        risk = 100 * busting // max(1, len(position.unseen))
        bounds = (
            (style.cards, len(area), more),
            (style.points, gain, 2 * more),
            (style.risk, risk, 5 * more),
        )
        return any(bound and reached >= bound + later for bound, reached, later in bounds)

    def _liking(self, card: Card) -> int:
        place = SUIT_ORDER.index(Suit(card.suit))
        return (card.value, -card.value, -place, place)[self.style.taste]


class _Style(Structure):
    """`Style` of style.c."""

    _fields_ = tuple((name, c_int32) for name in Style._fields)


def stranger(engine: Engine, style: Style) -> Twin:
    """The compiled player of a style."""
    engine.library.style_new.argtypes, engine.library.style_new.restype = (c_void_p,), c_void_p
    return Twin(engine.library.style_new(byref(_Style(*style))))


def pretender(engine: Engine, first: str, then: str, turns: int) -> Twin:
    """Who plays as `first` for so many turns of a match, and as `then` from then on."""
    make = engine.library.mimic_new
    make.argtypes, make.restype = (c_void_p, c_void_p, c_int), c_void_p
    return Twin(make(engine.twin(first).policy, engine.twin(then).policy, turns))
