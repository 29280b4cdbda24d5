"""`third`: imitates the third of the 2023 tournament (docs/spec/arena.md section 9)."""

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
from cardsharp.games.deadmansdraw.strategies.champion import Champion
from cardsharp.games.deadmansdraw.strategies.position_features import (
    bank_gain,
    chest_key_partner,
    costliest_card,
    first_card_in_suit_order,
    suits_in_play,
)
from cardsharp.games.deadmansdraw.transitions import sword_targets

MAX_AREA_CARDS = 3
STOP_AT_GAIN = 8
KRAKEN_LIMIT = 2  # a Kraken is avoided when more cards than this lie in the play area
MAP_LIMIT = 4  # the same limit for a Map that a Hook or a Sword could take
ORACLE_TAKE_ORDER = (Suit.CANNON, Suit.ANCHOR, Suit.ORACLE)
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

    def _draw_or_end(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        area, own_bank = position.play_area, position.own_bank
        rise = sum(bank_gain(own_bank, card) for card in area if card.suit in own_bank.suits)
        if len(area) > MAX_AREA_CARDS:
            return DeadMansDrawDecision(END_TURN, f"{len(area)} cards lie in the play area.")
        if rise > STOP_AT_GAIN:
            return DeadMansDrawDecision(END_TURN, f"The suits in the bank rise by {rise}.")
        return DeadMansDrawDecision(DRAW, "Too little lies in the play area.")

    def _answer_oracle(
        self, position: DeadMansDrawPosition, pending: PendingEffect
    ) -> DeadMansDrawDecision:
        card = pending.cards[0]
        crowded = card.suit == Suit.KRAKEN and len(position.play_area) > KRAKEN_LIMIT
        if card.suit == Suit.ORACLE or card.suit in suits_in_play(position) or crowded:
            return DeadMansDrawDecision(respond(EffectType.ORACLE), f"{card} is not wanted.")
        return DeadMansDrawDecision(respond(EffectType.ORACLE, card), f"{card} is welcome.")

    def _choose_hook_card(self, position: DeadMansDrawPosition) -> Card:
        tops = _exclude_area_suits(position, position.own_bank.top_cards())
        preferred = _find_preferred_card(position, tops)
        return preferred or min(_exclude_risky_effects(position, tops), key=lambda card: card.value)

    def _choose_sword_card(self, position: DeadMansDrawPosition) -> Card:
        targets = _exclude_area_suits(
            position, sword_targets(position.own_bank, position.opponent_bank)
        )
        preferred = _find_preferred_card(position, targets)
        return preferred or costliest_card(
            position.opponent_bank, _exclude_risky_effects(position, targets)
        )

    def _choose_map_card(self, position: DeadMansDrawPosition, pending: PendingEffect) -> Card:
        cards = _exclude_area_suits(position, pending.cards)
        return first_card_in_suit_order(cards, MAP_ORDER) or cards[0]


def _find_preferred_card(position: DeadMansDrawPosition, cards: tuple[Card, ...]) -> Card | None:
    return chest_key_partner(cards, suits_in_play(position)) or first_card_in_suit_order(
        cards, ORACLE_TAKE_ORDER
    )


def _exclude_area_suits(
    position: DeadMansDrawPosition, cards: tuple[Card, ...]
) -> tuple[Card, ...]:
    """Return `cards` without the suits in the play area, or all if none remains."""
    area = suits_in_play(position)
    return tuple(card for card in cards if card.suit not in area) or cards


def _exclude_risky_effects(
    position: DeadMansDrawPosition, cards: tuple[Card, ...]
) -> tuple[Card, ...]:
    """Return `cards` without those likely to bust by their effect, or all if none remains."""
    area, card_count = suits_in_play(position), len(position.play_area)
    robbed = {card.suit for card in sword_targets(position.own_bank, position.opponent_bank)}
    hook_brings_nothing = {Suit.HOOK, *area}.issuperset(position.own_bank.suits)
    sword_brings_nothing = {Suit.SWORD, *area}.issuperset(robbed)
    harmful = (
        [Suit.HOOK] * hook_brings_nothing,
        [Suit.SWORD] * sword_brings_nothing,
        [Suit.KRAKEN] * (card_count > KRAKEN_LIMIT) + [Suit.MAP] * (card_count > MAP_LIMIT),
    )
    for suits in harmful:
        cards = tuple(card for card in cards if card.suit not in suits) or cards
    return cards
