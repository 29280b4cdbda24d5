"""What is learned of opponents: the twins it is measured by, and how often it is wrong."""

import json
from functools import partial
from pathlib import Path
from random import Random

import pytest

from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.strategies.adaptive_belief import MEASURES
from cardsharp.deadmansdraw.strategies.search import weights
from research.deadmansdraw.engine import load
from research.deadmansdraw.learner import met
from research.deadmansdraw.specialist import GAIN, MOST_PAIRS
from research.deadmansdraw.strangers import STRANGERS, Stranger, stranger
from research.tests.decisions import compiled_decisions, needs_compiler, plain_decisions
from research.tests.test_deadmansdraw_opponents import assert_equal
from workbench.deadmansdraw.learning import LEAST, Bets, Met, fitted
from workbench.lab.plan import Plan
from workbench.lab.sprt import ERROR, Sequential


@needs_compiler
@pytest.mark.parametrize("name", STRANGERS)
def test_a_compiled_stranger_decides_as_the_plain_one_does(name: str) -> None:
    engine = load()
    assert engine is not None
    style = STRANGERS[name]
    for number in range(5):
        compiled = compiled_decisions(stranger(engine, style), 11, number)
        plain = list(plain_decisions(partial(Stranger, style), 11, number))
        for (position, code), other in zip(plain, compiled, strict=True):
            assert code == other, position


@needs_compiler
@pytest.mark.parametrize("by", range(len(MEASURES)))
def test_who_plays_by_a_learned_file_plays_the_same_in_both_engines(
    tmp_path: Path, by: int
) -> None:
    """Whatever measure its stops go by: the counter's, the saver's or the gambler's."""
    name = ("counter", "saver", "gambler")[by]
    entry = fitted(
        "draw-2",
        [one for number in range(4) for one in met(Stranger(STRANGERS[name]), number).seen],
    )
    assert entry.by == MEASURES[by]
    text = (weights.FOLDER / "adaptive-scripted.json").read_text("utf-8")
    file = tmp_path / "learned.json"
    document = {
        "version": 1,
        "opponents": [
            {"name": entry.name, "weights": entry.weights, "by": entry.by}
            | {"stops": entry.stops, "answers": entry.answers}
        ],
        "weights": {entry.weights: json.loads(text)},
    }
    file.write_text(json.dumps(document), "utf-8")
    assert_equal(Plan(first=str(file), second="champion", pairs=1, seed=3))


def test_an_equal_is_promoted_in_less_than_one_case_in_twenty() -> None:
    """Captain's own matches, drawn anew 100 times: the bet on its gifts is all but never won."""
    dice = Random(1)
    played = [met(build("captain", dice), number) for number in range(20)]
    entry = fitted("captain", [one for match in played[:LEAST] for one in match.seen])
    won = 0
    for _ in range(100):
        bets = Bets(entry)
        won += any(take(bets, dice.choice(played)) for _ in range(30))
    assert won <= ERROR * 100


def take(bets: Bets, match: Met) -> bool:
    bets.take(match)
    return bets.won


def test_weights_that_gain_nothing_pass_the_test_in_less_than_one_case_in_twenty() -> None:
    """Differences of two players that are equally good."""
    dice, passed = Random(2), 0
    for _ in range(400):
        test = Sequential(GAIN)
        while test.number < MOST_PAIRS and not test.ended:
            test.take([0.5 + dice.choice((-1, -1, 0, 0, 0, 0, 1, 1)) / 4])
        passed += test.ended and test.ratio > 0
    assert passed <= ERROR * 400
