"""What the command says when something is wrong, and how it looks on a narrow terminal."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import ONE, Cli, Outcome
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
def test_an_error_is_a_sentence_that_says_what_to_do(cli: Cli, line: str) -> None:
    code, command, said = line.split(" | ")
    told = cli(*command.format(ONE=ONE).split())
    assert (told.code, told.out) == (int(code), "")
    assert said in told.err
    assert "Traceback" not in told.err
    assert "fixed sample size" not in told.err, "something was begun before the names were read"


def test_a_port_that_is_taken_is_told(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = cli("euchre", "serve", "--port", str(taken.getsockname()[1]))
    assert told.code == 2
    assert "or --port 0 for any free one" in told.err


@pytest.mark.parametrize("command", ["show nosuch", "lab duel", "play --strategy nosuch", "nosuch"])
def test_a_program_reads_the_error_from_stdout(cli: Cli, command: str) -> None:
    told = cli(*command.split(), "--json")
    assert told.code == 2
    assert told.err == "".join(
        f"cardsharp: {line}\n" for line in json.loads(told.out)["error"].splitlines()
    )


INTERRUPTED = """
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
    ("module", "code", "said"),
    [
        ("cardsharp_tools.cli.app", -signal.SIGINT, ""),
        ("cardsharp_tools.local_play.local_run", ExitCode.INTERRUPTED, "cardsharp: stopped.\n"),
    ],
)
def test_ctrl_c_while_modules_are_imported_shows_no_traceback(
    module: str, code: int, said: str
) -> None:
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", INTERRUPTED, module], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (code, said)


def test_a_file_of_settings_has_options_that_need_not_be_typed(
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
    asked = "COMP_WORDS=(cardsharp lab du); COMP_CWORD=2; _cardsharp; echo ${COMPREPLY[@]}"
    bash = shutil.which("bash") or "bash"
    told = subprocess.run(  # noqa: S603 - our own script
        [bash], input=f"{script}\n{asked}", capture_output=True, text=True, check=False
    )
    assert told.stdout == "duel\n"


def test_the_help_of_a_sub_command_has_its_own_examples(cli: Cli) -> None:
    for command, own in (("lab probe", 1), ("cloud logs", 2), ("lab difference", 0)):
        examples = cli(*command.split(), "--help").out.partition("Examples:")[2]
        assert examples.count("cardsharp ") == examples.count(f"cardsharp {command}") == own


# --- where there is no room -----------------------------------------------------------------------


PROGRAM = f"{sys.executable} -m cardsharp_tools.cli"

LOGGING = """
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


def shell(command: str, home: Path) -> Outcome:
    """What a shell says of our command, by the exit code of its last."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CARDSHARP_")}
    ran = subprocess.run(  # noqa: S603 - our own command
        # What counts the lines of every process writes a file of its own, and none may grow here.
        ["/bin/sh", "-c", f"unset COVERAGE_PROCESS_CONFIG COVERAGE_PROCESS_START; {command}"],
        check=False,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        env={**environment, "XDG_DATA_HOME": str(home)},
    )
    return Outcome(ran.returncode, ran.stdout, ran.stderr)


@pytest.mark.parametrize("json", ["", "--json"])
def test_an_output_that_is_full_is_one_sentence(tmp_path: Path, json: str) -> None:
    said = shell(f"{PROGRAM} strategies {json} > /dev/full", tmp_path)
    assert said.code == 1
    assert said.err == (
        "cardsharp: The output cannot be written: No space left on device. Make room for it.\n"
    )


@pytest.mark.slow
def test_a_match_log_that_may_not_grow_is_one_sentence(tmp_path: Path) -> None:
    said = shell(f"ulimit -f 4; {PROGRAM} play --opponent draw-3", tmp_path)
    assert said.code == 1
    assert "The match log " in said.err
    assert "stage.db cannot be used: disk I/O error" in said.err
    assert "Traceback" not in said.err
    assert "fault of Cardsharp" not in said.err


def test_a_log_that_takes_no_more_is_told_of_once_and_stops_nothing(tmp_path: Path) -> None:
    """The handlers go on: what is logged of a match is not the match."""
    path = tmp_path / "logs" / "bot.log"
    said = shell(f"exec {sys.executable} -c '{LOGGING}' {path}", tmp_path)
    assert (said.code, said.out) == (0, "went on\n")
    assert said.err == f"cardsharp: The log {path} ends here: File too large.\n"
    assert "kept" in path.read_text()
    assert path.stat().st_size <= 1_000
