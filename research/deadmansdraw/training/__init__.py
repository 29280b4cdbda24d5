"""How the captain learns: from matches against itself, or against an opponent that it is to beat.

Matches are played a batch at a time with the same weights, so that any number of threads gives
the same result; the weights then follow the batch's samples in the order of their matches. Each
sample's target is the mean over its next card (an expected backup), so nearly free of luck.
`native/train.c` does the work.
"""

from research.deadmansdraw.training.course import Course, train
from research.deadmansdraw.training.settings import Settings

__all__ = ["Course", "Settings", "train"]
