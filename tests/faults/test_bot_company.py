"""An arena that is newer than we are; and R39, two bots of one user, as on two laptops."""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from requests import PreparedRequest
from support.arena import ALICE
from support.size import cases
from world.arena import BenchArena
from world.bench import Bench
from world.judge import actions_of, intent_faults, log_faults
from world.network import body_of
from world.schedule import Process, Schedule

from cardsharp.cloud.attended import Attended
from cardsharp.cloud.timing import Timing
from workbench.cloud.http_events import Answered

HOUR = timedelta(hours=1)
PACE = timedelta(milliseconds=200)
"""What a step takes besides, so that a match lasts half a minute."""

FOUND = "somebody else plays as this user"


@dataclass
class RenamedArena(BenchArena):
    """One in which we see other words than the arena's."""

    names: Mapping[str, str] = field(default_factory=dict)

    def ask(self, request: PreparedRequest) -> Answered:
        said = request.copy()
        said.body = self._renamed(body_of(request), back=True)
        said.headers["Content-Length"] = str(len(said.body))
        answer = super().ask(said)
        headers = tuple(one for one in answer.headers if one[0].lower() != "content-length")
        return Answered(answer.status, headers, self._renamed(answer.body))

    def seen(self) -> Any:  # noqa: ANN401 - JSON
        """The match as we see it."""
        return json.loads(self._renamed(json.dumps(self.look()).encode()))

    def _renamed(self, text: bytes, *, back: bool = False) -> bytes:
        text = text.replace(b": ", b":")
        for names in self.names.items():
            old, new = reversed(names) if back else names
            text = text.replace(old.encode(), new.encode())
        return text


def renamed(folder: Path, strategy: str, names: Mapping[str, str]) -> tuple[Any, list[Any]]:
    """A match with such words to its end, of which the log is right; and our autopicks in it."""
    place = partial(RenamedArena, names=names, strategy=strategy)
    with closing(Bench(place, folder)) as bench:
        bench.play()
        assert isinstance(bench.place, RenamedArena)
        whole = bench.place.seen()
        assert [*log_faults(whole, bench.log), *intent_faults(whole, bench.log, [ALICE])] == []
        assert bench.finished
        assert bench.gate.refused == []
    ours = actions_of(whole, [ALICE])
    return whole, [move for move in ours if move["userAction"].get("autopick")]


def test_an_unknown_suit_is_played_on_with(tmp_path: Path) -> None:
    """All Mermaids are Sirens here: cards without an effect, and none of our deck."""
    whole, picked = renamed(tmp_path, "steady", {'"Mermaid"': '"Siren"'})
    assert picked == []
    assert "Siren" in json.dumps(whole["moves"])


def test_an_unknown_effect_is_left_to_the_server_and_it_alone(tmp_path: Path) -> None:
    """Hooks are Parrots here; of all six effects only theirs are answered by autopick."""
    names = {
        f'"{key}":"Hook"': f'"{key}":"Parrot"' for key in ("effectType", "responseToEffectType")
    }
    whole, picked = renamed(tmp_path, "champion", names)
    assert picked
    for move in picked:
        before = whole["moves"][move["sequenceId"] - 1]["events"][-1]
        assert before["cardPlayedEffect"]["effectType"] == "Parrot"


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", range(cases(4, every=40)))
def test_r39_two_bots_of_one_user_soon_become_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int, late: bool
) -> None:
    """The younger leaves the match for good; the elder plays it to its end."""
    clock = Schedule(Random(seed))
    first = Bench(partial(BenchArena, table={}), tmp_path, timing=Timing(), clock=clock)
    second = Bench(lambda *_: first.place, tmp_path, timing=Timing(), clock=clock)
    ends: list[tuple[object, Bench]] = []
    for bench in first, second:
        bench.plan.before_step = lambda _step: clock.sleep(PACE)

    def attend(bench: Bench) -> None:
        ends.append((bench.worker().attend(bench.match_id, lambda: HOUR), bench))

    clock.spawn(partial(attend, first), Process("first"))
    clock.spawn(partial(attend, second), Process("second"), seconds=3 if late else 0)
    with closing(first), closing(second.stores):
        clock.run()
    (left, younger), (ended, elder) = ends
    assert (left, ended) == (Attended.ELSEWHERE, Attended.FINISHED)
    assert len(elder.gate.accepted) > len(younger.gate.accepted)
    # The elder may have decided one action on what the younger had just changed.
    assert len(elder.gate.refused) <= 1
    # The elder sees nothing of one that comes late: that one looks first whether somebody plays.
    assert caplog.text.count(FOUND) == 2 - late
    if late:
        assert younger is second
        assert younger.gate.accepted == []
