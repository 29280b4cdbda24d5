"""A disk that is full and a file that may not grow: a sentence that names it, and no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import Outcome

PROGRAM = f"{sys.executable} -m workbench.cli"

LOGGING = """
import logging, resource, sys
from pathlib import Path
from workbench.stage.surroundings import telemetry_in
with telemetry_in(Path(sys.argv[1])):
    logging.warning("kept")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
    for number in range(100):
        logging.warning("much more than there is room for, %s", "x" * number)
print("went on")
"""


def shell(command: str, home: Path) -> Outcome:
    """What a shell says of our command, by the exit code of its last."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CARDSHARP_")}
    ran = subprocess.run(  # noqa: S603 - our own command
        # What counts the lines of every process writes a file of its own, and none may grow here.
        ["/bin/sh", "-c", f"unset COVERAGE_PROCESS_CONFIG COVERAGE_PROCESS_START; {command}"],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        env={**environment, "XDG_DATA_HOME": str(home)},
    )
    return Outcome(ran.returncode, ran.stdout, ran.stderr)


@pytest.mark.parametrize("json", ["", "--json"])
def test_an_output_that_is_full_is_one_sentence(tmp_path: Path, json: str) -> None:
    said = shell(f"{PROGRAM} strategies {json} > /dev/full", tmp_path)
    assert said.code == 1
    assert said.err == (
        "cardsharp: The output cannot be written: No space left on device. Make room for it.\n"
    )


@pytest.mark.slow
def test_a_match_log_that_may_not_grow_is_one_sentence(tmp_path: Path) -> None:
    said = shell(f"ulimit -f 4; {PROGRAM} play --opponent draw-3", tmp_path)
    assert said.code == 1
    assert "The match log " in said.err
    assert "stage.db cannot be used: disk I/O error" in said.err
    assert "Traceback" not in said.err
    assert "fault of Cardsharp" not in said.err


def test_a_log_that_takes_no_more_is_told_of_once_and_stops_nothing(tmp_path: Path) -> None:
    """The handlers go on: what is logged of a match is not the match."""
    path = tmp_path / "logs" / "bot.log"
    said = shell(f"exec {sys.executable} -c '{LOGGING}' {path}", tmp_path)
    assert (said.code, said.out) == (0, "went on\n")
    assert said.err == f"cardsharp: The log {path} ends here: File too large.\n"
    assert "kept" in path.read_text()
    assert path.stat().st_size <= 1_000
