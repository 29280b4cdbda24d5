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
from cardsharp.blef.strategies.minds import HABITS
from cardsharp.blef.strategies.odds import bit_of
from cardsharp.blef.strategies.recognition import recognised
from cardsharp.blef.strategies.solved import looked_up
from cardsharp.blef.strategies.trained import FILE, trained
from cardsharp.errors import ConfigError
from research.blef.compiled import CRound, Start, play_game, play_rounds
from research.blef.games import PAIRS, Player, Setup, Tally, compiled, play_games, play_pairs
from research.blef.trained_commands import app
from research.blef.values import SETUPS, STARTS, Values, measure
from research.compiling import why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason="needs a C compiler")


NONE = (0.0,) * len(HABITS)
"""The weights of habits of which none shows."""


def played(first: str, second: str, seed: int) -> list[CRound]:
    return play_game((compiled(Player(first)), compiled(Player(second))), seed)


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


@pytest.mark.parametrize("name", ["greedy", "threshold(0.2,0.5)", "threshold(0.1,0.7)"])
def test_players_by_their_own_cards_decide_as_in_python(name: str) -> None:
    strategy = build(name, Random(0))
    for seed in range(8):
        for position, action in replayed(played(name, "random", seed)):
            if position.me == 0:
                assert action == strategy.decide(position).action


def test_tables_and_plans_are_played_as_in_python() -> None:
    """Only what they have with some chance, from both seats, as long as no habit shows."""
    looked = 0
    for seed in range(30):
        for seat, names in enumerate((("solved", "random"), ("greedy", "solved"))):
            for position, action in replayed(played(*names, seed)):
                allowed = chances(position)
                if position.me == seat and allowed and not recognised(position):
                    assert allowed.get(action, 0) > 0
                    looked += 1
    assert looked > 150


@pytest.mark.parametrize("other", ["greedy", "threshold(0.35,0.7)", "bayes", "solved"])
def test_habits_are_recognised_as_in_python(other: str) -> None:
    """And what is played then is not always what the table has."""
    known = elsewhere = 0
    for seed in range(6):
        game = played("solved", other, seed)
        for position, action in replayed(game):
            if position.me == 0:
                weights = recognised(position).get(1, NONE)
                assert game[position.number - 1].habits[0][:] == pytest.approx(weights)
                allowed = chances(position)
                known += weights != NONE
                elsewhere += weights != NONE and bool(allowed) and action not in allowed
    if other in {"bayes", "solved"}:
        assert known < 20
    else:
        assert known > 60
    assert elsewhere or other != "greedy"


def test_bayes_itself_recognises_nobody() -> None:
    assert all(one.habits[0][:] == [0, 0, 0] for one in played("bayes", "greedy", 1))


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


FAIR = dict.fromkeys(SETUPS, 0.5)


def test_a_game_of_two_equals_is_even_and_cards_are_worth_something() -> None:
    found = Values(FAIR)
    assert found.chance == pytest.approx(0.5)
    assert found.game[Setup((11, 11), begins=True)] == 0.5
    assert found.game[Setup((10, 11), begins=True)] == 0.75
    assert found.game[Setup((11, 1), begins=False)] == 0.5**11
    assert found.exceptions == []


def test_a_point_more_of_a_round_is_worth_its_weight() -> None:
    """By arithmetic: the game's chance moves by the weight, as it has to."""
    fair = Values(FAIR)
    for setup in (STARTS[0], Setup((5, 4), begins=True), Setup((2, 11), begins=False)):
        moved = Values(FAIR | {setup: 0.51})
        assert moved.chance - fair.chance == pytest.approx(0.01 * fair.weights[setup])


def test_a_round_that_is_better_lost_is_named() -> None:
    """Here whoever has a card more than ten wins all that follows."""
    odd = {
        Setup((10, 11), begins=False): 0.0,
        Setup((11, 11), begins=True): 0.0,
        Setup((11, 10), begins=True): 1.0,
        Setup((11, 11), begins=False): 1.0,
    }
    found = Values(FAIR | odd)
    assert found.exceptions == [Setup((10, 10), begins) for begins in (True, False)]


def test_values_are_what_games_come_to() -> None:
    """From rounds in the middle, within three standard errors of 1,000 games and the values'."""
    players = Player("greedy"), Player("threshold(0.2,0.5)")
    found = Values(dict(measure(players, 1000, 1)))
    assert found.margin(1000) < 0.015
    seats = tuple(map(compiled, players))
    for setup in (STARTS[0], Setup((6, 5), begins=True), Setup((8, 10), begins=False)):
        start = Start(setup.cards, starter=1 - setup.begins)
        won = sum(play_game(seats, seed, start)[-1].loser for seed in range(1000))
        assert won / 1000 == pytest.approx(found.game[setup], abs=0.055)


def test_the_command_tells_values(capsys: pytest.CaptureFixture[str]) -> None:
    app(["values", "greedy", "random", "-n", "10"], result_action="return_value")
    told = capsys.readouterr().out
    assert "against random, give or take" in told
    app(["values", "greedy", "-n", "10", "--json"], result_action="return_value")
    found = json.loads(capsys.readouterr().out)
    assert found["won"] == pytest.approx(0.5, abs=3 * found["margin"])
    assert len(found["setups"]) == 242
