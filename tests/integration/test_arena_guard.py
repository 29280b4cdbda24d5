"""The slow-down before the endpoints: whom it counts, and the headers it adds."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import requests
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive
from support.arena import (
    ADMIN,
    ADMIN_PASSWORD,
    ALICE,
    BOB,
    HandClock,
    basic,
    running_arena,
    write_players,
)

from cardsharp.deadmansdraw.arena.auth import Gatekeeper
from cardsharp.deadmansdraw.arena.http import Guard, GuardLimits, json_answer
from cardsharp.deadmansdraw.arena.limits import Guesses, MemoryCounts, Quotas, Shares, SlowDown
from cardsharp.deadmansdraw.arena.players import Book, User, load_players


class Door:
    """A guard with small limits before an endpoint that says hello; its sleeps are noted."""

    def __init__(self, folder: Path, per_address: int, per_user: int) -> None:
        book = Book(load_players(write_players(folder)), lambda: SecretStr(ADMIN_PASSWORD))
        clock = HandClock()
        self.slept: list[float] = []
        self.goes = False
        """Whether clients are gone as soon as they have asked."""
        self.heard = 0
        counts = MemoryCounts(clock)
        limits = GuardLimits(
            guesses=Guesses(counts, clock),
            shares=Shares(Quotas(matches=1, at_once=1), counts),
            slow=(SlowDown(per_address, clock), SlowDown(per_user, clock)),
        )
        guard = Guard(Gatekeeper(book, clock, lambda: b"key"), limits, self._sleep)
        self._known = guard.known(self._hello)
        self._open = guard.open(self._hello_all)

    def ask(self, user: str | None, address: str = "10.0.0.1") -> Response:
        """The answer to one request."""
        headers = [] if user is None else [(b"authorization", basic(user).encode())]
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/x",
            "query_string": b"",
            "headers": headers,
            "client": (address, 1),
        }
        endpoint: Callable[[Request], Awaitable[Response]] = self._known if user else self._open

        async def answer() -> Response:
            return await endpoint(Request(scope, body_and_then(self.goes)))

        return asyncio.run(answer())

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        await asyncio.sleep(0.1 if self.goes else 0)

    async def _hello(self, _request: Request, user: User) -> Response:
        self.heard += 1
        return json_answer(user.id)

    async def _hello_all(self, _request: Request) -> Response:
        return json_answer("all")


def body_and_then(goes: bool) -> Receive:
    """What a client without a body sends, which then goes or stays."""
    said: list[Message] = [{"type": "http.disconnect"}] if goes else []
    said.append({"type": "http.request", "body": b""})

    async def receive() -> Message:
        return said.pop() if said else await asyncio.Future()

    return receive


def test_a_user_beyond_the_limit_waits_and_is_answered(tmp_path: Path) -> None:
    """The third request of a limit of two waits 100 ms; another user or address does not.

    The admin is free of this limit (docs/spec/arena.md section 2).
    """
    door = Door(tmp_path, per_address=1000, per_user=2)
    statuses = [door.ask(ALICE).status_code for _ in range(4)]
    for other in (BOB, ADMIN, ADMIN, ADMIN):
        door.ask(other)
    door.ask(ALICE, address="10.0.0.2")
    assert statuses == [200] * 4
    assert door.slept == [0.1, 0.2]
    door = Door(tmp_path, per_address=1, per_user=5)
    for user in (ALICE, None, None):  # by address, whoever asks
        door.ask(user, address="10.0.0.3")
    assert door.slept == [0.1, 0.2]


def test_who_goes_while_it_is_slowed_has_asked_nothing(tmp_path: Path) -> None:
    """As at the original, where an action that is slowed and given up is never carried out."""
    door = Door(tmp_path, per_address=1000, per_user=1)
    door.goes = True
    assert [door.ask(ALICE).status_code for _ in range(2)] == [200, 499]
    assert door.heard == 1


def test_a_page_of_another_site_has_a_signed_in_browser_do_nothing(tmp_path: Path) -> None:
    """Its text/plain form would reach the watchdog; a browser says where such a form comes from."""
    with running_arena(tmp_path) as (arena, _):
        cross = {"Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}
        statuses = [
            requests.post(
                f"{arena.url}/api/matches/watchdog",
                headers=headers,
                auth=(ADMIN, ADMIN_PASSWORD),
                timeout=10,
            ).status_code
            for headers in ({}, cross)
        ]
    assert statuses == [200, 403]
