"""What alarms and widgets ask of our own metrics, held against lines that the code really wrote.

The rule `own-metric` reads the record in `recorded_metrics.toml`. Here whole matches are played,
well and badly, with the meter of the functions, and their lines make the record anew.
"""

import io
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import stamina
from support.aws_recording import recorder
from world.arena import BenchArena
from world.bench import Bench, played
from world.faults import Kind
from world.network import Tools

from cardsharp.cloud.offering import Offering
from cardsharp.cloud.telemetry import NAMESPACE, meter
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.position import Position
from workbench.build.refused_watching import recorded
from workbench.cloud.samples import Sample, read_emf

LAST_CARD = [{"suit": "Anchor", "value": 4}]
"""Ours in the only turn, so that what they hold before it says who wins."""

OURS, THEIRS = [{"suit": "Chest", "value": 5}], {"suit": "Map", "value": 5}
LOST = {"drawPile": LAST_CARD, "banks": [OURS, [THEIRS, {"suit": "Key", "value": 7}]]}
TIED = {"drawPile": LAST_CARD, "banks": [OURS, [THEIRS, {"suit": "Key", "value": 4}]]}


@dataclass
class Metered(Bench):
    """A bench whose poller and workers measure as the functions do."""

    def offering(self, tools: Tools | None = None) -> Offering:
        return replace(super().offering(tools or self.tools()), meter=meter)


class Stuck:
    """A strategy that never has an answer, so that the safe action is played."""

    name = "stuck"

    def decide(self, position: Position) -> Action:
        raise ValueError(position)


def play(folder: Path, faults: dict[int, Kind], **place: Any) -> Bench:  # noqa: ANN401
    folder.mkdir()
    arena = partial(BenchArena, **place)
    return played(Metered(arena, folder, faults, meter=meter))


def of_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterable[Sample]:
    """What workers and a poller measure in matches that end well, badly and in a tie, and fail."""
    lines = io.StringIO()
    monkeypatch.setattr(meter, "stream", io.StringIO())
    meter.flush()  # what another test left
    monkeypatch.setattr(meter, "stream", lines)
    steps = play(tmp_path / "won", {}).plan.steps
    play(tmp_path / "lost", {}, table=LOST)
    play(tmp_path / "tied", {}, table=TIED)
    play(tmp_path / "stuck", {}, player=Stuck())
    play(tmp_path / "failing", {steps.index("view"): Kind.HTTP_500})
    play(tmp_path / "died", {steps.index("act"): Kind.CRASH_AFTER})
    play(tmp_path / "unheard", {steps.index("send"): Kind.LOST})
    meter.flush()
    return read_emf(lines.getvalue().splitlines())


def test_the_record_of_our_metrics_is_what_the_code_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = of_matches(tmp_path, monkeypatch)
    # A poller's handler at an arena that answers, and at one that is gone.
    with recorder(tmp_path) as here, stamina.set_testing(True, attempts=2):
        here.listen()
        here.arena.stop()
        here.listen()
        ticks = here.samples
    written = {
        (one.metric.name, tuple(sorted(name for name, _ in one.metric.dimensions)))
        for one in [*matches, *ticks]
        if one.metric.namespace == NAMESPACE
    }
    assert written == recorded()
