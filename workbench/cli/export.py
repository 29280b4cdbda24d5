"""`cardsharp export`: decisions of stored or fresh matches as a data set for learners."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from cardsharp.games import game as game_named
from workbench.cli.trying import WantedMatches, matches_of
from workbench.files import lacking
from workbench.lab.options import Positive
from workbench.lab.plan import Plan
from workbench.lab.players import check_players
from workbench.show.lookup import game_of
from workbench.show.output import tell
from workbench.show.progress import Bar

if TYPE_CHECKING:
    from workbench.env.dataset import DecisionRow


@dataclass(frozen=True, kw_only=True)
class ExportOptions(WantedMatches):
    """Which decisions are told, and how."""

    game: str | None = None
    """For which game; Dead Man's Draw if you do not say."""
    pairs: Annotated[int, Parameter(alias="-n", validator=Positive)] = 100
    """Fresh deals, played from every side."""
    seed: int = 1
    """The same seed plays the same matches."""
    value: bool = False
    """Have the game's judge value each action: slow."""
    dense: bool = False
    """JSON Lines with every 0 of observation and mask: four times as large."""


def export(
    file: Annotated[Path, Parameter(help="Where to write it: FILE.jsonl or FILE.parquet.")],
    first: Annotated[
        str | None, Parameter(help="Who plays fresh matches; without it stored ones are told.")
    ] = None,
    second: Annotated[str | None, Parameter(help="Against whom; else against itself.")] = None,
    *,
    options: ExportOptions = ExportOptions(),
) -> None:
    """Write each decision as a row: what was seen, allowed and done, and what came of it."""
    try:
        from workbench.env import dataset  # noqa: PLC0415 - an optional group
    except ImportError as error:
        raise lacking("export", str(error.name), "env") from None
    of = game_named(options.game)
    if first is None:  # stored ones
        stored = list(matches_of(options, of if options.game else None))
        tellers = ((dataset.Teller(game_of(one[0]), valued=options.value), one) for one in stored)
        rows: Iterator[DecisionRow] = (row for told, one in tellers for row in told.stored(*one))
        matches = len(stored)
    else:
        second, pairs = second or first, options.pairs
        plan = Plan(game=of.name, first=first, second=second, pairs=pairs, seed=options.seed)
        check_players(plan)
        rows = dataset.Teller(of, valued=options.value).played(plan)
        matches = pairs * plan.matches_a_pair
    number = dataset.write(_counted(rows, matches), file, dense=options.dense)
    line = f"wrote {number:,} decisions into {file}"
    tell({"file": str(file), "rows": number}, line, as_json=options.as_json)


def _counted(rows: Iterator["DecisionRow"], matches: int) -> Iterator["DecisionRow"]:
    match = None
    with Bar(matches, "matches") as bar:
        for row in rows:
            if row["match"] != match:
                bar.advance(match is not None)
                match = row["match"]
            yield row
