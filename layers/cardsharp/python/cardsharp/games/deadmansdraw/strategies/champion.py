"""`champion`: imitates the winner of the 2023 tournament (docs/spec/arena.md section 9)."""

from random import Random

from cardsharp.games.deadmansdraw.actions import (
    DRAW,
    END_TURN,
    EffectType,
    PendingEffect,
    respond,
)
from cardsharp.games.deadmansdraw.cards import Card, Suit
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, strategy
from cardsharp.games.deadmansdraw.strategies.position_features import (
    bank_gain,
    chest_key_partner,
    costliest_card,
    first_card_in_suit_order,
    suits_in_play,
)
from cardsharp.games.deadmansdraw.transitions import sword_targets

STOP_AT_CARDS = 3
KRAKEN_LIMIT = 1  # cards in the play area above which the player avoids a Kraken
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

    def __init__(self, _rng: Random, stop_at_cards: int = STOP_AT_CARDS) -> None:
        self.enough = stop_at_cards

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """Return the player's action, and the rule that led to it."""
        pending = position.pending
        if pending is None:
            return self._draw_or_end(position)
        match pending.effect_type:
            case EffectType.KRAKEN:
                return DeadMansDrawDecision(DRAW, "The Kraken makes us draw.")
            case EffectType.ORACLE:
                return self._answer_oracle(position, pending)
            case EffectType.HOOK:
                card = self._choose_hook_card(position)
            case EffectType.CANNON:
                card = costliest_card(position.opponent_bank, position.opponent_bank.top_cards())
            case EffectType.SWORD:
                card = self._choose_sword_card(position)
            case EffectType.MAP:
                card = self._choose_map_card(position, pending)
        return DeadMansDrawDecision(
            respond(pending.effect_type, card), f"{card} by the {self.name}'s order."
        )

    def _draw_or_end(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        area = position.play_area
        if position.refused_oracle_card is not None and area:
            return DeadMansDrawDecision(END_TURN, "The Oracle's card was refused.")
        if {Suit.CHEST, Suit.KEY} <= suits_in_play(position):
            return DeadMansDrawDecision(END_TURN, "Chest and Key lie in the play area.")
        if (
            len(area) >= self.enough
            and sum(bank_gain(position.own_bank, card) for card in area) > 0
        ):
            return DeadMansDrawDecision(
                END_TURN, f"{len(area)} cards with a gain lie in the play area."
            )
        return DeadMansDrawDecision(DRAW, "Too little lies in the play area.")

    def _answer_oracle(
        self, position: DeadMansDrawPosition, pending: PendingEffect
    ) -> DeadMansDrawDecision:
        card, area = pending.cards[0], position.play_area
        welcome = card.suit != Suit.KRAKEN or len(area) <= KRAKEN_LIMIT
        if pending.remaining_draws or (card.suit not in suits_in_play(position) and welcome):
            return DeadMansDrawDecision(
                respond(EffectType.ORACLE, card), f"{card} is safe, or must be drawn."
            )
        return DeadMansDrawDecision(respond(EffectType.ORACLE), f"{card} is not wanted.")

    def _choose_hook_card(self, position: DeadMansDrawPosition) -> Card:
        area, tops = suits_in_play(position), position.own_bank.top_cards()
        safe = tuple(card for card in tops if _is_safe(position, card.suit, area))
        return (
            chest_key_partner(safe, area) or first_card_in_suit_order(safe, HOOK_ORDER) or tops[0]
        )

    def _choose_sword_card(self, position: DeadMansDrawPosition) -> Card:
        area, targets = (
            suits_in_play(position),
            sword_targets(position.own_bank, position.opponent_bank),
        )
        safe = tuple(card for card in targets if _is_safe(position, card.suit, area))
        if not safe:
            return targets[-1]
        preferred = chest_key_partner(safe, area) or first_card_in_suit_order(safe, SWORD_ORDER)
        return preferred or max(safe, key=lambda card: card.value)

    def _choose_map_card(self, position: DeadMansDrawPosition, pending: PendingEffect) -> Card:
        area, offered = suits_in_play(position), pending.cards
        shunned = len(position.play_area) > KRAKEN_LIMIT
        krakens = tuple(card for card in offered if shunned and card.suit == Suit.KRAKEN)
        rest = (card for card in offered if card not in krakens)
        safe = tuple(card for card in rest if _is_safe(position, card.suit, area))
        return max(safe or krakens or offered, key=_map_card_sort_key)


def _is_safe(position: DeadMansDrawPosition, suit: str, area: frozenset[str]) -> bool:
    """Return True if a card of `suit` can join `area` without a bust.

    Neither the card nor its effect may bust.
    """
    if suit in area:
        return False
    if suit == Suit.HOOK:
        return any(
            _is_safe(position, bank_suit, area | {suit}) for bank_suit in position.own_bank.suits
        )
    if suit == Suit.SWORD:
        targets = sword_targets(position.own_bank, position.opponent_bank)
        return not targets or any(_is_safe(position, card.suit, area | {suit}) for card in targets)
    return True


def _map_card_sort_key(card: Card) -> tuple[int, int]:
    rank = next((i for i, suit in enumerate(MAP_ORDER) if suit == card.suit), len(MAP_ORDER))
    return -rank, card.value
