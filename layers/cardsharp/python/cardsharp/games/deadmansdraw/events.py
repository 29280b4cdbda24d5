"""Events of a match, as the server sends them (openapi.json, MatchEventDTO) and in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cardsharp.games.deadmansdraw.actions import EffectType, PendingEffect
from cardsharp.games.deadmansdraw.cards import Card, cards_without


@dataclass(frozen=True, slots=True)
class StackDelta:
    """Cards that left and that came, each in the order of the pile they left or came to."""

    removed: tuple[Card, ...] = ()
    added: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnDelta:
    """Changes of a complete turn."""

    draw_pile: StackDelta
    discard_pile: StackDelta
    banks: tuple[StackDelta, StackDelta]


def stack_delta(previous: Iterable[Card], current: Iterable[Card]) -> StackDelta:
    """The difference between two piles, each delta in its own pile's order."""
    old, new = tuple(previous), tuple(current)
    return StackDelta(removed=cards_without(old, new), added=cards_without(new, old))


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began; `delta` holds the changes of the previous turn, None for the first turn."""

    delta: TurnDelta | None


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """The top card of the draw pile was drawn ("Draw" on the wire)."""

    card: Card


@dataclass(frozen=True, slots=True)
class CardPlaced:
    """A card came to lie in the play area."""

    card: Card


@dataclass(frozen=True, slots=True)
class EffectPending:
    """A card's effect is pending now."""

    effect: PendingEffect


@dataclass(frozen=True, slots=True)
class EffectAnswered:
    """The player answered an effect; `card` is None for an Oracle's card not taken."""

    effect_type: str
    card: Card | None


@dataclass(frozen=True, slots=True)
class CardRemoved:
    """A card left the bank of player `bank_index`."""

    card: Card
    bank_index: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn ended: banked, or busted if not `is_banked`.

    `bonus` holds the cards that Chest and Key brought, in the order of the picks; None if the
    pair was not collected.
    """

    is_banked: bool
    bonus: tuple[Card, ...] | None
    delta: TurnDelta


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match ended; `winner` is None for a tie."""

    scores: tuple[int, int]
    winner: int | None
    was_terminated: bool = False


@dataclass(frozen=True, slots=True)
class Comment:
    """A remark of the server, such as why it ended a turn by force."""

    text: str


Event = (
    TurnStarted
    | CardDrawn
    | CardPlaced
    | EffectPending
    | EffectAnswered
    | CardRemoved
    | TurnEnded
    | MatchEnded
    | Comment
)


EventPart = tuple[str | Card, ...]  # tells one thing; `"".join(map(str, piece))` is its text
_VERBS: Mapping[str, str] = {
    EffectType.HOOK: "hooks",
    EffectType.SWORD: "steals",
    EffectType.CANNON: "shoots",
    EffectType.MAP: "digs up",
}


def event_parts(events: Iterable[Event]) -> Iterator[EventPart]:
    """Cards and effects in the order in which they came; the frame of the turn is left out."""
    oracle_card: Card | None = None
    for event in events:
        match event:
            case CardDrawn(card):
                yield (card,)
            case EffectPending(effect) if effect.effect_type is EffectType.ORACLE:
                oracle_card = next(iter(effect.cards), None)
            case EffectAnswered():
                yield _answer(event, oracle_card)
            case TurnEnded(bonus=bonus) if bonus:
                yield ("+ bonus", *(part for card in bonus for part in (" ", card)))
            case MatchEnded(was_terminated=True):
                yield ("(ended by decision)",)
            case Comment(text):
                yield (f"({text})",)


def _answer(event: EffectAnswered, oracle_card: Card | None) -> EventPart:
    verb = _VERBS.get(event.effect_type)
    if verb is not None and event.card is not None:
        return (f"({verb} ", event.card, ")")
    if oracle_card is None or event.card is not None:
        return ("(takes)",)  # the card that it draws comes next
    return ("(leaves ", oracle_card, ")")


def describe_events(events: Sequence[Event]) -> str:
    """A move in words."""
    parts = ["".join(map(str, piece)) for piece in event_parts(events)]
    for event in events:
        match event:
            case TurnEnded(successful):
                parts.append("banks" if successful else "busts")
            case MatchEnded((first, second)):
                parts.append(f"ends the match, {first} : {second}")
    return " ".join(dict.fromkeys(parts)) or ("begins" if events else "not told yet")
