"""Turns and decisions as JSON documents."""

from cardsharp.deadmansdraw.events import (
    CardPlaced,
    CardRemoved,
    Comment,
    Drawn,
    EffectAnswered,
    EffectPlayed,
    Event,
    MatchEnded,
    TurnEnded,
)
from cardsharp.deadmansdraw.replay import EventStep, Turn


def turn_document(turn: Turn) -> dict[str, object]:
    """A turn: its moves, what they brought, and the banks after it."""
    ended = turn.ended
    player = turn.player
    return {
        "turn": turn.number,
        "player": player,
        "over": turn.over,
        "bust": None if ended is None else not ended.successful,
        "gain": None if player is None else turn.gain(player),
        "scores": [bank.score for bank in turn.after],
        "banks": [[str(card) for card in bank] for bank in turn.after],
        "moves": [step_document(step) for step in turn.steps],
    }


def step_document(step: EventStep) -> dict[str, object]:
    """A move: its events, and the decision behind it where it was ours."""
    intent = step.ours
    return {
        "move": step.sequence,
        "player": step.seat,
        "events": [found for found in map(_event, step.events) if found],
        "decision": None if intent is None else intent.model_dump(mode="json", by_alias=True),
    }


def _event(event: Event) -> dict[str, object]:
    """An event in few words; the beginning of a turn tells nothing new."""
    match event:
        case TurnEnded():
            bonus = None if event.bonus is None else [str(card) for card in event.bonus]
            return {"turnEnded": "banked" if event.successful else "bust", "bonus": bonus}
        case MatchEnded():
            return {"matchEnded": list(event.scores), "winner": event.winner}
        case Comment(text):
            return {"comment": text}
    return _card_event(event)


def _card_event(event: Event) -> dict[str, object]:
    found: dict[str, object] = {}
    match event:
        case Drawn(card):
            found = {"drawn": str(card)}
        case CardPlaced(card):
            found = {"placed": str(card)}
        case CardRemoved(card, index):
            found = {"removed": str(card), "bank": index}
        case EffectPlayed(effect):
            cards = [str(card) for card in effect.cards]
            found = {"effect": effect.effect_type.value, "cards": cards}
        case EffectAnswered(name, answer):
            found = {"answered": str(name), "card": None if answer is None else str(answer)}
    return found
