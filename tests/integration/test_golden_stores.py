"""Tests that current code opens and uses the stores that each released version wrote.

`tests/samples/README.md` describes how they were created. A version's stores are never
removed.
"""

import csv
import io
import json
import lzma
import sqlite3
import tarfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from support.arena_server import ADMIN, play_random_moves, running_arena
from support.blef_service import BlefHandlerClient as Blef
from support.blef_service import StartedBlefGame
from support.cli import Cli
from support.euchre_service import DealMessages
from support.euchre_service import EuchreServiceHarness as Euchre
from support.store_fixtures import FakeClock

from cardsharp.core.timestamps import from_micros
from cardsharp.errors import ConfigError
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.match import STORED_MATCH_FORMAT
from cardsharp.games.euchre.service.deal_store import DEAL_STORE_FACTORY
from cardsharp_tools.contest import local_match_host
from cardsharp_tools.local_server.arena_server import ArenaServer

STORES = Path(__file__).parents[1] / "samples" / "stores"
VERSIONS = sorted(folder.name for folder in STORES.iterdir())
TEAM, DUMMY = "1" * 24, "0" * 24
PASSWORDS_BY_PLAYER = {TEAM: "teamonepass", DUMMY: "dummypass"}
PLAYERS = ArenaConfig().players_file


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("CARDSHARP_PASSWORD", PASSWORDS_BY_PLAYER[TEAM])
    return cli


def unpack_store(version: str, name: str, folder: Path) -> Path:
    path = folder / f"{version}-{name}"
    path.write_bytes(lzma.decompress((STORES / version / f"{name}.xz").read_bytes()))
    return path


@pytest.mark.parametrize("version", VERSIONS)
def test_an_arena_store_of_every_version_is_complete_and_continues(
    version: str, tmp_path: Path
) -> None:
    """All matches are loaded; a renamed field of the snapshot once lost those of 0.1.0."""
    data = unpack_store(version, "arena.db", tmp_path)
    with running_arena(tmp_path, data_file=data, players=PLAYERS) as (_, client):
        finished_id, running_id = sorted(
            match["_id"] for match in client.get("/api/matches", ADMIN).json()
        )
        view = client.get(f"/api/matches/{finished_id}?showevents=1", ADMIN).json()
        assert (len(view["moves"]), view["moveCount"]) == (90, 90)
        final_view = play_random_moves(client, running_id, Random(1), passwords=PASSWORDS_BY_PLAYER)
        assert final_view["activePlayerIndex"] is None
    with running_arena(tmp_path, data_file=data, players=PLAYERS) as (_, client):
        view = client.get(f"/api/matches/{running_id}?showevents=1", ADMIN).json()
        assert view["moveCount"] == final_view["moveCount"] == len(view["moves"])
        assert view["moves"][1]["events"][0]["drawCard"] == {"suit": "Key", "value": 4}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_match_log_of_every_version_can_be_displayed_and_appended_to(
    version: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = unpack_store(version, "log.db", tmp_path)
    monkeypatch.setenv("CARDSHARP_STORE", f"sqlite:{log}")
    (row,) = json.loads(cli("matches", "--json").out)
    outcome = cli("show", row["match"])
    assert outcome.code == 0
    assert "57 : 52" in outcome.out
    with running_arena(tmp_path, players=PLAYERS) as (arena, _):
        practice_command = ("practice", "--url", arena.url, "--user", TEAM, "--opponent", "dummy")
        assert (
            cli(*practice_command, "--strategy", "steady", "--draw-pile", "Key3,Map5,Hook4").code
            == 0
        )
    assert len(json.loads(cli("matches", "--json").out)) == 2


@pytest.mark.parametrize("version", VERSIONS)
def test_a_blef_store_of_every_version_continues_its_game(version: str, tmp_path: Path) -> None:
    """The clock shows the time of the game's last change, because a game expires."""
    game_ids = json.loads((STORES / version / "blef.json").read_text())
    with closing(sqlite3.connect(unpack_store(version, "blef.db", tmp_path))) as db:
        (changed_at,) = db.execute("SELECT changed FROM games").fetchone()
    clock = FakeClock(from_micros(changed_at))
    with closing(GAME_STORE_FACTORY.open_file(tmp_path / f"{version}-blef.db", clock)) as store:
        game = StartedBlefGame(Blef(store, clock), game_ids.pop("game"), game_ids)
        state = game.state()
        assert (state["status"], len(state["history"])) == ("Running", 1)
        game.play_to_end()
        assert game.state()["status"] == "Finished"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_euchre_store_of_every_version_is_displayed_and_continues_its_deal(
    version: str, tmp_path: Path, cli: Cli
) -> None:
    """A deal is displayed although it has expired, and is continued a second before its expiry."""
    path = unpack_store(version, "euchre.db", tmp_path)
    assert "led the 9 of clubs" in cli("euchre", "show", "last", "--store", f"sqlite:{path}").out
    late_clock = FakeClock(datetime(2100, 1, 1, tzinfo=UTC))
    with closing(
        DEAL_STORE_FACTORY.open_sqlite_document_store(path, late_clock, read_only=True)
    ) as documents:
        [(document_key, expiry)] = documents.keys_and_expiries()
        assert documents.get(document_key) is not None
    with closing(
        DEAL_STORE_FACTORY.open_file(path, FakeClock(expiry - timedelta(seconds=1)))
    ) as store:
        service = Euchre("rules", store)
        deal = DealMessages(service, "golden", 1)
        assert deal.request_play(0, 0, 0, [0, 4])["card"] == 0, "as it was answered then"
        assert deal.request_play(0, 1, 1, [1, 5])["card"] in {1, 5}
    assert [entry["seat"] for entry in service.log.decisions] == [1]
    assert service.log.strategy_failures == []


def test_a_killed_contest_resumes_with_its_decided_results(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_match_host, "STEP_INTERVAL_SECONDS", 0.05)
    with tarfile.open(STORES / "unreleased" / "contest.tar.xz") as archive:
        archive.extractall(tmp_path / "golden", filter="data")
    folder = str(tmp_path / "golden")
    (first_result, *_) = json.loads(cli("contest", "results", folder, "--json").out)
    run_result = cli("contest", "run", folder, "--port", "0")
    assert (run_result.code, "won by" in run_result.out) == (0, True)
    results = json.loads(cli("contest", "results", folder, "--json").out)
    assert results[0] == first_result
    assert all(result["winner"] for result in results)
    rows = list(csv.DictReader(io.StringIO(cli("contest", "results", folder, "--csv").out)))
    assert all(row["won by"] in {row["team"], row["opponent"]} for row in rows)
    csv_scores = [
        (row["match"], ":".join((row["points"], row["opponent's points"]))) for row in rows
    ]
    assert csv_scores == [
        match
        for result in results
        for match in zip(result["matches"], result["points"], strict=True)
    ]


@pytest.mark.parametrize("format_", [STORED_MATCH_FORMAT + 1, "two"])
def test_a_newer_match_format_is_refused_and_an_unreadable_match_affects_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, format_: int | str
) -> None:
    """The response is not a 404, which would mean that the match no longer exists.

    The stored format must be the current one at first. A change of its number requires the
    stores of the previous version as samples.
    """
    data = unpack_store("unreleased", "arena.db", tmp_path)
    with closing(sqlite3.connect(data)) as db:
        match, body = db.execute("SELECT id, body FROM matches ORDER BY id DESC").fetchone()
        document = json.loads(body)
        assert document["format"] == STORED_MATCH_FORMAT
        text = json.dumps({**document, "format": format_})
        db.execute("UPDATE matches SET body = ? WHERE id = ?", (text, match))
        db.commit()
    if format_ != "two":
        message = rf"A newer Cardsharp stored the match {match} .*install"
        with pytest.raises(ConfigError, match=message):
            ArenaServer(ArenaConfig(data_file=data))
        return
    with running_arena(tmp_path, data_file=data, players=PLAYERS) as (_, client):
        assert f"match {match} cannot be read. It is kept" in caplog.text
        assert len(client.get("/api/matches", ADMIN).json()) == 1
        assert client.get(f"/api/matches/{match}", ADMIN).status == 503
    with closing(sqlite3.connect(data)) as db:
        assert db.execute("SELECT count(*) FROM matches").fetchone() == (2,)
