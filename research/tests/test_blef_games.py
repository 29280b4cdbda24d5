"""Whole games of Blef in C, held against the rules and the strategies in Python."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from cardsharp.blef import rules
from cardsharp.blef.actions import CHECK
from cardsharp.blef.cards import DECK, Hand
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.state import Round
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.equilibrium import SOLVED, mixture, table
from cardsharp.blef.strategies.odds import bit_of
from cardsharp.blef.strategies.solved import looked_up
from cardsharp.blef.strategies.trained import FILE, trained
from cardsharp.errors import ConfigError
from research.blef.compiled import CRound, play_game, play_rounds
from research.blef.games import PAIRS, Player, Tally, compiled, play_games, play_pairs
from research.blef.trained_commands import app
from research.compiling import why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason="needs a C compiler")


def played(first: str, second: str, seed: int) -> list[CRound]:
    return play_game((compiled(Player(first)), compiled(Player(second))), seed)


def hand_of(bits: int) -> Hand:
    return tuple(card for card in DECK if bits >> bit_of(card) & 1)


def replayed(game: Sequence[CRound]) -> Iterator[tuple[Round, int]]:
    """Each round of the game as the rules have it before an action, and this action.

    Whatever the rules say otherwise than the game went fails.
    """
    hands = iter(game)

    def deal(number: int) -> Hand:
        cards = [card for bits in next(hands).hands for card in hand_of(bits)]
        assert len(set(cards)) == number
        return tuple(cards)

    live = rules.start(2, deal)
    for number, one in enumerate(game):
        assert live.n_cards == tuple(one.cards)
        assert live.turn == one.starter
        for action in (*one.bet[: one.said], CHECK):
            yield live, action
            applied = rules.apply(live, action, deal)
            live = applied.live
        assert applied.closed is not None
        assert applied.closed.history[-1].seat == one.loser
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


@pytest.mark.parametrize("name", ["greedy", "threshold(0.2,0.5)", "threshold(0.1,0.7)"])
def test_players_by_their_own_cards_decide_as_in_python(name: str) -> None:
    strategy = build(name, Random(0))
    for seed in range(8):
        for live, action in replayed(played(name, "random", seed)):
            if live.turn == 0:
                assert action == strategy.decide(position_of(live, 0)).action


def test_tables_and_plans_are_played_as_in_python() -> None:
    """Only what they have with some chance, from both seats."""
    looked = 0
    for seed in range(20):
        for seat, names in enumerate((("solved", "greedy"), ("greedy", "solved"))):
            for live, action in replayed(played(*names, seed)):
                if live.turn == seat and (allowed := chances(position_of(live, seat))):
                    assert allowed.get(action, 0) > 0
                    looked += 1
    assert looked > 150


def chances(position: Position) -> dict[int, float]:
    mixed = looked_up(trained(), position)
    return dict(mixture(position) or () if mixed is None else mixed)


@pytest.mark.parametrize("cards", SOLVED)
def test_a_solved_round_is_won_as_often_as_its_value_says(cards: tuple[int, int]) -> None:
    ours = compiled(Player("solved"))
    assert play_rounds(ours, ours, cards, 1, 20_000) == pytest.approx(table(*cards).value, abs=0.01)


def test_each_deal_is_played_from_both_seats() -> None:
    """Who plays against itself without dice of its own wins one of two, in every round too."""
    tally = play_pairs((Player("greedy"), Player("greedy")), range(20))
    assert tally.shares == [0.5] * 20
    assert sum(tally.rounds.values()) == 2 * sum(tally.won.values())
    one, two = (played("random", "bayes", seed)[0].hands[:] for seed in (4, 4))
    assert one == two != played("bayes", "random", 5)[0].hands[:]


def test_whoever_plays_them_the_games_are_the_same() -> None:
    players = Player("threshold(0.2,0.5)"), Player("random")
    with ThreadPoolExecutor(2) as pool:
        there = list(play_games(players, 2 * PAIRS + 1, 3, pool))
    assert there == list(play_games(players, 2 * PAIRS + 1, 3))
    assert [len(tally.shares) for tally in there] == [PAIRS, PAIRS, 1]


def test_the_better_player_wins() -> None:
    """Mutation guard: a tally that counts for the wrong player."""
    tally = Tally()
    for part in play_games((Player("greedy"), Player("random")), 100, 1):
        tally.add(part)
    assert tally.interval.low > 0.9
    assert sum(tally.won.values()) > 0.7 * sum(tally.rounds.values())


def test_the_command_tells_games_and_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    app(["games", "greedy", "random", "-n", "39"], result_action="return_value")
    told = capsys.readouterr().out
    assert "of 40 games against random" in told
    app(["games", "greedy", "random", "-n", "39", "--json"], result_action="return_value")
    found = json.loads(capsys.readouterr().out)
    assert found["low"] < found["won"] <= found["high"]
    assert f"{100 * found['won']:.1f} %" in told
    first = [one for one in found["setups"] if one["cards"] == "1v1"]
    assert sum(one["rounds"] for one in first) == found["games"] == 40


def test_who_is_not_compiled_is_refused() -> None:
    with pytest.raises(ConfigError, match="No strategy is called 'nobody'"):
        app(["games", "nobody", "random"], result_action="return_value")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    spoilt = tmp_path / "t.bin"
    spoilt.write_bytes(FILE.read_bytes()[:-1] + b"?")
    with pytest.raises(ConfigError, match="is damaged"):
        compiled(Player("solved", spoilt))
