"""Tests that strategy files of version 0.2 still play, with deprecation warnings.

`samples/strategies_0_2` has the output of `cardsharp new` of 0.2 for each game.
"""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.waiting import HANG_SECONDS

from cardsharp.games.euchre import cards
from cardsharp_tools.executors import deprecated_names

SAMPLES = Path(__file__).parents[1] / "samples" / "strategies_0_2"


@pytest.mark.parametrize("game", ["deadmansdraw", "blef", "euchre"])
def test_a_strategy_file_of_0_2_plays(game: str, tmp_path: Path) -> None:
    """A file of version 0.2 plays a duel; the lab stops at the first failure of a file."""
    duel = ["lab", "duel", "--game", game, str(SAMPLES / f"{game}.py"), "random", "-n", "1"]
    duel += ["--workers", "1"]
    process = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "cardsharp_tools.cli", *duel],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CARDSHARP_NATIVE": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert process.returncode == 0, process.stderr


def test_an_old_import_path_warns_with_the_new_module_name() -> None:
    deprecated_names.install()
    with pytest.warns(
        DeprecationWarning, match=r"is called cardsharp\.games\.euchre\S* since 0\.3\.0"
    ):
        old_module = importlib.import_module("cardsharp.euchre.cards")
    assert old_module.parse is cards.parse_card
