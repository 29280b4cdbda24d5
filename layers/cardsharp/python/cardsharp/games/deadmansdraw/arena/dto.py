"""The table as the arena's JSON (`api_types`: MatchJson and its parts)."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from cardsharp.games.deadmansdraw.actions import EffectType, PendingEffect
from cardsharp.games.deadmansdraw.cards import Bank, Card
from cardsharp.games.deadmansdraw.events import (
    CardDrawn,
    CardPlaced,
    CardRemovedFromBank,
    Comment,
    EffectAnswered,
    EffectPending,
    Event,
    EventType,
    MatchEnded,
    StackDelta,
    TurnDelta,
    TurnEnded,
    TurnStarted,
)

if TYPE_CHECKING:
    from cardsharp.games.deadmansdraw.arena.api_types import (
        CardJson,
        DeltaJson,
        EffectJson,
        EventJson,
        StackDeltaJson,
    )
    from cardsharp.games.deadmansdraw.cards import Suit

Json = dict[str, Any]


def card_json(card: Card) -> "CardJson":
    """A card; those of an arena are all of known suits."""
    return {"suit": cast("Suit", card.suit), "value": card.value}


def cards_json(cards: Iterable[Card]) -> "list[CardJson]":
    """A list of cards in their order."""
    return [card_json(card) for card in cards]


def bank_values_by_suit(bank: Bank) -> dict[str, list[int]]:
    """Values a suit, both in the order in which they were banked."""
    return {suit: list(values) for suit, values in bank.stacks}


def effect_json(effect: PendingEffect) -> "EffectJson":
    """A pending effect; the Oracle's list ends with the null that stands for "not taken"."""
    body: EffectJson = {"effectType": effect.effect_type}
    if effect.effect_type is EffectType.ORACLE:
        body["cards"] = [*cards_json(effect.cards), None]
    elif effect.cards:
        body["cards"] = [*cards_json(effect.cards)]
    if effect.remaining_draws:
        body["krakenCount"] = effect.remaining_draws
    return body


def _stack_delta_json(delta: StackDelta) -> "StackDeltaJson":
    body: StackDeltaJson = {}
    if delta.removed:
        body["removed"] = cards_json(delta.removed)
    if delta.added:
        body["added"] = cards_json(delta.added)
    return body


def delta_json(delta: TurnDelta | None) -> "DeltaJson":
    """Return the changes of a turn as JSON, `{}` before the first turn."""
    if delta is None:
        return {}
    return {
        "drawPile": _stack_delta_json(delta.draw_pile),
        "discardPile": _stack_delta_json(delta.discard_pile),
        "banks": [_stack_delta_json(bank) for bank in delta.banks],
    }


def _turn_ended_json(event: TurnEnded) -> "EventJson":
    body: EventJson = {
        "eventType": EventType.TURN_ENDED,
        "turnEndedIsSuccessful": event.is_banked,
    }
    if event.bonus is not None:
        body["turnEndedBonusCards"] = cards_json(event.bonus)
    body["turnEndedDelta"] = delta_json(event.delta)
    return body


def _match_ended_json(event: MatchEnded) -> "EventJson":
    body: EventJson = {
        "eventType": EventType.MATCH_ENDED,
        "matchEndedScores": list(event.scores),
        "matchEndedWinnerIdx": event.winner,
    }
    if event.was_terminated:
        body["matchEndedTerminated"] = True
    return body


_EVENT_ENCODERS: "dict[type[Event], Callable[[Any], EventJson]]" = {
    TurnStarted: lambda event: {
        "eventType": EventType.TURN_STARTED,
        "turnStartedDelta": delta_json(event.delta),
    },
    CardDrawn: lambda event: {"eventType": EventType.DRAW, "drawCard": card_json(event.card)},
    CardPlaced: lambda event: {
        "eventType": EventType.CARD_PLACED_TO_PLAY_AREA,
        "cardPlacedToPlayAreaCard": card_json(event.card),
    },
    EffectPending: lambda event: {
        "eventType": EventType.CARD_PLAYED_EFFECT,
        "cardPlayedEffect": effect_json(event.effect),
    },
    EffectAnswered: lambda event: {
        "eventType": EventType.RESPONSE_TO_EFFECT,
        "responseToEffectType": event.effect_type,
        "responseToEffectCard": None if event.card is None else card_json(event.card),
    },
    CardRemovedFromBank: lambda event: {
        "eventType": EventType.CARD_REMOVED_FROM_BANK,
        "cardRemovedFromBankCard": card_json(event.card),
        "cardRemovedFromBankIndex": event.bank_index,
    },
    Comment: lambda event: {"eventType": EventType.COMMENT, "comment": event.text},
    TurnEnded: _turn_ended_json,
    MatchEnded: _match_ended_json,
}


def event_json(event: Event) -> "EventJson":
    """Return an event as the response to an action shows it, without `playerIndex`."""
    return _EVENT_ENCODERS[type(event)](event)
