"""Tests that hostile names and tags cannot control the terminal or forge a line of output."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import requests
from support.cli import TEAM_1_ID, TEAM_1_PASSWORD, TEAM_2_ID, Cli, CommandResult, start_program
from support.waiting import HANG_SECONDS

from cardsharp.core.clock import SystemClock
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.euchre.service.deal_store import DEAL_STORE_FACTORY, DealKey
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.local_server.arena_server import ArenaServer

FORGERY = "match 6b00: we won"
HOSTILE_NAME = (
    f"\x1b]0;title\x07\x1b[2J\x1b[31m\x9b2J\r\n{FORGERY}\n\u2028{FORGERY}\x85\u202egnorw\u200b\x7f"
)
HOSTILE = HOSTILE_NAME + "\ud800"
"""With half a letter, which an arena of ours refuses and another may tell."""

SHORT_DRAW_PILE = [["Key", 3], ["Map", 5], ["Mermaid", 9], ["Sword", 4]]


def assert_safe_output(outcome: CommandResult) -> CommandResult:
    """Assert that an outcome has only printable text and no forged line, and return it."""
    for text in (outcome.out, outcome.err):
        assert [
            character for character in text if not character.isprintable() and character != "\n"
        ] == []
        assert not [line for line in text.split("\n") if line.lstrip().startswith(FORGERY)]
    assert "bug in Cardsharp" not in outcome.err
    return outcome


def end_match_as_opponent(url: str) -> None:
    """End a match as the other team, by turns that bank nothing."""
    with requests.Session() as session:
        session.auth = (TEAM_2_ID, TEAM_1_PASSWORD)
        while session.get(f"{url}?waitactive=1", timeout=HANG_SECONDS).status_code == 200:
            session.post(url, json={"etype": "Draw", "autopick": True}, timeout=HANG_SECONDS)
            session.post(url, json={"etype": "EndTurn"}, timeout=HANG_SECONDS)


def test_a_hostile_opponent_name_is_displayed_harmlessly(cli: Cli, tmp_path: Path) -> None:
    """A hostile name is displayed safely by `bot`, `matches`, `show` and `why`."""
    names, file = {TEAM_1_ID: "Team One", TEAM_2_ID: HOSTILE_NAME}, tmp_path / "players.json"
    players = [
        {"_id": player_id, "name": name, "password": TEAM_1_PASSWORD}
        for player_id, name in names.items()
    ]
    file.write_text(json.dumps(players))
    command = ("bot", "--user", TEAM_1_ID, "--once", "--strategy", "draw-3")
    with ArenaServer(ArenaConfig(players_file=file)) as arena, ThreadPoolExecutor(1) as pool:
        # The first of the two begins, so that both have a turn.
        tags = [HOSTILE_NAME]
        match_id = arena.create_match_and_get_id(
            [TEAM_2_ID, TEAM_1_ID], drawPile=SHORT_DRAW_PILE, tags=tags, seed="norandom"
        )
        pool.submit(end_match_as_opponent, f"{arena.url}/api/matches/{match_id}")
        settings = {"CARDSHARP_ARENA_URL": arena.url, "CARDSHARP_PASSWORD": TEAM_1_PASSWORD}
        with start_program(*command, environment=settings) as process:
            out, err = process.communicate(timeout=HANG_SECONDS)
    result = assert_safe_output(CommandResult(process.returncode, out, err))
    assert result.code == 0, result.err
    assert f"match {match_id}: draw-3 (us) v ␛]0;title" in result.out
    assert_safe_output(cli("matches"))
    show_result = assert_safe_output(cli("show", "last"))
    assert show_result.out.startswith(f"match {match_id}: draw-3 (us) v ␛]0;title")
    assert "tags ␛]0;title" in show_result.out
    turns = {
        turn["player"]: str(turn["turn"]) for turn in cli("show", "last", "--json").json()["turns"]
    }
    assert assert_safe_output(cli("why", "last", turns[1])).code == 0
    error_result = assert_safe_output(cli("why", "last", turns[0]))
    assert f"We made no decision in turn {turns[0]}, which ␛]0;title" in error_result.err
    header = assert_safe_output(cli("matches", "--json")).json()[0]["header"]
    assert (header["names"][0], header["tags"]) == (HOSTILE_NAME, [HOSTILE_NAME]), (
        "the log keeps the truth"
    )


def test_hostile_nicknames_in_blef_harm_nothing(cli: Cli, tmp_path: Path) -> None:
    """Hostile nicknames in a match log are displayed safely."""
    path = tmp_path / "blef.db"
    with closing(SqliteMatchLog(path, SystemClock())) as log:
        player_fields = {"names": ["Cardsharp"], "seats": {"0": "bayes"}}
        header = {"game": "blef", "tags": [HOSTILE], **player_fields}
        lease = log.acquire_lease("m", "me", timedelta(hours=1), header)
        facts: dict[str, Any] = {"round": 1, "player": HOSTILE, "action": HOSTILE, "actionId": 3}
        log.write_facts(
            lease, {101: facts, 102: {**facts, "hands": {HOSTILE: ["9c"]}, "actionId": 89}}
        )
        log.finish(lease, {"result": "lost", "winnerName": HOSTILE, "turns": 1})
    store = ("--store", f"sqlite:{path}")
    for command in (("show", "last"), ("blef", "show", "m"), ("matches",)):
        result = assert_safe_output(cli(*command, *store))
        assert result.code == 0, result.err
        assert assert_safe_output(cli(*command, *store, "--json")).json()
    assert "␛]0;title" in cli("show", "last", *store).out


def test_a_hostile_token_of_euchre_harms_nothing(cli: Cli, tmp_path: Path) -> None:
    path, key = tmp_path / "deals.db", DealKey(HOSTILE_NAME, 1, 1)
    with closing(DEAL_STORE_FACTORY.open_file(path, SystemClock())) as deals:
        deals.begin(key, tuple(range(24)))
    store = ("--store", f"sqlite:{path}")
    result = assert_safe_output(cli("euchre", "show", "last", *store))
    assert result.code == 0, result.err
    assert "␛]0;title" in result.out
    assert_safe_output(cli("euchre", "show", "last", *store, "--json"))
