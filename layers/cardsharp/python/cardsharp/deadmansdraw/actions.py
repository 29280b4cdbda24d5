"""What a player may say to the table, and the effects that ask for an answer."""

from dataclasses import dataclass
from enum import StrEnum

from cardsharp.deadmansdraw.cards import Card


class Verb(StrEnum):
    """The three actions of a player (docs/spec/arena.md section 7)."""

    DRAW = "Draw"
    END_TURN = "EndTurn"
    RESPOND = "ResponseToEffect"


class EffectType(StrEnum):
    """The six effects that a card can leave pending (docs/spec/arena.md section 4)."""

    ORACLE = "Oracle"
    HOOK = "Hook"
    CANNON = "Cannon"
    SWORD = "Sword"
    MAP = "Map"
    KRAKEN = "Kraken"


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect that waits for its answer.

    `cards` is the one peeked card of an Oracle or the one to three cards that a Map offers,
    and empty for the others. `kraken_count` is how many cards the Kraken still makes the player
    draw; a Cannon and an Oracle carry it along (docs/spec/arena.md section 7).
    """

    effect_type: EffectType
    cards: tuple[Card, ...] = ()
    kraken_count: int = 0


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a pending effect; `card` is None where none is named (an Oracle refused)."""

    effect_type: str
    card: Card | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a player; `autopick` lets the server answer pending effects first."""

    verb: Verb
    response: Response | None = None
    autopick: bool = False

    @property
    def card(self) -> Card | None:
        """The card that an answer names."""
        return None if self.response is None else self.response.card

    def __str__(self) -> str:
        if self.response is None:
            return self.verb.value
        return f"{self.response.effect_type}: {self.card or 'not taken'}"


DRAW = Action(Verb.DRAW)
END_TURN = Action(Verb.END_TURN)


def respond(effect_type: EffectType, card: Card | None = None) -> Action:
    """The action that answers a pending effect with `card`."""
    return Action(Verb.RESPOND, Response(effect_type, card))


def action_body(action: Action) -> dict[str, object]:
    """An action as the arena reads it; an answer without a card says `null` (Oracle refused)."""
    body: dict[str, object] = {"etype": action.verb.value}
    if action.response is not None:
        card = None if action.card is None else action.card._asdict()
        body["effect"] = {"effectType": str(action.response.effect_type), "card": card}
    if action.autopick:
        body["autopick"] = True
    return body
