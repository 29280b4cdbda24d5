"""What a gateway can do to a match: spoil some answers, or take the arena away."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from support.bot_proxy import Passing, Reply
from workbench.arena.server import ArenaServer

PAGE = Reply(200, b"<!DOCTYPE html><html><body>Welcome</body></html>", "text/html")
HUGE = Reply(200, b"[" + b" " * 10_000_000 + b"]")
SPOILT: dict[str, Callable[[Reply], Reply]] = {
    "html": lambda _reply: PAGE,
    "cut": lambda reply: replace(reply, body=reply.body[: len(reply.body) // 2]),
    "huge": lambda _reply: HUGE,
    "other types": lambda _reply: Reply(200, b'{"moves": 7}'),
    "500": lambda _reply: Reply(500, b'{"error":"Internal Server Error."}'),
    "empty": lambda _reply: Reply(200, b""),
}

SPOILS = {"act": 5, "look": 2, "list": 2}
"""Which of a match's answers is spoilt; of the lists, this one and those that follow."""


class Spoiler:
    """Spoils answers, those of each match in its own way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ways: dict[str, str] = {}
        self._seen: Counter[tuple[str, str]] = Counter()
        self.done: list[tuple[str, str]] = []

    def __call__(self, passing: Passing, reply: Reply) -> Reply:
        with self._lock:
            kind, way = self._kind_and_way(passing)
            if way is None:
                return reply
            self.done.append((kind, way))
        return SPOILT[way](reply)

    def _kind_and_way(self, passing: Passing) -> tuple[str, str | None]:
        ways = list(SPOILT)
        if not (passing.is_action or passing.is_look):
            self._seen["", "list"] += 1
            number = self._seen["", "list"] - SPOILS["list"]
            return "list", ways[number] if 0 <= number < len(ways) else None
        kind, match_id = "act" if passing.is_action else "look", passing.path.partition("?")[0]
        way = self._ways.setdefault(match_id, ways[len(self._ways) % len(ways)])
        self._seen[match_id, kind] += 1
        return kind, way if self._seen[match_id, kind] == SPOILS[kind] else None


class Fall:
    """Stops the arena when it has carried out our n-th action, before we are told so."""

    arena: ArenaServer

    def __init__(self, after: int) -> None:
        self._left = after
        self._lock = threading.Lock()
        self.fallen = threading.Event()

    def __call__(self, passing: Passing, reply: Reply) -> Reply:
        with self._lock:
            self._left -= passing.is_action
            falls = self._left == 0 and not self.fallen.is_set()
        if falls:
            self.arena.stop()
            self.fallen.set()
        return reply
