"""`cardsharp research test-opponent-model`: gains and losses of the strategy `adaptive`.

The opponents are eight unknown ones and some that pretend to be another player. Their compiled
twins are `native/stop_rule_player.c` and `native/switching_player.c`.
"""

from collections.abc import Iterator
from ctypes import Structure, byref
from dataclasses import dataclass
from math import sqrt
from random import Random
from statistics import fmean, pstdev
from typing import Annotated, Literal, NamedTuple

from cyclopts import Parameter, validators

from cardsharp.analysis.ratings import Z_95
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.games.deadmansdraw.cards import SUIT_ORDER, Card, Suit, deck_sort_key
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.simulation import (
    deal_state,
    match_from_state,
    random_card_picker,
)
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, PastMatch, Strategy, build
from cardsharp.games.deadmansdraw.strategies.adaptive import parse_value_models
from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE
from cardsharp.games.deadmansdraw.strategies.observed_decisions import opponent_decisions
from cardsharp.games.deadmansdraw.strategies.opponent_belief import parse_opponent_profiles
from cardsharp.games.deadmansdraw.strategies.position_features import (
    answer_would_bust,
    busting_card_count,
    pending_effect_targets,
    total_bank_gain,
)
from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel
from cardsharp.games.deadmansdraw.strategies.search.weights import load_shipped_network
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.options import CommandOptions, Json, Positive
from cardsharp_tools.executors.strategy_reference import BuiltIn, parse_strategy
from cardsharp_tools.lab.options import Seed
from cardsharp_tools.research.c_library import declare_function, struct_fields
from cardsharp_tools.research.deadmansdraw.counter_weights import CounterWeightTrainer
from cardsharp_tools.research.deadmansdraw.native import (
    ADAPTIVE,
    NativeEngine,
    NativePlayer,
    first_player_points_share,
    require_engine,
)
from cardsharp_tools.research.deadmansdraw.opponent_learning import (
    MIN_MATCHES,
    LearnedOpponentsFile,
    ObservedOpponentMatch,
    OpponentLearningPass,
)


class StopRulePlayer(NamedTuple):
    """Player that stops once any of its bounds is reached; a bound of 0 is unused.

    The bounds are the cards in the play area, the points to gain, and the per cent of unseen cards
    that bust. They are `behind` steps higher if the opponent leads. `likes` decides between
    answers: the highest card, the lowest, or the first or last suit.
    """

    cards: int
    points: int
    risk: int
    trailing_bonus: int
    preference: int
    oracle: int

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """Return the action of the stop rule."""
        return DeadMansDrawDecision(self._choose_action(position), "The rule of this player.")

    def _choose_action(self, position: DeadMansDrawPosition) -> Action:
        pending = position.pending
        if pending is None or pending.effect_type is EffectType.KRAKEN:
            may = END_TURN in position.legal_actions() and position.play_area
            return END_TURN if may and self._should_stop(position) else DRAW
        if pending.effect_type is EffectType.ORACLE:
            takes = self.oracle and not answer_would_bust(position, pending.cards[0])
            return respond(EffectType.ORACLE, pending.cards[0] if takes else None)
        cards = sorted(pending_effect_targets(position), key=deck_sort_key)
        best = max(
            cards, key=lambda card: self._rate_card(card) - 100 * answer_would_bust(position, card)
        )
        return respond(pending.effect_type, best)

    def _should_stop(self, position: DeadMansDrawPosition) -> bool:
        area = position.play_area
        more = self.trailing_bonus * (position.own_bank.score < position.opponent_bank.score)
        risk = 100 * busting_card_count(position) // max(1, len(position.unseen))
        bounds = (
            (self.cards, len(area), more),
            (self.points, total_bank_gain(position.own_bank, area), 2 * more),
            (self.risk, risk, 5 * more),
        )
        return any(bound and reached >= bound + later for bound, reached, later in bounds)

    def _rate_card(self, card: Card) -> int:
        suit_index = SUIT_ORDER.index(Suit(card.suit))
        return (card.value, -card.value, -suit_index, suit_index)[self.preference]


HELD_OUT_OPPONENTS = {
    "counter": StopRulePlayer(3, 0, 0, 0, 0, 1),
    "saver": StopRulePlayer(0, 6, 0, 0, 2, 0),
    "gambler": StopRulePlayer(0, 0, 45, 0, 0, 1),
    "greedy": StopRulePlayer(0, 14, 0, 1, 0, 0),
    "timid": StopRulePlayer(2, 5, 0, 0, 1, 0),
    "chaser": StopRulePlayer(3, 0, 0, 1, 3, 1),
    "careful": StopRulePlayer(0, 0, 25, 1, 3, 1),
    "mixed": StopRulePlayer(5, 9, 35, 0, 1, 1),
}  # the last four were held out: no choice was made by results against them


class _StopRule(Structure):
    """ctypes structure for `StopRulePlayer` of stop_rule_player.c."""

    _fields_ = struct_fields("iiiiii", " ".join(StopRulePlayer._fields))


def native_stop_rule_player(engine: NativeEngine, style: StopRulePlayer) -> NativePlayer:
    """Return the compiled player of a stop rule."""
    create_player = declare_function(engine.library.stop_rule_player_new, "P", "P")
    return NativePlayer(create_player(byref(_StopRule(*style))))


def switching_player(
    engine: NativeEngine, first_strategy: str, second_strategy: str, turns: int
) -> NativePlayer:
    """Return a player that changes from the first strategy to the second after `turns` turns."""
    create_player = declare_function(engine.library.switching_player_new, "PPi", "P")
    return NativePlayer(
        create_player(
            engine.player_for_strategy(parse_strategy(first_strategy)).policy,
            engine.player_for_strategy(parse_strategy(second_strategy)).policy,
            turns,
        )
    )


_MIN_MATCHES_VALIDATOR = validators.Number(gte=MIN_MATCHES)
_SWITCHING_OPPONENTS = ("champion", "draw-3", "example-node")
_TURNS_UNTIL_SWITCH = 8
_PAIRS_PER_SERIES = 3  # pairs of matches during which an opponent is remembered
Row = tuple[str, str, list[float]]


@dataclass(frozen=True, kw_only=True)
class ModelTestOptions(CommandOptions):
    """Options of the test: the measured opponents and the number of matches."""

    mode: Literal["learned", "ideal", "reply"] = "learned"
    """The test: learn from 20 matches, know the opponent, or play a best reply to the learner."""
    opponents: tuple[str, ...] = ()
    """Only these strangers, or those pretended to be."""
    matches_seen: Annotated[
        int, Parameter(validator=_MIN_MATCHES_VALIDATOR, help="Matches learned from.")
    ] = 20
    training: Annotated[int, Parameter(validator=Positive, help="Matches of it.")] = 20_000
    pairs: Annotated[int, Parameter(validator=Positive, help="Decks measured on.")] = 3000
    seed: Seed = 1
    as_json: Json = False


def test_opponent_model(
    *,
    options: ModelTestOptions = ModelTestOptions(),  # noqa: PT028 - a command, no test
) -> None:
    """Print how many points more than captain `adaptive` makes.

    For a best reply, print how many points more than 50 it makes.
    """
    rows = []
    for name, stage, gains in AdaptivePlayerTest(require_engine(), options).rows():
        gain, margin = 100 * fmean(gains), 100 * Z_95 * pstdev(gains) / sqrt(len(gains))
        rows.append({"against": name, "stage": stage, "gain": gain, "margin": margin})
        if not options.as_json:
            result_console().print(
                f"{name}: {gain:+.2f} ± {margin:.2f} points; {stage}", soft_wrap=True
            )
    if options.as_json:
        print_json(rows)


class AdaptivePlayerTest:
    """Test of the adaptive player: its players, and their points."""

    def __init__(self, engine: NativeEngine, options: ModelTestOptions) -> None:
        self.engine, self.options = engine, options
        self.captain, self.adaptive = (
            engine.player_for_strategy(BuiltIn(WEIGHT_FILE)),
            engine.player_for_strategy(BuiltIn(ADAPTIVE)),
        )
        self.counter_weights = CounterWeightTrainer(engine, options.seed, options.training)

    def rows(self) -> Iterator[Row]:
        """Yield opponent, candidate's stage, and shares above an equal player's or captain's."""
        ways = {
            "learned": self._test_learned,
            "ideal": self._test_ideal,
            "reply": self._test_best_reply,
        }
        for name in self.options.opponents or (*HELD_OUT_OPPONENTS, *_SWITCHING_OPPONENTS):
            yield from ways[self.options.mode](name)

    def build_player(self, name: str) -> NativePlayer:
        """Return a held-out opponent, or one of our strategies, by name."""
        style = HELD_OUT_OPPONENTS.get(name)
        return (
            self.engine.player_for_strategy(parse_strategy(name))
            if style is None
            else native_stop_rule_player(self.engine, style)
        )

    def _test_learned(self, name: str) -> Iterator[Row]:
        opponent = self.build_player(name)
        if name in HELD_OUT_OPPONENTS:
            player, stage = self.learned_player_and_stage(name)
            yield name, stage, self.gain_over_captain(player, opponent, seen_opponent=opponent)
            return
        pretends = switching_player(self.engine, name, WEIGHT_FILE, _TURNS_UNTIL_SWITCH)
        yield (
            f"{name}, after {_TURNS_UNTIL_SWITCH} turns captain",
            "",
            self.gain_over_captain(self.adaptive, pretends),
        )
        gains = self.gain_over_captain(self.adaptive, self.captain, opponent)
        yield f"{name}, in the next matches captain", "", gains

    def _test_ideal(self, name: str) -> Iterator[Row]:
        """Yield the ideal result, which is that of a player trained against the opponent itself."""
        opponent = self.build_player(name)
        special = self.engine.captain_player(
            ValueModel(
                self.counter_weights.train_best_reply(opponent, name), load_shipped_network()
            )
        )
        yield name, "trained on it", self.gain_over_captain(special, opponent)

    def _test_best_reply(self, name: str) -> Iterator[Row]:
        """Yield the result of a best reply to the player, whose belief starts anew each time."""
        knowing, stage = (
            self.learned_player_and_stage(name)
            if name in HELD_OUT_OPPONENTS
            else (self.adaptive, "")
        )
        belief, seed = knowing.initial_belief(), self.options.seed
        warmup_players = (knowing, self.build_player(name))
        self.engine.play_pairs(
            warmup_players, seed + 1, range(_PAIRS_PER_SERIES), beliefs=[belief, None]
        )
        weight_values = self.counter_weights.train_best_reply(knowing, f"who knows {name}", belief)
        players, shares = (
            (
                knowing,
                self.engine.captain_player(ValueModel(weight_values, load_shipped_network())),
            ),
            list[float](),
        )
        for pair_number in range(self.options.pairs):
            fresh = None if belief is None else type(belief).from_buffer_copy(belief)
            [pair] = self.engine.play_pairs(
                players, seed, range(pair_number, pair_number + 1), beliefs=[fresh, None]
            )
            shares.append(first_player_points_share(pair) - 0.5)
        yield f"a best reply, known as {name}", stage, shares

    def learned_player_and_stage(self, name: str) -> tuple[NativePlayer, str]:
        """Return the player that has learned an opponent, and the stage of its candidate weights.

        The two have met in `matches_seen` matches.
        """
        learned, seed = LearnedOpponentsFile(), self.options.seed
        learning = OpponentLearningPass(
            learned,
            self.counter_weights.train_weight_document,
            self.counter_weights.beats_captain_weights,
            lambda *_args: None,
        )
        matches = [
            observe_match_against_captain(HELD_OUT_OPPONENTS[name], seed + index)
            for index in range(self.options.matches_seen)
        ]
        learning.continue_opponent_trial(name, name, matches)
        trial, text = learned.trials[name], learned.model_dump_json()
        knowing = self.engine.adaptive_player(
            parse_opponent_profiles(text), parse_value_models(text)
        )
        return knowing, f"{trial.stage}; {trial.why}"

    def gain_over_captain(
        self,
        player: NativePlayer,
        opponent: NativePlayer,
        seen_opponent: NativePlayer | None = None,
    ) -> list[float]:
        """Return the player's gain over captain on equal decks, after meeting `seen_opponent`."""
        gains, seed = list[float](), self.options.seed
        for first_pair in range(0, self.options.pairs, _PAIRS_PER_SERIES):
            pair_numbers, beliefs = (
                range(first_pair, first_pair + _PAIRS_PER_SERIES),
                [player.initial_belief(), None],
            )
            if seen_opponent is not None:
                self.engine.play_pairs(
                    (player, seen_opponent), seed + 1, pair_numbers, beliefs=beliefs
                )
            player_results = self.engine.play_pairs(
                (player, opponent), seed, pair_numbers, beliefs=beliefs
            )
            captain_results = self.engine.play_pairs((self.captain, opponent), seed, pair_numbers)
            for player_pair, captain_pair in zip(player_results, captain_results, strict=True):
                gains.append(
                    first_player_points_share(player_pair) - first_player_points_share(captain_pair)
                )
        return gains


def observe_match_against_captain(player: Strategy, seed: int) -> ObservedOpponentMatch:
    """Play a match against captain and return the player's observed decisions."""
    dice = Random(seed)
    match, card_picker = match_from_state(deal_state(dice)), random_card_picker(dice)
    players = (build(WEIGHT_FILE, dice), player)
    while match.state.active_player is not None:
        match = match.with_action(
            players[match.state.active_player].decide(match.current_position).action, card_picker
        )
    return ObservedOpponentMatch(str(seed), tuple(opponent_decisions(PastMatch(1, match.history))))
