"""The table as the arena's JSON (`api_types`: MatchJson and its parts)."""

from collections.abc import Callable, Iterable
from typing import Any

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
    MatchEnded,
    StackDelta,
    TurnDelta,
    TurnEnded,
    TurnStarted,
)

Json = dict[str, Any]


def cards_json(cards: Iterable[Card]) -> list[Json]:
    """A list of cards in their order."""
    return [{"suit": suit, "value": value} for suit, value in cards]


def bank_values_by_suit(bank: Bank) -> dict[str, list[int]]:
    """Values a suit, both in the order in which they were banked."""
    return {suit: list(values) for suit, values in bank.stacks}


def effect_json(effect: PendingEffect) -> Json:
    """A pending effect; the Oracle's list ends with the null that stands for "not taken"."""
    body: Json = {"effectType": effect.effect_type.value}
    if effect.effect_type is EffectType.ORACLE:
        body["cards"] = [*cards_json(effect.cards), None]
    elif effect.cards:
        body["cards"] = cards_json(effect.cards)
    if effect.remaining_draws:
        body["krakenCount"] = effect.remaining_draws
    return body


def _stack_delta_json(delta: StackDelta) -> Json:
    changed = {"removed": delta.removed, "added": delta.added}
    return {name: cards_json(cards) for name, cards in changed.items() if cards}


def delta_json(delta: TurnDelta | None) -> Json:
    """Return the changes of a turn as JSON, `{}` before the first turn."""
    if delta is None:
        return {}
    return {
        "drawPile": _stack_delta_json(delta.draw_pile),
        "discardPile": _stack_delta_json(delta.discard_pile),
        "banks": [_stack_delta_json(bank) for bank in delta.banks],
    }


_EVENT_ENCODERS: dict[type[Event], Callable[[Any], Json]] = {
    TurnStarted: lambda event: {"turnStartedDelta": delta_json(event.delta)},
    CardDrawn: lambda event: {"drawCard": event.card._asdict()},
    CardPlaced: lambda event: {"cardPlacedToPlayAreaCard": event.card._asdict()},
    EffectPending: lambda event: {"cardPlayedEffect": effect_json(event.effect)},
    EffectAnswered: lambda event: {
        "responseToEffectType": event.effect_type,
        "responseToEffectCard": None if event.card is None else event.card._asdict(),
    },
    CardRemovedFromBank: lambda event: {
        "cardRemovedFromBankCard": event.card._asdict(),
        "cardRemovedFromBankIndex": event.bank_index,
    },
    Comment: lambda event: {"comment": event.text},
    TurnEnded: lambda event: {
        "turnEndedIsSuccessful": event.is_banked,
        **({} if event.bonus is None else {"turnEndedBonusCards": cards_json(event.bonus)}),
        "turnEndedDelta": delta_json(event.delta),
    },
    MatchEnded: lambda event: {
        "matchEndedScores": list(event.scores),
        "matchEndedWinnerIdx": event.winner,
        **({"matchEndedTerminated": True} if event.was_terminated else {}),
    },
}
_EVENT_NAMES: dict[type[Event], str] = {
    CardDrawn: "Draw",
    CardPlaced: "CardPlacedToPlayArea",
    EffectPending: "CardPlayedEffect",
    EffectAnswered: "ResponseToEffect",
    CardRemovedFromBank: "CardRemovedFromBank",
}
"""The arena's names of events that have another name here."""


def event_json(event: Event) -> Json:
    """Return an event as the response to an action shows it, without `playerIndex`."""
    kind = type(event)
    return {"eventType": _EVENT_NAMES.get(kind, kind.__name__), **_EVENT_ENCODERS[kind](event)}
