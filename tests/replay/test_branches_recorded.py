"""Every match that the real server told is made again move by move, and left for other courses."""

import json
from random import Random
from typing import Any

import pytest
from support.branches import played
from support.recorded import WHOLE, Matches, about, sample_and_whole

from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.deadmansdraw.decisions import looks
from cardsharp.deadmansdraw.recorded import recorded
from cardsharp.deadmansdraw.restore import restore
from cardsharp.deadmansdraw.simulation import DeadMansDraw
from cardsharp.errors import ConfigError
from cardsharp.replay import header_of
from workbench.table.branch import branch_point

EVERY = 10
"""Steps between two branches."""

RULES = DeadMansDraw()


def told(trace: dict[str, Any]) -> tuple[MatchRecord, list[MoveRecord]]:
    return recorded(json.dumps(trace).encode())


def events(moves: list[MoveRecord]) -> list[object]:
    """What happened, as the arena tells it."""
    return [(move.facts or {})["events"] for move in moves]


@sample_and_whole(pytest.mark.slow)
def test_every_recorded_match_is_made_again_move_by_move(matches: Matches) -> None:
    """By the rules, from what its events tell alone: `restore` compares every event."""
    made = 0
    for trace in matches.started():
        with about(trace):
            record, moves = told(trace)
            found = list(restore(record, moves, Random(1)))
            assert [one.sequence for one in found] == [move.sequence for move in moves[1:]]
            piles = [list(map(str, one.state.state.draw_pile)) for one in found]
            if piles:  # what nobody drew lies in no order that is known
                drawn = len(piles[0]) - len(piles[-1])
                assert piles[0][:drawn] == trace["deck"][:drawn]
                assert sorted(piles[0]) == sorted(trace["deck"])
            made += len(found)
    assert made > matches.least * 0.9


@sample_and_whole(pytest.mark.slow, pytest.mark.timeout(1800))
def test_a_branch_from_every_tenth_step_is_played_to_its_end(matches: Matches) -> None:
    """It begins with the moves of then, on the very position that its player saw."""
    branches, apart = 0, EVERY if matches is WHOLE else 12 * EVERY
    for place, trace in enumerate(matches.started()):
        with about(trace):
            record, moves = told(trace)
            seen = {look.step.sequence: look.position for look in looks(moves)}
            for number in range(1 + EVERY * place % apart, len(moves) + 1, apart):
                same = record.status is Status.FINISHED and number % 20 == 1
                try:
                    point = branch_point(record, moves, number, same=same)
                except ConfigError:
                    break
                branch = played(point)
                ((kept, made),) = branch.parts
                header = header_of(kept)
                assert header.branch is not None
                assert (header.branch.of, header.branch.step) == (record.match_id, point.number)
                before = point.number - 1
                assert events(made[1:before]) == events(moves[1:before])
                if "opening" not in record.header:
                    then = seen[point.step.sequence]
                    assert branch.sitter.seen[0] == then
                assert RULES.to_act(branch.end) is None
                branches += 1
    assert branches > (2000 if matches is WHOLE else 20)
