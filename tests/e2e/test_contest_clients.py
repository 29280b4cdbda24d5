"""Any client can enter a contest that speaks the arena's API, with its id, password and tag."""

import os
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path

import pytest
from support.cli import Cli, line_with, program
from support.starters import BOTS, Bot, missing, start

from cardsharp.contest.entries import Result, Stage
from cardsharp.contest.sqlite import kept_in
from workbench.stage.clouds import Cloud, CloudKind, opened
from workbench.stage.side import HomeRhythm, assembled, attending

PROGRAM = Path(__file__).parents[2] / "starters/programs/deadmansdraw/mine.js"


def entered(cli: Cli, folder: Path, name: str) -> tuple[str, str]:
    """The id and password of a team that has entered."""
    told = cli("contest", "teams", "add", str(folder), name)
    assert told.code == 0, told.err
    user, password = told.out.split("id ")[1].split(", password ")
    return user, password.strip()


@contextmanager
def playing(bot: Bot) -> Iterator[Bot]:
    """A starter as long as the block runs; it neither ends by itself nor complains."""
    try:
        yield bot
        assert bot.poll() is None, bot.communicate()
    finally:
        os.killpg(bot.pid, signal.SIGKILL)
        bot.communicate()


def played(folder: Path) -> list[Result]:
    """The pairings of a contest that is over, in which no turn ran out."""
    with kept_in(folder) as records:
        assert records.stage is Stage.OVER
        results = records.results()
    for result in results:
        assert len(result.facts) == len(result.matches) > 0
        assert {facts.late for facts in result.facts} == {(0, 0)}
    return results


def test_a_strategy_file_plays_a_program_from_outside(cli: Cli, tmp_path: Path) -> None:
    """The file wherever the contest is run; the program waits for the arena and outlives it."""
    folder = tmp_path / "cup"
    with chdir(tmp_path):
        cli("new", "first_entrant.py")
        cli("contest", "new", "cup", "-n", "1")
        assert (
            cli("contest", "teams", "add", "cup", "File", "--strategy", "first_entrant.py").code
            == 0
        )
    user, password = entered(cli, folder, "Program")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    bot = start("python", f"http://127.0.0.1:{port}", user, "cup", password=password)
    with playing(bot):
        told = cli("contest", "run", str(folder), "--port", str(port))
    assert told.code == 0, told.err
    assert told.out.splitlines()[-1] in ("won by File", "won by Program")
    assert len(played(folder)) in (2, 3)


@contextmanager
def in_the_cloud(cloud: Cloud, url: str, user: str, password: str) -> Iterator[None]:
    """Our bot as it is deployed: poller and worker, with a queue and a table."""
    variables = {
        **cloud.settings,
        "CARDSHARP_ARENA_URL": url,
        "CARDSHARP_USER": user,
        "CARDSHARP_PASSWORD": password,
        "CARDSHARP_TAGS": "cup",
        "CARDSHARP_STRATEGY": "champion",
    }
    rhythm = HomeRhythm(breath=cloud.breath)
    with assembled(variables) as assembly, attending(assembly, rhythm, lambda: None):
        yield


@pytest.mark.slow
def test_clients_of_every_kind_play_one_contest(cli: Cli, tmp_path: Path) -> None:
    """Each plays every match of its own in time, and one of them wins."""
    folder, mine = tmp_path / "cup", tmp_path / "second_entrant.py"
    cli("new", str(mine))
    # Eight programs that start at one time on two cores need more than 7 s for the first turn.
    cli("contest", "new", str(folder), "-n", "1", "--timeout", "30")
    played_here = {"File": str(mine), "House": "third"}
    if shutil.which("node"):
        played_here["Command"] = f"node {PROGRAM}"
    for name, strategy in played_here.items():
        added = cli("contest", "teams", "add", str(folder), name, "--strategy", strategy)
        assert added.code == 0, added.err
    kits = [kit for kit in BOTS if not missing(kit)]
    outside = {name: entered(cli, folder, name) for name in ("Bot", "Cloud", *kits)}
    with ExitStack() as stack:
        cloud = stack.enter_context(opened(CloudKind.EMULATOR, tmp_path))
        contest = stack.enter_context(program("contest", "run", str(folder), "--port", "0"))
        url = line_with(contest.stderr, "arena at").split("arena at ")[1].split(";")[0]
        user, password = outside["Bot"]
        ours = ("bot", "--url", url, "--user", user, "--tag", "cup", "--strategy", "champion")
        stack.enter_context(program(*ours, environment={"CARDSHARP_PASSWORD": password}))
        # After the bot, which would inherit its settings.
        stack.enter_context(in_the_cloud(cloud, url, *outside["Cloud"]))
        for kit in kits:
            user, password = outside[kit]
            stack.enter_context(playing(start(kit, url, user, "cup", password=password)))
        out, _ = contest.communicate(timeout=110)
    assert contest.returncode == 0
    assert out.splitlines()[-1].removeprefix("won by ") in played_here.keys() | outside.keys()
    results = played(folder)
    teams = {team for result in results for team in result.teams}
    assert len(teams) == len(played_here) + len(outside)
