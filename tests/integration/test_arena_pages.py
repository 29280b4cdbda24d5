"""Tests of the arena's pages: only local files, a strict script policy, and escaped data."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from support.arena_server import ADMIN, ALICE, BOB, DUMMY, ArenaHttpClient
from support.cloud_arena import ArenaFactory

PAGES = ("/matches", "/matches/statistics", "/docs")


@pytest.fixture(scope="module")
def client(
    opened: ArenaFactory, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ArenaHttpClient]:
    with opened(tmp_path_factory.mktemp("arena")) as (_, client):
        yield client


@pytest.mark.parametrize("path", PAGES)
def test_pages_load_only_local_files_under_a_strict_policy(
    client: ArenaHttpClient, path: str
) -> None:
    text = client.get(path).text
    resources = re.findall(r'<(?:link|script)[^>]*(?:href|src)="([^"]+)"', text)
    assert resources
    for resource, user in [(path, ALICE), *((resource, None) for resource in resources)]:
        response = client.get(resource, user)
        policy = response.headers["content-security-policy"][0]
        assert response.status == 200
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == ["nosniff"]
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=", text)


def test_nothing_else_of_the_folder_is_served(client: ArenaHttpClient) -> None:
    for path in ("/page/none.js", "/page/filters.jinja", "/page/..%2Fapp.py"):
        response = client.get(f"{path}&<script>alert(1)</script>", None)
        assert client.get(path, None).status == response.status == 404
        assert "<script>" not in response.text


def test_login_leads_back_to_the_page_it_came_from(client: ArenaHttpClient) -> None:
    """The login redirects to the referring page, but never to another host."""

    def get_redirect_target(referer: str) -> str:
        response = client.request("GET", "/login", ALICE, headers={"Referer": referer})
        assert response.status == 302
        return response.headers["location"][0]

    assert client.get("/login", None).status == 401
    assert get_redirect_target("") == "/matches"
    assert get_redirect_target("/matches/statistics?tag=x") == "/matches/statistics?tag=x"
    for foreign_url in ("https://evil.example/x", "//evil.example/x", "http:////evil.example"):
        assert get_redirect_target(foreign_url) == "/matches"


def test_statistics_list_the_results_of_each_pair_of_a_round(
    opened: ArenaFactory, tmp_path: Path
) -> None:
    """Each further tag has a row with wins of each ordered pair, points and late turns."""
    hostile_tag = "<img src=x onerror=alert(1)>&"
    with opened(tmp_path) as (arena, client):
        assert "No match has a tag yet." in client.get("/matches/statistics").text
        rounds = [["Day9_Round2", "Day9"], ["Day9_Round1", "Day9"], [hostile_tag, "Day9"]]
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
        empty_page = client.get("/matches/statistics?tag=none").text
    rows = re.findall("<section.*?</section>", page, re.DOTALL)
    headings = [re.findall('">([^<]*)</a></h2>', row)[0] for row in rows]
    assert headings == ["&lt;img src=x onerror=alert(1)&gt;&amp;", "Day9_Round1", "Day9_Round2"]
    assert "Alice (hu) - <b>Bob (hu)</b> - 1:2" in rows[2]
    assert f'<a href="/matches/{match_ids[0]}"><b>0</b>:0</a> <small>0 s</small>' in rows[2]
    assert "▶︎ Alice (hu) - Bob (hu) - 0:0" in rows[1]
    assert "<img" not in page + tags
    assert 'href="/matches/statistics?tag=Day9_Round1">Day9_Round1</a> 3' in tags
    assert "No match has this tag." in empty_page


def test_the_match_list_is_filtered_by_its_form(opened: ArenaFactory, tmp_path: Path) -> None:
    """A player sees its matches, another user all matches; an empty field is no filter."""
    with opened(tmp_path) as (arena, client):
        assert "No match was found" in client.get("/matches").text
        first = arena.create_match_and_get_id([ALICE, BOB], tags=["<b>", "x"])
        for _ in range(51):
            arena.create_match_and_get_id([BOB, DUMMY])

        def list_match_ids(query: str, user: str = ALICE) -> list[str]:
            return re.findall(r'href="/matches/([0-9a-f]{24})"', client.get(query, user).text)

        assert list_match_ids("/matches") == list_match_ids("/matches?tags=&at=") == [first]
        assert list_match_ids("/matches?tags=x,y") == [first]
        assert list_match_ids("/matches?tags=y") == list_match_ids("/matches?at=2001-01-01") == []
        active_users = [
            user for user in (ALICE, BOB) if first in list_match_ids("/matches?active=1", user)
        ]
        assert len(active_users) == 1
        page = client.get("/matches", ADMIN).text
        newest = list_match_ids("/matches", ADMIN)
        (next_page,) = re.findall(r'href="([^"]+)">Older', page)
        oldest = list_match_ids(f"/matches{next_page}", ADMIN)
        assert (len(newest), len(oldest), oldest[-1]) == (50, 2, first)
        assert not {*newest} & {*oldest}
        assert "Older" not in client.get(f"/matches{next_page}", ADMIN).text
        assert "<b>" not in client.get("/matches").text
        assert "statistics?tag=%3Cb%3E" in client.get("/matches").text
        assert client.get("/matches?at=nonsense&limit=x&active=7").status == 200


def test_a_practice_match_is_played_on_its_page_by_its_creator(client: ArenaHttpClient) -> None:
    def post(path: str, user: str, **fields: str) -> Any:  # noqa: ANN401 - an answer
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        return client.request("POST", path, user, urlencode(fields).encode(), headers=form)

    creation_response = post("/matches", ALICE, dummy="1", seed="x")
    page = creation_response.headers["location"][0]
    match = f"/api{page}"
    assert creation_response.status == 303
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
