"""How a match is asked for: the body of a create request, and the table it lays.

docs/spec/arena.md section 4, "POST /api/matches": which piles may be given and when their cards are
checked for duplicates.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from cardsharp.deadmansdraw.arena.dto import Json, cards_json
from cardsharp.deadmansdraw.arena.inputs import (
    NO_VALUE,
    Unconvertible,
    js_string,
    parse_card,
    plain_number,
)
from cardsharp.deadmansdraw.arena.randomness import Draws
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card, bank_of, lowest_of_each_suit, without
from cardsharp.deadmansdraw.rules import start
from cardsharp.deadmansdraw.state import State
from cardsharp.errors import Malformed

Cards = tuple[Card, ...]
T = TypeVar("T")

DEFAULT_DISCARD_PILE = lowest_of_each_suit(SERVER_DECK)
DEFAULT_DRAW_DECK = without(SERVER_DECK, DEFAULT_DISCARD_PILE)

MAX_SEED_LENGTH = 200  # seeding the original's generator takes time in proportion to the length
MAX_TAGS_LENGTH = 1000  # characters of a match's together: every list shows them
MAX_TIMEOUT = timedelta(days=365)

SHOWN = ("tags", "playArea", "drawPile", "discardPile", "banks", "randomSeed", "timeout")
"""The fields of a create request that views show, in their order."""


@dataclass(frozen=True, slots=True)
class CreationParams:
    """What a match was created with; None stands for what the request left out.

    `nulls` names the fields that it gave as null, which views show as they came.
    """

    seed: str
    tags: tuple[str, ...] | None = None
    play_area: Cards | None = None
    draw_pile: Cards | None = None
    discard_pile: Cards | None = None
    banks: tuple[Cards, Cards] | None = None
    timeout: float | None = None
    nulls: frozenset[str] = frozenset()

    def limit(self) -> timedelta | None:
        """How long a player may think before the turn can be ended by force; 0 is for ever."""
        return timedelta(seconds=self.timeout) if self.timeout else None


def parse_wish(body: dict[str, Any], fresh_seed: str) -> CreationParams:
    """What a create request's body asks for, by default with `fresh_seed`; raises `Malformed`."""
    given_seed = body.get("randomSeed")
    params = CreationParams(
        seed=fresh_seed if given_seed is None else _seed(given_seed),
        tags=_given(body, "tags", _tags),
        play_area=_given(body, "playArea", _pile),
        draw_pile=_given(body, "drawPile", _pile),
        discard_pile=_given(body, "discardPile", _pile),
        banks=_given(body, "banks", _banks),
        timeout=_given(body, "timeout", _timeout),
        nulls=frozenset(name for name in SHOWN if name in body and body[name] is None),
    )
    _refuse_duplicates(params)
    return params


def lay_table(params: CreationParams, draws: Draws) -> State:
    """The state in which a match begins; a draw pile that is given is not shuffled."""
    draw_pile = params.draw_pile
    if draw_pile is None:
        draw_pile = draws.shuffled(DEFAULT_DRAW_DECK)
    banks = params.banks or ((), ())
    return start(
        draw_pile,
        _or(params.discard_pile, DEFAULT_DISCARD_PILE),
        draws.below(2),
        (bank_of(banks[0]), bank_of(banks[1])),
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
        None if params.timeout is None else plain_number(params.timeout),
    )
    shown = dict(zip(SHOWN, values, strict=True))
    return {
        name: value
        for name, value in shown.items()
        if name not in secrets and (value is not None or name in params.nulls)
    }


def _or(pile: Cards | None, default: Cards) -> Cards:
    return default if pile is None else pile


def _given(body: dict[str, Any], field: str, read: Callable[[str, Any], T]) -> T | None:
    value = body.get(field)
    return None if value is None else read(field, value)


def _tags(field: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Unconvertible(field, value)
    tags = tuple(map(js_string, value))
    if sum(map(len, tags)) + len(tags) > MAX_TAGS_LENGTH:
        raise Malformed(f"The tags have more than {MAX_TAGS_LENGTH} characters together.")
    return tags


def _cards(items: Sequence[object]) -> Cards:
    if len(items) > len(SERVER_DECK):
        raise Malformed(f"A pile has at most {len(SERVER_DECK)} cards.")
    found = [parse_card(item) for item in items]
    for position, (item, card) in enumerate(zip(items, found, strict=True)):
        if card is None or card.value == NO_VALUE:
            raise Unconvertible(str(position), item)
    return tuple(card for card in found if card is not None)


def _pile(field: str, value: object) -> Cards:
    if not isinstance(value, list):
        raise Unconvertible(field, value)
    return _cards(value)


def _banks(field: str, value: Any) -> tuple[Cards, Cards]:  # noqa: ANN401 - any JSON value
    lists = isinstance(value, list) and all(isinstance(bank, list) for bank in value)
    if not lists or len(value) != 2:  # noqa: PLR2004 - one bank a player
        raise Unconvertible(field, value)
    return _cards(value[0]), _cards(value[1])


def _seed(value: object) -> str:
    seed = js_string(value)
    if len(seed) > MAX_SEED_LENGTH:
        raise Malformed(f"The randomSeed is longer than {MAX_SEED_LENGTH} characters.")
    return seed


def _timeout(field: str, value: object) -> float:
    try:
        seconds = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        seconds = math.nan
    if math.isnan(seconds) or isinstance(value, bool):
        raise Unconvertible(field, value)
    if abs(seconds) > MAX_TIMEOUT.total_seconds():
        raise Malformed(
            f"The timeout is in seconds, at most {MAX_TIMEOUT.total_seconds():.0f} (a year)."
        )
    return seconds


def _refuse_duplicates(params: CreationParams) -> None:
    """Refuse a card that lies in two places; the play area is not looked at."""
    if params.draw_pile is None and params.discard_pile is None and params.banks is None:
        return
    seen: set[Card] = set()
    for pile in (
        _or(params.draw_pile, DEFAULT_DRAW_DECK),
        _or(params.discard_pile, DEFAULT_DISCARD_PILE),
        *(params.banks or ()),
    ):
        for card in pile:
            if card in seen:
                raise Malformed(f"Duplicate cards not allowed '{card.suit},{card.value}'")
            seen.add(card)
