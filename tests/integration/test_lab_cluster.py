"""A run on a Dask cluster: two workers of this machine, of which one is killed in mid-run."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.cli import line_with, program

from workbench.lab.plan import Plan
from workbench.lab.runs import Numbered, pool_of, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("distributed") is None, reason="Dask is not installed: make setup"
    ),
]

PLAN = Plan(game="euchre", first="rules", second="random", pairs=60, seed=5, plain=True)


Process = subprocess.Popen[str]


dask = partial(program, module="dask", errors=subprocess.STDOUT)
"""A process of Dask's own command line, which dies with the test."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[Process]]]:
    local = ("--host", "127.0.0.1", "--no-dashboard")
    with ExitStack() as stack:
        scheduler = stack.enter_context(dask("scheduler", *local, "--port", "0"))
        address = line_with(scheduler.stdout, "Scheduler at:").split()[-1]
        workers = []
        for name in ("one", "two"):
            given = ("--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path / name))
            workers.append(stack.enter_context(dask("worker", address, *given, *local)))
            line_with(workers[-1].stdout, "Registered to:")
        yield address, workers


def test_a_cluster_plays_the_same_though_a_worker_dies(cluster: tuple[str, list[Process]]) -> None:
    address, workers = cluster
    done = 0

    def tell(played: list[Numbered]) -> None:
        nonlocal done
        done += len(played)
        if done > 5 and workers[0].poll() is None:
            workers[0].send_signal(signal.SIGKILL)
            workers[0].wait()

    with pool_of(2, address) as pool:
        over = run(PLAN, pool, tell=tell)
    assert workers[0].poll() == -signal.SIGKILL
    assert done == PLAN.pairs
    assert over == run(PLAN)
