"""What is done to requests: every kind of fault, and by a seed which request suffers which."""

import json
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random
from urllib.parse import parse_qs, urlsplit

from workbench.bench.chaos.gateway import Fault, Heard, said

_PAGE = b"<!DOCTYPE html><html><body>Request blocked</body></html>"
_HTML, _WAIT = "text/html; charset=utf-8", "1"


def _page(status: int) -> bytes:
    return said(status, _PAGE, _HTML)


def _error(status: int, words: str, **headers: str) -> bytes:
    return said(status, json.dumps({"error": words}).encode(), **headers)


_BOTH = (
    Fault(name="reset"),
    Fault(name="answer lost", passes=True),
    Fault(name="blackhole", silence=True),
    Fault(name="no answer", passes=True, silence=True),
    Fault(name="late", held=timedelta(seconds=1.5), only_late=True),
    Fault(name="500", answer=_error(500, "Internal Server Error.")),
    Fault(name="500 after effect", passes=True, answer=_error(500, "Internal Server Error.")),
    Fault(name="429", answer=said(429, b"slow down", Retry_After=_WAIT)),
    Fault(name="503", answer=said(503, b"busy", Retry_After=_WAIT)),
    *(Fault(name=f"{s} page", answer=_page(s)) for s in (400, 401, 403, 404, 408, 410, 421)),
    *(Fault(name=f"{s} page after effect", passes=True, answer=_page(s)) for s in (403, 404, 408)),
    Fault(name="HTML", passes=True, answer=_page(200)),
    Fault(name="cut JSON", passes=True, answer=said(200, b'[{"eventType":"Dra')),
)
READS = (*_BOTH, Fault(name="denied once", answer=_error(404, "Match does not exist.")))
ACTIONS = (
    *_BOTH,
    Fault(name="409", answer=_error(409, "Authenticated user is not the current player.")),
)
_THROTTLED = b'{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow"}'
LATEST = 200
"""What befell so long ago is no reason for anything any more."""

RARER = 5
"""So many times more seldom a request to a store fails: there are more of them, for all matches."""

STORE = (
    Fault(name="store reset"),
    Fault(name="store answer lost", passes=True),
    Fault(name="store late", held=timedelta(seconds=1.5), only_late=True),
    Fault(name="store 500", answer=said(500, b"{}")),
    Fault(name="store 500 after effect", passes=True, answer=said(500, b"{}")),
    Fault(name="store throttled", answer=said(400, _THROTTLED, "application/x-amz-json-1.0")),
)


@dataclass(frozen=True, slots=True)
class Suffered:
    """A fault and when it began."""

    at: datetime
    name: str


@dataclass
class FaultPlan:
    """Which request suffers what, at a `rate` from 0 to 1.

    It depends on the seed, the match and the how-manyeth request of its sort this is there, so a
    match suffers the same in every run, whichever others are played beside it.
    """

    seed: str
    rate: float
    counts: Counter[str] = field(default_factory=Counter)
    """How often each fault has happened."""

    numbers: dict[str, int] = field(default_factory=dict)
    """The matches that run, as they are counted by whoever begins them."""

    cut_store: Fault | None = None
    """What every request to the store suffers while it is out of reach."""

    _seen: Counter[tuple[object, str]] = field(default_factory=Counter)
    _suffered: defaultdict[str, list[Suffered]] = field(default_factory=lambda: defaultdict(list))
    _befallen: deque[Suffered] = field(default_factory=lambda: deque(maxlen=LATEST))
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _cut_until: float = 0

    def cut(self, duration: timedelta) -> None:
        """From now on let nothing pass for so long."""
        self._cut_until = time.monotonic() + duration.total_seconds()

    def of_arena(self, asked: Heard) -> Fault | None:
        """What a request to the arena suffers."""
        parts = urlsplit(asked.path)
        match_id = parts.path.rpartition("/")[2]
        if asked.method == "POST":
            return self._choose(match_id, "act", ACTIONS)
        kind = "wait" if "waitactive" in parse_qs(parts.query) else "look"
        return self._choose(match_id, kind, READS)

    def of_store(self, asked: Heard) -> Fault | None:
        """What a request to DynamoDB or SQS suffers; how a worker gets a message is Lambda's."""
        kind = asked.headers.get("x-amz-target", "").rpartition(".")[2]
        if kind in {"ReceiveMessage", "DeleteMessage"}:
            return None
        if self.cut_store is not None:
            return self.cut_store
        return self._choose("", kind, STORE, RARER)

    def befall(self, name: str) -> None:
        """Note what happened to a machine or a store; every match may feel it."""
        with self._guard:
            self.counts[name.split(" for ", maxsplit=1)[0]] += 1
            self._befallen.append(Suffered(datetime.now(UTC), name))

    def suffered(self, match_id: str) -> Sequence[Suffered]:
        """What befell anything, and the requests of a match, of which all is forgotten then."""
        with self._guard:
            self.numbers.pop(match_id, None)
            for kind in ("act", "wait", "look"):
                self._seen.pop((match_id, kind), None)
            return [*self._befallen, *self._suffered.pop(match_id, [])]

    def _choose(
        self, match_id: str, kind: str, faults: Sequence[Fault], rarer: int = 1
    ) -> Fault | None:
        with self._guard:
            left = self._cut_until - time.monotonic()
            if left > 0 and faults is not STORE:
                return Fault(name="cut", held=timedelta(seconds=left), only_late=True)
            which = match_id, kind
            self._seen[which] += 1
            number = self.numbers.get(match_id, 0)
            chance = Random(f"{self.seed}/{number}/{kind}/{self._seen[which]}")
            if chance.random() >= self.rate / rarer:
                return None
            fault = chance.choice(faults)
            if fault.held:
                fault = replace(fault, held=fault.held * 1.5 * chance.random())
            self.counts[fault.name] += 1
            if match_id in self.numbers:
                name = f"{fault.name} ({kind})"
                self._suffered[match_id].append(Suffered(datetime.now(UTC), name))
            return fault
