"""Actions of a player, and the card effects that require a response."""

from dataclasses import dataclass
from enum import StrEnum

from cardsharp.games.deadmansdraw.cards import Card


class ActionType(StrEnum):
    """Types of a player's actions (docs/spec/arena.md section 7)."""

    DRAW = "Draw"
    END_TURN = "EndTurn"
    RESPOND = "ResponseToEffect"


class EffectType(StrEnum):
    """Effects that a card can leave pending (docs/spec/arena.md section 4)."""

    ORACLE = "Oracle"
    HOOK = "Hook"
    CANNON = "Cannon"
    SWORD = "Sword"
    MAP = "Map"
    KRAKEN = "Kraken"


@dataclass(frozen=True, slots=True)
class PendingEffect:
    """Effect that waits for the player's answer.

    `cards` holds the one card that an Oracle shows, or the one to three cards that a Map offers; it
    is empty for the other effects. `remaining_draws` is the number of cards that the Kraken still
    forces the player to draw. A Cannon and an Oracle keep that number (docs/spec/arena.md section
    7).
    """

    effect_type: EffectType
    cards: tuple[Card, ...] = ()
    remaining_draws: int = 0


@dataclass(frozen=True, slots=True)
class EffectResponse:
    """Answer to a pending effect; `card` is None if the card of an Oracle is refused."""

    effect_type: str
    card: Card | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """Action of a player.

    With `answers_pending_effects` the server answers pending effects first.
    """

    type: ActionType
    response: EffectResponse | None = None
    answers_pending_effects: bool = False

    @property
    def card(self) -> Card | None:
        """Card that the answer to an effect names."""
        return None if self.response is None else self.response.card

    def __str__(self) -> str:
        if self.response is None:
            return self.type.value
        return f"{self.response.effect_type}: {self.card or 'not taken'}"


DRAW = Action(ActionType.DRAW)
END_TURN = Action(ActionType.END_TURN)


def respond(effect_type: EffectType, card: Card | None = None) -> Action:
    """Return the action that answers a pending effect with `card`."""
    return Action(ActionType.RESPOND, EffectResponse(effect_type, card))


def action_json(action: Action) -> dict[str, object]:
    """Return an action as the arena reads it; `card` is null if the Oracle's card is refused."""
    body: dict[str, object] = {"etype": action.type.value}
    if action.response is not None:
        card = None if action.card is None else action.card._asdict()
        body["effect"] = {"effectType": str(action.response.effect_type), "card": card}
    if action.answers_pending_effects:
        body["autopick"] = True
    return body
