"""What happens at the table, as the server tells it (openapi.json, MatchEventDTO)."""

from collections.abc import Iterable
from dataclasses import dataclass

from cardsharp.deadmansdraw.actions import Effect
from cardsharp.deadmansdraw.cards import Card


@dataclass(frozen=True, slots=True)
class StackDelta:
    """Cards that left and that came, each in the order of the pile they left or came to."""

    removed: tuple[Card, ...] = ()
    added: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """What a whole turn changed."""

    draw_pile: StackDelta
    discard_pile: StackDelta
    banks: tuple[StackDelta, StackDelta]


def stack_delta(before: Iterable[Card], after: Iterable[Card]) -> StackDelta:
    """The difference between two piles, each delta in its own pile's order."""
    old, new = list(before), list(after)
    old_set, new_set = set(old), set(new)
    return StackDelta(
        removed=tuple(card for card in old if card not in new_set),
        added=tuple(card for card in new if card not in old_set),
    )


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began; `delta` is what the turn before it changed, None before the first."""

    delta: Delta | None


@dataclass(frozen=True, slots=True)
class Drawn:
    """The top card of the draw pile was drawn ("Draw" on the wire)."""

    card: Card


@dataclass(frozen=True, slots=True)
class CardPlaced:
    """A card came to lie in the play area."""

    card: Card


@dataclass(frozen=True, slots=True)
class EffectPlayed:
    """A card's effect is pending now."""

    effect: Effect


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
    """A turn ended: banked or, where not `successful`, busted.

    `bonus` holds the cards that Chest and Key brought, in the order they were picked; None
    where the pair was not collected.
    """

    successful: bool
    bonus: tuple[Card, ...] | None
    delta: Delta


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match ended; `winner` is None for a tie."""

    scores: tuple[int, int]
    winner: int | None
    terminated: bool = False


@dataclass(frozen=True, slots=True)
class Comment:
    """A remark of the server, such as why it ended a turn by force."""

    text: str


Event = (
    TurnStarted
    | Drawn
    | CardPlaced
    | EffectPlayed
    | EffectAnswered
    | CardRemoved
    | TurnEnded
    | MatchEnded
    | Comment
)
