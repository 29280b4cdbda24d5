"""Test of R26: an unanswered action is not delivered later by a real kernel to a real arena.

The network is cut and restored while an action is under way. This file runs itself inside
a new network namespace (`unshare --net`). There an arena serves, and a player in a
separate process sends one action into the cut. The output is the number of actions that
reached the arena once the kernel has nothing left to send.
"""

import shutil
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from requests.adapters import HTTPAdapter
from support.arena_server import ADMIN_PASSWORD, ALICE, PASSWORDS, write_players
from support.waiting import wait_until

from cardsharp.client.config import RequestLimits
from cardsharp.core.credentials import Credentials
from cardsharp.errors import Unreachable
from cardsharp.games.deadmansdraw.actions import DRAW
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp_tools.local_server.arena_server import ArenaServer

TESTS = Path(__file__).parents[1]
UNSHARE = ("unshare", "--map-root-user", "--net")
LOOPBACK_UP = "ip link set lo up"
CUT_NETWORK, RESTORE_NETWORK = ("tc", "qdisc", "add"), ("tc", "qdisc", "del")
LOOPBACK = ("dev", "lo", "root")
ACTION_TIMEOUT = timedelta(seconds=1)
PLAIN_CONNECTIONS = "plain"
"""The player's word for connections that are not ours but those that `requests` makes."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _require_network_tools() -> None:
    for tool in ("unshare", "ip", "tc"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no `{tool}` here (util-linux, iproute2)")
    script = f"{LOOPBACK_UP} && {' '.join((*CUT_NETWORK, *LOOPBACK))} blackhole"
    result = subprocess.run([*UNSHARE, "sh", "-c", script], capture_output=True, check=False)  # noqa: S603
    if result.returncode != 0:
        pytest.skip(f"no network can be cut here: {result.stderr.decode().strip()}")


@pytest.mark.parametrize("fate", ["gives up", "dies", "freezes"])
@pytest.mark.parametrize("words", [(), (PLAIN_CONNECTIONS,)], ids=["ours", "ordinary"])
def test_r26_no_action_arrives_past_its_deadline(
    tmp_path: Path, fate: str, words: tuple[str, ...]
) -> None:
    """Only ordinary connections deliver an action late, which proves that the cut works."""
    process = subprocess.run(  # noqa: S603 - our own interpreter and module
        [*UNSHARE, *module_command("main", str(tmp_path), fate, *words)],
        cwd=TESTS,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert int(process.stdout) == len(words)


def module_command(*words: str) -> list[str]:
    return [sys.executable, "-m", f"e2e.{Path(__file__).stem}", *words]


# --- inside the namespace ------------------------------------------------------------------------


def run_arena(folder: str, fate: str, *words: str) -> None:
    """Cut the network, let the player fail, restore it, and print how many actions arrived."""
    run_command(*LOOPBACK_UP.split())
    players = write_players(Path(folder))
    with ArenaServer(ArenaConfig(players_file=players, admin_password=ADMIN_PASSWORD)) as arena:
        match_id = arena.create_match_and_get_id([ALICE, ALICE])
        initial_count = arena.admin_view(match_id)["moveCount"]
        with subprocess.Popen(  # noqa: S603 - our own interpreter and module
            module_command("play", arena.url, match_id, *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as player:
            assert read_line(player) == "ready"
            run_command(*CUT_NETWORK, *LOOPBACK, "blackhole")
            player.stdin.write("\n")
            player.stdin.flush()
            fail_player(fate, player)
            run_command(*RESTORE_NETWORK, *LOOPBACK)
            wait_until(lambda: not has_unsent_bytes())
            player.kill()
        print(arena.admin_view(match_id)["moveCount"] - initial_count)  # noqa: T201 - the answer


def fail_player(fate: str, player: "subprocess.Popen[str]") -> None:
    if fate == "gives up":
        assert read_line(player) == "no answer"
        return
    wait_until(has_unsent_bytes)
    if fate == "dies":
        player.kill()
        player.wait()
    else:
        player.send_signal(signal.SIGSTOP)
        threading.Event().wait(
            2.5 * ACTION_TIMEOUT.total_seconds()
        )  # longer than an action may take


def run_player(url: str, match_id: str, *words: str) -> None:
    """Connect as the player, wait for a line of input, and send one action."""
    limits = RequestLimits(action_timeout=ACTION_TIMEOUT, connect_timeout=ACTION_TIMEOUT / 2)
    with ArenaClient(url, Credentials(ALICE, PASSWORDS[ALICE]), limits) as client:
        if PLAIN_CONNECTIONS in words:
            client._transport._session.mount("http://", HTTPAdapter(max_retries=0))
        client.get_match(match_id)
        print("ready", flush=True)  # noqa: T201 - what is waited for
        sys.stdin.readline()
        try:
            client.act(match_id, DRAW)
        except Unreachable:
            print("no answer", flush=True)  # noqa: T201 - the same
        sys.stdin.readline()


def read_line(player: "subprocess.Popen[str]") -> str:
    return player.stdout.readline().strip()


def has_unsent_bytes() -> bool:
    """Return True if a connection of this network namespace has unacknowledged bytes."""
    lines = Path("/proc/self/net/tcp").read_text().splitlines()[1:]
    return any(int(line.split()[4].partition(":")[0], 16) for line in lines)


def run_command(*command: str) -> None:
    subprocess.run(command, check=True)  # noqa: S603 - `ip` and `tc`


if __name__ == "__main__":
    {"main": run_arena, "play": run_player}[sys.argv[1]](*sys.argv[2:])
