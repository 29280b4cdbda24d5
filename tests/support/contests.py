"""Contests played up to a certain point without an arena, and their repositories."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.contest.formats.ladder import next_pairings
from cardsharp.contest.formats.pairing import Pairing, PairingOutcome
from cardsharp.contest.match_host import MatchResultFacts
from cardsharp.contest.models import (
    ContestSettings,
    PairingResult,
    PracticeMatch,
    RatingSnapshot,
    TeamEntry,
    build_result,
)
from cardsharp.contest.practice import practice_ratings
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import SystemClock
from cardsharp.games.deadmansdraw.actions import DRAW
from cardsharp.games.deadmansdraw.arena import match as at_arena
from cardsharp.games.deadmansdraw.arena.match import (
    ArenaMatch,
    RequestTimeAndAddress,
    apply_player_action,
    begin_match,
)
from cardsharp.games.deadmansdraw.arena.match_creation import parse_create_request
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.contest.page_routes import ContestPages
from cardsharp.store.dynamodb_documents import DynamoDocumentStore
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.local_cloud.template_files import create_table
from cardsharp_tools.local_server.arena_server import ArenaServer
from support.arena_server import ManualClock, running_arena
from support.store_fixtures import FakeClock

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

TEAM_NAMES = (
    "Weekend Bananas", "Pathormous Almasastic", "Goal Diggers", "AAACreaticeCoders", "Kraken Kids",
    "Sword & Sons", "Null Pointers", "Stack Overboard", "The Map Reducers", "Anchors Away",
    "Oracle of Delphi", "Segfault Sailors", "Mermaid Hunters", "Git Happens", "Dead Reckoning",
    "Ctrl Alt Defeat", "Cannon Fodder", "Bits & Pirates", "Hook Line Sinker", "Treasure Trove",
)  # fmt: skip

HOSTILE_NAMES = (
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


def team_names(count: int) -> list[str]:
    """Return that many different team names."""
    return [
        TEAM_NAMES[index]
        if index < len(TEAM_NAMES)
        else f"{TEAM_NAMES[index % len(TEAM_NAMES)]} {index // len(TEAM_NAMES)}"
        for index in range(count)
    ]


def new_contest(teams: int | Sequence[str], **settings: Any) -> ContestRecords:  # noqa: ANN401 - of `Settings`
    """Create a contest in memory with that many teams, or with teams of these names."""
    contest_settings = ContestSettings(
        **{"name": "cup", "matches": 3, "most": 9, "seed": "secret", **settings}
    )
    records = ContestRepository(SqliteDocumentStore(MEMORY_PATH, FakeClock())).create(
        contest_settings
    )
    names = [f"Team {number}" for number in range(teams)] if isinstance(teams, int) else teams
    for number, name in enumerate(names):
        records.append_team(TeamEntry(f"{number:024x}", name, token_hex(16)))
    return records


def played_contest(
    names: Sequence[str],
    decided_pairings: int | None = None,
    upsets: Iterable[str] = (),
    **overrides: Any,  # noqa: ANN401 - of `Settings`
) -> tuple[ContestRecords, dict[str, ArenaMatch]]:
    """Create a contest with that many decided pairings, all if None; also return running matches.

    The better seed usually wins, except in the pairings in `upsets`.
    """
    records = new_contest(names, **{"matches": 7, "most": 21, **overrides})
    settings = records.settings
    records.start_contest()
    rng, team_ids = Random(len(names)), [team.id for team in records.teams()]
    outcomes: dict[str, PairingOutcome] = {}
    facts_by_pairing: dict[str, list[MatchResultFacts]] = {}
    max_decided = 10**6 if decided_pairings is None else decided_pairings

    def undecided_pairings() -> list[Pairing]:
        pairings = settings.format_without_history.determined_pairings(team_ids, outcomes)
        return [candidate for candidate in pairings if candidate.key not in outcomes][
            : max_decided - len(outcomes)
        ]

    while ready_pairings := undecided_pairings():
        for pairing in ready_pairings:
            match_facts, win_probability = (
                list[MatchResultFacts](),
                0.2 if pairing.key in upsets else 0.8,
            )
            while (outcome := settings.series_rules.outcome(pairing, match_facts)) is None:
                match_facts.append(_facts(rng, win_probability))
            outcomes[pairing.key], facts_by_pairing[pairing.key] = outcome, match_facts
    results, running = list[PairingResult](), dict[str, ArenaMatch]()
    for pairing_number, pairing in enumerate(
        settings.format_without_history.determined_pairings(team_ids, outcomes)
    ):
        is_running = pairing.key not in outcomes and pairing_number % 3
        match_facts = [_facts(rng, 0.6)] * (settings.matches // 3) if is_running else []
        match_facts = facts_by_pairing.get(pairing.key, match_facts)
        matches = [
            f"{pairing_number:012x}{match_index:012x}"
            for match_index in range(len(match_facts) + bool(is_running))
        ]
        if is_running:
            running[matches[-1]] = started_match(matches[-1], pairing)
        outcome = outcomes.get(pairing.key)
        results.append(build_result(pairing, outcome, tuple(match_facts), tuple(matches), None))
    records.save_results(results)
    return records, running


def started_match(match_id: str, pairing: Pairing) -> ArenaMatch:
    """Return a match in which a card was drawn."""
    params = parse_create_request({"timeout": 7}, match_id)
    origin = RequestTimeAndAddress(ManualClock().current_time)
    match, _ = begin_match(
        match_id, at_arena.MatchPlayers(pairing.teams, None), params, RandomnessMethod.FAIR, origin
    )
    return apply_player_action(match, DRAW, origin)[0]


def _facts(rng: Random, win_probability: float) -> MatchResultFacts:
    winner = int(rng.random() > win_probability)
    winner_points, loser_points = 40 + rng.randrange(25), 15 + rng.randrange(25)
    points = (winner_points, loser_points) if winner == 0 else (loser_points, winner_points)
    busts = (rng.randrange(5), rng.randrange(5))
    timeouts = (int(rng.random() < 0.05), int(rng.random() < 0.05))
    return MatchResultFacts(
        points, winner, 42 + 60 * rng.random(), 24 + rng.randrange(12), busts, timeouts
    )


def play_practice(records: ContestRecords, matches: int) -> None:
    """Play that many practice matches, in which the better seed wins more often."""
    rng, ids = Random(matches), [team.id for team in records.teams()]
    practice_matches: list[PracticeMatch] = []
    start = datetime(2026, 11, 20, 12, tzinfo=UTC)
    while len(practice_matches) < matches:
        for pairing in next_pairings(
            ids, [previous_match.pairing for previous_match in practice_matches], (), {}
        ):
            match_number = len(practice_matches) + 1
            team_seeds = [ids.index(team) for team in pairing.teams]
            facts = _facts(rng, 0.5 + 0.45 * (team_seeds[1] - team_seeds[0]) / len(ids))
            started_at = start + timedelta(minutes=match_number)
            practice_match = PracticeMatch(
                match_number, pairing.teams, f"{match_number:024x}", started_at, facts
            )
            practice_matches.append(practice_match)
            records.add_practice_match(practice_match)
            if match_number % len(ids) == 0:
                records.add_rating_snapshot(
                    RatingSnapshot(match_number, started_at, practice_ratings(practice_matches))
                )


# --- in the cloud -----------------------------------------------------------------------------

ARENA_TABLE = "ArenaTable"


@contextmanager
def arena_table(client: "DynamoDBClient") -> Iterator[DynamoTable]:
    """Yield a new, empty table of an arena."""
    table = DynamoTable(create_table(client, ARENA_TABLE), client)
    yield table
    client.delete_table(TableName=table.name)


def contests_in_table(table: DynamoTable, client: "DynamoDBClient") -> ContestRepository:
    """Return the contests of an arena's table."""
    return ContestRepository(DynamoDocumentStore(table.name, SystemClock(), client))


# --- at an arena ------------------------------------------------------------------------------


@dataclass(frozen=True)
class SpectatedContest:
    """Contest shown by an arena, with a running match unless the contest is over."""

    arena: ArenaServer
    records: ContestRecords
    clock: ManualClock
    match_id: str

    @property
    def url(self) -> str:
        return f"{self.arena.url}/contest"

    def time_out_turn(self) -> None:
        """Time out the turn of the match, and expire the spectators' cache."""
        self.clock.advance(timedelta(seconds=9))
        self.arena._run_in_server_thread(self.arena._arena.referee.end_overdue_turns)

    def finish_pairing(self) -> None:
        """Let the first team win the match's pairing, so that no match runs any more."""
        results = self.records.results()
        (index,) = (
            index for index, result in enumerate(results) if self.match_id in result.matches
        )
        match_facts = MatchResultFacts((40, 30), 0, 61.0, 20, (1, 2), (0, 0))
        winner = results[index].teams[0]
        results[index] = replace(
            results[index],
            facts=(match_facts,),
            wins=(1, 0),
            winner=winner,
            decided=True,
            ruled="it was late",
        )
        self.records.save_results(results)
        self.clock.advance(timedelta(seconds=9))


def spectated_contest(
    folder: Path, names: Sequence[str], decided_pairings: int | None, practice: int = 0
) -> Iterator[SpectatedContest]:
    """Serve a contest of one-match pairings, that many of them decided, all if None."""
    records, _ = played_contest(names, decided_pairings)
    if practice:
        play_practice(records, practice)
    players = [{"_id": team.id, "name": team.name, "ha1": team.ha1} for team in records.teams()]
    (folder / "players.json").write_text(json.dumps(players))
    clock = ManualClock()
    pages = ContestPages(lambda: ContestRepository(records.documents))
    arena_options = {"players": folder / "players.json", "clock": clock, "is_public": True}
    with running_arena(folder, extra_pages=pages, **arena_options) as (arena, _):
        yield SpectatedContest(arena, records, clock, _begin_undecided_match(arena, records))


def _begin_undecided_match(arena: ArenaServer, records: ContestRecords) -> str:
    """Begin a match of the first undecided pairing, and return its id; "" if all are decided."""
    results = [
        replace(result, matches=result.matches[: len(result.facts)]) for result in records.results()
    ]
    index = next((index for index, result in enumerate(results) if not result.decided), None)
    if index is None:
        return ""
    tags = (f"cup_Round{results[index].round}", "cup")
    match = arena.create_match_and_get_id(
        results[index].teams, tags=tags, timeout=timedelta(seconds=7)
    )
    results[index] = replace(results[index], facts=(), matches=(match,))
    records.save_results(results)
    return match
