"""`cardsharp lab`: strategies against each other, and looked at closely."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import SystemRandom
from typing import Annotated, Literal

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.errors import ConfigError
from workbench.lab.coverage import coverage_table
from workbench.lab.duel import TWO
from workbench.lab.extras import extras_of
from workbench.lab.following import followed
from workbench.lab.league import play_league
from workbench.lab.ledger import difference
from workbench.lab.plan import DEFAULT_GAME, SERIES, Plan
from workbench.lab.pools import pool_of
from workbench.lab.printing import (
    cross_table,
    figures,
    league_document,
    print_coverage,
    print_probed,
    print_profile,
    probe_document,
)
from workbench.lab.probe import probe
from workbench.lab.profile import profile
from workbench.lab.runs import all_cores, unsteady
from workbench.lab.sprt import Sequential, Sprt
from workbench.show.exits import Exit
from workbench.show.options import Json
from workbench.show.output import messages, print_error, print_json, print_lines, results
from workbench.show.progress import Bar
from workbench.strategy_file import is_own

_EXAMPLES = """\
Examples:
  cardsharp lab duel captain champion --pairs 5000   who is stronger, and by how much
  cardsharp lab duel mine.py captain --out run.jsonl  stopped, and taken up again
  cardsharp lab duel bayes greedy --game blef --copies 3   against three of them
  cardsharp lab duel captain steady --cluster tcp://host:8786  on a Dask cluster
  cardsharp lab league captain steady third          everybody against everybody
  cardsharp lab probe captain                        right and fair answers
  cardsharp lab profile captain                      time and nodes a decision"""

app = cyclopts.App(
    name="lab",
    help="Measure strategies: duels, leagues, probes, profiles.",
    help_format="plaintext",
    help_epilogue=_EXAMPLES,
)

app.command(
    "research.deadmansdraw.train:main",
    name="train",
    help="Train the captain's weights from scratch.",
)


MOST_TESTED = 20_000
"""Pairs after which a sequential test gives up."""

MOST_SEEDS = 1_000_000

USUAL = 500
"""Pairs of a duel whose length nobody says."""

Positive = validators.Number(gte=1)
Chance = validators.Number(gt=0, lt=0.5)
Player = Annotated[str, Parameter(help="A strategy, FILE.py, or 'command'.")]
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
GameName = Annotated[str, Parameter(help="Whose strategies they are.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How many matches are played, and by what."""

    game: GameName = DEFAULT_GAME
    pairs: Annotated[
        int | None,
        Parameter(
            alias="-n", validator=Positive, help="Deals, each played from every side; else 500."
        ),
    ] = None
    copies: Annotated[
        int, Parameter(validator=Positive, help="How many play as SECOND, where a game allows.")
    ] = 1
    seed: MaybeSeed = None
    workers: Workers = None
    cluster: Cluster = None
    series: Annotated[
        int, Parameter(validator=Positive, help="Pairs in a row that a player may learn from.")
    ] = SERIES
    plain: Annotated[
        bool, Parameter(negative=(), help="Plain Python even where compiled code is there.")
    ] = False
    as_json: Json = False

    @property
    def processes(self) -> int:
        """How many processes play."""
        return self.workers or all_cores()

    def plan(self, first: str, second: str, most: int | None = None) -> Plan:
        """The plan of a duel with these options; of `most` pairs where no number is given."""
        tuned = is_own(first) or is_own(second)
        seed = self.seed or ("random" if tuned else 1)
        return Plan(
            game=self.game,
            first=first,
            second=second,
            pairs=self.pairs or most or USUAL,
            seed=SystemRandom().randrange(1, MOST_SEEDS) if seed == "random" else seed,
            copies=self.copies,
            series=self.series,
            plain=self.plain,
        )


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SprtOptions:
    """A sequential test, and what it is to tell apart."""

    sprt: Annotated[
        bool, Parameter(negative=(), help="Stop as soon as it is shown whether FIRST is stronger.")
    ] = False
    elo0: Annotated[float, Parameter(help="No stronger than this is not stronger.")] = 0.0
    elo1: Annotated[float, Parameter(help="This much is stronger.")] = 20.0
    alpha: Annotated[float, Parameter(validator=Chance, help="Wrongly called stronger.")] = 0.05
    beta: Annotated[float, Parameter(validator=Chance, help="Wrongly not called so.")] = 0.05

    def tested(self, plan: Plan) -> Sequential | None:
        """The test, None where none is asked for; raises `ConfigError` for one that is none."""
        if not self.sprt:
            return None
        if self.elo0 >= self.elo1:
            raise ConfigError("--elo0 must be lower than --elo1: the test tells the two apart.")
        if plan.matches_a_pair != TWO:
            raise ConfigError("--sprt is for one against one; leave out --copies.")
        return Sequential(Sprt(self.elo0, self.elo1, self.alpha, self.beta))


# --- duel ------------------------------------------------------------------------------------


@app.command
def duel(
    first: Player,
    second: Player,
    *,
    out: Annotated[
        Path | None,
        Parameter(name=["--out", "--resume"], help="Keep each pair there, and go on from it."),
    ] = None,
    sequential: SprtOptions = SprtOptions(),
    options: RunOptions = RunOptions(),
) -> None:
    """Let two strategies play each deal from every side; prints FIRST's points and who is stronger.

    With --sprt it goes on only until the question is answered; --pairs is then the most.
    """
    if out is not None and options.seed is None:
        options = replace(options, seed=1)  # else the file could not be gone on with
    plan = options.plan(first, second, most=MOST_TESTED if sequential.sprt else None)
    tested = sequential.tested(plan)
    rule = None if tested is None else tested.sprt.rule()
    messages().print(plan.stop_rule(rule), soft_wrap=True)
    played = followed(plan, options.processes, out=out, cluster=options.cluster, tested=tested)
    for name in unsteady(played):
        print_error(f"{name} decided otherwise when a deal was played again with the same dice.")
    if options.as_json:
        print_json({**played.as_json(), **({} if tested is None else {"sprt": tested.document()})})
        return
    print_lines(str(played))
    if tested is not None:
        print_lines(f"  {tested.verdict}, after {played.plan.pairs:,} pairs")


@app.command(name="difference")
def difference_(
    one: Annotated[Path, Parameter(help="The file of a duel (--out).")],
    two: Annotated[Path, Parameter(help="That of another player against the same one.")],
    *,
    as_json: Json = False,
) -> None:
    """Compare two players deck by deck, by their duels with a third over the same seed."""
    gap, bounds, matches = difference(one, two)
    if as_json:
        told = {"difference": gap, "lower": bounds.low, "upper": bounds.high}
        rounded = {name: round(figure, 3) for name, figure in told.items()}
        print_json({**rounded, "margin": round(bounds.margin, 3), "matches": matches})
    else:
        results().print(
            f"{gap:+.2f} points in 100 (95 %: {bounds.low:+.2f} to {bounds.high:+.2f}) "
            f"over {matches} matches of each"
        )


# --- league ----------------------------------------------------------------------------------


@app.command
def league(*players: Player, options: RunOptions = RunOptions()) -> None:
    """Let each two strategies play a duel; prints the points of the row against the column."""

    def tell(plan: Plan) -> None:
        messages().print(plan.stop_rule(), soft_wrap=True)

    if len(set(players)) < 2 or len(set(players)) < len(players):  # noqa: PLR2004 (a league of one)
        messages().print("cardsharp: A league needs two strategies or more, each named once.")
        raise SystemExit(Exit.USAGE)
    with pool_of(options.processes, options.cluster) as pool:
        table = play_league(players, options.plan(players[0], players[1]), pool, tell)
    if options.as_json:
        print_json(league_document(table))
    else:
        results().print(cross_table(table))


# --- probe -----------------------------------------------------------------------------------


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LookOptions:
    """Over which positions a strategy is looked at."""

    game: GameName = DEFAULT_GAME
    positions: Annotated[
        int | None,
        Parameter(alias="-n", validator=Positive, help="Real positions, with a choice to make."),
    ] = None
    opponent: Annotated[str | None, Parameter(help="Against whom they are met.")] = None
    seed: Seed = 1
    as_json: Json = False

    def plan(self, strategy: str, positions: int) -> Plan:
        """Where the positions come from; `positions` of them where no number was given."""
        second = self.opponent or extras_of(self.game).opponent or strategy
        number = self.positions or positions
        return Plan(game=self.game, first=strategy, second=second, pairs=number, seed=self.seed)


@app.command(name="probe")
def probe_(strategy: Player, *, options: LookOptions = LookOptions()) -> int:
    """Ask where the right answer is known, and ask again where the answer must stay the same.

    Hand-made positions have one right answer each (not every game has such). In positions of
    real matches a new strategy with the same dice must answer alike when hidden cards are dealt
    anew. Exits with 1 where an answer is wrong or changes.
    """
    found = probe(options.plan(strategy, 40))
    if options.as_json:
        print_json(probe_document(found))
    else:
        print_probed(found)
    return Exit.OK if found.is_right else Exit.FAILED


# --- profile ---------------------------------------------------------------------------------


@app.command(name="profile")
def profile_(strategy: Player, *, options: LookOptions = LookOptions()) -> None:
    """Measure processor time and nodes a decision, in this process."""
    plan = options.plan(strategy, 500)
    with Bar(plan.pairs, "deciding") as bar:
        found = profile(plan, bar.advance)
    if options.as_json:
        print_json({"milliseconds": figures(found.milliseconds), "nodes": figures(found.nodes)})
    else:
        print_profile(found)


# --- coverage --------------------------------------------------------------------------------


@app.command
def coverage(
    *,
    repeats: Annotated[int, Parameter(validator=Positive, help="Simulated duels a cell.")] = 1000,
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Measure how often the interval holds the truth: its coverage, by simulated duels.

    A line for each true share and each correlation of the two matches of a deal; a column for
    each number of pairs, with the mean width of the interval in points.
    """
    lines = coverage_table(repeats, seed)
    if as_json:
        cells = ([share, alike, list(map(asdict, row))] for share, alike, row in lines)
        print_json([{"share": s, "correlation": a, "pairs": row} for s, a, row in cells])
    else:
        print_coverage(lines)
