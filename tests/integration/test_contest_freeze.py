"""A frozen contest at its arena, at home and in the cloud: who sees what of it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    NAMES,
    PASSWORDS,
    ArenaHttpClient,
    ManualClock,
    running_arena,
    write_players,
)
from support.cloud_arena import cloud_arena_factory
from support.contests import contests_in
from support.waiting import HANG_SECONDS

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.contest_file import create_contest_in
from cardsharp.contest.director import ContestDirector
from cardsharp.contest.models import ContestSettings, TeamEntry
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.core.credentials import Credentials, digest_ha1
from cardsharp.games.deadmansdraw.arena_bot.client import DUMMY_ID, ArenaClient
from cardsharp.games.deadmansdraw.contest.arena_match_host import ArenaMatchHost
from cardsharp.games.deadmansdraw.contest.page_routes import ContestPages
from cardsharp_tools.contest.contest_arena import TeamPlayerAccounts
from cardsharp_tools.games.deadmansdraw.emulated_arena import create_arena_table
from cardsharp_tools.local_cloud.emulator import Emulator

SETTINGS = ContestSettings("cup", "round-robin", matches=1, most=3, seed="secret")
TEAMS = [ALICE, BOB, *(team for team in NAMES if NAMES[team].startswith("Player"))][:4]
PATHS = (
    "/contest", "/contest/running", "/matches", "/matches?tags=cup", "/matches/statistics",
    "/matches/statistics?tag=cup", "/api/matches?condensed=1", "/api/matches/busydays",
    "/api/matches?condensed=1&tags=cup_Round2",
)  # fmt: skip
OF_A_MATCH = (
    "/matches/{}", "/matches/{}/steps", "/api/matches/{}", "/api/matches/{}?condensed=1",
    "/api/matches/{}?showevents=1",
)  # fmt: skip

Place = tuple[ContestRecords, str, ArenaHttpClient]


@dataclass
class Cup:
    """A contest at an arena that spectators look at."""

    records: ContestRecords
    client: ArenaHttpClient
    organiser: ArenaClient
    clock: ManualClock

    def __post_init__(self) -> None:
        self.desk = ContestAdmin(self.records, self.clock)
        self.director = ContestDirector(self.records, ArenaMatchHost(self.organiser), self.clock)
        self.begun: list[str] = []

    def goes_on(self, finish_count: int) -> bool:
        """End `finish_count` running matches and take a step; return True if the cup is over."""
        running = [match for match in self.organiser.matches(tags=("cup",)) if not match.finished]
        for match in running[:finish_count]:
            self.organiser.terminate(match.id, match.player_ids[0])
        is_over = self.director.step()
        self.begun = [match.id for match in self.organiser.matches(tags=("cup",))]
        self.clock.advance(timedelta(seconds=1))
        return is_over

    def tries(self) -> str:
        """Bob begins a match with the house, to try something."""
        body = {"playerids": [BOB, DUMMY_ID], "tags": ["cup"]}
        return str(self.client.post("/api/matches", BOB, body).json()["id"])

    def seen(self, matches: list[str], user: str | None = None) -> dict[str, tuple[int, bytes]]:
        """Return the responses to a user on every path that spectators may request."""
        self.clock.advance(timedelta(seconds=1))
        paths = [*PATHS, *(path.format(match_id) for match_id in matches for path in OF_A_MATCH)]
        answers = {path: self.client.get(path, user) for path in paths}
        return {path: (answer.status, answer.raw) for path, answer in answers.items()}


def entered(records: ContestRecords) -> ContestRecords:
    for team in TEAMS:
        records.append_team(TeamEntry(team, NAMES[team], digest_ha1(team, PASSWORDS[team])))
    return records


@contextmanager
def at_home(folder: Path, clock: ManualClock) -> Iterator[Place]:
    records = entered(create_contest_in(folder / "cup", SETTINGS))
    pages = ContestPages(lambda: ContestRepository(records.documents), clock)
    teams = TeamPlayerAccounts(records, {}, lambda: clock().timestamp())
    options = {
        "extra_pages": pages,
        "is_public": True,
        "clock": clock,
        "load_players": lambda: teams,
    }
    with running_arena(folder, **options) as (arena, client):
        yield records, arena.url, client
    records.close()


@contextmanager
def in_the_cloud(folder: Path, clock: ManualClock, emulator: Emulator) -> Iterator[Place]:
    table = create_arena_table(emulator, write_players(folder))
    contests = contests_in(table, emulator.client("dynamodb"))
    records = entered(contests.create(SETTINGS))
    with cloud_arena_factory(emulator)(folder, table=table, is_public=True, clock=clock) as (
        arena,
        client,
    ):
        arena._arena.mount_pages(ContestPages(lambda: contests, clock))
        yield records, arena.url, client


def hidden_from_spectators(cup: Cup, public_ids: list[str], later: list[str]) -> None:
    for path, (status, raw) in cup.seen(later).items():
        # That a match ran was to be seen before, and that it did is on the page still.
        allowed_ids = public_ids if path == "/contest" else ()
        assert not any(
            match_id.encode() in raw for match_id in later if match_id not in allowed_ids
        ), path
        is_page = path in PATHS or re.fullmatch("/matches/[0-9a-f]+", path)
        assert status == (200 if is_page else 404), path


def hidden_from_bob(cup: Cup, public_ids: list[str], later: list[str]) -> None:
    """He sees his own matches, and no others."""
    bob_ids = {
        match.id for match in cup.organiser.matches(ids=tuple(later)) if BOB in match.player_ids
    }
    for path, (_, raw) in cup.seen([], BOB).items():
        allowed_ids = {*public_ids} if path == "/contest" else set()
        assert {
            later_id for later_id in later if later_id.encode() in raw
        } <= bob_ids | allowed_ids, path
    for match_id in later:
        is_withheld = (
            "will reveal this match later" in cup.client.get(f"/matches/{match_id}", BOB).text
        )
        assert is_withheld == (match_id not in bob_ids)
    assert {match["_id"] for match in cup.client.get("/api/matches", BOB).json()} >= bob_ids


def gets_a_new_password(records: ContestRecords, url: str) -> None:
    """It counts at once; the old one may be the one that leaked."""
    _, new = records.reset_password("Renamed")
    for password, status in ((PASSWORDS[ALICE], 401), (new, 200)):
        answer = requests.get(f"{url}/api/whoami", auth=(ALICE, password), timeout=HANG_SECONDS)
        assert answer.status_code == status


def is_revealed(cup: Cup, matches: list[str]) -> None:
    """The organiser has seen all, and now everybody does."""
    admin_pages = cup.seen(matches, ADMIN)
    assert b"Won by" in admin_pages["/contest"][1]
    cup.desk.reveal_round(everything=True)
    cup.clock.advance(timedelta(seconds=20))
    public_pages = cup.seen(matches)
    assert public_pages["/contest"] == admin_pages["/contest"]
    assert {status for status, _ in public_pages.values()} == {200}
    assert b"Renamed" in public_pages["/matches"][1]


@pytest.mark.parametrize(
    "is_at_home", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["home", "cloud"]
)
def test_a_frozen_contest_is_visible_only_to_its_organiser_and_its_players(
    tmp_path: Path, emulator: Emulator, is_at_home: bool
) -> None:
    """Everybody else is answered byte for byte the same, on every path, until it is revealed."""
    clock = ManualClock()
    home = at_home(tmp_path, clock) if is_at_home else in_the_cloud(tmp_path, clock, emulator)
    with (
        home as (records, url, client),
        ArenaClient(url, Credentials(ADMIN, PASSWORDS[ADMIN])) as organiser,
    ):
        cup = Cup(records, client, organiser, clock)
        for finish_count in (0, 2, 1):
            cup.goes_on(finish_count)
        decided_ids = [
            match_id
            for result in records.results()
            if result.decided
            for match_id in result.matches
        ]
        running = [match_id for match_id in cup.begun if match_id not in decided_ids]
        assert all((decided_ids, running))
        assert {status for status, _ in cup.seen(cup.begun).values()} == {200}
        tried = cup.tries()
        assert "Bob" in client.get(f"/matches/{tried}", None).text
        cup.desk.freeze(clock())
        public_ids = cup.begun
        frozen_pages, of_bob = cup.seen([*public_ids, tried]), cup.seen([], BOB)["/contest"]
        cup.desk.rename_team(NAMES[ALICE], "Renamed")
        organiser.terminate(tried, BOB)
        second_trial = cup.tries()
        clock.advance(timedelta(seconds=20))
        gets_a_new_password(records, url)
        while not cup.goes_on(2):
            assert cup.seen([*public_ids, tried]) == frozen_pages
        for trial_id in (tried, second_trial):
            texts = [client.get(f"/matches/{trial_id}", user).text for user in (None, BOB)]
            assert ["will reveal this match later" in text for text in texts] == [True, False]
        cup.desk.rule_pairing(records.results()[0].pairing, records.results()[0].teams[1], "appeal")
        assert cup.seen([*public_ids, tried]) == frozen_pages
        later = [match_id for match_id in cup.begun if match_id not in decided_ids]
        assert {*later} > {*running}
        hidden_from_spectators(cup, public_ids, later)
        # A team sees what it plays, and of the others no more than spectators do.
        assert cup.seen([], BOB)["/contest"] == of_bob == frozen_pages["/contest"]
        hidden_from_bob(cup, public_ids, later)
        assert not {tried, second_trial} & {
            match_id for result in records.results() for match_id in result.matches
        }
        is_revealed(cup, later)
