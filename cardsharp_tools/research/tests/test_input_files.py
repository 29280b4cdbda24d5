"""Tests of the files that the commands of research read: another file is refused with a reason."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from cardsharp.games.blef.strategies import large_round_policy
from cardsharp.games.deadmansdraw.strategies.search import weights
from cardsharp_tools.cli import main
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.research.tests.decision_comparison import needs_compiler

pytestmark = needs_compiler

_TRAIN, _TRAIN_NETWORK = "train --matches 2 --batch 2", "train-network --matches 2 --batch 2"
_BOUNDS, _SEARCH = "bounds -n 1 --cards 2", "search-limits --pairs 1 --endgame-cards 0"
_OPTIONS = {
    "weights": [f"{_TRAIN} --out out --expected-file"],
    "network": [f"{_TRAIN_NETWORK} out --start", f"{_SEARCH} --opponent-network"],
    "training": [
        f"{_TRAIN} --out out --checkpoint",
        _TRAIN_NETWORK,
        f"{_BOUNDS} --network",
        "blef train --setups 3v2 --checkpoint",
        "blef pack --out out --checkpoint",
    ],
    "results": [
        f"{_BOUNDS} --out",
        "losses -n 1 --cards 2 --out",
        f"{_SEARCH} --out",
        "blef benchmark -n 1 --opponents bluffer --out",
    ],
    "tables": ["blef check -n 2 --file"],
}
"""Options that read a file, by what they read."""

_FOLDER_OPTIONS = ("benchmark", "blef train", "blef pack")
_MAY_BE_NEW = ("training", "results")  # these files are written by the command, if there are none


def _bad_files() -> dict[str, bytes]:
    """Return the contents of the files, by their names; the first two are of other options."""
    return {
        "weights": (weights.FOLDER / "captain.json").read_bytes(),
        "network": (weights.FOLDER / "network.json").read_bytes(),
        "tables": large_round_policy.DEFAULT_FILE.read_bytes(),
        "text": b"no JSON {\n",
        "list": b"[1, 2]\n",
        "object": b'{"numbers": 5}\n',
        "state": b'{"format": 3, "cards": [3, 2], "steps": 10}\n',
        "numbers": b'{"format": 1, "numbers": "no base 85"}\n',
        "compressed": b'{"format": 1, "numbers": "abc"}\n',
        "course": b'{"course": {}, "done": 0, "sizes": []}\n',
        "settings": b'{"settings": {}, "batches": 0, "averaged": 0}\n',
        "bytes": b"\n" + Random(1).randbytes(2_000_000),
    }


def _cases() -> Iterator[tuple[str, str]]:
    """Yield each option with each file that it must refuse."""
    for kind, options in _OPTIONS.items():
        for option in options:
            yield from ((option, name) for name in _bad_files() if name != kind)


def _run(
    command: str, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Run a command of research in the folder of the file; return its one line of error."""
    monkeypatch.chdir(file.parent)
    assert main(["research", *command.split(), file.name]) == ExitCode.USAGE
    [line] = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(("command", "name"), [*_cases()])
def test_a_file_of_another_kind_is_refused_by_its_name(
    command: str,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The message names the file and says what to do; nothing was written or trained before."""
    file = tmp_path / f"of-{name}"
    file.write_bytes(_bad_files()[name])
    assert file.name in (line := _run(command, file, monkeypatch, capsys))
    assert any(advice in line.lower() for advice in ("give ", "save it", "train it again")), line
    assert file.read_bytes() == _bad_files()[name]
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("command", [option for options in _OPTIONS.values() for option in options])
def test_a_folder_or_a_missing_file_is_refused(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "a-folder"
    folder.mkdir()
    if not any(name in command for name in _FOLDER_OPTIONS):
        assert "a-folder" in _run(command, folder, monkeypatch, capsys)
    if not any(command in _OPTIONS[kind] for kind in _MAY_BE_NEW) or "--network" in command:
        assert "away" in _run(command, tmp_path / "away", monkeypatch, capsys)
    elif not any(name in command for name in _FOLDER_OPTIONS):
        monkeypatch.chdir(tmp_path)
        assert main(["research", *command.split(), "away/new"]) == ExitCode.USAGE
        assert "There is no folder away" in capsys.readouterr().err


@pytest.mark.parametrize("command", [f"{_TRAIN} --checkpoint out --out", _TRAIN_NETWORK])
def test_an_empty_file_is_a_new_one(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new").touch()
    assert main(["research", *command.split(), "new"]) == ExitCode.OK
    assert (tmp_path / "new").stat().st_size


@pytest.mark.parametrize("command", [f"{_TRAIN} --out out --checkpoint", _TRAIN_NETWORK])
def test_a_checkpoint_that_was_cut_is_refused(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "cut"
    monkeypatch.chdir(tmp_path)
    assert main(["research", *command.split(), file.name]) == ExitCode.OK
    file.write_bytes(file.read_bytes()[:-1])
    capsys.readouterr()
    assert "cut is damaged or of another version" in _run(command, file, monkeypatch, capsys)


@pytest.mark.parametrize("text", ["no JSON", '{"format": 3, "cards": [3, 2], "steps": 10}\n', ""])
@pytest.mark.parametrize("command", ["train --until 10", "pack --out out"])
def test_a_damaged_checkpoint_of_a_round_is_refused(
    command: str,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, command = tmp_path / "rounds", f"blef {command} --setups 3v2 --checkpoint"
    folder.mkdir()
    (folder / "3v2.state").write_text(text)
    if "train" in command and "steps" in text:
        command = command.replace("10", "20")  # so that the damaged state is read
    line = _run(command, folder, monkeypatch, capsys)
    assert "3v2.state is no checkpoint of a round, or is damaged; move it away." in line


def test_results_resume_after_a_line_that_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The incomplete line is dropped, and no later result is appended to it."""
    monkeypatch.chdir(tmp_path)
    lines: dict[str, list[str]] = {}
    for name, is_cut in (("whole", False), ("stopped", True)):
        for pairs in "234":
            command = f"search-limits --pairs {pairs} --endgame-cards 0 --out {name}"
            assert main(["research", *command.split()]) == ExitCode.OK
            lines[name] = (tmp_path / name).read_text().splitlines()
            if is_cut and pairs == "2":
                with (tmp_path / name).open("a") as file:
                    file.write('{"match":2,"poi')
    assert lines["whole"] == lines["stopped"]


def test_the_expected_file_is_read_before_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same name for both, the weights would be compared with themselves."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "same").write_bytes(_bad_files()["weights"])
    with pytest.raises(SystemExit, match="differ from those of same"):
        main(["research", *_TRAIN.split(), "--out", "same", "--expected-file", "same"])
