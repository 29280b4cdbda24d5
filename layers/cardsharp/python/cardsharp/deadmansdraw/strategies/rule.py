"""`rule`: five lines that a person can play by (docs/rules.md).

  cardsharp lab duel rule.py champion   # how strong is it?
  cardsharp ladder rule.py              # who is the next to beat?

`cardsharp research rule` finds the numbers. Twin: `research/deadmansdraw/native/rule.c`.
"""

from collections.abc import Sequence
from random import Random

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType, respond
from cardsharp.deadmansdraw.cards import Card, Suit, deck_order, saved_by_anchor
from cardsharp.deadmansdraw.draft import sword_targets
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, strategy
from cardsharp.deadmansdraw.strategies.choices import busting, choices, gain, loss, lying

A_DRAW = 5  # points that a draw is taken to bring; try other numbers
TREASURE = 8  # points that Chest and Key count where they lie side by side
SWORD = 4  # points that a Sword counts more than it shows: it robs again when a Hook brings it


@strategy("rule")
class FiveLines:
    """Stops once the points at stake times the bad cards make five times the good ones."""

    def __init__(self, _rng: Random) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        """One of `position.legal_actions()`, by the rule alone."""
        pending = position.pending
        if pending is None or pending.effect_type is EffectType.KRAKEN:
            return stop_or_draw(position)
        if pending.effect_type is EffectType.ORACLE:
            card = pending.cards[0]
            if card.suit in lying(position):
                return Decision(END_TURN, f"{card} would bust.")
            return Decision(respond(EffectType.ORACLE, card), f"{card} does not bust.")
        points = shot if pending.effect_type is EffectType.CANNON else worth
        cards = sorted(choices(position), key=deck_order)
        best = max(cards, key=lambda card: points(position, card))
        return Decision(respond(pending.effect_type, best), "It changes the score most.")


def stop_or_draw(position: Position) -> Decision:
    """By what a bust would lose, and how many unseen cards bust."""
    if END_TURN not in position.legal_actions():
        return Decision(DRAW, "There is no choice.")
    area = position.play_area
    lost = stake(position, area) - stake(position, area[: saved_by_anchor(area)])
    bad = busting(position)
    good = len(position.unseen) - bad
    stops = lost * bad >= A_DRAW * good
    reason = (
        f"{lost} points x {bad} bad cards {'>=' if stops else '<'} {A_DRAW} x {good} good ones."
    )
    return Decision(END_TURN if stops else DRAW, reason)


def stake(position: Position, cards: Sequence[Card]) -> int:
    """What these cards bring once they are banked."""
    points = sum(gain(position.own, card) + bonus(card) for card in cards)
    return points + TREASURE * ({Suit.CHEST, Suit.KEY} <= {card.suit for card in cards})


def bonus(card: Card) -> int:
    """What a card counts more than its points."""
    return SWORD * (card.suit == Suit.SWORD)


def shot(position: Position, card: Card) -> int:
    """What a Cannon is worth that discards this card."""
    return taken(position, card) + bonus(card)


def taken(position: Position, card: Card) -> int:
    """What the opponent loses with a card."""
    return loss(position.other, card) if card in position.other else 0


def worth(position: Position, card: Card) -> int:
    """What it does to the score to bring a card into play."""
    if card.suit in lying(position):
        return -100 - card.value
    return gain(position.own, card) + taken(position, card) + effect(position, card.suit)


def effect(position: Position, suit: str) -> int:
    """What the effect of a suit does to the score."""
    own, other, area = position.own, position.other, lying(position)
    match suit:
        case Suit.CHEST | Suit.KEY:
            return TREASURE * ((Suit.KEY if suit == Suit.CHEST else Suit.CHEST) in area)
        case Suit.CANNON:
            return max((loss(other, card) for card in other.tops()), default=0)
        case Suit.SWORD:
            robbed = (card for card in sword_targets(own, other) if card.suit not in area)
            return max((card.value + loss(other, card) for card in robbed), default=0)
    return 0
