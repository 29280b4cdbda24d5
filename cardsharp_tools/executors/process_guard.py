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

STACK_DUMP_SIGNAL = signal.SIGUSR2  # passed on to the code, which then writes its stacks
WAKING_SIGNALS = (signal.SIGCHLD, signal.SIGTERM, STACK_DUMP_SIGNAL)
IGNORED_SIGNALS = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGHUP,
)  # ignored: a terminal sends them to the code too

_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36  # of prctl(2)


def continue_in_guarded_child(parent: int, reporter_argument: str = "") -> None:
    """Continue in a child process, while this process becomes its guard.

    Call it before any thread is started. The guard ends with the process `parent`, which started
    it. If the child ends, a process whose command contains the argument `reporter_argument` is not
    killed but awaited, because it reports how the child ended.
    """
    if sys.platform == "linux":
        _call_prctl(_ADOPT_ORPHANS, 1)
        child = os.fork()
        if child:
            _guard_program(child, parent, reporter_argument.encode())
        _die_with_guard(os.getppid())


def run_guarded_program(parent: int, error_fd: int, command: list[str]) -> None:
    """Guard a program until its end; write an error's number to `error_fd` if it cannot start."""
    _call_prctl(_ADOPT_ORPHANS, 1)
    os.set_inheritable(error_fd, False)  # noqa: FBT003 - takes no name
    guard, child = os.getpid(), os.fork()
    if not child:
        try:
            _die_with_guard(guard)
            os.execvp(command[0], command)  # noqa: S606 - the user's own command
        except OSError as error:
            os.write(error_fd, str(error.errno).encode())
        os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    # The guard must not hold the program's pipes open. Otherwise their readers would not notice
    # that the program has closed them.
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(error_fd)
    _guard_program(child, parent)


def _call_prctl(option: int, argument: int) -> None:
    ctypes.CDLL(None).prctl(option, argument, 0, 0, 0)


def _die_with_guard(guard: int) -> None:
    """Arrange that this process is killed when its guard ends."""
    _call_prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != guard:  # the guard had already ended, so the signal will never come
        os._exit(1)


def _guard_program(child: int, parent: int, reporter_argument: bytes = b"") -> None:
    """Wait until the program or its parent ends, or SIGTERM comes; then kill all descendants.

    The guard itself then ends with the exit status or the signal of the program.
    """
    exit_statuses: dict[int, int] = {}
    heard, write = os.pipe()
    os.set_blocking(write, False)
    for signal_number in (*WAKING_SIGNALS, *IGNORED_SIGNALS):
        signal.signal(signal_number, lambda *_: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    above = _open_parent_pidfd(parent)
    while above is not None:
        _reap_children(exit_statuses)
        if child in exit_statuses:
            _kill_descendants(exit_statuses, _find_children_by_argument(reporter_argument))
            break
        ready = select.select([heard, above], [], [])[0]
        received_signals = os.read(heard, 1 << 10) if heard in ready else b""
        if above in ready or signal.SIGTERM in received_signals:
            break
        if STACK_DUMP_SIGNAL in received_signals:
            os.kill(child, STACK_DUMP_SIGNAL)
    _kill_descendants(exit_statuses)
    _exit_with_status(exit_statuses[child])


def _open_parent_pidfd(process: int) -> int | None:
    """Return a descriptor that is readable after the parent has ended; None if it has ended."""
    with suppress(ProcessLookupError):
        opened = os.pidfd_open(process)
        if os.getppid() == process:
            return opened
    return None


def _reap_children(exit_statuses: dict[int, int]) -> None:
    """Store the exit status of each descendant that has ended in `exit_statuses`."""
    with suppress(ChildProcessError):
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            exit_statuses[process] = status


def _kill_descendants(exit_statuses: dict[int, int], spared_pids: Collection[int] = ()) -> None:
    """Kill all descendants until none remains, and wait for the spared ones to end."""
    foreign = set[int]()  # of another user, as by sudo: they are not ours to kill
    while below := _list_child_pids() - foreign - set(spared_pids):
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except PermissionError:
                foreign.add(pid)
        if below - foreign:
            process, status = os.waitpid(-1, 0)
            exit_statuses[process] = status
    for pid in _list_child_pids() & set(spared_pids):
        os.waitpid(pid, 0)


def _list_child_pids() -> set[int]:
    """Return the ids of the direct children.

    The orphans of the children become direct children, too.
    """
    me = os.getpid()
    return set(map(int, _read_kernel_file(f"/proc/{me}/task/{me}/children").split()))


def _find_children_by_argument(argument: bytes) -> set[int]:
    """Return the ids of the direct children with this argument in their command."""
    pids = set[int]()
    for pid in _list_child_pids() if argument else ():
        with suppress(OSError):
            if argument in _read_kernel_file(f"/proc/{pid}/cmdline").split(b"\0"):
                pids.add(pid)
    return pids


def _read_kernel_file(path: str) -> bytes:
    """Return the contents of a file that the kernel provides.

    `pathlib` is not used, because importing it takes as long as everything else in this
    module.
    """
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read()


def _exit_with_status(status: int) -> None:
    """End this process with the exit code or the signal of `status`."""
    exit_code = os.waitstatus_to_exitcode(status)
    if exit_code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):
            signal.signal(-exit_code, signal.SIG_DFL)
        os.kill(os.getpid(), -exit_code)
    os._exit(exit_code)


if __name__ == "__main__":
    run_guarded_program(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
