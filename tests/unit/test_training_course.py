"""Training: the same weights from the compiled engine and plain Python, however it is run."""

from array import array
from dataclasses import replace
from pathlib import Path

import pytest

from cardsharp.errors import ConfigError
from workbench.lab.native import load, why_not
from workbench.lab.training import Course, Settings, train
from workbench.lab.training.curve import Measured, draw_curve

SHORT = Settings(matches=8, batch=4, seed=3)
compiled = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@compiled
def test_plain_python_learns_the_same_to_the_last_bit() -> None:
    few = Settings(matches=2, batch=1, seed=5)
    plain = train(few)
    assert plain == train(few, Course(engine=load()))
    assert any(plain)


@compiled
def test_the_number_of_workers_changes_nothing() -> None:
    outcomes = [train(SHORT, Course(engine=load(), workers=workers)) for workers in (1, 3)]
    assert outcomes[0] == outcomes[1]


@compiled
def test_another_seed_learns_something_else() -> None:
    assert train(SHORT, Course(load())) != train(replace(SHORT, seed=4), Course(load()))


class _Stopped(Exception):
    """The training was interrupted."""


@compiled
def test_a_stopped_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    settings, file = Settings(matches=40, batch=2), tmp_path / "half"

    def stop(matches: int, _numbers: "array[int]") -> None:
        if matches == 20:
            raise _Stopped

    with pytest.raises(_Stopped):
        train(settings, Course(load(), checkpoint=file, watch=stop))
    seen: list[int] = []
    course = Course(load(), checkpoint=file, watch=lambda matches, _: seen.append(matches))
    assert train(settings, course) == train(settings, Course(load()))
    assert seen[0] == 22


@compiled
def test_the_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "checkpoint"
    train(SHORT, Course(load(), checkpoint=file))
    with pytest.raises(ConfigError, match="other settings"):
        train(replace(SHORT, seed=4), Course(load(), checkpoint=file))


@compiled
def test_a_little_training_beats_none() -> None:
    engine = load()
    assert engine is not None
    learned = engine.captain(train(Settings(matches=200, batch=20), Course(engine)))
    ignorant = engine.captain(array("i", bytes(4 * len(train(SHORT, Course(engine))))))
    pairs = engine.play_pairs((learned, ignorant), 1, 0, 30)
    assert sum(there.points + back.points for there, back in pairs) > 42


def test_matches_must_fill_batches() -> None:
    with pytest.raises(ValueError, match="multiple of the batch"):
        Settings(matches=150, batch=100)


def test_the_curve_shows_every_point() -> None:
    picture = draw_curve([Measured(1000, 60.0, 2.0), Measured(2000, 70.0, 2.0)])
    assert picture.count("<circle") == 2
    assert "against the champion" in picture
