"""Who plays by a habit is recognised from the rounds before, and `solved` reckons with it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from random import Random

import pytest
from support.games import GAMES
from support.played import Decides, taken

from cardsharp.blef.actions import LOST
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.bayes import Bayes
from cardsharp.blef.strategies.minds import Weights
from cardsharp.blef.strategies.recognition import recognised
from cardsharp.blef.strategies.solved import looked_up
from cardsharp.blef.strategies.trained import trained

BLEF = next(game for game in GAMES if game.name == "blef")


def seen(first: str, second: str, seed: int, seats: int | None = None) -> Iterator[Position]:
    """What whoever sits first sees where it is to act, in a game between those strategies."""
    players = [Decides(BLEF, name, seed, seats) for name in (first, second)]
    for note in taken(players[0].simulation.deal(Random(seed)), players, Random(seed))[:-1]:
        if players[0].simulation.to_act(note.state) == 0:
            yield players[0].simulation.position(note.state)


def decisions(position: Position, seat: int) -> int:
    said = [move for over in position.earlier for move in over.history]
    return sum(move.seat == seat and move.action != LOST for move in said)


@pytest.mark.parametrize(("name", "careful"), [("greedy", 0.75), ("threshold(0.2,0.5)", 0.25)])
def test_five_decisions_by_a_habit_show_it_and_four_do_not(name: str, careful: float) -> None:
    """In the end half of the weight is where the habit is."""
    late: list[Weights] = []
    numbers = set()
    for position in chain.from_iterable(seen("greedy", name, seed) for seed in range(4)):
        known, number = recognised(position), decisions(position, 1)
        assert bool(known) == (number >= 5)
        late += known.values()
        numbers.add(number)
    assert {4, 5} <= numbers
    assert all(sum(weights) == pytest.approx(1) for weights in late)
    assert late[-1][0] == pytest.approx(careful, abs=0.01)


def test_who_plays_by_none_is_not() -> None:
    assert not any(recognised(one) for one in seen("greedy", "random", 1))


def test_solved_plays_its_table_until_a_habit_shows_and_then_as_bayes_who_knows_it() -> None:
    as_bayes = 0
    games = (seen("greedy", "threshold(0.2,0.5)", seed) for seed in range(9))
    for position in chain.from_iterable(games):
        table = looked_up(trained(), position)
        if table is None or as_bayes > 3:
            continue
        decision = build("solved", Random(1)).decide(position)
        if known := recognised(position):
            reckoned = Bayes(Random(1)).decide(position, known)
            assert (decision.action, decision.options) == (reckoned.action, reckoned.options)
            assert decision.reason == f"The rounds before show a habit. {reckoned.reason}"
            as_bayes += 1
        else:
            assert decision.action in dict(table)
        unread = build("solved", Random(1)).decide(replace(position, earlier=()))
        assert unread.action in dict(table)
    assert as_bayes
