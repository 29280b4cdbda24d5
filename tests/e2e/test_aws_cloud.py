"""The whole stack in the emulator, from the unmodified template, steered as an operator does."""

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
from support.waiting import HANG_SECONDS, until
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from cardsharp.aws import ssm_credentials
from cardsharp.core.clock import SystemClock
from cardsharp.errors import CardsharpError, ConfigError, Unauthorized
from cardsharp.games.blef.service.bootstrap import SERVICE, build_service, build_subscriptions
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import ArenaBotDependencies
from cardsharp.server import feed_bootstrap
from cardsharp.server.access_gate import MATCH_LOG_POLL_INTERVAL
from cardsharp.server.feed_bootstrap import FEED_VARIABLE
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
    resume,
    rotate_arena_secret,
    trigger_test_alarm,
)
from cardsharp_tools.operations.status import read_status

# A build comes first, and a deployment takes ten seconds of a machine with nothing else to do.
HOUR = timedelta(hours=1)
STRANGE = "this is no match message"
SHORT_DRAW_PILE = [["Key", 3], ["Map", 5], ["Mermaid", 9], ["Sword", 4]]
ORIGINAL_MOVES = DynamoMatchLog.moves


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatedDeployment]:
    with emulated_deployment(native_build(tmp_path_factory)) as running:
        folder = str(running.emulator.folder)
        yield running
    assert folder not in commands(), "functions in the middle of an invocation end with it"


def commands() -> str:
    """The command lines of all processes."""
    command_lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            command_lines.append(file.read_text(errors="replace"))
    return "\n".join(command_lines)


def visit(
    cloud: EmulatedDeployment,
    target: str,
    cookie: str = "",
    api: str = VIEWER_SERVICE,
    **request_options: str | None,
) -> requests.Response:
    """Return the response of the match log's pages, or of another API.

    The emulator serves each API below a path.
    """
    address = cloud.services[api].output("ViewerUrl" if api == VIEWER_SERVICE else "GameUrl")
    name = urlsplit(address).netloc.partition(".")[0]
    url = f"{cloud.emulator.endpoint}/_aws/execute-api/{name}/$default{target}"
    headers = {"Content-Type": "application/json", **({"Cookie": cookie} if cookie else {})}
    arguments = {"method": "GET", "headers": headers, **request_options}
    return requests.request(url=url, timeout=HANG_SECONDS, allow_redirects=False, **arguments)


def wait_for_finished_match(cloud: EmulatedDeployment, match_id: str) -> MatchRecord:
    """The record of a match when it is finished; the schedule may take a minute to fire."""
    clock, find = SystemClock(), cloud.stack.log.match
    end = clock.now() + timedelta(minutes=4)
    while (record := find(match_id)) is None or record.status is not MatchStatus.FINISHED:
        assert clock.now() < end, cloud.emulator.log_tail()
        clock.sleep(timedelta(milliseconds=500))
    return record


@pytest.fixture(scope="module")
def played(cloud: EmulatedDeployment) -> MatchRecord:
    """A match that the practice function created, and that was watched from its first move on.

    A whole one, as a quick machine plays a short one within one look.
    """
    cookie, answers, steps_page = entered(cloud), list[int](), {"over": False}
    (match_id,) = create_practice_matches(cloud.stack, {})
    while not steps_page["over"]:
        target = f"/matches/{match_id}/steps?from={sum(answers)}&wait=1"
        answer = visit(cloud, target, cookie)
        steps_page = answer.json() if answer.status_code == 200 else {"over": False, "steps": []}
        answers.append(len(steps_page["steps"]))
        if not steps_page["steps"]:  # or nobody has taken it up yet
            SystemClock().sleep(MATCH_LOG_POLL_INTERVAL)
    record = wait_for_finished_match(cloud, match_id)
    assert sum(answers) == len(cloud.stack.log.moves(match_id))
    assert len([step_count for step_count in answers if step_count]) > 1, "not all of it at the end"
    return record


@contextmanager
def handlers(cloud: EmulatedDeployment) -> Iterator[ArenaBotDependencies]:
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
    with open_bot_dependencies(variables) as assembly:
        yield assembly


def entered(cloud: EmulatedDeployment) -> str:
    """The cookie that the password brings; a stranger and a wrong password were refused before."""
    assert visit(cloud, "/matches").status_code == 403
    wrong = visit(cloud, "/matches", method="POST", data="password=wrong")
    assert wrong.status_code == 403
    let_in = visit(cloud, "/matches", method="POST", data=f"password={VIEWER_PASSWORD}")
    assert let_in.status_code == 303
    return let_in.headers["Set-Cookie"].partition(";")[0]


def run_cli(cloud: EmulatedDeployment, *arguments: str) -> int:
    with mock.patch.dict("os.environ", cloud.emulator.environment):
        return main(["cloud", *arguments])


def test_a_practice_match_is_played_to_the_table_logged_and_counted(
    cloud: EmulatedDeployment, played: MatchRecord
) -> None:
    assert played.outcome is not None
    moves = cloud.stack.log.moves(played.match_id)
    assert [move.sequence for move in moves] == list(range(len(moves)))
    assert all(move.facts is not None for move in moves)
    since = datetime.now(UTC) - HOUR
    lines: list[LogLine] = []

    def has_worker_line() -> bool:
        lines[:] = log_lines(cloud.stack, played.match_id, since)
        return any("attended" in str(line) for line in lines)

    until(has_worker_line, interval=0.2)
    # The poller may have seen it, too.
    assert {line.function for line in lines} - {"poller"} == {"practice", "worker"}
    assert [line.timestamp for line in lines] == sorted(line.timestamp for line in lines)
    log_entries = [line.fields for line in lines if "level" in line.fields]
    assert all({"request_id", "cold_start", "build"} <= fields.keys() for fields in log_entries)
    until(lambda: publish_metrics(cloud.stack.client) > 0)
    look = read_status(cloud.stack)
    assert {fields["build"] for fields in log_entries} == {look.build} != {"unknown"}
    assert look.bot.results["both seats"] == 1
    assert look.problems == ()
    assert played.match_id not in look.bot.running
    assert look.quota == 10, "what a new account has"


def test_the_command_line_does_the_same_and_speaks_json(
    cloud: EmulatedDeployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the deployed functions say whether they could play.

    A pause does not wait here for the functions to read it; the test of R19 shows that they do.
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


def test_the_deployment_proves_itself(
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
    tests = subprocess.run(  # noqa: S603 - our own tests
        command, cwd=REPOSITORY_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert tests.returncode == 0, tests.stdout
    assert "skipped" not in tests.stdout


def test_a_deployment_that_does_not_play_fails_the_proof(
    cloud: EmulatedDeployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A match that does not end, and a log that differs from the arena's history."""
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
    """Not by the template: what a failed creation leaves behind can be deleted."""

    def has_problem() -> bool:
        stack = find_stack(cloud.stack.name, cloud.stack.client)
        prod = replace(stack, parameters={**stack.parameters, "Stage": "prod"})
        return any(
            "`cardsharp cloud protect --stack" in text for text in read_status(prod).problems
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


def test_r19_a_pause_takes_up_no_new_match_and_leaves_running_ones_be(
    cloud: EmulatedDeployment,
) -> None:
    pause_new_matches(cloud.stack)
    with pytest.raises(CardsharpError, match="New matches are paused"):
        create_practice_matches(cloud.stack, {})  # the function has read the setting by now
    with handlers(cloud) as assembly:
        players = [BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]]
        fresh = cloud.arena.create_match_and_get_id(players, drawPile=SHORT_DRAW_PILE)
        assert assembly.dispatcher.dispatch_unattended([fresh]) == 0
        lease = assembly.match_log.acquire_lease(
            "orphan", "a worker that died", timedelta(microseconds=1)
        )
        assert assembly.dispatcher.dispatch_unattended([fresh]) == 0, "somebody may hold it"
        assert assembly.dispatcher.dispatch_unattended([fresh]) == 1, "the orphan only"
        with pytest.raises(ConfigError, match=r"orphan are still running"):
            # Without the wait, in which a worker of the stack would take up the orphan.
            pause_new_matches(cloud.stack, stop_schedule=True, clock=FakeClock())
        assembly.match_log.finish(lease, {"result": "ended"})
        resume(cloud.stack)
        # Or by the poller of the stack, which may just have looked when the pause began.
        until(
            lambda: (
                assembly.dispatcher.dispatch_unattended([fresh]) == 1
                or assembly.match_log.match(fresh) is not None
            )
        )
        cloud.emulator.client("sqs").purge_queue(QueueUrl=cloud.stack.output("DeadLetterUrl"))
    # When nothing runs, the schedule can be stopped.
    until(lambda: not cloud.stack.log.matches(status=MatchStatus.RUNNING), interval=0.2)
    pause_new_matches(cloud.stack, stop_schedule=True, clock=FakeClock())
    look = read_status(cloud.stack)
    assert (look.bot.settings.paused, look.bot.schedule) == (True, "DISABLED")
    assert "nothing listens until `cardsharp cloud resume`" in look.problems[0]
    resume(cloud.stack)
    bot = read_status(cloud.stack).bot
    assert (bot.settings.paused, bot.schedule) == (False, "ENABLED")


def test_dead_letters_are_listed_and_replayed_and_change_nothing(
    cloud: EmulatedDeployment, played: MatchRecord
) -> None:
    sqs, url = cloud.emulator.client("sqs"), cloud.stack.output("DeadLetterUrl")
    for body in (json.dumps({"match_id": played.match_id}), STRANGE):
        sqs.send_message(QueueUrl=url, MessageBody=body)
    letters = list_dead_letters(cloud.stack)
    assert {letter.match_id for letter in letters} == {played.match_id, None}
    look = read_status(cloud.stack)
    assert look.bot.dead_letters == 2
    # On a busy machine no poll may have succeeded for a while, which is told first.
    assert any("2 messages failed five times" in problem for problem in look.problems)
    assert [letter.match_id for letter in dead_letters.redrive(cloud.stack, None)] == [
        played.match_id
    ]
    assert [letter.body for letter in list_dead_letters(cloud.stack)] == [STRANGE], (
        "no message of ours"
    )
    sqs.purge_queue(QueueUrl=url)
    # R11: the worker finds that nothing is left to do.
    assert cloud.stack.log.match(played.match_id) == played
    for choose in (dead_letters.redrive, drop):
        with pytest.raises(ConfigError, match="No dead letter has an id that begins with nothing"):
            choose(cloud.stack, "nothing")


def test_s15_a_rotated_secret_is_used_without_a_deploy(cloud: EmulatedDeployment) -> None:
    store, name = cloud.emulator.client("ssm"), cloud.stack.output("SecretName")

    def refuse(_user: str, _password: str) -> None:
        raise Unauthorized(401, "no")

    ticks = cloud.stack.output("PollerDeadLetterUrl")
    cloud.emulator.client("sqs").send_message(QueueUrl=ticks, MessageBody="a tick that failed")
    with pytest.raises(Unauthorized):
        rotate_arena_secret(cloud.stack, BOT_CREDENTIALS[0], "wrong-word", refuse)
    assert read_status(cloud.stack).bot.failed_ticks == 1
    old = json.dumps({"username": BOT_CREDENTIALS[0], "password": "old-word"})
    store.put_parameter(Name=name, Value=old, Type="SecureString", Overwrite=True)
    ssm_credentials.ssm_provider.cache_clear()
    with handlers(cloud) as assembly:
        assert assembly.player_id == BOT_CREDENTIALS[0], "and so the old one is cached"
        rotate_arena_secret(cloud.stack, *BOT_CREDENTIALS, lambda _user, _password: None)
        # What the arena refuses is not kept any longer.
        with pytest.raises(Unauthorized), assembly.build_poller() as scout:
            scout.arena_client.whoami()
        with assembly.build_poller() as scout:
            assert scout.arena_client.whoami().name == "Team One"
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
    """Of a stack of another name, so that this one stays as it is."""
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
    leaving = replace(cloud.stack, name="leaving")
    outputs = leaving.outputs | {"MatchTable": "leaving"}
    with mock.patch.object(type(leaving), "log", mock.Mock(running_matches=list)):
        with pytest.raises(ConfigError, match="protected against deletion"):
            delete_passwords_and_log(replace(leaving, outputs=outputs), include_match_log=True)
        client("dynamodb").update_table(TableName="leaving", DeletionProtectionEnabled=False)
        gone = delete_passwords_and_log(replace(leaving, outputs=outputs), include_match_log=True)
    assert gone == ["/leaving/arena", "/leaving/viewer", "leaving"]
    assert "leaving" not in client("dynamodb").list_tables()["TableNames"]
    until(lambda: not cloud.stack.log.running_matches(), interval=0.2)
    assert delete_passwords_and_log(leaving, include_match_log=False) == []


def test_blef_is_played_through_its_http_api_and_watched(cloud: EmulatedDeployment) -> None:
    """The emulator has the WebSocket API below a path, which no function there can be told.

    So a deployed function answers the handshake and the end, and this process makes that change.
    """

    def get(target: str) -> Any:  # noqa: ANN401 - JSON
        answer = visit(cloud, f"/v2/games{target}", api="blef")
        assert answer.status_code in {200, 202}, answer.text
        return answer.json()

    game = get("/create")["game_uuid"]
    ann, bob = (get(f"/{game}/join?nickname={name}")["player_uuid"] for name in ("ann", "bob"))
    stack = cloud.services["blef"]
    api = urlsplit(stack.output("GameFeedUrl")).netloc.partition(".")[0]
    place = f"{cloud.emulator.endpoint}/_aws/execute-api/{api}/live"
    address, table = place.replace("http", "ws", 1), stack.ids["GameTable"]
    variables = {
        **cloud.emulator.environment,
        SERVICE.store_setting: f"dynamodb:{table}",
        FEED_VARIABLE: place,
    }
    with override_settings_environment(variables):
        blef = build_service(variables)
        build_subscriptions(blef, variables)
        feed, topic = (
            feed_bootstrap.build_feed(place, variables[SERVICE.store_setting], SystemClock()),
            f"game#{game}",
        )
        watch_url = f"{address}?game_uuid={game}&player_uuid={bob}"
        with connect(watch_url, open_timeout=HANG_SECONDS, proxy=None) as watcher:
            assert len(feed.subscribers(topic)) == 1
            blef.start(game, ann, make_private=True)
            state = receive_body(watcher)
        until(lambda: not feed.subscribers(topic))
    assert state["status"] == "Running"
    assert [hand["nickname"] for hand in state["hands"]] == ["bob"]
    get(f"/{game}/play?player_uuid={ann if state['cp_nickname'] == 'ann' else bob}&action_id=0")
    look = get(f"/{game}?player_uuid={bob}")
    assert len(look["history"]) == 1
    assert [len(hand["hand"]) for hand in look["hands"]] == [1], "its own hand and no other"
    with pytest.raises(InvalidStatus):
        connect(f"{address}?game_uuid=abc", open_timeout=HANG_SECONDS, proxy=None)


def test_euchre_decides_through_its_http_api(cloud: EmulatedDeployment) -> None:
    events = sorted((REPOSITORY_ROOT / "events").glob("euchre_*.json"))
    for event in (json.loads(file.read_text()) for file in events):
        http, query = event["requestContext"]["http"], event["rawQueryString"]
        # One slash too many, as a client sends it whose base URL ends with one.
        target = f"/{event['rawPath']}" + (f"?{query}" if query else "")
        request_options = {"method": http["method"], "data": event.get("body")}
        answer = visit(cloud, target, api="euchre", **request_options)
        assert answer.status_code == 200, answer.text
    invoked = cloud.emulator.client("lambda").invoke(
        FunctionName=cloud.services["euchre"].output("GameName"), Payload=events[2].read_bytes()
    )
    assert json.loads(invoked["Payload"].read())["statusCode"] == 200
    assert visit(cloud, "/nothing", api="euchre").status_code == 404


def test_a_match_page_requires_the_password_or_a_link(
    cloud: EmulatedDeployment, played: MatchRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    page = f"/matches/{played.match_id}"
    assert visit(cloud, page).status_code == 403
    assert "Team One" in visit(cloud, page, entered(cloud)).text
    of_pages = ("--stack", cloud.services[VIEWER_SERVICE].name)
    assert run_cli(cloud, "link", played.match_id, "--hours", "1", *of_pages) == 0
    link = urlsplit(capsys.readouterr().out.strip())
    let_in = visit(cloud, f"{link.path}?{link.query}")
    assert let_in.status_code == 303
    guest = let_in.headers["Set-Cookie"].partition(";")[0]
    assert visit(cloud, let_in.headers["Location"], guest).status_code == 200
    assert visit(cloud, "/matches", guest).status_code == 403


@pytest.mark.slow
def test_the_schedule_finds_a_match_created_by_an_opponent(
    cloud: EmulatedDeployment,
) -> None:
    """Which starts a poller once a minute."""
    match_id = cloud.arena.create_match_and_get_id([OPPONENT_CREDENTIALS[0], BOT_CREDENTIALS[0]])
    assert wait_for_finished_match(cloud, match_id).outcome


@pytest.mark.slow
def test_r19_a_match_survives_a_redeployment_of_the_stack(
    cloud: EmulatedDeployment,
) -> None:
    (match_id,) = create_practice_matches(cloud.stack, {})
    began = datetime.now(UTC)
    # Here an update kills the worker in the middle of the match; on AWS it would go on to its end.
    parameters = {**deployment_parameters(cloud.arena.url), "KeepDays": "61"}
    deploy(cloud.emulator, cloud.built, cloud.stack.name, parameters)
    assert live_setting(cloud, "CARDSHARP_KEEP_DAYS") == {"61"}
    cloud.emulator.client("lambda").invoke(
        FunctionName=cloud.stack.output("PollerName"),
        InvocationType="Event",
        Payload=json.dumps(schedule_event(datetime.now(UTC))),
    )
    assert wait_for_finished_match(cloud, match_id).finished_at > began
    moves = cloud.stack.log.moves(match_id)
    assert all(move.facts is not None for move in moves)


def live_setting(cloud: EmulatedDeployment, name: str) -> set[str]:
    """The values of an environment variable in the versions that the bot's functions use."""
    get = cloud.emulator.client("lambda").get_function_configuration
    functions = [cloud.stack.ids[function] for function in ("Poller", "Worker", "Practice")]
    configurations = [get(FunctionName=function, Qualifier="live") for function in functions]
    return {configuration["Environment"]["Variables"][name] for configuration in configurations}


@pytest.mark.slow
def test_a_deployment_is_rolled_back_by_one_command_and_matches_are_played(
    cloud: EmulatedDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    """As far as the emulator goes: it has versions and aliases, but one set of layers for all."""
    changed = {**deployment_parameters(cloud.arena.url), "KeepDays": "62"}
    before = live_setting(cloud, "CARDSHARP_KEEP_DAYS")
    deploy(cloud.emulator, cloud.built, cloud.stack.name, changed)
    assert live_setting(cloud, "CARDSHARP_KEEP_DAYS") == {"62"} != before
    assert run_cli(cloud, "rollback") == 0
    assert capsys.readouterr().out.count("version") == 3
    assert live_setting(cloud, "CARDSHARP_KEEP_DAYS") == before
    (match_id,) = create_practice_matches(find_stack(cloud.stack.name, cloud.stack.client), {})
    assert wait_for_finished_match(cloud, match_id).outcome
    assert run_cli(cloud, "rollback") != 0
    assert "rolled back already" in capsys.readouterr().err
    assert run_cli(cloud, "rollback", "--undo") == 0
    assert live_setting(cloud, "CARDSHARP_KEEP_DAYS") == {"62"}
    assert run_cli(cloud, "rollback", "--undo") != 0
