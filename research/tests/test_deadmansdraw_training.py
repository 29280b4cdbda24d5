"""Training: the same weights however it is run, and as good a network beside captain's tables."""

from array import array
from ctypes import byref
from dataclasses import replace
from hashlib import sha256
from math import exp, log1p
from pathlib import Path
from random import Random

import pytest

from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.layout import KEYS, ONE
from cardsharp.deadmansdraw.strategies.search.model import NUMBERS, Model
from cardsharp.deadmansdraw.strategies.search.sets import NO_CARD, SUITS
from cardsharp.deadmansdraw.strategies.search.weights import model
from cardsharp.errors import ConfigError
from research.compiling import declare
from research.deadmansdraw.engine import Engine
from research.deadmansdraw.network import (
    Example,
    NetworkCourse,
    NetworkOptions,
    network,
    read_network,
)
from research.deadmansdraw.training import Settings, train
from research.tests.decisions import compiled_options


@pytest.mark.parametrize(
    ("settings", "workers", "digest"),
    [
        (Settings(matches=2, batch=1, seed=5), 1, "a52022262a88941a"),
        (Settings(matches=20, batch=4, seed=3, opponent="champion"), 1, "67b956674506a08a"),
        (Settings(matches=20, batch=4, seed=3, opponent="champion"), 3, "67b956674506a08a"),
    ],
)
def test_what_is_learned_is_what_it_always_was(
    engine: Engine, settings: Settings, workers: int, digest: str
) -> None:
    """To the last bit; the first was learned by an implementation in plain Python as well."""
    learned = train(engine, settings, workers=workers)
    assert sha256(learned.tobytes()).hexdigest()[:16] == digest


def test_a_stopped_training_goes_on_to_the_same_weights(engine: Engine, tmp_path: Path) -> None:
    settings, file = Settings(matches=40, batch=2), tmp_path / "half"

    def stop(matches: int, _numbers: "array[int]") -> None:
        if matches == 20:
            raise InterruptedError

    with pytest.raises(InterruptedError):
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


# --- a network: its gradient, its beginning, and a course taken up again --------------------------


COURSE = NetworkOptions(matches=4, batch=2, pace=0.01)
STEP = 0.01


def example(dice: Random) -> Example:
    """A position, no matter whether it can come about."""
    keys = (*(dice.randrange(KEYS) for _ in range(SUITS)),)
    left, known, part = dice.randint(1, 50), dice.choice((NO_CARD, 17)), dice.randrange(2)
    return Example(keys, part, left, 5, dice.randrange(1 << SUITS), known, 0.3, 0.8, 0.7)


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_what_small_steps_say(engine: Engine, seed: int) -> None:
    """Of the weights that move the loss most, and of others; the search says the same."""
    dice, loss_of = Random(seed), declare(engine.library.network_loss, "PPP", "d")
    numbers = NetworkCourse(engine, COURSE).descent
    numbers = array("f", [dice.uniform(-0.2, 0.2) for _ in range(len(numbers) // 4)])
    gradient, one = array("f", bytes(4 * len(numbers))), example(dice)

    def loss(*, into: int | None = None) -> float:
        found: float = loss_of(numbers.buffer_info()[0], byref(one), into)
        return found

    loss(into=gradient.buffer_info()[0])
    ranked = sorted(range(len(numbers)), key=lambda at: -abs(gradient[at]))
    for at in (*ranked[:30], *dice.sample(ranked, 30)):
        kept, sides = numbers[at], list[float]()
        for step in (STEP, -STEP):
            numbers[at] = kept + step
            sides.append(loss())
        numbers[at] = kept
        slope = (sides[0] - sides[1]) / (2 * STEP)
        assert slope == pytest.approx(gradient[at], rel=0.05, abs=2e-3)
    assert max(map(abs, gradient)) > 0.05
    library = engine.library
    layer_sum = declare(library.layer_sum, "PPq", "q")
    layer = declare(library.layer_new, "P", "P")(numbers.buffer_info()[0])
    odds = one.odds + layer_sum(layer, byref(one), round(one.odds * ONE)) / ONE
    assert one.weight * (log1p(exp(odds)) - one.target * odds) == pytest.approx(loss(), rel=2e-3)


def test_before_it_has_learned_it_is_captain(engine: Engine) -> None:
    tables = Model(model(WEIGHTS).numbers)
    beginning = NetworkCourse(engine, COURSE).descent
    assert max(map(abs, beginning)) > 0
    plain, beside = engine.captain(tables), engine.captain(tables, network=beginning)
    assert compiled_options(beside, 5, 0) == compiled_options(plain, 5, 0)


def test_a_stopped_course_goes_on_to_the_same_network(engine: Engine, tmp_path: Path) -> None:
    at_once, stopped = tmp_path / "at-once", tmp_path / "stopped"
    network(at_once, options=COURSE)
    course = NetworkCourse(engine, COURSE)
    course.batch()
    course.save(stopped)
    network(stopped, options=COURSE)
    assert read_network(stopped).numbers == read_network(at_once).numbers
    assert any(read_network(stopped).numbers)
    with pytest.raises(ConfigError, match="of another run"):
        network(stopped, options=NetworkOptions(matches=4, batch=4))
