"""Tests of `cardsharp watch`: pages of a match log, a file, an arena, and live matches."""

import gzip
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest import mock

import pytest
import requests
from support.arena_server import ADMIN, ALICE, BOB, PASSWORDS, running_arena
from support.cli import Cli
from support.stored_matches import FAST_STRATEGIES, sample_match, serve_matches
from support.waiting import HANG_SECONDS

from cardsharp.analysis import match_listing
from cardsharp.contest.contest_file import create_contest_in
from cardsharp.contest.models import ContestSettings
from cardsharp.pages.assets import BASE_ASSETS, CONTENT_SECURITY_POLICY
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.game_rooms.room_server import serve_match_pages
from cardsharp_tools.match_sources.arena_reader import ArenaMatchReader
from cardsharp_tools.match_sources.sources import find_source

TTL = timedelta(minutes=1)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[SqliteMatchLog, str]]:
    """A match log with a match of each game, and the address of its pages."""
    with serve_matches(
        tmp_path, {name: sample_match(name) for name in FAST_STRATEGIES}
    ) as log_and_url:
        yield log_and_url


def test_every_page_has_a_strict_policy_and_foreign_host_names_are_refused(
    served: tuple[SqliteMatchLog, str],
) -> None:
    _, url = served
    paths = ["/matches", "/matches/blef", "/matches/blef?step=2", "/matches/blef/steps"]
    paths += ["/matches/deadmansdraw/analysis", "/matches/deadmansdraw?analysis=yes"]
    for path in [*paths, *(f"/page/{name}" for name in BASE_ASSETS.names)]:
        response = requests.get(url + path, timeout=HANG_SECONDS)
        assert response.status_code == 200, path
        assert response.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert response.headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    # A page of somebody else, whose name leads to this machine, could read our matches.
    response = requests.get(
        f"{url}/matches", headers={"Host": "evil.example"}, timeout=HANG_SECONDS
    )
    assert response.status_code == 400


def test_a_waiting_request_is_answered_by_the_next_move(served: tuple[SqliteMatchLog, str]) -> None:
    """The next move and the end of a match answer a waiting request at once."""
    (log, url), (record, moves) = served, sample_match("deadmansdraw")
    lease, steps = (
        log.acquire_lease("live", "test", TTL, record.header),
        f"{url}/matches/live/steps",
    )
    log.write_facts(lease, {move.sequence: move.facts for move in moves[:3] if move.facts})
    assert requests.get(steps, timeout=HANG_SECONDS).json()["total"] == 3
    with ThreadPoolExecutor(1) as pool:
        poll = pool.submit(requests.get, f"{steps}?from=3&wait=1", timeout=HANG_SECONDS)
        log.write_facts(lease, {move.sequence: move.facts for move in moves[3:4] if move.facts})
        document = poll.result(HANG_SECONDS).json()
    assert [document[name] for name in ("from", "total", "over")] == [3, 4, False]
    log.finish(lease, record.outcome or {})
    assert requests.get(f"{steps}?from=4&wait=1", timeout=HANG_SECONDS).json()["over"] is True


def test_an_arena_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A player watches with a password; without a password the page explains what to do."""
    with running_arena(tmp_path) as (arena, client):
        match = arena.create_match_and_get_id([ALICE, BOB], seed="norandom")
        client.post(f"/api/matches/{match}", ALICE, {"etype": "Draw"})
        monkeypatch.setenv("CARDSHARP_USER", ALICE)
        monkeypatch.setenv("CARDSHARP_PASSWORD", PASSWORDS[ALICE])
        with serve_match_pages(find_source(arena.url)) as address:
            assert "Alice v Bob" in requests.get(f"{address}/matches", timeout=HANG_SECONDS).text
            steps = requests.get(f"{address}/matches/{match}/steps", timeout=HANG_SECONDS).json()
            assert steps["total"] == 2
        monkeypatch.delenv("CARDSHARP_PASSWORD")
        with serve_match_pages(find_source(arena.url)) as address:
            error_response = requests.get(f"{address}/matches", timeout=HANG_SECONDS)
            assert (error_response.status_code, "CARDSHARP_USER" in error_response.text) == (
                503,
                True,
            )


def test_a_long_list_of_an_arena_is_read_in_few_requests(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An arena can only list its newest matches, so a longer list is requested and kept."""
    with running_arena(tmp_path, is_public=True) as (arena, _):
        ids = [arena.create_match_and_get_id([ALICE, BOB]) for _ in range(25)][::-1]
        rows = cli("matches", arena.url, "--limit", "25", "--json").json()
        assert [row["match"] for row in rows] == ids
        monkeypatch.setattr(match_listing, "_PAGE_SIZE", 3)
        with mock.patch.object(
            ArenaMatchReader,
            "_send_request",
            autospec=True,
            side_effect=ArenaMatchReader._send_request,
        ) as requests_sent:
            rows = cli("matches", arena.url, "--limit", "99", "--json").json()
        assert [row["match"] for row in rows] == ids
        assert len(requests_sent.mock_calls) == 2, "instead of one for each three matches"


def test_all_sources_have_the_same_matches(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_listing, "_PAGE_SIZE", 1)  # each list is read page by page
    contest_folder = tmp_path / "cup"
    create_contest_in(contest_folder, ContestSettings("cup")).close()
    files = {"one.json": b"", "all.jsonl": b"", "all.jsonl.gz": b""}
    summaries = {}
    with running_arena(tmp_path, data_file=contest_folder / "arena.db", is_public=True) as (
        arena,
        client,
    ):
        for tag in ("cup", "other", "cup"):
            match = arena.create_match_and_get_id([ALICE, BOB], tags=[tag], seed="norandom")
            client.post(f"/api/matches/{match}", ALICE, {"etype": "Draw"})
            client.request("DELETE", f"/api/matches/{match}/terminate", ADMIN, {"winnerId": ALICE})
            body = client.get(f"/api/matches/{match}?showevents=true", ADMIN).text.encode()
            files["all.jsonl"] += body + b"\n"
            files["one.json"] = body
        outcome = cli("matches", f"sqlite:{contest_folder / 'arena.db'}")
        assert (outcome.code, "An arena is running on it: name its address" in outcome.err) == (
            2,
            True,
        )
        assert re.search("Alice v Bob +both seats +0 : 0", cli("matches", arena.url).out)
        for address in (arena.url, f"{arena.url}/matches/statistics?tag=cup"):
            summaries[address] = _source_summary(cli, address)
        assert cli("show", match[-5:], "--store", arena.url, "--json").json()["match"] == match
        assert "No match 'zz'" in cli("show", "zz", "--store", arena.url).err
    files["all.jsonl.gz"] = gzip.compress(files["all.jsonl"])
    for name, text in files.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_bytes(text)
        summaries[name] = _source_summary(cli, str(tmp_path / name / name))
        summaries[f"{name} in a folder"] = _source_summary(cli, str(tmp_path / name))
    for source in (
        str(contest_folder),
        str(contest_folder / "arena.db"),
        f"sqlite:{contest_folder / 'arena.db'}",
    ):
        summaries[source] = _source_summary(cli, source)
    standard_input = BytesIO(files["all.jsonl"])
    monkeypatch.setattr("sys.stdin", TextIOWrapper(standard_input))
    summaries["-"] = (
        [row["match"] for row in cli("matches", "-", "--json").json()],
        summaries["one.json"][1],
    )
    arena_summary = summaries.pop(arena.url)
    assert len(arena_summary[0]) == 3
    assert {len(summary[0]) for summary in summaries.values()} == {1, 2, 3}
    for name, (ids, first_match_summary) in summaries.items():
        assert ids in (arena_summary[0], arena_summary[0][:1], arena_summary[0][::2]), name
        assert first_match_summary == arena_summary[1], name
    (tmp_path / "none").mkdir()
    outcome = cli("show", str(tmp_path / "none"))
    assert (outcome.code, "no recorded match" in outcome.err) == (2, True)


def _source_summary(cli: Cli, source: str) -> tuple[list[str], object]:
    """Return the ids of a source's matches, and the tags and turns of its first one."""
    ids = [row["match"] for row in cli("matches", source, "--json").json()]
    assert cli("watch", source, "--json").json()["match"] == ids[0]
    document = cli("show", source, "--json").json()
    assert document["match"] == ids[0]
    return ids, (document["header"]["tags"], document["turns"])


@pytest.mark.usefixtures("served")
def test_watch_writes_a_single_file_and_json(cli: Cli, tmp_path: Path) -> None:
    store = ("--store", f"sqlite:{tmp_path / 'matches.db'}")
    file = tmp_path / "match.html"
    assert cli("watch", "blef", "--html", str(file), *store).code == 0
    assert file.read_text().startswith("<!doctype html>")
    public_file = tmp_path / "public.html"
    cli("watch", "blef", "--html", str(public_file), "--public", *store)
    assert len(public_file.read_text()) < len(file.read_text())
    svg_file = tmp_path / "match.svg"
    result = cli("watch", "deadmansdraw", "--svg", str(svg_file), "--json", *store).json()
    assert result == {"match": "deadmansdraw", "file": str(svg_file)}
    assert svg_file.read_text().startswith("<svg")
    assert "cannot be written" in cli("watch", "blef", "--html", str(tmp_path), *store).err
    document = cli("watch", "euchre", "--json", *store).json()
    assert document["match"] == "euchre"
    assert len(document["steps"]) == document["total"]
    assert "No match 'none'" in cli("watch", "none", *store).err
    assert cli("watch", str(tmp_path / "no.json")).code == 2
