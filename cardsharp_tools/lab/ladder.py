"""Ladder: a game's strategies by measured rating, from the weakest up, for a user's to climb.

The climber plays one rung after the other. The climb ends at the first rung that it is not shown to
be stronger than. Results are recorded, and they count as long as the code of the player does not
change.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Annotated, Literal

from cyclopts import Parameter
from pydantic import BaseModel, field_validator

from cardsharp.analysis.ratings import HeadToHeadScore, Rating, rating_of, ratings_of
from cardsharp.core.private_files import ensure_private_file
from cardsharp.errors import ConfigError, StrategyError
from cardsharp.play.catalog import all_games
from cardsharp.play.catalog import get_game as game_named
from cardsharp.play.game import Game
from cardsharp_tools.cli.console import (
    borderless_table,
    message_console,
    print_json,
    result_console,
)
from cardsharp_tools.cli.options import CommandOptions, GameName, Json, Positive, Workers
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.duel_result import DuelResult
from cardsharp_tools.lab.options import Cluster, Seed
from cardsharp_tools.lab.plan import DEFAULT_GAME, DuelPlan
from cardsharp_tools.lab.players import fingerprint
from cardsharp_tools.lab.runner import make_executor, run_duel
from cardsharp_tools.lab.sprt import SequentialTest

MIN_ELO_GAIN = 40
"""Elo difference by which a rung must be beaten.

It takes some 40 to 400 pairs to show it; a duel for tuning takes thousands.
"""

MAX_RUNG_PAIRS = 1000  # pairs after which a rung counts as not beaten
MAX_RUNG_DISTANCE = 4
"""Number of rungs above its own that a player is measured against. Higher ones always win."""

Verdict = Literal["beaten", "not beaten", "not decided"]


class Ladder(BaseModel, frozen=True, extra="forbid"):
    """Rated players of a game, the lowest first; each two played `pairs` pairs."""

    game: str
    pairs: int
    seed: int
    players: dict[str, Rating]

    @field_validator("players")
    @classmethod
    def _sort_weakest_first(cls, players: dict[str, Rating]) -> dict[str, Rating]:
        return dict(sorted(players.items(), key=lambda item: item[1].value))


def ratings_file(name: str) -> Path:
    """Return the file with the measured ratings of a game's players."""
    return Path(__file__).with_name("ladders") / f"{name}.json"


@cache
def load_ladder(name: str | None) -> Ladder:
    """Return a game's ladder with the measured ratings; raise `ConfigError` if there is none."""
    of = game_with_ladder(name)
    file = ratings_file(of.name)
    if not file.is_file():
        raise ConfigError(
            f"The ladder of {of.title} has not been measured yet; run "
            f"`cardsharp lab ratings --game {of.name} --write`."
        )
    return Ladder.model_validate_json(file.read_text("utf-8"))


def game_with_ladder(name: str | None) -> Game:
    """Return the game of that name; raise `ConfigError` if it has no ladder."""
    of = game_named(name)
    if not of.ladder_strategies:
        game_names = ", ".join(game.name for game in all_games() if game.ladder_strategies)
        raise ConfigError(f"{of.title} has no ladder; there is one for: {game_names}.")
    return of


def measure_ladder(plan: DuelPlan, pool: Executor | None) -> Ladder:
    """Measure the ladder of the plan's game: each player against the next few.

    Each player meets the next `MAX_RUNG_DISTANCE` players.
    """
    strategy_names = game_named(plan.game).ladder_strategies
    scores = {}
    for rung_index, first in enumerate(strategy_names):
        for second in strategy_names[rung_index + 1 : rung_index + 1 + MAX_RUNG_DISTANCE]:
            duel = run_duel(replace(plan, first=BuiltIn(first), second=BuiltIn(second)), pool)
            scores[first, second] = HeadToHeadScore.from_shares(duel.adjusted_shares)
            message_console().print(str(duel).partition("\n")[0], soft_wrap=True)
    ratings_by_name = ratings_of(scores)
    players = {name: ratings_by_name[name].rounded for name in strategy_names}
    return Ladder(game=plan.game, pairs=plan.pairs, seed=plan.seed, players=players)


class RungResult(BaseModel, frozen=True, extra="forbid"):
    """Result against one rung; `fingerprint` identifies all code that took part."""

    game: str
    player: str
    name: str
    fingerprint: str
    seed: int
    pairs: int
    points: float
    squares: float
    verdict: Verdict

    @property
    def score(self) -> HeadToHeadScore:
        """Points of the rung as a `HeadToHeadScore`."""
        return HeadToHeadScore(self.pairs, self.points, self.squares)

    @property
    def points_percent(self) -> float:
        """Share of the points in per cent."""
        return 100 * self.points / self.pairs


def find_recorded_result(file: Path, plan: DuelPlan) -> RungResult | None:
    """Return the last result of a plan in the file of climbs, or None.

    Only a result of the same code counts, with as many pairs or a decision. Each line of the file
    is a JSON document. A line that is incomplete or cannot be read is skipped.
    """
    player = plan.first.with_absolute_paths().record_text
    key = (plan.game, player, plan.second.record_text, fingerprint(plan))
    lines = file.read_bytes().splitlines() if file.is_file() else []
    for line in reversed(lines):
        with suppress(ValueError):
            result = RungResult.model_validate_json(line)
            decided = result.verdict != "not decided" or result.pairs >= plan.pairs
            if decided and (result.game, result.player, result.name, result.fingerprint) == key:
                return result
    return None


def append_rung_result(file: Path, rung: RungResult) -> None:
    """Append a rung's result to the file of climbs, also if its last line was cut.

    It begins with a line break, so that it is complete even if the last line is not.
    """
    ensure_private_file(file)
    with file.open("a", encoding="utf-8") as out:
        out.write(f"\n{rung.model_dump_json()}")


@dataclass(frozen=True, slots=True)
class LadderStep:
    """Step of a climb: one rung, with `duel` and `seconds` if it was played now."""

    rung: RungResult
    rating: Rating
    seconds: float = 0.0
    duel: DuelResult | None = None

    @property
    def is_beaten(self) -> bool:
        """True if the rung was beaten, so that the climb goes on."""
        return self.rung.verdict == "beaten"

    def __str__(self) -> str:
        return f"{self.rung.name} (rating {self.rating})"


@dataclass(slots=True)
class LadderClimb:
    """Climb of the player `plan.first`, recorded in a file.

    With `rerun`, rungs are played even if their results are recorded.
    """

    plan: DuelPlan
    file: Path
    play_duel: Callable[[DuelPlan, SequentialTest], DuelResult]
    rerun: bool = False
    steps: list[LadderStep] = field(default_factory=list, init=False)

    def climb(self, rung_names: Iterable[str]) -> Iterator[LadderStep]:
        """Climb these rungs up to the first that is not beaten; yield each step.

        Raises `StrategyError` if a strategy fails.
        """
        players = load_ladder(self.plan.game).players
        for name in rung_names:
            step = self._play_rung(replace(self.plan, second=BuiltIn(name)), players[name])
            self.steps.append(step)
            yield step
            if not step.is_beaten:
                return

    @property
    def highest_beaten_rung(self) -> LadderStep | None:
        """Highest rung that was beaten, or None."""
        return next((step for step in reversed(self.steps) if step.is_beaten), None)

    @property
    def first_unbeaten_rung(self) -> LadderStep | None:
        """Rung that was not beaten, or None if all were."""
        last_step = self.steps[-1]
        return None if last_step.is_beaten else last_step

    @property
    def rating(self) -> Rating:
        """Rating of the climber from all its results."""
        return rating_of((step.rating.value, step.rung.score) for step in self.steps)

    def _play_rung(self, plan: DuelPlan, rating: Rating) -> LadderStep:
        recorded = None if self.rerun else find_recorded_result(self.file, plan)
        if recorded is not None:
            return LadderStep(recorded, rating)
        began, tested = monotonic(), SequentialTest(elo1=MIN_ELO_GAIN)
        try:
            duel = self.play_duel(plan, tested)
        except StrategyError as fault:
            raise StrategyError(f"Against {plan.second}: {fault}") from None
        score = HeadToHeadScore.from_shares(duel.adjusted_shares)
        decided: Verdict = "beaten" if tested.log_likelihood_ratio > 0 else "not beaten"
        rung = RungResult(
            game=plan.game,
            player=plan.first.with_absolute_paths().record_text,
            name=plan.second.record_text,
            fingerprint=fingerprint(plan),
            seed=plan.seed,
            pairs=len(duel.pairs),
            points=score.points,
            squares=score.points_squared,
            verdict=decided if tested.is_decided else "not decided",
        )
        append_rung_result(self.file, rung)
        return LadderStep(rung, rating, monotonic() - began, duel)


@dataclass(frozen=True, kw_only=True)
class RatingOptions(CommandOptions):
    """Game, sample size and resources of a measurement of ratings."""

    game: GameName = DEFAULT_GAME
    pairs: Annotated[int, Parameter(alias="-n", validator=Positive)] = 500
    """Deals for each pair of players."""
    seed: Seed = 1
    workers: Workers = None
    cluster: Cluster = None
    write: bool = False
    """Store these ratings for `cardsharp ladder`."""
    as_json: Json = False


def measure_ratings(*, options: RatingOptions = RatingOptions()) -> None:
    """Measure the players of a game's ladder, each against the next few: ratings in Elo points.

    Their mean is 1,000. A player with 400 points more scores ten times as much as the other.
    """
    game = game_with_ladder(options.game)
    plan = DuelPlan(
        game=game.name,
        first=BuiltIn(""),
        second=BuiltIn(""),
        pairs=options.pairs,
        seed=options.seed,
    )
    with make_executor(options.workers, options.cluster) as pool:
        ladder = measure_ladder(plan, pool)
    if options.write:
        ratings_file(game.name).write_text(
            ladder.model_dump_json(indent=2) + "\n", encoding="utf-8"
        )
    if options.as_json:
        print_json(ladder.model_dump())
        return
    table = borderless_table("player", "rating", right_aligned=("rating",))
    for name, rating in ladder.players.items():
        table.add_row(name, str(rating))
    result_console().print(table)
