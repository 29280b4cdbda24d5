"""Engine in C as Python calls it: optional, and tested equal to plain Python.

`native/core.h` describes a policy: a C function from a `Table`, which has only what a player may
know, to an action. `REGISTER_POLICY` gives it a name. A player of the engine is a policy;
`adaptive` also has profiles of known opponents, and its belief continues from match to match
(`native/adaptive.c`).

The C code gets addresses of Python buffers, so Python must keep these objects alive as long as the
engine uses them. A call releases the interpreter lock, so that threads use all cores.
"""

import ctypes
import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from cardsharp.core.text_files import read_valid_json_text
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.actions import EffectType
from cardsharp.games.deadmansdraw.cards import SUIT_ORDER, Suit
from cardsharp.games.deadmansdraw.strategies.adaptive import (
    INITIAL_CREDIT,
    MAX_LOSS_PER_DECISION,
    parse_value_models,
    weight_file_name,
)
from cardsharp.games.deadmansdraw.strategies.captain import QUICK_CAPTAIN, WEIGHT_FILE
from cardsharp.games.deadmansdraw.strategies.opponent_belief import (
    BUST,
    DEFAULT_PREFERENCE,
    GENERAL_WEIGHTS,
    MAX_TRACKED_CARDS,
    STOP_FEATURES,
    VALUE_ORDERS,
    OpponentProfile,
    load_opponent_profiles,
    parse_opponent_profiles,
)
from cardsharp.games.deadmansdraw.strategies.search.card_sets import SUITS
from cardsharp.games.deadmansdraw.strategies.search.compiled_search import SEARCH_SOURCES
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import (
    SHORT_LIMITS,
    SearchLimits,
)
from cardsharp.games.deadmansdraw.strategies.search.search_budget import PLAIN_LIMITS, lab_limits
from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model, parse_value_model
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import BuiltIn, StrategyReference, Weights
from cardsharp_tools.games.deadmansdraw.lab_adapter import ENDGAME_CARDS
from cardsharp_tools.lab.match_runner import ENDGAME_REPETITIONS
from cardsharp_tools.research.c_library import (
    declare_function,
    load_library,
    struct_fields,
    unavailable_reason,
)
from cardsharp_tools.research.deadmansdraw.network_weights import float_weights

ADAPTIVE = "adaptive"
_MAX_PROFILES, _MAX_WEIGHT_SETS = 32, 16  # as in opponent_belief.h
_LEARNED = _UNSET = -1.0
_CARD_PREFERENCE_KINDS = (*SUIT_ORDER, BUST, *VALUE_ORDERS)


class _Limits(ctypes.Structure):
    """ctypes structure for `SearchLimits` of search.h."""

    _fields_ = tuple((field.name, ctypes.c_int) for field in fields(SearchLimits))


class _NativeProfile(ctypes.Structure):
    """ctypes structure for `OpponentProfile` of opponent_belief.h."""

    _fields_ = struct_fields(
        "iidPPP", "weights_index is_generic stop_probability stop_policy answer_policy numbers"
    )


class _FittedProfile(ctypes.Structure):
    """ctypes structure for `FittedProfile` of fitted_profile.h."""

    _fields_ = struct_fields(
        "i..ddd",
        "stop_feature stop_probabilities preferences take_safe take_bust end_turn",
        ctypes.c_double * 2 * MAX_TRACKED_CARDS,
        ctypes.c_double * len(_CARD_PREFERENCE_KINDS) * SUITS,
    )


class _AdaptiveConfig(ctypes.Structure):
    """ctypes structure for `AdaptiveConfig` of opponent_belief.h."""

    _fields_ = struct_fields(
        "ii..Pdd",
        "profile_count player_count profiles players judge max_loss_per_decision initial_credit",
        _NativeProfile * _MAX_PROFILES,
        ctypes.c_void_p * _MAX_WEIGHT_SETS,
    )


class _OpponentBelief(ctypes.Structure):
    """ctypes structure for `OpponentBelief` of opponent_belief.h."""

    _fields_ = struct_fields(
        ".i...d",
        "config decision_count log_likelihoods misses habits balance",
        ctypes.POINTER(_AdaptiveConfig),
        ctypes.c_double * _MAX_PROFILES,
        ctypes.c_int * _MAX_PROFILES,
        ctypes.c_int * 2 * MAX_TRACKED_CARDS,
    )


class _LuckMeasurement(ctypes.Structure):
    """ctypes structure for `LuckMeasurement` of match_series.h."""

    _fields_ = struct_fields("Pii", "judge endgame_cards repetitions")


class EndgameReplays(NamedTuple):
    """Number of last cards that are replayed to measure luck, and how often."""

    cards: int
    repetitions: int


LAB_REPLAYS = EndgameReplays(ENDGAME_CARDS, ENDGAME_REPETITIONS)
"""Replays of the lab's duels."""
NO_REPLAYS = EndgameReplays(0, 0)
"""No replays: the judge measures the luck up to the last card, which is fast."""


class NativeMatchResult(ctypes.Structure):
    """ctypes structure for `MatchResult` of core.h: the end of a match.

    Pairs have the first player's figure, then the second's.
    """

    _fields_ = struct_fields(
        "d....dd", "points scores turns actions busts replay_points luck", *[ctypes.c_int32 * 2] * 4
    )


@dataclass(frozen=True, slots=True)
class NativePlayer:
    """Player of the engine: its policy, and its opponent model's configuration if it has one."""

    policy: int
    adaptive_config: _AdaptiveConfig | None = None

    def initial_belief(self) -> _OpponentBelief | None:
        """Return the belief about an opponent that has not been observed."""
        config = self.adaptive_config
        return None if config is None else _OpponentBelief(ctypes.pointer(config))


class NativeEngine:
    """Loaded library of the compiled engine."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        declare_function(library.find_policy, "P", "P")
        declare_function(library.captain_new, "PPP", "P")
        declare_function(library.play_series, "PPQQqPP", "")
        declare_function(library.profile_policy_new, "P", "P")
        self._referenced_profiles: list[_FittedProfile] = []

    def player_for_strategy(self, strategy: StrategyReference) -> NativePlayer:
        """Return the compiled version of a strategy; raise `KeyError` if there is none."""
        if isinstance(strategy, Weights):
            register_strategy(strategy)  # raises an error if the file is invalid
            text = read_valid_json_text(strategy.path)
            if "opponents" not in json.loads(text):
                return self.captain_player(parse_value_model(text))
            return self.adaptive_player(parse_opponent_profiles(text), parse_value_models(text))
        if strategy == BuiltIn(WEIGHT_FILE):
            return self.captain_player(load_model(WEIGHT_FILE))
        if strategy == BuiltIn(QUICK_CAPTAIN):
            return self.captain_player(load_model(WEIGHT_FILE), PLAIN_LIMITS)
        if strategy == BuiltIn(ADAPTIVE):
            return self.adaptive_player()
        return NativePlayer(self._find_policy(str(strategy)))

    def adaptive_player(
        self,
        extra_entries: Sequence[OpponentProfile] = (),
        weights: Mapping[str, ValueModel] | None = None,
    ) -> NativePlayer:
        """Return the player that adapts to the shipped opponents and to `extra_entries`.

        It uses the trained `weights` by name; raises `KeyError` for missing weights.
        """
        profiles = (*load_opponent_profiles(), *extra_entries)
        config = self._build_adaptive_config(profiles, weights or {})
        return NativePlayer(self.captain_player(load_model(WEIGHT_FILE)).policy, config)

    def player_from_profile(self, profile: OpponentProfile) -> NativePlayer:
        """Return a player that decides by the figures of an entry without a strategy name."""
        numbers = _to_fitted_profile(profile)
        return NativePlayer(self.library.profile_policy_new(ctypes.byref(numbers)))

    def captain_player(
        self,
        weights: ValueModel,
        limits: SearchLimits | None = None,
        network: "array[float] | None" = None,
    ) -> NativePlayer:
        """Return captain with its trained weights, or with another network (`native/network.h`).

        The engine never frees its copy of the weights.
        """
        bounds = ctypes.byref(_Limits(*astuple(limits or lab_limits())))
        if network is None and weights.network is not None:
            network = float_weights(weights.network)
        network_address = None if network is None else network.buffer_info()[0]
        return NativePlayer(
            self.library.captain_new(weights.numbers.buffer_info()[0], network_address, bounds)
        )

    def play_pairs(
        self,
        players: tuple[NativePlayer, NativePlayer],
        seed: int,
        pair_numbers: Sequence[int],
        *,
        luck_replays: EndgameReplays | None = None,
        beliefs: Sequence[_OpponentBelief | None] | None = None,
    ) -> list[tuple[NativeMatchResult, NativeMatchResult]]:
        """Play the pairs of these consecutive numbers: each deck twice, with seats swapped.

        Luck is measured if `luck_replays` are given.

        The players begin with `beliefs` and update them by what they see. Without them, they know
        nothing of each other at the start.
        """
        measurement = _LuckMeasurement(self.luck_judge.policy, *(luck_replays or NO_REPLAYS))
        measurement_pointer = ctypes.byref(measurement) if luck_replays is not None else None
        policies = (ctypes.c_void_p * 2)(*(player.policy for player in players))
        belief_pointers = (ctypes.POINTER(_OpponentBelief) * 2)()
        for player_index, belief in enumerate(
            beliefs or [player.initial_belief() for player in players]
        ):
            if belief is not None:
                belief_pointers[player_index].contents = belief
        results, pairs = (NativeMatchResult * (2 * len(pair_numbers)))(), len(pair_numbers)
        self.library.play_series(
            policies, belief_pointers, seed, pair_numbers[0], pairs, measurement_pointer, results
        )
        return list(zip(results[::2], results[1::2], strict=True))

    @cached_property
    def luck_judge(self) -> NativePlayer:
        """Captain with a short search, which evaluates luck."""
        return self.captain_player(load_model(WEIGHT_FILE), SHORT_LIMITS)

    def _find_policy(self, name: str) -> int:
        """Return the address of the policy that a C file registered under `name`."""
        address: int | None = self.library.find_policy(name.encode())
        if not address:
            raise KeyError(name)
        return address

    def _build_adaptive_config(
        self, profiles: Sequence[OpponentProfile], learned: Mapping[str, ValueModel]
    ) -> _AdaptiveConfig:
        weights = list(dict.fromkeys((GENERAL_WEIGHTS, *(profile.weights for profile in profiles))))
        config = _AdaptiveConfig(
            len(profiles),
            len(weights),
            judge=self.luck_judge.policy,
            max_loss_per_decision=MAX_LOSS_PER_DECISION,
            initial_credit=INITIAL_CREDIT,
        )
        for index, profile in enumerate(profiles):
            stops, answer_model = profile.stop_model, profile.answer_model
            numbers = _to_fitted_profile(profile)
            self._referenced_profiles.append(numbers)
            config.profiles[index] = _NativeProfile(
                weights_index=weights.index(profile.weights),
                is_generic=stops is None and answer_model is None,
                stop_probability=stops if isinstance(stops, float) else _LEARNED,
                stop_policy=self._find_policy(stops) if isinstance(stops, str) else None,
                answer_policy=(
                    self._find_policy(answer_model) if isinstance(answer_model, str) else None
                ),
                numbers=ctypes.addressof(numbers),
            )
        for index, name in enumerate(weights):
            config.players[index] = self.captain_player(
                learned.get(name) or load_model(weight_file_name(name))
            ).policy
        return config


def first_player_points_share(pair: Iterable[NativeMatchResult]) -> float:
    """Return the first player's share of the points of a pair."""
    return fmean(match.points for match in pair)


def _to_fitted_profile(profile: OpponentProfile) -> _FittedProfile:
    """Return the numbers of a profile in C's form.

    They are negative if the profile names a strategy, or has no numbers.
    """
    stops = (
        profile.stop_model
        if isinstance(profile.stop_model, tuple)
        else ((_UNSET,) * 2,) * MAX_TRACKED_CARDS
    )
    numbers = _FittedProfile(STOP_FEATURES.index(profile.stop_feature), stops, take_safe=_UNSET)
    if not isinstance(profile.answer_model, dict):
        return numbers
    for effect, (kind_index, kind) in product(EffectType, enumerate(_CARD_PREFERENCE_KINDS)):
        preference = profile.answer_model.get(effect, {}).get(kind, DEFAULT_PREFERENCE)
        numbers.preferences[SUIT_ORDER.index(Suit(effect))][kind_index] = preference
    oracle = profile.answer_model.get(EffectType.ORACLE, {})
    numbers.take_safe = oracle.get("safe", DEFAULT_PREFERENCE)
    numbers.take_bust = oracle.get(BUST, DEFAULT_PREFERENCE)
    numbers.end_turn = oracle.get("end", DEFAULT_PREFERENCE)
    return numbers


@cache
def load_engine() -> NativeEngine | None:
    """Return this machine's engine, or None without a compiler; raise `ConfigError`.

    Raise `ConfigError` if it fails.
    """
    library = load_library(Path(__file__).parent / "native", SEARCH_SOURCES)
    return None if library is None else NativeEngine(library)


def require_engine(*players: StrategyReference) -> NativeEngine:
    """Return the engine; raise `ConfigError` if it or one of these players is missing."""
    engine = load_engine()
    if engine is None:
        raise ConfigError(f"This needs the compiled engine. {unavailable_reason()}")
    for player in players:
        try:
            engine.player_for_strategy(player)
        except KeyError:
            raise ConfigError(f"The compiled engine has no player '{player}'.") from None
    return engine


@cache
def native_player(strategy: StrategyReference) -> NativePlayer | None:
    """Return the compiled version of a strategy, or None if there is none."""
    if strategy.is_user_code and not isinstance(strategy, Weights):
        return None  # checked first, so that nothing is compiled for it
    engine = load_engine()
    try:
        return None if engine is None else engine.player_for_strategy(strategy)
    except KeyError:
        return None
