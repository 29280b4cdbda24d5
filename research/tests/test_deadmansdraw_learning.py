"""What is learned of opponents: the twins it is measured by, and how often it is wrong."""

import json
from array import array
from collections.abc import Sequence
from ctypes import Structure
from functools import partial
from math import exp
from pathlib import Path
from random import Random

import pytest

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, build
from cardsharp.deadmansdraw.strategies.adaptive_belief import MEASURES, SLIP, Belief, Entry
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen
from cardsharp.deadmansdraw.strategies.choices import choices
from cardsharp.deadmansdraw.strategies.search import weights
from research.deadmansdraw.engine import Engine
from research.deadmansdraw.learner import STRANGERS, met, stranger
from research.deadmansdraw.specialist import GAIN, MOST_PAIRS
from research.deadmansdraw.training import Settings, Training
from research.tests.decisions import assert_alike, code_of, needs_compiler
from research.tests.test_deadmansdraw_opponents import assert_equal
from workbench.deadmansdraw.learning import LEAST, Bets, Learned, fitted
from workbench.lab.plan import Plan
from workbench.lab.sprt import ERROR, Sequential


def shown(name: str, matches: int) -> list[Sequence[Seen]]:
    """What a stranger decides in its first matches."""
    return [met(STRANGERS[name], number).seen for number in range(matches)]


@pytest.mark.parametrize("name", STRANGERS)
def test_a_compiled_stranger_decides_as_the_plain_one_does(engine: Engine, name: str) -> None:
    style = STRANGERS[name]
    assert_alike(stranger(engine, style), lambda _rng: style, 5)


@needs_compiler
def test_who_plays_by_a_learned_file_plays_the_same_in_both_engines(tmp_path: Path) -> None:
    entry = fitted("draw-2", [one for match in shown("gambler", 4) for one in match])
    text = (weights.FOLDER / "adaptive-scripted.json").read_text("utf-8")
    file = tmp_path / "learned.json"
    learned = Learned(opponents=[entry], weights={entry.weights: json.loads(text)})
    file.write_text(learned.model_dump_json(), "utf-8")
    assert_equal(Plan(first=str(file), second="champion", pairs=1, seed=3))


def test_an_equal_is_promoted_in_less_than_one_case_in_twenty() -> None:
    """Captain's own matches, drawn anew 100 times: the bet on its gifts is all but never won."""
    dice = Random(1)
    played = [met(build("captain", dice), number) for number in range(20)]
    entry = fitted("captain", [one for match in played[:LEAST] for one in match.seen])
    won = 0
    for _ in range(100):
        bets, later = Bets(entry), iter(dice.choices(played, k=30))
        while not bets.won and (match := next(later, None)):
            bets.take(match)
        won += bets.won
    assert won <= ERROR * 100


class Likeness:
    """Decides by an entry's figures, as `native/fitted.c` does."""

    def __init__(self, entry: Entry, rng: Random) -> None:
        self.entry, self.rng = entry, rng

    def decide(self, position: Position) -> Decision:
        actions = sorted(position.legal_actions(), key=code_of)
        pending = position.pending
        kraken = pending is not None and pending.effect_type is EffectType.KRAKEN
        if DRAW in actions and (kraken or END_TURN not in actions):
            return Decision(DRAW, "It must.")
        left = self.rng.random()
        for action in actions:
            left -= self.chance(Seen(position, action))
            if left < 0:
                break
        return Decision(action, "It is like that.")

    def chance(self, seen: Seen) -> float:
        """What the belief thinks of an action, slips left out."""
        belief = Belief((self.entry,))
        belief.see(seen)
        thought = exp(belief.evidence[0].likelihood)
        if (pending := seen.position.pending) is None:
            return thought
        oracle = pending.effect_type is EffectType.ORACLE
        options = 3 if oracle else len(choices(seen.position))
        return (thought - SLIP / options) / (1 - SLIP)


@pytest.mark.parametrize(
    ("name", "by"), [*zip(("counter", "saver", "gambler"), MEASURES, strict=True)]
)
def test_a_compiled_likeness_decides_as_the_belief_thinks(
    engine: Engine, name: str, by: str
) -> None:
    """Whatever its stops go by; with a taste for the dearest, or for a suit."""
    entry = fitted(name, [one for match in shown(name, 4) for one in match])
    assert entry.by == by
    assert_alike(engine.fitted(entry), partial(Likeness, entry), 5)


def promoted(gain: float, times: int) -> int:
    """How often weights pass the test that gain so much a match; two matches in four are equal."""
    dice, passed = Random(2), 0
    for _ in range(times):
        test = Sequential(elo1=GAIN)
        while test.number < MOST_PAIRS and not test.ended:
            more = dice.random() < 2 * gain
            test.take([0.5 + (1 if more else dice.choice((-1, -1, 0, 0, 0, 0, 1, 1))) / 4])
        passed += test.ended and test.ratio > 0
    return passed


def test_weights_that_gain_nothing_pass_in_less_than_one_case_in_twenty_a_point_in_most() -> None:
    assert promoted(0.0, 200) <= ERROR * 200
    assert promoted(0.01, 20) >= 0.7 * 20


def test_who_takes_the_dearest_card_is_known_by_it() -> None:
    """Of its answers to later matches each is thought likelier than not, whatever its suit."""
    seen = shown("gambler", 8)
    belief = Belief((fitted("gambler", [one for match in seen[:5] for one in match]),))
    answers = [one for match in seen[5:] for one in match if one.position.pending]
    belief.see_all(answers)
    assert exp(belief.evidence[0].likelihood / len(answers)) > 0.5


def test_a_best_reply_is_trained_on_what_the_learner_thinks(engine: Engine) -> None:
    """Each match begins with that belief anew, and the specialist plays as far as it may."""
    adaptive = engine.twin("adaptive")
    belief = adaptive.belief()
    engine.play((adaptive, engine.twin("draw-3")), 1, [0], beliefs=[belief, None])

    def trained(belief: Structure | None) -> "array[float]":
        training = Training(engine, Settings(matches=4, batch=4), 1, adaptive, belief)
        training.batch()
        return training.numbers

    assert trained(belief) == trained(belief) != trained(None)
