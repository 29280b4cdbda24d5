"""Keeping a lease while a worker lives."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Self

from cardsharp.cloud.ports import Clock, Lease, LeaseBook
from cardsharp.cloud.timing import Timing
from cardsharp.errors import Conflict, StoreError


@contextmanager
def beside(work: Callable[[], object], every: timedelta, clock: Clock) -> Iterator[None]:
    """Do `work` each `every` in a thread of its own, which has ended when the block ends.

    Lambda freezes a process after its answer, and a frozen thread would wake up too late.
    """
    stop = threading.Event()

    def keep_on() -> None:
        while not clock.wait(stop, every):
            work()

    thread = threading.Thread(target=keep_on, name="beside", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class LeaseKeeper:
    """Renews a lease in the background between enter and exit.

    It was asked for at the monotonic second `asked`, and is counted as valid from then on.

    Leaving without an exception gives the lease back. Leaving with one lets it run out, so that
    a match that cannot be played is not taken again at once. The thread has ended either way.
    Once the lease is given back the match is to `rest` for so long.
    """

    def __init__(
        self, book: LeaseBook, lease: Lease, timing: Timing, clock: Clock, asked: float
    ) -> None:
        self.lease = lease
        self._book = book
        self._ttl = timing.lease
        self._clock = clock
        self._asked = asked
        self.rest: timedelta | None = None
        self._lost: Conflict | None = None
        self._guard = threading.Lock()
        self._keeping = beside(self._keep, timing.renew, clock)

    @property
    def left(self) -> timedelta:
        """For how long the lease is valid yet; negative when it has run out."""
        return self._ttl - timedelta(seconds=self._clock.monotonic() - self._asked)

    def ensure(self, margin: timedelta) -> Lease:
        """The lease, valid for `margin` or more, renewed if need be; raises `Conflict`."""
        with self._guard:
            if self._lost is None and self.left < margin:
                self._renew()
            if self._lost is not None:
                raise Conflict(str(self._lost)) from self._lost
            if self.left < margin:
                raise Conflict(f"The lease of match {self.lease.match_id} cannot be kept.")
            return self.lease

    def __enter__(self) -> Self:
        self._keeping.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._keeping.__exit__(None, None, None)
        if kind is None and self._lost is None:
            with suppress(StoreError):  # without a release it runs out by itself
                self._book.release(self.lease, self.rest)

    def _keep(self) -> None:
        if self._lost is None:
            with self._guard:
                self._renew()

    def _renew(self) -> None:
        """Renew once; the guard is held. A failing store is tried again at the next turn."""
        asked = self._clock.monotonic()
        try:
            self._book.renew(self.lease, self._ttl)
            self._asked = asked
        except Conflict as conflict:
            self._lost = conflict
        except StoreError:
            pass
