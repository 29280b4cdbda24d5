"""R26: an action without an answer is not delivered later, by the real kernel and a real arena.

The network is cut and mended while an action is under way. This file runs itself inside a namespace
made for it (`unshare --net`): an arena serves there, and a player in a process of its own sends one
action into the cut. Printed is how many actions the arena got, once the kernel has nothing to send.
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
from support.waiting import until

from cardsharp.client.config import RequestLimits
from cardsharp.core.credentials import Credentials
from cardsharp.errors import Unreachable
from cardsharp.games.deadmansdraw.actions import DRAW
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp_tools.local_server.arena_server import ArenaServer

TESTS = Path(__file__).parents[1]
INSIDE = ("unshare", "--map-root-user", "--net")
UP = "ip link set lo up"
CUT, MENDED = ("tc", "qdisc", "add"), ("tc", "qdisc", "del")
LOOPBACK = ("dev", "lo", "root")
ACT = timedelta(seconds=1)
PLAIN = "plain"
"""The player's word for connections that are not ours but those that `requests` makes."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _can_cut() -> None:
    for tool in ("unshare", "ip", "tc"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no `{tool}` here (util-linux, iproute2)")
    tried = f"{UP} && {' '.join((*CUT, *LOOPBACK))} blackhole"
    done = subprocess.run([*INSIDE, "sh", "-c", tried], capture_output=True, check=False)  # noqa: S603
    if done.returncode != 0:
        pytest.skip(f"no network can be cut here: {done.stderr.decode().strip()}")


@pytest.mark.parametrize("fate", ["gives up", "dies", "freezes"])
@pytest.mark.parametrize("words", [(), (PLAIN,)], ids=["ours", "ordinary"])
def test_r26_no_action_arrives_past_its_deadline(
    tmp_path: Path, fate: str, words: tuple[str, ...]
) -> None:
    """But by ordinary connections: the reason for all this, and the proof that the cut is one."""
    done = subprocess.run(  # noqa: S603 - our own interpreter and module
        [*INSIDE, *itself("main", str(tmp_path), fate, *words)],
        cwd=TESTS,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert int(done.stdout) == len(words)


def itself(*words: str) -> list[str]:
    return [sys.executable, "-m", f"e2e.{Path(__file__).stem}", *words]


# --- inside the namespace ------------------------------------------------------------------------


def main(folder: str, fate: str, *words: str) -> None:
    """Cut, let the player meet its fate, mend, and print how many actions arrived."""
    run(*UP.split())
    players = write_players(Path(folder))
    with ArenaServer(ArenaConfig(players_file=players, admin_password=ADMIN_PASSWORD)) as arena:
        match_id = arena.create_match_and_get_id([ALICE, ALICE])
        initial_count = arena.admin_view(match_id)["moveCount"]
        with subprocess.Popen(  # noqa: S603 - our own interpreter and module
            itself("play", arena.url, match_id, *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as player:
            assert heard(player) == "ready"
            run(*CUT, *LOOPBACK, "blackhole")
            player.stdin.write("\n")
            player.stdin.flush()
            meet(fate, player)
            run(*MENDED, *LOOPBACK)
            until(lambda: not unsent())
            player.kill()
        print(arena.admin_view(match_id)["moveCount"] - initial_count)  # noqa: T201 - the answer


def meet(fate: str, player: "subprocess.Popen[str]") -> None:
    if fate == "gives up":
        assert heard(player) == "no answer"
        return
    until(unsent)
    if fate == "dies":
        player.kill()
        player.wait()
    else:
        player.send_signal(signal.SIGSTOP)
        threading.Event().wait(2.5 * ACT.total_seconds())  # longer than an action may take


def play(url: str, match_id: str, *words: str) -> None:
    """The player: connect, wait for a word, send one action."""
    limits = RequestLimits(action_timeout=ACT, connect_timeout=ACT / 2)
    with ArenaClient(url, Credentials(ALICE, PASSWORDS[ALICE]), limits) as client:
        if PLAIN in words:
            client._transport._session.mount("http://", HTTPAdapter(max_retries=0))
        client.get_match(match_id)
        print("ready", flush=True)  # noqa: T201 - what is waited for
        sys.stdin.readline()
        try:
            client.act(match_id, DRAW)
        except Unreachable:
            print("no answer", flush=True)  # noqa: T201 - the same
        sys.stdin.readline()


def heard(player: "subprocess.Popen[str]") -> str:
    return player.stdout.readline().strip()


def unsent() -> bool:
    """Return True if a connection of this network namespace has unacknowledged bytes."""
    lines = Path("/proc/self/net/tcp").read_text().splitlines()[1:]
    return any(int(line.split()[4].partition(":")[0], 16) for line in lines)


def run(*command: str) -> None:
    subprocess.run(command, check=True)  # noqa: S603 - `ip` and `tc`


if __name__ == "__main__":
    {"main": main, "play": play}[sys.argv[1]](*sys.argv[2:])
