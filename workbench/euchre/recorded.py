"""Deals that the tournament's own coordinator has recorded, decision by decision.

A file has a JSON object a line, gzipped or not; those of `kind` "truth" are whole deals (see
`RecordedDeal`), others are passed over.
"""

import gzip
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play
from cardsharp.euchre.cards import Card
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.rules import apply, start, turn


class _Trick(BaseModel):
    model_config = ConfigDict(frozen=True)

    plays: tuple[tuple[int, Card | None], ...]


class RecordedDeal(BaseModel):
    """A deal as the framework writes it down, numbered as in docs/spec/euchre.md section 2.

    `bids` are suits, -1 for a pass and less for a seat that was not asked, each with whether it was
    alone. `strategies` are the players' kinds by seat. `def_pos` is the lone defender.
    """

    model_config = ConfigDict(frozen=True)

    strategies: tuple[str, str, str, str]
    hands: tuple[tuple[Card, ...], ...]
    turn: Card
    buries: tuple[Card, ...]
    bids: tuple[tuple[int, bool], ...]
    caller_pos: int | None
    go_alone: bool | None
    def_pos: int | None
    discard: Card | None
    tricks: tuple[_Trick, ...]

    @property
    def cards(self) -> tuple[Card, ...]:
        """The 24 cards as they were dealt."""
        return (*(card for hand in self.hands for card in hand), self.turn, *self.buries)

    @property
    def actions(self) -> tuple[Action, ...]:
        """All decisions in order; the discard and the defences are put where they were."""
        bids = [Bid(suit, alone) if suit >= 0 else PASS for suit, alone in self.bids if suit >= -1]
        laid = [] if self.discard is None else [Discard(self.discard)]
        plays = [Play(card) for trick in self.tricks for _, card in trick.plays if card is not None]
        return (*bids, *laid, *self._defences(), *plays)

    def _defences(self) -> Iterator[Defend]:
        """Who was asked to defend alone; the first who does ends it."""
        if self.go_alone and self.caller_pos is not None:
            for seat in ((self.caller_pos + 1) % 4, (self.caller_pos + 3) % 4):
                yield Defend(alone=seat == self.def_pos)
                if seat == self.def_pos:
                    return

    def decisions(self) -> Iterator[tuple[str, Position, Action]]:
        """Every decision: the kind of its player, what that seat saw, and what it did."""
        deal = start(self.cards)
        for action in self.actions:
            now = turn(deal.table)
            if now is None:
                raise ValueError("The deal was over already.")
            yield self.strategies[now.seat], project(deal, now.seat), action
            deal = apply(deal, action)


class _Line(BaseModel):
    kind: str


def read(file: Path) -> Iterator[RecordedDeal]:
    """The deals in a file of them.

    Raises:
        SystemExit: the file is missing, or a line is not what it should be; it says which.
    """
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    if _Line.model_validate_json(line).kind == "truth":
                        yield RecordedDeal.model_validate_json(line)
                except ValidationError as wrong:
                    raise SystemExit(f"{file}, line {number}: {wrong}") from wrong
    except OSError as wrong:
        raise SystemExit(f"{file} cannot be read: {wrong}") from wrong
