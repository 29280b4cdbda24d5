"""Tests that a strategy file behaves the same in every command and from every folder."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import Cli
from support.processes import run_command

from cardsharp_tools.executors import clean_environment

COMMANDS = (
    "play --strict --strategy FILE",
    "lab duel FILE draw-2 -n 1",
    "lab profile FILE -n 1",
    "ladder FILE --to random -n 1",
    "backtest FILE --match final-2023",
)

STRATEGY_TEMPLATE = """{before}
from cardsharp.games.deadmansdraw.actions import END_TURN
from cardsharp.games.deadmansdraw import Decision, strategy

@strategy("mine")
class Mine:
    'Made for a test.'

    def __init__(self, rng):
        {prepares}

    def decide(self, position):
        legal = position.legal_actions()
        assert works() == 16
        return Decision(END_TURN if END_TURN in legal else legal[0], "It works.")
"""

POOL_CODE = """
from multiprocessing import Pool
from helper import square

def twice(number):
    return 2 * number

def works(pools=[]):
    pools or pools.append(Pool(1))
    [four], [sixteen] = pools[0].map(twice, [2]), pools[0].map(square, [4])
    return sixteen * four // 4
"""

READ_DATA_CODE = """
from pathlib import Path

def works():
    return int((Path(__file__).parent / "number.txt").read_text())
"""


def write_strategy(folder: Path, setup_code: str, init_code: str = "pass") -> str:
    """Write a strategy file with such code, and a module and data beside it."""
    (folder / "helper.py").write_text("def square(number):\n    return number ** 2\n")
    (folder / "number.txt").write_text("16")
    file = folder / "mine.py"
    file.write_text(STRATEGY_TEMPLATE.format(before=setup_code, prepares=init_code))
    return str(file)


def run_with_file(cli: Cli, command: str, file: str) -> tuple[int, str]:
    """Return the exit code and the output of a command that runs in this process.

    The strategy itself always runs in a process of its own.
    """
    result = cli(*command.replace("FILE", file).split())
    return result.code, result.out + result.err


def run_program_with_file(folder: Path, command: str, file: str) -> tuple[int, str]:
    """Return the exit code and the output of a command that runs as a program."""
    with run_command(folder, *command.replace("FILE", file).split()) as run:
        return run.wait_for_exit_code(), run.read_output()


@pytest.mark.parametrize(
    ("module_lines", "command"),
    [
        *(pytest.param(POOL_CODE, command, id=f"pool-{command}") for command in COMMANDS),
        # A process pool imports a file of the folder, too: one command reads data in `make test`.
        *(
            pytest.param(
                READ_DATA_CODE,
                command,
                id=f"data-{command}",
                marks=pytest.mark.slow if number else [],
            )
            for number, command in enumerate(COMMANDS)
        ),
    ],
)
def test_a_strategy_can_use_a_process_pool_and_files_in_its_folder(
    cli: Cli, tmp_path: Path, module_lines: str, command: str
) -> None:
    code, output = run_with_file(cli, command, write_strategy(tmp_path, module_lines))
    assert code in {0, 1 if command.startswith("ladder") else 0}, output
    assert "no decision" not in output
    assert "Error" not in output
    if command.startswith("backtest"):
        assert "mine.py decides differently" in output


ADVICE_BY_CODE = {
    "from .helper import square": "write `from helper import ...`",
    "from . import helper": "write `from helper import ...`",
    "from ..helper import square": "write `from helper import ...`",
    "open('number.txt')": "Write Path(__file__).parent / 'number.txt'",
}
"""What does not work, and what is said to do instead."""


@pytest.mark.parametrize(
    ("module_lines", "command"),
    [(code, COMMANDS[0]) for code in ADVICE_BY_CODE]
    + [(next(iter(ADVICE_BY_CODE)), command) for command in COMMANDS[1:]],
)
def test_unsupported_code_gives_the_same_error_in_every_command(
    cli: Cli, tmp_path: Path, module_lines: str, command: str
) -> None:
    code, output = run_with_file(cli, command, write_strategy(tmp_path, module_lines))
    assert code == 2, output
    assert f"{tmp_path / 'mine.py'}, line 1, fails: " in output
    assert ADVICE_BY_CODE[module_lines] in output


def test_opening_data_on_construction_gives_the_same_error(cli: Cli, tmp_path: Path) -> None:
    file = write_strategy(tmp_path, "works = None", "open('number.txt')")
    code, output = run_with_file(cli, "play --strategy FILE", file)
    assert code == 2, output
    assert ADVICE_BY_CODE["open('number.txt')"] in output


def test_any_process_imports_a_file_by_the_name_of_its_module(tmp_path: Path) -> None:
    """Another process imports a file by its module name, whatever the file is called.

    Processes of multiprocessing that are started without a fork do the same.
    """
    file = tmp_path / "my bot. 2" / "mine.py"
    file.parent.mkdir()
    write_strategy(file.parent, "def works(): return 16")
    dump_code = (
        "from importlib import import_module; from pathlib import Path; import pickle, sys; "
        "from cardsharp_tools.executors.strategy_modules import module_name; "
        "module = import_module(module_name(Path(sys.argv[1]))); "
        "sys.stdout.buffer.write(pickle.dumps(module.works))"
    )
    load_code = "import pickle, sys; print(pickle.load(sys.stdin.buffer)())"
    dump_process = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", dump_code, str(file)], capture_output=True, check=True
    )
    load_process = subprocess.run(  # noqa: S603 - as above
        [sys.executable, "-c", load_code],
        input=dump_process.stdout,
        capture_output=True,
        check=True,
    )
    assert load_process.stdout == b"16\n"


SECRETS = {
    "ARENA_ADMIN_PASSWORD": "hush",
    "CARDSHARP_PASSWORD": "hush",
    "AWS_SECRET_ACCESS_KEY": "hush",
    "GITHUB_TOKEN": "hush",
    "PYTHON_INDEX_TOKEN": "hush",
    "DATABASE_URL": "hush",
}
"""Environment variables of a user that other people's code must not see."""

RECORD_ENVIRONMENT_CODE = """
import os
from pathlib import Path

def works():
    with Path(__file__).with_name("seen.txt").open("a") as file:
        file.write("\\n".join(f"{name}={value}" for name, value in os.environ.items()) + "\\n")
    return 16

works()
"""

CONTEST_COMMANDS = (
    "contest new cup --game GAME -n 1",
    "contest teams add cup First --strategy FILE",
    "contest teams add cup Second --strategy random",
    "contest run cup",
)


def _read_seen_variables(folder: Path) -> dict[str, str]:
    """Return the variables that a strategy file has seen in any of its processes."""
    lines = (folder / "seen.txt").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def _check_seen(folder: Path, command: str, *passed_names: str) -> None:
    seen_variables = _read_seen_variables(folder)
    assert {"PATH", "TZ", "OMP_NUM_THREADS"} <= seen_variables.keys(), command
    assert SECRETS.keys() & seen_variables.keys() == set(passed_names), command


@pytest.fixture
def user_environment(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the variables of a user who has passwords in the environment."""
    del cli  # which removes all settings from the environment
    monkeypatch.setattr(clean_environment, "_passed_names", set())  # else until this process ends
    for name, value in (SECRETS | {"TZ": "UTC", "OMP_NUM_THREADS": "1"}).items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("user_environment")
@pytest.mark.parametrize(
    ("command", "passed_names"),
    [
        # One passed name shows in every command that the others are hidden.
        pytest.param(
            command, names, marks=[] if names or command in COMMANDS[:2] else pytest.mark.slow
        )
        for command in (*COMMANDS, "lab duel FILE draw-2 -n 2 --workers 1")
        for names in ((), ("GITHUB_TOKEN",))
    ],
)
def test_a_strategy_file_sees_no_variables_with_secrets(
    cli: Cli, tmp_path: Path, command: str, passed_names: tuple[str, ...]
) -> None:
    file = write_strategy(tmp_path, RECORD_ENVIRONMENT_CODE)
    options = "".join(f" --pass-env {name}" for name in passed_names)
    code, output = run_with_file(cli, command + options, file)
    assert code in {0, 1 if command.startswith("ladder") else 0}, output
    _check_seen(tmp_path, command, *passed_names)


@pytest.mark.usefixtures("user_environment")
@pytest.mark.parametrize(
    "command",
    ["play --strategy FILE", pytest.param("lab duel FILE draw-2 -n 1", marks=pytest.mark.slow)],
)
def test_a_strategy_file_of_a_program_sees_no_variables_with_secrets(
    tmp_path: Path, command: str
) -> None:
    file = write_strategy(tmp_path, RECORD_ENVIRONMENT_CODE)
    code, output = run_program_with_file(tmp_path, command, file)
    assert code == 0, output
    _check_seen(tmp_path, command)


@pytest.mark.usefixtures("user_environment")
@pytest.mark.parametrize("game", ["blef", "deadmansdraw"])
def test_a_strategy_of_a_contest_sees_no_variables_with_secrets(
    cli: Cli, tmp_path: Path, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write_strategy(tmp_path, RECORD_ENVIRONMENT_CODE)
    if game == "blef":
        text = Path(file).read_text().replace("deadmansdraw", game).split("    def decide")[0]
        text = text.replace("from cardsharp.games.blef.actions import END_TURN\n", "")
        Path(file).write_text(
            f"{text}    def decide(self, position):\n        works()\n"
            "        return Decision(position.legal_actions()[0], 'the first')\n"
        )
    *preparations, run = (command.replace("GAME", game) for command in CONTEST_COMMANDS)
    for command in preparations:
        code, output = run_with_file(cli, command, file)
        assert code == 0, output
    _check_seen(tmp_path, "contest teams add")
    (tmp_path / "seen.txt").unlink()
    code, output = run_program_with_file(tmp_path, f"{run} --pass-env GITHUB_TOKEN", file)
    assert code == 0, output
    _check_seen(tmp_path, run, "GITHUB_TOKEN")


def test_an_unset_variable_cannot_be_passed_on(cli: Cli) -> None:
    code, output = run_with_file(cli, "play --pass-env NOT_SET_ANYWHERE", "")
    assert code == 2, output
    assert "There is no environment variable NOT_SET_ANYWHERE" in output
