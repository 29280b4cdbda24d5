"""A match in a terminal, turn by turn, and our decisions with the table that we saw."""

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deadmansdraw.bank import Bank
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.replay import (
    EventStep,
    StoredPosition,
    Turn,
    card_of,
    position_of,
    turns_of,
)
from cardsharp.errors import ConfigError
from cardsharp.replay import Step, header_of, outcome_of
from workbench.deadmansdraw.documents import step_document, turn_document
from workbench.deadmansdraw.drawing import (
    Labels,
    card_text,
    happenings,
    note_row,
    suit_table,
    turn_row,
)
from workbench.deadmansdraw.watching import banks_table
from workbench.show.decisions import decision_text, print_decision
from workbench.show.drawing import match_document, no_turn, not_ours, print_end, print_title
from workbench.show.output import print_json, results


def show(
    record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None, *, as_json: bool
) -> None:
    """Print who did what, why, and the score after each turn."""
    turns = turns_of(moves)
    chosen = turns if turn is None else [_pick(turns, turn)]
    if as_json:
        print_json({**match_document(record), "turns": [turn_document(one) for one in chosen]})
        return
    console, labels = results(), Labels.of(header_of(record))
    print_title(console, record, labels.title())
    for one in chosen:
        console.print(turn_row(one, labels))
        for step in one.decisions:
            console.print(note_row(decision_text(step.ours), labels))
    if chosen:
        console.print()
        console.print(banks_table(chosen[-1], labels))
    outcome = outcome_of(record)
    scores = None if outcome is None else outcome.scores
    print_end(console, record, outcome, "" if scores is None else labels.score(scores))


def why(record: MatchRecord, moves: Sequence[MoveRecord], turn: int, *, as_json: bool) -> None:
    """Print what we saw, weighed and chose at each decision of a turn."""
    turns, labels = turns_of(moves), Labels.of(header_of(record))
    chosen = _pick(turns, turn)
    if not chosen.decisions:
        ours = [one.number for one in turns if one.decisions]
        raise ConfigError(not_ours(turn, labels.name(chosen.player), ours))
    if as_json:
        print_json([step_document(step) for step in chosen.decisions])
        return
    console, count = results(), len(chosen.decisions)
    print_title(console, record, labels.title())
    for number, step in enumerate(chosen.decisions, 1):
        title = f"turn {turn}, decision {number} of {count}"
        print_decision(console, title, step, seen(step), _then(step))


def _pick(turns: Sequence[Turn], number: int) -> Turn:
    """The turn of this number; raises `ConfigError` where there is none."""
    for turn in turns:
        if turn.number == number:
            return turn
    raise no_turn(number, turns[-1].number if turns else 0)


def seen(step: Step) -> Group | None:
    """The table as whoever decided saw it, None where that is not kept."""
    position = None if step.ours is None else position_of(step.ours)
    return None if position is None else _drawn(position)


def _then(step: EventStep) -> Text:
    """What came of a decision."""
    if not step.events:
        return Text("nothing that the arena has told yet")
    return happenings(step.events) or Text("the turn ended")


def _drawn(position: StoredPosition) -> Group:
    """The table as we saw it: places by suit, then what is pending and known."""
    own, other = (_cards(position.banks[i]) for i in (position.me, 1 - position.me))
    unseen = _cards(position.unseen)
    rows = (
        ("our bank", own, f"{Bank().with_cards(own).score} points"),
        ("their bank", other, f"{Bank().with_cards(other).score} points"),
        ("play area", _cards(position.play_area), _count(position.play_area)),
        ("discarded", _cards(position.discard_pile), _count(position.discard_pile)),
        ("unseen", unseen, _count(unseen)),
    )
    lines = [Text.assemble((f"{name}  ", "dim"), text) for name, text in _remarks(position)]
    return Group(suit_table(rows), *lines)


def _remarks(position: StoredPosition) -> list[tuple[str, Text]]:
    remarks = []
    if position.play_area:
        area = Text(" ").join(card_text(card) for card in _cards(position.play_area))
        remarks.append(("play area, in order ", area))
    pending = position.pending
    if pending is not None:
        cards = " ".join(pending.cards)
        owed = f", {pending.kraken_count} forced draws" if pending.kraken_count else ""
        remarks.append(("to be answered       ", Text(f"{pending.effect} {cards}".strip() + owed)))
    if position.known_top is not None:
        remarks.append(("next card            ", card_text(card_of(position.known_top))))
    elif position.unseen and position.play_area:
        remarks.append(("a draw busts with    ", Text(_bust_chance(position))))
    return remarks


def _bust_chance(position: StoredPosition) -> str:
    """How many of the unseen cards have a suit that lies in the play area."""
    lying = {card.suit for card in _cards(position.play_area)}
    bad = sum(card.suit in lying for card in _cards(position.unseen))
    return f"{bad} of {len(position.unseen)} cards ({bad / len(position.unseen):.0%})"


def _count(cards: Sequence[object]) -> str:
    return "1 card" if len(cards) == 1 else f"{len(cards)} cards"


def _cards(names: Sequence[str]) -> tuple[Card, ...]:
    return tuple(card_of(name) for name in names)
