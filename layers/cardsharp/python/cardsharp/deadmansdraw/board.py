"""How the table of Dead Man's Draw is drawn: two banks, the piles, and what was drawn."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from markupsafe import Markup

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.cards import SUIT_ORDER, Card, Suit
from cardsharp.deadmansdraw.events import TurnEnded
from cardsharp.deadmansdraw.logbook import Ended, state_body
from cardsharp.deadmansdraw.position import Observer, PastMove, Position
from cardsharp.deadmansdraw.replay import card_of
from cardsharp.replay import Header, Step
from cardsharp.viewer.board import NOTHING, Board, Parts, card, row, shape, texts, titled

_LINES = '<g fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" '
_LINES += 'stroke-linejoin="round">{}</g>'

_SHAPES = {
    Suit.ANCHOR: '<circle cx="12" cy="4.5" r="2"/><path d="M12 6.5v14M7.5 10h9M4 13.5c.5 4.5 '
    '3.5 7 8 7s7.5-2.5 8-7"/>',
    Suit.HOOK: '<circle cx="15" cy="4.5" r="1.8"/><path d="M15 6.3V15a5 5 0 0 1-10 0v-3l3 2.5"/>',
    Suit.CANNON: '<path fill="currentColor" d="M3 12.5L17.5 5l3 5.5L6.5 18z"/>'
    '<circle cx="9" cy="17" r="4"/><path d="M20.5 4.5l1.5-1.5"/>',
    Suit.KEY: '<circle cx="7.5" cy="7.5" r="4.5"/><path d="M10.7 10.7L20.5 20.5M15 15l2.5-2.5'
    'M18.2 18.2l2.5-2.5"/>',
    Suit.CHEST: '<path d="M3 12v8.5h18V12M2.5 12h19V9.5a5 5 0 0 0-5-5h-9a5 5 0 0 0-5 5z"/>'
    '<path fill="currentColor" d="M10.5 10.5h3v4.5h-3z"/>',
    Suit.MAP: '<path d="M3 5.5l6-2 6 2 6-2v15l-6 2-6-2-6 2zM9 3.5v15M15 5.5v15"/>',
    Suit.ORACLE: '<path d="M1.5 12C4.5 7.5 8 5.5 12 5.5s7.5 2 10.5 6.5c-3 4.5-6.5 6.5-10.5 '
    '6.5S4.5 16.5 1.5 12z"/><circle cx="12" cy="12" r="3" fill="currentColor"/>',
    Suit.SWORD: '<path d="M21 3L9 15M5.5 11.5l7 7M8.5 15.5l-5 5"/><path fill="currentColor" '
    'd="M21 3l-1 5L16 4z"/>',
    Suit.KRAKEN: '<path d="M8.5 14C6.8 13 6 11.5 6 9.5 6 6 8.5 3 12 3s6 3 6 6.5c0 2-.8 3.5-2.5 '
    "4.5M8.5 14c0 3.5-2 5-5.5 4M10.9 14c0 4-1 6.5-3.9 7M13.1 14c0 4 1 6.5 3.9 7M15.5 14c0 3.5 "
    '2 5 5.5 4"/><path d="M10 9.5v.1M14 9.5v.1"/>',
    Suit.MERMAID: '<path d="M8.5 2.5C15.5 5.5 16 11.5 12 16 8 12 6.5 8 8.5 2.5zM12 16c-3.5-.5-6 '
    '1-7 5.5 4 .2 6.3-1.5 7-5.5zM12 16c3.5-.5 6 1 7 5.5-4 .2-6.3-1.5-7-5.5z"/>',
}

_UNKNOWN = '<circle cx="12" cy="12" r="8"/>'

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


def _seen(names: Sequence[str], _you: int, seen: Position) -> Parts:
    """The same table out of a position, with what is known of the next card."""
    state = state_body(seen, _ended(seen.history))
    step = Step(sequence=0, turn=seen.turn, seat=seen.me, happened="", state=state)
    parts = _parts(Header(players=tuple(names)), step)
    return {**parts, "middle": Markup("{}{}").format(parts["middle"], _next(seen))}


def _ended(history: Sequence[PastMove]) -> Ended | None:
    """How the last turn ended, None while it runs."""
    watched, ended = Observer(), None
    for move in history:
        for event in move.events if move.turn == history[-1].turn else ():
            if isinstance(event, TurnEnded):
                ended = Ended(not event.successful, watched.drawn)
            watched.see(event, move.player)
    return ended


def _next(seen: Position) -> Markup:
    """The next card where it is known, else how many there are that would bust."""
    line = Markup('<p class="quiet">{}</p>')
    if seen.known_top is not None:
        return line.format(f"The next card is {seen.known_top}.")
    if not seen.play_area:
        return NOTHING
    lying = {one.suit for one in seen.play_area}
    bad, left = sum(one.suit in lying for one in seen.unseen), len(seen.unseen)
    return line.format(f"A draw busts with {bad} of {left} cards.") if left else NOTHING


def _face(action: Action) -> Markup:
    """The card that an effect is answered with."""
    answer = action.response
    return NOTHING if answer is None or answer.card is None else _drawn(answer.card, "small")


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
    return titled(title, _by_suit(names), len(names))


def _by_suit(names: Iterable[str]) -> Markup:
    found: dict[str, list[str]] = {}
    for one in map(card_of, names):
        found.setdefault(one.suit, []).append(str(one.value))
    lines = NOTHING.join(_line(suit, " ".join(held)) for suit, held in found.items())
    return Markup('<ul class="suits">{}</ul>').format(lines)


@lru_cache(maxsize=4096)
def _line(suit: str, held: str) -> Markup:
    return Markup("<li>{}<span>{}</span></li>").format(shape(suit.lower(), suit), held)


BOARD = Board(
    {suit.lower(): _LINES.format(lines) for suit, lines in _SHAPES.items()}
    | {"other": _LINES.format(_UNKNOWN)},
    _parts,
    _seen,
    _face,
)
