"""Settings of an arena, and the runtime that it is placed in."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from cardsharp.core.clock import TimeSource, utc_now
from cardsharp.core.limits import LONG_POLL_DURATION
from cardsharp.games.deadmansdraw.arena.access.presence import Presence
from cardsharp.games.deadmansdraw.arena.access.quotas import (
    CLOUD_QUOTAS,
    LOCAL_QUOTAS,
    PlayerQuotas,
)
from cardsharp.games.deadmansdraw.arena.access.throttling import (
    MAX_PER_ADDRESS,
    MAX_PER_TEAM,
    MAX_PER_USER,
    WindowCounter,
)
from cardsharp.games.deadmansdraw.arena.access.users import (
    DEFAULT_FILE,
    LoadPlayers,
    UserDirectory,
)
from cardsharp.games.deadmansdraw.arena.long_poll import LongPoll
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.arena.storage.match_repository import MatchRepository


@dataclass(frozen=True, slots=True)
class ArenaConfig:
    """Settings of one arena.

    `port` 0 takes a free one. `load_players` replaces the players' file. If `data_file` is
    None, matches are in memory only. Without `admin_password` there is no admin. `clock`
    provides the times of moves and turn timeouts; long polls are measured by the event loop.

    `tls_files` names the files of a certificate and its key. Without them the arena listens to
    this machine only, or with `allow_plain_http` to a private network. `is_public` admits
    spectators without a password. `quotas` limits the use by one player. With `throttle` a user
    with more than `max_per_user` requests a minute is delayed, except those in
    `unthrottled_users`, and so is an address with more than `max_per_address`. If
    `is_shared_address`, several teams may use one address, so the limit by address then delays
    only requests that are not authenticated.

    `min_page_interval` is the minimum time between two moves that the page of a match shows.

    `watchdog_grace` is how late a turn may be until the arena itself ends it; None leaves that
    to others, as the original does.
    """

    host: str = "127.0.0.1"
    port: int = 0
    players_file: Path = DEFAULT_FILE
    load_players: LoadPlayers | None = None
    data_file: Path | None = None
    randomness: RandomnessMethod = RandomnessMethod.FAIR
    long_poll_timeout: timedelta = LONG_POLL_DURATION
    watchdog_interval: timedelta = timedelta(seconds=1)
    quotas: PlayerQuotas = LOCAL_QUOTAS
    throttle: bool = False
    max_per_address: int = MAX_PER_ADDRESS
    max_per_user: int = MAX_PER_USER
    unthrottled_users: AbstractSet[str] = frozenset()
    is_shared_address: bool = False
    tls_files: tuple[Path, Path] | None = None
    allow_plain_http: bool = False
    is_public: bool = False
    min_page_interval: timedelta = timedelta()
    watchdog_grace: timedelta | None = None
    admin_password: str | None = field(default=None, repr=False)
    clock: TimeSource = utc_now


def with_contest_limits(config: ArenaConfig, team_count: int) -> ArenaConfig:
    """Return the configuration with the limits of a contest, the same at home and in the cloud."""
    return replace(
        config,
        quotas=CLOUD_QUOTAS,
        throttle=True,
        # The original's limit of 100 would slow programs that answer at once, and cost them turns.
        max_per_user=MAX_PER_TEAM,
        # All teams of a contest may share one address, so its limit is that of all teams together.
        # An attacker may share it too. So the limit delays only requests without a valid password.
        max_per_address=MAX_PER_TEAM * team_count,
        is_shared_address=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaDependencies:
    """Parts of an arena that differ between this machine and the cloud.

    They are its storage, long poll, users, counters, presence and key. `nonce_key` is the
    key that authenticates the arena's nonces. At most `max_waiting_spectators` spectators may
    wait at a time. If `is_wait_billed`, a wrong password is answered without a delay, and
    fewer wrong passwords are checked, because a waiting request costs money.
    """

    matches: MatchRepository
    long_poll: LongPoll
    users: UserDirectory
    window_counter: WindowCounter
    presence: Presence
    nonce_key: Callable[[], bytes]
    name: str
    is_wait_billed: bool = False
    max_waiting_spectators: int = 0
