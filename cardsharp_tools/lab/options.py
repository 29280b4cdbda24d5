"""Options of the lab's commands."""

from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom
from typing import Annotated, Literal

from cyclopts import Parameter

from cardsharp.errors import ConfigError
from cardsharp_tools.cli.options import CommandOptions, GameName, Json, Positive, Workers
from cardsharp_tools.cli.strategy_option import StrategyArgument, UserCodeOptions
from cardsharp_tools.executors.strategy_reference import StrategyReference
from cardsharp_tools.lab.duel_result import TWO_PLAYERS
from cardsharp_tools.lab.plan import DEFAULT_GAME, DuelPlan
from cardsharp_tools.lab.sprt import SequentialTest

# A player's code could try a million seeds until its random numbers come out, and then it would
# know all cards of the run. This many it cannot try, and JSON still has the number exactly.
MAX_SEED = 1 << 53

DEFAULT_PAIRS = 500  # pairs of a duel without --pairs

Player = Annotated[
    StrategyArgument,
    Parameter(help="A strategy: its name, FILE.py, FILE.json, or a 'command'."),
]
Seed = Annotated[int, Parameter(help="Random seed: the same seed plays the same matches.")]
OptionalSeed = Annotated[
    int | Literal["random"] | None,
    Parameter(
        help="The same seed plays the same matches; random draws a new one. Default: 1, but "
        "random for a FILE.py, which would otherwise be tuned to the deals of one seed."
    ),
]
Cluster = Annotated[
    str | None, Parameter(help="Play on the workers of this Dask scheduler: tcp://HOST:PORT.")
]
LuckAdjusted = Annotated[
    bool,
    Parameter(help="Subtract luck from the results, so that fewer matches suffice."),
]


@dataclass(frozen=True, kw_only=True)
class RunOptions(CommandOptions):
    """Number of matches of a run, and the means to play them."""

    game: GameName = DEFAULT_GAME
    pairs: Annotated[int | None, Parameter(alias="-n", validator=Positive)] = None
    """Number of deals, each played from every seat. Default: 500."""
    opponent_copies: Annotated[int, Parameter(validator=Positive)] = 1
    """Number of seats that SECOND takes, if the game allows it."""
    seed: OptionalSeed = None
    workers: Workers = None
    cluster: Cluster = None
    pure_python: bool = False
    """Always play in plain Python, never in compiled code."""
    luck_adjusted: LuckAdjusted = False
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)
    as_json: Json = False

    def plan(
        self, first: StrategyReference, second: StrategyReference, max_pairs: int | None = None
    ) -> DuelPlan:
        """Return the plan of a duel with these options.

        It has up to `max_pairs` pairs if the options name no number.
        """
        seed = self.seed or ("random" if first.is_user_code or second.is_user_code else 1)
        return DuelPlan(
            game=self.game,
            first=first,
            second=second,
            pairs=self.pairs or max_pairs or DEFAULT_PAIRS,
            seed=SystemRandom().randrange(1, MAX_SEED) if seed == "random" else seed,
            opponent_copies=self.opponent_copies,
            pure_python=self.pure_python,
            luck_adjusted=self.luck_adjusted,
        )


@dataclass(frozen=True, kw_only=True)
class DuelOptions(RunOptions):
    """Options of a duel: the sequential test, and which matches are stored."""

    out: Annotated[Path | None, Parameter(name=["--out", "--resume"])] = None
    """Save each pair in this file. Give the same file again to resume."""
    save_matches: Annotated[int | None, Parameter(validator=Positive)] = None
    """Store this many matches for show, why and backtest; FIRST's lost matches first."""
    sprt: bool = False
    """Stop as soon as a sequential test decides whether FIRST is stronger."""
    elo0: float = 0.0
    """With --sprt: the null hypothesis, in Elo points."""
    elo1: float = 20.0
    """With --sprt: the alternative hypothesis, in Elo points."""

    def sequential_test(self, plan: DuelPlan) -> SequentialTest | None:
        """Return the requested test, or None; raise `ConfigError` if it is invalid.

        Raise `ConfigError` if it is impossible.
        """
        if not self.sprt:
            return None
        if self.elo0 >= self.elo1:
            raise ConfigError("--elo0 must be lower than --elo1: the test decides between the two.")
        if plan.matches_per_pair != TWO_PLAYERS:
            raise ConfigError("--sprt needs one opponent. Remove --opponent-copies.")
        return SequentialTest(self.elo0, self.elo1)
