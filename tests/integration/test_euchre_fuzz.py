"""Requests made up from the published document: never a 5xx, never an answer outside it.

Runs where schemathesis is installed: in this environment, on PATH, or where SCHEMATHESIS says.
EUCHRE_FUZZ is how many cases are made for each operation, 20 unless told; 500 take 3 minutes.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cardsharp.euchre.journal import NoJournal
from cardsharp.euchre.strategies import build
from workbench.euchre.home import euchre_front

HERE = str(Path(sys.executable).parent)
COMMAND = os.environ.get("SCHEMATHESIS") or shutil.which(
    "schemathesis", path=os.pathsep.join([HERE, os.environ.get("PATH", "")])
)
CASES = os.environ.get("EUCHRE_FUZZ", "20")


@pytest.mark.skipif(
    COMMAND is None, reason="schemathesis is not installed; run `uv sync --group fuzz`"
)
@pytest.mark.timeout(900)
def test_no_request_of_the_document_is_answered_outside_of_it() -> None:
    with euchre_front(build("rules"), journal=NoJournal()) as front:
        ran = subprocess.run(  # noqa: S603 - the command that was named
            [
                *(str(COMMAND), "run", f"{front.url}/openapi.json", "--max-examples", CASES),
                *("--phases", "examples,coverage,fuzzing", "--generation-database", "none"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
    assert "16 selected" in ran.stdout
