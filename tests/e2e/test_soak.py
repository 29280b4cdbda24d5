"""What stays in a process that plays match after match: nothing that grows with their number."""

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from cardsharp.cloud.attended import Attended
from cardsharp.deadmansdraw.client import DUMMY_ID, ArenaClient
from cardsharp.deadmansdraw.wire import MatchParams
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
        assembled(
            {
                **variables_of("captain", arena.url, us, embedded_in(tmp_path / "bot.db")),
                "CARDSHARP_DUMMY_STRATEGY": "draw-3",
            }
        ) as assembly,
    ):

        def play(attend: Callable[[str, Callable[[], timedelta]], Attended], number: int) -> None:
            for _ in range(number):
                match_id = client.create_match(MatchParams(player_ids=(us.id, DUMMY_ID))).id
                assert attend(match_id, lambda: timedelta(hours=1)) is Attended.FINISHED

        with assembly.bot("worker") as bot:
            play(bot.attend, WARM)
            before = resident()
            play(bot.attend, MORE)
            grown = resident() - before
    assert grown < MORE * MOST_A_MATCH
