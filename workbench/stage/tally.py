"""What this process asked an arena for, counted by kind.

The clients of poller and worker live and end inside the handlers, so the count is taken where
every request passes: the debug messages that urllib3 logs, one for each answer.
"""

import logging
import threading
from collections import Counter
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

_SOURCE = logging.getLogger("urllib3.connectionpool")
_ANSWER_ARGS = 8
"""Arguments of the message "scheme://host:port "method path version" status length"."""


class Tally(logging.Handler):
    """Counts requests that were answered by the server at `url`, between enter and exit.

    The kinds are those of `ArenaClient.counts`: list_wait, view, view_wait, act, create, other.
    """

    def __init__(self, url: str) -> None:
        super().__init__(logging.DEBUG)
        self._address = urlsplit(url).netloc
        self._guard = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._before = (_SOURCE.level, _SOURCE.propagate)

    def __enter__(self) -> Self:
        self._before = (_SOURCE.level, _SOURCE.propagate)
        _SOURCE.setLevel(logging.DEBUG)
        _SOURCE.propagate = False  # a line a request would fill the log file
        _SOURCE.addHandler(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _SOURCE.removeHandler(self)
        level, _SOURCE.propagate = self._before
        _SOURCE.setLevel(level)

    @property
    def counts(self) -> Counter[str]:
        """Requests so far by kind."""
        with self._guard:
            return self._counts.copy()

    def emit(self, record: logging.LogRecord) -> None:
        """Count a message that tells of an answer; others are passed over."""
        if not isinstance(record.args, tuple) or len(record.args) != _ANSWER_ARGS:
            return
        _scheme, host, port, method, target, *_ = record.args
        if f"{host}:{port}" != self._address:
            return
        with self._guard:
            self._counts[kind_of(str(method), str(target))] += 1


def kind_of(method: str, target: str) -> str:
    """What a request asks for, by its method and its path with query."""
    path, _, query = target.partition("?")
    parts = path.strip("/").split("/")
    match parts:
        case ["api", "matches"]:
            if method == "POST":
                return "create"
            return "list_wait" if "wait=true" in query else "list"
        case ["api", "matches", _]:
            if method == "POST":
                return "act"
            return "view_wait" if "waitactive=true" in query else "view"
    return "other"
