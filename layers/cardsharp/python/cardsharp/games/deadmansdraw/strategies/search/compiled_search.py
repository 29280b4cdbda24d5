"""Compiled search: the same values as `turn_search` and `endgame`, some fifty times faster.

The folder `native` holds the C code, and beside it one library for each system and processor, which
`native/build_library.py` builds: for this machine when the package is installed, for Lambda when
the layer is built. Without a library, or with `CARDSHARP_NATIVE=0`, plain Python gives the same
values; a test compares the two.
"""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from struct import Struct
from typing import Any
from weakref import WeakKeyDictionary, finalize

from cardsharp.games.deadmansdraw.strategies import IsLate
from cardsharp.games.deadmansdraw.strategies.search.card_sets import (
    NO_CARD,
    SUIT_OF,
    card_numbers_in,
)
from cardsharp.games.deadmansdraw.strategies.search.endgame import (
    EndgameSolver,
    EndgameTurn,
    SearchLimitExceeded,
)
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import (
    SearchLimits,
    never_late,
)
from cardsharp.games.deadmansdraw.strategies.search.network import ValueNetwork
from cardsharp.games.deadmansdraw.strategies.search.simulated_turn import SimulatedTurn
from cardsharp.games.deadmansdraw.strategies.search.turn_search import TurnSearch
from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel

SEARCH_SOURCES = Path(__file__).with_name("native")
DISABLE_VARIABLE = "CARDSHARP_NATIVE"  # variable that is 0 to play in plain Python
_LIBRARY_NAME = f"search-{sys.platform}-{os.uname().machine}.so"  # as build_library.py calls it
_VERSION = 2  # of library.c: a library of another version is not used

(
    _PLACING,
    _DRAWING,
    _STOPPING,
    _GOING_ON,
    _DRAWING_OR_STOPPING,
    _DRAWABLE_CARDS,
    _MAP_CARDS,
    _ORACLE_CARDS,
) = range(8)
_QUERY = Struct("6Q6i")  # `Query` of library.c
_LIMITS = Struct("6i")  # `SearchLimits` of search.h
_Values = ctypes.c_double * (len(SUIT_OF) + 1)  # of each card; the last is the number of leaves


def find_search_library() -> ctypes.PyDLL | None:
    """Return the library for this machine; None if there is none, or if it is disabled."""
    return None if os.environ.get(DISABLE_VARIABLE) == "0" else _load_search_library()


@cache
def _load_search_library() -> ctypes.PyDLL | None:
    """Load the library beside this module, or return None if it cannot be used here."""
    try:
        # It keeps the interpreter lock: its searches share tables, and each takes milliseconds.
        library = ctypes.PyDLL(str(SEARCH_SOURCES / _LIBRARY_NAME))
        version: int = library.library_version()
    except (OSError, AttributeError):
        return None
    if version != _VERSION:
        return None
    address, text = ctypes.c_void_p, ctypes.c_char_p
    for name, arguments, result in (
        ("layer_of_whole", (address,), address),
        ("layer_free", (address,), None),
        ("search_beside", (address, address), address),
        ("search_beside_free", (address,), None),
        ("search_answer", (address, text, text, address), ctypes.c_double),
        ("exact_rough", (ctypes.c_int64,), address),
        ("exact_begin", (address, ctypes.c_int64), None),
        ("exact_nodes", (address,), ctypes.c_int64),
        ("exact_answer", (address, text), ctypes.c_double),
    ):
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result
    return library


def build_turn_search(model: ValueModel, limits: SearchLimits | None = None) -> TurnSearch:
    """Return a search with the weights of a model: compiled if possible, else in Python."""
    library = find_search_library()
    if library is None:
        return TurnSearch(model, limits)
    return CompiledTurnSearch(library, model, limits)


def build_endgame_solver(max_nodes: int, is_late: IsLate = never_late) -> EndgameSolver:
    """Return a solver of the end of a match: compiled if possible, else in Python."""
    library = find_search_library()
    if library is None:
        return EndgameSolver(max_nodes, is_late)
    return CompiledEndgameSolver(library, max_nodes, is_late)


class CompiledTurnSearch(TurnSearch):
    """Search in compiled code; what it does not override calls what it does."""

    def __init__(
        self, library: ctypes.PyDLL, model: ValueModel, limits: SearchLimits | None = None
    ) -> None:
        super().__init__(model, limits)
        self._address = _search_address(library, model)
        self._answer = library.search_answer
        self._packed_limits = _LIMITS.pack(
            self.limits.max_depth,
            self.limits.max_second_draws,
            self.limits.samples,
            self.limits.root_samples,
            self.limits.endgame_cards,
            self.limits.max_leaves,
        )
        self._values = _Values()

    def _ask(self, question: int, turn: SimulatedTurn, card: int = NO_CARD, *numbers: int) -> float:
        """Return the answer of library.c; `numbers` are the draws due, the depth, the samples."""
        draws, depth, samples = (*numbers, 0, 0, 0)[:3]
        query = _QUERY.pack(
            turn.own_bank,
            turn.opponent_bank,
            turn.pile,
            turn.discard,
            turn.area,
            turn.saved,
            turn.known_top,
            question,
            card,
            draws,
            depth,
            samples,
        )
        value: float = self._answer(self._address, self._packed_limits, query, self._values)
        self.nodes += int(self._values[-1])
        return value

    def _ask_for_cards(
        self, question: int, turn: SimulatedTurn, cards: int, kraken_draws: int = 0
    ) -> dict[int, float]:
        self._ask(question, turn, NO_CARD, kraken_draws)
        values = self._values[:]
        return {card: values[card] for card in card_numbers_in(cards)}

    def value_of_placing(
        self, turn: SimulatedTurn, card: int, kraken_draws: int, level: int
    ) -> float:
        """Return the value after `card`, taken from its place, came to the play area."""
        return self._ask(_PLACING, turn, card, kraken_draws, level)

    def value_of_drawing(self, turn: SimulatedTurn, kraken_draws: int = 0, depth: int = 0) -> float:
        """Return the mean value over the next card; `kraken_draws` draws are due after it."""
        return self._ask(_DRAWING, turn, NO_CARD, kraken_draws, depth)

    def value_of_stopping(self, turn: SimulatedTurn, samples: int = 0) -> float:
        """Return the value of banking the play area now."""
        return self._ask(_STOPPING, turn, NO_CARD, 0, 0, samples or self.limits.samples)

    def value_with_kraken_draws(self, turn: SimulatedTurn, kraken_draws: int, level: int) -> float:
        """Return the value without a pending effect; `kraken_draws` draws are still due."""
        return self._ask(_GOING_ON, turn, NO_CARD, kraken_draws, level)

    def estimate_draw_and_stop_values(self, turn: SimulatedTurn) -> tuple[float, float]:
        """Return the learned values of drawing on and of stopping; the pile must not be empty."""
        return self._ask(_DRAWING_OR_STOPPING, turn), self._values[1]

    def evaluate_draws(self, turn: SimulatedTurn, kraken_draws: int) -> dict[int, float]:
        """Return the value of each card that may be drawn; `kraken_draws` are due after it."""
        return self._ask_for_cards(_DRAWABLE_CARDS, turn, turn.pile, kraken_draws)

    def evaluate_map_cards(self, turn: SimulatedTurn) -> dict[int, float]:
        """Return the value of taking each card of the discard pile for a Map."""
        return self._ask_for_cards(_MAP_CARDS, turn, turn.discard)

    def evaluate_shown_cards(self, turn: SimulatedTurn, kraken_draws: int) -> dict[int, float]:
        """Return the value of each card that an Oracle may show."""
        return self._ask_for_cards(_ORACLE_CARDS, turn, turn.pile, kraken_draws)


class CompiledEndgameSolver(EndgameSolver):
    """Solver in compiled code; what it does not override calls what it does.

    Time is checked before each option only, because an option takes milliseconds.
    """

    def __init__(self, library: ctypes.PyDLL, max_nodes: int, is_late: IsLate = never_late) -> None:
        super().__init__(max_nodes, is_late)
        self._library = library
        # A solver keeps its memory for the next decision: to get new pages takes a quarter of the
        # time of a long one.
        idle_addresses = _idle_solvers.setdefault(library, [])
        try:
            self._address = idle_addresses.pop()
        except IndexError:
            self._address = library.exact_rough(max_nodes)
        library.exact_begin(self._address, max_nodes)
        finalize(self, idle_addresses.append, self._address)

    def _ask(
        self, question: int, turn: EndgameTurn, card: int = NO_CARD, kraken_draws: int = 0
    ) -> float:
        if self._is_late():
            raise SearchLimitExceeded
        query = _QUERY.pack(*turn, question, card, kraken_draws, 0, 0)
        value: float = self._library.exact_answer(self._address, query)
        nodes: int = self._library.exact_nodes(self._address)
        # Python stops at the first end too many; compiled code counts some more on its way out.
        self.ends = min(nodes, self._max_nodes + 1)
        if self.ends > self._max_nodes:
            raise SearchLimitExceeded
        return value

    def value_of_ending_turn(self, turn: EndgameTurn) -> float:
        """Return the value of banking the play area now."""
        return self._ask(_STOPPING, turn)

    def value_of_drawing(self, turn: EndgameTurn, kraken_draws: int = 0) -> float:
        """Return the mean value over the next card; `kraken_draws` draws are due after it."""
        return self._ask(_DRAWING, turn, NO_CARD, kraken_draws)

    def value_of_placing(self, turn: EndgameTurn, card: int, kraken_draws: int = 0) -> float:
        """Return the value after `card`, already taken from its place, came to the play area."""
        return self._ask(_PLACING, turn, card, kraken_draws)

    def value_with_kraken_draws(self, turn: EndgameTurn, kraken_draws: int) -> float:
        """Return the value without a pending effect; `kraken_draws` draws are still due."""
        return self._ask(_GOING_ON, turn, NO_CARD, kraken_draws)


_searches: WeakKeyDictionary[ValueModel, int] = WeakKeyDictionary()
_layers: WeakKeyDictionary[ValueNetwork, int] = WeakKeyDictionary()
_idle_solvers: WeakKeyDictionary[ctypes.PyDLL, list[int]] = WeakKeyDictionary()
"""Addresses of solvers that no decision uses. There are as many as were in use at once."""


def _search_address(library: ctypes.PyDLL, model: ValueModel) -> int:
    """Return the address of a model's search, which is kept as long as the model."""
    address = _searches.get(model)
    if address is None:
        layer = None if model.network is None else _layer_address(library, model.network)
        address = library.search_beside(_buffer_address(model), layer)
        _searches[model] = address
        finalize(model, library.search_beside_free, address)
    return address


def _layer_address(library: ctypes.PyDLL, network: ValueNetwork) -> int:
    address = _layers.get(network)
    if address is None:
        address = library.layer_of_whole(_buffer_address(network))
        _layers[network] = address
        finalize(network, library.layer_free, address)
    return address


def _buffer_address(weights: Any) -> int:  # noqa: ANN401 - a model or a network
    address: int = weights.numbers.buffer_info()[0]
    return address
