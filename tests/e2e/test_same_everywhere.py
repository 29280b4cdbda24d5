"""A strategy file may do the same in every command, from whatever folder it is played."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.processes import running

COMMANDS = (
    "play --strict --strategy FILE",
    "lab duel FILE draw-2 -n 1",
    "lab profile FILE -n 1",
    "ladder FILE --to random -n 1",
    "backtest FILE --match final-2023",
)

BOT = """{before}
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

POOL = """
from multiprocessing import Pool
from helper import square

def twice(number):
    return 2 * number

def works(pools=[]):
    pools or pools.append(Pool(1))
    [four], [sixteen] = pools[0].map(twice, [2]), pools[0].map(square, [4])
    return sixteen * four // 4
"""

DATA = """
from pathlib import Path

def works():
    return int((Path(__file__).parent / "number.txt").read_text())
"""


def written(folder: Path, setup_code: str, prepares: str = "pass") -> str:
    """A strategy file that does so, with a module and data beside it."""
    (folder / "helper.py").write_text("def square(number):\n    return number ** 2\n")
    (folder / "number.txt").write_text("16")
    file = folder / "mine.py"
    file.write_text(BOT.format(before=setup_code, prepares=prepares))
    return str(file)


def played(folder: Path, command: str, file: str) -> tuple[int, str]:
    """Return the exit code and the output of a command."""
    with running(folder, *command.replace("FILE", file).split()) as run:
        return run.code(), run.text()


@pytest.mark.parametrize(
    ("module_lines", "command"),
    [
        *(pytest.param(POOL, command, id=f"pool-{command}") for command in COMMANDS),
        # A process pool imports a file of the folder, too: one command reads data in `make test`.
        *(
            pytest.param(
                DATA, command, id=f"data-{command}", marks=pytest.mark.slow if number else []
            )
            for number, command in enumerate(COMMANDS)
        ),
    ],
)
def test_a_strategy_can_use_a_process_pool_and_files_in_its_folder(
    tmp_path: Path, module_lines: str, command: str
) -> None:
    code, output = played(tmp_path, command, written(tmp_path, module_lines))
    assert code in {0, 1 if command.startswith("ladder") else 0}, output
    assert "no decision" not in output
    assert "Error" not in output
    if command.startswith("backtest"):
        assert "mine.py decides differently" in output


WRONG = {
    "from .helper import square": "write `from helper import ...`",
    "from . import helper": "write `from helper import ...`",
    "from ..helper import square": "write `from helper import ...`",
    "open('number.txt')": "Write Path(__file__).parent / 'number.txt'",
}
"""What does not work, and what is said to do instead."""


@pytest.mark.parametrize(
    ("module_lines", "command"),
    [(code, COMMANDS[0]) for code in WRONG]
    + [(next(iter(WRONG)), command) for command in COMMANDS[1:]],
)
def test_unsupported_code_gives_the_same_error_in_every_command(
    tmp_path: Path, module_lines: str, command: str
) -> None:
    code, output = played(tmp_path, command, written(tmp_path, module_lines))
    assert code == 2, output
    assert f"{tmp_path / 'mine.py'}, line 1, fails: " in output
    assert WRONG[module_lines] in output


def test_opening_data_on_construction_gives_the_same_error(tmp_path: Path) -> None:
    file = written(tmp_path, "works = None", "open('number.txt')")
    code, output = played(tmp_path, "play --strategy FILE", file)
    assert code == 2, output
    assert WRONG["open('number.txt')"] in output


def test_any_process_imports_a_file_by_the_name_of_its_module(tmp_path: Path) -> None:
    """As those of multiprocessing's other ways to start one do; whatever the file is called."""
    file = tmp_path / "my bot. 2" / "mine.py"
    file.parent.mkdir()
    written(file.parent, "def works(): return 16")
    dump_code = (
        "from importlib import import_module; from pathlib import Path; import pickle, sys; "
        "from cardsharp_tools.executors.strategy_modules import module_name; "
        "module = import_module(module_name(Path(sys.argv[1]))); "
        "sys.stdout.buffer.write(pickle.dumps(module.works))"
    )
    load_code = "import pickle, sys; print(pickle.load(sys.stdin.buffer)())"
    dumped = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", dump_code, str(file)], capture_output=True, check=True
    )
    loaded = subprocess.run(  # noqa: S603 - as above
        [sys.executable, "-c", load_code], input=dumped.stdout, capture_output=True, check=True
    )
    assert loaded.stdout == b"16\n"
