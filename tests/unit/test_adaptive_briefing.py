"""What the match log holds of an opponent reaches the strategies that ask for it."""

from datetime import timedelta
from pathlib import Path

import pytest

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MatchLog
from cardsharp.deadmansdraw.briefing import PAST_MATCHES, last_matches

ME, FOE, OTHER = "me", "foe", "other"
DRAWN = {
    "turnId": 1,
    "sequenceId": 0,
    "sequenceInTurnId": 1,
    "at": "2026-11-20T21:30:01.066Z",
    "events": [{"eventType": "Draw", "playerIndex": 0, "drawCard": {"suit": "Key", "value": 3}}],
}


@pytest.fixture
def log(tmp_path: Path) -> MatchLog:
    return build_log(f"sqlite:{tmp_path / 'matches.db'}", SystemClock())


def keep(
    log: MatchLog, match_id: str, players: list[str], *, finished: bool = True, ours: str = ""
) -> None:
    header: dict[str, object] = {
        "players": players,
        "names": [f"Team {name}" for name in players],
        "seats": {str(players.index(ME)): "steady"} if ME in players else {},
    }
    if ours:
        header["opponent"] = ours
    lease = log.take(match_id, "worker", timedelta(minutes=1), header)
    assert lease is not None
    log.record(lease, {0: DRAWN})
    if finished:
        log.finish(lease, {"scores": [1, 2]})


def test_only_finished_matches_against_that_player_are_its_past(log: MatchLog) -> None:
    keep(log, "a", [ME, FOE])
    keep(log, "b", [FOE, ME])
    keep(log, "c", [ME, OTHER])
    keep(log, "d", [ME, FOE], finished=False)
    keep(log, "e", [FOE, FOE])
    keep(log, "f", [ME, FOE], ours="champion")
    past = last_matches(log, FOE, PAST_MATCHES)
    assert sorted(match.opponent for match in past) == [0, 1]
    assert all(len(match.history) == 1 for match in past)


def test_the_past_is_the_last_matches(log: MatchLog) -> None:
    for number in range(5):
        keep(log, f"m{number}", [ME, FOE])
    assert len(last_matches(log, FOE, 3)) == 3
    assert last_matches(log, "nobody", 3) == []
