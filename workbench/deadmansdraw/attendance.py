"""How `cardsharp bot` attends, once the arena has said who we are: it plays, and tells the news."""

import fcntl
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from hashlib import sha256
from math import inf
from time import monotonic

import poller.app
from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Queue, Status
from cardsharp.cloud.private import make_private
from cardsharp.deadmansdraw.assembly import Assembly
from cardsharp.errors import StoreError
from cardsharp.replay import UNKNOWN
from workbench.cloud.events import Event, LambdaContext, LambdaHandler, failures_to
from workbench.cloud.home import Home, HomeOptions
from workbench.deadmansdraw.bot import BotOptions, log_file
from workbench.deadmansdraw.show import Watch
from workbench.show.display import DisplayGuard
from workbench.show.exits import Stopped, signals_to
from workbench.show.lookup import SQLITE, file_of
from workbench.stage.side import attending

GLANCE = timedelta(milliseconds=200)  # between two looks at the log, unless they take long
NEWS = 0.1  # the part of the time that may go into looking: the matches need the processor more
WORKER_TIME = timedelta(days=1)  # nothing limits a worker at home, so it stays with its match
PLAYED_ON = 5.0  # seconds after SIGTERM in which what runs may end; most kill us after ten


def attend(assembly: Assembly, name: str, options: BotOptions, say: Callable[[str], None]) -> None:
    """Attend as the player of that name, from the moment when the place at the arena is free."""
    tags = f", tags {' '.join(assembly.settings.tags)}" if assembly.settings.tags else ""
    attends = f"{assembly.settings.arena_url} as {name}{tags}."
    with place_at(assembly) as take:
        first = take()
        if first:
            say(f"attending {attends}")
        elif options.standby:
            say(f"standing by: another bot with this match log attends {attends}")
        else:
            say(f"attending {attends} So does another bot with this match log; see --standby.")
        say(f"Ctrl-C: no new matches. The program's own log is {log_file()}.")
        left = partial(say_left, say, assembly.queue, options.at_once)
        home = HomeOptions(concurrency=options.at_once, observe=failures_to(say), left=left)
        listen = None
        if options.standby and not first:
            listen = standing_by(assembly, take, lambda: say(f"now attending {attends}"))
        news = _News(assembly.offering, options, say)
        work = attending(assembly.offering, home, worker_time=WORKER_TIME, listen=listen)
        with work as at_work:
            _attend(at_work, news, options.once, say)


def _attend(home: Home, news: "_News", once: bool, say: Callable[[str], None]) -> None:
    """Show what happens until Ctrl-C or a match's end, and play on what runs then."""
    heard: list[int] = []  # an exception could be caught wherever it arises
    with signals_to(lambda number, _: heard.append(number), signal.SIGINT, signal.SIGTERM):
        while not (heard or (once and news.ended)):
            news.tell_calmly()
        if heard:
            say("no new matches.")
        home.wind_down()
        _play_on(home, news, heard, say)
        news.tell()


def _play_on(home: Home, news: "_News", heard: list[int], say: Callable[[str], None]) -> None:
    """Wait for the matches that run until a second signal, after SIGTERM not for long."""
    ends = signal.SIGTERM in heard
    due = monotonic() + PLAYED_ON if ends else inf
    if home.running:
        then = f"played on for {PLAYED_ON:g} s" if ends else "played to the end"
        say(f"{home.running} running, {then}; Ctrl-C again stops at once.")
    while home.running:
        if len(heard) > 1 or monotonic() > due:
            raise Stopped(heard[-1])
        news.tell_calmly()


class _News:
    """Tells of every match that this process attends, which are some of those in the log.

    The log has matches of other games and of other processes, too. Whatever cannot be told is
    reported, and playing goes on.
    """

    def __init__(self, offering: Offering, options: BotOptions, say: Callable[[str], None]) -> None:
        self._log, self._clock, self._taken = offering.log, offering.clock, offering.taken
        self._watch = Watch(offering.log, tagged=True, as_json=options.as_json)
        self._guard = DisplayGuard(say)
        self._given_up: set[str] = set()
        self._due = 0.0

    @property
    def ended(self) -> bool:
        """Whether any has been played to its end; one left from another arena is unknown here."""
        return any(self._result(i) not in {None, UNKNOWN} for i in tuple(self._taken))

    def tell_calmly(self) -> None:
        """Tell what is new in a moment, unless the last time took so long that it is too much."""
        self._clock.sleep(GLANCE)
        began = self._clock.monotonic()
        if began >= self._due:
            self.tell()
            now = self._clock.monotonic()
            self._due = now + (now - began) / NEWS

    def tell(self) -> None:
        """Tell what is new."""
        for match_id in tuple(self._taken):  # workers add to it
            if self._watch.ended(match_id) or match_id in self._given_up:
                continue
            is_shown = self._guard.run(partial(self._watch.glance, [match_id]), f"Match {match_id}")
            if not is_shown and self._result(match_id) is not None:
                self._given_up.add(match_id)

    def _result(self, match_id: str) -> object:
        """How a match has ended, "" where that cannot be read; None while it runs."""
        try:
            record = self._log.match(match_id)
        except StoreError as error:
            self._guard.report(str(error))
            return None
        if record is None or record.status is not Status.FINISHED:
            return None
        return (record.outcome or {}).get("result", "")


def say_left(say: Callable[[str], None], queue: Queue, at_once: int, running: int) -> None:
    """Say that matches wait while no more can be played, and what to do."""
    if not (isinstance(queue, MemoryQueue) and queue.visible):
        return
    if running >= at_once:
        say(f"Matches wait for us, for {at_once} are played already: raise --at-once.")
    else:
        say(f"Matches wait for us: this machine keeps up with no more than {running} at once.")


@contextmanager
def place_at(assembly: Assembly) -> Iterator[Callable[[], bool]]:
    """Yield what takes the place of whoever attends an arena, and says whether it is ours now.

    Bots of a player that have one match log have one place. Who attends holds a lock, which the
    system gives back however it ends. The others look at the leases meanwhile, as every poller
    does, so a match whose worker died is played on at once; they ask the arena for matches only
    when the lock is their own. With a log that is no file nobody else is seen.
    """
    settings = assembly.settings
    if not settings.store.startswith(SQLITE):
        yield lambda: True
        return
    who = sha256(f"{settings.arena_url} {assembly.player_id}".encode()).hexdigest()[:8]
    store = file_of(settings.store)
    lock = store.with_name(f"{store.name}.{who}.lock")
    make_private(lock)
    with lock.open("ab") as file:

        def take() -> bool:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        yield take


def standing_by(
    assembly: Assembly, take: Callable[[], bool], taken: Callable[[], None]
) -> LambdaHandler:
    """A poller for who came second: it looks at leases until the place is free, then is as any."""
    waits = True

    def handler(event: Event, context: LambdaContext) -> object:
        nonlocal waits

        def left() -> timedelta:
            if take():
                return timedelta(0)
            return timedelta(milliseconds=context.get_remaining_time_in_millis())

        if waits:
            assembly.offering.watch(assembly.settings.watch, left)
            if not take():
                return {"offered": 0}
            waits = False
            taken()
        return poller.app.handler(event, context)

    return handler
