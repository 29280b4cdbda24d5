"""Branches of stored matches of every game: where they begin, what is kept, what stays hidden."""

from dataclasses import replace
from itertools import groupby
from random import Random
from typing import Any

import pytest
from support.branches import happened, played
from support.games import GAMES, SAMPLES, id_of
from support.played import Decides, Kept, begun, kept, taken
from support.table import QUICK

import cardsharp.games
from cardsharp.cloud.ports import Status
from cardsharp.errors import ConfigError
from cardsharp.euchre.simulation import WINNING
from cardsharp.game import Game
from cardsharp.replay import header_of
from workbench.table.branch import branch_point
from workbench.table.setting import Setting

every_game = pytest.mark.parametrize("game", GAMES, ids=id_of)


@pytest.fixture(autouse=True)
def _mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cardsharp.games, "MOUNTED", (*cardsharp.games.MOUNTED, *SAMPLES))


def quick(game: Game) -> str:
    return QUICK.get(game.name, game.default_strategy)


def match_of(game: Game, seed: int = 1) -> Kept:
    players = [Decides(game, quick(game), seed + one) for one in (0, 1)]
    return kept(game, taken(begun(game, seed), players, Random(seed)))[0]


def positions(game: Game, match: Kept) -> dict[int, Any]:
    assert game.decisions is not None
    return {one.step.sequence: one.position for one in game.decisions.load()(*match)}


@every_game
def test_a_branch_begins_with_what_its_player_knew_and_is_kept(game: Game) -> None:
    """From any step, also of a branch: what happened before is there, what came after it is not.

    Of a match that runs the cards to come are not to be had.
    """
    record, moves = match_of(game)
    known = positions(game, (record, moves))
    for turn, number in enumerate(range(1, len(moves), max(1, len(moves) // 4))):
        same = turn % 2 == 1
        point = branch_point(record, moves, number, same=same)
        branch = played(point)
        assert branch.sitter.seen[0] == known[point.step.sequence]
        (made, told), *_ = branch.parts
        header = header_of(made)
        assert header.branch is not None
        assert (header.branch.of, header.branch.step) == (record.match_id, point.number)
        assert (header.branch.same, made.status) == (same, Status.FINISHED)
        before = point.number - 1
        assert len(told) > before
        assert happened(made, told, game, before) == happened(record, moves, game, before)
        own = {step.sequence for step in point.steps[:-1] if same or step.seat == point.step.seat}
        reasons = {move.sequence: move.intent for move in told}
        for move in moves:  # what others thought would tell cards that are others now
            if move.sequence < point.step.sequence:
                assert reasons[move.sequence] == (move.intent if move.sequence in own else None)
    record, moves = match_of(game)
    first = played(branch_point(record, moves, len(moves) // 2)).parts[0]
    second = branch_point(*first, 1)
    ((made, _), *_) = played(second).parts
    branch = header_of(made).branch
    assert branch is not None
    assert branch.of == first[0].match_id
    record, moves = match_of(game)
    running = replace(record, status=Status.RUNNING, outcome=None)
    with pytest.raises(ConfigError, match="not over"):
        branch_point(running, moves, same=True)
    with pytest.raises(ConfigError, match="from step 9999 on"):
        branch_point(record, moves, 9999)


def test_a_branch_of_a_deal_goes_on_to_the_ten_points_of_its_match() -> None:
    """From the score before the deal; where that is not told the deal is the last one."""
    game = next(one for one in GAMES if one.name == "euchre")
    players = [Decides(game, "rules", one) for one in (1, 2)]
    record, moves = kept(game, taken(begun(game, 1), players, Random(1)))[3]
    score: Any = record.header["score"]
    point = branch_point(record, moves, 1)
    side, branch = point.seat % 2, played(point)
    points = [score[side]]
    for made, _ in branch.parts:
        seats, scores = header_of(made).seats, (made.outcome or {})["scores"]
        points.append(scores[min(seats) % 2])  # type: ignore[index]
        assert "branch" in header_of(made).tags
        assert made.header["score"][min(seats) % 2] == sum(points[:-1])  # type: ignore[index]
    assert len(branch.parts) > 1
    assert sum(points) == branch.end.points[side]
    assert max(branch.end.points) >= WINNING
    screen = Setting(game, "rules", "rules", point=point).lineup().screen(point.seat, {})
    assert f"core: you {score[side]}, they {score[1 - side]};" in screen.standing(
        branch.sitter.seen[0]
    )
    alone = replace(record, header={n: part for n, part in record.header.items() if n != "score"})
    assert played(branch_point(alone, moves, 1)).end.past == ()


def hidden(game: Game, state: Any) -> Any:  # noqa: ANN401 - any game's
    return {
        "deadmansdraw": lambda: state.state.draw_pile,
        "blef": lambda: state.live.hands,
        "euchre": lambda: state.now.deal.cards[:21],
        "kuhn": lambda: state.cards,
    }[game.name]()


@pytest.mark.parametrize("name", ["deadmansdraw", "blef", "euchre", "kuhn"])
def test_what_was_hidden_is_dealt_anew_unless_the_same_cards_are_asked_for(name: str) -> None:
    """So a branch tells nobody what would have come; once the match is over it may."""
    game = next(one for one in GAMES if one.name == name)
    record, moves = match_of(game)
    seeds = range(12)
    fair, same = branch_point(record, moves), branch_point(record, moves, same=True)
    dealt = [str(hidden(game, fair.opening(Random(seed))[1])) for seed in seeds]
    there = {str(hidden(game, same.opening(Random(seed))[1])) for seed in seeds}
    assert len(there) == 1
    assert len(set(dealt)) > 1
    assert sum(one in there for one in dealt) < len(dealt)


def test_others_decisions_in_a_round_that_runs_are_nobodys_to_make_again() -> None:
    """Of Blef, where the log has our reasons alone: what the others held is not told."""
    game = next(one for one in GAMES if one.name == "blef")
    assert game.replay is not None
    assert game.restore is not None
    record, moves = match_of(game)
    steps = list(game.replay.load()(record, moves))
    turn = next(n for n, group in groupby(steps, lambda step: step.turn) if len([*group]) > 3)
    live = [step for step in steps if step.turn == turn][:-2]
    own = {step.sequence for step in live if step.seat == 0}
    told = [
        replace(move, intent=move.intent if move.sequence in own else None)
        for move in moves
        if move.sequence <= live[-1].sequence
    ]
    running = replace(record, status=Status.RUNNING, outcome=None)
    found = {one.sequence for one in game.restore.load()(running, told, Random(1))}
    assert found & {step.sequence for step in live} == own != {step.sequence for step in live}
