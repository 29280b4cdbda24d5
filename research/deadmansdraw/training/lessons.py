"""Lessons by the compiled engine: a batch of matches is played, and learned from."""

import ctypes
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import (
    Structure,
    addressof,
    byref,
    c_double,
    c_int,
    c_int8,
    c_int16,
    c_int32,
    c_int64,
    c_uint16,
    c_uint64,
    c_void_p,
)

from research.deadmansdraw.engine import Engine, Twin
from research.deadmansdraw.training.knowledge import Knowledge
from research.deadmansdraw.training.settings import Settings

MOST_SAMPLES = 400
"""Of one match, as in train.h."""


class _Playing(Structure):
    """`Playing` of train.h."""

    _fields_ = (("trust", c_double), ("exploration", c_double), ("replies", c_int))


class _Sample(Structure):
    """`Sample` of train.h."""

    _fields_ = (
        ("keys", c_int16 * 10),
        ("lying", c_uint16),
        *((name, c_int8) for name in ("left", "known", "size", "risk", "hope", "is_turn")),
        *((name, c_double) for name in ("target", "bust", "bust_chance")),
        ("stop_sum", c_int64),
    )


class Lessons:
    """Plays batches in threads, which do not hold the interpreter's lock.

    An opponent with a belief begins each match with that `belief`.

    Raises:
        KeyError: the engine has no twin of the settings' opponent.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        workers: int,
        opponent: Twin | None = None,
        belief: Structure | None = None,
    ) -> None:
        self.settings = settings
        self.workers = workers
        self.library = engine.library
        self.playing = _Playing(settings.trust, settings.exploration, settings.replies)
        if opponent is None and settings.opponent is not None:
            opponent = engine.twin(settings.opponent)
        self.opponent = None if opponent is None else opponent.policy
        self._belief = belief  # which holds the memory
        self.belief = None if belief is None else addressof(belief)
        self.samples = (_Sample * (MOST_SAMPLES * settings.batch))()
        self.numbers = (c_int32 * settings.batch)()
        matches = (c_uint64, c_uint64, c_int64)
        self.library.play_and_sample.argtypes = (*[c_void_p] * 4, *matches, *[c_void_p] * 2)
        self.library.play_and_sample.restype = None
        self.library.learn.argtypes = (*[c_void_p] * 4, c_int64, c_double)
        self.library.learn.restype = None

    def batch(self, knowledge: Knowledge, number: int) -> None:
        """Play batch `number` and learn from it."""
        weights = knowledge.weights()
        self._play(weights, number)
        self._learn(knowledge, weights, self.settings.rate(number))

    def _play(self, weights: "array[int]", number: int) -> None:
        first = number * self.settings.batch

        def play(places: Sequence[int]) -> None:
            self.library.play_and_sample(
                weights.buffer_info()[0],
                self.opponent,
                self.belief,
                byref(self.playing),
                self.settings.seed,
                first + places[0],
                len(places),
                byref(self.samples, places[0] * MOST_SAMPLES * ctypes.sizeof(_Sample)),
                byref(self.numbers, places[0] * ctypes.sizeof(c_int32)),
            )

        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(play, _shares(self.settings.batch, self.workers)))

    def _learn(self, knowledge: Knowledge, weights: "array[int]", rate: float) -> None:
        """In the order of the matches, so that the number of workers changes nothing."""
        for place in range(self.settings.batch):
            self.library.learn(
                knowledge.numbers.buffer_info()[0],
                knowledge.squares.buffer_info()[0],
                weights.buffer_info()[0],
                byref(self.samples, place * MOST_SAMPLES * ctypes.sizeof(_Sample)),
                self.numbers[place],
                rate,
            )


def _shares(number: int, workers: int) -> list[range]:
    """`number` places in consecutive shares, small enough that no worker waits long."""
    size = max(1, number // (4 * workers))
    return [range(at, min(at + size, number)) for at in range(0, number, size)]
