"""The stage of `cardsharp play`: a local arena, our side in its cloud, an opponent in a process.

The arena knows two teams: we are the first, the opponent is the second.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cardsharp.core.credentials import Credentials
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import ArenaBotDependencies
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp_tools.executors.strategy_reference import StrategyReference
from cardsharp_tools.local_cloud.lambda_scheduler import LambdaSchedulerOptions
from cardsharp_tools.local_play.bot_runtime import (
    MatchFollower,
    OnRunning,
    open_bot_dependencies,
    run_poller_and_workers,
    start_cloud_backend,
)
from cardsharp_tools.local_play.cloud_backend import CloudBackendKind
from cardsharp_tools.local_play.handler_environment import USER_CODE_SETTINGS
from cardsharp_tools.local_play.opponent import (
    BOT_CREDENTIALS,
    OPPONENT_CREDENTIALS,
    OpponentConfig,
    OpponentProcess,
)
from cardsharp_tools.local_server.arena_server import ArenaServer

STALL_TIMEOUT = timedelta(minutes=2)  # without a move before a match is stuck, beyond two turns


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRunConfig:
    """Configuration of a local run.

    `strategy` is the name under which our strategy is registered. Runs with the same `seed` are
    the same.
    """

    strategy: str
    opponent: StrategyReference
    cloud: CloudBackendKind = CloudBackendKind.EMBEDDED
    seed: str | None = None
    turn_limit: timedelta = timedelta(seconds=10)
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class LocalRun:
    """Running arena and bot: `organiser` creates matches, `check` raises if a part failed."""

    config: LocalRunConfig
    assembly: ArenaBotDependencies
    organiser: ArenaClient
    check: Callable[[], None]

    def _create_match(self, match_number: int) -> str:
        """Create the match with this number between the two teams; return its id."""
        script = self.config
        seed = None if script.seed is None else f"{script.seed}/{match_number}"
        params = MatchParams(
            player_ids=(BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]),
            tags=(f"play-{match_number}",),
            random_seed=seed,
            timeout=script.turn_limit,
        )
        return self.organiser.create_match(params).id

    def iter_finished(self, count: int, on_running: OnRunning) -> Iterator[str]:
        """Yield the ids of `count` matches as they finish; `on_running` gets those that run.

        Raises what `check` raises, and `CardsharpError` if no move is made for too long.
        """
        limit = STALL_TIMEOUT + 2 * self.config.turn_limit
        matches = map(self._create_match, range(1, count + 1))
        follower = MatchFollower(self.assembly.match_log, self.assembly.clock, limit)
        return follower.iter_finished(matches, self.config.concurrency, on_running, self.check)

    @property
    def request_counts(self) -> Counter[str]:
        """Number of requests that our side has sent to the arena, by kind."""
        counts = self.assembly.session_state_of(BOT_CREDENTIALS[0]).request_counts.copy()
        counts["retries"] = counts["slowed"] = 0  # which tell how, not what
        return +counts


@contextmanager
def start_local_run(config: LocalRunConfig, folder: Path) -> Iterator[LocalRun]:
    """Start an arena and a bot for local matches; raise `ConfigError` or `CardsharpError`."""
    password = secrets.token_urlsafe()
    with ExitStack() as stack:
        arena = stack.enter_context(ArenaServer(ArenaConfig(admin_password=password)))
        opponent_config = OpponentConfig(
            arena.url, *OPPONENT_CREDENTIALS, config.opponent, config.seed
        )
        opponent = stack.enter_context(OpponentProcess(opponent_config, folder / "opponent.log"))
        cloud = stack.enter_context(start_cloud_backend(config.cloud, folder))
        variables = bot_settings(config.strategy, arena.url, cloud)
        assembly = stack.enter_context(open_bot_dependencies({**variables, **USER_CODE_SETTINGS}))
        admin = stack.enter_context(ArenaClient(arena.url, Credentials(ADMIN, password)))
        opponent.wait_until_polling()

        def hang_up() -> None:
            opponent.kill()
            arena.stop()

        home = LambdaSchedulerOptions(concurrency=config.concurrency)
        stack.enter_context(run_poller_and_workers(assembly.dispatcher, home, hang_up))
        yield LocalRun(config, assembly, admin, opponent.check)


def bot_settings(strategy: str, url: str, cloud: Mapping[str, str]) -> dict[str, str]:
    """Return the bot's settings for a private arena, which it may poll often."""
    return {
        "CARDSHARP_ARENA_URL": url,
        "CARDSHARP_USER": BOT_CREDENTIALS[0],
        "CARDSHARP_PASSWORD": BOT_CREDENTIALS[1],
        "CARDSHARP_STRATEGY": strategy,
        "CARDSHARP_PACE_SECONDS": "0.2",
        "CARDSHARP_WATCH_SECONDS": "0.1",
        **cloud,
    }
