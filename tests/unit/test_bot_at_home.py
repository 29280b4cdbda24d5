"""A bot at home: a log that a stranger cannot fill, and a place for one at a time."""

import logging
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.deadmansdraw.attendance import place_at
from workbench.sparing import PAUSE, Sparing
from workbench.stage import surroundings
from workbench.stage.surroundings import LogFile, telemetry_in


def test_what_repeats_is_written_once_a_minute_and_counted() -> None:
    now = [0.0]
    sparing = Sparing(lambda: now[0])
    told = []
    for second in range(0, 121, 20):
        now[0] = float(second)
        for text in ("no handle", "no room"):
            record = logging.makeLogRecord({"levelno": logging.ERROR, "msg": text, "name": "x"})
            if sparing.filter(record):
                told.append((second, record.getMessage()))
    again = "(2 times more in the meantime)"
    assert told == [
        (time, f"{text} {again}" if time else text)
        for time in (0, int(PAUSE), 2 * int(PAUSE))
        for text in ("no handle", "no room")
    ]


def test_a_log_has_each_warning_once(tmp_path: Path) -> None:
    """Of whichever library it is; lines that only inform stay."""
    with telemetry_in(tmp_path / "a.log"):
        for _ in range(1000):
            logging.getLogger("asyncio").error("socket.accept() out of system resource")
            logging.getLogger("cardsharp.deadmansdraw.arena.http").error("The arena's store failed")
    lines = (tmp_path / "a.log").read_text().splitlines()
    assert len(lines) == 3  # of our own logger twice: for people, and as JSON


def test_a_long_log_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one before is kept, for its owner alone as well."""
    monkeypatch.setattr(surroundings, "LONGEST_LOG", 1000)
    with LogFile(tmp_path / "a.log") as log:
        for number in range(100):
            log.write(f"line {number:04} {'x' * 40}\n")
    files = [tmp_path / "a.log.1", tmp_path / "a.log"]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    text = "".join(one.read_text() for one in files)
    assert text.endswith("".join(f"line {n:04} {'x' * 40}\n" for n in range(80, 100)))
    assert all(one.stat().st_size <= 1000 for one in files)
    assert {one.stat().st_mode & 0o777 for one in files} == {0o600}


def assembly(store: str, user: str = "us", look: Any = None) -> Any:  # noqa: ANN401 - a stand-in
    settings = SimpleNamespace(store=store, arena_url="http://a", watch=timedelta(seconds=1))
    return SimpleNamespace(settings=settings, player_id=user, offering=SimpleNamespace(watch=look))


def test_one_has_the_place_until_it_ends_and_others_have_their_own(tmp_path: Path) -> None:
    here = assembly(f"sqlite:{tmp_path / 'm.db'}")
    with place_at(here) as mine:
        with place_at(here) as other:
            assert other()
            assert not mine()
            assert other()
        assert mine()
    with place_at(assembly(f"sqlite:{tmp_path / 'm.db'}")) as mine:
        assert mine()
        for other in (
            assembly(f"sqlite:{tmp_path / 'm.db'}", "them"),
            assembly(f"sqlite:{tmp_path / 'other.db'}"),
            assembly("dynamodb:table"),
        ):
            with place_at(other) as theirs:
                assert theirs()
