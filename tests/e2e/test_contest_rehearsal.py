"""Rehearsal of a contest: every starter and our bot as programs, over plain http and over TLS."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from support.certificates import certificate_for
from support.cli import Cli, add_team, start_program, wait_for_line
from support.ports import unused_port
from support.starters import (
    START_COMMANDS,
    StarterProcess,
    missing_programs,
    start_starter,
    stop_starters,
)
from support.waiting import HANG_SECONDS, wait_until

from cardsharp.contest.contest_file import open_contest_in
from cardsharp.contest.models import ContestStage

OUR_BOT = "cardsharp bot"
KEY_STORE_PASSWORD = "changeit"


class Connection(NamedTuple):
    """How the contest listens, and what its players need to reach it."""

    url: str
    arena_options: tuple[str, ...]
    starter_options: tuple[str, ...]
    bot_options: tuple[str, ...]
    environment: Mapping[str, str]
    java_options: tuple[str, ...] = ()

    # With these two the starters trust the certificate, as their READMEs say.


def plain_http(port: int) -> Connection:
    """Return the arrangement for a private network that is trusted."""
    url = f"http://127.0.0.2:{port}"  # to a starter this is another machine
    insecure = ("--insecure",)
    return Connection(url, ("--host", "0.0.0.0", *insecure), insecure, insecure, {})  # noqa: S104


def tls(port: int, folder: Path) -> Connection:
    """Return the arrangement for a certificate of the organiser's own."""
    certificate, key = map(str, certificate_for(folder))
    names = ("REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
    store, java_options = str(folder / "own.jks"), ()
    if keytool := shutil.which("keytool"):
        options = ("-keystore", store, "-storepass", KEY_STORE_PASSWORD)
        subprocess.run(  # noqa: S603 - as the README of the starter in Java says
            [keytool, "-importcert", "-noprompt", "-file", certificate, *options],
            check=True,
            capture_output=True,
        )
        trust = "-Djavax.net.ssl.trustStore"
        java_options = (f"{trust}={store}", f"{trust}Password={KEY_STORE_PASSWORD}")
    arena_options = ("--host", "0.0.0.0", "--tls", certificate, key)  # noqa: S104 - tested
    url = f"https://localhost:{port}"
    bot_options, environment = ("--ca-file", certificate), dict.fromkeys(names, certificate)
    return Connection(url, arena_options, (), bot_options, environment, java_options)


def start_player(name: str, connection: Connection, user: str, password: str) -> StarterProcess:
    """Start a starter, or our own bot, for the matches with the tag of the contest."""
    url, *_ = connection
    if name == OUR_BOT:
        options = ("--url", url, "--user", user, "--tag", "cup", *connection.bot_options)
        command = [sys.executable, "-m", "cardsharp_tools.cli", "bot", *options]
        return subprocess.Popen(  # noqa: S603 - our own program
            command,
            env=os.environ | {"CARDSHARP_PASSWORD": password},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    program, *arguments = START_COMMANDS[name]
    more = connection.java_options if name == "java" else ()
    return start_starter(
        name,
        url,
        user,
        "cup",
        *connection.starter_options,
        password=password,
        command=[program, *more, *arguments],
    )


def stop_and_read(player: StarterProcess) -> str:
    """Stop a player and return what it has printed."""
    os.killpg(player.pid, signal.SIGKILL)
    return player.communicate()[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["http", "tls"])
def test_all_starters_play_practice_and_a_cup(
    kind: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each program is started once; it finds practice and cup, and nobody is late or missed."""
    folder, port = tmp_path / "cup", unused_port()
    connection = plain_http(port) if kind == "http" else tls(port, tmp_path)
    cli("contest", "new", str(folder), "-n", "1", "--format", "round-robin", "--timeout", "30")
    names = [*(kit for kit in START_COMMANDS if not missing_programs(kit)), OUR_BOT]
    with ExitStack() as stack, open_contest_in(folder) as records:
        for variable, value in connection.environment.items():
            monkeypatch.setenv(variable, value)
        players = {}
        for name in names:
            user, password = add_team(cli, str(folder), name)
            players[name] = start_player(name, connection, user, password)
            stack.callback(stop_starters, [players[name]])
        arguments = (str(folder), "--port", str(port), *connection.arena_options)
        with start_program("contest", "practice", *arguments) as practice:
            # Every pair of teams has practised before the cup begins.
            wait_until(lambda: len(records.practice_matches()) >= len(names), 0.5)
            programs = cli("contest", "status", str(folder), "--json").json()["programs"]
            practice.send_signal(signal.SIGINT)
            practice.wait(HANG_SECONDS)
        with start_program("contest", "run", *arguments, "--keep-serving") as run:
            wait_for_line(run.stdout, "won by")
            run.send_signal(signal.SIGINT)
            assert run.wait(HANG_SECONDS) == 0
        assert records.stage is ContestStage.OVER
        practised = {team for match in records.practice_matches() for team in match.teams}
        gone = {team for match in records.practice_matches() for team in match.gone}
        late = [facts.late for result in records.results() for facts in result.facts]
        outputs = {name: stop_and_read(player) for name, player in players.items()}
    assert {row["team"] for row in programs if row["connected since (UTC)"]} == set(names)
    assert {row["team"] for row in programs if row["last move (UTC)"]} == set(names)
    assert (len(practised), gone) == (len(names), set())
    assert len(late) == len(names) * (len(names) - 1) // 2
    assert set(late) == {(0, 0)}
    for name in names[:-1]:
        assert re.search(r"^Match \w+, .*: (won|lost|drawn) \d+:\d+$", outputs[name], re.MULTILINE)
