"""Stored deals of Euchre in a terminal: each decision with the table that its player saw."""

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.table import Table

from cardsharp.analysis.replay import Header, ReplayStep
from cardsharp.core.sentences import YOU, capitalise, list_text
from cardsharp.games.euchre.cards import parse_card
from cardsharp.games.euchre.history.replay import (
    SEAT_NAMES,
    DealReplayStep,
    player_at,
    replay,
    seat_name,
)
from cardsharp.games.euchre.public_state import DEALER
from cardsharp.games.euchre.sentences import (
    bids_text,
    label_action,
    short_card_text,
    suit_text,
)
from cardsharp_tools.terminal.match_printer import StepPrinter

_SIDE_NAMES = ("first and third", "second and dealer")


class DealPrinter(StepPrinter[DealReplayStep]):
    """Printer of a deal step by step; a decision is explained with the cards on the table."""

    def title(self, header: Header) -> str:
        """Return the two sides with their seats."""
        names = [_player_and_seat(header, seat) for seat in range(len(SEAT_NAMES))]
        return " v ".join(list_text(names[side::2]) for side in (0, 1))

    def player_name(self, step: DealReplayStep, header: Header) -> str:
        """Return the seat that acted, with the name of its player if that is recorded."""
        return "" if step.seat is None else _player_and_seat(header, step.seat)

    def position_text(self, step: ReplayStep, header: Header) -> RenderableType | None:
        """Return the table before a decision, one line for each fact."""
        if not isinstance(step, DealReplayStep) or step.seat is None:
            return super().position_text(step, header)
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        for name, text in _list_facts(step, header):
            table.add_row(name, text)
        return table


def _player_and_seat(header: Header, seat: int) -> str:
    player = player_at(header, seat)
    if not player:
        return SEAT_NAMES[seat]
    return f"{capitalise(player) if player == YOU else player} ({SEAT_NAMES[seat]})"


def _list_facts(step: DealReplayStep, header: Header) -> Iterator[tuple[str, str]]:
    """Yield the facts of a decision: turned-up card, dealer, trumps, score, tricks and hand."""
    state = step.previous_state

    def name_of(seat: int) -> str:
        return YOU if player_at(header, seat) == YOU else seat_name(header, seat)

    yield "turned up", short_card_text(state.turn_card)
    yield "dealer", name_of(DEALER)
    call = state.trump_call
    if call is not None:
        alone = ", alone" if call.goes_alone else ""
        yield "trumps", f"{suit_text(call.suit)}, called by {name_of(call.caller_seat)}{alone}"
    elif state.bids:
        yield "bids", bids_text(state, name_of)
    if step.score is not None:
        yield "score", _join_sides(step.score)
    if call is not None and state.complete_tricks:
        yield "tricks", _join_sides(state.tricks_won)
    if state.tricks:
        played = (f"{name_of(seat)} {short_card_text(card)}" for seat, card in state.current_trick)
        number = len(state.complete_tricks) + 1
        yield f"trick {number}", ", ".join(played) or f"{name_of(step.seat or 0)} leads"
    hand = (step.decision.position or {}).get("hand") if step.decision is not None else None
    if isinstance(hand, Iterable):
        cards = sorted((parse_card(str(card)) for card in hand), key=lambda card: (card & 3, -card))
        yield "hand", "  ".join(map(short_card_text, cards))


def _join_sides(values: tuple[int, int]) -> str:
    return capitalise(
        "; ".join(f"{name} {value}" for name, value in zip(_SIDE_NAMES, values, strict=True))
    )


PRINTER = DealPrinter(replay, label_action)
