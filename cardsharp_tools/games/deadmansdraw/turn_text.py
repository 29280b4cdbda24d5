"""Cards, turns and banks as text for a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from cardsharp.core.sentences import capitalise, count_text
from cardsharp.games.deadmansdraw import sentences
from cardsharp.games.deadmansdraw.cards import SUIT_ORDER, Bank, Card, Suit
from cardsharp.games.deadmansdraw.events import Event
from cardsharp.games.deadmansdraw.history.replay import ReplayTurn, StoredPosition
from cardsharp.games.deadmansdraw.sentences import join_clauses, turn_clauses
from cardsharp.play.strategy import format_percent
from cardsharp_tools.cli.console import result_console
from cardsharp_tools.terminal.player_labels import PlayerLabels

_SUIT_STYLES: Mapping[str, str] = {
    Suit.ANCHOR: "blue",
    Suit.HOOK: "cyan",
    Suit.CANNON: "red",
    Suit.KEY: "yellow",
    Suit.CHEST: "bright_yellow",
    Suit.MAP: "green",
    Suit.ORACLE: "magenta",
    Suit.SWORD: "bright_red",
    Suit.KRAKEN: "bright_magenta",
    Suit.MERMAID: "bright_cyan",
}

MAX_NAME_WIDTH = 24  # columns of a player's name; a longer one is shortened


def card_text(card: Card) -> Text:
    """Return a card in words in the colour of its suit."""
    return Text(sentences.card_text(card), style=_SUIT_STYLES.get(card.suit, ""))


def turn_table(labels: PlayerLabels, tag: str = "") -> Table:
    """Return an empty table of turns; with `tag`, the name of the match, it has a column for it.

    The columns are the same for every turn of a match, so that its tables can follow each other.
    """
    table = Table.grid(padding=(0, 1), expand=True)
    if tag:
        table.add_column(width=len(tag), no_wrap=True, style="dim")
    table.add_column(justify="right", width=3)
    width = min(MAX_NAME_WIDTH, max(map(len, labels.names)))
    table.add_column(width=width, no_wrap=True, overflow="ellipsis")
    table.add_column(ratio=1)
    table.add_column(justify="right", width=9, no_wrap=True)
    table.add_column(justify="right", width=8, no_wrap=True)
    return table


def add_turn_row(table: Table, turn: ReplayTurn, labels: PlayerLabels, tag: str = "") -> None:
    """Add a turn to a table of turns: player, moves, gain and score."""
    player = turn.player
    gain = Text("")
    if player is not None and turn.turn_end_event is not None:
        won, points = turn.turn_end_event.is_banked, f"{turn.score_gain(player):+d}"
        gain = Text(points, style="green" if won else "red")
    total_gain = None if player is None else turn.score_gain(player)
    is_our_player = player is not None and player == labels.player_index
    name = Text(labels.name(player), style="bold" if is_our_player else "")
    score = labels.score_text([bank.score for bank in turn.final_banks])
    cells = (str(turn.number), name, events_text(turn.events, total_gain), gain, score)
    table.add_row(*((tag,) if tag else ()), *cells)


def add_detail_row(table: Table, text: Text, tag: str = "") -> None:
    """Add details of the turn above to a table of turns."""
    table.add_row(*((tag,) if tag else ()), "", "", text, "", "")


def events_text(events: Iterable[Event], gain: int | None = None) -> Text:
    """Return what a player did in a turn, as a predicate with coloured cards."""
    clauses = list(turn_clauses(events, gain))
    return Text.assemble(
        *(card_text(part) if isinstance(part, Card) else part for part in join_clauses(clauses))
    )


def turn_sentence(name: str, events: Iterable[Event], gain: int | None = None) -> Text:
    """Return what a player did as a sentence, with coloured cards."""
    predicate = events_text(events, gain)
    if not predicate.plain:
        predicate = Text("stopped")
    return Text.assemble((capitalise(name), "bold"), " ", predicate, ".")


_MIN_NAME_WIDTH = 10  # columns of the name of a row, such as "their bank"


def suit_table(rows: Iterable[tuple[str, Iterable[Card], str]], width: int) -> Table:
    """Return a table of cards by suit: a row for each place, with a remark in the last cell.

    If `width` is too small, a remark is reduced to its number. If that does not suffice, the names
    of the rows are wrapped, and at last the names of suits are shortened, never the cards.
    """
    listed = [(name, tuple(cards), remark) for name, cards, remark in rows]
    present_suits = {str(card.suit) for _, cards, _ in listed for card in cards}
    suits = [*SUIT_ORDER, *sorted(present_suits - {*SUIT_ORDER})]
    name_width = max(len(name) for name, _, _ in listed)
    cells = {suit: [_format_suit_values(suit, cards) for _, cards, _ in listed] for suit in suits}
    widths = {suit: max(len(suit), *map(len, cells[suit])) for suit in suits}
    remarks = [remark for _, _, remark in listed]
    room = width - len(suits) - 1 - sum(widths.values())
    if name_width + max(map(len, remarks)) > room:
        remarks = [remark.partition(" ")[0] for remark in remarks]
    room -= max(map(len, remarks))
    if room < _MIN_NAME_WIDTH:
        min_widths = {suit: max(3, *map(len, cells[suit])) for suit in suits}
        room, widths = room + sum(widths.values()) - sum(min_widths.values()), min_widths
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("", width=min(name_width, max(_MIN_NAME_WIDTH, room)), overflow="fold")
    for suit in suits:
        cut = Text(suit[: widths[suit]], _SUIT_STYLES.get(suit, ""))
        table.add_column(cut, no_wrap=True, width=widths[suit])
    table.add_column("", justify="right", no_wrap=True, width=max(map(len, remarks)))
    for index, (name, _, _) in enumerate(listed):
        table.add_row(name, *(cells[suit][index] for suit in suits), remarks[index])
    return table


def _format_suit_values(suit: str, cards: Iterable[Card]) -> Text:
    """Return the values of one suit, the highest first and bold.

    Only the highest value counts in a bank.
    """
    values = sorted((card.value for card in cards if card.suit == suit), reverse=True)
    # All values have one digit now, but those of a new suit may have two.
    gap = " " if any(value >= 10 for value in values) else ""  # noqa: PLR2004 - two digits
    value_texts = (Text(str(v), style="dim" if i else "bold") for i, v in enumerate(values))
    return Text(gap).join(value_texts)


def position_text(position: StoredPosition, labels: str = "our") -> Group:
    """Return the position of a decision: cards by suit, the pending effect, and known cards."""
    player_bank, opponent_bank = (position.banks[i] for i in (position.me, 1 - position.me))
    rows = (
        (f"{labels} bank", player_bank, _format_points(player_bank)),
        ("their bank", opponent_bank, _format_points(opponent_bank)),
        ("play area", position.play_area, _format_card_count(position.play_area)),
        ("discarded", position.discard_pile, _format_card_count(position.discard_pile)),
        ("unseen", position.unseen, _format_card_count(position.unseen)),
    )
    return Group(suit_table(rows, result_console().width), *_list_remarks(position))


def _list_remarks(position: StoredPosition) -> Iterator[Text]:
    """Yield a line for each visible fact that is not in the table."""
    if position.play_area:
        yield _format_remark(
            "play area, in order", Text(", ").join(map(card_text, position.play_area))
        )
    pending = position.pending
    if pending is not None:
        cards = ", ".join(map(sentences.card_text, pending.cards))
        owed = f", {pending.kraken_count} more to draw" if pending.kraken_count else ""
        yield _format_remark("to be answered", f"{pending.effect} {cards}".strip() + owed)
    if position.known_top is not None:
        yield _format_remark("next card", card_text(position.known_top))
    elif position.unseen and position.play_area:
        lying = {card.suit for card in position.play_area}
        unseen_count, bad = (
            len(position.unseen),
            sum(card.suit in lying for card in position.unseen),
        )
        odds_text = (
            f"{bad} of {count_text(unseen_count, 'card')} ({format_percent(bad / unseen_count)})"
        )
        yield _format_remark("a draw busts with", odds_text)


def _format_remark(name: str, text: Text | str) -> Text:
    return Text.assemble((f"{name:23}", "dim"), text)


def _format_card_count(cards: Sequence[object]) -> str:
    return count_text(len(cards), "card")


def _format_points(bank: Iterable[Card]) -> str:
    return count_text(Bank().with_cards(bank).score, "point")
