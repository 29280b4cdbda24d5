"""`third`: how the third of the 2023 tournament decided (docs/spec/arena.md section 9)."""

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Effect, EffectType, respond
from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.deadmansdraw.draft import sword_targets
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, strategy
from cardsharp.deadmansdraw.strategies.champion import Champion
from cardsharp.deadmansdraw.strategies.choices import (
    dearest,
    first_present,
    gain,
    lying,
    treasure_mate,
)

MOST_CARDS = 3
ENOUGH_RISE = 8
KRAKEN_LIMIT = 2  # a Kraken is avoided when more cards than this lie in the play area
MAP_LIMIT = 4  # the same for a Map that a Hook or a Sword could take
TAKE_ORDER = (Suit.CANNON, Suit.ANCHOR, Suit.ORACLE)
MAP_ORDER = (
    Suit.CANNON,
    Suit.SWORD,
    Suit.ORACLE,
    Suit.ANCHOR,
    Suit.MERMAID,
    Suit.KEY,
    Suit.CHEST,
    Suit.MAP,
    Suit.HOOK,
    Suit.KRAKEN,
)


@strategy("third")
class Third(Champion):
    """Stops at four cards, or when suits that it already holds rise by more than eight."""

    name = "third"

    def _draw_or_end(self, position: Position) -> Decision:
        area, own = position.play_area, position.own
        rise = sum(gain(own, card) for card in area if card.suit in own.suits)
        if len(area) > MOST_CARDS:
            return Decision(END_TURN, f"{len(area)} cards lie in the play area.")
        if rise > ENOUGH_RISE:
            return Decision(END_TURN, f"The suits in the bank rise by {rise}.")
        return Decision(DRAW, "Too little lies in the play area.")

    def _oracle(self, position: Position, pending: Effect) -> Decision:
        card = pending.cards[0]
        crowded = card.suit == Suit.KRAKEN and len(position.play_area) > KRAKEN_LIMIT
        if card.suit == Suit.ORACLE or card.suit in lying(position) or crowded:
            return Decision(respond(EffectType.ORACLE), f"{card} is not wanted.")
        return Decision(respond(EffectType.ORACLE, card), f"{card} is welcome.")

    def _hook(self, position: Position) -> Card:
        tops = _fresh(position, position.own.tops())
        wanted = _wanted(position, tops)
        return wanted or min(_harmless(position, tops), key=lambda card: card.value)

    def _sword(self, position: Position) -> Card:
        targets = _fresh(position, sword_targets(position.own, position.other))
        wanted = _wanted(position, targets)
        return wanted or dearest(position.other, _harmless(position, targets))

    def _map(self, position: Position, pending: Effect) -> Card:
        cards = _fresh(position, pending.cards)
        return first_present(cards, MAP_ORDER) or cards[0]


def _wanted(position: Position, cards: tuple[Card, ...]) -> Card | None:
    return treasure_mate(cards, lying(position)) or first_present(cards, TAKE_ORDER)


def _fresh(position: Position, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """`cards` without the suits in the play area, unless that leaves none."""
    area = lying(position)
    return tuple(card for card in cards if card.suit not in area) or cards


def _harmless(position: Position, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """`cards` without what would likely bust by its own effect, but never without all."""
    area, number = lying(position), len(position.play_area)
    robbed = {card.suit for card in sword_targets(position.own, position.other)}
    hook_brings_nothing = {Suit.HOOK, *area}.issuperset(position.own.suits)
    sword_brings_nothing = {Suit.SWORD, *area}.issuperset(robbed)
    harmful = (
        [Suit.HOOK] * hook_brings_nothing,
        [Suit.SWORD] * sword_brings_nothing,
        [Suit.KRAKEN] * (number > KRAKEN_LIMIT) + [Suit.MAP] * (number > MAP_LIMIT),
    )
    for suits in harmful:
        cards = tuple(card for card in cards if card.suit not in suits) or cards
    return cards
