"""Branches on pages: begun by a match's form, played at a seat, listed under the match."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
import requests
from support.branches import played
from support.cli import Cli, clean
from support.table import Seat, choices, number, playing, setting

from workbench.show.keeping import keep_match
from workbench.show.lookup import open_log, own_store
from workbench.table.branch import branch_point
from workbench.table.room import Room
from workbench.table.served import pages_over
from workbench.watch.sources import match_of

FINAL = "final-2023"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A data folder of its own."""
    clean(monkeypatch, tmp_path)


@pytest.fixture
def final() -> Iterator[str]:
    """The address of the final's page."""
    source, match = match_of(FINAL, None)
    with pages_over(source) as url:
        yield f"{url}/matches/{match}"


def text(url: str) -> str:
    answer = requests.get(url, timeout=30)
    assert answer.status_code == 200
    return answer.text


def begun(url: str, **form: object) -> requests.Response:
    """What comes of the form of a match's page."""
    token = re.findall(r'name="token" value="([^"]+)"', text(url))[0]
    sent = {"token": token, **form}
    return requests.post(f"{url}/branch", data=sent, timeout=30, allow_redirects=False)


def test_a_step_is_decided_anew_on_the_page_and_listed_there(final: str) -> None:
    """At a table like any other, whose page loads all that it needs from here."""
    base = final.partition("/matches")[0]
    answer = begun(final, step=40, cards="same", opponent="draw-3")
    assert answer.status_code == 303
    seat = Seat(base + answer.headers["location"])
    for name in re.findall(r'(?:href|src)="(/page/[^"]+)"', seat.page()):
        assert text(base + name)
    assert "Step 40 of " in seat.page()
    seat.match()
    listed = text(final).partition('id="branches"')[2]
    assert "step 40: " in listed
    branch = re.search(r'href="(/matches/branch-[^"#]+)#40"', listed)
    assert branch
    assert f'This is a branch of <a href="{final.removeprefix(base)}#40">' in text(base + branch[1])
    again = begun(base + branch[1], step=60)  # a branch of the branch
    Seat(base + again.headers["location"]).match()
    assert re.search(r"<ul>.*step 40: .*<ul>.*step \d+: ", text(final), re.DOTALL)


def test_what_is_no_form_of_a_page_begins_nothing(final: str) -> None:
    for form in ({"token": "guessed"}, {"opponent": "nobody"}, {"step": 9999}):
        answer = begun(final, **{"step": 40, **form})
        assert answer.status_code in {400, 403, 503}
        assert "location" not in answer.headers
    assert requests.post(f"{final}x/branch", timeout=30).status_code == 403
    assert requests.get(final.replace("matches", "seat"), timeout=30).status_code == 404


def test_at_the_end_of_a_match_at_the_table_it_is_gone_on_with_from_any_step() -> None:
    """By who plays alone against bots: guests at a table see no other match and begin none."""
    with playing(Room(setting("deadmansdraw"), "Ann")) as (seat,):
        found = re.search(r'href="(/seat/[^"]+/matches/[^"]+)"', seat.match())
        answer = begun(seat.link.removesuffix(seat.path) + found[1], step=3)
        other = Seat(seat.link.removesuffix(seat.path) + answer.headers["location"])
        assert "Step 3 of " in other.until('id="moves"') + unescape(other.page())
    with playing(Room(setting("blef", people=2), "Ann")) as (host, _):
        assert requests.post(f"{host.link}/matches/x/branch", timeout=30).status_code == 404
        assert "Take back" not in host.page()


def test_a_choice_is_taken_back_at_the_seat() -> None:
    with playing(Room(setting("deadmansdraw"), "Ann")) as (seat,):
        first = seat.until('id="moves"')
        assert "Take back" in first
        assert seat.tell("move", number=number(first), key=choices(first)[0]) == ""
        assert seat.tell("undo", number=number(seat.until('id="moves"'))) == ""
        seat.until('id="moves"')
        assert re.search(r"Taken back: |There is nothing to take back", seat.page())
        assert seat.tell("undo", number=number(first)) != ""


def test_small_files_hold_the_branches(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The match, and a branch from every sixth step: one file, which the commands tell, too."""
    source, match = match_of(FINAL, None)
    record = source.match(match)
    with open_log(own_store()) as log:
        for step in range(1, 75, 6):
            ((kept, moves),) = played(branch_point(record, source.moves(match), step)).parts
            keep_match(kept, moves, log)
    file, cli = tmp_path / "match.html", Cli(capsys)
    assert cli("watch", FINAL, "--html", str(file)).code == 0
    page = file.read_text()
    assert len(page.encode()) < 300_000
    assert page.count('data-branch="branch-') == 13
    told = cli("show", FINAL).out
    assert told.count("other course from step ") == 13
    listed = cli("show", FINAL, "--json").json()["branches"]
    assert len(listed) == 13
    assert {one["header"]["branch"]["of"] for one in listed} == {match}
    assert cli("stats").code == 2  # branches are results of nobody
