"""Where a run's tasks are done: processes of this machine, or the workers of a Dask cluster."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any, TypeVar
from urllib.parse import urlsplit

from cardsharp.errors import ConfigError, StrategyFault, Unreachable
from workbench import last_words
from workbench.files import lacking
from workbench.strategy_file import host

T = TypeVar("T")

_PATIENCE = 10
"""Seconds in which a scheduler must answer."""


@contextmanager
def pool_of(
    processes: int, cluster: str | None = None, *, apart: bool = False
) -> Iterator[Executor | None]:
    """An executor for a run, None where one process is to do it: this one.

    With `apart`, as for a user's file, it is never this one.

    A cluster gives the task of a worker that dies to another one.

    Raises:
        ConfigError: the cluster's library is not installed, or the address is none.
        StrategyFault: a process of this machine ended in the middle of a task.
        Unreachable: nobody answers there.
    """
    if cluster is not None:
        with _cluster(cluster) as pool:
            yield pool
    elif processes == 1 and not apart:
        yield None
    else:
        before, local = active_children(), ProcessPoolExecutor(processes, get_context("spawn"))
        try:
            yield local
        except BrokenProcessPool:
            raise StrategyFault(
                "A process that played has died: a strategy ended it, or the memory ran out."
            ) from None
        except BaseException:
            local.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - set(before):
                worker.kill()  # whatever a strategy of its own does there for ever
            raise
        local.shutdown(cancel_futures=True)


def hosted(work: Callable[..., T], *given: object) -> T:
    """Do the work in this process, which is there for the strategy files that it imports."""
    host(last_words.listen)
    return work(*given)


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client  # noqa: PLC0415 - an optional group
    except ImportError:
        raise lacking("--cluster", "Dask", "cluster") from None
    if urlsplit(address).netloc.rpartition(":")[0] == "":
        raise ConfigError(f"'{address}' is no address of a cluster, which is tcp://HOST:PORT.")
    try:
        client: Any = Client(  # type: ignore[no-untyped-call]  # Dask says no types
            address, timeout=_PATIENCE, set_as_default=False
        )
    except ValueError as error:
        raise ConfigError(f"'{address}' is no address of a cluster: {error}.") from error
    except OSError as error:
        raise Unreachable(f"No Dask scheduler answers at {address}.") from error
    with client:
        pool = client.get_executor(pure=False)
        try:
            yield pool
        finally:
            pool.shutdown(wait=False)
