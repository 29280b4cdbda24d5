"""`cardsharp research blef benchmark` and `calibration`: the default strategy."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count, islice
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Annotated, NamedTuple

from cyclopts import Parameter, validators

from cardsharp.errors import ConfigError
from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.game import GAME
from cardsharp.games.blef.rules import MAX_PLAYERS
from cardsharp.games.blef.simulation import CARD_COUNT_RANGES, BlefSimulation, SimulatedBlefMatch
from cardsharp.games.blef.strategies import build
from cardsharp.games.blef.strategies.bayes import best_decision, evaluate_bets
from cardsharp.games.blef.strategies.greedy import hand_bet_probabilities
from cardsharp.games.blef.strategies.opponent_model import opponent_models_by_seat
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.cli.options import CommandOptions, Json, Positive
from cardsharp_tools.cli.strategy_option import StrategyArgument, UserCodeOptions
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.confidence_interval import wilson_interval
from cardsharp_tools.lab.duel_result import DuelResult
from cardsharp_tools.lab.options import Seed
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.lab.run_file import run_duel_with_progress
from cardsharp_tools.research.blef.held_out_opponents import RULE_PLAYERS
from cardsharp_tools.research.blef.informed_opponents import INFORMED_PLAYERS
from cardsharp_tools.terminal.progress import track


class ScoreThresholds(NamedTuple):
    """Minimum points in 100, and minimum lower end of their confidence interval."""

    points: float
    lower_bound: float


_LEVEL_COUNT = 10
_ALONE, _AGAINST_COPIES = ScoreThresholds(90, 86), ScoreThresholds(75, 0)
_INFORMED = ScoreThresholds(48, 45)  # an opponent that knows our strategy wins at most the rest


@dataclass(frozen=True, kw_only=True)
class BenchmarkOptions(CommandOptions):
    """Options of the benchmark: the duels and their length."""

    player: Annotated[StrategyArgument, Parameter(help="Who is measured.")] = BuiltIn(
        GAME.default_strategy
    )
    opponents: Annotated[
        tuple[str, ...],
        Parameter(
            negative=(),
            help="These held-out opponents, or those that know the player: one-step, two-step, "
            "steering, steering-two-step, best-response. Default: all held-out opponents.",
        ),
    ] = ()
    pairs: Annotated[int, Parameter(alias="-n", validator=Positive)] = 200
    """Deals, each played from every side."""
    opponent_copies: Annotated[int, Parameter(validator=Positive)] = 1
    """Number of seats that the held-out opponent takes."""
    seed: Seed = 1
    out: Path | None = None
    """Folder in which each pair is recorded; the same command resumes from it."""
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)
    as_json: Json = False

    def plans(self) -> Iterator[DuelPlan]:
        """Yield the duel plans; raise `ConfigError` for an unknown opponent."""
        opponent_names = (*RULE_PLAYERS, *INFORMED_PLAYERS)
        for name in self.opponents or RULE_PLAYERS:
            if name not in opponent_names:
                raise ConfigError(
                    f"There is no opponent '{name}'; there are {', '.join(opponent_names)}."
                )
            yield DuelPlan(
                game=GAME.name,
                first=self.player,
                second=BuiltIn(name),
                pairs=self.pairs,
                opponent_copies=self.opponent_copies,
                seed=self.seed,
            )

    def duel_file(self, plan: DuelPlan) -> Path | None:
        """Return the file of a duel in the folder."""
        name = f"{plan.first}-{plan.opponent_copies}x{plan.second}.jsonl"
        return None if self.out is None else self.out / name


def benchmark(*, options: BenchmarkOptions = BenchmarkOptions()) -> int:
    """Benchmark the default strategy against held-out opponents; exit with 1 below the targets.

    Each deal is played from every side. For each opponent the command prints
    the games won of 100, the 95 % interval, and the share of lost rounds by the
    cards in play. An equal share is 50, or 25 with four players.
    """
    duels: list[DuelResult] = []
    for plan in [*options.plans()]:
        duels.append(run_duel_with_progress(plan, None, options.duel_file(plan)))
        if options.as_json:
            print_json({**duels[-1].as_json(), "short": target_shortfall(duels[-1])})
        else:
            result_console().print(duel_report_line(duels[-1]), soft_wrap=True)
    return ExitCode.FAILED if any(map(target_shortfall, duels)) else ExitCode.OK


def score_thresholds(duel: DuelResult) -> ScoreThresholds:
    """Return the target of a duel, by what the opponent knows and by its number of copies."""
    if str(duel.plan.second) in INFORMED_PLAYERS:
        return _INFORMED
    return _ALONE if duel.plan.opponent_copies == 1 else _AGAINST_COPIES


def target_shortfall(duel: DuelResult) -> float:
    """Return by how many points per 100 a duel misses its target, 0 if it does not."""
    aim = score_thresholds(duel)
    return round(max(0.0, aim.points - duel.points_percent, aim.lower_bound - duel.interval.low), 1)


def duel_report_line(duel: DuelResult) -> str:
    """Return a line with a duel's result, and the rounds lost by the number of cards."""
    bounds, missed = duel.interval, target_shortfall(duel)
    won = f"{duel.points_percent:.1f} ({bounds.low:.1f} to {bounds.high:.1f})"
    counted = ((cards, f"lost with {cards}") for cards in CARD_COUNT_RANGES)
    sums = [(cards, duel.count_sum(name, 0), duel.count_sum(name, 1)) for cards, name in counted]
    shares = (
        (cards, 100 * player_sum / (player_sum + opponent_sum))
        for cards, player_sum, opponent_sum in sums
        if player_sum + opponent_sum
    )
    losses_text = "; ".join(f"{cards} cards {percentage:.0f}" for cards, percentage in shares)
    verdict = f"misses the target by {missed}" if missed else "meets the target"
    return f"{duel.plan.title}: {won} of {len(duel.matches)} games, {verdict}; lost {losses_text}"


class BetPrediction(NamedTuple):
    """Predicted probability of a bet, and its outcome."""

    chance: float
    was_true: bool


class CalibrationBin(NamedTuple):
    """Bin of bets with similar predictions.

    In per cent it has the mean prediction, how often the bets held, and the interval of that.
    """

    bets: int
    predicted: float
    observed: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions(CommandOptions):
    """Options of the calibration: the number of bets and of players."""

    bets: Annotated[int, Parameter(alias="-n", validator=Positive)] = 10_000
    players: Annotated[int, Parameter(validator=validators.Number(gte=3, lte=MAX_PLAYERS))] = 3
    seed: Seed = 1
    as_json: Json = False


def calibration(*, options: CalibrationOptions = CalibrationOptions()) -> None:
    """Compare the default's predictions of bets with the outcomes, by tenths.

    It plays whole games against the opponents of `gate` in turn. At each
    decision it records how likely the last bet is and, if it bets, its own bet.
    Bets that its own cards decide do not count.
    """
    played = islice(bet_predictions(options.players, options.seed), options.bets)
    predictions = list(track(played, "bets", options.bets))
    bins = calibration_curve(predictions)
    error = fmean((prediction.chance - prediction.was_true) ** 2 for prediction in predictions)
    if options.as_json:
        print_json(
            {**asdict(options), "error": error, "levels": [level._asdict() for level in bins]}
        )
        return
    for level in bins:
        observed_text = f"held {level.observed:.1f} % ({level.low:.1f} to {level.high:.1f})"
        result_console().print(
            f"said {level.predicted:.1f} %, {observed_text} of {level.bets:,} bets"
        )
    result_console().print(f"mean squared error {error:.4f}")


def calibration_curve(predictions: Sequence[BetPrediction]) -> list[CalibrationBin]:
    """Return the observed frequency of bets by tenths of the predicted probability.

    Tenths without predictions are left out.
    """
    levels: list[list[BetPrediction]] = [[] for _ in range(_LEVEL_COUNT)]
    for prediction in predictions:
        levels[min(int(prediction.chance * _LEVEL_COUNT), _LEVEL_COUNT - 1)].append(prediction)
    return [_build_calibration_bin(level) for level in levels if level]


def _build_calibration_bin(predictions: Sequence[BetPrediction]) -> CalibrationBin:
    observed_rate = fmean(prediction.was_true for prediction in predictions)
    bounds = wilson_interval(observed_rate, len(predictions)).scaled(100)
    return CalibrationBin(
        len(predictions),
        100 * fmean(prediction.chance for prediction in predictions),
        100 * observed_rate,
        *bounds,
    )


def bet_predictions(players: int, seed: int) -> Iterator[BetPrediction]:
    """Yield the predictions for bets, game after game, without an end."""
    strategy_names = [*RULE_PLAYERS]
    for game_number in count():
        opponents = [
            strategy_names[(game_number + seat) % len(strategy_names)]
            for seat in range(players - 1)
        ]
        yield from _iter_first_seat_predictions(
            BlefSimulation(players), opponents, Random(f"{seed} {game_number}")
        )


def _iter_first_seat_predictions(
    simulation: BlefSimulation, opponents: Sequence[str], dice: Random
) -> Iterator[BetPrediction]:
    """Yield the predictions of the first seat until it is out of the game."""
    players = [build(name, dice) for name in opponents]
    state: SimulatedBlefMatch = simulation.initial_state(dice)
    while state.current_round.n_cards[0] and (seat := simulation.current_seat(state)) is not None:
        position = simulation.current_position(state)
        if seat:
            action = players[seat - 1].decide(position).action
        else:
            evaluation, bet_probabilities = (
                evaluate_bets(position, opponent_models_by_seat(position)),
                hand_bet_probabilities(position),
            )
            action = best_decision(position, evaluation).action
            pool = [card for hand in state.current_round.hands for card in hand]
            for bet in (position.last_bet, action):
                if bet is not None and bet != CHECK and 0 < bet_probabilities[bet] < 1:
                    yield BetPrediction(evaluation.bet_probabilities[bet], BETS[bet].holds(pool))
        state = simulation.apply_action(state, action, dice)
