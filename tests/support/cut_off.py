"""A cut in the network while an action is being sent, by the real kernel.

Run inside a network namespace made for it (`unshare --net`), whose loopback it cuts and mends. An
arena serves there, and a player in a process of its own sends one action into the cut. Printed is
how many actions the arena got in the end, once the kernel has no byte left to send.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from requests.adapters import HTTPAdapter

from cardsharp.access import Credentials, Limits
from cardsharp.deadmansdraw.actions import DRAW
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.errors import Unreachable
from support.arena import ADMIN_PASSWORD, ALICE, PASSWORDS, write_players
from workbench.arena.server import ArenaServer

ACT = timedelta(seconds=1)
LIMIT = 30
"""Seconds within which everything here must have happened, on the slowest machine."""

LOOPBACK = ("dev", "lo", "root")
PLAIN = "plain"
"""The player's word for connections that are not ours but those that `requests` makes."""


def main(folder: str, fate: str, *words: str) -> None:
    """Cut, let the player meet its fate, mend, and print how many actions arrived."""
    _run("ip", "link", "set", "lo", "up")
    players = write_players(Path(folder))
    with ArenaServer(ArenaConfig(players=players, admin_password=ADMIN_PASSWORD)) as arena:
        match_id = arena.create_match([ALICE, ALICE])
        before = _moves(arena.url, match_id)
        with _player(arena.url, match_id, *words) as player:
            _run("tc", "qdisc", "add", *LOOPBACK, "blackhole")
            _say(player)
            FATES[fate](player)
            _run("tc", "qdisc", "del", *LOOPBACK)
            _until(lambda: not _unsent())
        _tell(_moves(arena.url, match_id) - before)


def _moves(url: str, match_id: str) -> int:
    with ArenaClient(url, Credentials(ALICE, PASSWORDS[ALICE])) as client:
        return client.view(match_id).move_count


def _gives_up(player: "subprocess.Popen[str]") -> None:
    """The time for the answer is over, and the player lives on."""
    assert _heard(player) == "no answer"


def _dies(player: "subprocess.Popen[str]") -> None:
    _until(_unsent)
    player.kill()
    player.wait()


def _freezes(player: "subprocess.Popen[str]") -> None:
    """The player is stopped, for longer than an action may take."""
    _until(_unsent)
    player.send_signal(signal.SIGSTOP)
    time.sleep(2.5 * ACT.total_seconds())


FATES: dict[str, Callable[["subprocess.Popen[str]"], None]] = {
    "gives up": _gives_up,
    "dies": _dies,
    "freezes": _freezes,
}


def play(url: str, match_id: str, *words: str) -> None:
    """The player: connect, wait for a word, send one action."""
    limits = Limits(act=ACT, connect=ACT / 2)
    with ArenaClient(url, Credentials(ALICE, PASSWORDS[ALICE]), limits) as client:
        if PLAIN in words:
            client._exchange._session.mount("http://", HTTPAdapter(max_retries=0))
        client.view(match_id)
        _tell("ready")
        sys.stdin.readline()
        try:
            client.act(match_id, DRAW)
            _tell("answered")
        except Unreachable:
            _tell("no answer")
        sys.stdin.readline()


@contextmanager
def _player(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A player that has asked once, so that its connection is made."""
    with subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", "support.cut_off", "play", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as player:
        assert _heard(player) == "ready"
        try:
            yield player
        finally:
            player.kill()


def _say(player: "subprocess.Popen[str]") -> None:
    assert player.stdin is not None
    player.stdin.write("\n")
    player.stdin.flush()


def _tell(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def _heard(player: "subprocess.Popen[str]") -> str:
    assert player.stdout is not None
    return player.stdout.readline().strip()


def _unsent() -> bool:
    """Whether any connection of this namespace has bytes that were not acknowledged."""
    lines = Path("/proc/self/net/tcp").read_text().splitlines()[1:]
    return any(int(line.split()[4].partition(":")[0], 16) for line in lines)


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < end, "it never came to pass"
        time.sleep(0.02)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, env={"PATH": os.defpath + ":/sbin:/usr/sbin"})  # noqa: S603


if __name__ == "__main__":
    {"main": main, "play": play}[sys.argv[1]](*sys.argv[2:])
