"""The generator behind the original's seeds: Gibson's multiply-with-carry generator.

Only what `range(n)` of the npm package `random-seed` 0.3.0 needs, written after the algorithm's
public-domain description; docs/spec/arena.md section 8 names it as the one the competition's server
uses. All arithmetic is that of JavaScript's numbers, which are Python's floats.
"""

import re
from collections.abc import Iterable, Iterator

ORDER = 48
CARRY_UNIT = 2.0**-32
MULTIPLIER = 1768863
MASH_START = float(0xEFC8249D)
MASH_FACTOR = 0.02519603282416938
UINT32 = 0xFFFFFFFF

_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_IGNORED = re.compile(f"^[{_SPACE}]*|[{_SPACE}]*$|[\\x00-\\x1f]")


class _Mash:
    """Baagøe's string hash: a state that every text it is fed changes."""

    def __init__(self) -> None:
        self.state = MASH_START

    def feed(self, codes: Iterable[int]) -> float:
        """The hash after `codes`, as a fraction."""
        state = self.state
        for code in codes:
            state += code
            product = MASH_FACTOR * state
            whole = int(product) & UINT32
            product = (product - whole) * whole
            whole = int(product) & UINT32
            state = whole + (product - whole) * 2.0**32
        self.state = state
        return (int(state) & UINT32) * CARRY_UNIT


def _utf16_units(text: str) -> Iterator[int]:
    """The code units that JavaScript's `charCodeAt` sees."""
    raw = text.encode("utf-16-le")
    return (int.from_bytes(raw[at : at + 2], "little") for at in range(0, len(raw), 2))


def _seeded(seed: str) -> list[float]:
    mash = _Mash()
    entropy = [mash.feed(b" ") for _ in range(ORDER)]
    units = list(_utf16_units(_IGNORED.sub("", seed)))
    mash.feed(units)
    for unit in units:
        digits = str(unit).encode()
        for slot in range(ORDER):
            entropy[slot] -= mash.feed(digits)
            if entropy[slot] < 0:
                entropy[slot] += 1
    return entropy


def fractions(seed: str) -> Iterator[float]:
    """The endless numbers in [0, 1) of `seed`; `range(n)` is the floor of n times the next."""
    entropy = _seeded(seed)
    carry, phase = 1, ORDER

    def raw() -> float:
        nonlocal carry, phase
        phase = 0 if phase + 1 >= ORDER else phase + 1
        product = MULTIPLIER * entropy[phase] + carry * CARRY_UNIT
        carry = int(product)
        entropy[phase] = product - carry
        return entropy[phase]

    while True:
        high = raw()
        yield high + int(raw() * 0x200000) * 2.0**-53
