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
    rows = _stored(options) if first is None else _fresh(first, second or first, options)
    number = dataset.write(rows, file)
    line = f"wrote {number:,} decisions into {file}"
    tell({"file": str(file), "rows": number}, line, as_json=options.as_json)


def _fresh(first: str, second: str, options: ExportOptions) -> Iterator["DecisionRow"]:
    from workbench.env.dataset import Teller  # noqa: PLC0415

    of = game_named(options.game)
    plan = Plan(game=of.name, first=first, second=second, pairs=options.pairs, seed=options.seed)
    check_players(plan)
    rows = Teller(of, valued=options.value).played(plan)
    return _counted(rows, plan.pairs * plan.matches_a_pair)


def _stored(options: ExportOptions) -> Iterator["DecisionRow"]:
    from workbench.env.dataset import Teller  # noqa: PLC0415

    of = None if options.game is None else game_named(options.game)
    matches = list(matches_of(options, of))
    rows = (
        row
        for record, moves in matches
        for row in Teller(game_of(record), valued=options.value).stored(record, moves)
    )
    return _counted(rows, len(matches))


def _counted(rows: Iterator["DecisionRow"], matches: int) -> Iterator["DecisionRow"]:
    """The rows, with a bar of the matches that they are of."""
    match = None
    with Bar(matches, "matches") as bar:
        for row in rows:
            if row["match"] != match:
                bar.advance(match is not None)
                match = row["match"]
            yield row
