"""Where the arena's chance comes from: seeds, shuffles and picks from the discard pile.

Two ways, both repeatable from a match's seed. `FAIR` counts on through the match, so nothing
that was seen tells what comes. `ORIGINAL` repeats the competition server's numbers, which begin
again with every request (docs/spec/arena.md section 8): a match recorded there replays here.
"""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from itertools import islice

from cardsharp.deadmansdraw.cards import Card

NO_RANDOM = "norandom"  # the seed that always takes the first (docs/spec/arena.md section 8)


class Randomness(StrEnum):
    """How a match draws its chance from its seed."""

    FAIR = "fair"
    ORIGINAL = "original"


class Draws:
    """A match's chance from a given number of draws on; a `Chance` of the rules."""

    def __init__(self, below: Callable[[int, int], int], used: int = 0) -> None:
        self._below = below
        self.used = used

    def below(self, limit: int) -> int:
        """The next number, at least 0 and below `limit`."""
        number = self._below(self.used, limit)
        self.used += 1
        return number

    def __call__(self, pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
        """`number` cards of `pile` in the order in which they are picked."""
        rest = list(pile)
        return tuple(rest.pop(self.below(len(rest))) for _ in range(number))

    def shuffled(self, deck: tuple[Card, ...]) -> tuple[Card, ...]:
        """All of `deck` in the order in which they are picked."""
        return self(deck, len(deck))


def draws_of(seed: str, randomness: Randomness, used: int = 0) -> Draws:
    """The chance of a request after `used` draws of the match; the first makes its draw pile."""
    again = randomness is Randomness.ORIGINAL
    return Draws(_numbers(seed, randomness), 0 if again else used)


def new_seed() -> str:
    """A seed as the original's server makes them, 17 decimal digits that nobody can guess."""
    return str(10**16 + secrets.randbelow(9 * 10**16))


def _numbers(seed: str, randomness: Randomness) -> Callable[[int, int], int]:
    if seed == NO_RANDOM:
        return lambda _index, _limit: 0
    if randomness is Randomness.ORIGINAL:
        return lambda index, limit: int(limit * _original(seed, index))
    return lambda index, limit: _fair(seed, index) % limit


def _fair(seed: str, index: int) -> int:
    """Draw `index` of `seed`: 256 bits, so that taking a remainder favours no card.

    A hash of a counter needs no state, so a match goes on after a restart from its count alone.
    """
    text = f"{index}:{seed}".encode()
    return int.from_bytes(sha256(text).digest())


def _original(seed: str, index: int) -> float:
    numbers, made = _remembered(seed)
    made += islice(numbers, max(0, index + 1 - len(made)))
    return made[index]


@lru_cache(maxsize=2048)
def _remembered(seed: str) -> tuple[Iterator[float], list[float]]:
    """Seeding takes a millisecond, and every request begins with the same numbers."""
    return fractions(seed), []


# --- the generator behind the original's seeds -----------------------------------------------
#
# Gibson's multiply-with-carry generator: only what `range(n)` of the npm package `random-seed`
# 0.3.0 needs, written after the algorithm's public-domain description; docs/spec/arena.md section 8
# names it as the one the competition's server uses. All arithmetic is that of JavaScript's numbers,
# which are Python's floats.

ORDER = 48
CARRY_UNIT = 2.0**-32
MULTIPLIER = 1768863
MASH_START = float(0xEFC8249D)
MASH_FACTOR = 0.02519603282416938
UINT32 = 0xFFFFFFFF

_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_IGNORED = re.compile(f"^[{_SPACE}]*|[{_SPACE}]*$|[\\x00-\\x1f]")


def _mash() -> Callable[[Iterable[int]], float]:
    """Baagøe's string hash, as a fraction: every text it is fed changes its state."""
    state = MASH_START

    def feed(codes: Iterable[int]) -> float:
        nonlocal state
        for code in codes:
            state += code
            product = MASH_FACTOR * state
            whole = int(product) & UINT32
            product = (product - whole) * whole
            whole = int(product) & UINT32
            state = whole + (product - whole) * 2.0**32
        return (int(state) & UINT32) * CARRY_UNIT

    return feed


def _seeded(seed: str) -> list[float]:
    mash = _mash()
    entropy = [mash(b" ") for _ in range(ORDER)]
    raw = _IGNORED.sub("", seed).encode("utf-16-le")  # what JavaScript's `charCodeAt` sees
    units = [int.from_bytes(raw[at : at + 2], "little") for at in range(0, len(raw), 2)]
    mash(units)
    for unit in units:
        digits = str(unit).encode()
        for slot in range(ORDER):
            entropy[slot] -= mash(digits)
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
