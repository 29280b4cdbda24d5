"""Stored matches of every game, for the tests of what shows them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.deadmansdraw.recorded import told
from cardsharp.games import game
from support.games import Decides, Kept, played
from support.recorded import Matches, looks

PLAYERS = {"deadmansdraw": "draw-3", "blef": "threshold", "euchre": "rules"}
"""Players that are quick and have reasons."""

HOSTILE = "<script>alert(1)</script>"


def any_match(name: str, seed: int = 1) -> Kept:
    """A whole match of that game, with the reasons of both players."""
    of = game(name)
    return played(of, [Decides(of, PLAYERS[name], seed + one) for one in (0, 1)], seed)


def named(match: Kept, *names: str) -> Kept:
    """The match between players of other names."""
    record, moves = match
    header = {**record.header, "names": names, "players": names, "opponent": None}
    return replace(record, header=header), moves


@dataclass(frozen=True)
class OneMatch:
    """A source of pages that has one match."""

    record: MatchRecord
    told: list[MoveRecord]
    pause: timedelta = timedelta()

    def matches(self, _day: date | None, _status: Status | None, _limit: int) -> list[MatchRecord]:
        return [self.record]

    def match(self, match_id: str) -> MatchRecord | None:
        return self.record if match_id == self.record.match_id else None

    def moves(self, match_id: str) -> list[MoveRecord]:
        return self.told if match_id == self.record.match_id else []


def recorded_matches(matches: Matches) -> Iterator[Kept]:
    """The recorded matches of the arena, as the log would have them."""
    for trace in matches.started():
        *_, last = looks(trace)
        moment = {"started_at": "2023-11-06T10:00:00.000Z", "id": trace["name"]}
        yield told(last.view.model_copy(update=moment))
