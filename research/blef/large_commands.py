"""`cardsharp research blef large`: learn the rounds with eight cards in play and more."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.blef.strategies.large import FILE, Cards, write
from cardsharp.errors import ConfigError
from research.blef.compiled import library
from research.blef.large_rounds import ROUNDS, Lessons, learn_all
from workbench.lab.options import Cluster
from workbench.lab.pools import pool_of
from workbench.show.output import results
from workbench.show.progress import Bar

_LESSONS = Lessons()
Setups = Annotated[
    tuple[str, ...],
    Parameter(negative=(), help="Cards of both, the fewer first, as 4v6; repeatable; else all."),
]
_Number = Parameter(validator=validators.Number(gte=1))


def large(
    *,
    out: Annotated[Path, Parameter(help="A file.")] = FILE,
    setups: Setups = (),
    steps: Annotated[int, _Number, Parameter(help="Of 400 deals.")] = _LESSONS.steps,
    workers: Annotated[int, _Number, Parameter(help="Processes.")] = 1,
    cluster: Cluster = None,
) -> None:
    """Learn rounds with eight to eighteen cards in play, and write what `solved` plays there."""
    library()
    wanted = _rounds(setups)
    learned: dict[Cards, bytes] = {}
    lessons = Lessons(steps, _LESSONS.deals)
    with Bar(len(wanted), "rounds") as bar, pool_of(workers, cluster) as pool:
        for known in learn_all(wanted, lessons, pool):
            learned |= known
            bar.advance(1)
    made_by = f"cardsharp research blef large --steps {steps}"
    write(out, made_by, learned)
    results().print(f"{out}: {len(learned)} tables, {out.stat().st_size / 1e6:.2f} MB")


def _rounds(setups: tuple[str, ...]) -> list[Cards]:
    """The rounds of these names, all where none is named; raises `ConfigError` for another name."""
    known = {f"{one}v{two}": (one, two) for one, two in ROUNDS}
    unknown = [name for name in setups if name not in known]
    if unknown:
        raise ConfigError(f"'{unknown[0]}' is not learned; there are {', '.join(known)}.")
    return [known[name] for name in setups] or list(ROUNDS)
