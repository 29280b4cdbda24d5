"""`cardsharp research solve` and `blef`: the tables of solved rounds, and the trained ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.blef.strategies.equilibrium import SOLVED, table
from cardsharp.blef.strategies.large import FILE as LARGE
from cardsharp.blef.strategies.large import known
from cardsharp.blef.strategies.large import write as write_large
from cardsharp.blef.strategies.trained import FILE, write
from cardsharp.errors import ConfigError
from research.blef.compiled import Cards, lacking, library, player
from research.blef.packing import ROUNDS as LARGE_ROUNDS
from research.blef.packing import Lessons, known_in, learn, packed, tables_in, teach
from research.blef.solve import SmallRound, Solver, exploitability, small_round
from research.blef.tables import FOLDER, plays_of, plays_of_table, table_of
from research.blef.tables import write as write_solved
from research.blef.training import ROUNDS, Budget, Folder, learner_of, train
from workbench.lab.options import Cluster, Positive, Seed
from workbench.lab.runs import pool_of
from workbench.show.options import CommandOptions, Json
from workbench.show.output import messages, print_json, results
from workbench.show.progress import Bar

_SOLVING, _TRAINING = (
    Path(__file__).with_name(f"{name}.txt").read_text("utf-8").rstrip()
    for name in ("solving", "training")
)
_HOUR = 3600.0
_LESSONS = Lessons()

solve = cyclopts.App(
    name="solve", help="Solve what can be solved exactly.", help_format="plaintext"
)
app = cyclopts.App(
    name="blef",
    help="Train tables for rounds that are too large to be solved exactly, and check them.",
    help_format="plaintext",
    help_epilogue=_TRAINING,
)
app.command("research.blef.gate:gate", name="gate")
app.command("research.blef.gate:reliability", name="reliability")


@dataclass(frozen=True, kw_only=True)
class SolveOptions(CommandOptions):
    """Which rounds, and what to do with them."""

    cards: Annotated[
        tuple[Literal["1v1", "2v1", "1v2"], ...],
        Parameter(negative=(), help="Cards of who begins and of the other; repeatable; else all."),
    ] = ()
    strategy: Annotated[str, Parameter(help="Whose play is held against a best answer.")] = "bayes"
    write: Annotated[
        Path | None,
        Parameter(help=f"Solve, and write tables into this folder; the shipped ones: {FOLDER}"),
    ] = None
    iterations: Annotated[int, Parameter(validator=Positive, help="With --write: of CFR+.")] = 400
    as_json: Json = False


@solve.command(name="blef", help_epilogue=_SOLVING)
def solve_blef(*, options: SolveOptions = SolveOptions()) -> None:
    """Say what a best answer wins above an equal share, or solve the rounds with --write."""
    wanted = [one for one in SOLVED if not options.cards or _name(one) in options.cards]
    for cards in wanted:
        small = small_round(*cards)
        found = _solved(small, options) if options.write is not None else _measured(small, options)
        if options.as_json:
            print_json(found)
        else:
            results().print(", ".join(f"{key} {value}" for key, value in found.items()))


def _measured(small: SmallRound, options: SolveOptions) -> dict[str, object]:
    """What the shipped table lacks, and what the strategy does, both worked out now."""
    shipped = table(*small.cards)
    plans = shipped["starter"], shipped["other"]
    return {
        "cards": _name(small.cards),
        "table": round(exploitability(small, plays_of_table(small, plans)), 6),
        options.strategy: round(exploitability(small, plays_of(small, options.strategy)), 6),
        "value": shipped["value"],
    }


def _solved(small: SmallRound, options: SolveOptions) -> dict[str, object]:
    solver = Solver(small)
    solver.iterate(options.iterations)
    command = f"cardsharp research solve blef --write FOLDER --iterations {options.iterations}"
    made = table_of(small, solver.average, command, datetime.now(UTC).date())
    file = write_solved(made, options.write or FOLDER)
    return {
        "cards": _name(small.cards),
        "value": made["value"],
        "exploitability": made["exploitability"],
        "file": str(file),
    }


Setups = Annotated[
    tuple[str, ...],
    Parameter(negative=(), help="Cards of who begins v the other, as 3v2; repeatable; else all."),
]
Checkpoint = Annotated[Path, Parameter(help="A folder that keeps what was learned so far.")]


@dataclass(frozen=True, kw_only=True)
class TrainOptions(CommandOptions):
    """How long to train, and by what."""

    hours: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 1.0
    until: Annotated[
        int, Parameter(validator=Positive, help="Steps of 2,000 deals a round; it ends there.")
    ] = 1_000
    workers: Annotated[int, Parameter(validator=Positive, help="Processes.")] = 1
    cluster: Cluster = None


@app.command(name="train", help_epilogue=_TRAINING)
def train_tables(
    *, checkpoint: Checkpoint, setups: Setups = (), options: TrainOptions = TrainOptions()
) -> None:
    """Train by steps, the least trained round first; the same command goes on where it ended."""
    library()
    folder, budget = Folder(checkpoint), Budget(options.until, options.hours * _HOUR)

    def tell(cards: Cards, steps: int) -> None:
        messages().print(f"{_name(cards)}: {steps} steps")

    with pool_of(options.workers, options.cluster) as pool:
        train(folder, _rounds(setups), budget, pool, tell)
    for cards in _rounds(setups):
        results().print(f"{_name(cards)}: {folder.steps(cards)} of {options.until} steps")


@app.command
def pack(
    *,
    checkpoint: Checkpoint,
    setups: Setups = (),
    out: Annotated[Path, Parameter(help="A file.")] = FILE,
) -> None:
    """Write the tables of a checkpoint as `solved` reads them."""
    library()
    folder, tables, steps = Folder(checkpoint), {}, {}
    for cards in filter(folder.steps, _rounds(setups)):
        learner, done = learner_of(cards, folder.read(cards))
        messages().print(f"{_name(cards)}: {done} steps")
        tables[cards], steps[_name(cards)] = packed(learner), done
    if not tables:
        raise ConfigError(f"Nothing was learned yet in {checkpoint}; `train` begins it.")
    told = ", ".join(f"{name} {number}" for name, number in steps.items())
    write(out, f"cardsharp research blef train, until: {told}", tables)
    results().print(f"{out}: {len(tables)} rounds, {out.stat().st_size / 1e6:.2f} MB")


@app.command
def large(
    *,
    out: Annotated[Path, Parameter(help="A file.")] = LARGE,
    setups: Setups = (),
    steps: Annotated[int, Parameter(validator=Positive, help="Of 400 deals.")] = _LESSONS.steps,
    workers: Annotated[int, Parameter(validator=Positive, help="Processes.")] = 1,
    cluster: Cluster = None,
) -> None:
    """Learn rounds with eight to eighteen cards in play, for `solved` to play by.

    Setups have the fewer cards first. About 10 seconds each, whoever begins.
    """
    library()
    wanted, learned = _rounds(setups, LARGE_ROUNDS), dict[Cards, bytes]()
    lesson = partial(learn, lessons=Lessons(steps, _LESSONS.deals))
    with Bar(len(wanted), "rounds") as bar, pool_of(workers, cluster) as pool:
        for found in (map if pool is None else pool.map)(lesson, wanted):
            learned |= found
            bar.advance(1)
    write_large(out, f"cardsharp research blef large --steps {steps}", learned)
    results().print(f"{out}: {len(learned)} tables, {out.stat().st_size / 1e6:.2f} MB")


@dataclass(frozen=True, kw_only=True)
class CheckOptions(CommandOptions):
    """How much is played."""

    rounds: Annotated[int, Parameter(alias="-n", validator=Positive)] = 4_000
    seed: Seed = 1
    as_json: Json = False


@app.command(help_epilogue=_TRAINING)
def check(
    *,
    file: Annotated[Path, Parameter(help="The tables.")] = FILE,
    setups: Setups = (),
    options: CheckOptions = CheckOptions(),
) -> None:
    """What tables lack at least: a local best response wins so much above an equal share.

    It knows the table and looks one or two steps ahead, on fresh deals, as often
    from one seat as from the other. A 95 % interval, in hundredths of a round.
    Large rounds are checked where they are named.
    """
    library()
    tables, learned = tables_in(file), known_in(known())
    ours, there = teach(player("tables", tables), learned), {*tables, *learned}
    wanted = _rounds(setups, (*ROUNDS, *learned)) if setups else tables
    for cards, depth in product(filter(there.__contains__, wanted), (1, 2)):
        found = lacking(cards, ours, depth, options.seed, options.rounds)
        if options.as_json:
            told = {"setup": _name(cards), "measure": f"depth {depth}", "rounds": options.rounds}
            print_json({**told, **found._asdict()})
        else:
            said = f"{100 * found.low:.2f} to {100 * found.high:.2f} %"
            results().print(f"{_name(cards)} depth {depth}: {said} of {options.rounds:,} rounds")


def _name(cards: Cards) -> str:
    return f"{cards[0]}v{cards[1]}"


def _rounds(setups: Sequence[str], there: Sequence[Cards] = ROUNDS) -> Sequence[Cards]:
    """Those of these rounds that are named, else all; raises `ConfigError` for others."""
    named = {_name(cards): cards for cards in there}
    unknown = [name for name in setups if name not in named]
    if unknown:
        raise ConfigError(f"'{unknown[0]}' is not trained; there are {', '.join(named)}.")
    return [named[name] for name in setups] or there
