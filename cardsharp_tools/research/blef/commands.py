"""Commands `research solve` and `research blef`: tables of solved rounds, and trained tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.errors import ConfigError
from cardsharp.games.blef.strategies.equilibrium import SOLVED_CARD_COUNTS, load_solution
from cardsharp.games.blef.strategies.large_round_policy import DEFAULT_FILE as LARGE
from cardsharp.games.blef.strategies.large_round_policy import load_large_round_policy
from cardsharp.games.blef.strategies.large_round_policy import write_policy as write_large
from cardsharp.games.blef.strategies.policy_tables import DEFAULT_FILE, write_tables
from cardsharp_tools.cli.console import message_console, print_json, result_console
from cardsharp_tools.cli.options import CommandOptions, Json, Positive
from cardsharp_tools.lab.options import Cluster, Seed
from cardsharp_tools.lab.runner import make_executor
from cardsharp_tools.research.blef.cfr_solver import (
    CfrSolver,
    SmallRound,
    build_small_round,
    exploitability,
)
from cardsharp_tools.research.blef.native import (
    HandSizes,
    build_round_player,
    local_exploitability,
    native_library,
)
from cardsharp_tools.research.blef.solved_tables import (
    TABLES_DIR,
    strategy_function_by_name,
    table_strategy,
    to_solved_table,
)
from cardsharp_tools.research.blef.solved_tables import write_solved_table as write_solved
from cardsharp_tools.research.blef.table_files import ROUNDS as LARGE_ROUNDS
from cardsharp_tools.research.blef.table_files import (
    TrainingAmount,
    average_policy_rows,
    load_tables,
    policy_bytes_by_hand_sizes,
    set_large_round_policies,
    train_large_round,
)
from cardsharp_tools.research.blef.table_training import (
    ROUNDS,
    CheckpointFolder,
    TrainingBudget,
    restore_trainer_and_step_count,
    train_rounds,
)
from cardsharp_tools.terminal.progress import ProgressBar

_SOLVING, _TRAINING = (
    Path(__file__).with_name(f"{name}.txt").read_text("utf-8").rstrip()
    for name in ("solving", "training")
)
_SECONDS_PER_HOUR = 3600.0
_DEFAULT_TRAINING_AMOUNT = TrainingAmount()

solve = cyclopts.App(
    name="solve", help="Solve what can be solved exactly.", help_format="plaintext"
)
app = cyclopts.App(
    name="blef",
    help="Train tables for rounds that are too large to be solved exactly, and check them.",
    help_format="plaintext",
    help_epilogue=_TRAINING,
)
app.command("cardsharp_tools.research.blef.benchmark:benchmark", name="benchmark")
app.command("cardsharp_tools.research.blef.benchmark:calibration", name="calibration")


@dataclass(frozen=True, kw_only=True)
class SolveOptions(CommandOptions):
    """Options that select the rounds, and what to do with them."""

    cards: Annotated[
        tuple[Literal["1v1", "2v1", "1v2"], ...],
        Parameter(negative=(), help="Cards of who begins and of the other; repeatable; else all."),
    ] = ()
    strategy: Annotated[str, Parameter(help="Whose play is held against a best answer.")] = "bayes"
    write: Annotated[
        Path | None,
        Parameter(help=f"Solve, and write tables into this folder; the shipped ones: {TABLES_DIR}"),
    ] = None
    iterations: Annotated[int, Parameter(validator=Positive, help="With --write: of CFR+.")] = 400
    as_json: Json = False


@solve.command(name="blef", help_epilogue=_SOLVING)
def solve_or_measure_blef(*, options: SolveOptions = SolveOptions()) -> None:
    """Print what a best response wins above an equal share; with --write, solve the rounds."""
    selected = [
        sizes
        for sizes in SOLVED_CARD_COUNTS
        if not options.cards or _format_round_name(sizes) in options.cards
    ]
    for cards in selected:
        small = build_small_round(*cards)
        result = (
            _solve_round(small, options)
            if options.write is not None
            else _measure_exploitability(small, options)
        )
        if options.as_json:
            print_json(result)
        else:
            result_console().print(", ".join(f"{key} {value}" for key, value in result.items()))


def _measure_exploitability(small: SmallRound, options: SolveOptions) -> dict[str, object]:
    """Return the exploitability of the shipped table and of the strategy.

    Both are computed at this call, not read from the table's file.
    """
    shipped = load_solution(*small.cards)
    plans = shipped["starter"], shipped["other"]
    return {
        "cards": _format_round_name(small.cards),
        "table": round(exploitability(small, table_strategy(small, plans)), 6),
        options.strategy: round(
            exploitability(small, strategy_function_by_name(small, options.strategy)), 6
        ),
        "value": shipped["value"],
    }


def _solve_round(small: SmallRound, options: SolveOptions) -> dict[str, object]:
    solver = CfrSolver(small)
    solver.iterate(options.iterations)
    command = f"cardsharp research solve blef --write FOLDER --iterations {options.iterations}"
    document = to_solved_table(small, solver.average_strategy, command, datetime.now(UTC).date())
    file = write_solved(document, options.write or TABLES_DIR)
    return {
        "cards": _format_round_name(small.cards),
        "value": document["value"],
        "exploitability": document["exploitability"],
        "file": str(file),
    }


Setups = Annotated[
    tuple[str, ...],
    Parameter(
        name="--setups",
        negative=(),
        help="Cards of who begins v the other, as 3v2; repeatable; else all.",
    ),
]
Checkpoint = Annotated[Path, Parameter(help="Folder with the checkpoints of the training.")]


@dataclass(frozen=True, kw_only=True)
class TrainOptions(CommandOptions):
    """Options of the training: its length and its workers."""

    hours: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 1.0
    until: Annotated[
        int, Parameter(validator=Positive, help="Steps of 2,000 deals a round; it ends there.")
    ] = 1_000
    workers: Annotated[int, Parameter(validator=Positive, help="Processes.")] = 1
    cluster: Cluster = None


@app.command(name="train", help_epilogue=_TRAINING)
def train_tables(
    *, checkpoint: Checkpoint, rounds: Setups = (), options: TrainOptions = TrainOptions()
) -> None:
    """Train by steps, the round of fewest steps first; repeat the command to continue."""
    native_library()
    folder, budget = (
        CheckpointFolder(checkpoint),
        TrainingBudget(options.until, options.hours * _SECONDS_PER_HOUR),
    )

    def tell(cards: HandSizes, step_count: int) -> None:
        message_console().print(f"{_format_round_name(cards)}: {step_count} steps")

    with make_executor(options.workers, options.cluster) as pool:
        train_rounds(folder, _select_rounds(rounds), budget, pool, tell)
    for cards in _select_rounds(rounds):
        result_console().print(
            f"{_format_round_name(cards)}: {folder.training_step_count(cards)} of "
            f"{options.until} steps"
        )


@app.command(name="pack")
def pack_tables(
    *,
    checkpoint: Checkpoint,
    rounds: Setups = (),
    out: Annotated[Path, Parameter(help="A file.")] = DEFAULT_FILE,
) -> None:
    """Write the tables of a checkpoint in the format that `solved` reads."""
    native_library()
    folder, tables, step_counts = CheckpointFolder(checkpoint), {}, {}
    for cards in filter(folder.training_step_count, _select_rounds(rounds)):
        learner, done = restore_trainer_and_step_count(cards, folder.read(cards))
        message_console().print(f"{_format_round_name(cards)}: {done} steps")
        tables[cards], step_counts[_format_round_name(cards)] = average_policy_rows(learner), done
    if not tables:
        raise ConfigError(f"{checkpoint} has no trained round yet; run `train` first.")
    steps_text = ", ".join(f"{name} {step_count}" for name, step_count in step_counts.items())
    write_tables(out, f"cardsharp research blef train, until: {steps_text}", tables)
    result_console().print(f"{out}: {len(tables)} rounds, {out.stat().st_size / 1e6:.2f} MB")


@app.command(name="train-large")
def train_large_rounds(
    *,
    out: Annotated[Path, Parameter(help="A file.")] = LARGE,
    rounds: Setups = (),
    steps: Annotated[
        int, Parameter(validator=Positive, help="Of 400 deals.")
    ] = _DEFAULT_TRAINING_AMOUNT.steps,
    workers: Annotated[int, Parameter(validator=Positive, help="Processes.")] = 1,
    cluster: Cluster = None,
) -> None:
    """Train rounds with eight to eighteen cards in play, for `solved` to play by.

    A setup has the smaller number of cards first. Each takes about 10 seconds.
    """
    native_library()
    selected, learned = _select_rounds(rounds, LARGE_ROUNDS), dict[HandSizes, bytes]()
    lesson = partial(
        train_large_round, amount=TrainingAmount(steps, _DEFAULT_TRAINING_AMOUNT.deals)
    )
    with ProgressBar(len(selected), "rounds") as bar, make_executor(workers, cluster) as pool:
        for knowledge in (map if pool is None else pool.map)(lesson, selected):
            learned |= knowledge
            bar.advance(1)
    write_large(out, f"cardsharp research blef train-large --steps {steps}", learned)
    result_console().print(f"{out}: {len(learned)} tables, {out.stat().st_size / 1e6:.2f} MB")


@dataclass(frozen=True, kw_only=True)
class CheckOptions(CommandOptions):
    """Options of the check: the number of rounds."""

    rounds: Annotated[int, Parameter(alias="-n", validator=Positive)] = 4_000
    seed: Seed = 1
    as_json: Json = False


@app.command(name="check", help_epilogue=_TRAINING)
def measure_table_exploitability(
    *,
    file: Annotated[Path, Parameter(help="The tables.")] = DEFAULT_FILE,
    rounds: Setups = (),
    options: CheckOptions = CheckOptions(),
) -> None:
    """Measure a lower bound of the tables' exploitability with a local best response.

    The response knows the table and looks one or two steps ahead. It plays new
    deals, equally often from each seat. The result is a 95 % interval, in
    hundredths of a round. Large rounds are checked only if you name them.
    """
    native_library()
    tables, learned = load_tables(file), policy_bytes_by_hand_sizes(load_large_round_policy())
    table_player, available = (
        set_large_round_policies(build_round_player("tables", tables), learned),
        {*tables, *learned},
    )
    selected = _select_rounds(rounds, (*ROUNDS, *learned)) if rounds else tables
    for cards, depth in product(filter(available.__contains__, selected), (1, 2)):
        interval = local_exploitability(cards, table_player, depth, options.seed, options.rounds)
        if options.as_json:
            row = {
                "setup": _format_round_name(cards),
                "measure": f"depth {depth}",
                "rounds": options.rounds,
            }
            print_json({**row, **interval._asdict()})
        else:
            interval_text = f"{100 * interval.low:.2f} to {100 * interval.high:.2f} %"
            result_console().print(
                f"{_format_round_name(cards)} depth {depth}: {interval_text} of "
                f"{options.rounds:,} rounds"
            )


def _format_round_name(cards: HandSizes) -> str:
    return f"{cards[0]}v{cards[1]}"


def _select_rounds(
    names: Sequence[str], available: Sequence[HandSizes] = ROUNDS
) -> Sequence[HandSizes]:
    """Return the rounds with these names, or all; raise `ConfigError` for an unknown name."""
    rounds_by_name = {_format_round_name(cards): cards for cards in available}
    unknown = [name for name in names if name not in rounds_by_name]
    if unknown:
        raise ConfigError(f"'{unknown[0]}' is not trained; there are {', '.join(rounds_by_name)}.")
    return [rounds_by_name[name] for name in names] or available
