"""How the table of Euchre is drawn: four seats with the trick before them, and what was called."""

from collections.abc import Sequence

from markupsafe import Markup

from cardsharp.euchre.actions import Action, Discard, Play
from cardsharp.euchre.cards import SUIT_NAMES, name
from cardsharp.euchre.position import Position
from cardsharp.euchre.replay import open_state
from cardsharp.replay import Header, Step, Thought
from cardsharp.viewer.board import (
    NOTHING,
    SYMBOLS,
    Board,
    Parts,
    card,
    french,
    row,
    shape,
    texts,
    titled,
)

_SEATS = range(4)
_SUITS = {one[0].upper(): one for one in SUIT_NAMES}
_OTHER = {"clubs": "spades", "spades": "clubs", "hearts": "diamonds", "diamonds": "hearts"}
"""The other suit of the same colour, whose jack is the left bower."""


def _parts(header: Header, step: Step) -> Parts:
    """The seats in their order around the table, and between them what lies open."""
    return {
        **{f"seat{seat}": _seat(header, step, seat) for seat in _SEATS},
        "middle": _middle(header, step),
    }


def _seen(names: Sequence[str], you: int, seen: Position) -> Parts:
    """The same out of a position, from whoever sees it around the table to the left."""
    chairs = [names[(you + place) % len(_SEATS)] for place in _SEATS]
    state = {"turnCard": name(seen.table.turn_card), **open_state(seen.table, seen.seat)}
    hand = sorted(seen.hand, key=lambda one: (one & 3, -one))
    own = Thought(position={"hand": [*map(name, hand)]}) if hand else None
    step = Step(sequence=0, turn=1, seat=0, happened="", state=state, ours=own)
    return _parts(Header(players=tuple(chairs)), step)


def _face(action: Action) -> Markup:
    return french(name(action.card)) if isinstance(action, Play | Discard) else NOTHING


def _seat(header: Header, step: Step, seat: int) -> Markup:
    """What a seat said, whether it dealt, and the hand that we decided with."""
    said = [word for who, word in _pairs(step, "bids") if who == seat]
    dealt = ["deals"] if step.state.get("dealer") == seat else []
    held = step.ours.position if step.ours is not None and step.seat == seat else None
    hand = row(_card(step, one) for one in texts(held.get("hand"))) if held else NOTHING
    content = (
        Markup('<p class="quiet">{}</p>').format(", ".join([*dealt, *said]) or "said nothing"),
        Markup('<div class="held">{}</div>').format(hand) if hand else NOTHING,
    )
    called = header.name(seat)
    known = seat < len(header.players) and header.players[seat] != called
    title = f"{called}, {header.players[seat]}" if known else called
    won = _won(step).count(seat)
    tricks = f"{won} {'trick' if won == 1 else 'tricks'}" if won else ""
    return titled(title, NOTHING.join(content), tricks)


def _card(step: Step, text: str) -> Markup:
    """A card, with what it is called where it is a bower."""
    trumps, suit = str(step.state.get("trumps")), _SUITS.get(text[-1:], "")
    if text[:-1] != "J" or suit not in (trumps, _OTHER.get(trumps)):
        return french(text)
    return card("J", suit, "right bower" if suit == trumps else "left bower")


def _middle(header: Header, step: Step) -> Markup:
    """The card that was turned up and, once they are called, trumps, tricks and the trick."""
    trumps, turned = step.state.get("trumps"), step.state.get("turnCard")
    if not isinstance(trumps, str):
        return titled("Turned up", row([french(str(turned))] if turned else [], "not told"))
    mine, theirs = ([seat % 2 for seat in _won(step)].count(side) for side in (0, 1))
    told = Markup('<p class="trumps {}">{}{}</p><p class="quiet">{} : {} tricks</p>{}')
    title = "Trumps, alone" if step.state.get("alone") else "Trumps"
    lain = Markup("<figure>{}<figcaption>{}</figcaption></figure>")
    trick = [lain.format(_card(step, one), header.name(who)) for who, one in _pairs(step, "trick")]
    on_table = row(trick) if trick else NOTHING
    return titled(title, told.format(trumps, shape(trumps), trumps, mine, theirs, on_table))


def _pairs(step: Step, name: str) -> list[tuple[int, str]]:
    told = step.state.get(name)
    return [(seat, text) for seat, text in told] if isinstance(told, list) else []


def _won(step: Step) -> list[int]:
    won = step.state.get("won")
    return won if isinstance(won, list) else []


BOARD = Board(SYMBOLS, _parts, _seen, _face)
