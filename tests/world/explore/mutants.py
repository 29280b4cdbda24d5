"""Rules of attending a match, each of them broken on purpose: what a search must find out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from unittest import mock

from cardsharp.cloud import attendance, hold, offering, sqlite
from cardsharp.cloud.ports import MatchRecord, Outwaited
from cardsharp.cloud.trouble import Denied, is_final
from cardsharp.errors import ArenaError
from world.explore import cards
from world.explore.world import ONE_WORKER, TWO_CARDS, WATCHED, Setting


def _never_wait(_hold: hold.Hold, *_args: object) -> bool:
    return False


def _breathe(self: hold.Hold, _error: ArenaError, _sent: object, _most: object) -> None:
    self.pause(self.timing.breath)


def _unstored(_hold: hold.Hold, _sequence: int, _intent: object) -> bool:
    return True


_intend = hold.Hold.intend


def _too_late(self: hold.Hold, sequence: int, intent: Any) -> bool:  # noqa: ANN401
    _intend(self, sequence, intent)
    return True


def _an_hour(_self: offering.Onlooker, _match: object, _now: float) -> timedelta:
    return timedelta(hours=1)


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
        return timedelta(hours=1) if is_final(error) else super().lasts(error, now)


def _for_ever(_self: offering.Onlooker, match: MatchRecord, _now: float) -> Outwaited | None:
    return Outwaited(match.beat, timedelta(0)) if match.ttl is None else None


@dataclass(frozen=True)
class Mutant:
    """A rule that is broken, how, and the setting in which that is to be found."""

    rule: str
    place: object
    name: str
    new: Any
    setting: Setting = TWO_CARDS

    @contextmanager
    def planted(self) -> Iterator[None]:
        with mock.patch.object(self.place, self.name, self.new):
            yield


MUTANTS = (
    Mutant("no fence", sqlite, "_check_owned", lambda *_: None),
    Mutant("an action without an answer is sent again", cards.CardTurn, "act", _again, ONE_WORKER),
    Mutant(
        "a successor does not wait for what may arrive",
        hold.Hold,
        "outwait",
        _never_wait,
        ONE_WORKER,
    ),
    Mutant(
        "no wait after an action without an answer", hold.Hold, "let_arrive", _breathe, ONE_WORKER
    ),
    Mutant("no intent is stored", hold.Hold, "intend", _unstored, ONE_WORKER),
    Mutant("an action is sent however long its intent took", hold.Hold, "intend", _too_late),
    Mutant("a page counts as a refusal", attendance, "is_refusal", lambda _error: True, ONE_WORKER),
    Mutant(
        "another's word is taken for how long nobody was there",
        offering.Onlooker,
        "idle",
        _an_hour,
        ONE_WORKER,
    ),
    Mutant("one denial closes a match", hold, "Denied", _Believed, ONE_WORKER),
    Mutant("a lease never runs out", offering.Onlooker, "outwaited", _for_ever, WATCHED),
)
