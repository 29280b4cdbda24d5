"""Matches through the whole path, judged one by one: each by an account."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.messages import parse_message
from cardsharp.cloud.ports import MatchLog
from cardsharp.deadmansdraw.arena.dto import Json
from cardsharp.errors import Malformed
from workbench.arena.server import ArenaServer
from workbench.bench.judge import actions_of, intent_faults, log_faults
from workbench.cloud.context import Invocation
from workbench.stage.following import Follower
from workbench.stage.tally import Tally

STALL = timedelta(seconds=60)
NO_TURN, OVER = 409, 410
HARMLESS = frozenset({NO_TURN, OVER})
"""Statuses of a 4xx that refuse no action: a wait without a turn, the end of the match."""


@dataclass(frozen=True, slots=True)
class Account:
    """What is to be said about one match; `faults` is empty where all is well."""

    match_id: str
    faults: tuple[str, ...]
    natural: bool
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
        actions = list(actions_of(whole, us))
        ended = whole["moves"][-1]["events"][-1]
        return Account(
            match_id=match_id,
            faults=(*log_faults(whole, self.log), *intent_faults(whole, self.log, us)),
            natural=not (ended.get("matchEndedTerminated") or whole["state"].get("timeoutCount")),
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
    return status >= 400 and status not in HARMLESS


def effects_answered(whole: Json, ours: list[str]) -> Iterator[str]:
    """The effects that were pending when we acted; a Kraken is answered by a Draw."""
    moves = whole["moves"]
    for action in actions_of(whole, ours):
        before = moves[action["sequenceId"] - 1]["events"][-1]
        if before["eventType"] == "CardPlayedEffect":
            yield before["cardPlayedEffect"]["effectType"]


def attended_by(invocation: Invocation) -> Iterator[str]:
    """The matches that an invocation was given; what names no match is passed over."""
    records = invocation.event.get("Records", [])
    for record in records if isinstance(records, list) else []:
        with suppress(Malformed):
            yield parse_message(record["body"]).match_id
