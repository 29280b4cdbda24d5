"""`cardsharp research calibrate`, `study` and `speed`."""

from dataclasses import asdict
from pathlib import Path
from time import process_time
from typing import Annotated

from cyclopts import Parameter, validators
from rich.table import Table

from research.deadmansdraw.calibration import Calibration
from research.deadmansdraw.calibration import calibrate as calibrated
from research.deadmansdraw.study import ENTRIES, write_entry
from research.deadmansdraw.study import study as studied
from workbench.lab.plan import Plan
from workbench.lab.runs import all_cores, engine_of
from workbench.show.lookup import open_to_read
from workbench.show.options import Json, Store
from workbench.show.output import print_json, results

_POSITIVE = validators.Number(gte=1)


def calibrate(  # noqa: PLR0913 - options of a command
    strategy: Annotated[str, Parameter(help="A strategy, or a FILE.py with one.")],
    *,
    matches: Annotated[int, Parameter(alias="-n", validator=_POSITIVE)] = 1000,
    opponent: Annotated[str, Parameter(help="Whom it plays.")] = "steady",
    seed: Annotated[int, Parameter(help="The same seed plays the same matches.")] = 1,
    workers: Annotated[int | None, Parameter(help="Processes; else one a core.")] = None,
    picture: Annotated[Path | None, Parameter(help="Its figures as .json, or drawn.")] = None,
    as_json: Json = False,
) -> None:
    """Compare a strategy's win probability with what came of matches."""
    found = calibrated(strategy, opponent, matches, seed, workers or all_cores())
    if picture is not None:
        found.picture(strategy).write(picture)
    if as_json:
        print_json(found.document())
    else:
        _print_calibration(found)


def _print_calibration(found: Calibration) -> None:
    """Print a calibration bin by bin."""
    shown = Table("turns", "said %", "came %", "±", box=None, padding=(0, 2), pad_edge=False)
    for one in found.bins:
        figures = (100 * one.said, 100 * one.came, 100 * one.margin)
        shown.add_row(str(one.number), *(f"{figure:.1f}" for figure in figures))
    results().print(shown)
    results().print(f"expected calibration error {found.error:.4f} in {found.matches} matches")


def study(
    opponent: Annotated[str, Parameter(help="A player's id or name in the log.")],
    *,
    matches: Annotated[int, Parameter(validator=_POSITIVE, help="The last so many of them.")] = 200,
    out: Annotated[Path, Parameter(help="The file of known opponents to write.")] = ENTRIES,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Make an entry for `adaptive` from an opponent's logged matches."""
    with open_to_read(store) as log:
        found = studied(log, opponent, matches)
    write_entry(found.entry, out)
    if as_json:
        print_json(asdict(found))
        return
    console = results()
    console.print(f"{opponent}: {found.decisions} decisions in {found.matches} matches")
    for model, shares in found.agreement.items():
        told = ", ".join(f"{100 * share:.0f} % of its {what}" for what, share in shares.items())
        console.print(f"  decides as {model}: {told}")
    console.print(f"plays with the weights '{found.entry.weights}' against it; written to {out}")


def speed(
    strategy: Annotated[str, Parameter(help="Who plays against itself.")] = "captain",
    *,
    pairs: Annotated[int, Parameter(alias="-n", validator=_POSITIVE, help="Decks.")] = 20,
    seed: int = 1,
) -> None:
    """Measure how much faster the compiled twin plays the same matches, on one core."""
    spent = []
    for plain in (True, False):
        plan = Plan(first=strategy, second=strategy, pairs=pairs, seed=seed, plain=plain)
        play = engine_of(plan)
        play(plan, range(1))  # compiles, and reads the weights
        began = process_time()
        play(plan, range(pairs))
        spent.append((process_time() - began) / (2 * pairs))
    told = (f"{1000 * seconds:.1f} ms a match" for seconds in spent)
    results().print(f"{' v compiled '.join(told)}: {spent[0] / spent[1]:.0f} times as fast")
