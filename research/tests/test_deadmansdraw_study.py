"""An opponent is found in the match log, whatever it is called by."""

from datetime import timedelta
from pathlib import Path

import pytest

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MatchLog
from cardsharp.errors import ConfigError
from research.deadmansdraw.study import find_player

ME, FOE, OTHER = "me", "foe", "other"


@pytest.fixture
def log(tmp_path: Path) -> MatchLog:
    return build_log(f"sqlite:{tmp_path / 'matches.db'}", SystemClock())


def keep(log: MatchLog, match_id: str, foe: str, **header: str) -> None:
    players = [ME, foe]
    names = [f"Team {name}" for name in players]
    body = {"players": players, "names": names, "seats": {"0": "steady"}, **header}
    lease = log.take(match_id, "worker", timedelta(minutes=1), body)
    assert lease is not None
    log.finish(lease, {"scores": [1, 2]})


def test_an_opponent_is_found_by_id_or_name_or_as_a_strategy_of_ours(log: MatchLog) -> None:
    keep(log, "a", FOE)
    keep(log, "b", OTHER, opponent="champion")
    assert find_player(log, FOE) == find_player(log, "Team foe") == (FOE, None)
    assert find_player(log, "champion") == (OTHER, "champion")
    with pytest.raises(ConfigError, match="no player is called 'nobody'"):
        find_player(log, "nobody")
