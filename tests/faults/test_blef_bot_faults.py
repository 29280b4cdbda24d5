"""What is Blef's own in attending a game: joining it, its secret, and what the log says of it.

That no fault at any step harms a game is in tests/contract/test_attending.py.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr
from support.blef_bot import SECRET, SERVICE, BlefPlace
from world.bench import HARD, Bench, played
from world.clock import StillClock
from world.faults import FaultPlan, Kind

from cardsharp.cloud.attended import Attended
from cardsharp.cloud.redaction import BLOT, redact
from cardsharp.cloud.vault import sqlite_vault
from cardsharp.seats import Seat, find_seat

GIVING = partial(BlefPlace, chosen=False)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(BlefPlace, tmp_path)
    yield made
    made.close()


def test_at_a_service_that_gives_out_the_uuids_the_given_one_is_kept(tmp_path: Path) -> None:
    bench = played(Bench(GIVING, tmp_path))
    assert bench.found == []
    assert Counter(bench.plan.steps)["replace"] == 1


def test_a_seat_that_another_worker_has_joined_meanwhile_is_played_by_the_uuid_it_was_given(
    tmp_path: Path,
) -> None:
    """What the vault said before the lease was taken is old; joining again would be refused."""
    steps = played(Bench(GIVING, tmp_path)).plan.steps
    joined = steps.index("replace") - steps.index("find")
    bench = Bench(GIVING, tmp_path)
    early = FaultPlan(bench.clock, {joined: Kind.CRASH_AFTER})

    def come_between(step: str) -> None:
        if step == "take" and not early.steps:
            bench.attend(bench.match_id, early)
            bench.outwait(HARD.lease)

    try:
        bench.order()
        bench.plan.before_step = come_between
        bench.attend(bench.match_id)
        assert early.steps[-1] == "replace"
        assert bench.faults_found() == []
    finally:
        bench.close()


def test_a_game_without_a_seat_for_us_is_closed_and_not_tried_again(bench: Bench) -> None:
    """It has started without us; the log says why, and nobody offers it any more."""
    place = bench.place
    assert isinstance(place, BlefPlace)
    place.client.join(place.table, "another")
    place.client.post(f"/games/{place.table}/start", {"admin_uuid": place.rival})
    bench.order()
    assert bench.attend(bench.match_id) is Attended.UNKNOWN
    record = bench.log.match(bench.match_id)
    assert record is not None
    assert record.outcome is not None
    assert record.outcome["reason"] == "Game already started"
    assert bench.offering().offer() == 0


def test_the_secret_is_in_the_vault_alone(bench: Bench) -> None:
    """Neither in the match log, nor in what is queued, nor in what an object shows of itself."""
    bench.order()
    message = bench.queue.receive(timedelta(0))
    assert message is not None
    assert str(SECRET) not in message.body + bench.everything()
    kept = bench.vault.find(bench.match_id)
    assert kept is not None
    assert kept["player"] == str(SECRET)
    assert str(SECRET) not in repr(find_seat(bench.vault, bench.match_id))
    assert (bench.folder / "log.vault").stat().st_mode & 0o077 == 0


def test_the_secret_is_redacted_from_when_its_seat_is_found(tmp_path: Path) -> None:
    """A worker in a new process has never seen the order, and logs nothing of it either."""
    vault, secret = sqlite_vault(tmp_path / "log", StillClock()), str(uuid4())
    vault.add("seat", Seat(SERVICE, "game", "ann", "greedy", SecretStr(secret)).body)
    assert redact(f"player_uuid={secret}") == f"player_uuid={secret}", "nobody has looked yet"
    assert find_seat(vault, "seat").secret == secret
    assert redact(f"player_uuid={secret}") == f"player_uuid={BLOT}"
    vault.close()


def test_the_secret_that_a_service_gives_is_redacted_from_then_on() -> None:
    """One that chooses its players' secrets itself tells it in the answer to joining."""
    given = str(uuid4())
    seat = Seat(SERVICE, "game", "ann", "greedy", SecretStr(str(uuid4()))).known_as(given)
    assert seat.secret == given
    assert redact(f"player_uuid={given}") == f"player_uuid={BLOT}"
