"""`make chaos` in small: whole matches, machines killed and frozen, no promise broken."""

import subprocess
import sys

import pytest

CHAOS = (sys.executable, "-m", "workbench.bench.chaos.night", "--turn-limit", "60")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("cloud", "matches"), [("embedded", 12), ("emulator", 4)])
def test_no_promise_is_broken_whatever_fails(cloud: str, matches: int) -> None:
    setting = ("--cloud", cloud, "--matches", str(matches), "--seed", "5", "--rate", "0.1")
    setting += ("--every", "2")
    done = subprocess.run([*CHAOS, *setting], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{matches} matches" in done.stdout
    assert "actions unintended: 0" in done.stdout
    assert "machine killed" in done.stdout
