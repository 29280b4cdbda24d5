"""Tests of the commands `cardsharp blef` and `euchre`, with servers killed under clients."""

import asyncio
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
from cardsharp.games.euchre.simulation import SimulatedEuchreMatch, shuffled_deck
from cardsharp.play.catalog import get_game
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.games.euchre.remote_player import RemotePlayerClient
from cardsharp_tools.local_play import game_service

UNREACHABLE_URL = "http://127.0.0.1:9"
"""An address where nothing listens: the port of `discard`, which no machine serves any more."""

EXPECTED_FILES = {"blef": {"bot.log"}, "euchre": {"euchre.db", "euchre.log"}}
"""What a game's service leaves in the folder of everything that this program keeps."""


@contextmanager
def serve_euchre(folder: Path) -> Iterator[Callable[[], str]]:
    """Yield a function that starts `cardsharp euchre serve` and returns its address.

    Each call kills the server that the previous call started.
    """
    log, store = folder / "euchre.log", f"sqlite:{folder}/deals.db"
    serve = ("euchre", "serve", "--port", "0", "--json", "--strategy", "rules")
    with ExitStack() as stack:

        def start_server() -> str:
            stack.close()
            process = stack.enter_context(
                start_program(*serve, "--store", store, "--log", str(log))
            )
            startup_message = json.loads(process.stdout.readline())
            assert startup_message["openapi"] == f"{startup_message['url']}/openapi.json"
            assert startup_message["log"] == str(log)
            return str(startup_message["url"])

        yield start_server


def test_a_killed_server_resumes_the_deal_and_explains_each_decision(
    cli: Cli, tmp_path: Path
) -> None:
    """A deal continues after `kill -9` in the bidding and in the play.

    Its result is that of an uninterrupted deal, and it can be displayed.
    """
    rules_player = strategy_player("rules")
    cards = shuffled_deck(Random(4))
    expected = play_deal(cards, [rules_player] * 4)
    decision_requests: list[SimulatedEuchreMatch] = []
    with serve_euchre(tmp_path) as start, RemotePlayerClient(start()) as remote:
        player = remote.for_match((0, 2))

        def decide(match: SimulatedEuchreMatch) -> Action:
            decision_requests.append(match)
            if len(decision_requests) in {2, 7}:
                remote.base = start()
            return player.decide(match)

        restarting_player = SimpleNamespace(decide=decide, on_match_end=player.on_match_end)
        assert (
            play_deal(cards, (restarting_player, rules_player, restarting_player, rules_player))
            == expected
        )
    lines = [json.loads(line) for line in (tmp_path / "euchre.log").read_text("utf-8").splitlines()]
    decisions = [line for line in lines if line.get("message") == "decision"]
    assert len(decisions) == len(decision_requests)
    assert {line["question"] for line in decisions} >= {"bid", "play"}
    for line in decisions:
        assert line["reason"]
        assert {"seat", "answer", "candidates", "worlds", "decision_ms", "deal_num"} <= set(line)
        assert "fault" not in line
    store = f"sqlite:{tmp_path}/deals.db"
    deal = cli("euchre", "show", "--store", store, "--json").json()
    assert deal["status"] == "finished"
    [group] = cli("euchre", "stats", "--store", store, "--json").json()["groups"]
    assert group["withoutLuck"] is not None
    steps = deal["steps"]
    our_steps = [step for step in steps if step["decision"]]
    assert len(our_steps) == len(decision_requests)
    assert all(step["happened"] for step in our_steps)
    explanation = cli("euchre", "why", "last", "1", "--store", store).out
    assert our_steps[0]["decision"]["reason"] in " ".join(explanation.split())
    [replayed_deal] = cli("euchre", "backtest", "rules", "--store", store, "--json").json()
    seats = [decision["seat"] for decision in replayed_deal["decisions"]]
    assert len([seat for seat in seats if seat in {0, 2}]) == len(decision_requests)
    assert set(seats) == {0, 1, 2, 3}, "a deal that is over tells what the others held, too"
    assert not any(decision["differs"] for decision in replayed_deal["decisions"])


@pytest.mark.slow
def test_duel_plays_a_service_too(cli: Cli, tmp_path: Path) -> None:
    duel, options = ("euchre", "duel"), ("random", "-n", "1", "--workers", "1", "--json")
    with serve_euchre(tmp_path) as start:
        over_http = cli(*duel, start(), *options).json()
    assert {**over_http, "players": []} == {**cli(*duel, "rules", *options).json(), "players": []}
    unreachable_result = cli(*duel, UNREACHABLE_URL, *options)
    assert (unreachable_result.code, "euchre serve` running" in unreachable_result.err) == (
        ExitCode.UNREACHABLE,
        True,
    )


def test_a_duel_shows_its_progress_and_colours_on_a_terminal_only(cli: Cli) -> None:
    """A duel prints the same result on a terminal and to a pipe; only a terminal has colours."""
    piped_output = cli("euchre", "duel", "rules", "random", "-n", "1").out
    parent_fd, child_fd = pty.openpty()
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
        stderr=child_fd,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(child_fd)
    out, _ = process.communicate(timeout=HANG_SECONDS)
    terminal_output = ""
    with (
        suppress(OSError),
        os.fdopen(parent_fd, newline="") as terminal,
    ):  # which ends with an error
        for line in terminal:
            terminal_output += line
    assert "rules v random" in terminal_output
    assert "1/1" in terminal_output
    assert "\x1b[" in terminal_output
    assert out.decode() == piped_output
    assert "\x1b" not in piped_output


@pytest.mark.parametrize("game", EXPECTED_FILES)
def test_serve_prints_its_address_and_answers_until_ctrl_c(tmp_path: Path, game: str) -> None:
    environment = {"XDG_DATA_HOME": str(tmp_path)}
    with start_program(game, "serve", "--port", "0", environment=environment) as process:
        url = (
            wait_for_line(process.stdout, f"{game.capitalize()} is served at ")
            .split()[4]
            .rstrip(".")
        )
        assert requests.get(f"{url}/openapi.json", timeout=HANG_SECONDS).status_code == 200
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=HANG_SECONDS)
    assert f"{game.capitalize()} is stopped" in rest
    assert (errors, process.returncode) == ("", 0)
    file_names = {path.name for path in (tmp_path / "cardsharp").iterdir()}
    assert file_names >= EXPECTED_FILES[game]


def test_a_service_is_announced_once_a_signal_can_stop_it() -> None:
    """A service is announced only when its event loop handles signals."""
    event_loops: list[asyncio.AbstractEventLoop] = []

    def announce(_url: str) -> None:
        event_loops.append(asyncio.get_running_loop())
        raise KeyboardInterrupt

    game_service.serve(get_game("blef"), announce)
    assert len(event_loops) == 1
