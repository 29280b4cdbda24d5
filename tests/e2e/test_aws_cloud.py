"""Tests of the full stack in the emulator, built from its template and operated by commands."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import pytest
import requests
from support.aws_build import native_build
from support.blef_v2_api import receive_body
from support.deployed_stack import STACK_VARIABLE
from support.store_fixtures import FakeClock
from support.waiting import HANG_SECONDS, wait_until
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from cardsharp.aws import ssm_credentials
from cardsharp.core.clock import SystemClock
from cardsharp.errors import CardsharpError, ConfigError, Unauthorized
from cardsharp.games.blef.service.bootstrap import SERVICE, build_service, build_subscriptions
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import ArenaBotDependencies
from cardsharp.server import feed_bootstrap
from cardsharp.server.feed_bootstrap import FEED_VARIABLE
from cardsharp.server.pages_service import MATCH_LOG_POLL_INTERVAL
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp.store.match_log import MatchRecord, MatchStatus
from cardsharp_tools.build.emulator_deploy import deploy
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.cli import main
from cardsharp_tools.games.deadmansdraw import deployment_check
from cardsharp_tools.local_cloud.lambda_events import schedule_event
from cardsharp_tools.local_play.bot_runtime import open_bot_dependencies
from cardsharp_tools.local_play.handler_environment import override_settings_environment
from cardsharp_tools.local_play.opponent import BOT_CREDENTIALS, OPPONENT_CREDENTIALS
from cardsharp_tools.operations import dead_letters, stack_control
from cardsharp_tools.operations.dead_letters import drop, list_dead_letters
from cardsharp_tools.operations.emulated_stack import (
    VIEWER_PASSWORD,
    EmulatedDeployment,
    deployment_parameters,
    emulated_deployment,
    publish_metrics,
)
from cardsharp_tools.operations.function_logs import LogLine, log_lines
from cardsharp_tools.operations.stack import find_stack
from cardsharp_tools.operations.stack_control import (
    VIEWER_SERVICE,
    arena_address_and_auth,
    create_practice_matches,
    delete_passwords_and_log,
    pause_new_matches,
    replace_arena_credentials,
    resume,
    trigger_test_alarm,
)
from cardsharp_tools.operations.status import read_status

# A build comes first, and a deployment takes ten seconds of a machine with nothing else to do.
HOUR = timedelta(hours=1)
INVALID_MESSAGE = "this is no match message"
SHORT_DRAW_PILE = [["Key", 3], ["Map", 5], ["Mermaid", 9], ["Sword", 4]]
ORIGINAL_MOVES = DynamoMatchLog.moves


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatedDeployment]:
    with emulated_deployment(native_build(tmp_path_factory)) as deployment:
        folder = str(deployment.emulator.folder)
        yield deployment
    assert folder not in read_command_lines(), (
        "functions in the middle of an invocation end with it"
    )


def read_command_lines() -> str:
    """Return the command lines of all processes."""
    command_lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            command_lines.append(file.read_text(errors="replace"))
    return "\n".join(command_lines)


def request_page(
    cloud: EmulatedDeployment,
    target: str,
    cookie: str = "",
    api: str = VIEWER_SERVICE,
    **request_options: str | None,
) -> requests.Response:
    """Return the response of the match log's pages, or of another API.

    The emulator serves each API below a path.
    """
    service_url = cloud.services[api].output("ViewerUrl" if api == VIEWER_SERVICE else "GameUrl")
    api_id = urlsplit(service_url).netloc.partition(".")[0]
    url = f"{cloud.emulator.endpoint}/_aws/execute-api/{api_id}/$default{target}"
    headers = {"Content-Type": "application/json", **({"Cookie": cookie} if cookie else {})}
    arguments = {"method": "GET", "headers": headers, **request_options}
    return requests.request(url=url, timeout=HANG_SECONDS, allow_redirects=False, **arguments)


def wait_for_finished_match(cloud: EmulatedDeployment, match_id: str) -> MatchRecord:
    """Return the record of a match when it is finished.

    The schedule may take a minute to fire. Where the opponent begins, nobody but its process makes
    the first move; so it is checked that this process still runs.
    """
    clock, find = SystemClock(), cloud.stack.log.match
    end = clock.now() + timedelta(seconds=HANG_SECONDS)
    while (record := find(match_id)) is None or record.status is not MatchStatus.FINISHED:
        cloud.opponent.check()
        assert clock.now() < end, f"{record}\n{cloud.emulator.log_tail()}"
        clock.sleep(timedelta(milliseconds=500))
    return record


@pytest.fixture(scope="module")
def finished_match(cloud: EmulatedDeployment) -> MatchRecord:
    """A full match of the practice function, whose page was followed from the first move.

    A fast machine plays a short match between two requests.
    """
    cookie, step_counts, steps_page = log_in_to_pages(cloud), list[int](), {"over": False}
    (match_id,) = create_practice_matches(cloud.stack, {})
    while not steps_page["over"]:
        target = f"/matches/{match_id}/steps?from={sum(step_counts)}&wait=1"
        response = request_page(cloud, target, cookie)
        steps_page = (
            response.json() if response.status_code == 200 else {"over": False, "steps": []}
        )
        step_counts.append(len(steps_page["steps"]))
        if not steps_page["steps"]:  # or nobody has taken it up yet
            SystemClock().sleep(MATCH_LOG_POLL_INTERVAL)
    record = wait_for_finished_match(cloud, match_id)
    assert sum(step_counts) == len(cloud.stack.log.moves(match_id))
    assert len([step_count for step_count in step_counts if step_count]) > 1, (
        "not all of it at the end"
    )
    return record


@contextmanager
def open_deployed_dependencies(cloud: EmulatedDeployment) -> Iterator[ArenaBotDependencies]:
    """Yield the deployed functions' dependencies, with the stack's own table and queue.

    They are assembled in this process.
    """
    variables = {
        **cloud.emulator.environment,
        "CARDSHARP_ARENA_URL": cloud.arena.url,
        "CARDSHARP_SECRET_ID": cloud.stack.output("SecretName"),
        "CARDSHARP_STORE": f"dynamodb:{cloud.stack.output('MatchTable')}",
        "CARDSHARP_QUEUE": cloud.stack.output("DeadLetterUrl"),
    }
    with open_bot_dependencies(variables) as dependencies:
        yield dependencies


def log_in_to_pages(cloud: EmulatedDeployment) -> str:
    """Return the cookie of a login.

    Requests without a password or with a wrong one are rejected.
    """
    assert request_page(cloud, "/matches").status_code == 403
    rejected_login = request_page(cloud, "/matches", method="POST", data="password=wrong")
    assert rejected_login.status_code == 403
    login_response = request_page(
        cloud, "/matches", method="POST", data=f"password={VIEWER_PASSWORD}"
    )
    assert login_response.status_code == 303
    return login_response.headers["Set-Cookie"].partition(";")[0]


def run_cli(cloud: EmulatedDeployment, *arguments: str) -> int:
    with mock.patch.dict("os.environ", cloud.emulator.environment):
        return main(["cloud", *arguments])


def test_a_practice_match_is_played_to_the_table_logged_and_counted(
    cloud: EmulatedDeployment, finished_match: MatchRecord
) -> None:
    assert finished_match.outcome is not None
    moves = cloud.stack.log.moves(finished_match.match_id)
    assert [move.sequence for move in moves] == list(range(len(moves)))
    assert all(move.facts is not None for move in moves)
    since = datetime.now(UTC) - HOUR
    lines: list[LogLine] = []

    def has_worker_line() -> bool:
        lines[:] = log_lines(cloud.stack, finished_match.match_id, since)
        return any("attended" in str(line) for line in lines)

    wait_until(has_worker_line, interval=0.2)
    # The poller may have seen it, too.
    assert {line.function for line in lines} - {"poller"} == {"practice", "worker"}
    assert [line.timestamp for line in lines] == sorted(line.timestamp for line in lines)
    log_entries = [line.fields for line in lines if "level" in line.fields]
    assert all({"request_id", "cold_start", "build"} <= fields.keys() for fields in log_entries)
    wait_until(lambda: publish_metrics(cloud.stack.client) > 0)
    status = read_status(cloud.stack)
    assert {fields["build"] for fields in log_entries} == {status.build} != {"unknown"}
    assert status.bot.results["both seats"] == 1
    assert status.problems == ()
    assert finished_match.match_id not in status.bot.running
    assert status.quota == 10, "what a new account has"


def test_every_cloud_command_has_text_and_json_output(
    cloud: EmulatedDeployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every cloud command succeeds with text and with JSON output.

    `doctor` reports whether the deployed functions could play. A pause does not wait here for
    the functions to read it; the test of R19 covers that.
    """
    monkeypatch.setattr(stack_control, "SETTINGS_DELAY", timedelta(0))
    for command in (
        *("status", "matches", "dlq list", "logs --problems", "pause", "resume", "set", "doctor"),
        *("set --concurrency 4", "set --default concurrency", "keep-listening --duration 1h"),
    ):
        assert run_cli(cloud, *command.split()) == 0
        output = capsys.readouterr().out
        assert command != "doctor" or "strategy and password are valid" in output
        assert run_cli(cloud, *command.split(), "--json") == 0
        json.loads(capsys.readouterr().out)


def test_verify_passes_on_a_working_deployment(
    cloud: EmulatedDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(cloud, "verify", "--json") == 0, capsys.readouterr()
    checks = json.loads(capsys.readouterr().out)
    assert [(check["check"], check["finding"]) for check in checks] == [
        ("functions", "ok"),
        ("match", "ok"),
        ("alarms", "ok"),
    ]
    assert "log complete" in checks[1]["text"]


@pytest.mark.slow
def test_the_tests_of_real_stacks_pass_here(cloud: EmulatedDeployment) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "deployed", "tests/deployed"]
    environment = {**os.environ, **cloud.emulator.environment, STACK_VARIABLE: cloud.stack.name}
    process = subprocess.run(  # noqa: S603 - our own tests
        command, cwd=REPOSITORY_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout
    assert "skipped" not in process.stdout


def test_verify_fails_if_the_deployment_does_not_play(
    cloud: EmulatedDeployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Verification fails for a match that does not end, and for a log with missing moves."""
    monkeypatch.setattr(deployment_check, "create_practice_matches", lambda *_: ["nosuchmatch"])
    assert run_cli(cloud, "verify", "--minutes", "0.01", "--json") == 1
    checks = {check["check"]: check for check in json.loads(capsys.readouterr().out)}
    assert checks["match"]["finding"] == "failed"
    assert "has not ended within" in checks["match"]["text"]
    monkeypatch.undo()
    monkeypatch.setattr(
        DynamoMatchLog, "moves", lambda log, match_id: ORIGINAL_MOVES(log, match_id)[1:]
    )
    assert run_cli(cloud, "verify", "--json") == 1
    checks = {check["check"]: check for check in json.loads(capsys.readouterr().out)}
    assert "moves is without moves 0" in checks["match"]["text"]


# The emulator's alarms do not look at dimensions: an error of any function turns on all alarms on
# errors. So what follows upsets them.


def test_an_alarm_can_be_triggered(cloud: EmulatedDeployment) -> None:
    name = trigger_test_alarm(cloud.stack, datetime.now(UTC))
    alarms = cloud.emulator.client("cloudwatch").describe_alarms(AlarmNames=[name])["MetricAlarms"]
    assert "A test by cardsharp cloud" in alarms[0]["StateReason"]


def test_a_stack_is_protected_by_a_command_and_status_reports_if_it_is_not(
    cloud: EmulatedDeployment,
) -> None:
    """The command `protect` protects a stack, and `status` reports an unprotected one.

    The template sets no protection, so that a failed creation can be deleted.
    """

    def has_problem() -> bool:
        stack = find_stack(cloud.stack.name, cloud.stack.client)
        prod_stack = replace(stack, parameters={**stack.parameters, "Stage": "prod"})
        return any(
            "`cardsharp cloud protect --stack" in text for text in read_status(prod_stack).problems
        )

    assert has_problem()
    assert run_cli(cloud, "protect") == 0
    assert not has_problem()
    # One of the two alone does not protect it.
    table = cloud.stack.output("MatchTable")
    dynamodb = cloud.emulator.client("dynamodb")
    dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
    assert has_problem()
    assert run_cli(cloud, "protect") == 0
    if not cloud.stack.log.running_matches():
        with pytest.raises(ConfigError, match="cloud protect --off"):
            delete_passwords_and_log(replace(cloud.stack, name="leaving"), include_match_log=True)
    assert run_cli(cloud, "protect", "--off") == 0
    assert has_problem()
    assert not dynamodb.describe_table(TableName=table)["Table"].get("DeletionProtectionEnabled")


def test_a_stack_that_does_not_exist_is_reported(cloud: EmulatedDeployment) -> None:
    with pytest.raises(ConfigError, match=r"no stack nope .*Give its name with --stack"):
        find_stack("nope", cloud.emulator.client)


def test_r19_a_pause_starts_no_new_match_and_continues_running_matches(
    cloud: EmulatedDeployment,
) -> None:
    pause_new_matches(cloud.stack)
    with pytest.raises(CardsharpError, match="New matches are paused"):
        create_practice_matches(cloud.stack, {})  # the function has read the setting by now
    with open_deployed_dependencies(cloud) as dependencies:
        players = [BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]]
        new_match_id = cloud.arena.create_match_and_get_id(players, drawPile=SHORT_DRAW_PILE)
        assert dependencies.dispatcher.dispatch_unattended([new_match_id]) == 0
        lease = dependencies.match_log.acquire_lease(
            "orphan", "a worker that died", timedelta(microseconds=1)
        )
        assert dependencies.dispatcher.dispatch_unattended([new_match_id]) == 0, (
            "somebody may hold it"
        )
        assert dependencies.dispatcher.dispatch_unattended([new_match_id]) == 1, "the orphan only"
        with pytest.raises(ConfigError, match=r"orphan are still running"):
            # Without the wait, in which a worker of the stack would take up the orphan.
            pause_new_matches(cloud.stack, stop_schedule=True, clock=FakeClock())
        dependencies.match_log.finish(lease, {"result": "ended"})
        resume(cloud.stack)
        # Or by the poller of the stack, which may just have looked when the pause began.
        wait_until(
            lambda: (
                dependencies.dispatcher.dispatch_unattended([new_match_id]) == 1
                or dependencies.match_log.match(new_match_id) is not None
            )
        )
        cloud.emulator.client("sqs").purge_queue(QueueUrl=cloud.stack.output("DeadLetterUrl"))
    # When nothing runs, the schedule can be stopped. The new match may still be on the queue.
    wait_for_finished_match(cloud, new_match_id)
    wait_until(lambda: not cloud.stack.log.matches(status=MatchStatus.RUNNING), interval=0.2)
    pause_new_matches(cloud.stack, stop_schedule=True, clock=FakeClock())
    status = read_status(cloud.stack)
    assert (status.bot.settings.paused, status.bot.schedule) == (True, "DISABLED")
    assert "nothing listens until `cardsharp cloud resume`" in status.problems[0]
    resume(cloud.stack)
    bot = read_status(cloud.stack).bot
    assert (bot.settings.paused, bot.schedule) == (False, "ENABLED")


def test_dead_letters_are_listed_and_replayed_and_change_nothing(
    cloud: EmulatedDeployment, finished_match: MatchRecord
) -> None:
    sqs, url = cloud.emulator.client("sqs"), cloud.stack.output("DeadLetterUrl")
    for body in (json.dumps({"match_id": finished_match.match_id}), INVALID_MESSAGE):
        sqs.send_message(QueueUrl=url, MessageBody=body)
    letters = list_dead_letters(cloud.stack)
    assert {letter.match_id for letter in letters} == {finished_match.match_id, None}
    status = read_status(cloud.stack)
    assert status.bot.dead_letters == 2
    # On a busy machine no poll may have succeeded for a while, which is told first.
    assert any("2 messages failed five times" in problem for problem in status.problems)
    assert [letter.match_id for letter in dead_letters.redrive(cloud.stack, None)] == [
        finished_match.match_id
    ]
    assert [letter.body for letter in list_dead_letters(cloud.stack)] == [INVALID_MESSAGE], (
        "no message of ours"
    )
    sqs.purge_queue(QueueUrl=url)
    # R11: the worker finds that nothing is left to do.
    assert cloud.stack.log.match(finished_match.match_id) == finished_match
    for command in (dead_letters.redrive, drop):
        with pytest.raises(ConfigError, match="No dead letter has an id that begins with nothing"):
            command(cloud.stack, "nothing")


def test_s15_a_rotated_secret_is_used_without_a_deploy(cloud: EmulatedDeployment) -> None:
    store, name = cloud.emulator.client("ssm"), cloud.stack.output("SecretName")

    def reject_login(_user: str, _password: str) -> None:
        raise Unauthorized(401, "no")

    queue_url = cloud.stack.output("PollerDeadLetterUrl")
    cloud.emulator.client("sqs").send_message(QueueUrl=queue_url, MessageBody="a tick that failed")
    with pytest.raises(Unauthorized):
        replace_arena_credentials(cloud.stack, BOT_CREDENTIALS[0], "wrong-word", reject_login)
    assert read_status(cloud.stack).bot.failed_ticks == 1
    old_secret = json.dumps({"username": BOT_CREDENTIALS[0], "password": "old-word"})
    store.put_parameter(Name=name, Value=old_secret, Type="SecureString", Overwrite=True)
    ssm_credentials.ssm_provider.cache_clear()
    with open_deployed_dependencies(cloud) as dependencies:
        assert dependencies.player_id == BOT_CREDENTIALS[0], "and so the old one is cached"
        replace_arena_credentials(cloud.stack, *BOT_CREDENTIALS, lambda _user, _password: None)
        # What the arena refuses is not kept any longer.
        with pytest.raises(Unauthorized), dependencies.build_poller() as match_poller:
            match_poller.arena_client.whoami()
        with dependencies.build_poller() as match_poller:
            assert match_poller.arena_client.whoami().name == "Team One"
    parameter = store.get_parameter(Name=name, WithDecryption=True)["Parameter"]
    assert parameter["Type"] == "SecureString"
    assert json.loads(parameter["Value"]) == {
        "username": BOT_CREDENTIALS[0],
        "password": BOT_CREDENTIALS[1],
    }
    assert read_status(cloud.stack).bot.failed_ticks == 0, "it failed for want of this password"
    assert arena_address_and_auth(cloud.stack) == (cloud.arena.url, "basic")


def test_secrets_and_tables_of_a_deleted_stack_are_removed_if_no_match_runs(
    cloud: EmulatedDeployment,
) -> None:
    """Secrets and a table with the prefix of another stack are deleted.

    The emulated stack of the other tests stays unchanged.
    """
    client = cloud.emulator.client
    for suffix in ("arena", "viewer"):
        name = f"/leaving/{suffix}"
        client("ssm").put_parameter(Name=name, Value="a word", Type="SecureString")
    client("dynamodb").create_table(
        TableName="leaving",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        DeletionProtectionEnabled=True,
    )
    deleted_stack = replace(cloud.stack, name="leaving")
    outputs = deleted_stack.outputs | {"MatchTable": "leaving"}
    with mock.patch.object(type(deleted_stack), "log", mock.Mock(running_matches=list)):
        with pytest.raises(ConfigError, match="protected against deletion"):
            delete_passwords_and_log(
                replace(deleted_stack, outputs=outputs), include_match_log=True
            )
        client("dynamodb").update_table(TableName="leaving", DeletionProtectionEnabled=False)
        deleted_names = delete_passwords_and_log(
            replace(deleted_stack, outputs=outputs), include_match_log=True
        )
    assert deleted_names == ["/leaving/arena", "/leaving/viewer", "leaving"]
    assert "leaving" not in client("dynamodb").list_tables()["TableNames"]
    wait_until(lambda: not cloud.stack.log.running_matches(), interval=0.2)
    assert delete_passwords_and_log(deleted_stack, include_match_log=False) == []


def test_blef_is_played_through_its_http_api_and_watched(cloud: EmulatedDeployment) -> None:
    """A game of Blef is played by HTTP and watched by WebSocket.

    The emulator serves the WebSocket API under a path that the deployed function cannot know.
    So the function answers the handshake and the end, and this process makes the change.
    """

    def get(target: str) -> Any:  # noqa: ANN401 - JSON
        response = request_page(cloud, f"/v2/games{target}", api="blef")
        assert response.status_code in {200, 202}, response.text
        return response.json()

    game = get("/create")["game_uuid"]
    ann, bob = (get(f"/{game}/join?nickname={name}")["player_uuid"] for name in ("ann", "bob"))
    stack = cloud.services["blef"]
    api_id = urlsplit(stack.output("GameFeedUrl")).netloc.partition(".")[0]
    callback_url = f"{cloud.emulator.endpoint}/_aws/execute-api/{api_id}/live"
    websocket_url, table = callback_url.replace("http", "ws", 1), stack.ids["GameTable"]
    variables = {
        **cloud.emulator.environment,
        SERVICE.store_setting: f"dynamodb:{table}",
        FEED_VARIABLE: callback_url,
    }
    with override_settings_environment(variables):
        blef = build_service(variables)
        build_subscriptions(blef, variables)
        feed, topic = (
            feed_bootstrap.build_feed(
                callback_url, variables[SERVICE.store_setting], SystemClock()
            ),
            f"game#{game}",
        )
        watch_url = f"{websocket_url}?game_uuid={game}&player_uuid={bob}"
        with connect(watch_url, open_timeout=HANG_SECONDS, proxy=None) as watcher:
            assert len(feed.subscribers(topic)) == 1
            blef.start(game, ann, make_private=True)
            state = receive_body(watcher)
        wait_until(lambda: not feed.subscribers(topic))
    assert state["status"] == "Running"
    assert [hand["nickname"] for hand in state["hands"]] == ["bob"]
    get(f"/{game}/play?player_uuid={ann if state['cp_nickname'] == 'ann' else bob}&action_id=0")
    status = get(f"/{game}?player_uuid={bob}")
    assert len(status["history"]) == 1
    assert [len(hand["hand"]) for hand in status["hands"]] == [1], "its own hand and no other"
    with pytest.raises(InvalidStatus):
        connect(f"{websocket_url}?game_uuid=abc", open_timeout=HANG_SECONDS, proxy=None)


def test_euchre_decides_through_its_http_api(cloud: EmulatedDeployment) -> None:
    events = sorted((REPOSITORY_ROOT / "events").glob("euchre_*.json"))
    for event in (json.loads(file.read_text()) for file in events):
        http, query = event["requestContext"]["http"], event["rawQueryString"]
        # One slash too many, as a client sends it whose base URL ends with one.
        target = f"/{event['rawPath']}" + (f"?{query}" if query else "")
        request_options = {"method": http["method"], "data": event.get("body")}
        response = request_page(cloud, target, api="euchre", **request_options)
        assert response.status_code == 200, response.text
    invocation = cloud.emulator.client("lambda").invoke(
        FunctionName=cloud.services["euchre"].output("GameName"), Payload=events[2].read_bytes()
    )
    assert json.loads(invocation["Payload"].read())["statusCode"] == 200
    assert request_page(cloud, "/nothing", api="euchre").status_code == 404


def test_a_match_page_requires_the_password_or_a_link(
    cloud: EmulatedDeployment, finished_match: MatchRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    page = f"/matches/{finished_match.match_id}"
    assert request_page(cloud, page).status_code == 403
    assert "Team One" in request_page(cloud, page, log_in_to_pages(cloud)).text
    stack_options = ("--stack", cloud.services[VIEWER_SERVICE].name)
    assert run_cli(cloud, "link", finished_match.match_id, "--hours", "1", *stack_options) == 0
    link = urlsplit(capsys.readouterr().out.strip())
    link_response = request_page(cloud, f"{link.path}?{link.query}")
    assert link_response.status_code == 303
    guest_cookie = link_response.headers["Set-Cookie"].partition(";")[0]
    assert request_page(cloud, link_response.headers["Location"], guest_cookie).status_code == 200
    assert request_page(cloud, "/matches", guest_cookie).status_code == 403


@pytest.mark.slow
def test_the_schedule_finds_a_match_created_by_an_opponent(
    cloud: EmulatedDeployment,
) -> None:
    """The schedule starts a poller once a minute, which finds the match."""
    match_id = cloud.arena.create_match_and_get_id([OPPONENT_CREDENTIALS[0], BOT_CREDENTIALS[0]])
    assert wait_for_finished_match(cloud, match_id).outcome


@pytest.mark.slow
def test_r19_a_match_survives_a_redeployment_of_the_stack(
    cloud: EmulatedDeployment,
) -> None:
    (match_id,) = create_practice_matches(cloud.stack, {})
    start_time = datetime.now(UTC)
    # Here an update kills the worker in the middle of the match; on AWS it would go on to its end.
    parameters = {**deployment_parameters(cloud.arena.url), "KeepDays": "61"}
    deploy(cloud.emulator, cloud.built, cloud.stack.name, parameters)
    assert read_live_setting(cloud, "CARDSHARP_KEEP_DAYS") == {"61"}
    cloud.emulator.client("lambda").invoke(
        FunctionName=cloud.stack.output("PollerName"),
        InvocationType="Event",
        Payload=json.dumps(schedule_event(datetime.now(UTC))),
    )
    assert wait_for_finished_match(cloud, match_id).finished_at > start_time
    moves = cloud.stack.log.moves(match_id)
    assert all(move.facts is not None for move in moves)


def read_live_setting(cloud: EmulatedDeployment, name: str) -> set[str]:
    """Return the values of an environment variable in the live versions of the bot's functions."""
    get = cloud.emulator.client("lambda").get_function_configuration
    functions = [cloud.stack.ids[function] for function in ("Poller", "Worker", "Practice")]
    configurations = [get(FunctionName=function, Qualifier="live") for function in functions]
    return {configuration["Environment"]["Variables"][name] for configuration in configurations}


@pytest.mark.slow
def test_a_deployment_is_rolled_back_by_one_command_and_matches_are_played(
    cloud: EmulatedDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command rolls a deployment back, and a match is played.

    The emulator has versions and aliases, but one set of layers for all versions.
    """
    new_parameters = {**deployment_parameters(cloud.arena.url), "KeepDays": "62"}
    old_value = read_live_setting(cloud, "CARDSHARP_KEEP_DAYS")
    deploy(cloud.emulator, cloud.built, cloud.stack.name, new_parameters)
    assert read_live_setting(cloud, "CARDSHARP_KEEP_DAYS") == {"62"} != old_value
    assert run_cli(cloud, "rollback") == 0
    assert capsys.readouterr().out.count("version") == 3
    assert read_live_setting(cloud, "CARDSHARP_KEEP_DAYS") == old_value
    (match_id,) = create_practice_matches(find_stack(cloud.stack.name, cloud.stack.client), {})
    assert wait_for_finished_match(cloud, match_id).outcome
    assert run_cli(cloud, "rollback") != 0
    assert "rolled back already" in capsys.readouterr().err
    assert run_cli(cloud, "rollback", "--undo") == 0
    assert read_live_setting(cloud, "CARDSHARP_KEEP_DAYS") == {"62"}
    assert run_cli(cloud, "rollback", "--undo") != 0
