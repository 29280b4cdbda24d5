"""Options of the lab's commands."""

from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from typing import Annotated, Literal

from cyclopts import Parameter, validators

from cardsharp.errors import ConfigError
from workbench.lab.duel import TWO
from workbench.lab.plan import DEFAULT_GAME, Plan
from workbench.lab.sprt import Sequential
from workbench.show.options import CommandOptions, Json
from workbench.strategy_file import is_own

MOST_SEEDS = 1_000_000

USUAL = 500  # pairs of a duel whose length nobody says

Positive = validators.Number(gte=1)
Player = Annotated[str, Parameter(help="A strategy, FILE.py, FILE.json or 'command'.")]
Seed = Annotated[int, Parameter(help="The same seed plays the same matches.")]
MaybeSeed = Annotated[
    int | Literal["random"] | None,
    Parameter(
        help="The same seed plays the same matches; random is another each time. Else 1, but "
        "random for a FILE.py, which would come to fit the deals that it is tried on."
    ),
]
Workers = Annotated[int | None, Parameter(validator=Positive, help="Processes; else one a core.")]
Cluster = Annotated[
    str | None, Parameter(help="A Dask scheduler, tcp://HOST:PORT, whose workers play instead.")
]
LessLuckToo = Annotated[
    bool, Parameter(help="Subtract luck from the results, so that fewer matches suffice.")
]
GameName = Annotated[str, Parameter(help="Whose strategies they are.")]


@dataclass(frozen=True, kw_only=True)
class RunOptions(CommandOptions):
    """How many matches are played, and by what."""

    game: GameName = DEFAULT_GAME
    pairs: Annotated[int | None, Parameter(alias="-n", validator=Positive)] = None
    """Deals, each played from every side; else 500."""
    copies: Annotated[int, Parameter(validator=Positive)] = 1
    """Number of seats that SECOND takes, if the game allows it."""
    seed: MaybeSeed = None
    workers: Workers = None
    cluster: Cluster = None
    plain: bool = False
    """Always play in plain Python, never in compiled code."""
    less_luck: LessLuckToo = False
    as_json: Json = False

    def plan(self, first: str, second: str, most: int | None = None) -> Plan:
        """The plan of a duel with these options; of `most` pairs where no number is given."""
        seed = self.seed or ("random" if (is_own(first) or is_own(second)) else 1)
        return Plan(
            game=self.game,
            first=first,
            second=second,
            pairs=self.pairs or most or USUAL,
            seed=SystemRandom().randrange(1, MOST_SEEDS) if seed == "random" else seed,
            copies=self.copies,
            plain=self.plain,
            less_luck=self.less_luck,
        )


@dataclass(frozen=True, kw_only=True)
class DuelOptions(RunOptions):
    """A sequential test, what it is to tell apart, and what is kept of a duel."""

    out: Annotated[Path | None, Parameter(name=["--out", "--resume"])] = None
    """Save each pair in this file; resume from it."""
    keep: Annotated[int | None, Parameter(validator=Positive)] = None
    """Keep so many matches for show, why and try; FIRST's losses before others."""
    sprt: bool = False
    """Stop as soon as the test decides whether FIRST is stronger."""
    elo0: float = 0.0
    """Null hypothesis, in Elo."""
    elo1: float = 20.0
    """Alternative hypothesis, in Elo."""

    def tested(self, plan: Plan) -> Sequential | None:
        """The test, None where none is asked for; raises `ConfigError` for one that is none."""
        if not self.sprt:
            return None
        if self.elo0 >= self.elo1:
            raise ConfigError("--elo0 must be lower than --elo1: the test tells the two apart.")
        if plan.matches_a_pair != TWO:
            raise ConfigError("--sprt is for one against one; leave out --copies.")
        return Sequential(self.elo0, self.elo1)
