"""Training: the same weights, however it is run."""

from array import array
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from cardsharp.deadmansdraw.strategies.search.model import NUMBERS, Model
from cardsharp.errors import ConfigError
from research.deadmansdraw.engine import Engine
from research.deadmansdraw.training import Settings, train

SHORT = Settings(matches=8, batch=4, seed=3)


@pytest.mark.parametrize(
    ("settings", "digest"),
    [
        (Settings(matches=2, batch=1, seed=5), "a52022262a88941a"),
        (Settings(matches=20, batch=4, seed=3, opponent="champion"), "67b956674506a08a"),
    ],
)
def test_what_is_learned_is_what_it_always_was(
    engine: Engine, settings: Settings, digest: str
) -> None:
    """To the last bit; the first was learned by an implementation in plain Python as well."""
    assert sha256(train(engine, settings).tobytes()).hexdigest()[:16] == digest


def test_the_seed_and_not_the_number_of_workers_changes_what_is_learned(engine: Engine) -> None:
    alone = train(engine, SHORT, workers=1)
    assert train(engine, SHORT, workers=3) == alone
    assert train(engine, replace(SHORT, seed=4)) != alone


class _Stopped(Exception):
    """The training was interrupted."""


def test_a_stopped_training_goes_on_to_the_same_weights(engine: Engine, tmp_path: Path) -> None:
    settings, file = Settings(matches=40, batch=2), tmp_path / "half"

    def stop(matches: int, _numbers: "array[int]") -> None:
        if matches == 20:
            raise _Stopped

    with pytest.raises(_Stopped):
        train(engine, settings, checkpoint=file, watch=stop)
    seen: list[int] = []
    went_on = train(engine, settings, checkpoint=file, watch=lambda made, _: seen.append(made))
    assert went_on == train(engine, settings)
    assert seen[0] == 22
    with pytest.raises(ConfigError, match="of another run"):
        train(engine, replace(settings, seed=4), checkpoint=file)


def test_a_little_training_beats_none(engine: Engine) -> None:
    learned = engine.captain(Model(train(engine, Settings(matches=200, batch=20))))
    ignorant = engine.captain(Model(array("i", bytes(4 * NUMBERS))))
    pairs = engine.play((learned, ignorant), 1, range(30))
    assert sum(there.points + back.points for there, back in pairs) > 42


def test_matches_must_fill_batches() -> None:
    with pytest.raises(ValueError, match="multiple of the batch"):
        Settings(matches=150, batch=100)
