"""Everything that plays works where the folder research/ is missing."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

CARDSHARP = "import sys; from workbench.cli import main; sys.exit(main(sys.argv[1:]))"
WITHOUT = f"import sys; sys.modules['research'] = None; {CARDSHARP}"
"""An import of the folder fails as it does where there is none."""


def said(program: str, *command: str) -> str:
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program, *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def test_the_lab_plays_the_same_matches() -> None:
    duel = ("lab", "duel", "draw-3", "draw-2", "--pairs", "3", "--workers", "1", "--json")
    assert said(WITHOUT, *duel) == said(CARDSHARP, *duel)


def test_the_command_line_does_not_offer_it() -> None:
    assert "research" in said(CARDSHARP, "--help")
    assert "research" not in said(WITHOUT, "--help")
