"""Tests of a contest by commands: it is created, played and displayed."""

import csv
import io
import json
import os
import re
import shutil
import signal
import sys
from contextlib import ExitStack, chdir
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests
from fault_simulation.contest_checker import record_from_files, violations
from support import third_party_clients
from support.cli import Cli, add_team, start_program, wait_for_line
from support.ports import unused_port
from support.starters import START_COMMANDS, missing_programs, start_starter
from support.submissions import skip_without_sandbox, zip_files
from support.waiting import HANG_SECONDS, wait_until

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.contest_file import open_contest_in
from cardsharp.contest.match_host import MatchResultFacts
from cardsharp.contest.models import PracticeMatch
from cardsharp.core.clock import utc_now
from cardsharp.games.deadmansdraw.arena_bot.client import DUMMY_ID
from cardsharp_tools.cli.options import ArenaServerOptions
from cardsharp_tools.contest.admin_actions import ADMIN_ACTIONS
from cardsharp_tools.contest.contest_manager import CONSOLE_LOG, ContestManager

DETERMINISTIC_STRATEGIES = ("draw-2", "draw-3", "champion", "third")
"""Strategies that do the same in the same position."""


THIRD_PARTY_CLIENTS = (
    "http10",
    "new-connection",
)  # what only a real socket shows of clients unlike ours


def test_teams_are_registered_and_their_passwords_printed_once(cli: Cli, tmp_path: Path) -> None:
    """Teams are added by command, or from a CSV file as a whole or not at all.

    Each error is one sentence.
    """
    folder = str(tmp_path / "cup")
    proposal = cli("contest", "new", "--teams", "2", "--minutes", "9").out
    assert "To create it: cardsharp contest new NAME --format " in proposal
    assert "double-elimination, 5 matches" in cli("contest", "new", folder).out
    assert cli("contest", "new", folder).code == 2
    output = cli("contest", "teams", "add", folder, "[goal] Diggers").out
    password = output.split("password ")[1].strip()
    (tmp_path / "teams.csv").write_text("name,strategy\nHouse,captain\nBananas,\n")
    import_output = cli("contest", "teams", "import", folder, str(tmp_path / "teams.csv")).out
    assert "team House" in import_output
    assert import_output.count("password") == 1
    list_result = cli("contest", "teams", "list", folder)
    assert "1. [goal] Diggers" in list_result.out
    assert "played here by captain" in list_result.out
    assert password not in list_result.out
    credentials_output = cli("contest", "teams", "reset-password", folder, "[goal] Diggers").out
    assert password not in credentials_output
    assert cli("contest", "teams", "remove", folder, "House").out == "Removed House.\n"
    assert len(cli("contest", "teams", "list", folder, "--json").json()) == 2
    invalid_file = tmp_path / "wrong.csv"
    for row, message in (("Bananas,", "Bananas is already"), ("Other,captian", "captian")):
        invalid_file.write_text(f"name,strategy\nNew,\n{row}\n")
        assert message in cli("contest", "teams", "import", folder, str(invalid_file)).err
    assert len(cli("contest", "teams", "list", folder, "--json").json()) == 2
    assert "There is no team Nemo" in cli("contest", "teams", "remove", folder, "Nemo").err
    assert "contains no contest" in cli("contest", "status", str(tmp_path)).err
    assert "must be odd" in cli("contest", "new", str(tmp_path / "even"), "-n", "4").err
    assert cli("contest", "results", folder).out == "Nothing has been played yet.\n"
    pause_output = cli("contest", "pause", folder).out
    assert pause_output == f"No new match starts. To continue: cardsharp contest resume {folder}\n"
    assert cli("contest", "resume", folder).out == "New matches start again.\n"
    assert re.search(r" \[goal\] Diggers", cli("contest", "status", folder).out)


@pytest.mark.slow
def test_a_cup_is_played_to_its_end_and_its_page_stays(cli: Cli, tmp_path: Path) -> None:
    """A contest is played to its end, and its page stays until Ctrl-C.

    A team that joins late is played, too. The arena's dummy plays any team that tests its
    program; such matches do not count.
    """
    folder = str(tmp_path / "cup")
    cli("contest", "new", folder, "-n", "1", "--format", "round-robin", "--timeout", "1")
    auth = add_team(cli, folder, "Outside")
    cli("contest", "teams", "add", folder, "Gone")
    with start_program(
        "contest", "run", folder, "--port", "0", "--public", "--keep-serving"
    ) as contest:
        url = wait_for_line(contest.stderr, "arena at").split("arena at ")[1].split(";")[0]
        wait_until(
            lambda: requests.get(f"{url}/api/matches", auth=auth, timeout=HANG_SECONDS).json() != []
        )
        add_result = cli("contest", "teams", "add", folder, "Late", "--strategy", "draw-2")
        assert add_result.out.endswith("played here, from round 2 on\n")
        for players in ([auth[0], DUMMY_ID], [DUMMY_ID, auth[0]]):  # in one of them it begins
            match_request = {"playerids": players, "tags": ["cup"], "randomSeed": "1"}
            requests.post(f"{url}/api/matches", json=match_request, auth=auth, timeout=HANG_SECONDS)

        def read_dummy_move_counts() -> list[int]:
            matches = requests.get(f"{url}/api/matches", auth=auth, timeout=HANG_SECONDS).json()
            return [match["moveCount"] for match in matches if DUMMY_ID in match["playerids"]]

        wait_until(lambda: len(read_dummy_move_counts()) == 2 and max(read_dummy_move_counts()) > 1)
        assert wait_for_line(contest.stdout, "won by") == "won by Late\n"
        page = requests.get(f"{url}/contest", timeout=HANG_SECONDS).text
        contest.send_signal(signal.SIGINT)
        assert contest.wait(HANG_SECONDS) == 0
    assert "Won by <bdi>Late</bdi>" in re.sub(r"\s+", " ", page.replace(' class="team"', ""))
    status = cli("contest", "status", folder).out
    assert "round-robin: finished" in status
    assert re.search("^1 +Late .*champion", status, re.MULTILINE)
    rows = list(csv.DictReader(io.StringIO(cli("contest", "results", folder, "--csv").out)))
    lines = cli("contest", "results", folder, "--jsonl").out.splitlines()
    assert [json.loads(line)["match"] for line in lines] == [row["match"] for row in rows]
    assert [row["pairing won by"] for row in rows] == ["", "Late", "Late"]
    assert len(cli("matches", folder, "--limit", "50", "--json").json()) == len(rows)
    assert cli("show", "last", "--store", folder).code == 0
    file = tmp_path / "cup.html"
    assert cli("contest", "results", folder, "--html", str(file)).out == f"Created {file}.\n"
    assert "Late</bdi></p>" in re.sub(r"\s+</p>", "</p>", file.read_text())
    assert "cannot be written" in cli("contest", "results", folder, "--html", str(tmp_path)).err
    rerun_output = cli("contest", "run", folder, "--port", "0").out
    assert rerun_output.splitlines()[-1] == "won by Late"
    assert "is over" in cli("contest", "teams", "add", folder, "Later").err


def test_practice_results_are_displayed_in_every_format(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Practice is displayed as a ladder and by match, as text, JSON and CSV."""
    folder = tmp_path / "cup"
    cli("contest", "new", str(folder))
    no_team_result = cli("contest", "practice", str(folder), "--port", "0")
    assert (no_team_result.code, "at least two teams" in no_team_result.err) == (2, True)
    for name in ("One", "Two", "=Never"):
        cli("contest", "teams", "add", str(folder), name)
    no_practice_result = cli("contest", "run", str(folder), "--port", "0", "--seed-by-practice")
    assert (no_practice_result.code, "There are no practice matches" in no_practice_result.err) == (
        2,
        True,
    )
    with open_contest_in(folder) as records:
        first_team, second_team, _ = (team.id for team in records.teams())
        facts = MatchResultFacts((9, 40), 1, 61.25, 20, (1, 0), (0, 0))
        noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
        records.add_practice_match(
            PracticeMatch(1, (first_team, second_team), "a" * 24, noon, facts)
        )
        records.add_practice_match(
            PracticeMatch(2, (second_team, first_team), "b" * 24, noon, facts, (second_team,))
        )
    first, second = cli("contest", "results", str(folder), "--practice", "--json").json()
    assert first["teams"] == ["One", "Two"]
    assert (first["points"], first["winner"], first["seconds"]) == ("9:40", "Two", 61.2)
    assert second["missed by"] == ["Two"]
    csv_text = cli("contest", "results", str(folder), "--practice", "--csv").out
    assert next(csv.DictReader(io.StringIO(csv_text)))["winner"] == "Two"
    rows = cli("contest", "status", str(folder), "--json").json()["practice"]
    assert [(row["team"], row["matches"], row["won"], row["missed"]) for row in rows] == [
        ("Two", 2, 1, 1),
        ("One", 2, 0, 1),
        ("=Never", 0, 0, 0),
    ]
    assert rows[0]["rating"] > 1000 > rows[1]["rating"]
    assert rows[2]["rating"] is None
    with open_contest_in(folder) as records:
        records.save_wrong_tags({first_team: ("cpu",)})
    status = cli("contest", "status", str(folder))
    assert "ladder of practice" in status.out
    assert "One waits for the tag cpu, which no match has" in status.err
    assert "16:30, not noon" in cli("contest", "practice", str(folder), "--until", "noon").err
    monkeypatch.setenv("TZ", "Europe/Berlen")
    time_zone_result = cli("contest", "practice", str(folder), "--until", "16:30")
    assert (
        time_zone_result.code,
        "TZ names the time zone Europe/Berlen" in time_zone_result.err,
    ) == (2, True)


ANSWER_LOOP = """
const lines = require("readline").createInterface({input: process.stdin})
let asked = 0
lines.on("line", line => {
  if (++asked > 2 && LATE) while (true) {}
  console.log(JSON.stringify({action: JSON.parse(line).actions[0]}))
})
"""

CONNECT_TO_INTERNET = "require('net').connect(80, '93.184.216.34').on('error', () => 0)\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="apt install nodejs")
@pytest.mark.slow
def test_submissions_are_played_and_their_faults_reported(cli: Cli, tmp_path: Path) -> None:
    """A file, an archive and a folder with a command are played as submissions.

    A submission that fails its first test is not added.
    """
    skip_without_sandbox()
    folder, submission_folder = str(tmp_path / "cup"), tmp_path / "own"
    (tmp_path / "good.js").write_text(f"{CONNECT_TO_INTERNET}const LATE = false{ANSWER_LOOP}")
    (tmp_path / "late.zip").write_bytes(
        zip_files({"bot.js": f"const LATE = true{ANSWER_LOOP}".encode()})
    )
    submission_folder.mkdir()
    (submission_folder / "main.js").write_text("process.exit(3)")
    (submission_folder / "run").write_text("node main.js")
    add_command = ("contest", "teams", "add", folder)
    cli("contest", "new", folder, "-n", "1", "--format", "round-robin", "--game", "blef")
    add_result = cli(*add_command, "Good", "--submission", str(tmp_path / "good.js"))
    assert "password " in add_result.out
    assert "Version 1 passed a first test. It is played in a sandbox." in add_result.err
    assert cli(*add_command, "Late", "--submission", str(tmp_path / "late.zip")).code == 0
    assert (
        "ended with exit code 3"
        in cli(*add_command, "Own", "--submission", str(submission_folder)).err
    )
    (submission_folder / "main.js").write_text(f"const LATE = true{ANSWER_LOOP}")
    unsandboxed_result = cli(
        *add_command, "Own", "--submission", str(submission_folder), "--no-sandbox"
    )
    assert "WITHOUT a sandbox" in unsandboxed_result.err
    submit_errors = cli("contest", "teams", "submit", folder, "Own", str(tmp_path / "good.js")).err
    assert "Version 2" in submit_errors
    assert cli("contest", "run", folder).code == 0
    status = cli("contest", "status", folder, "--json").json()
    faults_by_team = {entry["team"]: (entry["faults"], entry["last"]) for entry in status["faults"]}
    assert {team: count for team, (count, _) in faults_by_team.items()} == {"Good": 2, "Late": 2}
    assert "tried to use the network" in faults_by_team["Good"][1]
    assert "no decision within 2 s" in faults_by_team["Late"][1]
    assert "teams that failed here" in cli("contest", "status", folder).out


def test_a_contest_finishes_even_if_its_output_is_closed(cli: Cli, tmp_path: Path) -> None:
    """A contest needs neither its standard output nor its error output."""
    folder = str(tmp_path / "cup")
    cli("contest", "new", folder, "-n", "1", "--format", "round-robin", "--game", "blef")
    for name in ("One", "Two", "Three"):
        cli("contest", "teams", "add", folder, name, "--strategy", "random")
    with start_program("contest", "run", folder) as contest:
        wait_for_line(contest.stderr, "played here")
        contest.stdout.close()
        contest.stderr.close()
        assert contest.wait(HANG_SECONDS) == 0
    status = cli("contest", "status", folder, "--json").json()
    assert (status["stage"], status["decided"]) == ("over", status["pairings"])
    assert status["pairings"] == 3
    groups = cli("blef", "stats", folder, "--json").json()["groups"]
    assert {group["name"] for group in groups} == {"One", "Two", "Three"}, "both sides count"
    assert sum(group["sides"] * group["result"]["mean"] for group in groups) == pytest.approx(
        sum(group["sides"] for group in groups) / 2
    )


def test_a_strategy_file_plays_an_external_program(cli: Cli, tmp_path: Path) -> None:
    """A contest finds a team's file from any folder; a program waits for the arena."""
    folder = tmp_path / "cup"
    with chdir(tmp_path):
        cli("new", "first_entrant.py")
        cli("contest", "new", "cup", "-n", "1", "--format", "round-robin", "--timeout", "600")
        file = ("File", "--strategy", "first_entrant.py")
        assert cli("contest", "teams", "add", "cup", *file).code == 0
    user, password = add_team(cli, str(folder), "Program")
    port = unused_port()
    bot = start_starter("python", f"http://127.0.0.1:{port}", user, "cup", password=password)
    try:
        contest_run = cli("contest", "run", str(folder), "--port", str(port))
        assert bot.poll() is None, bot.communicate()
    finally:
        os.killpg(bot.pid, signal.SIGKILL)
        bot.communicate()
    assert contest_run.code == 0, contest_run.err
    names = "File", "Program", "File, Program"  # a match may be a draw
    assert contest_run.out.splitlines()[-1] in [f"won by {name}" for name in names]
    with open_contest_in(folder) as records:
        results = records.results()
    (result,) = results
    assert {facts.late for facts in result.facts} == {(0, 0)}


@pytest.mark.slow
def test_a_contest_is_consistent_despite_a_kill_and_a_freeze(cli: Cli, tmp_path: Path) -> None:
    """A contest with real sockets and signals stays consistent.

    `make evidence-contest` tests more faults on virtual time.
    """
    folder, starters = (
        tmp_path / "cup",
        [kit for kit in START_COMMANDS if not missing_programs(kit)],
    )
    cli("contest", "new", str(folder), "-n", "1", "--timeout", "5")
    cli("contest", "teams", "add", str(folder), "House", "--strategy", "third")
    port = unused_port()
    with ExitStack() as stack:
        for name in (*starters, *THIRD_PARTY_CLIENTS):
            user, password = add_team(cli, str(folder), name)
            arena_args = f"http://127.0.0.1:{port}", user, "cup"
            command = (
                [sys.executable, third_party_clients.__file__, name]
                if name in THIRD_PARTY_CLIENTS
                else None
            )
            bot = start_starter(name, *arena_args, password=password, command=command)
            stack.callback(bot.communicate)
            stack.callback(os.killpg, bot.pid, signal.SIGKILL)
        command_line = "contest", "run", str(folder), "--port", str(port)
        with start_program(*command_line) as killed_run, open_contest_in(folder) as records:
            wait_until(lambda: any(result.facts for result in records.results()))
            killed_run.send_signal(signal.SIGKILL)
            killed_run.wait()
        with start_program(*command_line) as resumed_run:
            wait_for_line(resumed_run.stderr, "arena at")
            resumed_run.send_signal(signal.SIGSTOP)
            os.killpg(bot.pid, signal.SIGSTOP)
            resumed_run.send_signal(signal.SIGCONT)
            os.killpg(bot.pid, signal.SIGCONT)
            assert resumed_run.wait(HANG_SECONDS) == 0
    assert list(violations(record_from_files(folder))) == []


@pytest.mark.slow
def test_the_organiser_starts_practice_and_contest_from_the_page(cli: Cli, tmp_path: Path) -> None:
    """The contest takes over from practice, runs without the page, and is stopped by it."""
    folder = str(tmp_path / "cup")
    cli("contest", "new", folder, "-n", "1", "--format", "round-robin")
    for name in DETERMINISTIC_STRATEGIES:
        assert cli("contest", "teams", "add", folder, name, "--strategy", name).code == 0
    manager = ContestManager(tmp_path, ArenaServerOptions(port=unused_port(), public=True))
    for action, fields in (("practice", {}), ("run", {"seeding": "entry"})):
        ADMIN_ACTIONS[action][1](manager, "cup", **fields)
        running_command = manager.running_command("cup")
        assert running_command.command == action
        assert (
            requests.get(f"{running_command.url}/contest", timeout=HANG_SECONDS).status_code == 200
        )
    assert "handed over to `contest run`" in (tmp_path / "cup" / CONSOLE_LOG).read_text()
    second_run = cli("contest", "run", folder, "--port", "0")
    assert (
        f"`contest run` has been running since {running_command.since:%H:%M} in process"
        in second_run.err
    )
    with open_contest_in(Path(folder)) as records:
        wait_until(lambda: any(result.decided for result in records.results()))
        ADMIN_ACTIONS["stop"][1](manager, "cup")
        assert manager.running_command("cup") is None
        history = [action.what for action in ContestAdmin(records, utc_now).action_history()]
    assert history[-3:] == ["contest practice begins", "contest run begins", "stopped"]
