"""The default is measured against players that it does not know, and by how often its bets hold."""

import ast
import json
from pathlib import Path
from random import Random

import pytest
from support.blef import faced

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import DECK, VALUES
from cardsharp.blef.game import GAME
from cardsharp.blef.position import Position
from cardsharp.blef.rules import Move
from cardsharp.blef.simulation import SETUPS
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.greedy import own_odds
from cardsharp.blef.strategies.minds import HABITS, OPENING, mind_of
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.reading import reading_of, readings, unlike_tables
from research.blef import gate, strangers
from workbench.lab.duel import Duel
from workbench.lab.plan import Plan
from workbench.lab.runs import run


@pytest.mark.parametrize("name", strangers.RULES)
@pytest.mark.parametrize("habit", range(len(HABITS)))
def test_no_stranger_has_a_habit_that_the_player_knows(name: str, habit: int) -> None:
    stranger, other, asked = build(name, Random(1)), 0, 0
    for position in (one for seed in range(4) for one in faced(name, "threshold", seed)):
        mind = mind_of(bits_of(position.hand), position.hidden)
        last = OPENING if position.last_bet is None else position.last_bet
        if last < len(BETS) - 1:
            asked += 1
            other += stranger.decide(position).action != mind.replies[habit][last]
    assert asked > 40
    assert other > 0.15 * asked


@pytest.mark.parametrize(("name", "believes"), [("believer", True), ("honest-6", False)])
def test_who_believes_bets_is_read_so_and_who_does_not_is_not(name: str, believes: bool) -> None:
    *_, last = faced(name, "threshold", 3)
    weights = reading_of(last.earlier, 0).weights
    assert weights[-1] > 0.5 if believes else weights[-1] == 0


def test_no_stranger_is_made_with_what_our_players_model() -> None:
    """Nor any player of ours with a stranger: what is deployed knows no research."""
    modelled = {"minds", "taste", "reading", "worlds", "bayes", "reader"}
    tree = ast.parse(Path(strangers.__file__).read_text("utf-8"))
    asked = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {module.rpartition(".")[2] for module in asked} & modelled


def test_the_rules_are_those_that_they_say() -> None:
    found = faced("honest-6", "threshold", 3)
    position = next(one for one in found if one.last_bet is not None)
    table = strangers.Table(position, Random(1))
    last = table.last
    said = strangers.honest(table, doubt=0.0, least=0.0)
    assert said == last + 1
    assert strangers.honest(table, doubt=1.1, least=0.0) == CHECK
    assert strangers.crawler(table) in {last + 1, CHECK}
    assert strangers.liar(table) in {CHECK, *range(last + 1, last + 7)}


@pytest.mark.parametrize("name", strangers.RULES)
def test_a_stranger_plays_whole_games_alike_with_the_same_dice(name: str) -> None:
    plan = Plan(game="blef", first=name, second="threshold", pairs=2, series=1)
    assert run(plan).pairs == run(plan).pairs
    three = run(Plan(game="blef", first="greedy", second=name, pairs=1, copies=2))
    assert len(three.matches) == 3


@pytest.mark.parametrize("name", strangers.STEPS)
def test_a_reader_believes_what_the_table_says_only_with_such_cards(name: str) -> None:
    """Against four kings, of a bet on aces that its cards alone make unlikely."""
    kings = tuple(card for card in DECK if VALUES[card.value] == "K")
    bet = next(number for number, bet in enumerate(BETS) if bet.name == "Pair of aces")
    position = Position(0, 9, 11, (4, 4), (kings, ()), 0, (Move(1, bet),))
    assert own_odds(position)[bet] < 0.2
    assert build(name, Random(1)).decide(position).action != CHECK


@pytest.mark.parametrize(("name", "least", "most"), [("one-step", 0.35, 1), ("solved", 0, 0.1)])
def test_who_answers_our_tables_is_read_in_large_rounds_and_who_plays_them_is_not(
    name: str, least: float, most: float
) -> None:
    asked = (one for seed in range(3) for one in faced("solved", name, seed))
    found = [unlike_tables(one, readings(one)) for one in asked if sum(one.n_cards) >= 8]
    assert least <= sum(found) / len(found) <= most


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", strangers.RULES)
@pytest.mark.parametrize(("copies", "pairs", "seed"), [(1, 40, 43), (3, 4, 51)])
def test_the_default_is_not_shown_to_fall_short_of_its_aim(
    name: str, copies: int, pairs: int, seed: int
) -> None:
    """`gate` itself, with more games, asks for the points and for the lower end."""
    first = GAME.default_strategy
    plan = Plan(game="blef", first=first, second=name, pairs=pairs, copies=copies, seed=seed)
    duel = run(plan)
    assert duel.interval.high >= gate.aim_of(duel).points


def test_a_duel_falls_short_by_its_points_or_by_its_lower_end() -> None:
    played = run(Plan(game="blef", first="threshold", second="careless", pairs=60))
    assert played.points > 95
    assert gate.short(played) == 0
    worse = run(Plan(game="blef", first="careless", second="threshold", pairs=3))
    assert gate.short(worse) == 90 - worse.points
    few = Duel(Plan(game="blef", first="threshold", second="careless", pairs=2), played.pairs[:2])
    assert gate.short(few) == round(86 - few.interval.low, 1) > 0


def test_the_gate_says_what_was_won_and_where_rounds_were_lost_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = gate.GateOptions(player="greedy", only=("careless", "liar"), pairs=2, out=tmp_path)
    assert gate.gate(options=options) == 1
    told = capsys.readouterr().out
    assert "greedy v careless: 100.0 (" in told
    assert ") of 4 games, falls short by" in told
    kept = {file: file.read_text() for file in tmp_path.iterdir()}
    assert {file.name for file in kept} == {"greedy-1xcareless.jsonl", "greedy-1xliar.jsonl"}
    assert gate.gate(options=options) == 1
    assert capsys.readouterr().out == told
    assert kept == {file: file.read_text() for file in tmp_path.iterdir()}
    match = json.loads(next(iter(kept.values())).splitlines()[1])["matches"][0]["counts"]
    lost = [match[f"lost with {cards}"] for cards in SETUPS]
    assert sum(map(sum, lost)) == match["rounds"][0]


def test_a_curve_has_what_was_said_and_what_held_by_tenths() -> None:
    told = [gate.Told(0.1, held=True), gate.Told(0.19, held=False), gate.Told(0.999, held=True)]
    low, high = gate.curve(told)
    assert (low.bets, low.held) == (2, 50)
    assert [low.told, high.told] == pytest.approx([14.5, 99.9])
    assert low.low < 50 < low.high
    assert (high.bets, high.held, high.high) == (1, 100, 100)


def test_who_says_more_sees_more_hold(capsys: pytest.CaptureFixture[str]) -> None:
    gate.reliability(options=gate.ReliabilityOptions(bets=120, seed=3, as_json=True))
    found = json.loads(capsys.readouterr().out)
    assert sum(level["bets"] for level in found["levels"]) == 120
    assert found["error"] < 0.25
    lowest, *_, highest = found["levels"]
    assert highest["held"] > lowest["held"] + 20
