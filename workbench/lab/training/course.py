"""A whole training: batch after batch, with checkpoints and a learning curve."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from workbench.lab.native import Engine
from workbench.lab.training.compiled import CompiledLessons
from workbench.lab.training.knowledge import Knowledge, restore, save
from workbench.lab.training.plain import PlainLessons
from workbench.lab.training.settings import Settings

CHECKPOINTS = 20
"""So many in a training."""


class Lessons(Protocol):
    """Plays a batch of matches and learns from it."""

    def batch(self, knowledge: Knowledge, number: int) -> None:
        """Play and learn batch `number`."""
        ...


@dataclass(frozen=True, slots=True)
class Course:
    """How a training is run; none of it changes the weights that come out.

    Without an `engine` plain Python does the work. `watch` is called at every checkpoint with the
    number of matches played and the weights that would come out now.
    """

    engine: Engine | None = None
    workers: int = 1
    checkpoint: Path | None = None
    watch: Callable[[int, "array[int]"], None] | None = None


def train(settings: Settings, course: Course | None = None) -> "array[int]":
    """The weights that a training with these settings ends with.

    Raises:
        ConfigError: the checkpoint is of another training, or there is no engine for an opponent.
    """
    course = course or Course()
    path = course.checkpoint
    knowledge = Knowledge() if path is None else restore(settings, path)
    lessons = _lessons(settings, course)
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


def _lessons(settings: Settings, course: Course) -> Lessons:
    if course.engine is None:
        return PlainLessons(settings)
    return CompiledLessons(course.engine, settings, course.workers)
