"""The organiser's page over HTTP: every act asks once, is done once, and is in the history."""

import csv
import html
import io
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from support.arena import HandClock
from support.contest_tables import FakeTables

from cardsharp.access import ha1
from cardsharp.cloud.clock import utc_now
from cardsharp.contest.acts import Desk
from cardsharp.contest.director import Director
from cardsharp.contest.sqlite import kept_in
from workbench.contest.organiser_site import organiser_served
from workbench.contest.venue import Venue

PASSWORD = "correct horse"


class Page:
    """Somebody at the page, who fills its forms in."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder, self.auth = url, folder, ("admin", PASSWORD)

    def get(self, path: str, **query: str) -> str:
        return requests.get(self.url + path, params=query, auth=self.auth, timeout=30).text

    def asked(self, act: str, contest: str = "cup", **fields: str) -> tuple[str, dict[str, str]]:
        """The question, and what its button sends."""
        text = self.get("/ask", act=act, contest=contest, **fields)
        hidden = re.findall('<input type="hidden" name="(.*?)" value="(.*?)">', text, re.DOTALL)
        (question,) = re.findall("<h1.*?>(.*?)</h1>", text, re.DOTALL)
        return html.unescape(question), {name: html.unescape(value) for name, value in hidden}

    def send(self, fields: dict[str, str], **headers: str) -> requests.Response:
        """What is answered to what a button sends."""
        return requests.post(
            f"{self.url}/do", data=fields, auth=self.auth, headers=headers, timeout=60
        )

    def does(self, act: str, contest: str = "cup", **fields: str) -> str:
        """What is shown after an act that was asked for and confirmed."""
        return self.send(self.asked(act, contest, **fields)[1]).text

    def history(self) -> list[str]:
        with kept_in(self.folder / "cup") as records:
            return [act.what for act in Desk(records, utc_now).history()]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with organiser_served(Venue(tmp_path), PASSWORD, 0) as url:
        made = Page(url, tmp_path)
        new = {"name": "cup", "format": "swiss", "count": "1", "timeout": "7"}
        made.does("new", "", of="deadmansdraw", **new)
        yield made


def test_a_password_cannot_be_guessed_at_length(tmp_path: Path) -> None:
    """A hundred wrong ones shut the door for a minute, but for the browser that was let in."""
    clock, organiser = HandClock(), requests.Session()
    organiser.auth = ("admin", PASSWORD)
    with organiser_served(Venue(tmp_path), PASSWORD, 0, clock) as url:
        assert organiser.get(url, timeout=9).status_code == 200
        guesser = requests.Session()
        guesser.cookies.set("seat", "made-up")
        guesser.auth = ("admin", "guess")
        assert {guesser.get(url, timeout=9).status_code for _ in range(100)} == {401}
        guesser.auth = ("admin", PASSWORD)
        answer = guesser.get(url, timeout=9)
        assert (answer.status_code, "Too many wrong passwords" in answer.text) == (429, True)
        assert organiser.get(url, timeout=9).status_code == 200
        clock.turn(timedelta(minutes=2))
        assert guesser.get(url, timeout=9).status_code == 200


def test_nobody_else_sees_or_does_anything(page: Page) -> None:
    """Neither without the password nor by a page that the organiser's browser is led to."""
    for auth in (None, ("admin", "wrong"), ("cup", PASSWORD)):
        for path in ("/", "/contests/cup", "/ask?act=pause&contest=cup"):
            answer = requests.get(page.url + path, auth=auth, timeout=5)
            assert (answer.status_code, "cup" in answer.text) == (401, False)
    stranger = requests.get(page.url, headers={"Host": "evil.example"}, auth=page.auth, timeout=5)
    assert stranger.status_code == 400
    page.does("pause")
    _, fields = page.asked("resume")
    for sent, headers in (
        (fields | {"act": "pause"}, {}),
        ({name: fields[name] for name in ("act", "contest")}, {}),
        (fields, {"Sec-Fetch-Site": "cross-site"}),
    ):
        assert page.send(sent, **headers).status_code == 409
    assert (
        requests.get(f"{page.url}/do", params=fields, auth=page.auth, timeout=5).status_code == 405
    )
    assert page.history() == ["paused"]


def test_what_was_confirmed_is_done_once_and_only_if_nobody_acted_meanwhile(page: Page) -> None:
    """Where it cannot be done the page says why, as the command does."""
    page.does("enter", teams="One\nTwo")
    question, fields = page.asked("rename", name="One", new="Uno")
    assert question == "Give One the name Uno?"
    assert page.history()[-1] == "Two takes part"
    assert page.send(fields).url == f"{page.url}/contests/cup"
    assert "look again" in page.send(fields).text
    _, late = page.asked("remove", name="Two")
    page.does("password", name="Two")
    assert "look again" in page.send(late).text
    assert page.history()[2:] == ["One is called Uno", "Two has a new password"]
    assert "No team is called Nemo; entered are Uno, Two" in page.does("remove", name="Nemo")
    assert "There is a team called Two already" in page.does("enter", teams="Six\nTwo")
    assert "There is a contest in" in page.does(
        "new", "", name="cup", format="swiss", count="1", timeout="7", of="blef"
    )
    outside = page.does("new", "", name="../cup", format="swiss", count="1", timeout="7", of="blef")
    assert "is no name" in outside
    asked = page.get("/ask", act="rename", contest="cup", name="Two")
    assert "Fill in the field new" in asked
    assert "is no number" in page.does("freeze", minutes="soon")
    assert "There is no such act" in page.get("/ask", act="erase", contest="cup")
    assert "There is no contest ghost" in page.get("/contests/ghost")


def test_a_day_at_the_page(page: Page) -> None:
    """Sheets with passwords that are right and shown once; then rulings, a freeze, an undo."""
    sheets = page.does("enter", teams="<One> & Co\nTwo\nThree\nHouse, captain")
    found = re.findall(
        r"<dd><code>([0-9a-f]{24})</code></dd>\s*<dt>Password</dt><dd><code>(\w+)", sheets
    )
    with kept_in(page.folder / "cup") as records:
        known = {team.id: team.ha1 for team in records.teams()}
        assert {user: ha1(user, word) for user, word in found}.items() <= known.items()
        assert (len(found), "&lt;One&gt; &amp; Co" in sheets) == (3, True)
        assert not [word for _, word in found if word in page.get("/contests/cup")]
        assert len(re.findall("<code>[0-9a-f]{32}</code>", page.does("passwords"))) == 3
        page.does("remove", name="Three")
        director = Director(records, FakeTables())
        director.step()
        page.does("withdraw", name="Two", reason="ill")
        page.does("enter", teams="Late")
        page.does("freeze", minutes="0")
        assert any(director.step() for _ in range(400))
        first = records.results()[0]
        winner = records.names()[first.teams[1]]
        page.does("rule", pairing=first.pairing, winner=winner, reason="appeal")
        assert records.results()[0].ruled != "appeal"
        assert any(director.step() for _ in range(400))
        assert records.results()[0].ruled == "appeal"
        text = page.get("/contests/cup")
        assert "by decision: appeal" in text
        assert f"Undo: pairing {first.pairing} goes to {html.escape(winner)}: appeal" in text
        page.does("undo", what="that")
        assert any(director.step() for _ in range(400))
        assert records.results()[0] == first
        page.does("reveal-all")
        rows = list(csv.DictReader(io.StringIO(page.get("/contests/cup/results.csv"))))
        assert {row["pairing"] for row in rows} == {one.pairing for one in records.results()}
    assert "Won by" in page.get("/contests/cup/page")
    assert [what.split(" ")[-1] for what in page.history()[-4:]] == ["on", "on", "appeal", "over"]
    assert "cup</a>" in page.get("/")
