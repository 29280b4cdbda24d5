"""A whole training: batch after batch, with checkpoints."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from research.deadmansdraw.engine import Engine
from research.deadmansdraw.training.knowledge import Knowledge, restore, save
from research.deadmansdraw.training.lessons import Lessons
from research.deadmansdraw.training.settings import Settings

CHECKPOINTS = 20
"""So many in a training."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a training is run; none of it changes the weights that come out.

    `watch` is called at every checkpoint with the number of matches played and the weights that
    would come out now.
    """

    workers: int = 1
    checkpoint: Path | None = None
    watch: Callable[[int, "array[int]"], None] | None = None


def train(engine: Engine, settings: Settings, course: Course | None = None) -> "array[int]":
    """The weights that a training with these settings ends with.

    Raises:
        ConfigError: the checkpoint is of another training.
        KeyError: the engine has no twin of the settings' opponent.
    """
    course = course or Course()
    path = course.checkpoint
    knowledge = Knowledge() if path is None else restore(settings, path)
    lessons = Lessons(engine, settings, course.workers)
    step = max(1, settings.batches // CHECKPOINTS)
    for number in range(knowledge.batches, settings.batches):
        lessons.batch(knowledge, number)
        knowledge.close_batch(counts=settings.averages(number))
        if knowledge.batches % step == 0:
            if path is not None:
                save(knowledge, settings, path)
            if course.watch is not None:
                course.watch(knowledge.batches * settings.batch, knowledge.average())
    return knowledge.average()
