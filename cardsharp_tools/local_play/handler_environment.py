"""Environment of the handlers on this machine: settings of their own, and a log file."""

import io
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from cardsharp.aws.telemetry import LOGGER, logger, redirect_logs_and_metrics
from cardsharp.bot.settings import PREFIX
from cardsharp.core.private_files import ensure_private_file
from cardsharp.core.redaction import redact
from cardsharp_tools.cli.console import print_error, replace_control_char
from cardsharp_tools.executors.line_process import MAX_ANSWER_CLOCK_TIME
from cardsharp_tools.local_server.log_filter import RepeatFilter

AWS_PREFIX = "AWS_"

USER_CODE_SETTINGS: Mapping[str, str] = {
    f"{PREFIX}DECISION_SECONDS": f"{MAX_ANSWER_CLOCK_TIME.total_seconds():g}"
}
"""Settings for a strategy that a user wrote.

Its process limits its own processor time and sleep to 2 s. The usual limit of 2 s on the clock
would also count the time in which a busy machine does other work. A turn's time limits the
decision too, so that a fallback action is still sent in time.
"""

MAX_LOG_BYTES = 20_000_000  # bytes after which a log file begins anew


@contextmanager
def override_settings_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Let `values` be the only `CARDSHARP_...` variables, and restore the others afterwards.

    Where they name anything of AWS, they are the only `AWS_...` variables too: a profile of the
    user's must not lead from the emulator to the real cloud.
    """
    prefixes = [PREFIX]
    if any(name.startswith(AWS_PREFIX) for name in values):
        prefixes.append(AWS_PREFIX)
    managed_prefixes = tuple(prefixes)
    saved = {k: v for k, v in os.environ.items() if k.startswith(managed_prefixes) or k in values}
    for name in saved:
        del os.environ[name]
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            os.environ.pop(name, None)
        os.environ.update(saved)


@contextmanager
def redirect_telemetry(path: Path) -> Iterator[None]:
    """Send logs and metrics of handlers and home to the end of a file, away from the terminal."""
    root = logging.getLogger()
    with LogFile(path) as stream:
        handler = logging.StreamHandler(stream)
        handler.setFormatter(_RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        root.addHandler(handler)
        repeat_filter, handlers = RepeatFilter(), (handler, *logger.handlers)
        for log_handler in handlers:
            log_handler.addFilter(repeat_filter)
        try:
            yield
        finally:
            for log_handler in handlers:
                log_handler.removeFilter(repeat_filter)
            root.removeHandler(handler)


Notify = Callable[[str], None]


class _NotifyHandler(logging.Handler):
    """Log handler that reports warnings to the user, with the match that they concern."""

    def __init__(self, say: Notify) -> None:
        super().__init__(logging.WARNING)
        self._notify = say
        self.addFilter(RepeatFilter())

    def emit(self, record: logging.LogRecord) -> None:
        """Pass the message on, with the match that it is about."""
        match_id = getattr(record, "match_id", None)
        prefix = "" if match_id is None else f"match {match_id}: "
        self._notify(f"{prefix}{record.getMessage()}")


@contextmanager
def forward_warnings(notify: Notify, *logger_names: str) -> Iterator[None]:
    """Pass the warnings of loggers of these names, or of all of ours, to `notify`.

    Each warning is passed once a minute at most.
    """
    handler, sources = (
        _NotifyHandler(notify),
        [logging.getLogger(name) for name in logger_names or (LOGGER,)],
    )
    for source in sources:
        source.addHandler(handler)
    try:
        yield
    finally:
        for source in sources:
            source.removeHandler(handler)


class LogFile(io.TextIOWrapper):
    """Append-only log file that only its owner can read; a write error is reported once.

    While it is entered our log lines and metrics, each a JSON object, are written there.

    What is logged about a program must not stop it. A long file begins anew, and the one before is
    kept beside it. Raises `OSError` if it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        ensure_private_file(path)
        self._path = path
        self._has_failed = False
        self._byte_count = path.stat().st_size
        super().__init__(path.open("ab"), encoding="utf-8")

    def __enter__(self) -> Self:
        redirect_logs_and_metrics(self)
        return self

    def __exit__(self, *_: object) -> None:
        # A thread that is left behind must not meet a closed file, nor write to the terminal.
        redirect_logs_and_metrics(io.StringIO())
        self.close()

    def write(self, text: str) -> int:
        """Write if that is possible; return the length of the text."""
        if self._byte_count + len(text) > MAX_LOG_BYTES:
            self._try_write(self._rotate)
        self._byte_count += len(text)
        self._try_write(lambda: super(LogFile, self).write(text))
        return len(text)

    def _rotate(self) -> None:
        super().flush()
        self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        ensure_private_file(self._path)
        with self._path.open("ab") as new_file:
            os.dup2(new_file.fileno(), self.fileno())
        self._byte_count = 0

    def flush(self) -> None:
        """Write what is still in memory."""
        self._try_write(super().flush)

    def close(self) -> None:
        """Close the file."""
        self._try_write(super().close)

    def _try_write(self, write_action: Callable[[], object]) -> None:
        try:
            if not self._has_failed:
                write_action()
        except OSError as error:
            self._has_failed = True
            print_error(f"The log {self._path} cannot be written any more: {error.strerror}.")


_RETRY_FIELDS = ("callable", "caused_by", "retry_num", "wait_for")


class _RedactingFormatter(logging.Formatter):
    """Log formatter that redacts registered secrets in the complete line.

    It also escapes control characters, so that no text from outside can end the line.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return the line with control characters made visible, so no terminal obeys them."""
        retry = {name: getattr(record, f"stamina.{name}", None) for name in _RETRY_FIELDS}
        if retry["callable"] is not None:  # the library puts all of it into fields of the record
            record.message = (
                f"{retry['callable']} failed: {retry['caused_by']}. Retry {retry['retry_num']} "
                f"follows in {retry['wait_for']} s."
            )
        return "".join(map(replace_control_char, super().formatMessage(record)))

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without secrets."""
        return redact(super().format(record))
