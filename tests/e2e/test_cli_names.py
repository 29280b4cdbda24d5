"""Names and tags are strangers' words: none steers the terminal or forges a line of ours."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import requests
from support.cli import ONE, TEAM_ONE_PASSWORD, TWO, Cli, Outcome, start_program
from support.waiting import HANG_SECONDS

from cardsharp.core.clock import SystemClock
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.euchre.service.deal_store import DEAL_STORE_FACTORY, DealKey
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.local_server.arena_server import ArenaServer

FORGED = "match 6b00: we won"
SERVED = (
    f"\x1b]0;title\x07\x1b[2J\x1b[31m\x9b2J\r\n{FORGED}\n\u2028{FORGED}\x85\u202egnorw\u200b\x7f"
)
HOSTILE = SERVED + "\ud800"
"""With half a letter, which an arena of ours refuses and another may tell."""

SHORT = [["Key", 3], ["Map", 5], ["Mermaid", 9], ["Sword", 4]]


def unharmed(said: Outcome) -> Outcome:
    """Nothing but what can be seen and ends of lines, of which none begins with what was forged."""
    for text in (said.out, said.err):
        assert [c for c in text if not c.isprintable() and c != "\n"] == []
        assert not [line for line in text.split("\n") if line.lstrip().startswith(FORGED)]
    assert "fault of Cardsharp" not in said.err
    return said


def ended_by_somebody_else(url: str) -> None:
    """The other team ends the match of that address by turns that take nothing."""
    with requests.Session() as session:
        session.auth = (TWO, TEAM_ONE_PASSWORD)
        while session.get(f"{url}?waitactive=1", timeout=HANG_SECONDS).status_code == 200:
            session.post(url, json={"etype": "Draw", "autopick": True}, timeout=HANG_SECONDS)
            session.post(url, json={"etype": "EndTurn"}, timeout=HANG_SECONDS)


def test_a_hostile_opponent_is_shown_and_harms_nothing(cli: Cli, tmp_path: Path) -> None:
    """In `bot` while it plays, and in `matches`, `show` and `why` afterwards."""
    names, file = {ONE: "Team One", TWO: SERVED}, tmp_path / "players.json"
    players = [{"_id": i, "name": n, "password": TEAM_ONE_PASSWORD} for i, n in names.items()]
    file.write_text(json.dumps(players))
    bot = ("bot", "--user", ONE, "--once", "--strategy", "draw-3")
    with ArenaServer(ArenaConfig(players_file=file)) as arena, ThreadPoolExecutor(1) as pool:
        # The first of the two begins, so that both have a turn.
        tags = [SERVED]
        match_id = arena.create_match([TWO, ONE], drawPile=SHORT, tags=tags, seed="norandom")
        pool.submit(ended_by_somebody_else, f"{arena.url}/api/matches/{match_id}")
        settings = {"CARDSHARP_ARENA_URL": arena.url, "CARDSHARP_PASSWORD": TEAM_ONE_PASSWORD}
        with start_program(*bot, environment=settings) as run:
            out, err = run.communicate(timeout=HANG_SECONDS)
    said = unharmed(Outcome(run.returncode, out, err))
    assert said.code == 0, said.err
    assert f"match {match_id}: draw-3 (us) v ␛]0;title" in said.out
    unharmed(cli("matches"))
    shown = unharmed(cli("show", "last"))
    assert shown.out.startswith(f"match {match_id}: draw-3 (us) v ␛]0;title")
    assert "tags ␛]0;title" in shown.out
    turns = {t["player"]: str(t["turn"]) for t in cli("show", "last", "--json").json()["turns"]}
    assert unharmed(cli("why", "last", turns[1])).code == 0
    refused = unharmed(cli("why", "last", turns[0]))
    assert "not decided by us but by ␛]0;title" in refused.err
    kept = unharmed(cli("matches", "--json")).json()[0]["header"]
    assert (kept["names"][0], kept["tags"]) == (SERVED, [SERVED]), "the log keeps the truth"


def test_hostile_nicknames_in_blef_harm_nothing(cli: Cli, tmp_path: Path) -> None:
    """However they came into the log: its games are told by their players' names."""
    path = tmp_path / "blef.db"
    with closing(SqliteMatchLog(path, SystemClock())) as log:
        ours = {"names": ["Cardsharp"], "seats": {"0": "bayes"}}
        header = {"game": "blef", "tags": [HOSTILE], **ours}
        lease = log.acquire_lease("m", "me", timedelta(hours=1), header)
        told: dict[str, Any] = {"round": 1, "player": HOSTILE, "action": HOSTILE, "actionId": 3}
        log.write_facts(
            lease, {101: told, 102: {**told, "hands": {HOSTILE: ["9c"]}, "actionId": 89}}
        )
        log.finish(lease, {"result": "lost", "winnerName": HOSTILE, "turns": 1})
    store = ("--store", f"sqlite:{path}")
    for command in (("show", "last"), ("blef", "show", "m"), ("matches",)):
        said = unharmed(cli(*command, *store))
        assert said.code == 0, said.err
        assert unharmed(cli(*command, *store, "--json")).json()
    assert "␛]0;title" in cli("show", "last", *store).out


def test_a_hostile_token_of_euchre_harms_nothing(cli: Cli, tmp_path: Path) -> None:
    path, key = tmp_path / "deals.db", DealKey(SERVED, 1, 1)
    with closing(DEAL_STORE_FACTORY.open_file(path, SystemClock())) as deals:
        deals.begin(key, tuple(range(24)))
    store = ("--store", f"sqlite:{path}")
    said = unharmed(cli("euchre", "show", "last", *store))
    assert said.code == 0, said.err
    assert "␛]0;title" in said.out
    unharmed(cli("euchre", "show", "last", *store, "--json"))
