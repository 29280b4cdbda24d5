"""The page where teams submit, at a contest's own arena: who sees and replaces what, and when."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from support.arena import until
from support.cli import written
from support.submissions import packed, sandbox_or_skip

from cardsharp.contest.entries import Settings
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import found_in
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.wire import MatchParams
from workbench.contest.home import opened
from workbench.show.options import ArenaPlace
from workbench.submission import LARGEST, SANDBOXED, submitted

FIRST = (
    "import time; time.sleep(0.2); DO = Decision(position.legal_actions()[0], 'first'); return DO"
)
SECOND = (
    "legal = position.legal_actions(); "
    "return Decision(END_TURN if END_TURN in legal else legal[0], 'second')"
)


class Cup:
    """A contest whose arena runs: three teams submit, and a fourth plays by itself."""

    def __init__(self, records: Records, folder: Path, url: str, organiser: ArenaClient) -> None:
        self.records, self.folder, self.organiser = records, folder, organiser
        self._page = f"{url}/submit"
        self._secrets = {team.name: records.new_password(team.name)[1] for team in records.teams()}
        until(lambda: all(self.get(name).status_code == 200 for name in self._secrets))

    def id(self, name: str) -> str:
        """A team's."""
        return self.records.team(name).id

    def get(self, name: str, word: str = "") -> requests.Response:
        """The page as a team sees it."""
        return requests.get(
            self._page, auth=(self.id(name), word or self._secrets[name]), timeout=9
        )

    def post(
        self, name: str, file: tuple[str, bytes], headers: dict[str, str], token: str = ""
    ) -> requests.Response:
        """The answer to a file that is submitted."""
        return requests.post(
            self._page,
            auth=(self.id(name), self._secrets[name]),
            data={"token": token},
            files={"file": file},
            headers=headers,
            timeout=30,
            allow_redirects=False,
        )

    def begun(self, first: str, second: str) -> str:
        """A new match of two teams,, whoever begins."""
        teams = (self.id(first), self.id(second))
        return self.organiser.create_match(MatchParams(player_ids=teams)).id

    def banked(self, match: str) -> int:
        """How many turns the first team has ended by itself, when the match is over."""
        until(lambda: self.organiser.view(match).finished, 120)
        events = (event for move in self.organiser.view(match).moves for event in move.events)
        ends = (event for event in events if event.turn_ended_is_successful)
        return sum(event.player_index == 0 for event in ends)


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    sandbox_or_skip()
    with found_in(tmp_path / "cup", Settings("cup", "round-robin", matches=1)) as records:
        for name in ("One", "Two", "Three"):
            records.enter(name, SANDBOXED)
        records.enter("Outside")
        with opened(records, tmp_path / "cup", ArenaPlace(port=0)) as (url, organiser):
            yield Cup(records, tmp_path / "cup", url, organiser)


def bot(folder: Path, body: str) -> tuple[str, bytes]:
    """A strategy file as a form sends it."""
    return "bot.py", Path(written(folder, "bot", body)).read_bytes()


def test_a_team_submits_for_itself_alone(cup: Cup, tmp_path: Path) -> None:
    """No other team sees or replaces it, and no page of another site."""
    assert cup.get("One", "wrong").status_code == 401
    assert "Nothing has been submitted yet" in cup.get("One").text
    sent = cup.post("One", bot(tmp_path, FIRST), {})
    assert (sent.status_code, sent.headers["Location"]) == (303, "/submit")
    own = cup.get("One").text
    assert "1 (plays now)" in own
    assert "Nothing has been submitted yet" in cup.get("Two").text
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert cup.post("One", bot(tmp_path, SECOND), cross).status_code == 403
    origin = {"Origin": "null"}  # as a browser has it, for our pages tell nobody where they are
    token, other = (
        re.findall('name="token" value="(\\w+)"', text)[0] for text in (own, cup.get("Two").text)
    )
    for wrong in ("", other):
        assert cup.post("One", bot(tmp_path, SECOND), origin, wrong).status_code == 403
    assert cup.post("One", bot(tmp_path, SECOND), origin, token).status_code == 303
    assert "2 (plays now)" in cup.get("One").text
    assert "Nothing has been submitted yet" in cup.get("Two").text
    refused = cup.post("Outside", bot(tmp_path, FIRST), {})
    assert (refused.status_code, "plays in another way" in refused.text) == (400, True)
    assert cup.get("One").headers["Cache-Control"] == "no-store"


def test_what_is_sent_arrives_whole_or_is_refused(cup: Cup, tmp_path: Path) -> None:
    """With a sentence that says why; the version before plays on."""
    every = bytes(range(256)) * 9 + b"\r\n--\r\n\n\r"
    archive = packed({"bot.py": bot(tmp_path, FIRST)[1], "weights.bin": every})
    assert cup.post("One", ("my bot.zip", archive), {}).status_code == 303
    kept = submitted(cup.folder, cup.id("One"), SANDBOXED)
    assert (kept.newest / "weights.bin").read_bytes() == every
    for file, status, said in (
        (("bot.py", b"import os; os._exit(3)"), 400, "line 1, in &lt;module&gt;"),
        (("../../bot.sh", b"id"), 400, "is no .py or .js file"),
        (("bot.zip", packed({"../bot.py": b""})), 400, "leads out of the archive"),
        (("bot.py", bytes(LARGEST + 20_000)), 413, "2 MB at most"),
    ):
        answer = cup.post("One", file, {})
        assert (answer.status_code, said in answer.text) == (status, True), answer.text
    assert [one.name for one in kept.versions] == ["1"]
    told = cup.records.faults()[cup.id("One")].last
    assert ["leads out" in one.what for one in told] == [True, False, False]


@pytest.mark.slow
def test_a_version_plays_from_the_next_match_on(cup: Cup, tmp_path: Path) -> None:
    """The one that runs is played to its end by the version before."""
    assert cup.post("One", bot(tmp_path, FIRST), {}).status_code == 303
    assert cup.post("Two", bot(tmp_path, SECOND), {}).status_code == 303
    match = cup.begun("One", "Two")
    until(lambda: cup.organiser.view(match).move_count > 1, 60)
    assert cup.post("One", bot(tmp_path, SECOND), {}).status_code == 303
    assert not cup.organiser.view(match).finished
    assert cup.banked(match) < 3  # it draws until nothing is left
    assert cup.banked(cup.begun("One", "Two")) > 5


def test_its_faults_are_read_by_the_team_and_the_organiser(cup: Cup, tmp_path: Path) -> None:
    """In the sentence that the log has, and by nobody else."""
    fails = f"COUNT.append(1); 1 / (len(COUNT) < 2); {SECOND}"
    raw = Path(written(tmp_path, "bot", fails, "COUNT = []")).read_bytes()
    assert cup.post("Three", ("bot.py", raw), {}).status_code == 303
    calls = (
        'exec(\'try: __import__("socket").create_connection(("10.0.0.1", 9))\\nexcept OSError: 0\')'
    )
    assert cup.post("One", bot(tmp_path, f"{calls}; {SECOND}"), {}).status_code == 303
    cup.begun("Three", "One")
    until(lambda: len(cup.records.faults()) > 1, 60)
    own = cup.get("Three").text
    assert "ZeroDivisionError: division by zero (bot.py, line 13, in decide" in own
    assert "ZeroDivisionError" not in cup.get("One").text
    assert "it tried to use the network" in cup.get("One").text
    assert "tried to use" not in own
    assert cup.records.faults().keys() == {cup.id("One"), cup.id("Three")}
