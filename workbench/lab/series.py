"""Series of matches by the compiled engine: what `play_series` is in plain Python.

A player of the engine is a policy; `adaptive` besides keeps a book of known opponents, and its
belief goes from match to match in a series (native/belief.c).
"""

from collections.abc import Sequence
from ctypes import POINTER, Structure, c_double, c_int32, c_int64, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache

from cardsharp.deadmansdraw.strategies.adaptive import file_of
from cardsharp.deadmansdraw.strategies.adaptive_belief import GENERAL, Entry, known_opponents
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.weights import model
from workbench.lab import native
from workbench.lab.native import Engine, NativePolicy
from workbench.lab.players import NO_ENDGAME, WITHOUT_ENDGAME
from workbench.lab.selfplay import MatchResult, Pair

ADAPTIVE = "adaptive"
_MOST_ENTRIES, _MOST_WEIGHTS = 32, 16
_LEARNED = -1.0


class _Entry(Structure):
    """`Entry` of belief.h."""

    _fields_ = (
        ("weights", c_int32),
        ("stranger", c_int32),
        ("stop_chance", c_double),
        ("stops", c_void_p),
        ("answers", c_void_p),
    )


class _Book(Structure):
    """`Book` of belief.h."""

    _fields_ = (
        ("entries", c_int32),
        ("players", c_int32),
        ("entry", _Entry * _MOST_ENTRIES),
        ("player", c_void_p * _MOST_WEIGHTS),
    )


class _Result(Structure):
    """`Result` of core.h."""

    _fields_ = (
        ("points", c_double),
        ("scores", c_int32 * 2),
        ("turns", c_int32 * 2),
        ("actions", c_int32 * 2),
        ("busts", c_int32 * 2),
    )


@dataclass(frozen=True, slots=True)
class Twin:
    """The compiled twin of a strategy; `book` is that of a player who keeps a belief."""

    policy: NativePolicy
    book: _Book | None = None


@cache
def twin(name: str) -> Twin | None:
    """The compiled twin of a strategy, None where there is none or no compiler."""
    engine = native.load()
    if engine is None:
        return None
    try:
        if name == WITHOUT_ENDGAME:
            return Twin(engine.captain(model(WEIGHTS).numbers, NO_ENDGAME))
        if name != ADAPTIVE:
            return Twin(engine.policy(name))
        book = _book(engine, known_opponents())
        return None if book is None else Twin(engine.policy(WEIGHTS), book)
    except KeyError:
        return None


def play_compiled(names: tuple[str, str], seed: int, numbers: Sequence[int]) -> list[Pair]:
    """The consecutive pairs of one series, in whichever process it is called."""
    engine, players = native.load(), [twin(name) for name in names]
    if engine is None or players[0] is None or players[1] is None:
        raise RuntimeError("The compiled engine is there no more; use --plain.")
    policies = (c_void_p * 2)(*(player.policy.address for player in players if player))
    books = (POINTER(_Book) * 2)()
    for place, player in enumerate(players):
        if player is not None and player.book is not None:
            books[place].contents = player.book
    results = (_Result * (2 * len(numbers)))()
    play = engine.library.play_series
    play.argtypes = (
        c_void_p * 2,
        POINTER(_Book) * 2,
        c_uint64,
        c_uint64,
        c_int64,
        c_int64,
        POINTER(_Result),
    )
    play.restype = None
    play(policies, books, seed, numbers[0], len(numbers), len(numbers), results)
    found = [_match(result) for result in results]
    return list(zip(found[::2], found[1::2], strict=True))


def _match(result: _Result) -> MatchResult:
    winner = None if result.points == 0.5 else int(result.points == 0)  # noqa: PLR2004 (a tie)
    figures = (tuple(getattr(result, name)) for name in ("turns", "actions", "busts"))
    return MatchResult(tuple(result.scores), winner, *figures)


def _book(engine: Engine, entries: Sequence[Entry]) -> _Book | None:
    """The book of `entries`, None where the engine has no twin of what one of them holds."""
    weights = list(dict.fromkeys((GENERAL, *(entry.weights for entry in entries))))
    book = _Book(entries=len(entries), players=len(weights))
    for place, entry in enumerate(entries):
        if isinstance(entry.stops, tuple) or isinstance(entry.answers, dict):
            return None
        stops, answers = entry.stops, entry.answers
        book.entry[place] = _Entry(
            weights=weights.index(entry.weights),
            stranger=stops is None and answers is None,
            stop_chance=stops if isinstance(stops, float) else _LEARNED,
            stops=engine.policy(stops).address if isinstance(stops, str) else None,
            answers=None if answers is None else engine.policy(answers).address,
        )
    for place, name in enumerate(weights):
        book.player[place] = engine.captain(model(file_of(name)).numbers).address
    return book
