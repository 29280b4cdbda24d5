"""Tests of the commands `arena`, `bot`, `practice` and `doctor` against a real arena."""

import json
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from itertools import takewhile
from pathlib import Path

import pytest
import requests
from support.arena_server import ADMIN_PASSWORD
from support.cli import TEAM_1_ID, TEAM_1_PASSWORD, TEAM_2_ID, Cli, start_program, wait_for_line
from support.ports import unused_port
from support.waiting import HANG_SECONDS

from cardsharp.core.clock import SystemClock
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp_tools.games.deadmansdraw.emulated_arena import (
    unstarted_emulated_arena,
)
from cardsharp_tools.local_server.arena_server import ArenaServer
from cardsharp_tools.match_sources.match_logs import default_store, open_log

pytestmark = pytest.mark.usefixtures("cli")

CLOCK = SystemClock()
LAB_PLAYERS = {
    "euchre": ("rules", "random"),
    "blef": ("greedy", "random"),
    "deadmansdraw": ("draw-2", "draw-3"),
}
SHORT_DRAW_PILE = [
    ["Key", 3],
    ["Map", 5],
    ["Mermaid", 9],
    ["Sword", 4],
]  # a draw pile that is soon through


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("CARDSHARP_PASSWORD", TEAM_1_PASSWORD)
    return cli


@pytest.fixture
def arena_config() -> ArenaConfig:
    """Settings of the arena; a test can override this fixture."""
    return ArenaConfig(admin_password=ADMIN_PASSWORD)


@pytest.fixture(params=["home", pytest.param("cloud", marks=pytest.mark.slow)])
def arena(request: pytest.FixtureRequest, arena_config: ArenaConfig) -> Iterator[ArenaServer]:
    """An arena that runs locally or in the emulator; a client sees no difference."""
    if request.param == "home":
        with ArenaServer(arena_config) as server:
            yield server
    else:
        with unstarted_emulated_arena(arena_config) as emulated_server, emulated_server:
            yield emulated_server


def connection_options(arena: ArenaServer) -> tuple[str, ...]:
    """Return the command-line options that connect to an arena as team one."""
    return "--url", arena.url, "--user", TEAM_1_ID


# --- arena -----------------------------------------------------------------------------------


def test_the_arena_prints_its_address_but_no_password_and_stops_on_ctrl_c() -> None:
    with start_program(
        "arena", "--port", "0", environment={"ARENA_ADMIN_PASSWORD": "s3cret"}
    ) as process:
        output = "".join(takewhile(lambda line: line != "Ctrl-C stops it.\n", process.stdout))
        url = output.splitlines()[0].removeprefix("arena at ")
        response = requests.get(f"{url}/api/whoami", auth=("admin", "s3cret"), timeout=HANG_SECONDS)
        assert response.json()["role"] == "admin"
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=HANG_SECONDS)
        assert "The arena is stopped." in rest
        assert "pass" not in (output + rest).replace("password", "")
        assert "s3cret" not in output + rest + errors
        assert process.returncode == 0


def test_the_organiser_creates_matches_by_the_players_names(
    cli: Cli, arena: ArenaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seats alternate; an unknown player is reported with the list of players."""
    error_result = cli("arena", "match", TEAM_1_ID, TEAM_2_ID, "--url", arena.url)
    assert (error_result.code, "ARENA_ADMIN_PASSWORD" in error_result.err) == (2, True)
    monkeypatch.setenv("ARENA_ADMIN_PASSWORD", ADMIN_PASSWORD)
    match_options = (
        "Team One",
        TEAM_2_ID,
        "-n",
        "3",
        "--tag",
        "cup",
        "--timeout",
        "7",
        "--url",
        arena.url,
    )
    matches = cli("arena", "match", *match_options, "--json").json()
    assert [match["players"] for match in matches] == [
        [TEAM_1_ID, TEAM_2_ID],
        [TEAM_2_ID, TEAM_1_ID],
        [TEAM_1_ID, TEAM_2_ID],
    ]
    match_view = arena.admin_view(matches[1]["match"])
    assert match_view["creationParams"]["tags"] == ["cup"]
    assert match_view["creationParams"]["timeout"] == 7
    assert "Team Two against Team One" in cli("arena", "match", *match_options).out
    unknown_player_result = cli("arena", "match", "Nemo", TEAM_2_ID, "--url", arena.url)
    assert unknown_player_result.code == 2
    assert (
        "No player of the arena is called Nemo. Its players are Dummy, Team One"
        in unknown_player_result.err
    )


# --- bot -------------------------------------------------------------------------------------


def test_the_bot_plays_waiting_matches_with_its_tag_once_and_prints_json_events(
    cli: Cli, arena: ArenaServer
) -> None:
    match_id = arena.create_match_and_get_id(
        [TEAM_1_ID, TEAM_1_ID], drawPile=SHORT_DRAW_PILE, tags=["final"]
    )
    other_match_id = arena.create_match_and_get_id(
        [TEAM_1_ID, TEAM_1_ID], drawPile=SHORT_DRAW_PILE, tags=["other"]
    )
    # The bot as a program of its own, with which its long poll ends; in here it would go on.
    options = ("--once", "--tag", "final", "--json", "--strategy", "champion")
    with start_program("bot", *connection_options(arena), *options) as process:
        out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, err
    begin_event, *turns, end_event = out.splitlines()
    assert begin_event.startswith('{"event": "began"')
    assert end_event.startswith('{"event": "ended"')
    assert all(line.startswith('{"event": "turn"') for line in turns)
    assert other_match_id not in out, "a match with another tag was played"
    assert "as Team One" in err
    assert "champion (first) v champion (second)" in cli("show", match_id).out
    assert arena.admin_view(match_id)["activePlayerIndex"] is None


def test_invalid_players_get_an_error_that_hides_the_password(
    cli: Cli, arena: ArenaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDSHARP_PASSWORD", "wr0ng-and-secret")
    organiser = "'admin' is the arena's organiser, who plays no matches. Give the id of a player"
    for command in ("bot", "practice"):
        for user, reason in ((TEAM_1_ID, "401"), ("admin", organiser)):
            error_result = cli(command, "--url", arena.url, "--user", user)
            assert (error_result.code, reason in error_result.err) == (2, True)
            assert "wr0ng" not in error_result.err + error_result.out
            assert len(error_result.err.splitlines()) == 1


def test_the_bot_waits_for_an_arena_and_survives_its_restart(tmp_path: Path) -> None:
    port, data = unused_port(), tmp_path / "arena.db"
    config = ArenaConfig(admin_password=ADMIN_PASSWORD, port=port, data_file=data)
    url = f"http://127.0.0.1:{port}"
    with start_program("bot", "--url", url, "--user", TEAM_1_ID, "--once") as process:
        wait_for_line(process.stderr, "Trying again in 1 s")
        with ArenaServer(config) as arena:
            wait_for_line(process.stderr, "playing at")
            match_id = arena.create_match_and_get_id(
                [TEAM_1_ID, TEAM_2_ID], seed="norandom", timeout=None
            )
            wait_for_line(process.stdout, f"match {match_id}: captain (us) v Team Two")
        wait_for_line(process.stderr, "no connection")
        with ArenaServer(config) as arena:
            response = requests.delete(
                f"{url}/api/matches/{match_id}/terminate",
                auth=("admin", ADMIN_PASSWORD),
                timeout=HANG_SECONDS,
            )
            assert response.status_code == 200
            out, _ = process.communicate(timeout=HANG_SECONDS)
    assert f"match {match_id}: tied" in out
    assert process.returncode == 0


def test_the_first_ctrl_c_finishes_the_match_and_the_second_stops_at_once(
    arena: ArenaServer,
) -> None:
    with start_program("bot", *connection_options(arena)) as process:
        wait_for_line(process.stderr, "playing at")
        match_id = arena.create_match_and_get_id([TEAM_1_ID, TEAM_2_ID], seed="norandom")
        wait_for_line(process.stdout, f"match {match_id}")
        process.send_signal(signal.SIGINT)
        wait_for_line(process.stderr, "1 running matches are played to the end")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=HANG_SECONDS)
        assert process.returncode == 130
        assert "Traceback" not in errors


def test_the_bot_ignores_matches_of_other_processes(
    arena: ArenaServer,
) -> None:
    """The bot ignores lab matches and a match of another worker in the same log."""
    with start_program("bot", *connection_options(arena), "--once", "--json") as process:
        wait_for_line(process.stderr, "playing at")
        for name, players in LAB_PLAYERS.items():
            duel = ("lab", "duel", *players, "--game", name, "-n", "1", "--save-matches", "1")
            with start_program(*duel, "--workers", "1") as lab:
                output, error_output = lab.communicate(timeout=HANG_SECONDS)
            assert lab.returncode == 0, error_output
            assert "stored in the match log" in output
        with open_log(default_store()) as log:
            log.acquire_lease(
                "somebody-elses", "worker", timedelta(hours=1), {"players": ["a", "b"]}
            )
        match_id = arena.create_match_and_get_id([TEAM_1_ID, TEAM_1_ID], drawPile=SHORT_DRAW_PILE)
        out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, err
    events = [json.loads(line) for line in out.splitlines()]
    assert {event["match"] for event in events} == {match_id}
    assert [events[0]["event"], events[-1]["event"]] == ["began", "ended"]


@pytest.mark.parametrize(
    "arena_config",
    [ArenaConfig(admin_password=ADMIN_PASSWORD, throttle=True)],
    ids=["states its rate limit"],
)
def test_a_display_failure_is_reported_once_and_the_bot_plays_on(arena: ArenaServer) -> None:
    """A damaged move and a closed output are reported once, and the matches continue.

    An arena that states its rate limit is polled after 3 s instead of 30 s.
    """
    with start_program("bot", *connection_options(arena), "--json") as process:
        wait_for_line(process.stderr, "playing at")
        damaged_match_id = arena.create_match_and_get_id(
            [TEAM_1_ID, TEAM_2_ID], seed="norandom", timeout=None
        )
        wait_for_line(process.stdout, damaged_match_id)
        with closing(sqlite3.connect(default_store().removeprefix("sqlite:"))) as db:
            change = "UPDATE moves SET facts = '{\"x\": 1}' WHERE match_id = ? AND sequence = 0"
            assert db.execute(change, (damaged_match_id,)).rowcount == 1
            db.commit()
        message = wait_for_line(process.stderr, f"Match {damaged_match_id} cannot be shown: Move 0")
        assert message.endswith("The match continues.\n")
        terminate_match(arena, damaged_match_id)
        assert json.loads(wait_for_line(process.stdout, '"ended"'))["match"] == damaged_match_id
        process.stdout.close()
        unread_match_id = arena.create_match_and_get_id(
            [TEAM_1_ID, TEAM_1_ID], drawPile=SHORT_DRAW_PILE
        )
        wait_for_line(process.stderr, "The output cannot be written")
        while arena.admin_view(unread_match_id)["activePlayerIndex"] is not None:
            CLOCK.sleep(timedelta(milliseconds=50))
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert (process.wait(HANG_SECONDS), "cannot be" in rest) == (0, False), rest


def terminate_match(arena: ArenaServer, match_id: str) -> None:
    """Terminate a match as the organiser."""
    url = f"{arena.url}/api/matches/{match_id}/terminate"
    response = requests.delete(url, auth=("admin", ADMIN_PASSWORD), timeout=HANG_SECONDS)
    assert response.status_code == 200


@pytest.mark.slow
def test_a_standby_bot_takes_over_if_the_first_is_killed(arena: ArenaServer) -> None:
    with start_program("bot", *connection_options(arena), "--standby") as active_bot:
        wait_for_line(active_bot.stderr, "playing at")
        with start_program("bot", *connection_options(arena), "--standby", "--once") as standby_bot:
            wait_for_line(
                standby_bot.stderr, "standing by: another bot with this match log plays at"
            )
            abandoned_match = arena.create_match_and_get_id([TEAM_1_ID, TEAM_2_ID], seed="norandom")
            wait_for_line(active_bot.stdout, f"match {abandoned_match}")
            active_bot.kill()
            wait_for_line(standby_bot.stderr, "now playing at")
            match_id = arena.create_match_and_get_id(
                [TEAM_1_ID, TEAM_1_ID], drawPile=SHORT_DRAW_PILE
            )
            wait_for_line(standby_bot.stdout, f"match {match_id}: both seats, ")


# --- practice --------------------------------------------------------------------------------


def test_practice_in_both_seats_is_displayed_checked_and_logged(
    cli: Cli, arena: ArenaServer
) -> None:
    """The bot plays both seats from given piles, and both seats of a match with the dummy."""
    piles = ("--draw-pile", "Key3, map5,Sword4", "--banks", "Hook7/Kraken6", "--discard-pile", "")
    result = cli("practice", *connection_options(arena), *piles)
    assert result.code == 0, result.err
    for words in ("both seats, ", "log complete", "Key 3"):
        assert words in result.out
    match = cli("show", "last", "--json").json()
    assert match["turns"][-1]["scores"] == match["outcome"]["scores"]
    options = (
        "-n",
        "2",
        "--opponent",
        "dummy",
        "--dummy-strategy",
        "draw-2",
        "--draw-pile",
        "Key3,Map5",
    )
    matches = cli("practice", *connection_options(arena), *options, "--json").json()
    assert [match["logComplete"] for match in matches] == [True, True]
    seats = cli("show", "last", "--json").json()["header"]["seats"]
    assert set(seats.values()) == {"captain", "draw-2"}


def test_practice_begins_as_a_stored_match_stood(cli: Cli, arena: ArenaServer) -> None:
    """A practice match starts with the piles of a stored position, and the bot has both seats.

    The player that decided there moves first.
    """
    *_, previous_turn, turn, _ = cli("show", "final-2023", "--json").json()["turns"]
    position_reference = f"final-2023@{turn['moves'][0]['move'] + 1}"
    (match,) = cli(
        "practice", *connection_options(arena), "--from-position", position_reference, "--json"
    ).json()
    assert match["logComplete"]
    view = arena.admin_view(match["match"])
    params, active_player = view["creationParams"], turn["player"]
    banks = [sorted(f"{card['suit']}{card['value']}" for card in bank) for bank in params["banks"]]
    assert banks == [
        previous_turn["banks"][active_player],
        previous_turn["banks"][1 - active_player],
    ]
    replayed_cards = [
        event["drawn"] for move in turn["moves"] for event in move["events"] if "drawn" in event
    ]
    pile = [f"{card['suit']}{card['value']}" for card in params["drawPile"]]
    assert pile[: len(replayed_cards)] == replayed_cards
    assert view["moves"][0]["events"][-1]["playerIndex"] == 0


def test_practice_and_a_match_of_an_arena_begin_as_a_match_of_our_own_log_stood(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`last` and a part of an id select a match of the user's log.

    The practice command itself uses another log.
    """
    monkeypatch.setenv("ARENA_ADMIN_PASSWORD", ADMIN_PASSWORD)
    with ArenaServer(ArenaConfig(admin_password=ADMIN_PASSWORD)) as arena:
        draw_pile_options = (
            "--draw-pile",
            "Mermaid9,Anchor3,Chest4,Key5,Mermaid8,Anchor5,Chest6,Key7",
        )
        (first,) = cli("practice", *connection_options(arena), *draw_pile_options, "--json").json()
        match_id = first["match"]
        for match_ref in ("last", f"{match_id}@3", match_id[-10:]):
            practice_result = cli(
                *("practice", *connection_options(arena), "--create-only"),
                *("--from-position", match_ref, "--json"),
            )
            assert practice_result.code == 0, practice_result.err
            (new_id,) = practice_result.json()["match_ids"]
            assert arena.admin_view(new_id)["creationParams"]["drawPile"]
        arena_result = cli(
            *("arena", "match", TEAM_1_ID, TEAM_2_ID, "--url", arena.url),
            *("--from-position", match_id, "--json"),
        )
        assert arena_result.code == 0, arena_result.err
        assert arena.admin_view(arena_result.json()[0]["match"])["creationParams"]["drawPile"]


def test_practice_can_create_matches_only_and_reports_invalid_piles(
    cli: Cli, arena: ArenaServer
) -> None:
    created = cli(
        "practice", *connection_options(arena), "--create-only", "--json", "--tag", "try"
    ).json()
    view = arena.admin_view(created["match_ids"][0])
    assert view["moveCount"] == 1
    assert view["creationParams"]["tags"] == ["try"]
    assert cli("matches").code == 2, "nothing is in our own log"
    invalid_card_result = cli("practice", *connection_options(arena), "--draw-pile", "Parrot3")
    assert (invalid_card_result.code, len(invalid_card_result.err.splitlines())) == (2, 1)
    assert "'Parrot3' is not a card" in invalid_card_result.err
    duplicate_card_result = cli("practice", *connection_options(arena), "--draw-pile", "Key3,Key3")
    assert (duplicate_card_result.code, "Duplicate cards" in duplicate_card_result.err) == (1, True)


# --- doctor ----------------------------------------------------------------------------------


def run_doctor(cli: Cli, *arguments: str) -> dict[str, str]:
    return {
        check["check"]: check["finding"] for check in cli("doctor", *arguments, "--json").json()
    }


def test_the_doctor_reports_only_actual_problems(
    cli: Cli, arena: ArenaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = cli("doctor", *connection_options(arena))
    assert (result.code, "Team One" in result.out) == (0, True)
    skipped = {"proxy"}  # none is named
    findings_by_check = run_doctor(cli, *connection_options(arena))
    assert {check for check, finding in findings_by_check.items() if finding != "ok"} == skipped
    assert {findings_by_check[check] for check in skipped} == {"skipped"}
    with monkeypatch.context() as patch:
        patch.delenv("CARDSHARP_PASSWORD")
        assert run_doctor(cli)["arena"] == "skipped", "none is named"
    unreachable_findings = run_doctor(
        cli, "--url", f"http://127.0.0.1:{unused_port()}", "--user", TEAM_1_ID
    )
    assert (unreachable_findings["arena"], unreachable_findings["credentials"]) == (
        "failed",
        "failed",
    )
    monkeypatch.setenv("CARDSHARP_PASSWORD", "wr0ng-and-secret")
    wrong_password_result = cli("doctor", *connection_options(arena))
    assert wrong_password_result.code == 1
    assert "wr0ng" not in wrong_password_result.out + wrong_password_result.err
    assert run_doctor(cli, *connection_options(arena))["credentials"] == "failed"
    monkeypatch.setenv("CARDSHARP_PASWORD", "x")
    assert "did you mean CARDSHARP_PASSWORD?" in cli("doctor", *connection_options(arena)).out
