"""What Euchre brings to the lab: services as players, the engine's worlds, compiled or not."""

from collections.abc import Iterator

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.errors import ConfigError
from cardsharp.euchre.actions import Question
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Strategy
from cardsharp.euchre.strategies.pimc import Effort, Pimc
from workbench.euchre.kept import kept_deals
from workbench.euchre.remote import RemotePlayer
from workbench.lab.extras import Extras, LabMatch
from workbench.twins import twin_function

ENGINE = "pimc"

YARDSTICK = "rules"
"""Whom the engine is measured against."""


class EuchreExtras(Extras):
    """An address plays as the service there, `pimc@N` with N worlds."""

    opponent = YARDSTICK

    def guest(self, name: str) -> RemotePlayer | None:
        """The service of that address."""
        return RemotePlayer(name) if "://" in name else None

    def strategy(self, name: str, *, plain: bool) -> Strategy | None:
        """The engine with so many worlds, compiled where it can be."""
        name, _, worlds = name.partition("@")
        if name != ENGINE:
            return None
        twin = None if plain else twin_function("euchre_player")
        compiled: Strategy | None = None if twin is None else twin(effort(worlds))
        return compiled or Pimc(effort=effort(worlds))

    keeps = True

    def kept(self, told: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """Each deal of the match, as the service keeps deals."""
        return kept_deals(told)

    def kind(self, position: Position) -> str:
        """What is asked; of a card, in which trick."""
        if position.question is not Question.PLAY:
            return position.question.value
        return f"play, trick {len(position.table.complete_tricks) + 1}"


def effort(worlds: str) -> Effort:
    """How much the engine thinks with that many worlds, or as always where none are told.

    Raises:
        ConfigError: it is no number of worlds.
    """
    if not worlds:
        return Effort()
    if not worlds.isdecimal() or not int(worlds):
        raise ConfigError(f"'{worlds}' is no number of worlds; write e.g. {ENGINE}@40.")
    return Effort(worlds=int(worlds), batch=min(Effort().batch, int(worlds)))
