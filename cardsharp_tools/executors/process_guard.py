"""Guard process above a user's code, which leaves no process of that code behind.

The code may start threads, processes and services, and ignore every signal that can be ignored.
So one process of ours, which runs none of that code, stands between the code and us. It is a
"subreaper": the kernel makes it the parent of every orphan below it. It also learns when the
process above it ends, for whatever reason. It ends with the code or with us, and then kills
everything below it.

`python -IS process_guard.py PARENT PIPE words ...` guards a program. A process that will import a
user's file calls `enter` and continues below a guard. This needs Linux.
"""

import ctypes
import os
import resource
import select
import signal
import sys
from collections.abc import Collection
from contextlib import suppress

SHOW = signal.SIGUSR2  # passed on to the code, which then writes its stacks
HEARD = (signal.SIGCHLD, signal.SIGTERM, SHOW)
DEAF = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGHUP,
)  # ignored: a terminal sends them to the code too

_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36  # of prctl(2)


def continue_in_guarded_child(parent: int, reporter_argument: str = "") -> None:
    """Continue in a child process, while this process becomes its guard.

    Call it before any thread is started. The guard ends with the process `parent`, which started
    it. If the child ends, a process whose command contains the argument `last_words` is not killed
    but awaited, because it reports how the child ended.
    """
    if sys.platform == "linux":
        _control(_ADOPT_ORPHANS, 1)
        child = os.fork()
        if child:
            _watch(child, parent, reporter_argument.encode())
        _die_with(os.getppid())


def run_guarded_program(parent: int, error_fd: int, words: list[str]) -> None:
    """Guard a program until its end; write an error's number to `error_fd` if it cannot start."""
    _control(_ADOPT_ORPHANS, 1)
    os.set_inheritable(error_fd, False)  # noqa: FBT003 - takes no name
    guard, child = os.getpid(), os.fork()
    if not child:
        try:
            _die_with(guard)
            os.execvp(words[0], words)  # noqa: S606 - the user's own command
        except OSError as error:
            os.write(error_fd, str(error.errno).encode())
        os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    # The guard must not hold the program's pipes open. Otherwise their readers would not notice
    # that the program has closed them.
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(error_fd)
    _watch(child, parent)


def _control(option: int, argument: int) -> None:
    ctypes.CDLL(None).prctl(option, argument, 0, 0, 0)


def _die_with(guard: int) -> None:
    """Have this process killed when its guard ends."""
    _control(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != guard:  # the guard had already ended, so the signal will never come
        os._exit(1)


def _watch(child: int, parent: int, last_words: bytes = b"") -> None:
    """Wait until the program or its parent ends, or SIGTERM comes; then kill everything below.

    The guard itself then ends with the exit status or the signal of the program.
    """
    exit_statuses: dict[int, int] = {}
    heard, write = os.pipe()
    os.set_blocking(write, False)
    for signal_number in (*HEARD, *DEAF):
        signal.signal(signal_number, lambda *_: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    above = _open(parent)
    while above is not None:
        _reap(exit_statuses)
        if child in exit_statuses:
            _end_all(exit_statuses, _with(last_words))
            break
        ready = select.select([heard, above], [], [])[0]
        received_signals = os.read(heard, 1 << 10) if heard in ready else b""
        if above in ready or signal.SIGTERM in received_signals:
            break
        if SHOW in received_signals:
            os.kill(child, SHOW)
    _end_all(exit_statuses)
    _leave(exit_statuses[child])


def _open(process: int) -> int | None:
    """Return a descriptor that is readable once the parent has ended; None if it already has."""
    with suppress(ProcessLookupError):
        opened = os.pidfd_open(process)
        if os.getppid() == process:
            return opened
    return None


def _reap(exit_statuses: dict[int, int]) -> None:
    """Note the status of each process below that has ended."""
    with suppress(ChildProcessError):
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            exit_statuses[process] = status


def _end_all(exit_statuses: dict[int, int], spared: Collection[int] = ()) -> None:
    """Kill all processes below until none remains, and wait for the spared ones to end."""
    foreign = set[int]()  # of another user, as by sudo: they are not ours to kill
    while below := _below() - foreign - set(spared):
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except PermissionError:
                foreign.add(pid)
        if below - foreign:
            process, status = os.waitpid(-1, 0)
            exit_statuses[process] = status
    for pid in _below() & set(spared):
        os.waitpid(pid, 0)


def _below() -> set[int]:
    """Return the ids of the direct children, which come to include the children's orphans."""
    me = os.getpid()
    return set(map(int, _read(f"/proc/{me}/task/{me}/children").split()))


def _with(argument: bytes) -> set[int]:
    """Return the ids of the processes directly below that have this argument in their command."""
    pids = set[int]()
    for pid in _below() if argument else ():
        with suppress(OSError):
            if argument in _read(f"/proc/{pid}/cmdline").split(b"\0"):
                pids.add(pid)
    return pids


def _read(path: str) -> bytes:
    """Return the contents of a file of the kernel.

    `pathlib` is not used, because importing it takes as long as everything else in this module.
    """
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read()


def _leave(status: int) -> None:
    """End this process with the same exit code or signal as that status."""
    exit_code = os.waitstatus_to_exitcode(status)
    if exit_code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):
            signal.signal(-exit_code, signal.SIG_DFL)
        os.kill(os.getpid(), -exit_code)
    os._exit(exit_code)


if __name__ == "__main__":
    run_guarded_program(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
