"""R26: an action without an answer is not delivered later, by the real kernel and a real arena.

The network is cut and mended while an action is under way, in a namespace of the test's own.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.cut_off import PLAIN

INSIDE = ("unshare", "--map-root-user", "--net")
TRIED = ("sh", "-c", "ip link set lo up && tc qdisc add dev lo root blackhole")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module", autouse=True)
def _can_cut() -> None:
    for tool in ("unshare", "ip", "tc"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no `{tool}` here (util-linux, iproute2)")
    tried = subprocess.run([*INSIDE, *TRIED], capture_output=True, text=True, check=False)  # noqa: S603
    if tried.returncode != 0:
        pytest.skip(f"no network can be cut here: {tried.stderr.strip()}")


def arrived(folder: Path, fate: str, *words: str) -> int:
    """How many actions the arena got of a player that met this fate in the cut."""
    done = subprocess.run(  # noqa: S603 - our own interpreter and module
        [*INSIDE, sys.executable, "-m", "support.cut_off", "main", str(folder), fate, *words],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.parametrize("fate", ["gives up", "dies", "freezes"])
def test_r26_no_action_arrives_after_its_time(tmp_path: Path, fate: str) -> None:
    assert arrived(tmp_path, fate) == 0


@pytest.mark.parametrize("fate", ["gives up", "dies", "freezes"])
def test_with_ordinary_connections_the_kernel_delivers_it_later(tmp_path: Path, fate: str) -> None:
    """The reason for all this, and the proof that the cut is one."""
    assert arrived(tmp_path, fate, PLAIN) == 1
