"""What happened in a match of Dead Man's Draw, in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cardsharp.deadmansdraw.actions import EffectType
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.events import (
    Comment,
    Drawn,
    EffectAnswered,
    EffectPlayed,
    Event,
    MatchEnded,
    TurnEnded,
)

Piece = tuple[str | Card, ...]  # tells one thing; `"".join(map(str, piece))` is its text
_VERBS: Mapping[str, str] = {
    EffectType.HOOK: "hooks",
    EffectType.SWORD: "steals",
    EffectType.CANNON: "shoots",
    EffectType.MAP: "digs up",
}


def pieces(events: Iterable[Event]) -> Iterator[Piece]:
    """Cards and effects in the order in which they came; the frame of the turn is left out."""
    seen: Card | None = None
    for event in events:
        match event:
            case Drawn(card):
                yield (card,)
            case EffectPlayed(effect) if effect.effect_type is EffectType.ORACLE:
                seen = next(iter(effect.cards), None)
            case EffectAnswered():
                yield _answer(event, seen)
            case TurnEnded(bonus=bonus) if bonus:
                yield ("+ bonus", *(part for card in bonus for part in (" ", card)))
            case MatchEnded(terminated=True):
                yield ("(ended by decision)",)
            case Comment(text):
                yield (f"({text})",)


def _answer(event: EffectAnswered, seen: Card | None) -> Piece:
    verb = _VERBS.get(event.effect_type)
    if verb is not None and event.card is not None:
        return (f"({verb} ", event.card, ")")
    if seen is None or event.card is not None:
        return ("(takes)",)  # the card that it draws comes next
    return ("(leaves ", seen, ")")


def words(events: Sequence[Event]) -> str:
    """A move in words."""
    parts = ["".join(map(str, piece)) for piece in pieces(events)]
    for event in events:
        match event:
            case TurnEnded(successful):
                parts.append("banks" if successful else "busts")
            case MatchEnded((first, second)):
                parts.append(f"ends the match, {first} : {second}")
    return " ".join(dict.fromkeys(parts)) or ("begins" if events else "not told yet")
