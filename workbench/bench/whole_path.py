"""Matches through the whole path, judged one by one.

`python -m workbench.bench.whole_path --matches 200 --opponents all --emulator-share 0.05`
plays them through arena, poller, queue, worker and match log, a share of them through SQS and
DynamoDB of the emulator, and exits with 1 unless every one ended naturally, with no action
refused, no effect left to the server and a log that equals the arena's own history.
"""

import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from cyclopts import App
from rich.console import Console
from rich.table import Table

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.messages import parse_message
from cardsharp.cloud.ports import MatchLog
from cardsharp.deadmansdraw.actions import EffectType
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.dto import Json
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.strategies import names
from cardsharp.errors import Malformed
from workbench.arena.server import ArenaServer
from workbench.bench.judge import actions_of, intent_faults, log_faults
from workbench.cloud.context import Invocation
from workbench.stage.clouds import CloudKind, opened
from workbench.stage.following import Follower
from workbench.stage.opponent_process import OpponentProcess
from workbench.stage.side import WORKER_TIME, HomeRhythm, assembled, attending
from workbench.stage.stage import Teams, order_of, variables_of
from workbench.stage.surroundings import telemetry_in
from workbench.stage.tally import Tally

STALL = timedelta(seconds=60)
NO_TURN, OVER = 409, 410
HARMLESS = frozenset({NO_TURN, OVER})
"""Statuses of a 4xx that refuse no action: a wait without a turn, the end of the match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How matches are played; `settings` are further variables of our side."""

    opponent: str
    strategy: str = GAME.default_strategy
    cloud: CloudKind = CloudKind.EMBEDDED
    at_once: int = 4
    turn_limit: timedelta = timedelta(seconds=30)
    poll_timeout: timedelta = timedelta(seconds=30)
    worker_time: timedelta = WORKER_TIME
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Account:
    """What is to be said about one match; `faults` is empty where all is well."""

    match_id: str
    faults: tuple[str, ...]
    natural: bool
    result: str
    refused: int
    autopicks: int
    answered: frozenset[str]
    our_turns: int
    our_actions: int
    looks: int
    posts: int
    attendances: int

    @property
    def well(self) -> bool:
        """Whether nothing is wrong with the match."""
        return self.natural and not (self.faults or self.refused or self.autopicks)


def play(setting: Setting, count: int, folder: Path) -> Iterator[Account]:
    """The accounts of `count` matches, as they end; `folder` takes the files."""
    with at_play(setting, folder) as table:
        them = Teams.of_arena().them.id
        yield from table.finished((table.begin(them) for _ in range(count)), setting.at_once)


@dataclass(frozen=True, slots=True)
class PlayedTable:
    """An arena with both sides at it; `us` is our id, `check` raises if the opponent is gone."""

    arena: ArenaServer
    log: MatchLog
    statuses: Tally
    us: str
    turn_limit: timedelta
    attendances: Counter[str] = field(default_factory=Counter)
    check: Callable[[], None] = lambda: None

    def begin(self, opponent: str) -> str:
        """The id of a new match against the player with this id."""
        return self.arena.create_match((self.us, opponent), timeout=self.turn_limit)

    def finished(self, matches: Iterable[str], at_once: int) -> Iterator[Account]:
        """The accounts of matches as they end; each is begun when it is taken from `matches`.

        Raises:
            CardsharpError: the opponent has ended, or no move was made for too long.
        """
        follower = Follower(self.log, SystemClock(), STALL)
        return map(self.account, follower.as_they_end(matches, at_once, check=self.check))

    def account(self, match_id: str) -> Account:
        """The account of a finished match."""
        whole, us = self.arena.look(match_id), [self.us]
        counts = self.statuses.of(match_id)
        record = self.log.match(match_id)
        actions = list(actions_of(whole, us))
        ended = whole["moves"][-1]["events"][-1]
        return Account(
            match_id=match_id,
            faults=(*log_faults(whole, self.log), *intent_faults(whole, self.log, us)),
            natural=not (ended.get("matchEndedTerminated") or whole["state"].get("timeoutCount")),
            result=str(record and record.outcome and record.outcome["result"]),
            refused=sum(n for (_, status), n in counts.items() if is_refusal(status)),
            autopicks=sum(bool(action["userAction"].get("autopick")) for action in actions),
            answered=frozenset(effects_answered(whole, us)),
            our_turns=len({action["turnId"] for action in actions}),
            our_actions=len(actions),
            looks=sum(n for (kind, status), n in counts.items() if is_look(kind, status)),
            posts=sum(n for (kind, _), n in counts.items() if kind == "act"),
            attendances=self.attendances[match_id],
        )


def is_look(kind: str, status: int) -> bool:
    """Whether a request looked at a match; a wait that ended without a turn did not."""
    return kind != "act" and status != NO_TURN


def is_refusal(status: int) -> bool:
    """Whether a status says that something was asked which may not be asked."""
    return status >= 400 and status not in HARMLESS  # noqa: PLR2004 - HTTP's errors


def effects_answered(whole: Json, ours: list[str]) -> Iterator[str]:
    """The effects that were pending when we acted; a Kraken is answered by a Draw."""
    moves = whole["moves"]
    for action in actions_of(whole, ours):
        before = moves[action["sequenceId"] - 1]["events"][-1]
        if before["eventType"] == "CardPlayedEffect":
            yield before["cardPlayedEffect"]["effectType"]


@contextmanager
def at_play(setting: Setting, folder: Path) -> Iterator[PlayedTable]:
    """Arena, opponent and our side in its cloud, until the end of the `with`."""
    teams, password = Teams.of_arena(), secrets.token_urlsafe()
    config = ArenaConfig(admin_password=password, poll_timeout=setting.poll_timeout)
    attendances: Counter[str] = Counter()
    with ExitStack() as stack:
        arena = stack.enter_context(ArenaServer(config))
        order = order_of(setting.opponent, arena.url, teams.them)
        opponent = OpponentProcess(order, folder / "opponent.log")
        stack.callback(opponent.end)
        cloud = stack.enter_context(opened(setting.cloud, folder))
        variables = variables_of(setting.strategy, arena.url, teams.us, cloud)
        assembly = stack.enter_context(assembled({**variables, **setting.settings}))
        statuses = stack.enter_context(Tally(arena.url))
        opponent.await_ready()

        def hang_up() -> None:
            opponent.end()
            arena.stop()

        rhythm = HomeRhythm(
            at_once=setting.at_once,
            breath=cloud.breath,
            worker_time=setting.worker_time,
            observe=lambda invocation: attendances.update(attended_by(invocation)),
        )
        side = stack.enter_context(attending(assembly, rhythm, hang_up))
        yield PlayedTable(
            arena=arena,
            log=side.log,
            statuses=statuses,
            us=teams.us.id,
            turn_limit=setting.turn_limit,
            attendances=attendances,
            check=opponent.check,
        )


def attended_by(invocation: Invocation) -> Iterator[str]:
    """The matches that an invocation was given; what names no match is passed over."""
    records = invocation.event.get("Records", [])
    for record in records if isinstance(records, list) else []:
        with suppress(Malformed):
            yield parse_message(record["body"]).match_id


@dataclass(slots=True)
class Sum:
    """The accounts of one opponent's matches, added up."""

    opponent: str
    cloud: CloudKind
    accounts: list[Account] = field(default_factory=list)

    @property
    def wrong(self) -> list[Account]:
        """The matches with which something is wrong."""
        return [account for account in self.accounts if not account.well]

    def row(self) -> tuple[str, ...]:
        """The columns of the summary."""
        accounts = self.accounts
        count = max(1, len(accounts))
        figures: tuple[object, ...] = (
            len(accounts),
            sum(account.natural for account in accounts),
            sum(account.refused for account in accounts),
            sum(account.autopicks for account in accounts),
            sum(bool(account.faults) for account in accounts),
            len(frozenset().union(*(account.answered for account in accounts))),
            sum(account.result == "won" for account in accounts),
            f"{sum(account.looks for account in accounts) / count:.1f}",
            f"{sum(account.our_turns for account in accounts) / count:.1f}",
            f"{sum(account.posts for account in accounts) / count:.1f}",
        )
        return (self.opponent, self.cloud.value, *map(str, figures))


COLUMNS = (
    "opponent",
    "cloud",
    "matches",
    "natural ends",
    "refused",
    "autopicks",
    "logs wrong",
    f"effects of {len(EffectType)}",
    "won",
    "GETs",
    "our turns",
    "POSTs",
)
"""GETs, turns and POSTs are a match's means; waits that ended without a turn are not counted."""

WIDTH = 140
"""Of the table where there is no terminal that has one."""

app = App(help=__doc__)


@app.default
def whole_path(
    *,
    matches: int = 200,
    opponents: str = "all",
    strategy: str = GAME.default_strategy,
    emulator_share: float = 0.05,
    at_once: int = 4,
) -> int:
    """Play matches through the whole path and judge every one.

    Args:
        matches: matches against each opponent.
        opponents: a comma list of strategies, or "all".
        strategy: what we play.
        emulator_share: the part of the matches that goes through SQS and DynamoDB.
        at_once: matches at the same time.
    """
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    sums = []
    for opponent in names() if opponents == "all" else opponents.split(","):
        emulated = round(matches * emulator_share)
        shares = {CloudKind.EMBEDDED: matches - emulated, CloudKind.EMULATOR: emulated}
        for cloud, count in shares.items():
            setting = Setting(opponent=opponent, strategy=strategy, cloud=cloud, at_once=at_once)
            if count:
                sums.append(played(setting, count, console))
    console.print(summary(sums))
    wrong = [account for one in sums for account in one.wrong]
    for account in wrong:
        console.print(account)
    return 1 if wrong else 0


def played(setting: Setting, count: int, console: Console) -> Sum:
    """The sum of `count` matches, with a line of progress for each tenth of them."""
    result = Sum(setting.opponent, setting.cloud)
    with tempfile.TemporaryDirectory(prefix="cardsharp-") as name:
        folder = Path(name)
        with telemetry_in(folder / "log.jsonl"):
            for account in play(setting, count, folder):
                result.accounts.append(account)
                done = len(result.accounts)
                if done % max(1, count // 10) == 0:
                    console.print(
                        f"{setting.opponent} ({setting.cloud.value}): {done} of {count}, "
                        f"{len(result.wrong)} wrong"
                    )
    return result


def summary(sums: list[Sum]) -> Table:
    """One row an opponent and cloud."""
    table = Table(*COLUMNS, title="Matches through the whole path")
    for one in sums:
        table.add_row(*one.row())
    return table


if __name__ == "__main__":
    sys.exit(app(result_action="return_value"))
