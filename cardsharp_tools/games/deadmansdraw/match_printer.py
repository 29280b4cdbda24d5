"""Matches in a terminal, turn by turn, while they are played or later, with our reasons."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from cardsharp.analysis.replay import (
    Header,
    Outcome,
    ReplayStep,
    header_of,
    outcome_of,
)
from cardsharp.core.sentences import count_text
from cardsharp.errors import StoreError
from cardsharp.games.deadmansdraw import events
from cardsharp.games.deadmansdraw.history.replay import (
    EventReplayStep,
    ReplayTurn,
    match_turns,
    parse_stored_position,
)
from cardsharp.games.deadmansdraw.sentences import label_action
from cardsharp.store.match_log import MatchLog, MatchRecord, MoveRecord
from cardsharp_tools.cli.console import message_console, print_json_or_lines, result_console
from cardsharp_tools.games.deadmansdraw.turn_text import (
    add_detail_row,
    add_turn_row,
    events_text,
    position_text,
    suit_table,
    turn_table,
)
from cardsharp_tools.terminal.display import DisplayErrorGuard
from cardsharp_tools.terminal.match_printer import (
    StepPrinter,
    decision_text,
    print_end,
    print_title,
    select_turn_parts,
)
from cardsharp_tools.terminal.player_labels import PlayerLabels
from cardsharp_tools.terminal.progress import ProgressBar

if TYPE_CHECKING:
    from cardsharp_tools.local_play.bot_runtime import OnRunning  # the bot is slow to import

PROGRESS_INTERVAL_SECONDS = 2.0  # between two lines of progress, if there is no bar
TAG_LENGTH = 6  # last digits of a match's id, which distinguish the matches of an arena


class LiveMatchPrinter:
    """Printer of running matches: it prints each new event of the log once and in order.

    `tagged` marks each line with its match, for several matches at once. For a single match the
    banks are shown at the end, and the caller prints the result. `as_json` prints JSON documents
    instead, one per line.
    """

    def __init__(
        self,
        log: MatchLog,
        opponent: str | None = None,
        *,
        show_match_tag: bool = False,
        as_json: bool = False,
    ) -> None:
        self._log, self._opponent, self._show_match_tag, self._as_json = (
            log,
            opponent,
            show_match_tag,
            as_json,
        )
        self._printed_turn_counts = Counter[str]()
        self._finished_match_ids: set[str] = set()

    def print_new_events(self, matches: Sequence[str]) -> None:
        """Print the new events of these matches."""
        for match_id in matches:
            self._print_match_update(match_id)

    def is_end_printed(self, match_id: str) -> bool:
        """Return True if the end of a match has been reported."""
        return match_id in self._finished_match_ids

    def _print_match_update(self, match_id: str) -> None:
        # Read the header first. If the match ends after that, the next update prints the rest.
        record = self._log.match(match_id)
        if record is None or not record.header or self.is_end_printed(match_id):
            return
        header, outcome = header_of(record), outcome_of(record)
        labels = PlayerLabels.from_header(header, self._opponent)
        if match_id not in self._printed_turn_counts:
            document = header.model_dump(by_alias=True)
            self._print_event(
                "began", match_id, document, Text(f"match {match_id}: {labels.title()}", "bold")
            )
            self._printed_turn_counts[match_id] = 0
        try:
            self._print_new_turns(record, labels)
        finally:  # the end is printed even if the moves cannot be read
            if outcome is not None:
                self._print_end(match_id, outcome, labels)

    def _print_new_turns(self, record: MatchRecord, labels: PlayerLabels) -> None:
        match_id = record.match_id
        over = [turn for turn in match_turns(record, self._log.moves(match_id)) if turn.is_over]
        for turn in over[self._printed_turn_counts[match_id] :]:
            self._printed_turn_counts[match_id] += 1
            self._print_event(
                "turn", match_id, turn_document(turn), *self._format_turn(match_id, turn, labels)
            )

    def _print_end(self, match_id: str, outcome: Outcome, labels: PlayerLabels) -> None:
        self._finished_match_ids.add(match_id)
        score = "" if outcome.scores is None else f", {labels.score_text(outcome.scores)}"
        turns = count_text(outcome.turns, "turn")
        line = f"match {match_id}: {outcome.result}{score}, in {turns}"
        lines = [Text(line, "bold")] if self._show_match_tag else []
        self._print_event("ended", match_id, outcome.model_dump(by_alias=True), *lines)

    def _format_turn(
        self, match_id: str, turn: ReplayTurn, labels: PlayerLabels
    ) -> Iterator[Table | str]:
        """Yield the line of a turn.

        For our own turn, add the decision that ended it or failed; after the last turn, the
        banks.
        """
        tag = match_id[-TAG_LENGTH:] if self._show_match_tag else ""
        table = turn_table(labels, tag)
        add_turn_row(table, turn, labels, tag)
        if turn.steps_with_own_decision:
            decision = PRINTER.labelled_decision(turn.steps_with_own_decision[-1])
            add_detail_row(table, decision_text(decision, hide_failure=True), tag)
        yield table
        if turn.is_last and not self._show_match_tag:
            yield ""
            yield banks_table(turn, labels)

    def _print_event(
        self, event: str, match_id: str, document: Mapping[str, object], *lines: object
    ) -> None:
        print_json_or_lines(
            {"event": event, "match": match_id, **document}, *lines, as_json=self._as_json
        )


def banks_table(turn: ReplayTurn, labels: PlayerLabels) -> Table:
    """Return a table of both banks after a turn, ours first."""
    banks, names = turn.final_banks, labels.names
    rows = ((names[seat], banks[seat], str(banks[seat].score)) for seat in labels.player_order)
    return suit_table(rows, result_console().width)


# raises an error if running matches must stop
StopCheck = Callable[[MatchLog, Sequence[str]], None]


def ignore_running_matches(_log: MatchLog, _running: Sequence[str]) -> None:
    """Do nothing: the check of running matches that never stops one."""


def play_and_print_matches(  # noqa: PLR0913 - what is played, and how it is told
    log: MatchLog,
    play: "Callable[[OnRunning], Iterator[str]]",
    check: StopCheck,
    *,
    match_count: int,
    as_json: bool,
    opponent: str | None = None,
) -> list[str]:
    """Print matches as they are played, and return their ids in the order of their ends.

    A single match is printed; for several, only the number of finished matches.
    """
    is_single = match_count == 1 and not as_json
    watch, guard = LiveMatchPrinter(log, opponent), DisplayErrorGuard()

    def glance(running: Sequence[str]) -> None:
        for match_id in running if is_single else ():
            guard.run(partial(watch.print_new_events, [match_id]), f"Match {match_id}")
        try:
            check(log, running)
        except StoreError as error:
            guard.report_once(f"The strategy's failures cannot be read: {error}")

    finished_ids = play(glance)
    ids = list(
        finished_ids if is_single or as_json else _show_progress(finished_ids, log, match_count)
    )
    glance(ids)
    return ids


def _show_progress(finished_ids: Iterable[str], log: MatchLog, match_count: int) -> Iterator[str]:
    """Yield the ids of finished matches as they come, and show the progress.

    Progress is a bar on a terminal, otherwise a line from time to time.
    """
    console, tally, last_report = message_console(), Counter[str](), time.monotonic()
    with ProgressBar(match_count, "playing") as bar:
        for finished_count, match_id in enumerate(finished_ids, 1):
            yield match_id
            record = log.match(match_id)
            body = None if record is None else record.outcome
            tally["unknown" if body is None else str(body.get("result"))] += 1
            summary = ", ".join(
                f"{result_count} {result}" for result, result_count in tally.items()
            )
            bar.describe(summary)
            bar.advance()
            if (
                not console.is_terminal
                and time.monotonic() - last_report > PROGRESS_INTERVAL_SECONDS
            ):
                last_report = time.monotonic()
                console.print(f"{finished_count} of {match_count} matches: {summary}")


def turn_document(turn: ReplayTurn) -> dict[str, object]:
    """Return a turn as a JSON document: its moves, its gain, and the banks at its end."""
    return {
        "turn": turn.number,
        "player": turn.player,
        "over": turn.is_over,
        "bust": None if turn.turn_end_event is None else not turn.turn_end_event.is_banked,
        "gain": None if turn.player is None else turn.score_gain(turn.player),
        "scores": [bank.score for bank in turn.final_banks],
        "banks": [[str(card) for card in bank] for bank in turn.final_banks],
        "moves": [step_document(step) for step in turn.steps],
    }


def step_document(step: EventReplayStep) -> dict[str, object]:
    """Return a move as a JSON document: its events and, if it was ours, the decision."""
    event_documents = [
        _EVENT_ENCODERS[type(event)](event)
        for event in step.events
        if type(event) in _EVENT_ENCODERS
    ]
    intent = step.decision
    return {
        "move": step.sequence,
        "player": step.seat,
        "events": event_documents,
        "decision": None if intent is None else intent.model_dump(mode="json", by_alias=True),
    }


_EVENT_ENCODERS: Mapping[type, Callable[[Any], dict[str, object]]] = {
    events.TurnEnded: lambda event: {
        "turnEnded": "banked" if event.is_banked else "bust",
        "bonus": event.bonus and [str(card) for card in event.bonus],
    },
    events.MatchEnded: lambda event: {"matchEnded": list(event.scores), "winner": event.winner},
    events.Comment: lambda event: {"comment": event.text},
    events.CardDrawn: lambda event: {"drawn": str(event.card)},
    events.CardPlaced: lambda event: {"placed": str(event.card)},
    events.CardRemovedFromBank: lambda event: {
        "removed": str(event.card),
        "bank": event.bank_index,
    },
    events.EffectPending: lambda event: {
        "effect": event.effect.effect_type.value,
        "cards": [str(card) for card in event.effect.cards],
    },
    events.EffectAnswered: lambda event: {
        "answered": str(event.effect_type),
        "card": event.card and str(event.card),
    },
}
"""Events as JSON, except for the start of a turn, which has nothing new."""


class TurnPrinter(StepPrinter[EventReplayStep]):
    """Printer of each turn as a line, our decisions below it, and the final banks."""

    def turn_documents(
        self, record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None = None
    ) -> dict[str, object]:
        """Return the turns as JSON documents."""
        chosen = _select_turns(record, moves, turn)
        return {"turns": [turn_document(replay_turn) for replay_turn in chosen]}

    def show(
        self, record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None = None
    ) -> None:
        """Print each turn with its moves, their reasons and the score."""
        chosen = _select_turns(record, moves, turn)
        console, labels = result_console(), PlayerLabels.from_header(header_of(record))
        print_title(console, record, labels.title())
        table = turn_table(labels)
        for replay_turn in chosen:
            add_turn_row(table, replay_turn, labels)
            for step in replay_turn.steps_with_own_decision:
                add_detail_row(table, decision_text(self.labelled_decision(step)))
        if chosen:
            console.print(table)
            console.print()
            console.print(banks_table(chosen[-1], labels))
        outcome = outcome_of(record)
        scores = None if outcome is None else outcome.scores
        print_end(console, record, outcome, "" if scores is None else labels.score_text(scores))

    def title(self, header: Header) -> str:
        """Return the title of the match, with our side first, named by its strategies."""
        return PlayerLabels.from_header(header).title()

    def player_name(self, step: EventReplayStep, header: Header) -> str:
        """Return the display name of the player who moved."""
        return "" if step.seat is None else PlayerLabels.from_header(header).name(step.seat)

    def document(self, step: EventReplayStep) -> dict[str, object]:
        """Return a step as a JSON document, with its events."""
        return step_document(step)

    def resulting_events_text(self, step: EventReplayStep) -> Text:
        """Return the events that a decision led to as text."""
        if not step.events:
            return Text("the arena has not confirmed it yet")
        return events_text(step.events) or Text("the turn ended")

    def position_text(self, step: ReplayStep, _header: Header) -> Group | None:
        """Return the position as the deciding player saw it, or None if it is not stored."""
        position = None if step.decision is None else parse_stored_position(step.decision)
        return None if position is None else position_text(position)


def _select_turns(
    record: MatchRecord, moves: Sequence[MoveRecord], turn_number: int | None
) -> list[ReplayTurn]:
    return select_turn_parts(match_turns(record, moves), turn_number, lambda turn: turn.number)


PRINTER = TurnPrinter(
    lambda record, moves: chain(*(turn.steps for turn in match_turns(record, moves))), label_action
)
