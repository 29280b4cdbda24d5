"""Make the stores of an old version with its own code: `make_stores.py CHECKOUT FOLDER`.

CHECKOUT is a git worktree of that version after its `make setup`. Its own arena and bot play one
match to its end and leave one after its first draw; a game of Blef is left after a bet, a deal of
Euchre after a card. Where that version has contests, a round robin of three teams is killed in the
middle of its second match. SQLite alone folds in what a killed process has left beside a file.
"""

import base64
import json
import lzma
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

TEAM, DUMMY, PASSWORD = "1" * 24, "0" * 24, "teamonepass"
DEALT = [4 * rank + suit for suit in range(4) for rank in range(5)] + [23, 20, 21, 22]
"""Each seat has the cards of a suit without its ace; the ace of spades is turned up."""

BY_LINE = {**os.environ, "PYTHONUNBUFFERED": "1"}


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def asked(url: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
    """The JSON of an answer; a body makes it a POST."""
    told = base64.b64encode(f"{TEAM}:{PASSWORD}".encode()).decode()
    headers = {"Authorization": f"Basic {told}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers)  # noqa: S310 - our own arena
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return json.load(answer)


def wait_for(url: str) -> None:
    """Return once this address answers."""
    for _ in range(300):
        try:
            asked(url)
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("It does not answer.")


def left_alone(url: str) -> None:
    """Begin a match and draw one card in it."""
    made = asked(url + "/api/matches", {"playerids": [TEAM, DUMMY], "randomSeed": "golden-2"})
    asked(f"{url}/api/matches/{made['id']}", {"etype": "Draw"})


def blef(command: str, folder: Path) -> None:
    """A game of Blef of two players with one bet, and who they are."""
    store, url = folder / "blef.db", f"http://127.0.0.1:{(port := free_port())}"
    serving = [command, "blef", "serve", "--port", str(port), "--store", f"sqlite:{store}"]
    server = subprocess.Popen(serving)  # noqa: S603
    try:
        wait_for(url + "/v2/version")
        game = asked(url + "/v2/games/create")["game_uuid"]
        at = f"{url}/v2/games/{game}"
        who = {name: asked(f"{at}/join?nickname={name}")["player_uuid"] for name in ("Ann", "Bob")}
        asked(f"{at}/start?admin_uuid={who['Ann']}")
        mover = who[asked(at)["cp_nickname"]]
        asked(f"{at}/play?player_uuid={mover}&action_id=0")
    finally:
        server.terminate()
        server.wait()
    (folder / "blef.json").write_text(json.dumps({"game": game, **who}))


def euchre(command: str, folder: Path) -> None:
    """A deal of Euchre that seat 0 called, after its first card."""
    store, url = folder / "euchre.db", f"http://127.0.0.1:{(port := free_port())}"
    serving = [command, "euchre", "serve", "--port", str(port), "--store", f"sqlite:{store}"]
    server = subprocess.Popen([*serving, "--strategy", "rules"])  # noqa: S603
    at, bid = {"token": "golden", "gameNum": 0, "dealNum": 1}, {"round": 1, "turnCard": 23}
    try:
        wait_for(url + "/openapi.json")
        asked(url + "/deal", {**at, "cards": DEALT, "status": "new"})
        asked(url + "/bid", {**at, **bid, "pos": 0, "suit": 3, "alone": False})
        query = urlencode({**at, "trickNum": 0, "trickSeq": 0, "pos": 0, "playableCards": "0,4"})
        asked(f"{url}/play?{query}")
    finally:
        server.terminate()
        server.wait()


def has_contests(checkout: Path) -> bool:
    """Whether that version knows contests."""
    return (checkout / "workbench/contest").exists()


def contest(command: str, folder: Path) -> None:
    """A contest that was killed in the middle of its second match."""
    subprocess.run(  # noqa: S603 - the checkout that the caller names; so below
        [command, "contest", "new", folder, "--format", "round-robin", "-n", "1"], check=True
    )
    for strategy in ("steady", "champion", "third"):
        entering = [command, "contest", "teams", "add", folder, f"Team {strategy}"]
        subprocess.run([*entering, "--strategy", strategy], check=True)  # noqa: S603
    running = [command, "contest", "run", folder, "--port", str(free_port())]
    with subprocess.Popen(running, stdout=subprocess.PIPE, env=BY_LINE) as run:  # noqa: S603
        while b"1:0" not in (line := run.stdout.readline()) and b"0:1" not in line:
            assert line, "the contest ended before a pairing did"
        while moves_of_last_match(folder / "arena.db") < 20:
            time.sleep(0.02)
        run.kill()


def moves_of_last_match(path: Path) -> int:
    """How many moves the newest match has; the arena keeps its file to itself, so of a copy."""
    with tempfile.TemporaryDirectory() as beside:
        for file in path.parent.glob("arena.db*"):
            shutil.copy(file, beside)
        with closing(sqlite3.connect(Path(beside) / "arena.db")) as db:
            counts = db.execute("SELECT count(*) FROM moves GROUP BY match_id ORDER BY match_id")
            return [int(count) for (count,) in counts][-1]


def folded(path: Path) -> Path:
    """The file with all that lay beside it."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    return path


def main(checkout: Path, folder: Path) -> None:
    """Make the stores and compress them."""
    folder.mkdir(parents=True, exist_ok=True)
    command, port = str(checkout / ".venv/bin/cardsharp"), free_port()
    arena, log = folder / "arena.db", folder / "log.db"
    environment = {
        **os.environ,
        "CARDSHARP_PASSWORD": PASSWORD,
        "CARDSHARP_STORE": f"sqlite:{log}",
        "HOME": str(folder),
    }
    url = f"http://127.0.0.1:{port}"
    serving = [command, "arena", "--port", str(port), "--data", str(arena)]
    server = subprocess.Popen([*serving, "--random", "original"], env=environment, cwd=checkout)  # noqa: S603
    try:
        wait_for(url + "/api/whoami")
        playing = [command, "practice", "--url", url, "--user", TEAM, "--opponent", "dummy"]
        subprocess.run(  # noqa: S603
            [*playing, "--seed", "golden-1"], env=environment, cwd=checkout, check=True
        )
        left_alone(url)
    finally:
        server.terminate()
        server.wait()
    blef(command, folder)
    euchre(command, folder)
    for store in (arena, log, folder / "blef.db", folder / "euchre.db"):
        store.with_suffix(".db.xz").write_bytes(lzma.compress(folded(store).read_bytes()))
    if has_contests(checkout):
        contest(command, folder / "golden")
        with tarfile.open(folder / "contest.tar.xz", "w:xz") as packed:
            for name in ("arena.db", "contest.db", "players.json"):
                path = folder / "golden" / name
                packed.add(folded(path) if name.endswith("db") else path, name)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
