"""Tests of the organiser's page and the teams' page over HTTP: access, actions, timing."""

import csv
import html
import io
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
from support.arena_server import ManualClock
from support.cli import write_strategy_file
from support.fake_match_host import FakeMatchHost
from support.submissions import skip_without_sandbox, zip_files
from support.waiting import HANG_SECONDS, wait_until

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.contest_file import create_contest_in, open_contest_in
from cardsharp.contest.director import ContestDirector
from cardsharp.contest.models import ContestSettings
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import utc_now
from cardsharp.core.credentials import digest_ha1
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp_tools.cli.options import ArenaServerOptions
from cardsharp_tools.contest.admin_pages import serve_admin_pages
from cardsharp_tools.contest.contest_arena import run_arena_and_local_players
from cardsharp_tools.contest.contest_manager import ContestManager
from cardsharp_tools.contest.open_contest import OpenContest
from cardsharp_tools.executors.strategy_reference import SANDBOXED
from cardsharp_tools.executors.submission import LARGEST, team_submissions

PASSWORD = "correct horse"
SWISS = {"format": "swiss", "count": "1", "timeout": "7"}


class AdminPageClient:
    """Client of the organiser's page that fills in its forms."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder, self.auth = url, folder, ("admin", PASSWORD)

    def get(self, path: str, **query: str) -> str:
        return requests.get(
            self.url + path, params=query, auth=self.auth, timeout=HANG_SECONDS
        ).text

    def open_confirmation(
        self, action: str, contest: str = "cup", **fields: str
    ) -> tuple[str, dict[str, str]]:
        """Return the question of the confirmation page, and the fields that its button sends."""
        text = self.get("/ask", act=action, contest=contest, **fields)
        hidden_fields = re.findall(
            '<input type="hidden" name="(.*?)" value="(.*?)">', text, re.DOTALL
        )
        (question,) = re.findall("<h1.*?>(.*?)</h1>", text, re.DOTALL)
        return html.unescape(question), {
            name: html.unescape(value) for name, value in hidden_fields
        }

    def send(self, fields: dict[str, str], **more: Any) -> requests.Response:  # noqa: ANN401
        """Send the fields of a confirmation, and return the response."""
        return requests.post(f"{self.url}/do", fields, auth=self.auth, timeout=HANG_SECONDS, **more)

    def perform_action(self, action: str, contest: str = "cup", **fields: str) -> str:
        """Request and confirm an action, and return the next page."""
        return self.send(self.open_confirmation(action, contest, **fields)[1]).text

    def history(self) -> list[str]:
        with open_contest_in(self.folder / "cup") as records:
            return [action.what for action in ContestAdmin(records, utc_now).action_history()]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[AdminPageClient]:
    with serve_admin_pages(ContestManager(tmp_path), PASSWORD, 0) as url:
        admin_page = AdminPageClient(url, tmp_path)
        admin_page.perform_action("new", "", of="deadmansdraw", name="cup", **SWISS)
        yield admin_page


def test_a_password_cannot_be_guessed_at_length(tmp_path: Path) -> None:
    """A hundred wrong passwords block new browsers for a minute, but not one that signed in."""
    clock, organiser_session = ManualClock(), requests.Session()
    organiser_session.auth = ("admin", PASSWORD)
    with serve_admin_pages(ContestManager(tmp_path), PASSWORD, 0, clock) as url:
        assert organiser_session.get(url, timeout=HANG_SECONDS).status_code == 200
        guessing_session = requests.Session()
        guessing_session.cookies.set("seat", "made-up")
        guessing_session.auth = ("admin", "guess")
        assert {
            guessing_session.get(url, timeout=HANG_SECONDS).status_code for _ in range(100)
        } == {401}
        guessing_session.auth = ("admin", PASSWORD)
        response = guessing_session.get(url, timeout=HANG_SECONDS)
        assert (response.status_code, "too many wrong passwords" in response.text) == (429, True)
        assert organiser_session.get(url, timeout=HANG_SECONDS).status_code == 200
        clock.advance(timedelta(minutes=2))
        assert guessing_session.get(url, timeout=HANG_SECONDS).status_code == 200


def test_requests_without_the_password_or_from_another_site_are_refused(
    page: AdminPageClient,
) -> None:
    """Neither a request without the password nor a form of a foreign page has any effect."""
    for auth in (None, ("admin", "wrong"), ("cup", PASSWORD)):
        for path in ("/", "/contests/cup", "/ask?act=pause&contest=cup"):
            response = requests.get(page.url + path, auth=auth, timeout=HANG_SECONDS)
            assert (response.status_code, "cup" in response.text) == (401, False)
    foreign_host_response = requests.get(
        page.url, headers={"Host": "evil.example"}, auth=page.auth, timeout=HANG_SECONDS
    )
    assert foreign_host_response.status_code == 400
    page.perform_action("pause")
    _, fields = page.open_confirmation("resume")
    for form_fields, headers in (
        (fields | {"act": "pause"}, {}),
        ({name: fields[name] for name in ("act", "contest")}, {}),
        (fields, {"Sec-Fetch-Site": "cross-site"}),
        (fields, {"Origin": "http://evil.example"}),
        (fields, {"Origin": "null"}),
    ):
        assert page.send(form_fields, headers=headers).status_code == 409
    assert (
        requests.get(f"{page.url}/do", fields, auth=page.auth, timeout=HANG_SECONDS).status_code
        == 405
    )
    assert page.history() == ["paused"]


def test_a_confirmed_action_runs_once_and_only_in_the_confirmed_state(
    page: AdminPageClient,
) -> None:
    """An impossible action is explained on the page with the message of the command."""
    page.perform_action("enter", teams="One\nTwo")
    question, fields = page.open_confirmation("rename", name="One", new_name="Uno")
    assert question == "Give One the name Uno?"
    assert page.history()[-1] == "Two entered"
    assert page.send(fields).url == f"{page.url}/contests/cup"
    assert "has changed since you opened" in page.send(fields).text
    _, outdated_fields = page.open_confirmation("remove", name="Two")
    page.perform_action("password", name="Two")
    assert "has changed since you opened" in page.send(outdated_fields).text
    assert page.history()[2:] == ["One was renamed to Uno", "Two got a new password"]
    assert "There is no team Nemo. Teams of this contest: Uno, Two" in page.perform_action(
        "remove", name="Nemo"
    )
    assert "The name Two is already taken by another team" in page.perform_action(
        "enter", teams="Six\nTwo"
    )
    assert "already contains a contest" in page.perform_action(
        "new", "", name="cup", of="blef", **SWISS
    )
    assert "cannot be the name of a contest" in page.perform_action(
        "new", "", name="../cup", of="blef", **SWISS
    )
    assert "The field new_name is empty. Fill it in" in page.get(
        "/ask", act="rename", contest="cup", name="Two"
    )
    assert "is not a number" in page.perform_action("freeze", minutes="soon")
    assert "This page has no such action" in page.get("/ask", act="erase", contest="cup")
    assert "contains no contest ghost" in page.get("/contests/ghost")


def test_a_contest_is_organised_on_the_page(page: AdminPageClient) -> None:
    credential_sheets = page.perform_action("enter", teams="<One> & Co\nTwo\nThree\nHouse, captain")
    credentials = re.findall(
        r"<dd><code>([0-9a-f]{24})</code></dd>\s*<dt>Password</dt><dd><code>(\w+)",
        credential_sheets,
    )
    with open_contest_in(page.folder / "cup") as records:
        digests = {team.id: team.ha1 for team in records.teams()}
        assert {
            user: digest_ha1(user, password) for user, password in credentials
        }.items() <= digests.items()
        assert (len(credentials), "&lt;One&gt; &amp; Co" in credential_sheets) == (3, True)
        assert not [
            password for _, password in credentials if password in page.get("/contests/cup")
        ]
        assert len(re.findall("<code>[0-9a-f]{32}</code>", page.perform_action("passwords"))) == 3
        page.perform_action("remove", name="Three")
        director = ContestDirector(records, FakeMatchHost())
        director.step()
        page.perform_action("withdraw", name="Two", reason="ill")
        page.perform_action("enter", teams="Late")
        page.perform_action("freeze", minutes="0")
        assert any(director.step() for _ in range(400))
        first_result = records.results()[0]
        winner = records.team_names_with_removed()[first_result.teams[1]]
        page.perform_action("rule", pairing=first_result.pairing, winner=winner, reason="appeal")
        assert records.results()[0].ruled != "appeal"
        assert any(director.step() for _ in range(400))
        assert records.results()[0].ruled == "appeal"
        text = page.get("/contests/cup")
        assert "decided by the organiser: appeal" in text
        assert f"Undo: pairing {first_result.pairing} goes to {html.escape(winner)}: appeal" in text
        page.perform_action("undo", what="that")
        assert any(director.step() for _ in range(400))
        assert records.results()[0] == first_result
        page.perform_action("reveal-all")
        rows = list(csv.DictReader(io.StringIO(page.get("/contests/cup/results.csv"))))
        assert {row["pairing"] for row in rows} == {result.pairing for result in records.results()}
    assert "Won by" in page.get("/contests/cup/page")
    assert [description.split(" ")[-1] for description in page.history()[-4:]] == [
        "on",
        "on",
        "appeal",
        "freeze",
    ]
    assert "cup</a>" in page.get("/")


# --- where teams submit, at a contest's own arena -----------------------------------------------


FIRST_BODY = "import time; time.sleep(0.2); return Decision(position.legal_actions()[0], 'first')"
SECOND_BODY = (
    "legal = position.legal_actions(); "
    "return Decision(END_TURN if END_TURN in legal else legal[0], 'second')"
)


class SubmissionContest:
    """A contest with a running arena, in which teams submit programs or play externally."""

    def __init__(
        self, records: ContestRecords, folder: Path, url: str, organiser: ArenaClient
    ) -> None:
        self.records, self.folder, self.organiser = records, folder, organiser
        self._page = f"{url}/submit"
        self._secrets = {
            team.name: records.reset_password(team.name)[1] for team in records.teams()
        }
        wait_until(lambda: all(self.get(name).status_code == 200 for name in self._secrets))

    def id(self, name: str) -> str:
        return self.records.resolve_team(name).id

    def get(self, name: str, password: str = "") -> requests.Response:
        auth = self.id(name), password or self._secrets[name]
        return requests.get(self._page, auth=auth, timeout=HANG_SECONDS)

    def post(self, name: str, file: tuple[str, bytes], **more: Any) -> requests.Response:  # noqa: ANN401
        options = {"auth": (self.id(name), self._secrets[name]), "files": {"file": file}, **more}
        return requests.post(self._page, **options, timeout=HANG_SECONDS, allow_redirects=False)

    def create_match(self, first: str, second: str) -> str:
        """Create a match of two teams, either of which may start, and return its id."""
        teams = (self.id(first), self.id(second))
        return self.organiser.create_match(MatchParams(player_ids=teams)).id

    def count_successful_turns(self, match: str) -> int:
        """Wait for the end of a match, and count the turns that the first team ended itself."""
        wait_until(lambda: self.organiser.get_match(match).finished)
        events = (event for move in self.organiser.get_match(match).moves for event in move.events)
        turn_ends = (event for event in events if event.turn_ended_is_successful)
        return sum(event.player_index == 0 for event in turn_ends)


@pytest.fixture(scope="module")
def submission_contest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SubmissionContest]:
    """A contest with teams for each test."""
    skip_without_sandbox()
    folder = tmp_path_factory.mktemp("teams") / "cup"
    with create_contest_in(folder, ContestSettings("cup", "round-robin", matches=1)) as records:
        for name in ("One", "Two", "Three", "Four", "Five", "Six", "Seven"):
            records.add_team(name, SANDBOXED)
        records.add_team("Outside")
        with run_arena_and_local_players(
            OpenContest(folder, records), ArenaServerOptions(port=0)
        ) as (
            url,
            organiser,
        ):
            yield SubmissionContest(records, folder, url, organiser)


def build_submission(folder: Path, body: str) -> tuple[str, bytes]:
    return "bot.py", Path(write_strategy_file(folder, "bot", body)).read_bytes()


def test_a_team_submits_for_itself_alone(
    submission_contest: SubmissionContest, tmp_path: Path
) -> None:
    """No other team and no page of another site can see or replace a submission."""
    assert submission_contest.get("One", "wrong").status_code == 401
    assert "Nothing has been submitted yet" in submission_contest.get("One").text
    submit_response = submission_contest.post("One", build_submission(tmp_path, FIRST_BODY))
    assert (submit_response.status_code, submit_response.headers["Location"]) == (303, "/submit")
    pages = [submission_contest.get(name).text for name in ("One", "Two")]
    assert "1 (plays now)" in pages[0]
    first_token, second_token = (
        re.findall('name="token" value="(\\w+)"', text)[0] for text in pages
    )
    cross_site_headers = {"Sec-Fetch-Site": "cross-site"}
    assert (
        submission_contest.post(
            "One", build_submission(tmp_path, SECOND_BODY), headers=cross_site_headers
        ).status_code
        == 403
    )
    origin_headers = {
        "Origin": "null"
    }  # as a browser has it, for our pages tell nobody where they are
    for token, status in (("", 403), (second_token, 403), (first_token, 303)):
        options = {"data": {"token": token}, "headers": origin_headers}
        assert (
            submission_contest.post(
                "One", build_submission(tmp_path, SECOND_BODY), **options
            ).status_code
            == status
        )
    assert "2 (plays now)" in submission_contest.get("One").text
    assert "Nothing has been submitted yet" in submission_contest.get("Two").text
    error_response = submission_contest.post("Outside", build_submission(tmp_path, FIRST_BODY))
    assert (
        error_response.status_code,
        "was not entered for submissions" in error_response.text,
    ) == (400, True)
    assert submission_contest.get("One").headers["Cache-Control"] == "no-store"


def test_a_submission_is_stored_completely_or_refused(
    submission_contest: SubmissionContest, tmp_path: Path
) -> None:
    all_bytes = bytes(range(256)) * 9 + b"\r\n--\r\n\n\r"
    archive = zip_files(
        {"bot.py": build_submission(tmp_path, FIRST_BODY)[1], "weights.bin": all_bytes}
    )
    assert submission_contest.post("Three", ("my bot.zip", archive)).status_code == 303
    submissions = team_submissions(submission_contest.folder, submission_contest.id("Three"))
    assert (submissions.latest_folder / "weights.bin").read_bytes() == all_bytes
    for file, status, message in (
        (("bot.py", b"import os; os._exit(3)"), 400, "line 1, in &lt;module&gt;"),
        (("../../bot.sh", b"id"), 400, "cannot be submitted. Submit a .py file"),
        (("bot.zip", zip_files({"../bot.py": b""})), 400, "points outside the archive"),
        (("bot.py", bytes(LARGEST + 20_000)), 413, "at most 2 MB"),
    ):
        response = submission_contest.post("Three", file)
        assert (response.status_code, message in response.text) == (status, True), response.text
    assert [version.name for version in submissions.version_folders] == ["1"]
    faults = submission_contest.records.faults_by_team()[submission_contest.id("Three")].last
    assert ["points outside" in fault.what for fault in faults] == [True, False, False]


@pytest.mark.slow
def test_a_version_plays_from_the_next_match_on(
    submission_contest: SubmissionContest, tmp_path: Path
) -> None:
    """A running match is played to its end by the previous version."""
    assert (
        submission_contest.post("Four", build_submission(tmp_path, FIRST_BODY)).status_code == 303
    )
    assert (
        submission_contest.post("Five", build_submission(tmp_path, SECOND_BODY)).status_code == 303
    )
    match_id = submission_contest.create_match("Four", "Five")
    wait_until(lambda: submission_contest.organiser.get_match(match_id).move_count > 1)
    assert (
        submission_contest.post("Four", build_submission(tmp_path, SECOND_BODY)).status_code == 303
    )
    assert not submission_contest.organiser.get_match(match_id).finished
    assert submission_contest.count_successful_turns(match_id) < 3  # it draws until nothing is left
    assert (
        submission_contest.count_successful_turns(submission_contest.create_match("Four", "Five"))
        > 5
    )


def test_a_teams_faults_are_displayed_to_it_and_the_organiser_only(
    submission_contest: SubmissionContest, tmp_path: Path
) -> None:
    """The page shows the log's message to the team, and to no other team."""
    failing_body = f"COUNT.append(1); 1 / (len(COUNT) < 2); {SECOND_BODY}"
    raw = Path(write_strategy_file(tmp_path, "bot", failing_body, "COUNT = []")).read_bytes()
    assert submission_contest.post("Six", ("bot.py", raw)).status_code == 303
    connect_expression = "__import__('socket').create_connection(('10.0.0.1', 9))"
    connecting_body = f'exec("try: {connect_expression}\\nexcept OSError: 0"); {SECOND_BODY}'
    assert (
        submission_contest.post("Seven", build_submission(tmp_path, connecting_body)).status_code
        == 303
    )
    submission_contest.create_match("Six", "Seven")
    wait_until(
        lambda: (
            {submission_contest.id("Six"), submission_contest.id("Seven")}
            <= submission_contest.records.faults_by_team().keys()
        )
    )
    page_six, page_seven = (submission_contest.get(name).text for name in ("Six", "Seven"))
    assert "ZeroDivisionError: division by zero (bot.py, line 13, in decide" in page_six
    assert "it tried to use the network" in page_seven
    assert ("tried to use" in page_six, "ZeroDivisionError" in page_seven) == (False, False)
    assert (
        submission_contest.records.faults_by_team()
        .keys()
        .isdisjoint(map(submission_contest.id, ("One", "Two", "Outside")))
    )
