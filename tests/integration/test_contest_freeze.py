"""Tests of the visibility of a frozen contest, at a local arena and in the cloud."""

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
from support.contests import contests_in_table
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
from cardsharp_tools.contest.local_players import TeamPlayerAccounts
from cardsharp_tools.games.deadmansdraw.emulated_arena import create_arena_table
from cardsharp_tools.local_cloud.emulator import Emulator

SETTINGS = ContestSettings("cup", "round-robin", matches=1, most=3, seed="secret")
TEAMS = [ALICE, BOB, *(team for team in NAMES if NAMES[team].startswith("Player"))][:4]
PATHS = (
    "/contest", "/contest/running", "/matches", "/matches?tags=cup", "/matches/statistics",
    "/matches/statistics?tag=cup", "/api/matches?condensed=1", "/api/matches/busydays",
    "/api/matches?condensed=1&tags=cup_Round2",
)  # fmt: skip
MATCH_PATHS = (
    "/matches/{}", "/matches/{}/steps", "/api/matches/{}", "/api/matches/{}?condensed=1",
    "/api/matches/{}?showevents=1",
)  # fmt: skip

RecordsUrlAndClient = tuple[ContestRecords, str, ArenaHttpClient]


@dataclass
class ArenaContest:
    """A contest at an arena with spectators."""

    records: ContestRecords
    client: ArenaHttpClient
    organiser: ArenaClient
    clock: ManualClock

    def __post_init__(self) -> None:
        self.admin = ContestAdmin(self.records, self.clock)
        self.director = ContestDirector(self.records, ArenaMatchHost(self.organiser), self.clock)
        self.match_ids: list[str] = []

    def finish_matches_and_step(self, finish_count: int) -> bool:
        """End `finish_count` running matches and take a step.

        Return True if the contest is over.
        """
        running_matches = [
            match for match in self.organiser.matches(tags=("cup",)) if not match.finished
        ]
        for match in running_matches[:finish_count]:
            self.organiser.terminate(match.id, match.player_ids[0])
        is_over = self.director.step()
        self.match_ids = [match.id for match in self.organiser.matches(tags=("cup",))]
        self.clock.advance(timedelta(seconds=1))
        return is_over

    def create_trial_match(self) -> str:
        """Create a match of Bob with the dummy, and return its id."""
        body = {"playerids": [BOB, DUMMY_ID], "tags": ["cup"]}
        return str(self.client.post("/api/matches", BOB, body).json()["id"])

    def read_responses(
        self, matches: list[str], user: str | None = None
    ) -> dict[str, tuple[int, bytes]]:
        """Return the responses to a user on every path that spectators may request."""
        self.clock.advance(timedelta(seconds=1))
        paths = [*PATHS, *(path.format(match_id) for match_id in matches for path in MATCH_PATHS)]
        responses = {path: self.client.get(path, user) for path in paths}
        return {path: (response.status, response.raw) for path, response in responses.items()}


def add_teams(records: ContestRecords) -> ContestRecords:
    for team in TEAMS:
        records.append_team(TeamEntry(team, NAMES[team], digest_ha1(team, PASSWORDS[team])))
    return records


@contextmanager
def open_local_contest(folder: Path, clock: ManualClock) -> Iterator[RecordsUrlAndClient]:
    records = add_teams(create_contest_in(folder / "cup", SETTINGS))
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
def open_cloud_contest(
    folder: Path, clock: ManualClock, emulator: Emulator
) -> Iterator[RecordsUrlAndClient]:
    table = create_arena_table(emulator, write_players(folder))
    contests = contests_in_table(table, emulator.client("dynamodb"))
    records = add_teams(contests.create(SETTINGS))
    with cloud_arena_factory(emulator)(folder, table=table, is_public=True, clock=clock) as (
        arena,
        client,
    ):
        arena._arena.mount_pages(ContestPages(lambda: contests, clock))
        yield records, arena.url, client


def assert_hidden_from_spectators(
    contest: ArenaContest, public_ids: list[str], hidden_ids: list[str]
) -> None:
    for path, (status, raw) in contest.read_responses(hidden_ids).items():
        # That a match ran was to be seen before, and that it did is on the page still.
        allowed_ids = public_ids if path == "/contest" else ()
        assert not any(
            match_id.encode() in raw for match_id in hidden_ids if match_id not in allowed_ids
        ), path
        is_page = path in PATHS or re.fullmatch("/matches/[0-9a-f]+", path)
        assert status == (200 if is_page else 404), path


def assert_hidden_from_bob(
    contest: ArenaContest, public_ids: list[str], hidden_ids: list[str]
) -> None:
    """Assert that Bob sees only his matches."""
    bob_ids = {
        match.id
        for match in contest.organiser.matches(ids=tuple(hidden_ids))
        if BOB in match.player_ids
    }
    for path, (_, raw) in contest.read_responses([], BOB).items():
        allowed_ids = {*public_ids} if path == "/contest" else set()
        assert {
            later_id for later_id in hidden_ids if later_id.encode() in raw
        } <= bob_ids | allowed_ids, path
    for match_id in hidden_ids:
        is_withheld = (
            "will reveal this match later" in contest.client.get(f"/matches/{match_id}", BOB).text
        )
        assert is_withheld == (match_id not in bob_ids)
    assert {match["_id"] for match in contest.client.get("/api/matches", BOB).json()} >= bob_ids


def assert_new_password_works(records: ContestRecords, url: str) -> None:
    """Assert that a new password is valid at once and that the old one is not."""
    _, new_password = records.reset_password("Renamed")
    for password, status in ((PASSWORDS[ALICE], 401), (new_password, 200)):
        response = requests.get(f"{url}/api/whoami", auth=(ALICE, password), timeout=HANG_SECONDS)
        assert response.status_code == status


def assert_revealed(contest: ArenaContest, matches: list[str]) -> None:
    """Assert that spectators see a revealed contest as the organiser does."""
    admin_pages = contest.read_responses(matches, ADMIN)
    assert b"Won by" in admin_pages["/contest"][1]
    contest.admin.reveal_round(everything=True)
    contest.clock.advance(timedelta(seconds=20))
    public_pages = contest.read_responses(matches)
    assert public_pages["/contest"] == admin_pages["/contest"]
    assert {status for status, _ in public_pages.values()} == {200}
    assert b"Renamed" in public_pages["/matches"][1]


@pytest.mark.parametrize(
    "is_at_home", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["home", "cloud"]
)
def test_a_frozen_contest_is_visible_only_to_its_organiser_and_its_players(
    tmp_path: Path, emulator: Emulator, is_at_home: bool
) -> None:
    """All other users get the same bytes on every path until the contest is revealed."""
    clock = ManualClock()
    contest_context = (
        open_local_contest(tmp_path, clock)
        if is_at_home
        else open_cloud_contest(tmp_path, clock, emulator)
    )
    with (
        contest_context as (records, url, client),
        ArenaClient(url, Credentials(ADMIN, PASSWORDS[ADMIN])) as organiser,
    ):
        contest = ArenaContest(records, client, organiser, clock)
        for finish_count in (0, 2, 1):
            contest.finish_matches_and_step(finish_count)
        decided_ids = [
            match_id
            for result in records.results()
            if result.decided
            for match_id in result.matches
        ]
        running_ids = [match_id for match_id in contest.match_ids if match_id not in decided_ids]
        assert all((decided_ids, running_ids))
        assert {status for status, _ in contest.read_responses(contest.match_ids).values()} == {200}
        trial_match_id = contest.create_trial_match()
        assert "Bob" in client.get(f"/matches/{trial_match_id}", None).text
        contest.admin.freeze(clock())
        public_ids = contest.match_ids
        frozen_pages, bob_page = (
            contest.read_responses([*public_ids, trial_match_id]),
            contest.read_responses([], BOB)["/contest"],
        )
        contest.admin.rename_team(NAMES[ALICE], "Renamed")
        organiser.terminate(trial_match_id, BOB)
        second_trial_id = contest.create_trial_match()
        clock.advance(timedelta(seconds=20))
        assert_new_password_works(records, url)
        while not contest.finish_matches_and_step(2):
            assert contest.read_responses([*public_ids, trial_match_id]) == frozen_pages
        for trial_id in (trial_match_id, second_trial_id):
            texts = [client.get(f"/matches/{trial_id}", user).text for user in (None, BOB)]
            assert ["will reveal this match later" in text for text in texts] == [True, False]
        contest.admin.rule_pairing(
            records.results()[0].pairing, records.results()[0].teams[1], "appeal"
        )
        assert contest.read_responses([*public_ids, trial_match_id]) == frozen_pages
        hidden_ids = [match_id for match_id in contest.match_ids if match_id not in decided_ids]
        assert {*hidden_ids} > {*running_ids}
        assert_hidden_from_spectators(contest, public_ids, hidden_ids)
        # A team sees what it plays, and of the others no more than spectators do.
        assert contest.read_responses([], BOB)["/contest"] == bob_page == frozen_pages["/contest"]
        assert_hidden_from_bob(contest, public_ids, hidden_ids)
        assert not {trial_match_id, second_trial_id} & {
            match_id for result in records.results() for match_id in result.matches
        }
        assert_revealed(contest, hidden_ids)
