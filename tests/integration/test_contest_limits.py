"""Test of the limits on the teams of a contest, at home and in the cloud."""

from pathlib import Path

import pytest

from cardsharp.games.deadmansdraw.arena import cloud_arena
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.contest.application import MAX_TEAMS, build_contest_application
from cardsharp_tools.contest.contest_arena import DEFAULT_LISTEN_OPTIONS, build_arena_config

LIMITS = (
    "quotas", "throttle", "max_per_user", "max_per_address", "is_shared_address"
)  # fmt: skip


class ArenaBuiltError(Exception):
    """Raised in place of building an arena, with its configuration."""


def test_the_cloud_has_the_limits_of_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A team may send 1,000 requests a minute in both, also behind the address of other teams."""

    def refuse(config: ArenaConfig, *_: object, **__: object) -> None:
        raise ArenaBuiltError(config)

    monkeypatch.setattr(cloud_arena, "CloudArena", refuse)
    with pytest.raises(ArenaBuiltError) as built:
        build_contest_application({"ARENA_STORE": "dynamodb:arena"})
    home_config = build_arena_config(tmp_path / "arena.db", DEFAULT_LISTEN_OPTIONS, MAX_TEAMS)
    for limit in LIMITS:
        assert getattr(built.value.args[0], limit) == getattr(home_config, limit)
    assert (home_config.max_per_user, home_config.is_shared_address) == (1000, True)
