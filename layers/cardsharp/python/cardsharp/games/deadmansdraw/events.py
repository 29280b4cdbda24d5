"""Events of a match, as the server sends them (docs/spec/arena.md section 4) and in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cardsharp.games.deadmansdraw.actions import (
    DRAW,
    END_TURN,
    Action,
    EffectType,
    PendingEffect,
    respond,
)
from cardsharp.games.deadmansdraw.cards import Card, cards_without


class EventType(StrEnum):
    """Types of events in the server's JSON (docs/spec/arena.md section 4)."""

    MATCH_STARTED = "MatchStarted"
    TURN_STARTED = "TurnStarted"
    DRAW = "Draw"
    CARD_PLAYED_EFFECT = "CardPlayedEffect"
    RESPONSE_TO_EFFECT = "ResponseToEffect"
    CARD_PLACED_TO_PLAY_AREA = "CardPlacedToPlayArea"
    CARD_REMOVED_FROM_BANK = "CardRemovedFromBank"
    TURN_ENDED = "TurnEnded"
    MATCH_ENDED = "MatchEnded"
    COMMENT = "Comment"


@dataclass(frozen=True, slots=True)
class StackDelta:
    """Cards that left a pile and that came to it, each in the order of the pile."""

    removed: tuple[Card, ...] = ()
    added: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnDelta:
    """Changes of a complete turn."""

    draw_pile: StackDelta
    discard_pile: StackDelta
    banks: tuple[StackDelta, StackDelta]


def delta_between_piles(previous: Iterable[Card], current: Iterable[Card]) -> StackDelta:
    """Return the difference between two piles, each delta in its own pile's order."""
    previous_cards, current_cards = tuple(previous), tuple(current)
    return StackDelta(
        removed=cards_without(previous_cards, current_cards),
        added=cards_without(current_cards, previous_cards),
    )


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """Start of a turn. `delta` holds the changes of the previous turn, None for the first turn."""

    delta: TurnDelta | None


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """Draw of the top card of the draw pile ("Draw" on the wire)."""

    card: Card


@dataclass(frozen=True, slots=True)
class CardPlaced:
    """Move of a card to the play area."""

    card: Card


@dataclass(frozen=True, slots=True)
class EffectPending:
    """Start of a card's effect, which is pending from now on."""

    effect: PendingEffect


@dataclass(frozen=True, slots=True)
class EffectAnswered:
    """Answer of the player to an effect; `card` is None for a refused Oracle."""

    effect_type: str
    card: Card | None


@dataclass(frozen=True, slots=True)
class CardRemovedFromBank:
    """Loss of a card from the bank of player `bank_index`."""

    card: Card
    bank_index: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """End of a turn: its cards were banked, or it busted if not `is_banked`.

    `bonus` holds the cards that Chest and Key brought, in the order of the picks. It is None if the
    player did not collect both.
    """

    is_banked: bool
    bonus: tuple[Card, ...] | None
    delta: TurnDelta


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """End of the match; `winner` is None for a tie."""

    scores: tuple[int, int]
    winner: int | None
    was_terminated: bool = False


@dataclass(frozen=True, slots=True)
class Comment:
    """Remark of the server, such as why it ended a turn by force."""

    text: str


Event = (
    TurnStarted
    | CardDrawn
    | CardPlaced
    | EffectPending
    | EffectAnswered
    | CardRemovedFromBank
    | TurnEnded
    | MatchEnded
    | Comment
)


def action_from_events(events: Iterable[Event]) -> Action | None:
    """Return the player's action that caused these events, None if none did."""
    first_event = next((event for event in events if not isinstance(event, TurnStarted)), None)
    match first_event:
        case CardDrawn():
            return DRAW
        case TurnEnded():
            return END_TURN
        case EffectAnswered(effect, card) if isinstance(effect, EffectType):
            return respond(effect, card)
    return None


EventPart = tuple[str | Card, ...]  # texts and cards of one event; joined, they are its description
_VERBS: Mapping[str, str] = {
    EffectType.HOOK: "hooks",
    EffectType.SWORD: "steals",
    EffectType.CANNON: "shoots",
    EffectType.MAP: "digs up",
}


def describe_event_parts(events: Iterable[Event]) -> Iterator[EventPart]:
    """Yield the parts of a move's description: cards, answers and remarks, in order."""
    oracle_card: Card | None = None
    for event in events:
        match event:
            case CardDrawn(card):
                yield (card,)
            case EffectPending(effect) if effect.effect_type is EffectType.ORACLE:
                oracle_card = next(iter(effect.cards), None)
            case EffectAnswered():
                yield _describe_answer(event, oracle_card)
            case TurnEnded(bonus=bonus) if bonus:
                yield ("+ bonus", *(part for card in bonus for part in (" ", card)))
            case MatchEnded(was_terminated=True):
                yield ("(ended by decision)",)
            case Comment(text):
                yield (f"({text})",)


def _describe_answer(event: EffectAnswered, oracle_card: Card | None) -> EventPart:
    verb = _VERBS.get(event.effect_type)
    if verb is not None and event.card is not None:
        return (f"({verb} ", event.card, ")")
    if oracle_card is None or event.card is not None:
        return ("(takes)",)  # the next event is the draw of that card
    return ("(leaves ", oracle_card, ")")


def describe_events(events: Sequence[Event]) -> str:
    """Return a move in words."""
    phrases = ["".join(map(str, event_part)) for event_part in describe_event_parts(events)]
    for event in events:
        match event:
            case TurnEnded(successful):
                phrases.append("banks" if successful else "busts")
            case MatchEnded((first_score, second_score)):
                phrases.append(f"ends the match, {first_score} : {second_score}")
    return " ".join(dict.fromkeys(phrases)) or ("begins" if events else "not recorded yet")
