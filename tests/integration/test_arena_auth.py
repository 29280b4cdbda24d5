"""Who the arena lets in: Basic and Digest, nonces that expire, and secrets that stay in."""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from requests.auth import HTTPDigestAuth
from support.arena import ADMIN, ALICE, BOB, PASSWORDS, Client, HandClock, running_arena
from support.arena_cloud import Opened

from cardsharp.deadmansdraw.arena.auth import NONCE_LIFE
from workbench.arena.server import ArenaServer

Running = tuple[ArenaServer, Client, HandClock]
Digest = Callable[[], requests.Response]


@pytest.fixture(scope="module")
def running(opened: Opened, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    clock = HandClock()
    with opened(tmp_path_factory.mktemp("arena"), clock=clock) as (arena, client):
        yield arena, client, clock


def whoami(client: Client, authorization: str) -> int:
    return client.ask("GET", "/api/whoami", headers={"Authorization": authorization}).status


def token(text: str) -> str:
    return base64.b64encode(text.encode("latin-1")).decode()


@pytest.mark.parametrize(
    "authorization",
    [
        f"Basic {token(f'{ALICE}:{PASSWORDS[BOB]}')}",
        f"Basic {token(f'{ALICE.upper()}:{PASSWORDS[ALICE]}')}",
        'Digest username="x", realm="SLCEE-2023-PC", nonce="\xe9", uri="/api/whoami", qop=auth',
        f'Digest username="{ALICE}", uri="/api/whoami", qop="auth", nonce="", response=""',
    ],
)
def test_wrong_credentials_are_asked_again(running: Running, authorization: str) -> None:
    assert whoami(running[1], authorization) == 401


@contextmanager
def digesting(arena: ArenaServer, password: str = PASSWORDS[ALICE]) -> Iterator[Digest]:
    """Who Alice is to the arena, asked by a session that answers one challenge."""
    with requests.Session() as session:
        session.auth = HTTPDigestAuth(ALICE, password)
        yield lambda: session.get(f"{arena.url}/api/whoami", timeout=10)


@pytest.fixture
def digest(running: Running) -> Iterator[Digest]:
    with digesting(running[0]) as session:
        yield session


def test_digest_with_a_wrong_password_stays_out(running: Running) -> None:
    """And is not called stale: the user is to be asked."""
    with digesting(running[0], "guess") as wrong:
        answer = wrong()
    assert answer.status_code == 401
    assert "stale" not in answer.headers["www-authenticate"]


def test_a_nonce_expires_and_its_right_answer_is_called_stale(
    running: Running, digest: Digest
) -> None:
    """Within its life a nonce serves again; after it a browser is told to answer a new one."""
    _, _, clock = running
    assert digest().history != []
    clock.turn(NONCE_LIFE - timedelta(seconds=5))
    assert digest().history == []
    clock.turn(timedelta(seconds=10))
    again = digest()
    assert again.status_code == 200
    assert "stale=true" in again.history[0].headers["www-authenticate"]


def test_an_answer_does_not_serve_for_another_request(running: Running, digest: Digest) -> None:
    """A digest that was overheard opens neither another path nor another method."""
    _, client, _ = running
    overheard = str(digest().request.headers["Authorization"])
    headers = {"Authorization": overheard}
    assert client.ask("GET", "/api/sessioninfo", headers=headers).status == 400
    assert client.ask("GET", "/api/whoami?x=1", headers=headers).status == 400
    assert client.ask("POST", "/api/whoami", headers=headers).status == 404
    assert client.ask("HEAD", "/api/whoami", headers=headers).status == 401


def test_an_answer_serves_once(running: Running, digest: Digest) -> None:
    """The count of a nonce rises with each request; what was overheard does not, and is stale."""
    _, client, _ = running
    first = str(digest().request.headers["Authorization"])
    second = str(digest().request.headers["Authorization"])
    assert ("nc=00000001" in first, "nc=00000002" in second) == (True, True)
    for overheard in (first, second):
        again = client.ask("GET", "/api/whoami", headers={"Authorization": overheard})
        assert again.status == 401
        assert "stale=true" in again.headers["www-authenticate"][0]
    assert digest().history == []


@pytest.mark.parametrize("count", ["", "x", "-1", "0", "00000001 "])
def test_a_count_that_is_none_is_refused(running: Running, digest: Digest, count: str) -> None:
    _, client, _ = running
    header = str(digest().request.headers["Authorization"])
    changed = header.replace("nc=00000001", f'nc="{count}"')
    assert client.ask("GET", "/api/whoami", headers={"Authorization": changed}).status == 401


def test_a_nonce_of_another_arena_is_worth_nothing(running: Running, tmp_path: Path) -> None:
    """Nonces are sealed with a key of the process."""
    _, client, _ = running
    with running_arena(tmp_path) as (other, _), digesting(other) as session:
        header = str(session().request.headers["Authorization"])
    assert whoami(client, header) == 401


def test_without_a_password_there_is_no_admin(opened: Opened, tmp_path: Path) -> None:
    """Neither an empty password nor any other lets the admin in."""
    with opened(tmp_path, admin_password=None) as (_, client):
        assert whoami(client, f"Basic {token('admin:')}") == 401
        assert client.get("/api/whoami", ADMIN).status == 401
        assert client.get("/api/whoami", ALICE).status == 200


def test_a_page_of_another_site_has_a_signed_in_browser_do_nothing(running: Running) -> None:
    """Its text/plain form would reach the watchdog; a browser says where such a form comes from."""
    cross = {"Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}
    asked = (
        running[1].ask("POST", "/api/matches/watchdog", ADMIN, b"", one) for one in ({}, cross)
    )
    assert [answer.status for answer in asked] == [200, 403]
