"""Matches shown while they are played, from what the match log gets."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from cardsharp.cloud.ports import MatchLog
from cardsharp.deadmansdraw.replay import Turn, turns_of
from cardsharp.replay import Header, Outcome, header_of, outcome_of
from workbench.deadmansdraw.documents import turn_document
from workbench.deadmansdraw.drawing import Labels, note_row, suit_table, turn_row
from workbench.show.decisions import decision_text
from workbench.show.output import messages, print_json, results
from workbench.show.progress import Bar
from workbench.stage.following import Glance

SILENCE = 2.0  # seconds until a line tells how far the matches are, where there is no bar
TAG_LENGTH = 6  # last digits of a match's id, which tell the matches of one arena apart


@dataclass(slots=True)
class _Followed:
    """How much of a match has been told."""

    header: Header
    turns: int = 0
    ended: bool = False


class Watch:
    """Tells an audience everything about matches once, in order, as the log gets it."""

    def __init__(self, log: MatchLog, audience: "Printed | AsJson") -> None:
        self._log = log
        self._audience = audience
        self._seen: dict[str, _Followed] = {}

    def glance(self, matches: Sequence[str]) -> None:
        """Tell what is new of these matches."""
        for match_id in matches:
            self._look_at(match_id)

    def ended(self, match_id: str) -> bool:
        """Whether a match's end has been told."""
        return match_id in self._seen and self._seen[match_id].ended

    def _look_at(self, match_id: str) -> None:
        # The header first: what is recorded after it was finished is seen the next time.
        record = self._log.match(match_id)
        if record is None or not record.header or self.ended(match_id):
            return
        if match_id not in self._seen:
            self._seen[match_id] = _Followed(header_of(record))
            self._audience.began(match_id, self._seen[match_id].header)
        seen, outcome = self._seen[match_id], outcome_of(record)
        over = [turn for turn in turns_of(self._log.moves(match_id)) if turn.over]
        for turn in over[seen.turns :]:
            self._audience.turn(match_id, seen.header, turn)
        seen.turns = len(over)
        if outcome is not None:
            seen.ended = True
            self._audience.ended(match_id, seen.header, outcome)


class Printed:
    """An audience at a terminal.

    `tagged` marks each line with its match, for many at once. Of one match alone the banks are
    shown at the end, and its result is left to whoever had it played.
    """

    def __init__(self, console: Console, opponent: str | None = None, *, tagged: bool) -> None:
        self._console = console
        self._opponent = opponent
        self._tagged = tagged

    def began(self, match_id: str, header: Header) -> None:
        """Print who plays."""
        labels = Labels.of(header, self._opponent)
        self._console.print(f"match {match_id}: {labels.title()}", style="bold")

    def turn(self, match_id: str, header: Header, turn: Turn) -> None:
        """Print a turn in a line; under one of ours, the decision that ended it or went wrong."""
        labels, tag = Labels.of(header, self._opponent), self._tag(match_id)
        self._console.print(turn_row(turn, labels, tag))
        if turn.decisions:
            decision = decision_text(turn.decisions[-1].ours, brief=True)
            self._console.print(note_row(decision, labels, tag))
        if turn.last and not self._tagged:
            self._console.print()
            self._console.print(banks_table(turn, labels))

    def ended(self, match_id: str, header: Header, outcome: Outcome) -> None:
        """Print the result among those of others."""
        if not self._tagged:
            return
        labels = Labels.of(header, self._opponent)
        score = "" if outcome.scores is None else f", {labels.score(outcome.scores)}"
        result = f"{outcome.result}{score}, in {outcome.turns} turns"
        self._console.print(f"match {match_id}: {result}", style="bold")

    def _tag(self, match_id: str) -> str:
        return match_id[-TAG_LENGTH:] if self._tagged else ""


class AsJson:
    """An audience that is a program: one JSON document a line."""

    def began(self, match_id: str, header: Header) -> None:
        """Print the header."""
        print_json({"event": "began", "match": match_id, **header.model_dump(by_alias=True)})

    def turn(self, match_id: str, header: Header, turn: Turn) -> None:
        """Print the turn with its moves and decisions."""
        del header
        print_json({"event": "turn", "match": match_id, **turn_document(turn)})

    def ended(self, match_id: str, header: Header, outcome: Outcome) -> None:
        """Print the outcome."""
        del header
        print_json({"event": "ended", "match": match_id, **outcome.model_dump(by_alias=True)})


def banks_table(turn: Turn, labels: Labels) -> Table:
    """Both banks after a turn, ours first."""
    rows = (
        (labels.names[player], turn.after[player], str(turn.after[player].score))
        for player in labels.order
    )
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
    """The ids of `total` matches in the order of their ends; one is shown, of several the number.

    `play` plays them, and calls again and again what it is given with those that run; so does
    `check` see them.
    """
    one = total == 1 and not as_json
    watch = Watch(log, Printed(results(), opponent, tagged=False))

    def glance(running: Sequence[str]) -> None:
        if one:
            watch.glance(running)
        check(log, running)

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
            tally[_result(log, match_id)] += 1
            said = ", ".join(f"{number} {result}" for result, number in tally.items())
            bar.describe(said)
            bar.advance()
            if not console.is_terminal and time.monotonic() - told > SILENCE:
                told = time.monotonic()
                console.print(f"{number} of {total} matches: {said}")


def _result(log: MatchLog, match_id: str) -> str:
    record = log.match(match_id)
    outcome = None if record is None else outcome_of(record)
    return "unknown" if outcome is None else outcome.result
