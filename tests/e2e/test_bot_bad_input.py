"""R10, R16: bad input at every edge is answered clearly, and nothing that is good is lost."""

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.arena import ADMIN_PASSWORD, ALICE, PASSWORDS, until, write_players
from support.bot_events import context, event_of, message
from support.bot_proxy import Passing, Proxy, Reply
from support.bot_spoiling import SPOILS, SPOILT, Fall, Spoiler
from support.bot_stage import SEATS, Casting, ours, stage, start_opponents
from support.fault_server import closed_port

import poller.app
import worker.app
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.memory import MAX_RECEIVES, MemoryQueue, Redrive, register
from cardsharp.cloud.ports import Status
from cardsharp.cloud.telemetry import redirect
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.errors import Malformed
from workbench.arena.server import ArenaServer
from workbench.bench.judge import actions_of, intent_faults, log_faults
from workbench.cloud.events import Event
from workbench.stage.clouds import embedded_in
from workbench.stage.side import assembled

BELIEVED_SOON = {"CARDSHARP_DENIAL_SECONDS": "0.1"}
"""For matches that the arena really has not: a denial need not stay for 3 s."""

QUICK = {"CARDSHARP_ACT_SECONDS": "0.8", "CARDSHARP_STRATEGY": "draw-4"}
UNKNOWN = "6b0000000000000000000000"


@pytest.fixture(autouse=True)
def lines() -> Iterator[io.StringIO]:
    """What is logged; in no line of it is the password."""
    stream = io.StringIO()
    redirect(stream)
    yield stream
    assert PASSWORDS[ALICE] not in stream.getvalue()


@contextmanager
def settings(folder: Path, url: str, **more: str) -> Iterator[Any]:
    given = {**ours(url), **embedded_in(folder / "matches.db").settings, **BELIEVED_SOON, **more}
    with assembled(given) as made:
        yield made


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[ArenaServer]:
    config = ArenaConfig(players=write_players(tmp_path), admin_password=ADMIN_PASSWORD)
    with ArenaServer(config) as server:
        yield server


# --- what we are told wrongly ----------------------------------------------------------------


def test_a_wrong_password_fails_the_message_and_leaves_the_match_alone_for_a_while(
    tmp_path: Path, arena: ArenaServer, lines: io.StringIO
) -> None:
    match_id = arena.create_match([ALICE, SEATS[0]])
    with settings(tmp_path, arena.url, CARDSHARP_PASSWORD="not-alices") as assembly:
        answer = worker.app.handler(event_of(message(match_id)), context())
        record = assembly.log.match(match_id)
        assert not assembly.log.announce(match_id, timedelta(seconds=3))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    assert "check the user and the password" in lines.getvalue()
    assert "not-alices" not in lines.getvalue()
    (failed,) = (line for line in lines.getvalue().splitlines() if "a message failed" in line)
    assert json.loads(failed)["match_id"] == match_id
    assert record is not None
    assert record.status is Status.RUNNING


@pytest.mark.parametrize("match_id", ["abc", "Z" * 24])
def test_an_id_that_is_none_is_set_aside(
    tmp_path: Path, arena: ArenaServer, lines: io.StringIO, match_id: str
) -> None:
    """The arena's 400 is an answer; asking again would be no use."""
    with settings(tmp_path, arena.url) as assembly:
        answer = worker.app.handler(event_of(message(match_id)), context())
        assert not assembly.log.announce(match_id, timedelta(seconds=3))
    assert answer == {"batchItemFailures": []}
    assert "24 hex characters" in lines.getvalue()


def test_the_match_of_others_is_set_aside(
    tmp_path: Path, arena: ArenaServer, lines: io.StringIO
) -> None:
    match_id = arena.create_match([SEATS[0], SEATS[1]])
    with settings(tmp_path, arena.url) as assembly:
        answer = worker.app.handler(event_of(message(match_id)), context())
        assert not assembly.log.announce(match_id, timedelta(seconds=3))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    assert "Match is visible only to participating players." in lines.getvalue()


@pytest.mark.parametrize(
    "event", [{}, [], None, {"Records": {}}, {"Records": [{"s3": {}}]}, {"records": []}]
)
def test_an_event_of_another_shape_is_refused_in_a_sentence(
    tmp_path: Path, arena: ArenaServer, event: Event
) -> None:
    with settings(tmp_path, arena.url), pytest.raises(Malformed, match="expects an SQS event"):
        worker.app.handler(event, context())


def test_r10_a_poison_message_becomes_a_dead_letter_after_its_last_receive_while_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.app, "AGAIN", timedelta(seconds=0.2))
    clock, poison = SystemClock(), "this is no match message"
    dead = MemoryQueue(clock)
    register("poisoned", MemoryQueue(clock, timedelta(seconds=0.2), Redrive(MAX_RECEIVES, dead)))
    more = {"CARDSHARP_QUEUE": "memory:poisoned"}
    with stage(Casting(opponents=("draw-3",), settings=more), tmp_path) as scene:
        scene.queue.send(poison)
        accounts = scene.play(each=2)
        letter = dead.receive(timedelta(seconds=10))
    assert letter is not None
    assert letter.body == poison
    assert len(dead) == 1
    assert scene.received[poison] == MAX_RECEIVES
    assert [account for account in accounts if not account.well] == []


# --- an arena that is gone -------------------------------------------------------------------


def test_an_arena_that_is_down_at_the_start_is_waited_for(
    tmp_path: Path, lines: io.StringIO
) -> None:
    """The poller says so and goes on asking; a match after the arena's start is offered."""
    url = closed_port()
    port = int(url.rpartition(":")[2])
    config = ArenaConfig(players=write_players(tmp_path), port=port, admin_password=ADMIN_PASSWORD)
    with settings(tmp_path, url, CARDSHARP_READ_SECONDS="1") as assembly:
        heard = threading.Thread(target=poller.app.handler, args=({}, context(3)))
        heard.start()
        until(lambda: "is the server running" in lines.getvalue())
        with ArenaServer(config) as arena:
            match_id = arena.create_match([ALICE, ALICE])
            sent = assembly.queue.receive(timedelta(seconds=10))
            heard.join(20)
    assert sent is not None
    assert sent.body == message(match_id)


def test_an_arena_that_goes_down_in_the_middle_of_our_turn_is_waited_for(tmp_path: Path) -> None:
    """It comes back on the same address with its matches, and they are played to their ends."""
    fall = Fall(after=12)
    casting = Casting(
        opponents=("draw-3",),
        gateway=lambda url: Proxy(url, fall),
        data=tmp_path / "arena.db",
        settings=QUICK,
    )
    with stage(casting, tmp_path) as scene:
        fall.arena = scene.table.arena
        matches = [scene.table.begin(scene.seats[0]) for _ in range(2)]
        assert fall.fallen.wait(20)
        SystemClock().sleep(timedelta(seconds=0.3))
        with ArenaServer(again(casting, tmp_path, fall.arena.url)) as arena:
            start_opponents(arena.url, casting.opponents)
            table = replace(scene.table, arena=arena)
            accounts = list(table.finished(iter(matches), len(matches)))
    assert [account for account in accounts if not account.well] == []


def again(casting: Casting, folder: Path, url: str) -> ArenaConfig:
    """The arena of a casting as it is started again at its old address."""
    port = int(url.rpartition(":")[2])
    players = write_players(folder)
    return ArenaConfig(players=players, port=port, data=casting.data, admin_password=ADMIN_PASSWORD)


# --- an arena that talks nonsense ------------------------------------------------------------


def test_r16_answers_that_are_spoilt_cost_time_and_nothing_else(
    tmp_path: Path, lines: io.StringIO
) -> None:
    """In each of several matches a look and an action are spoilt in one way, and lists in all."""
    spoiler = Spoiler()
    casting = Casting(
        opponents=("draw-3",), gateway=lambda url: Proxy(url, spoiler), settings=QUICK
    )
    with stage(casting, tmp_path) as scene:
        accounts = scene.play(each=len(SPOILT))
    assert set(spoiler.done) == {(kind, way) for kind in SPOILS for way in SPOILT}
    assert [account.faults for account in accounts if account.faults] == []
    assert all(account.natural and not account.autopicks for account in accounts)
    # Of a list that is too long the newest matches are asked for, without a word.
    told = [one for one in spoiler.done if one != ("list", "huge")]
    assert lines.getvalue().count('"level":"WARNING"') >= len(told)


# --- an arena that is newer than we are ------------------------------------------------------


def test_an_unknown_suit_is_played_on_with(tmp_path: Path) -> None:
    """All Mermaids are Sirens here: cards without an effect, and none of our deck."""
    whole, log_says = renamed(tmp_path, {b'"Mermaid"': b'"Siren"'}, "steady")
    assert log_says == []
    assert not any(move["userAction"].get("autopick") for move in actions_of(whole, [ALICE]))
    assert b"Siren" in json.dumps(whole).encode()


def test_an_unknown_effect_is_left_to_the_server_and_it_alone(tmp_path: Path) -> None:
    """Hooks are Parrots here; of all six effects only theirs are answered by autopick."""
    names = {
        b'"effectType":"Hook"': b'"effectType":"Parrot"',
        b'"responseToEffectType":"Hook"': b'"responseToEffectType":"Parrot"',
    }
    whole, log_says = renamed(tmp_path, names, "champion")
    picked = [move for move in actions_of(whole, [ALICE]) if move["userAction"].get("autopick")]
    assert log_says == []
    assert picked
    for move in picked:
        before = whole["moves"][move["sequenceId"] - 1]["events"][-1]
        assert before["cardPlayedEffect"]["effectType"] == "Parrot"


def renamed(folder: Path, names: dict[bytes, bytes], strategy: str) -> tuple[Any, list[str]]:
    """A match in which we see other words than the arena's; with them, what is wrong with it."""

    def back(_passing: Passing, reply: Reply) -> Reply:
        return replace(reply, body=replaced(reply.body, names))

    def out(body: bytes) -> bytes:
        return replaced(body.replace(b": ", b":"), {new: old for old, new in names.items()})

    casting = Casting(
        opponents=("draw-2",), strategy=strategy, gateway=lambda url: Proxy(url, back, out)
    )
    with stage(casting, folder) as scene:
        (account,) = scene.play(each=1)
        text = json.dumps(scene.table.arena.look(account.match_id), separators=(",", ":"))
        whole = json.loads(replaced(text.encode(), names))
        log = scene.table.log
        faults = [*log_faults(whole, log), *intent_faults(whole, log, [ALICE])]
    assert account.natural
    assert account.refused == 0
    return whole, faults


def replaced(body: bytes, names: dict[bytes, bytes]) -> bytes:
    for old, new in names.items():
        body = body.replace(old, new)
    return body
