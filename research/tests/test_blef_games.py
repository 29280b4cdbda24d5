"""Whole games of Blef in C, held against the rules and the strategies in Python."""

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from cardsharp.blef import rules
from cardsharp.blef.actions import CHECK
from cardsharp.blef.cards import DECK, Hand
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.state import Round
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.equilibrium import mixture
from cardsharp.blef.strategies.odds import bit_of
from cardsharp.blef.strategies.reading import reading_of
from cardsharp.blef.strategies.tabled import looked_up
from cardsharp.blef.strategies.trained import trained
from cardsharp.errors import ConfigError
from research.blef.compiled import CRound, play_game
from research.blef.games import compiled, shares_of
from research.blef.strangers import STRANGERS
from research.compiling import why_not
from workbench.lab.plan import Plan
from workbench.lab.runs import run

pytestmark = pytest.mark.skipif(why_not() is not None, reason="needs a C compiler")


DICE = {"bluffer", "mixer", "coin"}
"""The strangers that throw dice."""

CERTAIN = [f"stranger({n})" for n, name in enumerate(STRANGERS) if name not in DICE]


def played(first: str, second: str, seed: int) -> list[CRound]:
    return play_game((compiled(first), compiled(second)), seed)


def hand_of(bits: int) -> Hand:
    return tuple(card for card in DECK if bits >> bit_of(card) & 1)


def replayed(game: Sequence[CRound]) -> Iterator[tuple[Position, int]]:
    """What the player to move sees of the game before an action, by the rules, and this action.

    Whatever the rules say otherwise than the game went fails.
    """
    hands = iter(game)

    def deal(number: int) -> Hand:
        cards = [card for bits in next(hands).hands for card in hand_of(bits)]
        assert len(set(cards)) == number
        return tuple(cards)

    live, closed = rules.start(2, deal), list[Round]()
    for number, one in enumerate(game):
        assert live.n_cards == tuple(one.cards)
        assert live.turn == one.starter
        for action in (*one.bet[: one.said], CHECK):
            yield position_of(live, live.turn, tuple(closed)), action
            applied = rules.apply(live, action, deal)
            live = applied.live
        assert applied.closed is not None
        assert applied.closed.history[-1].seat == one.loser
        closed.append(applied.closed)
        assert (live.winner is not None) == (number == len(game) - 1)
    assert live.winner == 1 - game[-1].loser


@pytest.mark.parametrize(
    ("first", "second", "seeds"),
    [("random", "greedy", 30), ("threshold(0.1,0.6)", "random", 30), ("solved", "bayes", 2)],
)
def test_whole_games_go_by_the_rules(first: str, second: str, seeds: int) -> None:
    """Whose turn it is, what is allowed, who loses each round, and who wins in the end."""
    for seed in range(seeds):
        assert sum(1 for _ in replayed(played(first, second, seed))) > 2


@pytest.mark.parametrize("name", ["greedy", "threshold(0.2,0.5)", "threshold(0.1,0.7)", *CERTAIN])
def test_players_by_their_own_cards_decide_as_in_python(name: str) -> None:
    strategy = build(name, Random(0))
    for seed in range(8):
        for position, action in replayed(played(name, "greedy" if seed % 2 else "random", seed)):
            if position.me == 0:
                assert action == strategy.decide(position).action


def test_tables_and_plans_are_played_as_in_python() -> None:
    """Only what they have with some chance, from both seats."""
    looked = 0
    for seed in range(30):
        for seat, names in enumerate((("solved", "random"), ("greedy", "solved"))):
            for position, action in replayed(played(*names, seed)):
                allowed = chances(position)
                if position.me == seat and allowed:
                    assert allowed.get(action, 0) > 0
                    looked += 1
    assert looked > 150


@pytest.mark.parametrize(
    ("other", "read"), [("stranger(0)", True), ("stranger(8)", True), ("solved", False)]
)
def test_a_player_is_read_as_in_python(other: str, *, read: bool) -> None:
    """The evidence of each round; whoever plays by the tables is hardly ever read."""
    evidence = []
    for seed in range(6):
        game = played("reader", other, seed)
        for position, _ in replayed(game):
            if position.me == 0:
                found = reading_of(position.earlier, 1).evidence
                assert game[position.number - 1].evidence[0] == pytest.approx(found)
                evidence.append(found)
    shown = sum(one > 0 for one in evidence) / len(evidence)
    assert shown > 0.6 if read else shown < 0.2


@pytest.mark.parametrize("name", sorted(DICE))
def test_strangers_with_dice_win_as_often_as_in_python(name: str) -> None:
    """The shares of 200 compiled games and of 60 in Python against `greedy`, within 0.2."""
    stranger = f"stranger({[*STRANGERS].index(name)})"
    fast = shares_of(stranger, "greedy", range(100))
    slow = run(Plan(game="blef", first=stranger, second="greedy", pairs=30)).points
    assert sum(fast) / 100 == pytest.approx(slow / 100, abs=0.2)


def chances(position: Position) -> dict[int, float]:
    mixed = looked_up(trained(), position)
    return dict(mixture(position) or () if mixed is None else mixed)


def test_each_deal_is_played_from_both_seats() -> None:
    """Who plays against itself without dice of its own wins one of two; the better player more."""
    assert shares_of("greedy", "greedy", range(20)) == [0.5] * 20
    assert sum(shares_of("greedy", "random", range(20))) > 18


def test_who_is_not_compiled_is_refused() -> None:
    with pytest.raises(ConfigError, match="No strategy is called 'nobody'"):
        compiled("nobody")
