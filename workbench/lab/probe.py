"""Hand-made positions with one right answer each, and what a strategy answers there."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from cardsharp.deadmansdraw.actions import Effect, EffectType
from cardsharp.deadmansdraw.bank import bank_of
from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.deadmansdraw.position import Position
from workbench.lab.dice import Dice
from workbench.lab.players import player

POSITIONS = Path(__file__).with_name("probe_positions.json")


def _cards(names: object) -> object:
    if not isinstance(names, str):
        return names
    return tuple(Card(Suit(name[:-1]), int(name[-1])) for name in names.split())


def _several(answers: object) -> object:
    return (answers,) if isinstance(answers, str) else answers


Cards = Annotated[tuple[Card, ...], BeforeValidator(_cards)]


class Probe(BaseModel):
    """A position, and the actions that are right there; cards as `Key5 Map3`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    own: Cards
    other: Cards
    area: Cards
    unseen: Cards
    discard: Cards = ()
    known: Cards = ()
    pending: EffectType | None = None
    offered: Cards = ()
    right: Annotated[tuple[str, ...], BeforeValidator(_several)]

    def position(self) -> Position:
        """The position as player 0 finds it; an Oracle's card is the next one."""
        pending = None if self.pending is None else Effect(self.pending, self.offered)
        oracle = self.pending is EffectType.ORACLE
        return Position(
            me=0,
            banks=(bank_of(self.own), bank_of(self.other)),
            play_area=self.area,
            pending=pending,
            discard_pile=self.discard,
            unseen=self.unseen,
            known_top=next(iter(self.offered if oracle else self.known), None),
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a strategy answered to a probe, and why."""

    probe: Probe
    action: str
    reason: str

    @property
    def is_right(self) -> bool:
        """Whether that was right."""
        return self.action in self.probe.right


def probes() -> tuple[Probe, ...]:
    """The hand-made positions."""
    return TypeAdapter(tuple[Probe, ...]).validate_python(json.loads(POSITIONS.read_text("utf-8")))


def ask(name: str) -> Iterator[Answer]:
    """The answers of the strategy `name` to all probes."""
    make = player(name)
    for probe in probes():
        decision = make(Dice(1)).decide(probe.position())
        yield Answer(probe, str(decision.action), decision.reason)
