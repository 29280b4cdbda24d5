"""Third-party clients, each with a habit that a team's own program may have.

A contest is open to any client that speaks the arena's API. These clients speak it
without any of our code, as `python third_party_clients.py HABIT URL ID TAGS`, with the
password in ARENA_PASSWORD.
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

RETRY_SECONDS = 0.5  # seconds after a failure until the next try
HANG_SECONDS = 600  # after which an answer hangs

REQUEST_ERRORS = (OSError, HTTPException, ValueError)

RawResponse = tuple[
    int, Any, list[str]
]  # status, body, and who the arena asks to prove who they are

Send = Callable[[str, str, bytes | None, dict[str, str]], RawResponse]
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
    """Client with a certain behaviour; `send` transports its requests, by default over HTTP."""

    def __init__(
        self,
        url: str,
        user: str,
        password: str,
        behaviour: ClientBehaviour,
        send: Send | None = None,
    ) -> None:
        self._behaviour, self._user, self._send = behaviour, user, send or self._send_over_http
        self._password = "wrong" if behaviour.uses_wrong_password else password
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=HANG_SECONDS)
        self._connection._http_vsn_str = behaviour.version  # type: ignore[attr-defined]

    def request(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Return status and JSON of the response; raise one of `REQUEST_ERRORS` without one."""
        if self._behaviour.upper_case_paths:
            base_path, separator, query = path.partition("?")
            path = base_path.upper() + separator + query
        if self._behaviour.auth_mode == "at once":
            return self._send_json(method, path, body, self._basic_auth())[:2]
        status, content, auth_headers = self._send_json(method, path, body, None)
        challenges = [
            challenge
            for challenge in auth_headers
            if challenge.startswith(self._behaviour.auth_mode)
        ]
        if status != 401 or not challenges:
            return status, content
        is_basic = self._behaviour.auth_mode == "Basic"
        authorization = (
            self._basic_auth() if is_basic else self._digest_auth(method, path, challenges[0])
        )
        return self._send_json(method, path, body, authorization)[:2]

    def play(self, match_id: str) -> None:
        """Play a match to its end: two cards a turn; the arena resolves every effect."""
        cards_in_play = 0
        while True:
            etype = "EndTurn" if cards_in_play >= CARDS_PER_TURN else "Draw"
            wait = "" if self._behaviour.never_waits else "?wait=1"
            body = {"etype": etype, "autopick": True}
            status, content = self.request("POST", f"/api/matches/{match_id}{wait}", body)
            if status == 410:
                return
            if status == 200:
                is_turn_over = any(event["eventType"] == "TurnEnded" for event in content)
                cards_in_play = 0 if is_turn_over else cards_in_play + 1
            elif status == 400 and cards_in_play:
                cards_in_play = 0  # the turn was ended for it
            elif status != 409:
                raise OSError(f"{status}: {content!r}")

    def play_all_matches(self, tags: str) -> None:
        """Play every match with one of the tags, for ever, whatever fails."""
        wait = "" if self._behaviour.never_waits else "&wait=1"
        while True:
            with suppress(*REQUEST_ERRORS):
                status, matches = self.request("GET", f"/api/matches?active=1{wait}&tags={tags}")
                if status == 200:
                    for match in matches:
                        self.play(match["_id"])
                    continue
            if not self._behaviour.never_waits:
                time.sleep(RETRY_SECONDS)

    def _basic_auth(self) -> str:
        return "Basic " + b64encode(f"{self._user}:{self._password}".encode()).decode()

    def _digest_auth(self, method: str, path: str, challenge: str) -> str:
        challenge_fields = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
        ha1 = _md5(f"{self._user}:{challenge_fields['realm']}:{self._password}")
        nonce_fields = (
            f"{challenge_fields['nonce']}:00000001:{(client_nonce := os.urandom(8).hex())}:auth"
        )
        response = _md5(f"{ha1}:{nonce_fields}:{_md5(f'{method}:{path}')}")
        return (
            f'Digest username="{self._user}", realm="{challenge_fields["realm"]}", '
            f'nonce="{challenge_fields["nonce"]}", '
            f'uri="{path}", qop=auth, nc=00000001, cnonce="{client_nonce}", response="{response}"'
        )

    def _send_json(
        self, method: str, path: str, body: object, authorization: str | None
    ) -> RawResponse:
        headers = {"Authorization": authorization} if authorization else {}
        headers |= {"Content-Type": "application/json"} if body is not None else {}
        headers |= {} if self._behaviour.keeps_connection else {"Connection": "close"}
        raw = None if body is None else json.dumps(body).encode()
        status, content, auth_headers = self._send(method, path, raw, headers)
        with suppress(ValueError):
            content = json.loads(content)
        return status, content, auth_headers

    def _send_over_http(
        self, method: str, path: str, raw: bytes | None, headers: dict[str, str]
    ) -> RawResponse:
        is_new_connection = self._connection.sock is None
        try:
            self._connection.request(method, path, raw, headers)
            response = self._connection.getresponse()
            content = response.read()
        except REQUEST_ERRORS:
            self._connection.close()
            if is_new_connection:
                raise
            return self._send_over_http(method, path, raw, headers)
        if not self._behaviour.keeps_connection:
            self._connection.close()
        return response.status, content, response.headers.get_all("WWW-Authenticate", [])


def _md5(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


if __name__ == "__main__":
    _, habit, url, user, tags = sys.argv
    ThirdPartyClient(
        url, user, os.environ["ARENA_PASSWORD"], CLIENT_BEHAVIOURS[habit]
    ).play_all_matches(tags)
