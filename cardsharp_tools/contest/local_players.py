"""Players of the local teams of a contest at an arena, and the accounts of all its teams.

A local team is played by this machine: its player signs in to the arena like the program of any
other team.
"""

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import monotonic

from pydantic import SecretStr

from cardsharp.contest.formats.pairing import TeamId
from cardsharp.contest.models import TeamEntry
from cardsharp.contest.results import ContestRecords
from cardsharp.core.credentials import Credentials, digest_ha1
from cardsharp.errors import CardsharpError, StoreError
from cardsharp.games.deadmansdraw.arena.access.users import DUMMY_ID, PlayerAccount
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp_tools.contest.open_contest import OpenContest
from cardsharp_tools.contest.team_failures import TeamFailureReporter
from cardsharp_tools.executors.submission import is_missing_submission
from cardsharp_tools.local_play.opponent import OpponentClient, OpponentConfig, OpponentProcess

TEAM_CACHE_SECONDS = 2.0  # seconds after which a new password is valid
# Ends the user name of a local player. The team itself can still sign in under its own name.
LOCAL_PLAYER_SUFFIX = "-here"
RETRY_INTERVAL = timedelta(seconds=1)  # until a team whose code failed plays again

HOUSE_TEAM = TeamEntry(DUMMY_ID, "House", secrets.token_hex(16), "captain")
"""Opponent in matches with the arena's dummy player; it takes no part in contests."""


class TeamPlayerAccounts(Mapping[str, PlayerAccount]):
    """Player accounts of the teams and the house; read again after `TEAM_CACHE_SECONDS`.

    A local player signs in as `ID-here`, with a password that only this process knows.
    """

    def __init__(
        self,
        records: ContestRecords,
        passwords: Mapping[TeamId, str],
        monotonic: Callable[[], float] = monotonic,
    ) -> None:
        self._records, self._passwords, self._monotonic = records, passwords, monotonic
        self._cache_expiry, self._cached_accounts = 0.0, dict[str, PlayerAccount]()

    def __getitem__(self, team: str) -> PlayerAccount:
        account = self._load_accounts()[team.removesuffix(LOCAL_PLAYER_SUFFIX)]
        if not team.endswith(LOCAL_PLAYER_SUFFIX):
            return account
        return account.model_copy(
            update={"ha1": SecretStr(digest_ha1(team, self._passwords[account.id]))}
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._load_accounts())

    def __len__(self) -> int:
        return len(self._load_accounts())

    def discard_cached_accounts(self) -> None:
        """Discard the cached accounts, so that the next access reads them again."""
        self._cache_expiry = 0.0

    def _load_accounts(self) -> dict[str, PlayerAccount]:
        if self._monotonic() > self._cache_expiry:
            self._cache_expiry = self._monotonic() + TEAM_CACHE_SECONDS
            with suppress(StoreError):  # a busy store is read again at the next access
                teams, announced_names = (
                    self._records.teams(),
                    self._records.team_names_at_arena(),
                )
                renamed_teams = [
                    replace(team, name=announced_names.get(team.id, team.name)) for team in teams
                ]
                self._cached_accounts = {
                    team.id: PlayerAccount.model_validate(
                        {"_id": team.id, "name": team.name, "ha1": team.ha1}
                    )
                    for team in (*renamed_teams, HOUSE_TEAM)
                }
        return self._cached_accounts


class LocalPlayers:
    """Players of the local teams: they sign in to the arena like the programs of other teams."""

    def __init__(self, contest: OpenContest) -> None:
        self._contest = contest
        self.passwords = dict[TeamId, str]()
        self.accounts = TeamPlayerAccounts(contest.records, self.passwords)
        self._reporter = TeamFailureReporter(contest)
        self._stop_event = threading.Event()

    def start(self, url: str, certificate: Path | None) -> None:
        """Start the players, and from now on also those of teams that enter later."""
        ca_file = None if certificate is None else str(certificate)
        start_missing = partial(self._start_missing_players, url, ca_file)
        start_missing()
        threading.Thread(
            target=self._poll_for_new_teams, args=(start_missing,), daemon=True
        ).start()

    def stop(self) -> None:
        """Report the last violations, and let the players end after their current action."""
        try:
            self._reporter.report_all_sandbox_violations()
        finally:
            self._stop_event.set()

    def _start_missing_players(self, url: str, certificate: str | None) -> None:
        for team in (*self._contest.records.teams(), HOUSE_TEAM):
            strategy = self._contest.strategy_of(team)
            if strategy is not None and team.id not in self.passwords:
                self.passwords[team.id] = secrets.token_urlsafe(18)
                self.accounts.discard_cached_accounts()
                opponent_config = OpponentConfig(
                    url,
                    f"{team.id}{LOCAL_PLAYER_SUFFIX}",
                    self.passwords[team.id],
                    strategy,
                    team.name,
                    certificate,
                )
                play_team_matches(
                    opponent_config,
                    self._reporter,
                    self._contest.player_log_file(opponent_config.player_id),
                    self._stop_event,
                )

    def _poll_for_new_teams(self, start_missing: Callable[[], None]) -> None:
        while not self._stop_event.wait(TEAM_CACHE_SECONDS):
            with suppress(StoreError):  # a busy store is read again the next time
                start_missing()
                self._reporter.report_all_sandbox_violations()


ReportFault = Callable[[TeamId, object], None]  # reports a failure of a team's code


def play_team_matches(
    opponent_config: OpponentConfig,
    report_fault: ReportFault,
    log_file: Path,
    stop_event: threading.Event,
) -> None:
    """Play a team's matches until the contest is over; its code runs in a separate process.

    What that process prints goes to `log_file`.
    """

    def play() -> None:
        is_user_code = opponent_config.strategy.is_user_code
        while not stop_event.is_set():
            try:
                if not is_user_code:
                    _run_opponent_client(opponent_config)
                elif not is_missing_submission(opponent_config.strategy):
                    _supervise_opponent_process(opponent_config, log_file, stop_event)
            except CardsharpError as error:
                # A built-in strategy fails when the arena closes, which is no failure of the team.
                if is_user_code or not stop_event.is_set():
                    report_fault(opponent_config.player_id, error)
            stop_event.wait(RETRY_INTERVAL.total_seconds())

    threading.Thread(target=play, name=f"team {opponent_config.user}", daemon=True).start()


def _run_opponent_client(opponent_config: OpponentConfig) -> None:
    credentials = Credentials(opponent_config.user, opponent_config.password)
    with ArenaClient(opponent_config.arena_address, credentials) as client:
        OpponentClient(client, opponent_config).play_forever()


def _supervise_opponent_process(
    opponent_config: OpponentConfig, log_file: Path, stop_event: threading.Event
) -> None:
    with OpponentProcess(opponent_config, log_file) as process:
        process.wait_until_polling()
        while not stop_event.wait(RETRY_INTERVAL.total_seconds()):
            process.check()
