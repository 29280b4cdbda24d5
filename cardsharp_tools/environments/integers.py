"""Integers of any type, such as Python's or numpy's, as arguments of the environments."""

from operator import index
from typing import SupportsIndex

import numpy as np


def as_integer(value: SupportsIndex, name: str, minimum: int = 0) -> int:
    """Return an integer of any type as Python's `int`.

    An error message calls it `name`. Raises `TypeError` for a value that is not an integer, such as
    `True` or 3.0, and `ValueError` for an integer below `minimum`.
    """
    is_integer = hasattr(value, "__index__") and not isinstance(value, bool | np.bool_)
    try:
        number = index(value) if is_integer else None
    except TypeError:  # an array of several numbers
        number = None
    if number is None:
        raise TypeError(f"{name} must be a whole number such as 3, not {value!r}.")
    if number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {number}.")
    return number


def as_seed(seed: SupportsIndex | None) -> int | None:
    """Return a seed as Python's `int`, or None if there is none; raise as `as_integer` does."""
    return None if seed is None else as_integer(seed, "The seed")


def as_seat_count(seats: SupportsIndex | None) -> int | None:
    """Return a number of seats as `int`, or None for the game's usual number."""
    return None if seats is None else as_integer(seats, "The number of seats")
