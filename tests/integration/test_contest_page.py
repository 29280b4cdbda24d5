"""Tests of the page of a contest: its content for each user, and its safety."""

import html
import re
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise, product
from pathlib import Path

import pytest
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    OUTSIDER,
    PASSWORDS,
    ArenaHttpClient,
    ManualClock,
    running_arena,
)
from support.cli import Cli
from support.contests import HOSTILE_NAMES, new_contest, played_contest, team_names
from support.starters import StarterProcess, start_starter, stop_starters
from support.waiting import HANG_SECONDS, wait_until

from cardsharp.client.config import ServiceAddress
from cardsharp.contest.contest_file import create_contest_in
from cardsharp.contest.formats.forecast import estimate_length
from cardsharp.contest.match_host import LiveMatch, MatchResultFacts
from cardsharp.contest.models import ContestSettings, PracticeMatch, TeamConnection, TeamEntry
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.team_presence import PRESENCE_SECONDS, PresenceMonitor
from cardsharp.contest.view.pages import (
    ContestPageView,
    contest_page,
    running_matches_fragment,
    standalone_contest_page,
)
from cardsharp.core.clock import utc_now
from cardsharp.core.credentials import Credentials
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.contest.arena_match_host import ArenaMatchHost
from cardsharp.games.deadmansdraw.contest.page_routes import ContestPages, to_live_match
from cardsharp.pages.templates import SiteInfo

VIEW = ContestPageView(SiteInfo("Arena"))


class ParsedPage(HTMLParser):
    """The elements of a page, their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def addresses(self) -> list[str]:
        names = ("href", "src", "action", "data", "xlink:href")
        return [
            str(attributes[name])
            for _, attributes in self.elements
            for name in names
            if name in attributes
        ]

    def boxes(self) -> list[str]:
        """Return the classes of the bracket's boxes."""
        class_texts = [
            str(attributes.get("class")) for tag, attributes in self.elements if tag == "svg"
        ]
        return [name.removeprefix("box ") for name in class_texts if name.startswith("box ")]


@pytest.fixture
def contest_records() -> ContestRecords:
    """A contest of twenty teams before the final of the losers."""
    return played_contest(team_names(20), 36)[0]


def test_a_full_bracket_is_rendered_with_its_champion() -> None:
    """The bracket has as many games and rounds as in 2023, with a second final."""
    records, _ = played_contest(team_names(20), upsets=["38"])
    parsed = ParsedPage(contest_page(VIEW, records))
    boxes = parsed.boxes()
    assert boxes.count("decided") == 39
    assert boxes[39:] == ["crown decided"]
    for expected_text in (
        "Winners · round 1",
        "Losers · round 9",
        "Final · round 10",
        "Second final",
    ):
        assert expected_text in parsed.text
    champion = records.resolve_team(records.standings()[0][0]).name
    assert f"Won by {champion}" in " ".join(parsed.text.split())
    rows = [attributes for tag, attributes in parsed.elements if tag == "tr" and "id" in attributes]
    assert len(rows) == 20
    assert rows[0]["class"] == "first"


@pytest.mark.parametrize(("number", "share"), [*product([2, 3, 13], [0, 0.5, 1]), (64, 0.5)])
def test_a_bracket_of_any_size_has_no_overlapping_boxes(number: int, share: float) -> None:
    records, running = played_contest(team_names(number), int(share * (2 * number - 2)))
    parsed = ParsedPage(contest_page(VIEW, records, map(to_live_match, running.values())))
    columns = defaultdict[str, list[float]](list)
    for tag, attributes in parsed.elements:
        if tag == "svg" and str(attributes.get("class")).startswith("box"):
            columns[str(attributes["x"])].append(float(str(attributes["y"])))
    assert sum(map(len, columns.values())) == 2 * number
    for rows in columns.values():
        assert min(rows) >= 0
        assert all(low + 42 < high for low, high in pairwise(sorted(rows)))


@pytest.mark.parametrize("form", ["round-robin", "swiss"])
def test_formats_without_a_bracket_list_their_rounds(form: str) -> None:
    records, _ = played_contest(team_names(6), format=form, matches=3)
    parsed = ParsedPage(contest_page(VIEW, records))
    assert parsed.boxes() == ["decided"] * len(records.results())
    assert not any(
        str(attributes.get("class")).startswith("line") for _, attributes in parsed.elements
    )
    assert "Round 1" in parsed.text


def test_every_pairing_leads_to_its_matches_and_rulings_have_their_reasons(
    contest_records: ContestRecords,
) -> None:
    """Each pairing links to its matches, and each tag to the arena's statistics."""
    results = contest_records.results()
    contest_records.save_results([replace(results[0], ruled="the other side <left>"), *results[1:]])
    parsed = ParsedPage(contest_page(VIEW, contest_records))
    addresses = parsed.addresses()
    for result in results:
        assert all(f"/matches/{match}" in addresses for match in result.matches)
        assert addresses.count(f"#pairing-{result.pairing}") >= 1
    assert "Decided by the organiser: the other side <left>" in parsed.text
    assert "/matches/statistics?tag=cup_Round1" in addresses
    element_ids = {attributes.get("id") for _, attributes in parsed.elements}
    assert all(address[1:] in element_ids for address in addresses if address.startswith("#"))


@pytest.mark.parametrize("output_kind", ["page", "file"])
def test_hostile_names_are_escaped(output_kind: str) -> None:
    """A name or a reason creates no element, no attribute and no address."""
    records, _ = played_contest(HOSTILE_NAMES, 8)
    results = records.results()
    records.save_results([replace(result, ruled=HOSTILE_NAMES[0]) for result in results])
    text = (
        contest_page(VIEW, records) if output_kind == "page" else standalone_contest_page(records)
    )
    parsed = ParsedPage(text)
    tags = {tag for tag, _ in parsed.elements}
    assert "img" not in tags
    assert sum(tag == "script" for tag, _ in parsed.elements) == (output_kind == "page")
    names = {name for _, attributes in parsed.elements for name in attributes}
    assert not {name for name in names if name.startswith("on") or name == "style"}
    assert all(re.match(r"[#/]", address) for address in parsed.addresses())
    for name in HOSTILE_NAMES:
        assert html.escape(name, quote=False) in text.replace("&#34;", '"').replace("&#39;", "'")
    assert "49" not in [part.strip() for part in re.findall(r"<bdi[^>]*>(.*?)</bdi>", text)]


def test_hidden_data_changes_no_byte_of_a_page() -> None:
    """The page does not depend on the order of the draw pile, on seeds, or on password hashes."""
    pages = set[str]()
    for seed in ("one", "another"):
        records, running = played_contest(team_names(6), 4, matches=5, seed=seed)
        assert running
        live_matches = []
        for match in running.values():
            pile = match.state.draw_pile if seed == "one" else match.state.draw_pile[::-1]
            state, params = replace(match.state, draw_pile=pile), replace(match.params, seed=seed)
            live_matches.append(to_live_match(replace(match, state=state, params=params)))
        pages.add(
            contest_page(VIEW, records, live_matches)
            + running_matches_fragment(VIEW, records, live_matches)
            + standalone_contest_page(records)
        )
        assert not any(team.ha1 in text for team in records.teams() for text in pages)
    assert len(pages) == 1


# --- at the arena --------------------------------------------------------------------------


def test_the_first_of_several_contests_links_to_the_rest(
    contest_records: ContestRecords, tmp_path: Path
) -> None:
    contests = ContestRepository(contest_records.documents)
    contests.create(ContestSettings("next & last"))
    with running_arena(tmp_path, extra_pages=ContestPages(lambda: contests), is_public=True) as (
        _,
        client,
    ):
        assert (
            "/contest?name=next%20%26%20last" in ParsedPage(client.get("/contest").text).addresses()
        )
        assert "/contest" in ParsedPage(client.get("/matches/statistics").text).addresses()
        for path in ("/contest", "/contest/running"):
            assert client.get(f"{path}?name=cup").text == client.get(path).text
            assert client.get(f"{path}?name=next%20%26%20last").status == 200
            assert client.get(f"{path}?name=none").status == 404


def test_other_requests_are_served_while_a_page_is_rendered(
    contest_records: ContestRecords, tmp_path: Path
) -> None:
    is_rendering, may_finish = threading.Event(), threading.Event()

    class Slow(ContestRepository):
        def contest_names(self) -> list[str]:
            is_rendering.set()
            assert may_finish.wait(HANG_SECONDS)
            return super().contest_names()

    pages = ContestPages(lambda: Slow(contest_records.documents))
    with (
        running_arena(tmp_path, extra_pages=pages, is_public=True) as (server, client),
        ThreadPoolExecutor(1) as pool,
    ):
        page_request = pool.submit(client.get, "/contest")
        assert is_rendering.wait(HANG_SECONDS)
        other_client = ArenaHttpClient(server.url)
        assert other_client.get("/api/hello", None).status == 200
        other_client.close()
        may_finish.set()
        assert page_request.result().status == 200


def headings(text: str) -> list[str]:
    """Return the headings of the sections of a page, in their order."""
    return re.findall(r"<h2[^>]*>([^<]+)</h2>", text)


def test_the_page_shows_first_what_is_going_on() -> None:
    """During practice there is no empty bracket and no table of dashes."""
    records = new_contest(team_names(12))
    assert headings(contest_page(VIEW, records)) == ["Teams", "Running now"]
    team_ids = [team.id for team in records.teams()]
    practice_match = LiveMatch(
        id="m1",
        teams=(team_ids[0], team_ids[1]),
        tags=(records.settings.practice_tag,),
        points=(3, 0),
        team_to_act=team_ids[0],
        turn=2,
        note="",
    )
    assert headings(contest_page(VIEW, records, [practice_match])) == [
        "Ratings of practice",
        "Running now",
    ]
    running_records, _ = played_contest(team_names(12), 5)
    assert headings(contest_page(VIEW, running_records))[:2] == ["Bracket", "Running now"]
    finished_records, _ = played_contest(team_names(12))
    page = contest_page(VIEW, finished_records)
    assert page.index("Won by") < page.index("<h2")
    assert headings(page)[0] == "Bracket"


def test_the_board_has_only_what_fits_on_a_projector() -> None:
    board = VIEW._replace(is_board=True)
    records, _ = played_contest(team_names(12), 5)
    page = contest_page(board, records)
    assert headings(page) == ["Bracket", "Running now"]
    assert 'class="contest board"' in page
    assert "view=board" in contest_page(VIEW, records)
    assert "view=board" not in page


def test_the_running_matches_have_the_time_since_the_start_and_to_the_end() -> None:
    """The rest is the length of the simulated contest for the pairings that are left."""
    records, _ = played_contest(team_names(8), 7)
    start = datetime(2026, 1, 1, 12, tzinfo=UTC)
    results = [
        replace(
            result,
            facts=tuple(replace(facts, began=start, seconds=30.0) for facts in result.facts),
        )
        for result in records.results()
    ]
    view = VIEW._replace(current_time=start + timedelta(minutes=63))
    assert "since the first match" not in running_matches_fragment(view, records)
    records.save_results(results)
    text = running_matches_fragment(view, records)
    [rest] = re.findall(r"1 h 03 min since the first match, about (\d+) min to go\.", text)
    length = estimate_length("double-elimination", 8, records.settings.matches)
    assert length is not None
    decided_count = sum(result.decided for result in results)
    expected_rest = length.slot_count * 0.5 * (1 - decided_count / length.pairing_count)
    assert int(rest) == round(expected_rest)
    finished_records, _ = played_contest(team_names(8))
    assert "to go" not in running_matches_fragment(view, finished_records)


def test_a_team_that_waits_for_wrong_tags_is_told_and_so_is_the_organiser(tmp_path: Path) -> None:
    """The response of its poll, its page and the organiser's page say which tag is right.

    Another team's page and a poll with the right tag say nothing.
    """
    records = new_contest(0)
    for player in (ALICE, BOB):
        records.append_team(TeamEntry(player, f"Team of {player}", "0" * 32))
    pages = ContestPages(lambda: ContestRepository(records.documents))
    with (
        running_arena(
            tmp_path, extra_pages=pages, is_public=True, long_poll_timeout=timedelta(milliseconds=1)
        ) as (server, client),
        ArenaClient(ServiceAddress(server.url), Credentials(ADMIN, PASSWORDS[ADMIN])) as arena,
    ):

        def read_notice(player: str, tags: str) -> list[str] | None:
            path = f"/api/matches?active=1&wait=1&tags={tags}"
            return client.get(path, player).headers.get("x-arena-notice")

        advice = "You wait for tags that no match of the contest cup has. Wait for the tag cup: "
        assert read_notice(ALICE, "cpu%0A,other") == [f"{advice}tags=cup."]
        assert [read_notice(BOB, tags) for tags in ("cup", "cup-practice,x")] == [None, None]
        assert "x-arena-notice" not in client.get("/api/matches?active=1&wait=1", ALICE).headers
        read_notice(ALICE, "cpu")
        PresenceMonitor(records, ArenaMatchHost(arena), utc_now).check()
        warning = f"Team of {ALICE} waits for the tag cpu, which no match has"
        for path in ("/contest", "/contest/running"):
            for viewer, notice in ((ALICE, advice), (ADMIN, warning), (BOB, ""), (None, "")):
                page = ParsedPage(client.get(path, viewer).text)
                assert notice in page.text
                assert (" for the tag" in page.text) == bool(notice)


def test_connected_teams_have_a_green_dot_until_they_have_been_silent(tmp_path: Path) -> None:
    """A team is connected from its first poll on, with the name that its program gives.

    Teams that the host plays are not connected: no program of theirs can be lost.
    """
    records, clock = new_contest(0), ManualClock()
    for player in (ALICE, BOB):
        records.append_team(TeamEntry(player, f"Team of {player}", "0" * 32))
    records.append_team(TeamEntry(OUTSIDER, "Played here", "0" * 32, "draw-2"))
    pages = ContestPages(lambda: ContestRepository(records.documents))
    with (
        running_arena(
            tmp_path,
            extra_pages=pages,
            is_public=True,
            clock=clock,
            long_poll_timeout=timedelta(milliseconds=1),
        ) as (server, client),
        ArenaClient(ServiceAddress(server.url), Credentials(ADMIN, PASSWORDS[ADMIN])) as arena,
    ):
        monitor = PresenceMonitor(records, ArenaMatchHost(arena), clock)
        monitor.check()
        assert "connected" not in client.get("/contest", None).text
        headers = {"User-Agent": "bot/1.0\x9b <b>"}
        for player in (ALICE, OUTSIDER):
            client.request("GET", "/api/matches?active=1&wait=1", player, None, headers)
        start = clock()
        clock.advance(timedelta(seconds=30))
        monitor.check()
        connection = TeamConnection(start + timedelta(seconds=30), "bot/1.0 <b>")
        assert records.connections_by_team() == {ALICE: connection}
        page = client.get("/contest", None).text
        assert page.count('aria-label="connected"') == 1
        assert "3 teams, 1 connected" in page
        clock.advance(timedelta(seconds=30))
        monitor.check()
        assert records.connections_by_team() == {}
        assert 'aria-label="connected"' not in client.get("/contest", None).text


def program_rows(cli: Cli, folder: Path) -> list[tuple[str | None, ...]]:
    """Return for each team since when it is connected, its last move and its late turns."""
    programs = cli("contest", "status", str(folder), "--json").json()["programs"]
    titles = ("connected since (UTC)", "last move (UTC)", "late turns")
    return [tuple(row[title] for title in titles) for row in programs]


def test_a_client_that_was_killed_is_missed_until_it_comes_back(tmp_path: Path, cli: Cli) -> None:
    """The organiser sees since when a program is there, its last move and its late turns."""
    folder, clock = tmp_path / "cup", ManualClock()
    records = create_contest_in(folder, ContestSettings("cup"))
    for player in (ALICE, BOB):
        records.append_team(TeamEntry(player, f"Team of {player}", "0" * 32))
    facts = MatchResultFacts((9, 0), 0, 60.0, 20, (0, 0), (0, 2))
    records.add_practice_match(PracticeMatch(1, (ALICE, BOB), "0" * 24, clock(), facts))
    pages = ContestPages(lambda: ContestRepository(records.documents))

    with (
        running_arena(
            tmp_path,
            extra_pages=pages,
            is_public=True,
            clock=clock,
            long_poll_timeout=timedelta(milliseconds=100),
        ) as (server, client),
        ArenaClient(ServiceAddress(server.url), Credentials(ADMIN, PASSWORDS[ADMIN])) as arena,
    ):
        monitor = PresenceMonitor(records, ArenaMatchHost(arena), clock)

        def check_after(seconds: float) -> str:
            clock.advance(timedelta(seconds=seconds))
            monitor.check()
            return client.get("/contest", None).text

        def start(player: str) -> StarterProcess:
            return start_starter("python", server.url, player, "cup", password=PASSWORDS[player])

        def idle_seconds(player: str) -> float | None:
            views = {view.id: view for view in arena.players_with_idle_times()}
            return views[player].idle_seconds

        def wait_for_polls(*players: str) -> None:
            wait_until(lambda: all(idle_seconds(player) == 0 for player in players), 0.1)

        def is_gone(player: str) -> bool:  # its last request ends when the arena notices
            clock.advance(timedelta(seconds=5))
            return (idle_seconds(player) or 0.0) > PRESENCE_SECONDS

        assert (check_after(0).count("connected"), program_rows(cli, folder)) == (
            0,
            [(None, None, 0), (None, None, 2)],
        )
        bots = {player: start(player) for player in (ALICE, BOB)}
        try:
            wait_for_polls(ALICE, BOB)
            assert "2 teams, 2 connected" in check_after(10)
            since = f"{clock():%H:%M:%S}"
            assert [row[:2] for row in program_rows(cli, folder)] == [(since, None)] * 2
            request = {"playerids": [ALICE, BOB], "tags": ["cup"], "timeout": 600}
            client.post("/api/matches", ADMIN, request)
            wait_until(
                lambda: client.get("/api/matches?condensed=1", ADMIN).json()[0]["finished"], 0.1
            )
            moved_at = f"{clock():%H:%M:%S}"
            stop_starters([bots[BOB]])
            wait_until(lambda: is_gone(BOB), 0.1)
            wait_for_polls(ALICE)
            assert "2 teams, 1 connected" in check_after(10)
            assert program_rows(cli, folder) == [(since, moved_at, 0), (None, None, 2)]
            bots[BOB] = start(BOB)
            wait_for_polls(ALICE, BOB)
            assert "2 teams, 2 connected" in check_after(10)
            back_at = f"{clock():%H:%M:%S}"
            assert program_rows(cli, folder) == [(since, moved_at, 0), (back_at, moved_at, 2)]
        finally:
            stop_starters(bots.values())
