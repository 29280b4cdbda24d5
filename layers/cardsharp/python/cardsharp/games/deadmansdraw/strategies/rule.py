"""`rule`: five lines that a person can play by (docs/rules.md).

  cardsharp lab duel rule.py champion   # how strong is it?
  cardsharp ladder rule.py              # who is the next to beat?

`cardsharp research tune-rule` finds the numbers. Twin:
`cardsharp_tools/research/deadmansdraw/native/rule.c`.
"""

from collections.abc import Sequence
from random import Random

from cardsharp.core.sentences import count_text
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, EffectType, respond
from cardsharp.games.deadmansdraw.cards import Card, Suit, anchored_count, deck_sort_key
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, strategy
from cardsharp.games.deadmansdraw.strategies.position_features import (
    bank_gain,
    bank_loss,
    busting_card_count,
    pending_effect_targets,
    suits_in_play,
)
from cardsharp.games.deadmansdraw.transitions import sword_targets

DRAW_POINTS = 5  # points that a draw is assumed to bring; try other numbers
TREASURE_BONUS = 8  # points that Chest and Key count together in the play area
SWORD_BONUS = 4  # extra points of a Sword: a Hook may bring it again, and it steals again


@strategy("rule")
class FiveLines:
    """Stops once the points at stake times the bad cards make five times the good ones."""

    def __init__(self, _rng: Random) -> None:
        pass

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """Return one of `position.legal_actions()`, by the rule alone."""
        pending = position.pending
        if pending is None or pending.effect_type is EffectType.KRAKEN:
            return decide_stop_or_draw(position)
        if pending.effect_type is EffectType.ORACLE:
            card = pending.cards[0]
            if card.suit in suits_in_play(position):
                return DeadMansDrawDecision(END_TURN, f"{card} would bust.")
            return DeadMansDrawDecision(respond(EffectType.ORACLE, card), f"{card} does not bust.")
        points = (
            cannon_discard_value if pending.effect_type is EffectType.CANNON else placement_value
        )
        cards = sorted(pending_effect_targets(position), key=deck_sort_key)
        best = max(cards, key=lambda card: points(position, card))
        return DeadMansDrawDecision(
            respond(pending.effect_type, best), "It changes the score most."
        )


def decide_stop_or_draw(position: DeadMansDrawPosition) -> DeadMansDrawDecision:
    """Decide by the points that a bust would lose, and by the number of cards that bust."""
    if END_TURN not in position.legal_actions():
        return DeadMansDrawDecision(DRAW, "There is no choice.")
    area = position.play_area
    lost_points = value_if_banked(position, area) - value_if_banked(
        position, area[: anchored_count(area)]
    )
    bad = busting_card_count(position)
    good = len(position.unseen) - bad
    stops = lost_points * bad >= DRAW_POINTS * good
    comparison = "at least" if stops else "less than"
    reason = (
        f"{count_text(lost_points, 'point')} \N{MULTIPLICATION SIGN} {count_text(bad, 'bad card')} "
        f"is {comparison} {DRAW_POINTS} \N{MULTIPLICATION SIGN} {count_text(good, 'good card')}."
    )
    return DeadMansDrawDecision(END_TURN if stops else DRAW, reason)


def value_if_banked(position: DeadMansDrawPosition, cards: Sequence[Card]) -> int:
    """Return the points that these cards bring if they are banked, with the bonuses of the rule."""
    points = sum(bank_gain(position.own_bank, card) + suit_bonus(card) for card in cards)
    return points + TREASURE_BONUS * ({Suit.CHEST, Suit.KEY} <= {card.suit for card in cards})


def suit_bonus(card: Card) -> int:
    """Return the extra value of a card, beyond its points."""
    return SWORD_BONUS * (card.suit == Suit.SWORD)


def cannon_discard_value(position: DeadMansDrawPosition, card: Card) -> int:
    """Return the value of a Cannon that discards this card."""
    return opponent_loss(position, card) + suit_bonus(card)


def opponent_loss(position: DeadMansDrawPosition, card: Card) -> int:
    """Return the points that the opponent loses with a card."""
    return bank_loss(position.opponent_bank, card) if card in position.opponent_bank else 0


def placement_value(position: DeadMansDrawPosition, card: Card) -> int:
    """Return the effect on the score of placing a card in the play area."""
    if card.suit in suits_in_play(position):
        return -100 - card.value
    return (
        bank_gain(position.own_bank, card)
        + opponent_loss(position, card)
        + effect_value(position, card.suit)
    )


def effect_value(position: DeadMansDrawPosition, suit: str) -> int:
    """Return the effect on the score of a suit's effect."""
    own_bank, opponent_bank, area = (
        position.own_bank,
        position.opponent_bank,
        suits_in_play(position),
    )
    match suit:
        case Suit.CHEST | Suit.KEY:
            return TREASURE_BONUS * ((Suit.KEY if suit == Suit.CHEST else Suit.CHEST) in area)
        case Suit.CANNON:
            return max(
                (bank_loss(opponent_bank, card) for card in opponent_bank.top_cards()), default=0
            )
        case Suit.SWORD:
            robbed = (
                card for card in sword_targets(own_bank, opponent_bank) if card.suit not in area
            )
            return max((card.value + bank_loss(opponent_bank, card) for card in robbed), default=0)
    return 0
