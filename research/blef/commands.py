"""`cardsharp research solve blef`: make and check the tables of solved rounds."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.blef.strategies.equilibrium import SOLVED, table
from research.blef.solve import SmallRound, Solver, exploitability, small_round
from research.blef.tables import FOLDER, Origin, plays, profile_in, profile_of, table_of, write
from workbench.show.options import Json
from workbench.show.output import print_json, results

Cards = Literal["1v1", "2v1", "1v2"]

_EXAMPLES = Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip()

app = cyclopts.App(name="solve", help="Solve what can be solved exactly.", help_format="plaintext")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SolveOptions:
    """Which rounds, and what to do with them."""

    cards: Annotated[
        tuple[Cards, ...],
        Parameter(negative=(), help="Cards of who begins and of the other; repeatable; else all."),
    ] = ()
    strategy: Annotated[str, Parameter(help="Whose play is held against a best answer.")] = "bayes"
    write: Annotated[
        Path | None,
        Parameter(help=f"Solve, and write tables into this folder; the shipped ones: {FOLDER}"),
    ] = None
    iterations: Annotated[
        int, Parameter(validator=validators.Number(gte=1), help="With --write: of CFR+.")
    ] = 400
    as_json: Json = False


@app.command(name="blef", help_epilogue=_EXAMPLES)
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


def _name(cards: tuple[int, int]) -> str:
    return f"{cards[0]}v{cards[1]}"


def _measured(small: SmallRound, options: SolveOptions) -> dict[str, object]:
    """What the shipped table lacks, and what the strategy does, both worked out now."""
    shipped = table(*small.cards)
    return {
        "cards": _name(small.cards),
        "table": round(exploitability(small, profile_in(small, shipped.plans)), 6),
        options.strategy: round(
            exploitability(small, profile_of(small, plays(options.strategy))), 6
        ),
        "value": shipped.value,
    }


def _solved(small: SmallRound, options: SolveOptions) -> dict[str, object]:
    solver = Solver(small)
    solver.iterate(options.iterations)
    command = f"cardsharp research solve blef --write FOLDER --iterations {options.iterations}"
    made = table_of(small, solver.average, Origin(command, datetime.now(UTC).date()))
    file = write(made, options.write or FOLDER)
    return {
        "cards": _name(small.cards),
        "value": made.value,
        "exploitability": made.exploitability,
        "file": str(file),
    }
