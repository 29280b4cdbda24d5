"""What `make explore` explores: the code as it is, and with a rule broken on purpose.

Apart from the command, so that a process of its own can import it.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from unittest import mock

from cardsharp.cloud import attendance, hold, offering, sqlite
from cardsharp.cloud.ports import MatchRecord, Outwaited
from cardsharp.cloud.trouble import Denied, is_final
from cardsharp.errors import ArenaError
from world.explore import cards
from world.explore.process import no_threads
from world.explore.search import Found, explore
from world.explore.world import ONE_WORKER, TWO_CARDS, WATCHED, Setting, World

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Job:
    """What is explored, and with up to how many faults; what of the code is broken, and how."""

    words: str
    setting: Setting = TWO_CARDS
    faults: int = 1
    broken: tuple[object, str, Any] | None = None

    @contextmanager
    def planted(self) -> Iterator[None]:
        with mock.patch.object(*self.broken) if self.broken else nullcontext():
            yield


SEARCHES = (
    Job("one worker at a time and an onlooker, two cards", ONE_WORKER),
    Job("one worker at a time and an onlooker, one card", replace(ONE_WORKER, cards=1), 2),
    Job("two workers and an onlooker, one card", replace(TWO_CARDS, cards=1)),
    Job(
        "the same, the workers' clocks an hour before and behind",
        Setting(cards=1, skews=(HOUR, -HOUR)),
    ),
    Job("two workers and an onlooker, two cards", TWO_CARDS),
    Job("two workers and a poller, one card", WATCHED),
    Job("two workers and two pollers, one card", replace(WATCHED, onlookers=2)),
)


def _breathe(self: hold.Hold, _error: ArenaError, _sent: object, _most: object) -> None:
    self.pause(self.timing.breath)


_intend = hold.Hold.intend


def _too_late(self: hold.Hold, sequence: int, intent: Any) -> bool:  # noqa: ANN401
    _intend(self, sequence, intent)
    return True


_act = cards.CardTurn.act


def _again(self: cards.CardTurn, action: str) -> Any:  # noqa: ANN401
    try:
        return _act(self, action)
    except ArenaError as error:
        if not error.doubtful:
            raise
        return _act(self, action)


class _Believed(Denied):
    def lasts(self, error: ArenaError, now: float) -> timedelta:
        return HOUR if is_final(error) else super().lasts(error, now)


def _for_ever(_self: offering.Onlooker, match: MatchRecord, _now: float) -> Outwaited | None:
    return Outwaited(match.beat, timedelta(0)) if match.ttl is None else None


def _broken(rule: str, place: object, name: str, new: Any, setting: Setting = ONE_WORKER) -> Job:  # noqa: ANN401
    return Job(rule, setting, broken=(place, name, new))


MUTANTS = (
    _broken("no fence", sqlite, "_check_owned", lambda *_: None, TWO_CARDS),
    _broken("an action without an answer is sent again", cards.CardTurn, "act", _again),
    _broken(
        "a successor does not wait for what may arrive", hold.Hold, "outwait", lambda *_: False
    ),
    _broken("no wait after an action without an answer", hold.Hold, "let_arrive", _breathe),
    _broken("no intent is stored", hold.Hold, "intend", lambda *_: True),
    _broken(
        "an action is sent however long its intent took", hold.Hold, "intend", _too_late, TWO_CARDS
    ),
    _broken("a page counts as a refusal", attendance, "is_refusal", lambda _error: True),
    _broken(
        "another's word is taken for how long nobody was there",
        offering.Onlooker,
        "idle",
        lambda *_: HOUR,
    ),
    _broken("one denial closes a match", hold, "Denied", _Believed),
    _broken("a lease never runs out", offering.Onlooker, "outwaited", _for_ever, WATCHED),
)

JOBS = (*SEARCHES, *MUTANTS)


def run(number: int) -> Found:
    logging.disable(logging.CRITICAL)
    job = JOBS[number]
    with no_threads(), job.planted():
        return explore(World(job.setting), job.faults)
