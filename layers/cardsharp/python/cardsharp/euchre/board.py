"""How the table of Euchre is drawn: four seats with the trick before them, and what was called."""

from markupsafe import Markup

from cardsharp.replay import Header, Step
from cardsharp.viewer.board import NOTHING, Board, Parts, row, shape, texts, titled
from cardsharp.viewer.french import SYMBOLS, french

_SEATS = range(4)


def _parts(header: Header, step: Step) -> Parts:
    """The seats in their order around the table, and between them what lies open."""
    return {
        **{f"seat{seat}": _seat(header, step, seat) for seat in _SEATS},
        "middle": _middle(step),
    }


def _seat(header: Header, step: Step, seat: int) -> Markup:
    """What a seat said, its card in the trick, and the hand that we decided with."""
    said = [word for who, word in _pairs(step, "bids") if who == seat]
    played = [french(card) for who, card in _pairs(step, "trick") if who == seat]
    held = step.ours.position if step.ours is not None and step.seat == seat else None
    hand = row(map(french, texts(held.get("hand")))) if held else NOTHING
    content = (
        Markup('<p class="quiet">{}</p>').format(", ".join(said) or "has said nothing"),
        row(played) if played else NOTHING,
        Markup('<div class="held">{}</div>').format(hand) if hand else NOTHING,
    )
    name = header.name(seat)
    known = seat < len(header.players) and header.players[seat] != name
    title = f"{name}, {header.players[seat]}" if known else name
    return titled(title, NOTHING.join(content), _tricks(_won(step).count(seat)))


def _middle(step: Step) -> Markup:
    """The card that was turned up and, once they are called, trumps and tricks."""
    trumps, turned = step.state.get("trumps"), step.state.get("turnCard")
    if not isinstance(trumps, str):
        return titled("Turned up", row([french(str(turned))] if turned else [], "not told"))
    mine, theirs = ([seat % 2 for seat in _won(step)].count(side) for side in (0, 1))
    told = Markup('<p class="trumps">{}{}</p><p class="quiet">{} : {} tricks</p>')
    title = "Trumps, alone" if step.state.get("alone") else "Trumps"
    return titled(title, told.format(shape(trumps), trumps, mine, theirs))


def _pairs(step: Step, name: str) -> list[tuple[int, str]]:
    told = step.state.get(name)
    return [(seat, text) for seat, text in told] if isinstance(told, list) else []


def _won(step: Step) -> list[int]:
    won = step.state.get("won")
    return won if isinstance(won, list) else []


def _tricks(number: int) -> str:
    return f"{number} {'trick' if number == 1 else 'tricks'}" if number else ""


BOARD = Board(SYMBOLS, _parts)
