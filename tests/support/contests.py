"""Contests that were held as far as a test wants, without an arena, and what keeps them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.contest.entries import Entrant, Meeting, Result, Settings, Standing, result_of
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.ladder import next_pairings
from cardsharp.contest.pairing import Decision, Pairing
from cardsharp.contest.practice import ratings_of_meetings
from cardsharp.contest.records import Records
from cardsharp.contest.tables import Facts
from cardsharp.deadmansdraw.actions import DRAW
from cardsharp.deadmansdraw.arena import match as at_arena
from cardsharp.deadmansdraw.arena.creation import parse_wish
from cardsharp.deadmansdraw.arena.match import Match, Origin, act, begin
from cardsharp.deadmansdraw.arena.randomness import Randomness
from cardsharp.deadmansdraw.contest.page_routes import ContestPages
from cardsharp.keep.dynamodb import DynamoKeep
from cardsharp.keep.sqlite import SqliteKeep
from support.arena import HandClock, running_arena
from support.cloud_benches import FakeClock
from workbench.arena.server import ArenaServer
from workbench.cloud.template import create_table

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

NAMES = (
    "Weekend Bananas", "Pathormous Almasastic", "Goal Diggers", "AAACreaticeCoders", "Kraken Kids",
    "Sword & Sons", "Null Pointers", "Stack Overboard", "The Map Reducers", "Anchors Away",
    "Oracle of Delphi", "Segfault Sailors", "Mermaid Hunters", "Git Happens", "Dead Reckoning",
    "Ctrl Alt Defeat", "Cannon Fodder", "Bits & Pirates", "Hook Line Sinker", "Treasure Trove",
)  # fmt: skip

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "'); alert(1); ('",
    "\u202egnp.exe\u202c\u200f",
    "\u05d0\u05d1\u05d2 \u200f123",
    "{{ 7 * 7 }}",
    "&lt;b&gt;",
    "W" * 100,
    "Z\u0335\u0321\u0322" * 20,
)
"""What somebody hostile would call their team."""


def teams(number: int) -> list[str]:
    """So many names, all different."""
    return [
        NAMES[place] if place < len(NAMES) else f"{NAMES[place % len(NAMES)]} {place // len(NAMES)}"
        for place in range(number)
    ]


def founded(teams: int | Sequence[str], **settings: Any) -> Records:  # noqa: ANN401 - of `Settings`
    """A contest of so many teams, or of those names, which forgets itself."""
    told = Settings(**{"name": "cup", "matches": 3, "most": 9, "seed": "secret", **settings})
    records = ContestsKept(SqliteKeep(MEMORY, FakeClock())).found(told)
    names = [f"Team {number}" for number in range(teams)] if isinstance(teams, int) else teams
    for number, name in enumerate(names):
        records.add(Entrant(f"{number:024x}", name, token_hex(16)))
    return records


def held(
    names: Sequence[str],
    decided: int | None = None,
    upset: Iterable[str] = (),
    **told: Any,  # noqa: ANN401 - of `Settings`
) -> tuple[Records, dict[str, Match]]:
    """A contest of which so many pairings are decided, all without a number; and what runs.

    The better seed wins as a rule, but the other one in the pairings `upset`.
    """
    records = founded(names, **{"matches": 7, "most": 21, **told})
    settings = records.settings
    records.begin()
    chance, ids = Random(len(names)), [team.id for team in records.teams()]
    ends: dict[str, Decision] = {}
    facts: dict[str, list[Facts]] = {}
    most = 10**6 if decided is None else decided

    def waiting() -> list[Pairing]:
        known = settings.form.pairings(ids, ends)
        return [one for one in known if one.key not in ends][: most - len(ends)]

    while together := waiting():
        for pairing in together:
            played, odds = list[Facts](), 0.2 if pairing.key in upset else 0.8
            while (end := settings.rules.decision(pairing, played)) is None:
                played.append(_facts(chance, odds))
            ends[pairing.key], facts[pairing.key] = end, played
    results, running = list[Result](), dict[str, Match]()
    for number, pairing in enumerate(settings.form.pairings(ids, ends)):
        is_running = pairing.key not in ends and number % 3
        played = [_facts(chance, 0.6)] * (settings.matches // 3) if is_running else []
        played = facts.get(pairing.key, played)
        matches = [f"{number:012x}{place:012x}" for place in range(len(played) + bool(is_running))]
        if is_running:
            running[matches[-1]] = table(matches[-1], pairing)
        end = ends.get(pairing.key)
        results.append(result_of(pairing, end, tuple(played), tuple(matches), None))
    records.keep(results)
    return records, running


def table(match_id: str, pairing: Pairing) -> Match:
    """A match in which a card was drawn."""
    params = parse_wish({"timeout": 7}, match_id)
    origin = Origin(HandClock().now)
    match, _ = begin(
        match_id, at_arena.Pairing(pairing.teams, None), params, Randomness.FAIR, origin
    )
    return act(match, DRAW, origin)[0]


def _facts(chance: Random, odds: float) -> Facts:
    winner = int(chance.random() > odds)
    high, low = 40 + chance.randrange(25), 15 + chance.randrange(25)
    points = (high, low) if winner == 0 else (low, high)
    busts = (chance.randrange(5), chance.randrange(5))
    late = (int(chance.random() < 0.05), int(chance.random() < 0.05))
    return Facts(points, winner, 42 + 60 * chance.random(), 24 + chance.randrange(12), busts, late)


def practised(records: Records, matches: int) -> None:
    """Practice of so many matches, in which the better seed wins more often."""
    chance, ids = Random(matches), [team.id for team in records.teams()]
    meetings: list[Meeting] = []
    start = datetime(2026, 11, 20, 12, tzinfo=UTC)
    while len(meetings) < matches:
        for pairing in next_pairings(ids, [one.pairing for one in meetings], (), {}):
            number = len(meetings) + 1
            seeds = [ids.index(team) for team in pairing.teams]
            facts = _facts(chance, 0.5 + 0.45 * (seeds[1] - seeds[0]) / len(ids))
            at = start + timedelta(minutes=number)
            meeting = Meeting(number, pairing.teams, f"{number:024x}", at, facts)
            meetings.append(meeting)
            records.add_meeting(meeting)
            if number % len(ids) == 0:
                records.add_standing(Standing(number, at, ratings_of_meetings(meetings)))


# --- in the cloud -----------------------------------------------------------------------------

ARENA_TABLE = "deadmansdrawTable"


@contextmanager
def arena_table(client: "DynamoDBClient") -> Iterator[DynamoTable]:
    """An arena's table, new and empty."""
    table = DynamoTable(create_table(client, ARENA_TABLE), client)
    yield table
    client.delete_table(TableName=table.name)


def contests_in(table: DynamoTable, client: "DynamoDBClient") -> ContestsKept:
    """The contests of an arena's table."""
    return ContestsKept(DynamoKeep(table.name, SystemClock(), client))


# --- at an arena ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Show:
    """An arena that shows a contest, one match of which runs unless it is over."""

    arena: ArenaServer
    records: Records
    clock: HandClock
    match: str

    @property
    def address(self) -> str:
        return f"{self.arena.url}/contest"

    def late(self) -> None:
        """The turn of the match runs out of time, and spectators are answered anew."""
        self.clock.turn(timedelta(seconds=9))
        self.arena._call(self.arena._arena.referee.end_overdue_turns)

    def decide(self) -> None:
        """The pairing of the match is won by its first team, and nothing runs any more."""
        results = self.records.results()
        (at,) = (at for at, one in enumerate(results) if self.match in one.matches)
        won = Facts((40, 30), 0, 61.0, 20, (1, 2), (0, 0))
        winner = results[at].teams[0]
        results[at] = replace(
            results[at], facts=(won,), wins=(1, 0), winner=winner, decided=True, ruled="it was late"
        )
        self.records.keep(results)
        self.clock.turn(timedelta(seconds=9))


def contest_shown(
    folder: Path, names: Sequence[str], decided: int | None, practice: int = 0
) -> Iterator[Show]:
    """A contest of which so many pairings are decided, None for all, in rounds of one match."""
    records, _ = held(names, decided)
    if practice:
        practised(records, practice)
    players = [{"_id": one.id, "name": one.name, "ha1": one.ha1} for one in records.teams()]
    (folder / "players.json").write_text(json.dumps(players))
    clock = HandClock()
    pages = ContestPages(lambda: ContestsKept(records.documents))
    told = {"players": folder / "players.json", "clock": clock, "public": True, "more": pages}
    with running_arena(folder, **told) as (arena, _):
        yield Show(arena, records, clock, _begun(arena, records))


def _begun(arena: ArenaServer, records: Records) -> str:
    """The id of a match of the first pairing that is not decided, which begins; else nothing."""
    results = [replace(one, matches=one.matches[: len(one.facts)]) for one in records.results()]
    at = next((at for at, one in enumerate(results) if not one.decided), None)
    if at is None:
        return ""
    tags = (f"cup_Round{results[at].round}", "cup")
    match = arena.create_match(results[at].teams, tags=tags, timeout=timedelta(seconds=7))
    results[at] = replace(results[at], facts=(), matches=(match,))
    records.keep(results)
    return match
