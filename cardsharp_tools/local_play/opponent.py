"""An opponent: a plain client of the arena, in a process of its own, and how its parent sees it.

`python -m cardsharp_tools.local_play.opponent` reads its parameters, one line of JSON, from
stdin, prints READY and plays every match that waits for it until stdin ends. So it ends with its
parent, however that dies.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Self

from pydantic import TypeAdapter

from cardsharp.bot.error_policy import is_client_error
from cardsharp.client.config import ServiceAddress
from cardsharp.core.credentials import Credentials
from cardsharp.errors import ArenaError, CardsharpError, ConfigError
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.turn_runner import play_turn
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView
from cardsharp.games.deadmansdraw.strategies import Strategy, build
from cardsharp_tools.child_process import ChildProcess, read_parameters, signal_ready
from cardsharp_tools.executors.sandbox_supervisor import escape_control_chars
from cardsharp_tools.executors.strategy_field import StrategyField
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import BuiltIn

BOT_CREDENTIALS = ("111111111111111111111111", "teamonepass")
OPPONENT_CREDENTIALS = ("222222222222222222222222", "teamtwopass")  # whose passwords are public

MAX_OUTAGE = timedelta(minutes=3)  # without an answer of the arena; a long poll lasts up to one
RETRY_PAUSE = timedelta(seconds=1)  # after a read that failed

_log = logging.getLogger("cardsharp.opponent")


@dataclass(frozen=True, slots=True)
class OpponentConfig:
    """Configuration of the opponent in a local match: its arena, account and strategy.

    Without a `seed` chance is real. `ca_file` has the certificate authority to trust.
    """

    url: str
    user: str
    password: str = field(repr=False)
    strategy: StrategyField
    seed: str | None = None
    ca_file: str | None = None

    @property
    def player_id(self) -> str:
        """Id of the player; a local team's player signs in as `ID-here`."""
        return self.user.partition("-")[0]

    @property
    def arena_address(self) -> ServiceAddress:
        """Address of the arena, with the certificate authority to trust."""
        return ServiceAddress(self.url, None if self.ca_file is None else Path(self.ca_file))


_CONFIG = TypeAdapter(OpponentConfig)


class OpponentClient:
    """Client that plays all its matches turn by turn over a single connection."""

    def __init__(self, client: ArenaClient, config: OpponentConfig) -> None:
        self._client, self._config = client, config
        self._strategy_name, self._match_id = register_strategy(config.strategy), ""
        self._clock = client.session_state.clock
        self._answered_at = self._clock.monotonic()  # when the list arrived last

    def play_through_outages(self) -> None:
        """Play every turn that the arena offers, and go on after an outage of arena or network.

        Raises `ArenaError` if the arena refuses us, or has not answered for `MAX_OUTAGE`. Raises
        `StrategyError` if the strategy fails.
        """
        while True:
            try:
                self.play_forever()
            except ArenaError as error:
                outage = timedelta(seconds=self._clock.monotonic() - self._answered_at)
                if is_client_error(error) or outage > MAX_OUTAGE:
                    raise
                _log.warning("%s", error)
                # An action that may still arrive would be a second one in the state read next.
                action_timeout = self._client.max_action_flight_time()
                self._clock.sleep(action_timeout if error.outcome_unknown else RETRY_PAUSE)

    def play_forever(self) -> None:
        """Play every turn that the arena offers, without end; raise `ArenaError` on failure."""
        while True:
            matches = self._client.matches(active=True, wait=True)
            self._answered_at = self._clock.monotonic()
            for match in matches:
                self._play_turn(match.id)

    def _play_turn(self, match_id: str) -> None:
        if match_id != self._match_id:  # a team may have submitted another version since the last
            self._strategy_name, self._match_id = register_strategy(self._config.strategy), match_id

        def built(view: MatchView) -> Strategy:
            """A seed makes every turn repeatable, whichever matches are played at the same time."""
            seed, tags = self._config.seed, ",".join(view.creation_params.tags)
            dice = Random() if seed is None else Random(f"{seed}/{tags}/{view.move_count}")
            return build(self._strategy_name, dice)

        # What is not ours plays in a process of its own, which has a limit of processor time.
        play_turn(self._client, self._config.player_id, match_id, built, limit=None)


class OpponentProcess(ChildProcess):
    """Parent's handle of an opponent's process, which ends with the block."""

    def __init__(self, config: OpponentConfig, log: Path) -> None:
        self._strategy_name = config.strategy.display_name
        self._log_file = log
        with log.open("wb") as errors:
            super().__init__(
                "cardsharp_tools.local_play.opponent", _CONFIG.dump_json(config).decode(), errors
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def wait_until_polling(self) -> None:
        """Wait until it starts polling; raise `ConfigError` if it cannot play."""
        if not self.wait_until_ready():
            self.process.wait()
            raise ConfigError(self._build_failure_message())

    def check(self) -> None:
        """Raise `CardsharpError` with its last output if it ended unexpectedly."""
        if self.process.poll() is not None:
            raise CardsharpError(self._build_failure_message())

    def _build_failure_message(self) -> str:
        lines = self._log_file.read_text(errors="replace").strip().splitlines()
        words = lines[-1] if lines else f"it ended with exit code {self.process.returncode}"
        return (
            f"The opponent '{self._strategy_name}' cannot play: {words.removeprefix('cardsharp: ')}"
        )


@contextmanager
def start_steady_opponent(url: str, folder: Path) -> Iterator[OpponentProcess]:
    """Run `steady` as the local arena's second team while the block runs.

    Raises `CardsharpError` at the end of the block if the process has ended before.
    """
    with OpponentProcess(
        OpponentConfig(url, *OPPONENT_CREDENTIALS, BuiltIn("steady")), folder / "opponent.log"
    ) as opponent:
        opponent.wait_until_polling()
        yield opponent
        opponent.check()


def main() -> None:
    """Play by the configuration on stdin."""
    config = _CONFIG.validate_json(read_parameters())
    try:
        with ArenaClient(config.arena_address, Credentials(config.user, config.password)) as client:
            with redirect_stdout(sys.stderr):  # our parent reads stdout
                opponent = OpponentClient(client, config)
            signal_ready()
            opponent.play_through_outages()
    except CardsharpError as error:
        sys.exit(escape_control_chars(str(error)))


if __name__ == "__main__":
    main()
