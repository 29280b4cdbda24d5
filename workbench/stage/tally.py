"""What this process asked an arena for and was answered, counted by match, kind and status.

The clients of poller and worker live and end inside the handlers, so the count is taken where
every request passes: the debug messages that urllib3 logs, one for each answer.
"""

import logging
import threading
from collections import Counter, defaultdict
from typing import Self
from urllib.parse import urlsplit

_SOURCE = logging.getLogger("urllib3.connectionpool")
_ANSWER_ARGS = 8
"""Arguments of the message "scheme://host:port "method path version" status length"."""


class Tally(logging.Handler):
    """Counts answers of the server at `url` between enter and exit.

    The kinds are those of `ArenaClient.counts`: list_wait, view, view_wait, act, create, other.
    `passing` are the names of threads whose requests are somebody else's.
    """

    def __init__(self, url: str, passing: frozenset[str] = frozenset()) -> None:
        super().__init__(logging.DEBUG)
        self._address = urlsplit(url).netloc
        self._passing = passing
        self._guard = threading.Lock()
        self._counts: defaultdict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
        self._before = (_SOURCE.level, _SOURCE.propagate)

    def __enter__(self) -> Self:
        self._before = (_SOURCE.level, _SOURCE.propagate)
        _SOURCE.setLevel(logging.DEBUG)
        _SOURCE.propagate = False  # a line a request would fill every log
        _SOURCE.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        _SOURCE.removeHandler(self)
        level, _SOURCE.propagate = self._before
        _SOURCE.setLevel(level)

    @property
    def counts(self) -> Counter[str]:
        """Answers so far by kind."""
        kinds = Counter[str]()
        with self._guard:
            for counted in self._counts.values():
                for (kind, _status), number in counted.items():
                    kinds[kind] += number
        return kinds

    def of(self, match_id: str) -> Counter[tuple[str, int]]:
        """Answers about one match by kind and status."""
        with self._guard:
            return self._counts[match_id].copy()

    def emit(self, record: logging.LogRecord) -> None:
        """Count a message that tells of an answer; others are passed over."""
        args = record.args
        if not isinstance(args, tuple) or len(args) != _ANSWER_ARGS:
            return
        _scheme, host, port, method, target, _version, status, _length = args
        if f"{host}:{port}" != self._address or record.threadName in self._passing:
            return
        match_id = urlsplit(str(target)).path.rpartition("/")[2]
        with self._guard:
            self._counts[match_id][kind_of(str(method), str(target)), int(str(status))] += 1


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
