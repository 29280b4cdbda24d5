"""A program that runs and is asked, a line each way; it is killed where it is late.

Its guard, or its sandbox, ends whatever it has started when it ends, or when we do.
"""

import fcntl
import os
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import weakref
from contextlib import suppress
from datetime import timedelta
from time import monotonic
from typing import IO, AnyStr

from cardsharp.errors import ConfigError
from cardsharp.trying import LATE, MOST_PRINTED, Unfit, ends
from workbench import companion, guard, warden
from workbench.warden import descendants

# Both are of processor time, or of time in which it sleeps or waits (`companion.Usage`): whoever
# takes more is killed and started anew, and a busy machine makes nobody late.
LIMIT = timedelta(seconds=2)  # for an answer
START_LIMIT = timedelta(seconds=20)  # for the first one; a match that waits goes on without
LONGEST = 1_000_000  # bytes of an answer
PAUSE = 0.1  # seconds from one look at what a program takes to the next
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
        self._stdin, self._stdout = pipe_of(popen.stdin).fileno(), pipe_of(popen.stdout).fileno()
        os.set_blocking(self._stdin, False)
        self._unread, self._has_ended = b"", False
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
        self._is_asked = True
        try:
            line = self._line(question)
        finally:  # also where this thread is told to end
            self._is_asked = False
        if not line.endswith(b"\n") or self.late is not None:
            raise Unfit(*self.fault(line))
        self._limit = LIMIT
        return line

    def _line(self, question: bytes) -> bytes:
        """What it writes up to the end of a line, or until it ends; it is killed where it is late.

        It may read the question late, or never: so both ways are waited for at once.
        """
        pipes, usage = select.poll(), self._usage()
        pipes.register(self._stdout, select.POLLIN)
        if question:
            pipes.register(self._stdin, select.POLLOUT)
        while len(self._unread) < LONGEST and (question or b"\n" not in self._unread):
            ready = dict(pipes.poll(PAUSE * 1000))
            if self._stdin in ready:
                question = self._write(question)
                if not question:
                    pipes.unregister(self._stdin)
            if not self._read(there=self._stdout in ready):
                break
            self._watch(usage, is_ours=bool(ready))
        line, end, self._unread = self._unread.partition(b"\n")
        return line + end if len(line) < LONGEST else line

    def _read(self, *, there: bool) -> bool:
        """Read what is there; False once nothing more will come.

        What it has started, and left behind at its end, may have its output open for ever.
        """
        if there:
            text = os.read(self._stdout, 1 << 16)
            self._unread += text
            return bool(text)
        had_ended, self._has_ended = self._has_ended, not self.lives
        return not had_ended

    def _watch(self, usage: companion.Usage, *, is_ours: bool) -> None:
        """Kill it where it has taken more than it may; with a full pipe it has waited for us."""
        if self.late is not None or monotonic() - usage.looked < PAUSE:
            return
        usage.look(2 * PAUSE, is_ours=is_ours)
        if usage.is_over(self._limit.total_seconds()):
            self._ring(self._limit)

    def _write(self, question: bytes) -> bytes:
        """What is left of the question when it has taken as much as it can, or reads no more."""
        try:
            return question[os.write(self._stdin, question) :]
        except BrokenPipeError:
            return b""

    def _usage(self) -> companion.Usage:
        """What it takes from now on, with all that it starts."""
        return companion.Usage(lambda: descendants(self.popen.pid))

    def heard(self) -> str:
        """What it has written on stderr since this was asked last."""
        text = os.pread(self._errors.fileno(), _HEARD, 0).decode(errors="replace")
        os.ftruncate(self._errors.fileno(), 0)
        return text

    def await_end(self, limit: float) -> int | None:
        """Its exit code; None where it goes on though it has had so many seconds for its end."""
        usage = self._usage()
        while not usage.is_over(limit):
            with suppress(subprocess.TimeoutExpired):
                return self.popen.wait(PAUSE)
            usage.look(2 * PAUSE)
        return None

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
            code = self.await_end(_GRACE)
            ended = f"the program ended with exit code {code}"
            why = "the program closed its output" if code is None else ended
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
