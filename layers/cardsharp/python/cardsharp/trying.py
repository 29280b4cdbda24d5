"""A strategy's code, tried: what it returns, what it prints, and where in it an error arose.

A strategy is anybody's code: it may be late, fail, or print into what a program reads.
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

MOST_PRINTED = 4_000  # characters that are kept of what one decision prints
LATE = "no decision within"  # how the fault of every late decision begins
_MOST_SAID = 300
_HERE = Path(__file__).parent

_QUICK = 0.2  # seconds of a decision that is made once more to see its line

_LINES = 6  # how many of the first and of the last lines are kept of what led to a fault


class Unfit(Exception):
    """What a strategy returned cannot be used; the text is the whole fault.

    `trace` is what there is to see of how it came, in lines; `position` is the one in which a
    strategy answered so, None where nobody knows it.
    """

    def __init__(self, fault: str, trace: str = "", position: object = None) -> None:
        super().__init__(fault)
        self.trace, self.position = trace, position


@dataclass(frozen=True, slots=True)
class Tried(Generic[T]):
    """What came of it: a result, or a `fault` in a sentence that names the line it arose in.

    `trace` are the strategy's own lines that led there, outermost first, where they are several,
    one in a line of text; `printed` is what it wrote to stdout meanwhile.
    """

    result: T | None = None
    fault: str | None = None
    trace: str = ""
    printed: str = ""


def tried(
    work: Callable[[], T], owner: object, limit: timedelta | None = None, *, locates: bool = False
) -> Tried[T]:
    """What came of `work`, which is code of the `owner`; after `limit` it is not waited for.

    With a limit it runs in a thread of its own. One that is late is told to end where it is now;
    code that is no Python hears of it when it returns, and a daemon keeps no process from ending.
    Code in another process gets `ready` first, which has a limit of its own. Without a limit,
    `locates` has the owner decide once more after an answer that cannot be used, for its line.
    """
    page = _Page()
    if limit is None:
        return _tried(work, owner, page, locates=locates)
    ready: Callable[[], Any] | None = getattr(owner, "ready", None)
    if ready is not None and (unready := _tried(ready, owner, page)).fault is not None:
        return unready
    answers: SimpleQueue[Tried[T]] = SimpleQueue()
    thread = threading.Thread(
        target=lambda: answers.put(_tried(work, owner, page)), name="decision", daemon=True
    )
    thread.start()
    try:
        return answers.get(timeout=limit.total_seconds())
    except Empty:
        interrupt = getattr(owner, "interrupt", None)  # of code in another process
        if interrupt is not None and interrupt(limit):
            return answers.get()
        place = "" if interrupt else _stop(thread, owner)
        return Tried(fault=f"{LATE} {limit.total_seconds():g} s{place}", printed=page.text)


def _stop(thread: threading.Thread, owner: object) -> str:
    """Have a thread end, as by `SystemExit`; in brackets, which line of the owner's it was in."""
    import ctypes  # noqa: PLC0415 - slow to import, and seldom needed

    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - the documented way
    lines = [] if frame is None else _own(traceback.extract_stack(frame), owner)
    known = ctypes.c_ulong(thread.ident or 0)
    if sys.gettrace() is None:  # a debugger: Python 3.11 would never come back from the next line
        ctypes.pythonapi.PyThreadState_SetAsyncExc(known, ctypes.py_object(SystemExit))
    return _placed(lines)


def _tried(
    work: Callable[[], T], owner: object, page: "_Page", *, locates: bool = False
) -> Tried[T]:
    began = time.monotonic()
    with _heard(page):
        try:
            return Tried(work(), printed=page.text)
        except Unfit as unfit:
            place = "" if own_lines(unfit, owner) else _defined(owner)
            if place and locates and time.monotonic() - began < _QUICK:
                place = _answering(owner, unfit.position) or place
            return Tried(fault=f"{unfit}{place}", trace=unfit.trace, printed=page.text)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anybody's code; the turn must go on
            lines = own_lines(error, owner)
            fault = f"the strategy failed: {_said(error)}{_advice(error)}"
            trace = "\n".join(ends(lines)) if len(lines) > 1 else ""
            return Tried(fault=fault + _placed(lines), trace=trace, printed=page.text)


def own_lines(error: BaseException, owner: object) -> list[str]:
    """The lines that led to an error in the file of the owner's class and in those beside it.

    Each as `mine.py, line 14, in decide: legal = position.nosuch`, the outermost first.
    """
    trace = error.__traceback__
    # The first frames are ours: this module's and its callers'.
    while trace is not None and Path(trace.tb_frame.f_code.co_filename).parent == _HERE:
        trace = trace.tb_next
    return _own(traceback.extract_tb(trace), owner)


def _own(frames: traceback.StackSummary, owner: object) -> list[str]:
    """Those frames that are the owner's, each in a line."""
    module = sys.modules.get(type(owner).__module__)
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


def _placed(lines: list[str]) -> str:
    return f" ({lines[-1]})" if lines else ""


def _defined(owner: object) -> str:
    """Where the owner's `decide` is written, in brackets."""
    code = getattr(getattr(type(owner), "decide", None), "__code__", None)
    if code is None:
        return ""
    return f" ({Path(code.co_filename).name}, line {code.co_firstlineno}, in decide)"


def _answering(owner: object, position: object) -> str:
    """In brackets, the line that answers in a position: `decide` is run once more to see it.

    Nothing else knows that line: a decision is judged when `decide` has returned.
    """
    decide = getattr(owner, "decide", None)
    code, lines = getattr(getattr(type(owner), "decide", None), "__code__", None), list[int]()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "return" and frame.f_code is code:
            lines.append(frame.f_lineno)

    if code is None or decide is None or position is None:
        return ""
    before = sys.getprofile()
    with _heard(_Page()), suppress(Exception, SystemExit):
        sys.setprofile(note)
        try:
            decide(position)
        finally:
            sys.setprofile(before)
    if not lines:
        return ""
    text = linecache.getline(code.co_filename, lines[-1]).strip()
    return f" ({Path(code.co_filename).name}, line {lines[-1]}, in decide: {text})"


_ADVICE = {
    "EOFError": "nobody types here; all that it may know is in the position",
    "FrozenInstanceError": "a position cannot be changed; change a copy, such as a list of it",
    "MemoryError": "it takes more memory than it may have (docs/write-a-bot.md)",
    "RecursionError": "a function calls itself without end",
    "SystemExit": "a strategy does not end the process; let decide return a Decision",
}
"""What to do about errors whose own text does not say it, by the name of their class."""


def _advice(error: BaseException) -> str:
    advice = _ADVICE.get(type(error).__name__)
    return f"; {advice}" if advice else ""


_PLACE = re.compile(r" \(\S+, line \d+, in \w+")


def fault_kind(fault: str) -> tuple[str, str]:
    """Return the phrase and the line that faults share which differ in action or position alone."""
    places = _PLACE.findall(fault)
    return re.split("[':(]", fault, maxsplit=1)[0], places[-1] if places else ""


def ends(lines: list[str]) -> list[str]:
    """The first and the last of many lines: languages differ in where they say most."""
    return lines if len(lines) <= 2 * _LINES else [*lines[:_LINES], "...", *lines[-_LINES:]]


def _said(error: BaseException) -> str:
    """An error's kind and text in one line, cut where it is long."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    return text if len(text) <= _MOST_SAID else f"{text[:_MOST_SAID]} ..."


# --- what is printed -----------------------------------------------------------------------------


class _Page:
    """What was printed, up to `MOST_PRINTED` characters."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        """Keep the text as far as there is room."""
        if len(self.text) < MOST_PRINTED:
            self.text = (self.text + text)[:MOST_PRINTED]
        return len(text)


_page: ContextVar[_Page | None] = ContextVar("page", default=None)
_lock = threading.Lock()


class _Ear:
    """Stands before stdout while strategies decide: what they print goes to their pages."""

    decisions: ClassVar[int] = 0  # how many are being made now

    def __init__(self, stdout: Any) -> None:  # noqa: ANN401 - whatever stdout is
        self.stdout = stdout

    def write(self, text: str) -> int:
        """Write to the page of the decision that prints, else to stdout."""
        written: int = (_page.get() or self.stdout).write(text)
        return written

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.stdout, name)


@contextmanager
def _heard(page: _Page) -> Iterator[None]:
    token = _page.set(page)
    with _lock:
        _Ear.decisions += 1
        if not isinstance(sys.stdout, _Ear):
            sys.stdout = _Ear(sys.stdout)
    try:
        yield
    finally:
        _page.reset(token)
        with _lock:
            _Ear.decisions -= 1
            if not _Ear.decisions and isinstance(sys.stdout, _Ear):
                sys.stdout = sys.stdout.stdout
