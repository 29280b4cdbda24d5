"""A run while somebody looks: with a bar, and kept in a file."""

from concurrent.futures import Executor
from pathlib import Path

from workbench.lab.duel import Duel
from workbench.lab.ledger import RunLedger
from workbench.lab.plan import Plan
from workbench.lab.pools import pool_of
from workbench.lab.runs import Numbered, run
from workbench.lab.sprt import Sequential
from workbench.show.progress import Bar
from workbench.strategy_file import is_file


def followed(
    plan: Plan,
    processes: int,
    *,
    out: Path | None = None,
    cluster: str | None = None,
    tested: Sequential | None = None,
) -> Duel:
    """The duel of a plan, with a bar while somebody looks; kept in the file `out`."""
    ledger = None if out is None else RunLedger(out, plan)
    apart = is_file(plan.first) or is_file(plan.second)
    with pool_of(processes, cluster, apart=apart) as pool:
        return watched(plan, pool, ledger, tested)


def watched(
    plan: Plan,
    pool: Executor | None,
    ledger: RunLedger | None = None,
    tested: Sequential | None = None,
) -> Duel:
    """The duel of a plan, with a bar while somebody looks, by processes that are there already."""
    kept = {} if ledger is None else ledger.kept
    with Bar(plan.pairs, plan.title, len(kept)) as bar:

        def tell(played: list[Numbered]) -> None:
            if ledger is not None:
                ledger.add(played)
            bar.advance(len(played))

        return run(plan, pool, kept, tell, tested)
