"""An arena that is newer than we are; and R39, two bots of one user, as on two laptops."""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random

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
PACE = timedelta(milliseconds=200)  # what a step takes besides, so that a match lasts half a minute

FOUND = "somebody else plays as this user"


@dataclass
class RenamedArena(BenchArena):
    """One in which we see other words than the arena's."""

    words: Mapping[str, str] = field(default_factory=dict)

    def ask(self, request: PreparedRequest) -> Answered:
        said = request.copy()
        said.body = self.renamed(body_of(request), {new: old for old, new in self.words.items()})
        said.headers["Content-Length"] = str(len(said.body))
        answer = super().ask(said)
        headers = tuple(one for one in answer.headers if one[0].lower() != "content-length")
        return Answered(answer.status, headers, self.renamed(answer.body, self.words))

    @staticmethod
    def renamed(text: bytes, words: Mapping[str, str]) -> bytes:
        text = text.replace(b": ", b":")
        for old, new in words.items():
            text = text.replace(old.encode(), new.encode())
        return text


PARROTS = {f'"{key}":"Hook"': f'"{key}":"Parrot"' for key in ("effectType", "responseToEffectType")}


@pytest.mark.parametrize(
    ("words", "strategy", "left"),
    [({'"Mermaid"': '"Siren"'}, "steady", set()), (PARROTS, "champion", {"Parrot"})],
    ids=["a suit without an effect", "an effect"],
)
def test_what_is_unknown_is_played_on_with(
    tmp_path: Path, words: Mapping[str, str], strategy: str, left: set[str]
) -> None:
    """An effect is left to the server by autopick, and of all six effects it alone."""
    place = partial(RenamedArena, words=words, strategy=strategy)
    with closing(Bench(place, tmp_path)) as bench:
        bench.play()
        assert isinstance(bench.place, RenamedArena)
        text = RenamedArena.renamed(json.dumps(bench.place.look()).encode(), words)
        whole = json.loads(text)
        assert [*log_faults(whole, bench.log), *intent_faults(whole, bench.log, [ALICE])] == []
        assert bench.finished
        assert bench.gate.refused == []
    assert b"Siren" in text or left
    picked = [one for one in actions_of(whole, [ALICE]) if one["userAction"].get("autopick")]
    before = [whole["moves"][one["sequenceId"] - 1]["events"][-1] for one in picked]
    assert {one["cardPlayedEffect"]["effectType"] for one in before} == left


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", range(cases(2, every=40)))
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
