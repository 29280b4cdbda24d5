"""Branches of stored matches, played to their ends with a strategy in the person's seat."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.game import Game
from cardsharp.replay import header_of
from support.table import QUICK
from workbench.show.screen import Screen, ScreenMove
from workbench.table.branch import BranchPoint
from workbench.table.setting import Kept, Setting

AT = datetime(2026, 11, 26, tzinfo=UTC)


@dataclass
class Sitter:
    """Whoever sits there decides by a strategy, and remembers what was to be seen and told."""

    screen: Screen[Any, Any, Any]
    strategy: Any
    seen: list[Any] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def decide(self, position: Any) -> Any:  # noqa: ANN401 - any game's
        self.seen.append(position)
        return self.strategy.decide(position)

    def tell(self, told: ScreenMove) -> None:
        self.said += map(str, told.lines)

    def see(self, seen: Any, to_act: int | None) -> None:  # noqa: ANN401 - any game's
        del seen, to_act


@dataclass
class PlayedBranch:
    """A branch that was played to its end: who sat there, and what the log is given."""

    sitter: Sitter
    parts: Sequence[Kept]
    end: Any


def played(point: BranchPoint, seed: str = "1") -> PlayedBranch:
    """The branch from there, against quick opponents."""
    game = point.game
    quick = QUICK.get(game.name, "random")
    setting = Setting(
        game, quick, "rules" if game.name == "euchre" else None, seed=seed, point=point
    )
    lineup = setting.lineup()
    sitter = Sitter(lineup.screen(point.seat, {}), setting.bot(quick, 1, "sitter").strategy)
    sitting = lineup.sitting({point.seat: sitter}, whys=False)
    state = sitting.play(lineup.dice)
    return PlayedBranch(sitter, lineup.told(sitting, state, AT), state)


def happened(
    record: MatchRecord, moves: Sequence[MoveRecord], game: Game, number: int
) -> list[str]:
    """The first so many steps of a match in words, with seats in place of the players' names.

    Of a discard in Euchre only whose reasons are kept is told the card.
    """
    names = header_of(record).names
    steps = [one.happened for one in game.replay.load()(record, moves)][:number]
    for seat, name in enumerate(names):
        steps = [re.sub(rf"\b{re.escape(name)}\b", f"#{seat}", step) for step in steps]
    return [re.sub("^discard .*", "discard", step) for step in steps]
