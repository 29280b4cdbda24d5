"""A bot that stands by: it looks at the leases, and asks the arena when the other has gone."""

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import poller.app
from workbench.stage.standby import StandbyPlace, place_at, standing_by


def assembly(store: str, user: str = "us", look: Any = None) -> Any:  # noqa: ANN401 - a stand-in
    settings = SimpleNamespace(store=store, arena_url="http://a", watch=timedelta(seconds=1))
    return SimpleNamespace(settings=settings, player_id=user, offering=SimpleNamespace(watch=look))


def test_one_has_the_place_until_it_ends(tmp_path: Path) -> None:
    here = assembly(f"sqlite:{tmp_path / 'm.db'}")
    with place_at(here) as mine:
        with place_at(here) as other:
            assert other.take()
            assert not mine.take()
            assert other.take()
        assert mine.take()


def test_other_players_and_other_logs_have_places_of_their_own(tmp_path: Path) -> None:
    with place_at(assembly(f"sqlite:{tmp_path / 'm.db'}")) as mine:
        assert mine.take()
        for other in (
            assembly(f"sqlite:{tmp_path / 'm.db'}", "them"),
            assembly(f"sqlite:{tmp_path / 'other.db'}"),
            assembly("dynamodb:table"),
        ):
            with place_at(other) as theirs:
                assert theirs.take()


class Free(StandbyPlace):
    """A place that is free after it was asked for so many times."""

    def __init__(self, after: int) -> None:
        super().__init__(None)
        self.asked, self._after = 0, after

    def take(self) -> bool:
        self.asked += 1
        return self.asked > self._after


@pytest.mark.parametrize("after", [0, 3])
def test_the_leases_are_looked_at_until_the_place_is_free_and_never_again(
    monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Also where it got free before the first look."""
    done: list[str] = []

    def look(_every: timedelta, left: Any) -> int:  # noqa: ANN401 - a function
        done.append("looked")
        while left():
            pass
        return 0

    def listen(_event: object, _context: object) -> None:
        done.append("listened")

    monkeypatch.setattr(poller.app, "handler", listen)
    context: Any = SimpleNamespace(get_remaining_time_in_millis=lambda: 60_000)
    handler = standing_by(assembly("", look=look), Free(after), lambda: done.append("took"))
    handler({}, context)
    handler({}, context)
    assert done == ["looked", "took", "listened", "listened"]
