"""`cardsharp lab ratings`: the rungs of a ladder, measured."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table

from workbench.lab.duel import Duel
from workbench.lab.ladder import Ladder, file_of, measured, rungs_of
from workbench.lab.options import Cluster, GameName, Positive, Seed, Workers
from workbench.lab.plan import DEFAULT_GAME, Plan
from workbench.lab.pools import pool_of
from workbench.lab.runs import all_cores
from workbench.show.options import Json
from workbench.show.output import messages, plain_table, print_json, results


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RatingOptions:
    """Whose players are measured, how long, and by what."""

    game: GameName = DEFAULT_GAME
    pairs: Annotated[int, Parameter(alias="-n", validator=Positive)] = 500
    """Deals for each pair of players."""
    seed: Seed = 1
    workers: Workers = None
    cluster: Cluster = None
    write: bool = False
    """Make these the ratings of `cardsharp ladder`."""
    as_json: Json = False


def ratings(*, options: RatingOptions = RatingOptions()) -> None:
    """Measure the players of a game's ladder, each against the next few: ratings in Elo points.

    Their mean is 1,000. Who has 400 more makes ten times the points of the other.
    """
    game = rungs_of(options.game)
    plan = Plan(game=game.name, first="", second="", pairs=options.pairs, seed=options.seed)
    with pool_of(options.workers or all_cores(), options.cluster) as pool:
        found = measured(plan, pool, _tell)
    if options.write:
        file_of(game.name).write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if options.as_json:
        print_json(found.model_dump())
    else:
        results().print(_table(found))


def _tell(duel: Duel) -> None:
    messages().print(str(duel).partition("\n")[0], soft_wrap=True)


def _table(ladder: Ladder) -> Table:
    table = plain_table("player", "rating", right=("rating",))
    for name, rating in ladder.players.items():
        table.add_row(name, str(rating))
    return table
