"""`cardsharp why`: each of our decisions in a turn, and what it was made of."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from cardsharp.deadmansdraw.bank import Bank
from cardsharp.deadmansdraw.cards import Card
from cardsharp.errors import ConfigError
from workbench.cli.documents import step_document
from workbench.cli.drawing import Labels, card_text, happenings, suit_table
from workbench.cli.lookup import find_match, open_to_read
from workbench.cli.options import Json, Match, Store
from workbench.cli.output import print_json, results
from workbench.cli.records import Intent, PositionRecord, header_of
from workbench.cli.show import pick_turn, print_title
from workbench.cli.turns import Step, Turn, card_of, turns_of


def why(
    match: Match,
    turn: Annotated[int, Parameter(help="The turn's number, counted from 1.")],
    /,
    *,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Print what we saw, weighed and chose at each decision of a turn."""
    with open_to_read(store) as log:
        record = find_match(log, match)
        turns = turns_of(log.moves(record.match_id))
    chosen = pick_turn(turns, turn)
    labels = Labels.of(header_of(record))
    if not chosen.decisions:
        raise ConfigError(_not_ours(turns, chosen, labels))
    if as_json:
        print_json([step_document(step) for step in chosen.decisions])
        return
    console = results()
    print_title(console, record, labels)
    for number, step in enumerate(chosen.decisions, 1):
        print_decision(console, chosen, number, step)


def _not_ours(turns: Sequence[Turn], turn: Turn, labels: Labels) -> str:
    """Whose turn it was, and which are ours."""
    ours = ", ".join(str(t.number) for t in turns if t.decisions) or "none"
    return (
        f"Turn {turn.number} was not decided by us but by {labels.name(turn.player)}; "
        f"our turns: {ours}."
    )


def print_decision(console: Console, turn: Turn, number: int, step: Step) -> None:
    """One decision: the table, the options, the choice, the reason and what came of it."""
    intent = step.intent or Intent()
    console.print()
    count = len(turn.decisions)
    console.rule(f"turn {turn.number}, decision {number} of {count}", align="left", style="dim")
    if intent.position is not None:
        console.print(_position(intent.position))
        console.print()
    if intent.options:
        console.print(_options(intent))
        console.print()
    console.print(Text.assemble(("chosen  ", "dim"), (intent.action, "bold"), "  ", intent.because))
    if intent.fault:
        console.print(Text.assemble(("fault   ", "dim"), (intent.fault, "red")))
    console.print(Text.assemble(("then    ", "dim"), _then(step)))
    console.print(Text.assemble(("by      ", "dim"), _by(step, intent)))


def _then(step: Step) -> Text:
    """What came of a decision."""
    if not step.events:
        return Text("nothing that the arena has told yet")
    return happenings(step.events) or Text("the turn ended")


def _by(step: Step, intent: Intent) -> Text:
    parts = [intent.strategy or "no strategy"]
    if intent.took is not None:
        parts.append(f"{intent.decision_ms:.1f} ms")
    parts.append(f"move {step.sequence}")
    return Text(", ".join(parts), style="dim")


def _position(position: PositionRecord) -> Group:
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


def _remarks(position: PositionRecord) -> list[tuple[str, Text]]:
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


def _bust_chance(position: PositionRecord) -> str:
    """How many of the unseen cards have a suit that lies in the play area."""
    lying = {card.suit for card in _cards(position.play_area)}
    bad = sum(card.suit in lying for card in _cards(position.unseen))
    return f"{bad} of {len(position.unseen)} cards ({bad / len(position.unseen):.0%})"


def _options(intent: Intent) -> Table:
    """What was weighed, the best first; the choice is marked."""
    table = Table(box=None, padding=(0, 2), pad_edge=False)
    table.add_column("")
    table.add_column("option")
    table.add_column("value", justify="right")
    table.add_column("note")
    for option in sorted(intent.options, key=lambda option: -option.value):
        chosen = option.action == intent.action
        mark, style = (">", "bold") if chosen else ("", "")
        table.add_row(mark, option.action, f"{option.value:.2f}", option.note, style=style)
    return table


def _count(cards: Sequence[object]) -> str:
    return "1 card" if len(cards) == 1 else f"{len(cards)} cards"


def _cards(names: Sequence[str]) -> tuple[Card, ...]:
    return tuple(card_of(name) for name in names)
