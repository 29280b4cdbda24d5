"""`make contest` in small: whatever is killed, frozen or slow, the contest's result is whole."""

import subprocess
import sys

import pytest

REHEARSAL = (sys.executable, "-m", "workbench.bench.rehearsal.rehearse")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_contest_is_whole_whatever_fails() -> None:
    setting = ("--teams", "4", "--matches", "1", "--timeout", "2", "--every", "5", "--seed", "5")
    done = subprocess.run(  # noqa: S603 - our own module
        [*REHEARSAL, *setting, "--practice", "5"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The result is whole." in done.stdout
    assert "the contest was killed" in done.stdout
