"""A program that runs and is asked, a line each way; it is killed where it is late.

Its guard, or its sandbox, ends whatever it has started when it ends, or when we do.
"""

import fcntl
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import weakref
from contextlib import suppress
from datetime import timedelta
from threading import Timer
from typing import IO, AnyStr

from cardsharp.errors import ConfigError
from cardsharp.trying import LATE, MOST_PRINTED, Unfit, ends
from workbench import companion, guard, warden

LIMIT = timedelta(seconds=2)  # for an answer; whoever takes longer is killed and started anew
START_LIMIT = timedelta(seconds=20)  # for the first one; a match that waits goes on without
LONGEST = 1_000_000  # bytes of an answer
_HEARD = 8 * MOST_PRINTED  # bytes that are read of stderr: what is kept, and a last stack
_GRACE = 0.5  # seconds in which a program that has closed its output is expected to end
_OURS = ("CARDSHARP_", "AWS_")  # begin variables that no program is given, as passwords


def words_of(command: str) -> list[str]:
    """The words of a command; none where a quote is left open."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


class Process:
    """A program that runs, in a session of its own: Ctrl-C is for us, who then end it."""

    def __init__(self, command: str) -> None:
        self.words = words_of(command)
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as the process
        fcntl.fcntl(errors, fcntl.F_SETFL, os.O_APPEND)  # so that it can be emptied
        try:
            popen = _started(self.words, errors)
        except OSError as error:
            errors.close()
            why = error.strerror
            if isinstance(error, FileNotFoundError):
                why = f"there is no program {error.filename} here"
            raise ConfigError(f"'{command}' cannot be started: {why}.") from None
        self.popen, self._errors = popen, errors
        self._stdin, self._stdout = pipe_of(popen.stdin), pipe_of(popen.stdout)
        self.late: timedelta | None = None
        self._is_asked = False
        self._limit = START_LIMIT
        weakref.finalize(self, _end, popen, errors)

    @property
    def lives(self) -> bool:
        """Whether it can be asked."""
        return self.popen.poll() is None

    def ask(self, question: bytes) -> bytes:
        """Its answer; raises `Unfit` if it ends, or is late, for which it is killed."""
        alarm = Timer(self._limit.total_seconds(), self._ring, (self._limit,))
        alarm.daemon = True
        alarm.start()
        line, self._is_asked = b"", True
        try:
            with suppress(BrokenPipeError):
                self._stdin.write(question)
                self._stdin.flush()
                line = self._stdout.readline(LONGEST)
        finally:  # also where this thread is told to end
            alarm.cancel()
            self._is_asked = False
        if not line.endswith(b"\n") or self.late is not None:
            raise Unfit(*self.fault(line))
        self._limit = LIMIT
        return line

    def heard(self) -> str:
        """What it has written on stderr since this was asked last."""
        text = os.pread(self._errors.fileno(), _HEARD, 0).decode(errors="replace")
        os.ftruncate(self._errors.fileno(), 0)
        return text

    def end(self) -> None:
        """End it and whatever it started."""
        _kill(self.popen)

    def interrupt(self, limit: timedelta) -> bool:
        """End it, which has not answered within `limit`; whether there is an answer in a moment.

        There is none where it is only starting. Where nobody asks it any more, the one that was
        asked has been ended for the same reason, and is told of just now.
        """
        if self._is_asked:
            if self._limit == START_LIMIT:
                return False
            self._ring(limit)
        return True

    def _ring(self, limit: timedelta) -> None:
        self.late = limit
        self.end()

    def fault(self, line: bytes) -> tuple[str, str]:
        """Why there is no answer, in a phrase; and what it wrote on stderr last."""
        if self.late is not None:
            why = f"{LATE} {self.late.total_seconds():g} s"
        elif line:
            why = "the program wrote a line without an end"
        else:
            why = "the program closed its output"
            with suppress(subprocess.TimeoutExpired):
                why = f"the program ended with exit code {self.popen.wait(_GRACE)}"
        told = self.heard()
        crash = companion.CRASH.search(told)
        lines = ends(told.strip().splitlines())
        text = "\n".join(line.replace("\t", "    ") for line in lines)
        return f"the program ended ({crash[1]})" if crash else why, text


def _started(words: list[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """A program under its guard; a sandbox is one itself. Raises `OSError` if it cannot start."""
    read, told = os.pipe()
    before: list[str] = []
    if sys.platform == "linux" and words[2:3] != [warden.__file__]:
        before = [sys.executable, "-IS", guard.__file__, str(os.getpid()), str(told)]
    try:
        popen = subprocess.Popen(  # noqa: S603 - the user's own command
            [*before, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            pass_fds=[told] if before else [],
            env={k: v for k, v in os.environ.items() if not k.startswith(_OURS)},
        )
    except OSError:
        os.close(read)
        raise
    finally:
        os.close(told)
    with os.fdopen(read, "rb") as pipe:
        failed = pipe.read() if before else b""
    if failed:
        popen.communicate()
        raise OSError(int(failed), os.strerror(int(failed)), words[0])
    return popen


def _kill(popen: subprocess.Popen[bytes]) -> None:
    """End a program and whatever it started."""
    if guard.__file__ in popen.args:  # type: ignore[operator]  # they are words
        popen.terminate()
        return
    with suppress(ProcessLookupError):
        os.killpg(popen.pid, signal.SIGKILL)


def _end(popen: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    _kill(popen)
    with suppress(BrokenPipeError):
        popen.communicate()
    errors.close()


def pipe_of(pipe: IO[AnyStr] | None) -> IO[AnyStr]:
    """A pipe that was asked for, and so is there."""
    if pipe is None:
        raise TypeError("The pipe was not asked for.")
    return pipe
