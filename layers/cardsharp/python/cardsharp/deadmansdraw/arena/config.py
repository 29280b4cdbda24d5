"""What an arena can be told when it is started, and where it runs."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from cardsharp.cloud.clock import Now, utc_now
from cardsharp.deadmansdraw.arena.limits import AT_HOME, PER_ADDRESS, PER_USER, Counts, Quotas
from cardsharp.deadmansdraw.arena.lobby import Lobby
from cardsharp.deadmansdraw.arena.players import DEFAULT_FILE, Book, Known
from cardsharp.deadmansdraw.arena.presence import Presence
from cardsharp.deadmansdraw.arena.randomness import Randomness
from cardsharp.deadmansdraw.arena.waiting import Waiting


@dataclass(frozen=True, slots=True)
class ArenaConfig:
    """The settings of one arena.

    `port` 0 takes a free one. `teams` brings players in place of the file's. `data` None keeps
    matches in memory. Without `admin_password` there is no admin. `clock` stamps moves and measures
    turn timeouts; long polls are measured by the event loop.

    `tls` names the files of a certificate and its key; without them only this machine is
    listened to, or with `insecure` a private network. `public` lets spectators in without a
    password. `quotas` is what one player may take. With `slow_down` who asks more than
    `per_user` times a minute waits, but for those in `free`, and so does who asks more than
    `per_address` times from one address. Where that is `crowded`, as many teams may share it, only
    who has not signed in is slowed by it.

    `pace` is how long the page of a match lets pass at the least between two moves that it shows.

    `watchdog` is how late a turn may be until the arena itself ends it; None leaves
    that to others, as the original does.
    """

    host: str = "127.0.0.1"
    port: int = 0
    players: Path = DEFAULT_FILE
    teams: Known | None = None
    data: Path | None = None
    randomness: Randomness = Randomness.FAIR
    poll_timeout: timedelta = timedelta(seconds=30)
    watchdog_pause: timedelta = timedelta(seconds=1)
    quotas: Quotas = AT_HOME
    slow_down: bool = False
    per_address: int = PER_ADDRESS
    per_user: int = PER_USER
    free: AbstractSet[str] = frozenset()
    crowded: bool = False
    tls: tuple[Path, Path] | None = None
    insecure: bool = False
    public: bool = False
    pace: timedelta = timedelta()
    watchdog: timedelta | None = None
    admin_password: str | None = field(default=None, repr=False)
    clock: Now = utc_now


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an arena runs: what differs between this machine and the cloud.

    `seal` is the key that proves a nonce to be ours. So many spectators as `audience` says may wait
    at a time. Where `waits_cost`, a wrong password is answered at once, and fewer are looked at.
    """

    lobby: Lobby
    waiting: Waiting
    book: Book
    counts: Counts
    presence: Presence
    seal: Callable[[], bytes]
    name: str
    waits_cost: bool = False
    audience: int = 0
