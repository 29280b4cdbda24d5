"""The engine in C as Python sees it: optional, and tested equal to plain Python.

How a policy plugs in stands in `native/core.h`: a C function from a `Table`, which holds only what
a player may know, to an action, named by `REGISTER_POLICY`. A player of the engine is a policy;
`adaptive` besides keeps a book of known opponents, and its belief goes from match to match
(`native/belief.c`). A call lets go of the interpreter lock, so threads use all cores.
"""

import ctypes
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from statistics import fmean

from cardsharp.deadmansdraw.actions import EffectType
from cardsharp.deadmansdraw.cards import SUIT_ORDER, Suit
from cardsharp.deadmansdraw.strategies.adaptive import CREDIT, MOST, file_of, learned_models
from cardsharp.deadmansdraw.strategies.adaptive_belief import (
    BUST,
    GENERAL,
    MEASURES,
    MOST_LYING,
    ORDERS,
    UNTRIED,
    Entry,
    known_opponents,
    parse_entries,
)
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.leaves import SHORT, SearchLimits
from cardsharp.deadmansdraw.strategies.search.model import Model
from cardsharp.deadmansdraw.strategies.search.network import FIELDS, HIDDEN, PARTS, Network
from cardsharp.deadmansdraw.strategies.search.sets import SUITS
from cardsharp.deadmansdraw.strategies.search.weights import model, read_weights
from cardsharp.errors import ConfigError
from cardsharp.text_files import read_json_text
from research.compiling import declare, members, why_not
from research.compiling import load as load_library
from workbench.deadmansdraw.lab import LAST
from workbench.lab.matches import TIMES
from workbench.strategy_file import is_own, is_trained, strategy_named

ADAPTIVE = "adaptive"
_MOST_ENTRIES, _MOST_WEIGHTS = 32, 16
_LEARNED = _NAMED = -1.0
_KINDS = (*SUIT_ORDER, BUST, *ORDERS)
_MOST = (1 << 15) - 1  # of the 16 bits of a network's weight as it ships


class _Limits(ctypes.Structure):
    """`Limits` of search.h."""

    _fields_ = tuple((field.name, ctypes.c_int) for field in fields(SearchLimits))


class _Entry(ctypes.Structure):
    """`Entry` of belief.h."""

    _fields_ = members("iidPPP", "weights stranger stop_chance stops answers fitted")


class _Fitted(ctypes.Structure):
    """`Fitted` of fitted.h."""

    _fields_ = members(
        "i..ddd",
        "by stops taste safe bust end",
        ctypes.c_double * 2 * MOST_LYING,
        ctypes.c_double * len(_KINDS) * SUITS,
    )


class _Book(ctypes.Structure):
    """`Book` of belief.h."""

    _fields_ = members(
        "ii..Pdd",
        "entries players entry player judge most credit",
        _Entry * _MOST_ENTRIES,
        ctypes.c_void_p * _MOST_WEIGHTS,
    )


class _Belief(ctypes.Structure):
    """`Belief` of belief.h."""

    _fields_ = members(
        ".i...d",
        "book number likelihood misses habits balance",
        ctypes.POINTER(_Book),
        ctypes.c_double * _MOST_ENTRIES,
        ctypes.c_int * _MOST_ENTRIES,
        ctypes.c_int * 2 * MOST_LYING,
    )


class _Tempering(ctypes.Structure):
    """`Tempering` of luck.h."""

    _fields_ = members("Pii", "judge last times")


class Result(ctypes.Structure):
    """`Result` of core.h: how a match ended; pairs hold the first player's figure, the second's."""

    _fields_ = members(
        "d....dd", "points scores turns actions busts again luck", *[ctypes.c_int32 * 2] * 4
    )


@dataclass(frozen=True, slots=True)
class Twin:
    """A player of the engine: its policy, and the book of one who keeps a belief."""

    policy: int
    book: _Book | None = None

    def belief(self) -> _Belief | None:
        """What is thought of an opponent of whom nothing was seen."""
        return None if self.book is None else _Belief(ctypes.pointer(self.book))


class Engine:
    """An opened library."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        declare(library.find_policy, "P", "P")
        declare(library.captain_new, "PPP", "P")
        declare(library.play_series, "PPQQqPP", "")
        declare(library.fitted_new, "P", "P")
        self._kept: list[_Fitted] = []

    def twin(self, name: str) -> Twin:
        """The twin of the strategy `name`; raises `KeyError` where there is none."""
        if name == WEIGHTS:
            return self.captain(model(WEIGHTS))
        if is_trained(name):
            strategy_named(name)  # says what is wrong with the file, if anything is
            text = read_json_text(Path(name))
            if "opponents" not in json.loads(text):
                return self.captain(read_weights(text))
            return self.adaptive(parse_entries(text), learned_models(text))
        if name == ADAPTIVE:
            return self.adaptive()
        return Twin(self._policy(name))

    def adaptive(
        self, more: Sequence[Entry] = (), learned: Mapping[str, Model] | None = None
    ) -> Twin:
        """Who knows the shipped opponents and `more`, by what was `learned`; raises `KeyError`."""
        book = self._book((*known_opponents(), *more), learned or {})
        return Twin(self.captain(model(WEIGHTS)).policy, book)

    def fitted(self, entry: Entry) -> Twin:
        """Who decides by the figures of an entry that names no strategy."""
        return Twin(self.library.fitted_new(ctypes.byref(_figures(entry))))

    def captain(
        self,
        learned: Model,
        limits: SearchLimits | None = None,
        network: "array[float] | None" = None,
    ) -> Twin:
        """The captain with what was learned, or with another network (`native/network.h`).

        The engine keeps a copy for good.
        """
        bounds = ctypes.byref(_Limits(*astuple(limits or SearchLimits())))
        if network is None and learned.network is not None:
            network = _floats_of(learned.network)
        beside = None if network is None else network.buffer_info()[0]
        return Twin(self.library.captain_new(learned.numbers.buffer_info()[0], beside, bounds))

    def play(
        self,
        players: tuple[Twin, Twin],
        seed: int,
        numbers: Sequence[int],
        *,
        less_luck: bool = False,
        beliefs: Sequence[_Belief | None] | None = None,
    ) -> list[tuple[Result, Result]]:
        """The pairs of those consecutive numbers: each deck twice, with the seats swapped.

        The players think what `beliefs` say, and keep in them what they see; without, they begin
        as strangers.
        """
        tempering = ctypes.byref(self._tempering) if less_luck else None
        policies = (ctypes.c_void_p * 2)(*(player.policy for player in players))
        kept = (ctypes.POINTER(_Belief) * 2)()
        for place, belief in enumerate(beliefs or [player.belief() for player in players]):
            if belief is not None:
                kept[place].contents = belief
        found, pairs = (Result * (2 * len(numbers)))(), len(numbers)
        self.library.play_series(policies, kept, seed, numbers[0], pairs, tempering, found)
        return list(zip(found[::2], found[1::2], strict=True))

    @cached_property
    def _tempering(self) -> _Tempering:
        return _Tempering(self.judge.policy, LAST, TIMES)

    @cached_property
    def judge(self) -> Twin:
        """Captain's short search, which says what was luck."""
        return self.captain(model(WEIGHTS), SHORT)

    def _policy(self, name: str) -> int:
        """The address of the policy that a C file registered under `name`."""
        address: int | None = self.library.find_policy(name.encode())
        if not address:
            raise KeyError(name)
        return address

    def _book(self, entries: Sequence[Entry], learned: Mapping[str, Model]) -> _Book:
        weights = list(dict.fromkeys((GENERAL, *(entry.weights for entry in entries))))
        judge = self.judge.policy
        book = _Book(len(entries), len(weights), judge=judge, most=MOST, credit=CREDIT)
        for place, entry in enumerate(entries):
            stops, answers = entry.stops, entry.answers
            figures = _figures(entry)
            self._kept.append(figures)
            book.entry[place] = _Entry(
                weights=weights.index(entry.weights),
                stranger=stops is None and answers is None,
                stop_chance=stops if isinstance(stops, float) else _LEARNED,
                stops=self._policy(stops) if isinstance(stops, str) else None,
                answers=self._policy(answers) if isinstance(answers, str) else None,
                fitted=ctypes.addressof(figures),
            )
        for place, name in enumerate(weights):
            book.player[place] = self.captain(learned.get(name) or model(file_of(name))).policy
        return book


def share(pair: Iterable[Result]) -> float:
    """The first player's share of the points of a pair."""
    return fmean(match.points for match in pair)


def rounded(weights: Iterable[float]) -> Network:
    """The network as it ships, in 16 bits: a weight beyond them, of which few are, stops there."""
    numbers = (round(weight * one) for weight, one in zip(weights, _ones(), strict=True))
    return Network(array("h", (max(-_MOST, min(number, _MOST)) for number in numbers)))


@cache
def _floats_of(network: Network) -> "array[float]":
    """A network's weights as they were learned, but for rounding."""
    pairs = zip(network.numbers, _ones(), strict=True)
    return array("f", (number / one for number, one in pairs))


def _ones() -> Iterator[int]:
    """What 1.0 is, weight by weight."""
    for _ in range(PARTS):
        for field in FIELDS.values():
            yield from (1 << field.bits for _ in range(field.rows * HIDDEN))


def _figures(entry: Entry) -> _Fitted:
    """The figures of an entry; negative where it names a strategy, or nothing."""
    stops = entry.stops if isinstance(entry.stops, tuple) else ((_NAMED,) * 2,) * MOST_LYING
    figures = _Fitted(MEASURES.index(entry.by), stops, safe=_NAMED)
    if not isinstance(entry.answers, dict):
        return figures
    for effect, (place, kind) in product(EffectType, enumerate(_KINDS)):
        taste = entry.answers.get(effect, {}).get(kind, UNTRIED)
        figures.taste[SUIT_ORDER.index(Suit(effect))][place] = taste
    oracle = entry.answers.get(EffectType.ORACLE, {})
    for name in ("safe", BUST, "end"):
        setattr(figures, name, oracle.get(name, UNTRIED))
    return figures


@cache
def load() -> Engine | None:
    """The engine of this machine, None without a compiler; raises `ConfigError` if that fails."""
    library = load_library(Path(__file__).parent / "native")
    return None if library is None else Engine(library)


def needed(*players: str) -> Engine:
    """The engine, for a command that needs it and these players; else raises `ConfigError`."""
    engine = load()
    if engine is None:
        raise ConfigError(f"This needs the compiled engine. {why_not()}")
    for name in players:
        try:
            engine.twin(name)
        except KeyError:
            raise ConfigError(f"The compiled engine has no player '{name}'.") from None
    return engine


@cache
def twin(name: str) -> Twin | None:
    """The compiled twin of a strategy, None where there is none or no compiler."""
    if is_own(name) and not is_trained(name):
        return None  # for which nothing need be compiled
    engine = load()
    try:
        return None if engine is None else engine.twin(name)
    except KeyError:
        return None
