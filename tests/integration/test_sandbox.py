"""Attempts of submissions to break out of their sandbox, and the fault reported for each."""

import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from time import monotonic

import pytest
from support.cli import write_strategy_file
from support.submissions import skip_without_sandbox, zip_files
from support.waiting import HANG_SECONDS, wait_until

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.fallback import DECISION_RUNNER
from cardsharp.games.deadmansdraw.simulation import DeadMansDrawSimulation
from cardsharp.games.deadmansdraw.strategies import build
from cardsharp.play.catalog import get_game
from cardsharp_tools.executors import line_process, sandbox
from cardsharp_tools.executors.sandbox import check_sandbox, sandbox_command
from cardsharp_tools.executors.sandbox_supervisor import NETWORK_VIOLATION, PROCESSES_VIOLATION
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.submission import (
    LARGEST,
    VIOLATIONS_FILE,
    TeamSubmissions,
    read_submission,
    team_submissions,
)

SCRIPTED_BODY = (
    "here = {**globals(), 'position': position}; "
    "exec(open(__file__ + '.txt').read(), here); return here['DO']"
)
"""Decides by the code that a test leaves beside it, which the sandbox can only read."""

VALID_DECISION = "DO = Decision(position.legal_actions()[0], 'why')"

SYSTEM_CALL_CODE = """
import ctypes
system, known = ctypes.CDLL(None, use_errno=True), ctypes.CDLL('libseccomp.so.2')
call = lambda name, *given: system.syscall(known.seccomp_syscall_resolve_name(name), *given)
"""
FORBIDDEN_CALL_MESSAGE = "it made a system call that the sandbox forbids"
FORK_CODE = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        taken = b"x" * (180 << 20)
        time.sleep(9)
        os._exit(0)
time.sleep(9)
"""
MANY_PROCESSES_CODE = """
import subprocess
made = []
try:
    while True: made.append(subprocess.Popen(['sleep', '9']))
finally:
    for one in made: one.kill(), one.wait()
"""
READ_ENVIRONMENT_CODE = (
    "import os; raise LookupError(sum('AWS' in k or 'CARDS' in k for k in os.environ))"
)
CONNECT_CODE = "import socket; socket.create_connection"
SU_CODE = "import subprocess as s; raise OSError(s.run(['su', '-c', 'id'], capture_output=True))"
KILL_SUPERVISOR_CODE = """
import contextlib, os, time
with contextlib.suppress(PermissionError): os.kill(1, 9)
time.sleep(0.2)
raise OSError(os.getppid())
"""
FILL_DISK_CODE = "file = open('{}/big', 'wb')\nfor _ in range(80): file.write(bytes(1 << 20))"

SYSTEM_CALLS = {
    "ptrace": "b'ptrace', 16, 1, 0, 0",
    "a mount": "b'mount', b'x', b'/tmp', b'tmpfs', 0, 0",
    "namespaces of its own": "b'unshare', 0x10000000",
    "the kernel's keys": "b'keyctl', 0, 0",
    "userfaultfd": "b'userfaultfd', 0",
}
"""With what they are called with."""

ESCAPES = {
    **{
        name: (f"{SYSTEM_CALL_CODE}call({arguments})", FORBIDDEN_CALL_MESSAGE)
        for name, arguments in SYSTEM_CALLS.items()
    },
    "another team's file": ("open({other!r})", "FileNotFoundError"),
    "the contest's records": ("open({cup!r} + '/contest.db')", "FileNotFoundError"),
    "the organiser's home": ("open({home!r} + '/.profile')", "FileNotFoundError"),
    "the organiser's environment": (READ_ENVIRONMENT_CODE, "LookupError: 0"),
    "the arena's environment": ("open('/proc/{pid}/environ')", "FileNotFoundError"),
    "the arena's port": (f"{CONNECT_CODE}(('127.0.0.1', {{port}}))", "Connection refused"),
    "a name's address": (f"{CONNECT_CODE}(('example.org', 80))", "gaierror"),
    "an abstract socket": (
        "import socket as s; s.socket(s.AF_UNIX).connect('\\x00{pid}-cardsharp')",
        "Connection refused",
    ),
    "a socket to the host": ("import socket; socket.socket(40, 1)", "Operation not permitted"),
    "a signal to the arena": ("import os; os.kill({pid}, 9)", "No such process"),
    "a signal to its own keeper": (KILL_SUPERVISOR_CODE, "OSError: 1"),
    "io_uring": (f"{SYSTEM_CALL_CODE}raise OSError(call(b'io_uring_setup', 1, 0))", "OSError: -1"),
    "typing on the terminal": (
        "import fcntl; fcntl.ioctl(0, 0x5412, b'x')",
        FORBIDDEN_CALL_MESSAGE,
    ),
    "root's rights": ("import os; os.setuid(0)", "not permitted|Invalid argument"),
    "a program with root's rights": (SU_CODE, "returncode=1"),
    "higher limits": (
        "import resource as r; r.setrlimit(r.RLIMIT_NPROC, (999, 999))",
        "not allowed",
    ),
    "many processes": (MANY_PROCESSES_CODE, "Resource temporarily unavailable"),
    "much memory": ("bytearray(600 << 20)", "MemoryError"),
    "much memory in many processes": (FORK_CODE, "it took more than 512 MB of memory"),
    "memory of no process": ("import os; os.memfd_create('x')", "Operation not permitted"),
    "much in its home": (FILL_DISK_CODE.format("/tmp"), "No space left|too large"),  # noqa: S108 - there
    "much in shared memory": (FILL_DISK_CODE.format("/dev/shm"), "No space left on device"),  # noqa: S108
    "long output": ("import os\nwhile True: os.write(2, bytes(9999))", "more than 1 MB to stderr"),
    "codes for the terminal": (r"raise OSError('\x1b]0;evil\x07\u202e')", r"b]0;evil\\x07\\u202e"),
    "other code of its own": ("open(__file__, 'a')", "Read-only|denied"),
    "files beside its own": ("open({cup!r} + '/submissions/big', 'w')", "Read-only|denied"),
    "another system's files": ("open('/usr/bin/evil', 'w')", "Read-only file system"),
    "the kernel's settings": ("open('/proc/sys/kernel/core_pattern', 'w')", "Errno 13"),
    "the end of its process": ("import os; os._exit(0)", "ended the process .os._exit.0"),
    "a decision without an end": ("while True: pass", "no decision within 2 s"),
}
"""What is tried, by which code, and what is said of it, as a pattern."""


RECORDED_ATTEMPTS = {
    "the arena's port": NETWORK_VIOLATION,
    "a name's address": NETWORK_VIOLATION,
    "many processes": PROCESSES_VIOLATION,
}
"""Those of which the organiser is told though the code swallows the refusal and plays on."""

FATAL_ATTEMPTS = {
    *SYSTEM_CALLS,
    "typing on the terminal",
    "much memory in many processes",
    "long output",
    "the end of its process",
    "a decision without an end",
}
"""Those that end it, so that they are told whatever it does; of all others nobody hears then."""


@pytest.fixture(scope="module")
def contest_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A contest's folder beside the Python files, with a submission of another team."""
    skip_without_sandbox()
    python_folder = tmp_path_factory.mktemp("python")
    python_folder.chmod(0o755)
    folder = python_folder / "cup"
    folder.mkdir()
    (folder / "contest.db").write_text("passwords")
    other = write_strategy_file(
        tmp_path_factory.mktemp("other"), "other", VALID_DECISION + "; return DO"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_process, "ANSWER_TIMEOUT", timedelta(seconds=20))  # for a busy machine
        patch.setattr(sandbox, "PYTHON_PATHS", (*sandbox.PYTHON_PATHS, str(python_folder)))
        team_submissions(folder, "other").add_version(read_submission(Path(other)), get_game(None))
        yield folder


@pytest.fixture(scope="module")
def submissions(contest_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> TeamSubmissions:
    """A team whose submission runs the code that a test writes beside it."""
    file = Path(write_strategy_file(tmp_path_factory.mktemp("own"), "bot", SCRIPTED_BODY))
    file.with_name("bot.py.txt").write_text(VALID_DECISION)
    team_versions = team_submissions(contest_folder, "own")
    assert team_versions.add_version(read_submission(file.parent), get_game(None)) == 1
    return team_versions


SLEEP_SECONDS = f"31337.{os.getpid()}"
RunCode = Callable[[str], tuple[str | None, str]]
FillTargets = Callable[[str], str]


@pytest.fixture
def run_code(submissions: TeamSubmissions) -> RunCode:
    """Return a function that runs code in the submission; it returns the fault and the reason."""
    simulation = DeadMansDrawSimulation()
    position = simulation.current_position(simulation.initial_state(Random(1)))
    strategy = build(register_strategy(submissions.reference), Random(0))

    def run_code(code: str) -> tuple[str | None, str]:
        (submissions.latest_folder / "bot.py.txt").write_text(code)
        result = DECISION_RUNNER.decide(
            strategy, position, timedelta(seconds=HANG_SECONDS), monotonic
        )
        return result.error, result.decision.reason

    return run_code


@pytest.fixture(scope="module")
def fill_targets(contest_folder: Path) -> Iterator[FillTargets]:
    """Return a function that fills an attempt's code with targets.

    The targets are an open port, an abstract socket, and files of another team and of the host.
    """
    with socket.create_server(("127.0.0.1", 0)) as open_, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{os.getpid()}-cardsharp")
        abstract.listen()
        variables = {
            "other": str(contest_folder / "submissions/other/1/other.py"),
            "cup": str(contest_folder),
        }
        variables |= {"home": str(Path.home()), "pid": str(os.getpid())}
        variables["port"] = str(open_.getsockname()[1])
        yield lambda code: code.format(**variables)


@pytest.mark.parametrize("attempt", ESCAPES)
def test_no_submission_escapes_from_its_sandbox(
    attempt: str,
    run_code: RunCode,
    submissions: TeamSubmissions,
    fill_targets: FillTargets,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The organiser gets a message about the attempt, and the next decision is made.

    Code that catches the error does not escape either: the attempt is reported if it ends the
    process, or is recorded as a violation. Attempts that end the process end it in any case.
    """
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    code, pattern = fill_targets(ESCAPES[attempt][0]), ESCAPES[attempt][1]
    if attempt == "a decision without an end":
        monkeypatch.setattr(line_process, "ANSWER_TIMEOUT", timedelta(seconds=2))
        run_code(VALID_DECISION)
    error_catching_code = (
        f"try: exec({code!r}, {{**globals()}})\nexcept BaseException: pass\n{VALID_DECISION}"
    )
    attempt_code = f"{code}\n{VALID_DECISION.replace('why', 'escaped')}"
    fault, _ = run_code(error_catching_code if attempt in FATAL_ATTEMPTS else attempt_code)
    assert re.search(pattern, fault), fault
    assert fault.isprintable()
    expected = [text for name, text in RECORDED_ATTEMPTS.items() if name == attempt]
    wait_until(lambda: submissions.take_sandbox_violations() == expected)
    if attempt not in FATAL_ATTEMPTS:
        assert run_code(error_catching_code) == (None, "why")
        wait_until(lambda: submissions.take_sandbox_violations() == expected)
    assert run_code(VALID_DECISION) == (None, "why")


def test_a_violation_written_during_a_read_is_returned_by_the_next_read(tmp_path: Path) -> None:
    team = TeamSubmissions(tmp_path, is_sandboxed=True)
    assert team.take_sandbox_violations() == []
    with (tmp_path / VIOLATIONS_FILE).open("a") as file:
        assert team.take_sandbox_violations() == []
        file.write(f"{NETWORK_VIOLATION}\n")
    assert [team.take_sandbox_violations(), team.take_sandbox_violations()] == [
        [NETWORK_VIOLATION],
        [],
    ]


def test_processes_started_by_a_submission_end_with_it(run_code: RunCode) -> None:
    """A child process that has detached itself is ended, too."""
    run_code(
        f"import os, subprocess as s; s.Popen(['setsid', 'sleep', '{SLEEP_SECONDS}']); os._exit(0)"
    )
    wait_until(lambda: not _is_marked_process_running())


def test_a_sandbox_ends_with_the_process_that_started_it(contest_folder: Path) -> None:
    """The sandbox ends even if that process is killed."""
    command = sandbox_command(contest_folder / "submissions", ["sleep", SLEEP_SECONDS])
    code = f"import subprocess; subprocess.run({command!r}, stdin=subprocess.PIPE)"
    with subprocess.Popen([sys.executable, "-c", code]) as parent:  # noqa: S603 - our own
        wait_until(_is_marked_process_running)
        parent.kill()
    wait_until(lambda: not _is_marked_process_running())


def _is_marked_process_running() -> bool:
    """Return True if a process with the mark runs, apart from the sandbox's own supervisors."""
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if re.match(
                rf"(/usr/bin/)?sleep\x00{SLEEP_SECONDS}", command.read_text(errors="replace")
            ):
                return True
    return False


PROGRAMS = {
    "while True: pass": "no decision within 1 s",
    "import sys; sys.exit(7)": "the program ended with exit code 7",
    "import os\nwhile True: os.write(1, bytes(1 << 16))": "wrote a line without a line break",
    "import os\nif os.fork(): os._exit(0)\nwhile True: pass": "the program ended with exit code 0",
    'print(\'{"action": "\\\\u001b[2J"}\', flush=True); input()': "is not one of the offered",
}
"""Programs that never answer, and what is said of each."""


@pytest.mark.parametrize("code", PROGRAMS)
def test_a_program_that_cannot_play_is_not_stored(
    code: str, contest_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version is rejected with a message, and the previous version stays in use."""
    limit = timedelta(seconds=1 if code == "while True: pass" else 20)
    monkeypatch.setattr(line_process, "PROGRAM_START_TIMEOUT", limit)
    submissions = team_submissions(contest_folder, "programs")
    (tmp_path / "main.py").write_text(code)
    (tmp_path / "run").write_text("python3 main.py\n")
    with pytest.raises(ConfigError) as error_info:
        submissions.add_version(read_submission(tmp_path), get_game(None))
    assert PROGRAMS[code] in str(error_info.value)
    assert "\x1b" not in str(error_info.value)
    assert (submissions.version_folders, list(submissions.folder.iterdir())) == ([], [])


ARCHIVES = (
    (zip_files({"../bot.py": b""}), "points outside the archive"),
    (zip_files({"/etc/bot.py": b""}), "points outside the archive"),
    (zip_files({"..\\bot.py": b""}), "points outside the archive"),
    (zip_files({"bot.py": b"/etc/passwd"}, stat.S_IFLNK | 0o777), "not a regular file"),
    (zip_files({"bot.py": bytes(LARGEST + 1)}), "may have at most 2 MB after unpacking"),
    (zip_files({f"{number}.py": b"" for number in range(201)}), "and 200 files"),
    (bytes(LARGEST + 1), "may have at most 2 MB"),
    (b"PK", "cannot be unpacked"),
    (zip_files({"README": b""}), "does not say how to start it"),
    (zip_files({"bot.py": b"", "requirements.txt": b""}), "not installed here"),
)


def test_an_archive_stays_in_its_folder(contest_folder: Path, tmp_path: Path) -> None:
    """An archive with outside paths, or a too large one, is rejected before anything is written."""
    submissions = team_submissions(contest_folder, "archives")
    for raw, message in ARCHIVES:
        (tmp_path / "bot.zip").write_bytes(raw)
        with pytest.raises(ConfigError, match=message):
            submissions.add_version(read_submission(tmp_path / "bot.zip"), get_game(None))
    (tmp_path / "bot.py").symlink_to("/etc/passwd")
    with pytest.raises(ConfigError, match="not a regular file"):
        read_submission(tmp_path)
    assert submissions.version_folders == []


def test_a_missing_sandbox_program_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    check_sandbox.cache_clear()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match=r"sudo apt install bubblewrap.* --no-sandbox"):
        check_sandbox()
