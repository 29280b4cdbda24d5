"""`champion`: how the winner of the 2023 tournament decided (docs/spec/arena.md section 9)."""

from random import Random

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Effect, EffectType, respond
from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.deadmansdraw.draft import sword_targets
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, strategy
from cardsharp.deadmansdraw.strategies.choices import (
    dearest,
    first_present,
    gain,
    lying,
    treasure_mate,
)

ENOUGH_CARDS = 3
KRAKEN_LIMIT = 1  # a Kraken is not taken by choice when more cards than this lie in the play area
HOOK_ORDER = (
    Suit.SWORD,
    Suit.CANNON,
    Suit.ORACLE,
    Suit.MAP,
    Suit.ANCHOR,
    Suit.KEY,
    Suit.CHEST,
    Suit.MERMAID,
    Suit.KRAKEN,
)
SWORD_ORDER = (Suit.HOOK, Suit.ORACLE, Suit.CANNON, Suit.MAP, Suit.ANCHOR)
MAP_ORDER = (Suit.SWORD, Suit.HOOK, Suit.CANNON, Suit.ORACLE, Suit.MAP)


@strategy("champion")
class Champion:
    """Stops at three cards with a gain, or with Chest and Key."""

    name = "champion"

    def __init__(self, _rng: Random, enough: int = ENOUGH_CARDS) -> None:
        self.enough = enough

    def decide(self, position: Position) -> Decision:
        """The player's action, and the rule that led to it."""
        pending = position.pending
        if pending is None:
            return self._draw_or_end(position)
        match pending.effect_type:
            case EffectType.KRAKEN:
                return Decision(DRAW, "The Kraken makes us draw.")
            case EffectType.ORACLE:
                return self._oracle(position, pending)
            case EffectType.HOOK:
                card = self._hook(position)
            case EffectType.CANNON:
                card = dearest(position.other, position.other.tops())
            case EffectType.SWORD:
                card = self._sword(position)
            case EffectType.MAP:
                card = self._map(position, pending)
        return Decision(respond(pending.effect_type, card), f"{card} by the {self.name}'s order.")

    def _draw_or_end(self, position: Position) -> Decision:
        area = position.play_area
        if position.refused is not None and area:
            return Decision(END_TURN, "The Oracle's card was refused.")
        if {Suit.CHEST, Suit.KEY} <= lying(position):
            return Decision(END_TURN, "Chest and Key lie in the play area.")
        if len(area) >= self.enough and sum(gain(position.own, card) for card in area) > 0:
            return Decision(END_TURN, f"{len(area)} cards with a gain lie in the play area.")
        return Decision(DRAW, "Too little lies in the play area.")

    def _oracle(self, position: Position, pending: Effect) -> Decision:
        card, area = pending.cards[0], position.play_area
        welcome = card.suit != Suit.KRAKEN or len(area) <= KRAKEN_LIMIT
        if pending.kraken_count or (card.suit not in lying(position) and welcome):
            return Decision(respond(EffectType.ORACLE, card), f"{card} is safe, or must be drawn.")
        return Decision(respond(EffectType.ORACLE), f"{card} is not wanted.")

    def _hook(self, position: Position) -> Card:
        area, tops = lying(position), position.own.tops()
        safe = tuple(card for card in tops if _safe(position, card.suit, area))
        return treasure_mate(safe, area) or first_present(safe, HOOK_ORDER) or tops[0]

    def _sword(self, position: Position) -> Card:
        area, targets = lying(position), sword_targets(position.own, position.other)
        safe = tuple(card for card in targets if _safe(position, card.suit, area))
        if not safe:
            return targets[-1]
        wanted = treasure_mate(safe, area) or first_present(safe, SWORD_ORDER)
        return wanted or max(safe, key=lambda card: card.value)

    def _map(self, position: Position, pending: Effect) -> Card:
        area, offered = lying(position), pending.cards
        shunned = len(position.play_area) > KRAKEN_LIMIT
        krakens = tuple(card for card in offered if shunned and card.suit == Suit.KRAKEN)
        rest = (card for card in offered if card not in krakens)
        safe = tuple(card for card in rest if _safe(position, card.suit, area))
        return max(safe or krakens or offered, key=_map_rank)


def _safe(position: Position, suit: str, area: frozenset[str]) -> bool:
    """Whether a card of `suit` can be put to `area` without a bust now or by its own effect."""
    if suit in area:
        return False
    if suit == Suit.HOOK:
        return any(_safe(position, mine, area | {suit}) for mine in position.own.suits)
    if suit == Suit.SWORD:
        targets = sword_targets(position.own, position.other)
        return not targets or any(_safe(position, card.suit, area | {suit}) for card in targets)
    return True


def _map_rank(card: Card) -> tuple[int, int]:
    rank = next((i for i, suit in enumerate(MAP_ORDER) if suit == card.suit), len(MAP_ORDER))
    return -rank, card.value
