"""Responses of the arena, as frozen models of its JSON (docs/spec/arena.md section 4).

Parsing is tolerant where a newer server may differ and strict where the game depends on it.
Unknown fields are ignored; unknown suits, event types and effect types stay strings; a wrong
type, a third player or a missing `activePlayerIndex` is refused.

Fair play: the random seed (`creationParams.randomSeed`, `matchStartedSeed`, the `randomSeed` of
a new match) and the debug piles (`state.drawPile`, `state.discardPile`) are not modelled at
all, so neither they nor anything derived from them can ever reach a position. The draw pile
that a match was created with is read as an unordered set.

Field names are those of the server in snake case, e.g. `match_ended_winner_idx`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    StrictInt,
)
from pydantic.alias_generators import to_camel

from cardsharp.games.deadmansdraw.actions import EffectType
from cardsharp.games.deadmansdraw.cards import Card, Suit

_NO_LIMIT_SECONDS = 10**7  # seconds beyond which a limit is none: four months
_SUIT_BY_NAME: Mapping[str, Suit] = {suit.value: suit for suit in Suit}
_EFFECT_BY_NAME: Mapping[str, EffectType] = {effect.value: effect for effect in EffectType}


def parse_timestamp(text: str) -> datetime | None:
    """Return the moment of a view's time, None if it cannot be read.

    Times are parsed only where one is needed, so that a newer server's format stops no match.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _parse_card(raw: object) -> Card:
    """Return the card of `{"suit": ..., "value": ...}`; ignore further keys."""
    if isinstance(raw, Card):
        return raw
    if isinstance(raw, dict):
        suit, value = raw.get("suit"), raw.get("value")
        if isinstance(suit, str) and type(value) is int and value >= 0:
            return Card(_SUIT_BY_NAME.get(suit, suit), value)
    raise ValueError('a card is {"suit": text, "value": number}')


def _normalize_bank(raw: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Return the bank with known suits as `Suit`, without suits that have no card left."""
    return {_SUIT_BY_NAME.get(suit, suit): values for suit, values in raw.items() if values}


def _parse_tags(raw: object) -> object:
    """Return the tags that are texts; ignore all other values among them."""
    return [tag for tag in raw if isinstance(tag, str)] if isinstance(raw, list | tuple) else ()


def _parse_time_limit(raw: object) -> object:
    """Return a time limit in seconds; None for 0, and for a limit longer than any match."""
    return None if isinstance(raw, int | float) and not 0 < raw < _NO_LIMIT_SECONDS else raw or None


CardView = Annotated[Card, PlainValidator(_parse_card), PlainSerializer(Card._asdict)]
Cards = tuple[CardView, ...]
Unordered = Annotated[Cards, AfterValidator(lambda cards: tuple(sorted(cards)))]
"""Cards sorted by suit and value, because their order on the wire would tell too much."""
SmallInt = Annotated[StrictInt, Field(ge=0, le=1_000_000)]
SeatIndex = Annotated[StrictInt, Field(ge=0, le=1)]  # index of a player
BankView = Annotated[dict[str, tuple[SmallInt, ...]], AfterValidator(_normalize_bank)]
"""Suit to values: suits in order of entry, values in the order they were banked."""
EffectName = Annotated[str, AfterValidator(lambda name: _EFFECT_BY_NAME.get(name, name))]


class _WireView(BaseModel):
    """Base of the views: frozen, camel case on the wire, unknown fields ignored."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
    )


class PendingEffectView(_WireView):
    """An effect that waits for its answer.

    `cards` is as the server sends it: an Oracle's peeked card is followed by a None.
    """

    effect_type: EffectName
    cards: tuple[CardView | None, ...] = ()
    kraken_count: SmallInt = 0

    @property
    def offered(self) -> tuple[Card, ...]:
        """The cards that the answer may name: an Oracle's one, a Map's one to three."""
        return tuple(card for card in self.cards if card is not None)


class StackDeltaView(_WireView):
    """Cards that came to and left one pile."""

    added: Cards = ()
    removed: Cards = ()


_NO_CHANGE = StackDeltaView()


class TurnDeltaView(_WireView):
    """Changes of a complete turn; empty in the `turnStartedDelta` of a first turn."""

    draw_pile: StackDeltaView = _NO_CHANGE
    discard_pile: StackDeltaView = _NO_CHANGE
    banks: tuple[StackDeltaView, StackDeltaView] = (_NO_CHANGE, _NO_CHANGE)


class EventView(_WireView):
    """One event, flat as in the JSON: only its own type's fields are set.

    `event_type` equals an `EventType` if it is known. `player_index` is None in responses to an
    action, and for an event of no player (docs/spec/arena.md section 4).
    """

    event_type: str
    player_index: SeatIndex | None = None
    draw_card: CardView | None = None
    card_played_effect: PendingEffectView | None = None
    card_placed_to_play_area_card: CardView | None = None
    card_removed_from_bank_card: CardView | None = None
    card_removed_from_bank_index: SeatIndex | None = None
    response_to_effect_type: EffectName | None = None
    response_to_effect_card: CardView | None = None
    turn_started_delta: TurnDeltaView | None = None
    turn_ended_is_successful: StrictBool | None = None
    turn_ended_bonus_cards: Cards | None = None
    turn_ended_delta: TurnDeltaView | None = None
    match_ended_scores: tuple[StrictInt, StrictInt] | None = None
    match_ended_winner_idx: SeatIndex | None = None
    match_ended_terminated: StrictBool = False
    comment: str | None = None


class MoveView(_WireView):
    """One accepted request and the events that it caused.

    `at` is ISO 8601, see `parse_timestamp`.

    `user_action` is the requested action, shown to the match's creator and the organiser alone.
    """

    sequence_id: SmallInt
    sequence_in_turn_id: SmallInt
    turn_id: SmallInt
    at: str
    events: tuple[EventView, ...]
    user_action: Mapping[str, object] | None = None


class StateView(_WireView):
    """Public part of a match's state in the arena's JSON: the table.

    The player to act is `active_player_index` of the match, as the state's own index is
    stale between turns (docs/spec/arena.md section 5). `winner_idx` None has no meaning
    until the match is finished.
    """

    banks: tuple[BankView, BankView]
    play_area: Cards
    pending_effect: PendingEffectView | None = None
    winner_idx: SeatIndex | None = None
    timeout_count: SmallInt = 0


class CreationParamsView(_WireView):
    """Creation parameters of a match; piles are None where the server's defaults were used.

    A null of the request is kept; a `timeout` of 0 means no limit.
    """

    tags: Annotated[tuple[str, ...], BeforeValidator(_parse_tags)] = ()
    play_area: Cards | None = None
    draw_pile: Unordered | None = None
    discard_pile: Cards | None = None
    banks: tuple[Cards, Cards] | None = None
    timeout: Annotated[timedelta | None, BeforeValidator(_parse_time_limit)] = None


_DEFAULT_CREATION = CreationParamsView()


class MatchView(_WireView):
    """A match as one of its players sees it; times as for `parse_timestamp`.

    `moves` is empty in lists and without `showevents`; `player_names` is empty in lists.
    """

    id: str = Field(alias="_id")
    player_ids: tuple[str, str] = Field(alias="playerids")
    player_names: tuple[str, ...] = Field(default=(), alias="playernames")
    created_by_player_id: str | None = None
    creation_params: CreationParamsView = _DEFAULT_CREATION
    started_at: str
    last_move_at: str
    move_count: SmallInt
    turn_count: SmallInt
    move_count_in_turn: SmallInt | None
    state: StateView
    active_player_index: SeatIndex | None
    draw_pile_size: SmallInt
    moves: tuple[MoveView, ...] = ()

    @property
    def finished(self) -> bool:
        """True if no player is to act any more."""
        return self.active_player_index is None


class MatchCreatedView(_WireView):
    """The answer to a new match; its seed is left out on purpose (see the module)."""

    model_config = ConfigDict(defer_build=True)

    id: str


class WhoAmIView(_WireView):
    """User that the arena recognises; `name` is None for the admin."""

    model_config = ConfigDict(defer_build=True)

    username: str
    name: str | None = None
    role: str | None = None


class PlayerView(_WireView):
    """A player in the arena's list.

    `idle_seconds` is the time since it asked for a match or acted, None if it never did. If an
    arena does not report it, every player counts as present. `awaited_tags` are the tags for
    which it waits, None for any. `client` is the name of its program, as it says itself.
    `last_move_at` is the time of its last action in a match, None before the first.
    """

    model_config = ConfigDict(defer_build=True)

    id: str = Field(alias="_id")
    name: str
    idle_seconds: float | None = 0.0
    awaited_tags: tuple[str, ...] | None = None
    client: str | None = None
    last_move_at: str | None = None


class HelloView(_WireView):
    """The arena's greeting."""

    model_config = ConfigDict(defer_build=True)

    message: str


class MatchOverErrorView(_WireView):
    """Body of the 410 response to an action in a match that has ended."""

    model_config = ConfigDict(defer_build=True)

    events: tuple[EventView, ...]
