"""`cardsharp blef` and `euchre` as anybody would run them; a server killed under its clients."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
import requests
from support.cli import Cli, start_program, wait_for_line
from support.euchre_deals import play_deal, strategy_player
from support.waiting import HANG_SECONDS

from cardsharp.games.euchre.actions import Action
from cardsharp.games.euchre.simulation import SimulatedMatch, shuffled_deck
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.games.euchre.remote_player import RemotePlayer

NOBODY = "http://127.0.0.1:9"
"""An address where nothing listens: the port of `discard`, which no machine serves any more."""

LEFT = {"blef": {"bot.log"}, "euchre": {"euchre.db", "euchre.log"}}
"""What a game's service leaves in the folder of everything that this program keeps."""


@contextmanager
def serving(folder: Path) -> Iterator[Callable[[], str]]:
    """What starts `cardsharp euchre serve`, and kills the one before; it returns the address."""
    log, store = folder / "euchre.log", f"sqlite:{folder}/deals.db"
    serve = ("euchre", "serve", "--port", "0", "--json", "--strategy", "rules")
    with ExitStack() as stack:

        def start() -> str:
            stack.close()
            process = stack.enter_context(
                start_program(*serve, "--store", store, "--log", str(log))
            )
            told = json.loads(process.stdout.readline())
            assert told["openapi"] == f"{told['url']}/openapi.json"
            assert told["log"] == str(log)
            return str(told["url"])

        yield start


def test_a_killed_server_goes_on_where_it_was_and_explains_each_decision(
    cli: Cli, tmp_path: Path
) -> None:
    """`kill -9` in the bidding and in the card play: the deal is the one without, and is shown."""
    rules = strategy_player("rules")
    cards = shuffled_deck(Random(4))
    expected = play_deal(cards, [rules] * 4)
    asked: list[SimulatedMatch] = []
    with serving(tmp_path) as start, RemotePlayer(start()) as remote:
        player = remote.for_match((0, 2))

        def decide(match: SimulatedMatch) -> Action:
            asked.append(match)
            if len(asked) in {2, 7}:
                remote.base = start()
            return player.decide(match)

        restarting = SimpleNamespace(decide=decide, end_match=player.end_match)
        assert play_deal(cards, (restarting, rules, restarting, rules)) == expected
    lines = [json.loads(line) for line in (tmp_path / "euchre.log").read_text("utf-8").splitlines()]
    decisions = [line for line in lines if line.get("message") == "decision"]
    assert len(decisions) == len(asked)
    assert {line["question"] for line in decisions} >= {"bid", "play"}
    for line in decisions:
        assert line["reason"]
        assert {"seat", "answer", "candidates", "worlds", "decision_ms", "deal_num"} <= set(line)
        assert "fault" not in line
    store = f"sqlite:{tmp_path}/deals.db"
    told = cli("euchre", "show", "--store", store, "--json").json()
    assert told["status"] == "finished"
    [group] = cli("euchre", "stats", "--store", store, "--json").json()["groups"]
    assert group["withoutLuck"] is not None
    steps = told["steps"]
    ours = [step for step in steps if step["decision"]]
    assert len(ours) == len(asked)
    assert all(step["happened"] == step["decision"]["action"] for step in ours)
    assert ours[0]["decision"]["reason"] in cli("euchre", "why", "last", "1", "--store", store).out
    [again] = cli("euchre", "try", "rules", "--store", store, "--json").json()
    seats = [decision["seat"] for decision in again["decisions"]]
    assert len([seat for seat in seats if seat in {0, 2}]) == len(asked)
    assert set(seats) == {0, 1, 2, 3}, "a deal that is over tells what the others held, too"
    assert not any(one["differs"] for one in again["decisions"])


@pytest.mark.slow
def test_duel_plays_a_service_too(cli: Cli, tmp_path: Path) -> None:
    duel, options = ("euchre", "duel"), ("random", "-n", "1", "--workers", "1", "--json")
    with serving(tmp_path) as start:
        over_http = cli(*duel, start(), *options).json()
    assert {**over_http, "players": []} == {**cli(*duel, "rules", *options).json(), "players": []}
    gone = cli(*duel, NOBODY, *options)
    assert (gone.code, "euchre serve` running" in gone.err) == (ExitCode.UNREACHABLE, True)


def test_a_duel_shows_its_progress_and_colours_on_a_terminal_only(cli: Cli) -> None:
    """The same command before a terminal and before a pipe; its result is the same."""
    before_pipe = cli("euchre", "duel", "rules", "random", "-n", "1").out
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "cardsharp_tools.cli",
            "euchre",
            "duel",
            "rules",
            "random",
            "-n",
            "1",
        ],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    out, _ = process.communicate(timeout=HANG_SECONDS)
    seen = ""
    with suppress(OSError), os.fdopen(ours, newline="") as terminal:  # which ends with an error
        for line in terminal:
            seen += line
    assert "rules v random" in seen
    assert "1/1" in seen
    assert "\x1b[" in seen
    assert out.decode() == before_pipe
    assert "\x1b" not in before_pipe


@pytest.mark.parametrize("game", LEFT)
def test_serve_says_where_it_is_and_answers_until_ctrl_c(tmp_path: Path, game: str) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path)}
    with start_program(game, "serve", "--port", "0", environment=home) as process:
        url = wait_for_line(process.stdout, f"{game.capitalize()} at ").split()[2].rstrip(",")
        assert requests.get(f"{url}/openapi.json", timeout=HANG_SECONDS).status_code == 200
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=HANG_SECONDS)
    assert f"{game.capitalize()} is closed" in rest
    assert (errors, process.returncode) == ("", 0)
    kept = {path.name for path in (tmp_path / "cardsharp").iterdir()}
    assert kept >= LEFT[game]
