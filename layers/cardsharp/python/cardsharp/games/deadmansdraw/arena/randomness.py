"""Random numbers of the arena: seeds, shuffles and picks from the discard pile.

Both modes can be reproduced from the seed of a match. With `FAIR` the sequence continues
through the match, so nothing that was seen predicts what follows. `ORIGINAL` repeats the
numbers of the competition server, which restart with every request (docs/spec/arena.md section
8): a match recorded there can be replayed here.
"""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from itertools import islice

from cardsharp.games.deadmansdraw.cards import Card

NO_RANDOM_SEED = "norandom"  # the seed that always takes the first (docs/spec/arena.md section 8)


class RandomnessMethod(StrEnum):
    """Method by which a match derives its random numbers from its seed."""

    FAIR = "fair"
    ORIGINAL = "original"


class SeededDraws:
    """Random draws of a match from a given draw on; a `CardPicker` of the rules."""

    def __init__(self, random_below: Callable[[int, int], int], draws_used: int = 0) -> None:
        self._random_below = random_below
        self.used = draws_used

    def randrange(self, limit: int) -> int:
        """The next number, at least 0 and below `limit`."""
        number = self._random_below(self.used, limit)
        self.used += 1
        return number

    def __call__(self, pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
        """`number` cards of `pile` in the order in which they are picked."""
        rest = list(pile)
        return tuple(rest.pop(self.randrange(len(rest))) for _ in range(number))

    def shuffled(self, deck: tuple[Card, ...]) -> tuple[Card, ...]:
        """All of `deck` in the order in which they are picked."""
        return self(deck, len(deck))


def seeded_draws(seed: str, randomness: RandomnessMethod, draws_used: int = 0) -> SeededDraws:
    """Return the random draws of a request, after `draws_used` draws of the match.

    The first draw of a match shuffles its draw pile.
    """
    is_restarted = randomness is RandomnessMethod.ORIGINAL
    return SeededDraws(_create_random_below(seed, randomness), 0 if is_restarted else draws_used)


def new_seed() -> str:
    """Return an unpredictable seed in the form of the original's server: 17 decimal digits."""
    return str(10**16 + secrets.randbelow(9 * 10**16))


def _create_random_below(seed: str, randomness: RandomnessMethod) -> Callable[[int, int], int]:
    if seed == NO_RANDOM_SEED:
        return lambda _index, _limit: 0
    if randomness is RandomnessMethod.ORIGINAL:
        return lambda index, limit: int(limit * _draw_original_fraction(seed, index))
    return lambda index, limit: _draw_fair_number(seed, index) % limit


def _draw_fair_number(seed: str, index: int) -> int:
    """Return random number `index` of `seed`: 256 bits, so that a remainder favours no card.

    A hash of a counter needs no state, so a match goes on after a restart from its count
    alone.
    """
    hash_input = f"{index}:{seed}".encode()
    return int.from_bytes(sha256(hash_input).digest())


def _draw_original_fraction(seed: str, index: int) -> float:
    numbers, sequence = _cached_alea_sequence(seed)
    sequence += islice(numbers, max(0, index + 1 - len(sequence)))
    return sequence[index]


@lru_cache(maxsize=2048)
def _cached_alea_sequence(seed: str) -> tuple[Iterator[float], list[float]]:
    """Return the generator of a seed, and the list of its numbers so far.

    It is cached: seeding takes a millisecond, and every request begins with the same numbers.
    """
    return alea_fractions(seed), []


# --- the generator behind the original's seeds -----------------------------------------------
#
# Gibson's multiply-with-carry generator: only what `range(n)` of the npm package `random-seed`
# 0.3.0 needs, written after the algorithm's public-domain description; docs/spec/arena.md section 8
# names it as the one the competition's server uses. All arithmetic is that of JavaScript's numbers,
# which are Python's floats.

ALEA_ORDER = 48
CARRY_UNIT = 2.0**-32
MULTIPLIER = 1768863
MASH_START = float(0xEFC8249D)
MASH_FACTOR = 0.02519603282416938
UINT32 = 0xFFFFFFFF

_WHITESPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_IGNORED_PATTERN = re.compile(f"^[{_WHITESPACE}]*|[{_WHITESPACE}]*$|[\\x00-\\x1f]")


def _create_mash() -> Callable[[Iterable[int]], float]:
    """Return Baagøe's string hash as a function of a text.

    The function returns a fraction, and every text that it is fed changes its state.
    """
    state = MASH_START

    def feed(codes: Iterable[int]) -> float:
        nonlocal state
        for code in codes:
            state += code
            product = MASH_FACTOR * state
            integer = int(product) & UINT32
            product = (product - integer) * integer
            integer = int(product) & UINT32
            state = integer + (product - integer) * 2.0**32
        return (int(state) & UINT32) * CARRY_UNIT

    return feed


def _seed_alea_state(seed: str) -> list[float]:
    mash = _create_mash()
    entropy = [mash(b" ") for _ in range(ALEA_ORDER)]
    raw = _IGNORED_PATTERN.sub("", seed).encode("utf-16-le")  # what JavaScript's `charCodeAt` sees
    units = [int.from_bytes(raw[at : at + 2], "little") for at in range(0, len(raw), 2)]
    mash(units)
    for unit in units:
        digits = str(unit).encode()
        for slot in range(ALEA_ORDER):
            entropy[slot] -= mash(digits)
            if entropy[slot] < 0:
                entropy[slot] += 1
    return entropy


def alea_fractions(seed: str) -> Iterator[float]:
    """The endless numbers in [0, 1) of `seed`; `range(n)` is the floor of n times the next."""
    entropy = _seed_alea_state(seed)
    carry, phase = 1, ALEA_ORDER

    def raw() -> float:
        nonlocal carry, phase
        phase = 0 if phase + 1 >= ALEA_ORDER else phase + 1
        product = MULTIPLIER * entropy[phase] + carry * CARRY_UNIT
        carry = int(product)
        entropy[phase] = product - carry
        return entropy[phase]

    while True:
        high = raw()
        yield high + int(raw() * 0x200000) * 2.0**-53
