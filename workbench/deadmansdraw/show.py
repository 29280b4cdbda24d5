"""A match in a terminal, turn by turn, while it is played or later, and why we did what we did."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from cardsharp.cloud.ports import MatchLog, MatchRecord, MoveRecord
from cardsharp.deadmansdraw import events
from cardsharp.deadmansdraw.replay import EventStep, Turn, position_of, turns_of
from cardsharp.errors import StoreError
from cardsharp.replay import Header, Outcome, Step, header_of, outcome_of
from workbench.deadmansdraw.drawing import (
    Labels,
    happenings,
    note_row,
    position_drawn,
    suit_table,
    turn_row,
)
from workbench.show.display import DisplayGuard
from workbench.show.drawing import StepByStep, decision_text, in_turn, print_end, print_title
from workbench.show.output import messages, results, tell
from workbench.show.progress import Bar
from workbench.stage.side import Glance

SILENCE = 2.0  # seconds until a line tells how far the matches are, where there is no bar
TAG_LENGTH = 6  # last digits of a match's id, which tell the matches of one arena apart


class Watch:
    """Tells everything about matches once, in order, as the log gets it.

    `tagged` marks each line with its match, for many at once. Of one match alone the banks are
    shown at the end, and its result is left to whoever had it played. `as_json` is for programs:
    one JSON document a line.
    """

    def __init__(
        self,
        log: MatchLog,
        opponent: str | None = None,
        *,
        tagged: bool = False,
        as_json: bool = False,
    ) -> None:
        self._log, self._opponent, self._tagged, self._as_json = log, opponent, tagged, as_json
        self._turns = Counter[str]()
        self._ended: set[str] = set()

    def glance(self, matches: Sequence[str]) -> None:
        """Tell what is new of these matches."""
        for match_id in matches:
            self._look_at(match_id)

    def ended(self, match_id: str) -> bool:
        """Whether a match's end has been told."""
        return match_id in self._ended

    def _look_at(self, match_id: str) -> None:
        # The header first: what is recorded after it was finished is seen the next time.
        record = self._log.match(match_id)
        if record is None or not record.header or self.ended(match_id):
            return
        header, outcome = header_of(record), outcome_of(record)
        labels = Labels.of(header, self._opponent)
        if match_id not in self._turns:
            told = header.model_dump(by_alias=True)
            self._tell("began", match_id, told, Text(f"match {match_id}: {labels.title()}", "bold"))
            self._turns[match_id] = 0
        try:
            self._tell_turns(match_id, labels)
        finally:  # the end is told also where the moves cannot be read
            if outcome is not None:
                self._tell_end(match_id, outcome, labels)

    def _tell_turns(self, match_id: str, labels: Labels) -> None:
        over = [turn for turn in turns_of(self._log.moves(match_id)) if turn.over]
        for turn in over[self._turns[match_id] :]:
            self._turns[match_id] += 1
            self._tell("turn", match_id, turn_document(turn), *self._drawn(match_id, turn, labels))

    def _tell_end(self, match_id: str, outcome: Outcome, labels: Labels) -> None:
        self._ended.add(match_id)
        score = "" if outcome.scores is None else f", {labels.score(outcome.scores)}"
        line = f"match {match_id}: {outcome.result}{score}, in {outcome.turns} turns"
        lines = [Text(line, "bold")] if self._tagged else []
        self._tell("ended", match_id, outcome.model_dump(by_alias=True), *lines)

    def _drawn(self, match_id: str, turn: Turn, labels: Labels) -> Iterator[Table | str]:
        """A turn in a line; under one of ours, the decision that ended it or went wrong."""
        tag = match_id[-TAG_LENGTH:] if self._tagged else ""
        yield turn_row(turn, labels, tag)
        if turn.decisions:
            yield note_row(decision_text(turn.decisions[-1].ours, brief=True), labels, tag)
        if turn.last and not self._tagged:
            yield ""
            yield banks_table(turn, labels)

    def _tell(self, event: str, match_id: str, told: Mapping[str, object], *lines: object) -> None:
        tell({"event": event, "match": match_id, **told}, *lines, as_json=self._as_json)


def banks_table(turn: Turn, labels: Labels) -> Table:
    """Both banks after a turn, ours first."""
    after, names = turn.after, labels.names
    rows = ((names[one], after[one], str(after[one].score)) for one in labels.order)
    return suit_table(rows, results().width)


Check = Callable[[MatchLog, Sequence[str]], None]  # raises where running ones are to stop


def let_go_on(_log: MatchLog, _running: Sequence[str]) -> None:
    """Stop no match."""


def watched(  # noqa: PLR0913 - what is played, and how it is told
    log: MatchLog,
    play: Callable[[Glance], Iterator[str]],
    check: Check,
    *,
    total: int,
    as_json: bool,
    opponent: str | None = None,
) -> list[str]:
    """The ids of `total` matches as they end; one is shown, of several the number.

    `play` plays them, and tells its argument, and so `check`, again and again which run.
    """
    one = total == 1 and not as_json
    watch, guard = Watch(log, opponent), DisplayGuard()

    def glance(running: Sequence[str]) -> None:
        for match_id in running if one else ():
            guard.run(partial(watch.glance, [match_id]), f"Match {match_id}")
        try:
            check(log, running)
        except StoreError as error:
            guard.report(f"Faults of the strategy cannot be looked for: {error}")

    ended = play(glance)
    ids = list(ended if one or as_json else _counted(ended, log, total))
    glance(ids)
    return ids


def _counted(ended: Iterable[str], log: MatchLog, total: int) -> Iterator[str]:
    """The ids of `ended` as they come, behind a progress bar or, where none is seen, a line."""
    console, tally, told = messages(), Counter[str](), time.monotonic()
    with Bar(total, "playing") as bar:
        for number, match_id in enumerate(ended, 1):
            yield match_id
            record = log.match(match_id)
            body = None if record is None else record.outcome
            tally["unknown" if body is None else str(body.get("result"))] += 1
            said = ", ".join(f"{number} {result}" for result, number in tally.items())
            bar.describe(said)
            bar.advance()
            if not console.is_terminal and time.monotonic() - told > SILENCE:
                told = time.monotonic()
                console.print(f"{number} of {total} matches: {said}")


def turn_document(turn: Turn) -> dict[str, object]:
    """A turn: its moves, what they brought, and the banks after it."""
    return {
        "turn": turn.number,
        "player": turn.player,
        "over": turn.over,
        "bust": None if turn.ended is None else not turn.ended.successful,
        "gain": None if turn.player is None else turn.gain(turn.player),
        "scores": [bank.score for bank in turn.after],
        "banks": [[str(card) for card in bank] for bank in turn.after],
        "moves": [step_document(step) for step in turn.steps],
    }


def step_document(step: EventStep) -> dict[str, object]:
    """A move: its events in few words, and the decision behind it where it was ours."""
    told = [_EVENTS[type(one)](one) for one in step.events if type(one) in _EVENTS]
    intent = step.ours
    return {
        "move": step.sequence,
        "player": step.seat,
        "events": told,
        "decision": None if intent is None else intent.model_dump(mode="json", by_alias=True),
    }


_EVENTS: Mapping[type, Callable[[Any], dict[str, object]]] = {
    events.TurnEnded: lambda one: {
        "turnEnded": "banked" if one.successful else "bust",
        "bonus": one.bonus and [str(card) for card in one.bonus],
    },
    events.MatchEnded: lambda one: {"matchEnded": list(one.scores), "winner": one.winner},
    events.Comment: lambda one: {"comment": one.text},
    events.Drawn: lambda one: {"drawn": str(one.card)},
    events.CardPlaced: lambda one: {"placed": str(one.card)},
    events.CardRemoved: lambda one: {"removed": str(one.card), "bank": one.bank_index},
    events.EffectPlayed: lambda one: {
        "effect": one.effect.effect_type.value,
        "cards": [str(card) for card in one.effect.cards],
    },
    events.EffectAnswered: lambda one: {
        "answered": str(one.effect_type),
        "card": one.card and str(one.card),
    },
}
"""Each event but the beginning of a turn, which tells nothing new."""


class TurnByTurn(StepByStep[EventStep]):
    """Draws each turn as a line, our decisions under it, and the banks at the end."""

    def told(
        self, _record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None = None
    ) -> dict[str, object]:
        """The turns for programs."""
        return {"turns": [turn_document(one) for one in _turns(moves, turn)]}

    def show(
        self, record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None = None
    ) -> None:
        """Print who did what, why, and the score after each turn."""
        chosen = _turns(moves, turn)
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

    def title(self, header: Header) -> str:
        """Ours are named first, by their strategies."""
        return Labels.of(header).title()

    def name(self, step: EventStep, header: Header) -> str:
        """What whoever moved is called."""
        return "" if step.seat is None else Labels.of(header).name(step.seat)

    def document(self, step: EventStep) -> dict[str, object]:
        """A step for programs, with its events."""
        return step_document(step)

    def then(self, step: EventStep) -> Text:
        """The events that came of a decision."""
        if not step.events:
            return Text("nothing that the arena has told yet")
        return happenings(step.events) or Text("the turn ended")

    def seen(self, step: Step) -> Group | None:
        """The table as whoever decided saw it, None where that is not kept."""
        position = None if step.ours is None else position_of(step.ours)
        return None if position is None else position_drawn(position)


def _turns(moves: Sequence[MoveRecord], number: int | None) -> list[Turn]:
    return in_turn(turns_of(moves), number, lambda turn: turn.number)


DRAWING = TurnByTurn(lambda _record, moves: chain(*(turn.steps for turn in turns_of(moves))))
