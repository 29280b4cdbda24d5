"""The arena's web pages: local, strict about scripts, and never putting data on them as HTML."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from support.arena_server import ADMIN, ALICE, BOB, DUMMY, ArenaHttpClient
from support.cloud_arena import Opened

PAGES = ("/matches", "/matches/statistics", "/docs")


@pytest.fixture(scope="module")
def client(opened: Opened, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaHttpClient]:
    with opened(tmp_path_factory.mktemp("arena")) as (_, client):
        yield client


@pytest.mark.parametrize("path", PAGES)
def test_pages_load_only_local_files_under_a_strict_policy(
    client: ArenaHttpClient, path: str
) -> None:
    text = client.get(path).text
    loaded = re.findall(r'<(?:link|script)[^>]*(?:href|src)="([^"]+)"', text)
    assert loaded
    for resource, user in [(path, ALICE), *((resource, None) for resource in loaded)]:
        answer = client.get(resource, user)
        policy = answer.headers["content-security-policy"][0]
        assert answer.status == 200
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == ["nosniff"]
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=", text)


def test_nothing_else_of_the_folder_is_served(client: ArenaHttpClient) -> None:
    for path in ("/page/none.js", "/page/filters.jinja", "/page/..%2Fapp.py"):
        answer = client.get(f"{path}&<script>alert(1)</script>", None)
        assert client.get(path, None).status == answer.status == 404
        assert "<script>" not in answer.text


def test_login_leads_back_to_the_page_it_came_from(client: ArenaHttpClient) -> None:
    """But never to another host."""

    def led_to(came_from: str) -> str:
        answer = client.request("GET", "/login", ALICE, headers={"Referer": came_from})
        assert answer.status == 302
        return answer.headers["location"][0]

    assert client.get("/login", None).status == 401
    assert led_to("") == "/matches"
    assert led_to("/matches/statistics?tag=x") == "/matches/statistics?tag=x"
    for evil in ("https://evil.example/x", "//evil.example/x", "http:////evil.example"):
        assert led_to(evil) == "/matches"


def test_statistics_list_the_results_of_each_pair_of_a_round(
    opened: Opened, tmp_path: Path
) -> None:
    """A row for each further tag, wins of an ordered pair of players, points and late turns."""
    hostile = "<img src=x onerror=alert(1)>&"
    with opened(tmp_path) as (arena, client):
        assert "No match has a tag yet." in client.get("/matches/statistics").text
        rounds = [["Day9_Round2", "Day9"], ["Day9_Round1", "Day9"], [hostile, "Day9"]]
        match_ids = [
            arena.create_match_and_get_id([ALICE, BOB], tags=tags)
            for tags in rounds
            for _ in (1, 2, 3)
        ]
        for number, match in enumerate(match_ids[:3]):
            body = {"winnerId": BOB if number else ALICE}
            client.request("DELETE", f"/api/matches/{match}/terminate", ADMIN, body)
        page = re.sub("</?bdi>", "", client.get("/matches/statistics?tag=Day9", BOB).text)
        tags = client.get("/matches/statistics").text
        none = client.get("/matches/statistics?tag=none").text
    rows = re.findall("<section.*?</section>", page, re.DOTALL)
    heads = [re.findall('">([^<]*)</a></h2>', row)[0] for row in rows]
    assert heads == ["&lt;img src=x onerror=alert(1)&gt;&amp;", "Day9_Round1", "Day9_Round2"]
    assert "Alice (hu) - <b>Bob (hu)</b> - 1:2" in rows[2]
    assert f'<a href="/matches/{match_ids[0]}"><b>0</b>:0</a> <small>0 s</small>' in rows[2]
    assert "▶︎ Alice (hu) - Bob (hu) - 0:0" in rows[1]
    assert "<img" not in page + tags
    assert 'href="/matches/statistics?tag=Day9_Round1">Day9_Round1</a> 3' in tags
    assert "No match has this tag." in none


def test_the_match_list_is_filtered_by_its_form(opened: Opened, tmp_path: Path) -> None:
    """One's own matches, or all for who plays none; an empty field is no condition."""
    with opened(tmp_path) as (arena, client):
        assert "No match was found" in client.get("/matches").text
        first = arena.create_match_and_get_id([ALICE, BOB], tags=["<b>", "x"])
        for _ in range(51):
            arena.create_match_and_get_id([BOB, DUMMY])

        def listed(query: str, user: str = ALICE) -> list[str]:
            return re.findall(r'href="/matches/([0-9a-f]{24})"', client.get(query, user).text)

        assert listed("/matches") == listed("/matches?tags=&at=") == [first]
        assert listed("/matches?tags=x,y") == [first]
        assert listed("/matches?tags=y") == listed("/matches?at=2001-01-01") == []
        waiting = [user for user in (ALICE, BOB) if first in listed("/matches?active=1", user)]
        assert len(waiting) == 1
        page = client.get("/matches", ADMIN).text
        assert len(listed("/matches", ADMIN)) == 50
        (older,) = re.findall(r'href="([^"]+)">Older', page)
        assert len(listed(f"/matches{older}", ADMIN)) == 52
        assert "<b>" not in client.get("/matches").text
        assert "statistics?tag=%3Cb%3E" in client.get("/matches").text
        assert client.get("/matches?at=nonsense&limit=x&active=7").status == 200


def test_a_practice_match_is_played_on_its_page_by_its_creator(client: ArenaHttpClient) -> None:
    def post(path: str, user: str, **fields: str) -> Any:  # noqa: ANN401 - an answer
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        return client.request("POST", path, user, urlencode(fields).encode(), headers=form)

    begun = post("/matches", ALICE, dummy="1", seed="x")
    page = begun.headers["location"][0]
    match = f"/api{page}"
    assert begun.status == 303
    assert client.get(match, ALICE).json()["creationParams"]["randomSeed"] == "x"
    assert 'id="seat"' in client.get(page, ALICE).text
    assert 'id="seat"' not in client.get(page, BOB).text
    assert post(page, BOB, number="1", choice="0").status == 401, "nobody else"
    for number, choice in (("0", "0"), ("1", "99"), ("1", "x"), ("", "")):
        assert post(page, ALICE, number=number, choice=choice).status == 303
        assert client.get(match, ALICE).json()["moveCount"] == 1, "late, or no choice"
    assert post(page, ALICE, number="1", choice="0").status == 303
    assert client.get(match, ALICE).json()["moveCount"] == 2
    assert post("/matches", ALICE, seed="s" * 300).status == 400
