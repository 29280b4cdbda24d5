"""docs/write-a-bot.md is true: a position made by hand can be asked as it says."""

import re
import subprocess
import sys
from pathlib import Path

from support.cli import program

PAGE = Path(__file__).parents[2] / "docs/write-a-bot.md"


def test_a_position_made_by_hand_can_be_asked(tmp_path: Path) -> None:
    with program("new", str(tmp_path / "mine.py")) as new:
        assert new.wait() == 0
    [asked] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    done = subprocess.run([sys.executable, "-c", asked], cwd=tmp_path, check=False)  # noqa: S603
    assert done.returncode == 0
