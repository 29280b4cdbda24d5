"""Error messages of the command line, and its output on a narrow terminal."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import TEAM_1_ID, Cli, CommandResult
from support.recordings import sample_rows
from support.waiting import HANG_SECONDS

from cardsharp_tools.cli.exit_codes import ExitCode


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    monkeypatch.setenv("CARDSHARP_PASSWORD", "p")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return cli


@pytest.mark.parametrize("line", sample_rows("errors"))
def test_an_error_message_tells_the_user_the_next_step(cli: Cli, line: str) -> None:
    code, command, expected_error = line.split(" | ")
    result = cli(*command.format(ONE=TEAM_1_ID).split())
    assert (result.code, result.out) == (int(code), "")
    assert expected_error in result.err
    assert "Traceback" not in result.err
    assert "fixed sample size" not in result.err, "something was begun before the names were read"


def test_a_port_in_use_is_reported(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening_socket:
        result = cli("euchre", "serve", "--port", str(listening_socket.getsockname()[1]))
    assert result.code == 2
    assert "or any free port with --port 0" in result.err


@pytest.mark.parametrize("command", ["show nosuch", "lab duel", "play --strategy nosuch", "nosuch"])
def test_a_program_reads_the_error_from_stdout(cli: Cli, command: str) -> None:
    result = cli(*command.split(), "--json")
    assert result.code == 2
    assert result.err == "".join(
        f"cardsharp: {line}\n" for line in json.loads(result.out)["error"].splitlines()
    )


INTERRUPT_ON_IMPORT = """
import os, signal, sys
class Presses:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Presses())
from cardsharp_tools.cli import main
sys.exit(main(["play"]))
"""


@pytest.mark.parametrize(
    ("module", "code", "message"),
    [
        ("cardsharp_tools.cli.app", -signal.SIGINT, ""),
        ("cardsharp_tools.local_play.local_run", ExitCode.INTERRUPTED, "cardsharp: Stopped.\n"),
    ],
)
def test_ctrl_c_while_modules_are_imported_shows_no_traceback(
    module: str, code: int, message: str
) -> None:
    process = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", INTERRUPT_ON_IMPORT, module],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stderr) == (code, message)


def test_a_settings_file_provides_default_options(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "cardsharp.toml"
    settings.write_text("[lab.duel]\npairs = 2\n")
    duel = ("lab", "duel", "draw-2", "draw-3", "--workers", "1", "--json")
    assert cli(*duel).json()["pairs"] == 2
    assert cli(*duel, "--pairs", "3").json()["pairs"] == 3, "what is typed counts"
    settings.write_text("[lab.duel]\npair = 2\n")
    assert "cardsharp.toml. Did you mean --pairs?" in cli(*duel[:-1]).err
    settings.write_text("pairs =")
    assert "cardsharp.toml cannot be read" in cli(*duel[:-1]).err


def test_a_shell_completes_commands_and_options(cli: Cli) -> None:
    script = cli("completion", "bash").out
    completion_query = (
        "COMP_WORDS=(cardsharp lab du); COMP_CWORD=2; _cardsharp; echo ${COMPREPLY[@]}"
    )
    bash = shutil.which("bash") or "bash"
    result = subprocess.run(  # noqa: S603 - our own script
        [bash], input=f"{script}\n{completion_query}", capture_output=True, text=True, check=False
    )
    assert result.stdout == "duel\n"


def test_the_help_of_a_subcommand_has_examples_of_that_subcommand(cli: Cli) -> None:
    for command, example_count in (("lab probe", 1), ("cloud logs", 2), ("lab compare", 1)):
        examples = cli(*command.split(), "--help").out.partition("Examples:")[2]
        assert (
            examples.count("cardsharp ") == examples.count(f"cardsharp {command}") == example_count
        )


# --- where there is no room -----------------------------------------------------------------------


PROGRAM = f"{sys.executable} -m cardsharp_tools.cli"

FILL_LOG_FILE = """
import logging, resource, sys
from pathlib import Path
from cardsharp_tools.local_play.handler_environment import redirect_telemetry
with redirect_telemetry(Path(sys.argv[1])):
    logging.warning("kept")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
    for number in range(100):
        logging.warning("much more than there is room for, %s", "x" * number)
print("went on")
"""


def run_in_shell(command: str, home: Path) -> CommandResult:
    """Run a command in a shell and return its outcome."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("CARDSHARP_")
    }
    process = subprocess.run(  # noqa: S603 - our own command
        # What counts the lines of every process writes a file of its own, and none may grow here.
        ["/bin/sh", "-c", f"unset COVERAGE_PROCESS_CONFIG COVERAGE_PROCESS_START; {command}"],
        check=False,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        env={**environment, "XDG_DATA_HOME": str(home)},
    )
    return CommandResult(process.returncode, process.stdout, process.stderr)


@pytest.mark.parametrize("json", ["", "--json"])
def test_a_full_output_device_gives_a_one_line_error(tmp_path: Path, json: str) -> None:
    result = run_in_shell(f"{PROGRAM} strategies {json} > /dev/full", tmp_path)
    assert result.code == 1
    assert result.err == (
        "cardsharp: The output cannot be written: No space left on device. Free some disk space.\n"
    )


@pytest.mark.slow
def test_a_match_log_that_cannot_grow_gives_a_one_line_error(tmp_path: Path) -> None:
    result = run_in_shell(f"ulimit -f 4; {PROGRAM} play --opponent draw-3", tmp_path)
    assert result.code == 1
    assert "The match log " in result.err
    assert "stage.db cannot be used: disk I/O error" in result.err
    assert "Traceback" not in result.err
    assert "bug in Cardsharp" not in result.err


def test_a_full_log_file_is_reported_once_and_the_program_continues(tmp_path: Path) -> None:
    """A log file that cannot grow is reported once; matches do not depend on it."""
    path = tmp_path / "logs" / "bot.log"
    result = run_in_shell(f"exec {sys.executable} -c '{FILL_LOG_FILE}' {path}", tmp_path)
    assert (result.code, result.out) == (0, "went on\n")
    assert result.err == f"cardsharp: The log {path} cannot be written any more: File too large.\n"
    assert "kept" in path.read_text()
    assert path.stat().st_size <= 1_000
