"""docs/your-own-bot.md and docs/write-a-bot.md, walked: all that they say to type works."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "your-own-bot.md").read_text("utf-8")
BY_HAND = (DOCS / "write-a-bot.md").read_text("utf-8")


def mended(text: str) -> str:
    """The starter as the page says that it is to be changed."""
    [worth] = re.findall(r"```python\n(def worth.*?)```", PAGE, re.DOTALL)
    new = re.search(r"`(key=lambda [^`]+)` for `(key=value)`", PAGE.replace("\n", " "))
    assert new is not None
    assert text.count(new[2]) == 1
    return text[: text.index("def value(")].replace(new[2], new[1]) + worth


def costliest(cli: Cli, mine: str, opponent: str) -> dict[str, Any]:
    """The decision that cost most in three lost matches, and that `try` explains."""
    options = ("-n", "8", "--keep", "3", "--seed", "1", "--workers", "1", "--json")
    played = cli("lab", "duel", mine, opponent, *options)
    ids = played.json()["kept"]
    assert len(ids) == 3
    tried = [cli("try", "captain", "--match", one, "--json").json() for one in ids]
    decisions = (decision for [match] in tried for decision in match["decisions"])
    worst: dict[str, Any] = min(decisions, key=lambda decision: decision["cost"] or 0)
    assert worst["then"]["by"] == Path(mine).name
    assert worst["then"]["action"] != worst["now"]["action"]
    return worst


@pytest.mark.slow
def test_from_a_new_file_to_why_it_lost_to_third(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "walked.py"
    assert cli("new", str(file)).code == 0
    climb = ("ladder", str(file), "--from", "draw-3", "--to", "third", "--json")
    assert cli(*climb).json()["beaten"] != "third", "as it is, it is about as strong as draw-3"
    assert costliest(cli, str(file), "draw-3")["cost"] < -0.1

    file.write_text(mended(file.read_text()))
    climbed = cli(*climb).json()
    assert (climbed["beaten"], climbed["next"]) == ("draw-3", "third")
    worst = costliest(cli, str(file), "third")
    assert worst["cost"] < 0


def test_a_position_made_by_hand_can_be_asked(cli: Cli, tmp_path: Path) -> None:
    assert cli("new", str(tmp_path / "mine.py")).code == 0
    [asked] = re.findall(r"^```python\n(.*?)^```", BY_HAND, re.DOTALL | re.MULTILINE)
    done = subprocess.run([sys.executable, "-c", asked], cwd=tmp_path, check=False)  # noqa: S603
    assert done.returncode == 0
