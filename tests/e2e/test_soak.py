"""What stays in a process that plays match after match: nothing that grows with their number."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from cardsharp.cloud.attended import Attended
from cardsharp.cloud.telemetry import meter
from cardsharp.deadmansdraw.attending import attend
from cardsharp.deadmansdraw.client import DUMMY_ID, ArenaClient
from cardsharp.deadmansdraw.wire import MatchParams
from cardsharp.game import Job
from workbench.bench.measuring import served
from workbench.stage.clouds import embedded_in
from workbench.stage.side import assembled
from workbench.stage.stage import Teams, credentials_of, variables_of
from workbench.stage.surroundings import telemetry_in

STATM = Path("/proc/self/statm")
WARM, MORE = 80, 120
MOST_A_MATCH = 40 * 1024
"""Bytes; a captain that forgot none of its sums kept 130 KB of each of these matches."""


def resident() -> int:
    """The bytes of memory that this process has."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not STATM.exists(), reason="memory is read from /proc")
def test_a_worker_keeps_nothing_of_the_matches_that_it_has_played(tmp_path: Path) -> None:
    us = Teams.of_arena().us
    with (
        served("arena") as arena,
        telemetry_in(tmp_path / "bot.log"),
        ArenaClient(arena.url, credentials_of(us)) as client,
    ):
        variables = {
            **variables_of("captain", arena.url, us, embedded_in(tmp_path / "bot.db")),
            "CARDSHARP_DUMMY_STRATEGY": "draw-3",
        }
        job = Job(variables, meter, "worker", lambda: timedelta(hours=1))

        def play(number: int) -> None:
            for _ in range(number):
                match_id = client.create_match(MatchParams(player_ids=(us.id, DUMMY_ID))).id
                assert attend(match_id, job) is Attended.FINISHED

        with assembled(variables):
            play(WARM)
            before = resident()
            play(MORE)
            grown = resident() - before
    assert grown < MORE * MOST_A_MATCH
