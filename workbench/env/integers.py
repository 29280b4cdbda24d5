"""Whole numbers of any type, such as Python's or numpy's, at the entries of the environments."""

from operator import index
from typing import SupportsIndex

import numpy as np


def whole_number(value: SupportsIndex, name: str, least: int = 0) -> int:
    """Return a whole number as Python's `int`; `name` says in an error what it is.

    Raises `TypeError` for what is no whole number, such as `True` or 3.0, and `ValueError` for one
    below `least`.
    """
    is_whole = hasattr(value, "__index__") and not isinstance(value, bool | np.bool_)
    try:
        number = index(value) if is_whole else None
    except TypeError:  # an array of several numbers
        number = None
    if number is None:
        raise TypeError(f"{name} must be a whole number such as 3, not {value!r}.")
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}.")
    return number


def seed_number(seed: SupportsIndex | None) -> int | None:
    """Return a seed as Python's `int`, None where there is none; raises as `whole_number`."""
    return None if seed is None else whole_number(seed, "The seed")


def seat_count(seats: SupportsIndex | None) -> int | None:
    """Return a number of seats, None for a game's usual one; raises as `whole_number`."""
    return None if seats is None else whole_number(seats, "The number of seats")
