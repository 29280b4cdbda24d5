"""Attacks on generators of random numbers: the seed of a match from what a player gets.

This file is also copied beside strategy files of tests, so it imports only Python's own modules.
"""

from collections.abc import Iterator
from hashlib import sha512
from random import Random

_MASK32, _WORDS = (1 << 32) - 1, 624
_MASK64, _STEP = (1 << 64) - 1, 0x9E3779B97F4A7C15
_MAX_TEXT_WORDS = 60  # words of a seed's text and its SHA-512 digest that are tried


def find_seeds(rng: Random) -> list[object]:
    """Return the seeds of the match that a generator gives away: texts, or numbers of runs."""
    text = text_of_twister_state(rng.getstate())
    found: list[object] = [] if text is None else [text]
    state = getattr(rng, "state", None)
    if state is None:  # not told, but each number of 64 bits tells the state
        state = (_unmix(rng.getrandbits(64)) - _STEP) & _MASK64
    return [*found, *seeds_of_splitmix_state(state)]


def text_of_twister_state(state: tuple[object, ...]) -> str | None:
    """Return the text with which a Mersenne Twister was seeded, from its first state."""
    words = list(state[1])  # type: ignore[call-overload]
    if len(words) != _WORDS + 1 or words.pop() != _WORDS:
        return None
    keys = _key_sums(words)
    for length in range(17, _MAX_TEXT_WORDS):
        key: dict[int, int] = {}
        for index, key_sum in keys.items():
            offset = (index - 1) % length
            word = (key_sum - offset) & _MASK32
            if key.setdefault(offset, word) != word:
                break
        else:
            number = sum(word << (32 * offset) for offset, word in key.items())
            raw = number.to_bytes((number.bit_length() + 7) // 8)
            if sha512(raw[:-64]).digest() == raw[-64:]:
                return raw[:-64].decode()
    return None


def _key_sums(words: list[int]) -> dict[int, int]:
    """Undo the two passes of `init_by_array`; return what the first one has added to each word."""
    words[1] = ((words[1] + 1) & _MASK32) ^ _spread(words[_WORDS - 1], 1566083941)
    for index in (*range(_WORDS - 1, 2, -1), 2):
        words[index] = ((words[index] + index) & _MASK32) ^ _spread(words[index - 1], 1566083941)
    base = [19650218]
    for index in range(1, _WORDS):
        base.append((1812433253 * (base[-1] ^ (base[-1] >> 30)) + index) & _MASK32)
    return {
        index: (words[index] - (base[index] ^ _spread(words[index - 1], 1664525))) & _MASK32
        for index in range(3, _WORDS)
    }


def _spread(word: int, factor: int) -> int:
    return ((word ^ (word >> 30)) * factor) & _MASK32


def seeds_of_splitmix_state(state: int) -> Iterator[int]:
    """Yield the seeds of runs from which the lab derives a stream with this state."""
    for purpose in range(5):
        for pair_number in range(10):
            second = (_unmix(state) - _STEP) & _MASK64
            first = (_unmix((second - purpose) & _MASK64) - _STEP) & _MASK64
            seed = (_unmix((first - pair_number) & _MASK64) - _STEP) & _MASK64
            if seed < 1 << 32:  # any other is a random number
                yield seed


def _unmix(mixed: int) -> int:
    """Return the number that SplitMix64 mixes to this one."""
    mixed = _undo_shift(mixed, 31) * pow(0x94D049BB133111EB, -1, 1 << 64) & _MASK64
    mixed = _undo_shift(mixed, 27) * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & _MASK64
    return _undo_shift(mixed, 30)


def _undo_shift(number: int, shift: int) -> int:
    undone = number
    for _ in range(64 // shift):
        undone = number ^ (undone >> shift)
    return undone
