"""Creation of a match: the body of a create request, and its parameters.

docs/spec/arena.md section 4, "POST /api/matches", defines which piles a request may contain and
when their cards are checked for duplicates.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from cardsharp.errors import InvalidInput
from cardsharp.games.deadmansdraw.arena.dto import Json, cards_json
from cardsharp.games.deadmansdraw.arena.randomness import SeededDraws
from cardsharp.games.deadmansdraw.arena.request_body import (
    IMPOSSIBLE_VALUE,
    UnreadableField,
    js_string,
    parse_card,
    to_integer_if_whole,
)
from cardsharp.games.deadmansdraw.cards import (
    SERVER_DECK,
    Card,
    bank_from_cards,
    cards_without,
    lowest_of_each_suit,
)
from cardsharp.games.deadmansdraw.rules import start
from cardsharp.games.deadmansdraw.state import State

Cards = tuple[Card, ...]
T = TypeVar("T")

DEFAULT_DISCARD_PILE = lowest_of_each_suit(SERVER_DECK)
DEFAULT_DRAW_DECK = cards_without(SERVER_DECK, DEFAULT_DISCARD_PILE)

MAX_SEED_LENGTH = 200  # seeding the original's generator takes time in proportion to the length
MAX_TAGS_LENGTH = 1000  # characters of a match's together: every list shows them
MAX_TIMEOUT = timedelta(days=365)

PUBLIC_FIELDS = ("tags", "playArea", "drawPile", "discardPile", "banks", "randomSeed", "timeout")
"""The fields of a create request that views show, in their order."""


@dataclass(frozen=True, slots=True)
class CreationParams:
    """Parameters that a match was created with; None if the request left one out.

    `nulls` names the fields that were null in the request; views show these as null.
    """

    seed: str
    tags: tuple[str, ...] | None = None
    play_area: Cards | None = None
    draw_pile: Cards | None = None
    discard_pile: Cards | None = None
    banks: tuple[Cards, Cards] | None = None
    timeout: float | None = None
    nulls: frozenset[str] = frozenset()

    def turn_timeout(self) -> timedelta | None:
        """Return the time after which a turn can be ended by force, None if turns have no limit.

        A `timeout` of 0 means no limit.
        """
        return timedelta(seconds=self.timeout) if self.timeout else None


def parse_create_request(body: dict[str, Any], fresh_seed: str) -> CreationParams:
    """Parse the body of a create request.

    `fresh_seed` is used if the request has no seed. Raises `InvalidInput`.
    """
    requested_seed = body.get("randomSeed")
    params = CreationParams(
        seed=fresh_seed if requested_seed is None else _parse_seed(requested_seed),
        tags=_parse_optional(body, "tags", _parse_tags),
        play_area=_parse_optional(body, "playArea", _parse_pile),
        draw_pile=_parse_optional(body, "drawPile", _parse_pile),
        discard_pile=_parse_optional(body, "discardPile", _parse_pile),
        banks=_parse_optional(body, "banks", _parse_banks),
        timeout=_parse_optional(body, "timeout", _parse_timeout),
        nulls=frozenset(name for name in PUBLIC_FIELDS if name in body and body[name] is None),
    )
    _check_no_duplicates(params)
    return params


def initial_state(params: CreationParams, rng_draws: SeededDraws) -> State:
    """The state in which a match begins; a draw pile that is given is not shuffled."""
    draw_pile = params.draw_pile
    if draw_pile is None:
        draw_pile = rng_draws.shuffled(DEFAULT_DRAW_DECK)
    banks = params.banks or ((), ())
    return start(
        draw_pile,
        _pile_or_default(params.discard_pile, DEFAULT_DISCARD_PILE),
        rng_draws.randrange(2),
        (bank_from_cards(banks[0]), bank_from_cards(banks[1])),
        params.play_area or (),
    )


def creation_json(params: CreationParams, *, hide_secrets: bool) -> Json:
    """The parameters as a view shows them; seed and draw pile are the creator's secrets."""
    secrets = {"drawPile", "randomSeed"} if hide_secrets else set()
    piles = (params.play_area, params.draw_pile, params.discard_pile)
    banks = None if params.banks is None else [cards_json(bank) for bank in params.banks]
    values: tuple[object, ...] = (
        None if params.tags is None else list(params.tags),
        *(None if pile is None else cards_json(pile) for pile in piles),
        banks,
        params.seed,
        None if params.timeout is None else to_integer_if_whole(params.timeout),
    )
    fields = dict(zip(PUBLIC_FIELDS, values, strict=True))
    return {
        name: value
        for name, value in fields.items()
        if name not in secrets and (value is not None or name in params.nulls)
    }


def _pile_or_default(pile: Cards | None, default: Cards) -> Cards:
    return default if pile is None else pile


def _parse_optional(body: dict[str, Any], field: str, parse: Callable[[str, Any], T]) -> T | None:
    value = body.get(field)
    return None if value is None else parse(field, value)


def _parse_tags(field: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise UnreadableField(field, value)
    tags = tuple(map(js_string, value))
    if sum(map(len, tags)) + len(tags) > MAX_TAGS_LENGTH:
        raise InvalidInput(f"All tags together may have at most {MAX_TAGS_LENGTH} characters.")
    return tags


def _parse_cards(items: Sequence[object]) -> Cards:
    if len(items) > len(SERVER_DECK):
        raise InvalidInput(f"A pile has at most {len(SERVER_DECK)} cards.")
    cards = [parse_card(item) for item in items]
    for position, (item, card) in enumerate(zip(items, cards, strict=True)):
        if card is None or card.value == IMPOSSIBLE_VALUE:
            raise UnreadableField(str(position), item)
    return tuple(card for card in cards if card is not None)


def _parse_pile(field: str, value: object) -> Cards:
    if not isinstance(value, list):
        raise UnreadableField(field, value)
    return _parse_cards(value)


def _parse_banks(field: str, value: Any) -> tuple[Cards, Cards]:  # noqa: ANN401 - any JSON value
    lists = isinstance(value, list) and all(isinstance(bank, list) for bank in value)
    if not lists or len(value) != 2:  # noqa: PLR2004 - one bank a player
        raise UnreadableField(field, value)
    return _parse_cards(value[0]), _parse_cards(value[1])


def _parse_seed(value: object) -> str:
    seed = js_string(value)
    if len(seed) > MAX_SEED_LENGTH:
        raise InvalidInput(f"The randomSeed is longer than {MAX_SEED_LENGTH} characters.")
    return seed


def _parse_timeout(field: str, value: object) -> float:
    try:
        seconds = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        seconds = math.nan
    if math.isnan(seconds) or isinstance(value, bool):
        raise UnreadableField(field, value)
    if abs(seconds) > MAX_TIMEOUT.total_seconds():
        raise InvalidInput(
            f"The timeout is in seconds, at most {MAX_TIMEOUT.total_seconds():.0f} (a year)."
        )
    return seconds


def _check_no_duplicates(params: CreationParams) -> None:
    """Raise `InvalidInput` if a card is in two places; the play area is not checked."""
    if params.draw_pile is None and params.discard_pile is None and params.banks is None:
        return
    placed_cards: set[Card] = set()
    for pile in (
        _pile_or_default(params.draw_pile, DEFAULT_DRAW_DECK),
        _pile_or_default(params.discard_pile, DEFAULT_DISCARD_PILE),
        *(params.banks or ()),
    ):
        for card in pile:
            if card in placed_cards:
                raise InvalidInput(f"Duplicate cards not allowed '{card.suit},{card.value}'")
            placed_cards.add(card)
