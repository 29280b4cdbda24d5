"""From a stored deal and a question to the position that the strategy sees, if the two agree."""

from dataclasses import replace

from cardsharp.euchre.actions import Action, Discard, Play
from cardsharp.euchre.asks import NO_CARD, Ask
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.records import Record, SwapEvent
from cardsharp.euchre.state import FACE_DOWN, TURN, Deal
from cardsharp.euchre.table import DEALER, Table, ToAct, turn


def position_of(record: Record, ask: Ask) -> Position | None:
    """What the seat that is asked knows, None where the record cannot have led to the question.

    The choices are what the client offers, as far as the rules allow it: it is the authority on
    what is legal, but an offer may hold a card that is not.
    """
    table = ask.table(record)
    if table is None or turn(table) != ToAct(ask.seat, ask.question):
        return None
    discard = _discard(record, table, ask)
    if table.swapped and discard is None:
        return None
    position = project(Deal(record.cards, table, discard), ask.seat)
    if _contradicts(position):
        return None
    if ask.offered is None:
        return position
    choices = tuple(action for action in position.choices if _card(action) in ask.offered)
    return replace(position, choices=choices) if choices else None


def is_about(ask: Ask, record: Record) -> bool:
    """Whether the turn card of the question, where it names one, is that of the record."""
    return ask.turn_card in {NO_CARD, record.cards[TURN]}


def _discard(record: Record, table: Table, ask: Ask) -> int | None:
    """The dealer's own discard for the dealer, a card face down for everybody else."""
    if not table.swapped:
        return None
    if ask.seat != DEALER:
        return FACE_DOWN
    swap = record.find(("swap",))
    return swap.card if isinstance(swap, SwapEvent) else None


def _contradicts(position: Position) -> bool:
    """Whether a card that the seat sees would be in two places at once."""
    others = [
        card for trick in position.table.tricks for seat, card in trick if seat != position.seat
    ]
    return len(set(others)) < len(others) or not set(others).isdisjoint(position.dealt)


def _card(action: Action) -> int | None:
    return action.card if isinstance(action, Discard | Play) else None
