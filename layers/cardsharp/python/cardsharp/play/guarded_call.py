"""Guarded calls of a strategy's code: its result, its output, and where an error arose.

A strategy is untrusted code: it may be late, fail, or print to a stdout that a program reads.
"""

import linecache
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, ClassVar, Generic, TypeVar

T = TypeVar("T")

MAX_STDOUT_CHARS = 4_000  # characters of a decision's output that are stored
TIMEOUT_MESSAGE = "no decision within"  # first words of the error of a late decision
_MAX_ERROR_CHARS = 300
_PACKAGE_DIR = Path(__file__).parent

_MAX_RERUN_SECONDS = 0.2  # seconds; only a quicker decision is run again to find its line

_EDGE_LINES = 6  # lines that are shown of the beginning and of the end of a long traceback


def describe_late_decision(timeout: timedelta) -> str:
    """Return the text of a decision that was later than `timeout`, rounded to three digits.

    >>> describe_late_decision(timedelta(seconds=1.35715))
    'no decision within 1.36 s'
    """
    return f"{TIMEOUT_MESSAGE} {timeout.total_seconds():.3g} s"


class InvalidDecision(Exception):
    """Error of a strategy that returned something unusable. Its text is the complete message.

    `trace` has lines about the cause, if there are any. `position` is the strategy's position, None
    if the caller did not supply it.
    """

    def __init__(self, message: str, traceback: str = "", position: object = None) -> None:
        super().__init__(message)
        self.trace, self.position = traceback, position


@dataclass(frozen=True, slots=True)
class GuardedResult(Generic[T]):
    """Result of a guarded call, or an `error` that names the line it arose in.

    `traceback` has the strategy's lines that led to the error, outermost first, one per line of
    text. It is empty if there is only one. `stdout` is what the strategy printed during the call.
    """

    result: T | None = None
    error: str | None = None
    traceback: str = ""
    stdout: str = ""


def call_guarded(
    func: Callable[[], T],
    strategy: object,
    timeout: timedelta | None = None,
    *,
    locates: bool = False,
) -> GuardedResult[T]:
    """Call `func`, a strategy's code, and return its result or its error.

    With a `timeout`, a limit on the clock, the call runs in a separate daemon thread. A late call
    is interrupted where it is. Code that is not Python notices the interruption only when it
    returns; the daemon thread does not keep the process alive. A strategy in another process also
    limits the processor time of that process itself.

    Without a timeout, `locates` calls `decide` once more after an unusable result, to find the line
    that returned it.
    """
    page = _OutputBuffer()
    if timeout is None:
        return _run_guarded(func, strategy, page, locates=locates)
    results: SimpleQueue[GuardedResult[T]] = SimpleQueue()
    thread = threading.Thread(
        target=lambda: results.put(_run_guarded(func, strategy, page)), name="decision", daemon=True
    )
    thread.start()
    try:
        return results.get(timeout=timeout.total_seconds())
    except Empty:
        interrupt = getattr(strategy, "interrupt", None)  # a strategy in another process has it
        if interrupt is not None and interrupt(timeout):
            return results.get()
        location = "" if interrupt else _interrupt_thread(thread, strategy)
        return GuardedResult(error=f"{describe_late_decision(timeout)}{location}", stdout=page.text)


def _interrupt_thread(thread: threading.Thread, strategy: object) -> str:
    """Interrupt a thread with `SystemExit`.

    Return the line of the strategy at which the thread was, in brackets.
    """
    import ctypes  # noqa: PLC0415 - slow to import, and seldom needed

    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - the documented way
    lines = [] if frame is None else _strategy_frames(traceback.extract_stack(frame), strategy)
    thread_id = ctypes.c_ulong(thread.ident or 0)
    if sys.gettrace() is None:  # no debugger; under one, Python 3.11 would hang on the next line
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread_id, ctypes.py_object(SystemExit))
    return _format_last_frame(lines)


def _run_guarded(
    func: Callable[[], T], strategy: object, output: "_OutputBuffer", *, locates: bool = False
) -> GuardedResult[T]:
    # Any exception counts, `SystemExit` too: strategy code must never end the turn of a bot. What
    # the strategy prints goes to `page`, because a caller may use stdout for its own protocol.
    began = time.monotonic()
    with _capture_stdout(output):
        try:
            return GuardedResult(func(), stdout=output.text)
        except InvalidDecision as unfit:
            location = "" if strategy_traceback(unfit, strategy) else _locate_decide(strategy)
            if location and locates and time.monotonic() - began < _MAX_RERUN_SECONDS:
                location = _locate_decide_return(strategy, unfit.position) or location
            return GuardedResult(
                error=f"{unfit}{location}", traceback=unfit.trace, stdout=output.text
            )
        except (Exception, SystemExit) as error:  # noqa: BLE001 - code of a user; the turn must continue
            lines = strategy_traceback(error, strategy)
            fault = f"the strategy failed: {_format_error(error)}{_find_advice(error)}"
            trace = "\n".join(first_and_last_lines(lines)) if len(lines) > 1 else ""
            return GuardedResult(
                error=fault + _format_last_frame(lines), traceback=trace, stdout=output.text
            )


def strategy_traceback(error: BaseException, strategy: object) -> list[str]:
    """Return the lines that led to an error in the strategy's file and in files beside it.

    Each has the form `mine.py, line 14, in decide: legal = position.nosuch`, outermost first.
    """
    trace = error.__traceback__
    # The first frames are this package's own; the strategy's lines come after them.
    while trace is not None and Path(trace.tb_frame.f_code.co_filename).parent == _PACKAGE_DIR:
        trace = trace.tb_next
    return _strategy_frames(traceback.extract_tb(trace), strategy)


def _strategy_frames(frames: traceback.StackSummary, strategy: object) -> list[str]:
    """Return the frames in the strategy's own folder, one line of text each."""
    module = sys.modules.get(type(strategy).__module__)
    file = getattr(module, "__file__", None)
    if file is None:
        return []
    home = Path(file).parent
    return [
        f"{Path(frame.filename).relative_to(home)}, line {frame.lineno}, "
        f"in {frame.name}: {frame.line}"
        for frame in frames
        if Path(frame.filename).is_relative_to(home)
    ]


def _format_last_frame(lines: list[str]) -> str:
    return f" ({lines[-1]})" if lines else ""


def _locate_decide(strategy: object) -> str:
    """Return the location of the strategy's `decide`, in brackets; empty if it is not Python."""
    code = getattr(getattr(type(strategy), "decide", None), "__code__", None)
    if code is None:
        return ""
    return f" ({Path(code.co_filename).name}, line {code.co_firstlineno}, in decide)"


def _locate_decide_return(strategy: object, position: object) -> str:
    """Return, in brackets, the line at which `decide` returns in a position.

    The only way to find it is to run `decide` once more under a profiler: a decision is checked
    after `decide` has returned.
    """
    decide = getattr(strategy, "decide", None)
    code, lines = getattr(getattr(type(strategy), "decide", None), "__code__", None), list[int]()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "return" and frame.f_code is code:
            lines.append(frame.f_lineno)

    if code is None or decide is None or position is None:
        return ""
    previous_profiler = sys.getprofile()
    with _capture_stdout(_OutputBuffer()), suppress(Exception, SystemExit):
        sys.setprofile(note)
        try:
            decide(position)
        finally:
            sys.setprofile(previous_profiler)
    if not lines:
        return ""
    source_line = linecache.getline(code.co_filename, lines[-1]).strip()
    return f" ({Path(code.co_filename).name}, line {lines[-1]}, in decide: {source_line})"


_ADVICE_BY_ERROR = {
    "EOFError": "a strategy cannot ask for input; all that it may know is in the position",
    "FrozenInstanceError": "a position cannot be changed; change a copy, such as a list of it",
    "MemoryError": "the strategy needs more memory than its limit (docs/write-a-bot.md)",
    "RecursionError": "a function calls itself without an end",
    "SystemExit": "a strategy does not end the process; let decide return a Decision",
}
"""Advice on errors whose own text gives none, by the name of their class."""


def _find_advice(error: BaseException) -> str:
    advice = _ADVICE_BY_ERROR.get(type(error).__name__)
    return f"; {advice}" if advice else ""


_LOCATION_PATTERN = re.compile(r" \(\S+, line \d+, in \w+")


def fault_group_key(fault: str) -> tuple[str, str]:
    """Return the key that groups errors: the phrase and line without action and position."""
    locations = _LOCATION_PATTERN.findall(fault)
    return re.split("[':(]", fault, maxsplit=1)[0], locations[-1] if locations else ""


def first_and_last_lines(lines: list[str]) -> list[str]:
    """Return the first and the last lines of a long list.

    Languages differ in whether the first or the last lines of a traceback say more.
    """
    return (
        lines
        if len(lines) <= 2 * _EDGE_LINES
        else [*lines[:_EDGE_LINES], "...", *lines[-_EDGE_LINES:]]
    )


def _format_error(error: BaseException) -> str:
    """Return an error's class and message in one line, shortened if it is long."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    return text if len(text) <= _MAX_ERROR_CHARS else f"{text[:_MAX_ERROR_CHARS]} ..."


# --- captured output -----------------------------------------------------------------------------


class _OutputBuffer:
    """Buffer of printed text, up to `MAX_STDOUT_CHARS` characters."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        """Append the text up to the limit."""
        if len(self.text) < MAX_STDOUT_CHARS:
            self.text = (self.text + text)[:MAX_STDOUT_CHARS]
        return len(text)


_current_output: ContextVar[_OutputBuffer | None] = ContextVar("page", default=None)
_lock = threading.Lock()


class _StdoutDispatcher:
    """Replacement of stdout while strategies decide: it writes their output to their buffers."""

    running_decisions: ClassVar[int] = 0  # decisions that are running now

    def __init__(self, stdout: Any) -> None:  # noqa: ANN401 - whatever stdout is
        self.stdout = stdout

    def write(self, text: str) -> int:
        """Write to the buffer of the decision that prints, else to stdout."""
        written: int = (_current_output.get() or self.stdout).write(text)
        return written

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.stdout, name)


@contextmanager
def _capture_stdout(output: _OutputBuffer) -> Iterator[None]:
    token = _current_output.set(output)
    with _lock:
        _StdoutDispatcher.running_decisions += 1
        if not isinstance(sys.stdout, _StdoutDispatcher):
            sys.stdout = _StdoutDispatcher(sys.stdout)
    try:
        yield
    finally:
        _current_output.reset(token)
        with _lock:
            _StdoutDispatcher.running_decisions -= 1
            if not _StdoutDispatcher.running_decisions and isinstance(
                sys.stdout, _StdoutDispatcher
            ):
                sys.stdout = sys.stdout.stdout
