"""A run's file: one JSON document a line, first what is played, then each pair as it ends."""

import json
from collections.abc import Iterable
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from cardsharp.errors import ConfigError
from workbench.lab.players import fingerprint
from workbench.lab.runs import Numbered, Plan
from workbench.lab.selfplay import NORMAL_95, MatchResult, Pair, points_of

Two = tuple[int, int]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Head(_Line):
    kind: Literal["duel"] = "duel"
    first: str
    second: str
    seed: int
    series: int
    fingerprint: str


class _Match(_Line):
    scores: Two
    winner: int | None
    turns: Two
    actions: Two
    busts: Two


class _Pair(_Line):
    kind: Literal["pair"] = "pair"
    number: int
    there: _Match
    back: _Match


_LINE: TypeAdapter[_Head | _Pair] = TypeAdapter(
    Annotated[_Head | _Pair, Field(discriminator="kind")]
)


class Ledger:
    """The file of one run; what is in it already is in `kept`.

    Raises:
        ConfigError: the file belongs to another run, or to none.
    """

    def __init__(self, file: Path, plan: Plan) -> None:
        self.file = file
        self.kept: dict[int, Pair] = {}
        players = plan.first, plan.second
        self._head = _Head(
            first=plan.first,
            second=plan.second,
            seed=plan.seed,
            series=plan.series,
            fingerprint=fingerprint(*players),
        )
        if file.is_file() and file.stat().st_size:
            self._read()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self._head.model_dump_json() + "\n", encoding="utf-8")

    def add(self, played: Iterable[Numbered]) -> None:
        """Write pairs down; a line is written whole or found broken and dropped later."""
        lines = (
            _Pair(number=number, there=_recorded(there), back=_recorded(back)).model_dump_json()
            for number, (there, back) in played
        )
        with self.file.open("a", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in lines)

    def _read(self) -> None:
        text = self.file.read_text(encoding="utf-8")
        whole, _, broken = text.rpartition("\n")
        if broken:  # the run was stopped in the middle of a line
            self.file.write_text(f"{whole}\n", encoding="utf-8")
        head, self.kept = _parsed(self.file, whole)
        if head != self._head:
            raise ConfigError(
                f"{self.file} belongs to another run, or the strategies have changed since: "
                f"{_differences(head, self._head)}. Give another file."
            )


def difference(one: Path, two: Path) -> tuple[float, float, int]:
    """How many points more the first player of one run made than that of the other.

    Deck by deck, so that the luck of the deal cancels out; with half the 95 % interval, and the
    number of matches that both have played.

    Raises:
        ConfigError: they are no runs over the same decks against the same player.
    """
    (head, mine), (other, theirs) = (_parsed(file, file.read_text("utf-8")) for file in (one, two))
    if other.model_copy(update={"first": head.first}) != head:
        raise ConfigError(
            f"{one} and {two} differ in more than the first player; nothing to compare."
        )
    shared = sorted(mine.keys() & theirs.keys())
    if len(shared) < 2:  # noqa: PLR2004 (no spread of one)
        raise ConfigError(f"{one} and {two} share fewer than two pairs; play more.")
    gaps = [points_of(mine[number]) - points_of(theirs[number]) for number in shared]
    return fmean(gaps), NORMAL_95 * stdev(gaps) / sqrt(len(gaps)), 2 * len(gaps)


def _parsed(file: Path, text: str) -> tuple[_Head, dict[int, Pair]]:
    """What the whole lines of a run's file hold."""
    try:
        head, *pairs = (_LINE.validate_json(line) for line in text.splitlines())
    except ValueError:
        raise ConfigError(f"{file} is no file of a duel; give another one.") from None
    if not isinstance(head, _Head):
        raise ConfigError(f"{file} is no file of a duel; give another one.")
    found = {p.number: (_result(p.there), _result(p.back)) for p in pairs if isinstance(p, _Pair)}
    return head, found


def _recorded(result: MatchResult) -> _Match:
    return _Match(
        scores=result.scores,
        winner=result.winner,
        turns=result.turns,
        actions=result.actions,
        busts=result.busts,
    )


def _result(match: _Match) -> MatchResult:
    return MatchResult(match.scores, match.winner, match.turns, match.actions, match.busts)


def _differences(found: _Line, wanted: _Head) -> str:
    old, new = found.model_dump(), wanted.model_dump()
    return ", ".join(f"{key} {json.dumps(old.get(key))}" for key in new if old.get(key) != new[key])
