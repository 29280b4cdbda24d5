"""Tests that the handlers still have the usage that `cardsharp cost` multiplies by prices."""

import pytest
from support.cost_measurement import measure_arena_match, measure_game, open_bot

from cardsharp.play.catalog import all_games
from cardsharp_tools.costs.model import ActivityUsage, load_measured

RELATIVE_TOLERANCE = 0.3  # how much the means of a few matches may differ


def assert_usage_equal(usage: ActivityUsage, stored: ActivityUsage) -> None:
    """Assert equal usage, apart from the processor time, which depends on the machine."""
    ignored_fields = {"cpu_seconds"}
    assert usage.model_dump(exclude=ignored_fields) == pytest.approx(
        stored.model_dump(exclude=ignored_fields), rel=RELATIVE_TOLERANCE, abs=1
    )


@pytest.mark.slow
def test_the_bot_uses_as_much_as_was_measured() -> None:
    measured = load_measured()
    with open_bot() as bot:
        assert_usage_equal(bot.measure_idle_minute(), measured.idle_minute)
        assert_usage_equal(bot.measure_match(4), measured.bot_match)


@pytest.mark.slow
def test_a_match_at_the_arena_uses_as_much_as_was_measured() -> None:
    assert_usage_equal(measure_arena_match(3), load_measured().arena_match)


@pytest.mark.slow
def test_a_game_at_each_service_uses_as_much_as_was_measured() -> None:
    games = {game.name: game for game in all_games() if game.play_typical_match is not None}
    measured = load_measured().games
    assert measured.keys() == games.keys()
    for name, game in games.items():
        assert_usage_equal(measure_game(game, 3), measured[name])
