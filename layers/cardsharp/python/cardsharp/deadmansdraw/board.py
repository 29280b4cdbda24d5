"""How the table of Dead Man's Draw is drawn: two banks, the piles, and what was drawn."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from markupsafe import Markup

from cardsharp.deadmansdraw.actions import Action, Verb
from cardsharp.deadmansdraw.cards import SUIT_ORDER, Card
from cardsharp.deadmansdraw.logbook import state_body
from cardsharp.deadmansdraw.position import Ended, Observer, PastMove, Position
from cardsharp.deadmansdraw.replay import card_of
from cardsharp.deadmansdraw.strategies.choices import busting
from cardsharp.replay import Header, Step
from cardsharp.viewer.board import (
    NOTHING,
    Board,
    Parts,
    card,
    row,
    shape,
    symbols_in,
    texts,
    titled,
)

_SUITS = Path(__file__).with_name("suits.svg")

_EFFECTS = {
    "Oracle": "The Oracle shows the top card: take it or leave it.",
    "Hook": "The Hook brings back a card of one's own bank.",
    "Cannon": "The Cannon shoots a card of the other bank.",
    "Sword": "The Sword steals a card of the other bank.",
    "Map": "The Map offers cards of the discard pile.",
    "Kraken": "The Kraken makes draw on.",
}


def _parts(header: Header, step: Step) -> Parts:
    state = step.state
    banks, scores = _lists(state.get("banks")), texts(state.get("scores"))
    first, second = (
        titled(header.name(seat), _bank(map(card_of, bank)), f"{score} points")
        for seat, (bank, score) in enumerate(zip(banks, scores, strict=True))
    )
    unseen = state.get("unseen")
    known = isinstance(unseen, list | tuple)
    return {
        "seat0": first,
        "middle": _middle(state),
        "seat1": second,
        "unseen": _pile("Draw pile, unseen", texts(unseen)) if known else NOTHING,
        "discard": _pile("Discard pile", texts(state.get("discardPile"))),
    }


def _seen(names: Sequence[str], you: int, seen: Position) -> Parts:
    """The same out of a position, own seat first, with what is known of the next card."""
    state = state_body(seen, _ended(seen.history))
    step = Step(sequence=0, turn=seen.turn, seat=seen.me, happened="", state=state)
    parts = _parts(Header(players=tuple(names)), step)
    own, other = (parts[f"seat{seat}"] for seat in (you, 1 - you))
    middle = Markup("{}{}").format(parts["middle"], _next(seen))
    return {**parts, "seat0": own, "seat1": other, "middle": middle}


def _ended(history: Sequence[PastMove]) -> Ended | None:
    watched = Observer()
    for move in history:
        if move.turn == history[-1].turn:
            watched.see_move(move)
    return watched.ended


def _next(seen: Position) -> Markup:
    """The next card where it is known, else how many there are that would bust."""
    line = Markup('<p class="quiet">{}</p>')
    if seen.known_top is not None:
        return line.format(f"The next card is {seen.known_top}.")
    if not seen.play_area:
        return NOTHING
    left = len(seen.unseen)
    return line.format(f"A draw busts with {busting(seen)} of {left} cards.") if left else NOTHING


def _face(action: Action) -> Markup:
    return NOTHING if action.card is None else _drawn(action.card, "small")


def _place(action: Action) -> str:
    """The draw pile to draw and to leave what an Oracle saw there; what lies open to end a turn."""
    if action.response is None:
        return "unseen" if action.verb is Verb.DRAW else "middle"
    return "unseen" if action.card is None else ""


def _lists(found: object) -> list[list[str]]:
    return [texts(one) for one in found] if isinstance(found, list | tuple) else [[], []]


def _drawn(one: Card, kind: str = "") -> Markup:
    known = one.suit in SUIT_ORDER
    return card(one.value, one.suit.lower() if known else "other", one.suit, kind)


def _bank(cards: Iterable[Card]) -> Markup:
    """A place a suit: its highest card, which counts, and the others under it."""
    stacks: dict[str, list[int]] = {suit: [] for suit in SUIT_ORDER}
    for one in cards:
        stacks.setdefault(one.suit, []).append(one.value)
    return Markup('<div class="bank">{}</div>').format(
        NOTHING.join(_stack(suit, tuple(sorted(values))) for suit, values in stacks.items())
    )


@lru_cache(maxsize=4096)
def _stack(suit: str, values: tuple[int, ...]) -> Markup:
    if not values:
        return Markup('<span class="empty">{}</span>').format(shape(suit.lower()))
    *under, top = values
    told = Markup("<small>{}</small>").format(" ".join(map(str, under))) if under else NOTHING
    return Markup("<span>{}{}</span>").format(_drawn(Card(suit, top)), told)


def _middle(state: Mapping[str, object]) -> Markup:
    """What was drawn in this turn and what it may still bring, or what became of it."""
    area, ended = texts(state.get("playArea")), state.get("ended")
    if isinstance(ended, Mapping):
        saved = {one for bank in _lists(state.get("banks")) for one in bank}
        drawn = ((one, "" if one in saved else "lost") for one in texts(ended.get("cards")))
        cards = row(_drawn(card_of(one), kind) for one, kind in drawn)
        return titled("Bust" if ended.get("bust") else "Banked", cards)
    cards = row((_drawn(card_of(one)) for one in area), "nothing drawn yet")
    return titled("Play area", cards) + _pending(state.get("pending"))


def _pending(pending: object) -> Markup:
    if not isinstance(pending, Mapping):
        return NOTHING
    said = _EFFECTS.get(str(pending.get("effect")), str(pending.get("effect")))
    offered = [_drawn(card_of(one), "small") for one in texts(pending.get("cards"))]
    shown = row(offered) if offered else NOTHING
    return Markup('<p class="pending">{}</p>{}').format(said, shown)


def _pile(title: str, names: list[str]) -> Markup:
    """What lies in a pile: by suit, in no order."""
    found: dict[str, list[str]] = {}
    for one in map(card_of, names):
        found.setdefault(one.suit, []).append(str(one.value))
    lines = NOTHING.join(_line(suit, " ".join(held)) for suit, held in found.items())
    return titled(title, Markup('<ul class="suits">{}</ul>').format(lines), len(names))


@lru_cache(maxsize=4096)
def _line(suit: str, held: str) -> Markup:
    return Markup("<li>{}<span>{}</span></li>").format(shape(suit.lower(), suit), held)


BOARD = Board(symbols_in(_SUITS), _parts, _seen, _face, _place)
