"""A strategy of one's own: written by a command, played anywhere, and every fault explained."""

import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from support.cli import Cli, written

from workbench.lab import guard


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setattr(guard, "LIMIT", timedelta(seconds=0.2))
    return cli


def test_a_strategy_of_ours_is_a_beginning_too(cli: Cli, tmp_path: Path) -> None:
    """It decides as ours does, until it is changed."""
    file = tmp_path / "thumb.py"
    assert cli("new", str(file), "--from", "rule").code == 0
    same = [
        cli("lab", "duel", player, "draw-3", "--seed", "1", "--pairs", "2", "--json").json()
        for player in (str(file), "rule")
    ]
    assert same[0]["counts"] == same[1]["counts"]
    refused = cli("new", str(tmp_path / "other.py"), "--from", "draw-2")
    assert "cannot begin with 'draw-2'" in refused.err
    file.write_text("precious")
    there = cli("new", str(file))
    assert (there.code, "is there already; choose another name" in there.err) == (2, True)
    assert file.read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("errs", "return position.nosuch", "errs.py, line 13, in decide: return position.nosuch"),
        ("sleepy", "import time; time.sleep(9)", "while it slept or waited (sleepy.py, line 13"),
        ("endless", "while True: pass", "no decision within 2 s of processor time (endless.py"),
    ],
)
def test_the_lab_stops_at_a_fault_and_says_whose_it_is(
    cli: Cli, tmp_path: Path, name: str, body: str, said: str
) -> None:
    duel = cli("lab", "duel", written(tmp_path, name, body), "draw-2", "-n", "1", "--seed", "1")
    assert duel.code == 1
    assert said in duel.err
    assert "decision 1 of pair 0, seed 1, on Position(turn=" in duel.err
    assert ", own=None, other=None, play_area=None, pending=None, known_top=None)" in duel.err
    assert "fault of Cardsharp" not in duel.err


def test_a_fault_in_a_match_is_counted_placed_and_can_be_opened(cli: Cli, tmp_path: Path) -> None:
    """`--keep` is what --store was called; the program's own log goes into its folder, too."""
    failing, folder = written(tmp_path, "counts", "return position.nosuch"), tmp_path / "kept"
    folder.mkdir()
    played = cli("play", "--strategy", failing, "--keep", str(folder))
    assert played.code == 1, "nothing was decided by it"
    assert "log complete" in played.out
    assert "Every decision of " in played.err
    assert played.err.count("decisions: the strategy failed: AttributeError:") == 1
    assert "(counts.py, line 13, in decide: return position.nosuch)" in played.err
    assert (folder / "play.log").exists()
    assert cli("show", "last").code == 2, "nothing went into our own log"
    command = played.err.rpartition("cardsharp why ")[2].partition("\n")[0].split()
    why = cli("why", *command)
    assert why.code == 0, why.err
    assert "counts.py, line 13" in "".join(why.out.split("\n        "))


@pytest.mark.parametrize(
    ("command", "before", "code", "said"),
    [
        ("ladder", "import os; os._exit(9)", 1, "1, in <module>: the strategy ended the proc"),
        ("play --strategy", "import time; time.sleep(99)", 2, "<module>: not imported within 3 s"),
    ],
)
def test_a_file_that_ends_or_holds_up_the_process_is_told(
    tmp_path: Path, command: str, before: str, code: int, said: str
) -> None:
    file = written(tmp_path, "ends", "pass", before)
    hurried = (
        "import sys; from datetime import timedelta; from workbench import process; "
        "from workbench.cli import main; process.START_LIMIT = timedelta(seconds=3); "
        f"sys.exit(main({[*command.split(), file]!r}))"
    )
    ended = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", hurried],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CARDSHARP_NATIVE": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == code, ended.stderr
    assert f"ends.py, line {said}" in ended.stderr or said in ended.stderr
    assert "not imported" not in said or "ends.py: still being imported ..." in ended.stderr


@pytest.mark.slow
def test_strict_stops_at_the_first_fault(cli: Cli, tmp_path: Path) -> None:
    played = cli("play", "--strict", "--strategy", written(tmp_path, "strict", "return 1 / 0"))
    assert played.code == 1
    assert "strict.py, line 13, in decide: return 1 / 0" in played.err


def test_what_it_prints_is_kept_with_the_decision_and_out_of_the_output(
    cli: Cli, tmp_path: Path
) -> None:
    body = "print('I see', len(position.unseen)); return Decision(position.legal_actions()[0], '')"
    file = written(tmp_path, "talks", body)
    assert cli("lab", "duel", file, "draw-2", "--pairs", "1", "--json").json()["matches"] == 2
    assert cli("play", "--strategy", file, "--json").json()["logComplete"] is True
    shown = cli("show", "last", "--json").json()
    thoughts = [move["decision"] for turn in shown["turns"] for move in turn["moves"]]
    printed = [thought["printed"] for thought in thoughts if thought is not None]
    assert printed
    assert all(text.startswith("I see ") for text in printed)


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_a_new_program_plays_as_it_is(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "my bot.js"
    made = cli("new", str(file), "--json")
    assert made.code == 0, made.err
    command = f"node '{file}'"
    assert made.json()["strategy"] == command
    played = cli("play", "--strategy", command, "--opponent", command, "--strict", "--json")
    assert played.code == 0, played.err
    assert played.json()["logComplete"] is True
    assert cli("lab", "duel", command, "draw-2", "--pairs", "1").code == 0


def test_the_lab_shows_where_a_program_failed(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text("for line in iter(input, ''):\n    print(nosuch)")
    duel = cli("lab", "duel", f"{sys.executable} {file}", "draw-2", "-n", "1")
    assert duel.code == 2
    assert "cannot play: the program ended with exit code 1" in duel.err
    assert "NameError: name 'nosuch' is not defined" in duel.err
    draw = 'print(\'{"action": {"etype": "Draw"}}\', flush=True)'
    file.write_text(f"input()\n{draw}\ninput()\nprint(nosuch)")
    other = cli("lab", "duel", f"{sys.executable} -B {file}", "draw-2", "-n", "1", "--seed", "1")
    assert other.code == 1
    assert "NameError: name 'nosuch' is not defined" in other.err
    assert "of pair 0, seed 1, on Position(" in other.err
