"""Gradient descent on the log-loss, one sample after the other: `learn` of train.c in Python.

Rarely seen weights take larger steps (Adagrad). Every sum is taken in the order of the C code.
"""

from array import array
from collections.abc import Iterable, Iterator
from math import sqrt

from cardsharp.deadmansdraw.strategies.search.model import (
    KEYS,
    KNOT_PARTS,
    KNOTS,
    LYING,
    MOST_LEAD,
    MOVER,
    OTHER,
    PILE,
    SIZES,
    STARTS,
    TOPS,
    Model,
    chance_of,
    knot_of,
    lead_index,
    table_index,
)
from cardsharp.deadmansdraw.strategies.search.sets import RANKS
from workbench.lab.training.knowledge import Knowledge, whole
from workbench.lab.training.samples import Sample


def learn(
    knowledge: Knowledge, weights: "array[int]", samples: Iterable[Sample], rate: float
) -> None:
    """One step for each sample; `weights` follow the numbers of `knowledge`."""
    teacher = Teacher(knowledge, weights, rate)
    for sample in samples:
        if sample.is_turn:
            teacher.learn_turn(sample)
        else:
            teacher.learn_drawing_on(sample)


class SuitState:
    """What a sample's key says of one suit: tops (0: none) and numbers by place."""

    __slots__ = ("lies", "numbers", "places", "suit", "tops")

    def __init__(self, key: int) -> None:
        lies, key = divmod(key, LYING)
        self.lies = bool(lies)
        self.suit, key = divmod(key, KEYS)
        self.places = tuple(key >> 2 * rank & 3 for rank in range(RANKS))
        self.tops, self.numbers = [0, 0, 0, 0], [0, 0, 0, 0]
        for rank, place in enumerate(self.places):
            self.tops[place] = rank + 1
            self.numbers[place] += 1


class Teacher:
    """Moves weights; their whole-number twins follow at once."""

    def __init__(self, knowledge: Knowledge, weights: "array[int]", rate: float) -> None:
        self.numbers, self.squares = knowledge.numbers, knowledge.squares
        self.weights = weights
        self.rate = rate
        self.model = Model(weights)

    def move(self, at: int, gradient: float) -> None:
        """Move one weight against its gradient."""
        self.squares[at] += gradient * gradient
        self.numbers[at] -= self.rate * gradient / sqrt(self.squares[at])
        self.weights[at] = whole(self.numbers[at])

    def learn_turn(self, sample: Sample) -> None:
        """A step for V."""
        model, left = self.model, sample.left
        self._forget(left)
        sums = model.sums(list(sample.keys), left)
        lead = sums[1]
        error = chance_of(model.log_odds(sums, left, sample.known)) - sample.target
        knot, part = knot_of(left)
        share = part / KNOT_PARTS
        if part < KNOT_PARTS:
            self._move_knot(sample, lead, knot, error * (1.0 - share))
        if part > 0:
            self._move_knot(sample, lead, knot + 1, error * share)
        row = left * (2 * MOST_LEAD + 1)
        self.move(STARTS["lead"] + row + lead_index(lead), error)

    def learn_drawing_on(self, sample: Sample) -> None:
        """A step for D."""
        model = self.model
        self._forget(sample.left)
        on = model.sums(list(sample.keys), sample.left)[2]
        whole_turn = tuple(_whole_turn(sample))
        on += sum(self.weights[at] for at in whole_turn)
        chance = chance_of(on * KNOT_PARTS - sample.stop_sum)
        safe = 1.0 - sample.bust_chance
        target = (sample.target - sample.bust_chance * sample.bust) / safe
        gradient = safe * (chance - target)
        for at in (*_suits_on(sample), *whole_turn):
            self.move(at, gradient)

    def _forget(self, left: int) -> None:
        """The sums in memory are of weights that have moved since."""
        self.model.parts[left].clear()
        self.model.frames[left].clear()

    def _move_knot(self, sample: Sample, lead: int, knot: int, gradient: float) -> None:
        for at in _suits_at(sample, knot):
            self.move(at, gradient)
        if sample.known >= 0:
            self.move(_at_knot("known", knot) + sample.known, gradient)
        if lead:
            self.move(_at_knot("slope", knot), gradient * lead)
        self.move(_at_knot("base", knot), gradient)


def _at_knot(part: str, knot: int) -> int:
    return STARTS[part] + knot * (SIZES[part] // len(KNOTS))


def _suits_at(sample: Sample, knot: int) -> Iterator[int]:
    """The weights of V that a knot has for the suits."""
    table, place = _at_knot("table", knot), _at_knot("place", knot)
    for key in sample.keys:
        state = SuitState(key)
        yield table + table_index(state.suit, state.tops)
        for rank, at in enumerate(state.places):
            if at:
                yield place + (state.suit * RANKS + rank) * 3 + at - 1


def _suits_on(sample: Sample) -> Iterator[int]:
    """The weights of D for the suits."""
    for key in sample.keys:
        state = SuitState(key)
        suit, tops, unseen = state.suit, state.tops, state.numbers[PILE]
        if state.lies:
            yield STARTS["lying"] + (suit * TOPS + tops[OTHER]) * TOPS + unseen
        else:
            swapped = [0, tops[OTHER], tops[MOVER], tops[PILE]]
            yield STARTS["wanted"] + table_index(suit, swapped)
            yield STARTS["unseen"] + suit * TOPS + unseen


def _whole_turn(sample: Sample) -> Iterator[int]:
    """The weights of D for the turn as a whole."""
    yield STARTS["size"] + sample.size
    yield STARTS["left"] + sample.left
    yield STARTS["risk"] + sample.risk
    yield STARTS["hope"] + sample.hope
