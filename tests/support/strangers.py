"""Clients unlike ours: each plays with one habit that a team's own program may have.

A contest promises to any client that speaks the arena's API that it can enter. These speak it over
plain sockets, without any of our code, as `python strangers.py HABIT URL ID TAGS` too, with the
password in ARENA_PASSWORD.
"""

import json
import os
import re
import socket
import sys
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import md5
from typing import Any
from urllib.parse import urlsplit

CARDS = 2
"""Cards after which a turn is ended."""

PAUSE = 0.5
"""Seconds after a failure until the next try."""


@dataclass(frozen=True)
class Habit:
    """How a client asks; by default as most do."""

    signs_in: str = "at once"
    """With Basic; or, only when it is asked to, by "basic" or "digest"."""

    version: str = "1.1"
    keeps: bool = True
    """Uses a connection again."""

    expects: bool = False
    """Sends a body only after a 100."""

    upper: bool = False
    """Writes paths in capitals."""


HABITS = {
    "basic": Habit(),
    "basic-asked": Habit(signs_in="basic"),
    "digest": Habit(signs_in="digest"),
    "new-connection": Habit(keeps=False),
    "http10": Habit(version="1.0", keeps=False),
    "expect": Habit(expects=True),
    "capitals": Habit(upper=True),
}


@dataclass(frozen=True)
class Heard:
    """An answer."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def all(self, name: str) -> list[str]:
        """The values of a header."""
        return [value for known, value in self.headers if known == name]

    def json(self) -> Any:  # noqa: ANN401 - whatever the arena says
        """The body."""
        return json.loads(self.body)


class Stranger:
    """A client with a habit."""

    def __init__(self, url: str, user: str, password: str, habit: Habit) -> None:
        parts = urlsplit(url)
        self._address = str(parts.hostname), parts.port or 80
        self._user, self._habit = user, habit
        self._password = password
        self._socket: socket.socket | None = None

    def ask(self, method: str, path: str, body: object = None) -> Heard:
        """The answer to a request; OSError where none came."""
        if self._habit.upper:
            before, mark, query = path.partition("?")
            path = before.upper() + mark + query
        if self._habit.signs_in == "at once":
            return self._sent(method, path, body, self._basic())
        heard = self._sent(method, path, body, None)
        asked = heard.all("www-authenticate")
        if heard.status != 401 or not asked:
            return heard
        digest = next(one for one in asked if one.startswith("Digest"))
        basic = self._habit.signs_in == "basic"
        proof = self._basic() if basic else self._digest(method, path, digest)
        return self._sent(method, path, body, proof)

    def play(self, match_id: str) -> None:
        """Play a match to its end: two cards a turn, and every effect is left to the arena."""
        in_play = 0
        while True:
            etype = "EndTurn" if in_play >= CARDS else "Draw"
            body = {"etype": etype, "autopick": True}
            heard = self.ask("POST", f"/api/matches/{match_id}?wait=1", body)
            if heard.status == 410:
                return
            if heard.status == 200:
                told = {event["eventType"] for event in heard.json()}
                in_play = 0 if "TurnEnded" in told else in_play + 1
            elif heard.status == 400 and in_play:
                in_play = 0  # the turn was ended for it
            elif heard.status != 409:
                raise OSError(f"{heard.status}: {heard.body[:200]!r}")

    def play_on(self, tags: str) -> None:
        """Play every match with one of the tags, whatever happens."""
        while True:
            with suppress(OSError, ValueError):
                heard = self.ask("GET", f"/api/matches?active=1&wait=1&tags={tags}")
                if heard.status == 200:
                    for match in heard.json():
                        self.play(match["_id"])
                    continue
            time.sleep(PAUSE)

    def close(self) -> None:
        """Let go of the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _basic(self) -> str:
        return "Basic " + b64encode(f"{self._user}:{self._password}".encode()).decode()

    def _digest(self, method: str, path: str, challenge: str) -> str:
        known: Mapping[str, str] = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
        ha1 = _md5(f"{self._user}:{known['realm']}:{self._password}")
        count, own = "00000001", os.urandom(8).hex()
        middle = f"{known['nonce']}:{count}:{own}:auth"
        response = _md5(f"{ha1}:{middle}:{_md5(f'{method}:{path}')}")
        return (
            f'Digest username="{self._user}", realm="{known["realm"]}", nonce="{known["nonce"]}", '
            f'uri="{path}", qop=auth, nc={count}, cnonce="{own}", response="{response}"'
        )

    def _sent(self, method: str, path: str, body: object, proof: str | None) -> Heard:
        raw = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/{self._habit.version}", f"Host: {self._address[0]}"]
        if proof is not None:
            lines.append(f"Authorization: {proof}")
        if raw:
            lines += ["Content-Type: application/json", f"Content-Length: {len(raw)}"]
        expects = self._habit.expects and raw
        lines += ["Expect: 100-continue"] * bool(expects)
        lines += ["Connection: close"] * (self._habit.version == "1.1" and not self._habit.keeps)
        head = "\r\n".join([*lines, "", ""]).encode()
        fresh = self._socket is None
        try:
            return self._exchanged(head, raw, expects=bool(expects))
        except OSError:
            self.close()
            if fresh:
                raise
            return self._exchanged(head, raw, expects=bool(expects))

    def _exchanged(self, head: bytes, raw: bytes, *, expects: bool) -> Heard:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=60)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._socket.makefile("rb") as stream:
            if expects:
                self._socket.sendall(head)
                status, headers = _head_of(stream)
                if status == 100:
                    self._socket.sendall(raw)
                    status, headers = _head_of(stream)
            else:
                self._socket.sendall(head + raw)
                status, headers = _head_of(stream)
            named = dict(headers)
            length = named.get("content-length")
            read = stream.read() if length is None else stream.read(int(length))
        if not self._habit.keeps or length is None or named.get("connection") == "close":
            self.close()
        return Heard(status, headers, read)


def _head_of(stream: Any) -> tuple[int, list[tuple[str, str]]]:  # noqa: ANN401 - a socket's file
    first = stream.readline()
    if not first:
        raise ConnectionResetError("The connection was closed before the answer.")
    headers = []
    while (line := stream.readline().decode("latin-1").strip()) != "":
        name, _, value = line.partition(":")
        headers.append((name.lower(), value.strip()))
    return int(first.split()[1]), headers


def _md5(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def main() -> None:
    """Play as a habit says until somebody ends it."""
    _, habit, url, user, tags = sys.argv
    Stranger(url, user, os.environ["ARENA_PASSWORD"], HABITS[habit]).play_on(tags)


if __name__ == "__main__":
    main()
