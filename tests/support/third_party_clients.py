"""Clients unlike ours: each plays with one habit that a team's own program may have.

A contest promises to any client that speaks the arena's API that it can enter. These speak it
without any of our code, as `python strangers.py HABIT URL ID TAGS` with the password in
ARENA_PASSWORD.
"""

import json
import os
import re
import sys
import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import md5
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

CARDS_PER_TURN = 2  # cards after which a turn is ended

PAUSE = 0.5  # seconds after a failure until the next try
HANG_SECONDS = 600  # after which an answer hangs

FAILURES = (OSError, HTTPException, ValueError)

Answer = tuple[int, Any, list[str]]  # status, body, and who the arena asks to prove who they are

Send = Callable[[str, str, bytes | None, dict[str, str]], Answer]
"""What takes a request to the arena, given its method, path, body and headers."""


@dataclass(frozen=True)
class ClientBehaviour:
    """Behaviour of a client; the defaults are those of most clients."""

    auth_mode: str = "at once"  # with Basic; or, only when it is asked to, by "Basic" or "Digest"
    version: str = "HTTP/1.1"
    keeps_connection: bool = True  # uses a connection again
    upper_case_paths: bool = False  # writes paths in capitals
    never_waits: bool = False  # never waits, and tries again without a pause
    uses_wrong_password: bool = False  # has a wrong password


CLIENT_BEHAVIOURS = {
    "basic-asked": ClientBehaviour(auth_mode="Basic"),
    "digest": ClientBehaviour(auth_mode="Digest"),
    "new-connection": ClientBehaviour(keeps_connection=False),
    "http10": ClientBehaviour(version="HTTP/1.0", keeps_connection=False),
    "capitals": ClientBehaviour(upper_case_paths=True),
    "hurry": ClientBehaviour(never_waits=True),
    "wrong": ClientBehaviour(auth_mode="Basic", never_waits=True, uses_wrong_password=True),
}


class ThirdPartyClient:
    """A client with a certain behaviour; `send` transports its requests, by default over HTTP."""

    def __init__(
        self,
        url: str,
        user: str,
        password: str,
        behaviour: ClientBehaviour,
        send: Send | None = None,
    ) -> None:
        self._habit, self._user, self._send = behaviour, user, send or self._over_http
        self._password = "wrong" if behaviour.uses_wrong_password else password
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=HANG_SECONDS)
        self._connection._http_vsn_str = behaviour.version  # type: ignore[attr-defined]

    def request(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Return status and JSON of the answer; raise one of `FAILURES` if none came."""
        if self._habit.upper_case_paths:
            base_path, mark, query = path.partition("?")
            path = base_path.upper() + mark + query
        if self._habit.auth_mode == "at once":
            return self._sent(method, path, body, self._basic())[:2]
        status, content, auth_headers = self._sent(method, path, body, None)
        challenges = [
            challenge for challenge in auth_headers if challenge.startswith(self._habit.auth_mode)
        ]
        if status != 401 or not challenges:
            return status, content
        basic = self._habit.auth_mode == "Basic"
        proof = self._basic() if basic else self._digest(method, path, challenges[0])
        return self._sent(method, path, body, proof)[:2]

    def play(self, match_id: str) -> None:
        """Play a match to its end: two cards a turn; the arena resolves every effect."""
        in_play = 0
        while True:
            etype = "EndTurn" if in_play >= CARDS_PER_TURN else "Draw"
            wait = "" if self._habit.never_waits else "?wait=1"
            body = {"etype": etype, "autopick": True}
            status, content = self.request("POST", f"/api/matches/{match_id}{wait}", body)
            if status == 410:
                return
            if status == 200:
                is_turn_over = any(event["eventType"] == "TurnEnded" for event in content)
                in_play = 0 if is_turn_over else in_play + 1
            elif status == 400 and in_play:
                in_play = 0  # the turn was ended for it
            elif status != 409:
                raise OSError(f"{status}: {content!r}")

    def play_on(self, tags: str) -> None:
        """Play every match with one of the tags, whatever happens."""
        wait = "" if self._habit.never_waits else "&wait=1"
        while True:
            with suppress(*FAILURES):
                status, matches = self.request("GET", f"/api/matches?active=1{wait}&tags={tags}")
                if status == 200:
                    for match in matches:
                        self.play(match["_id"])
                    continue
            if not self._habit.never_waits:
                time.sleep(PAUSE)

    def _basic(self) -> str:
        return "Basic " + b64encode(f"{self._user}:{self._password}".encode()).decode()

    def _digest(self, method: str, path: str, challenge: str) -> str:
        challenge_fields = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
        ha1 = _md5(f"{self._user}:{challenge_fields['realm']}:{self._password}")
        middle = (
            f"{challenge_fields['nonce']}:00000001:{(client_nonce := os.urandom(8).hex())}:auth"
        )
        response = _md5(f"{ha1}:{middle}:{_md5(f'{method}:{path}')}")
        return (
            f'Digest username="{self._user}", realm="{challenge_fields["realm"]}", '
            f'nonce="{challenge_fields["nonce"]}", '
            f'uri="{path}", qop=auth, nc=00000001, cnonce="{client_nonce}", response="{response}"'
        )

    def _sent(self, method: str, path: str, body: object, proof: str | None) -> Answer:
        headers = {"Authorization": proof} if proof else {}
        headers |= {"Content-Type": "application/json"} if body is not None else {}
        headers |= {} if self._habit.keeps_connection else {"Connection": "close"}
        raw = None if body is None else json.dumps(body).encode()
        status, content, auth_headers = self._send(method, path, raw, headers)
        with suppress(ValueError):
            content = json.loads(content)
        return status, content, auth_headers

    def _over_http(
        self, method: str, path: str, raw: bytes | None, headers: dict[str, str]
    ) -> Answer:
        fresh = self._connection.sock is None
        try:
            self._connection.request(method, path, raw, headers)
            answer = self._connection.getresponse()
            read = answer.read()
        except FAILURES:
            self._connection.close()
            if fresh:
                raise
            return self._over_http(method, path, raw, headers)
        if not self._habit.keeps_connection:
            self._connection.close()
        return answer.status, read, answer.headers.get_all("WWW-Authenticate", [])


def _md5(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


if __name__ == "__main__":
    _, habit, url, user, tags = sys.argv
    ThirdPartyClient(url, user, os.environ["ARENA_PASSWORD"], CLIENT_BEHAVIOURS[habit]).play_on(
        tags
    )
