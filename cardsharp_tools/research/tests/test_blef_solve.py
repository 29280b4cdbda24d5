"""Tests of the solver of small rounds, and of the shipped tables.

The rules are in docs/spec/blef.md, section 12.
"""

import json
from collections import Counter
from functools import partial
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from cardsharp.games.blef.actions import BETS
from cardsharp.games.blef.cards import DECK, BlefCard, Hand
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import RoundMove
from cardsharp.games.blef.strategies import build
from cardsharp.games.blef.strategies.equilibrium import (
    CHECK_ONLY,
    SOLVED_CARD_COUNTS,
    MixedStrategy,
    equilibrium_strategy,
    load_solution,
)
from cardsharp_tools.research.blef.cfr_solver import (
    SEATS,
    CfrSolver,
    best_response_value,
    build_small_round,
    exploitability,
)
from cardsharp_tools.research.blef.commands import solve
from cardsharp_tools.research.blef.solved_tables import (
    TABLES_DIR,
    build_position,
    strategy_function_by_name,
    table_strategy,
    write_solved_table,
)

run_solve = partial(solve, result_action="return_value")

VALUES = {(1, 1): 0.4638, (2, 1): 0.638, (1, 2): 0.379}
MAX_EXPLOITABILITY = {(1, 1): 0.001, (2, 1): 0.005, (1, 2): 0.005}


@pytest.mark.parametrize(
    ("cards", "name", "figure"),
    [
        ((1, 1), "greedy", 0.058),
        ((1, 1), "threshold(0.2,0.5)", 0.272),
        ((1, 1), "threshold(0.5,0.5)", 0.272),
        ((2, 1), "greedy", 0.105),
        ((2, 1), "threshold(0.2,0.5)", 0.105),
        ((2, 1), "threshold(0.5,0.5)", 0.230),
        ((1, 2), "greedy", 0.135),
        ((1, 2), "threshold(0.2,0.5)", 0.375),
        ((1, 2), "threshold(0.5,0.5)", 0.375),
    ],
)
def test_exploitability_is_as_it_was_measured(
    cards: tuple[int, int], name: str, figure: float
) -> None:
    small_round = build_small_round(*cards)
    assert exploitability(
        small_round, strategy_function_by_name(small_round, name)
    ) == pytest.approx(figure, abs=5e-4)


@pytest.mark.parametrize("seat", SEATS)
def test_check_value_follows_the_rules(seat: int) -> None:
    """Check the values of a check against the verdicts of the rules.

    Two cards against one, counted over all 12,144 deals.
    """
    small_round = build_small_round(2, 1)
    deals = Counter(
        (tuple(sorted(values[:2] if seat == 0 else values[2:])), tuple(sorted(values)))
        for values in permutations([card.value for card in DECK], 3)
    )
    reach = [1.0] * len(small_round.hands[1 - seat])
    for bet in small_round.bets:
        wins: Counter[tuple[int, ...]] = Counter()
        for (hand, pool), deal_count in deals.items():
            cards = [
                BlefCard(value, pool[:card_index].count(value))
                for card_index, value in enumerate(pool)
            ]
            wins[hand] += 0 if BETS[bet].holds(cards) else deal_count
        expected = [wins[hand] / deals.total() for hand in small_round.hands[seat]]
        assert small_round.check_values(seat, 1 << bet, reach) == pytest.approx(expected)
        action_values = (
            small_round.check_values(seat, 1 << bet, reach),
            small_round.values_if_checked(seat, 1 << bet, reach),
        )
        assert sum(map(sum, action_values)) == pytest.approx(1)


def test_only_bets_of_the_tables_can_hold_with_so_few_cards() -> None:
    """A small round of the tables has exactly the bets that so few cards can make true."""
    for cards in SOLVED_CARD_COUNTS:
        possible_bets = tuple(
            bet_index for bet_index, bet in enumerate(BETS) if bet.size <= sum(cards)
        )
        assert build_small_round(*cards).bets == possible_bets


def test_the_solver_nears_the_equilibrium_and_its_value() -> None:
    """Check that the solver converges to the equilibrium and its value, 0.4638.

    The value is in docs/spec/blef.md section 12; best responses bound it from both sides.
    """
    small_round = build_small_round(1, 1)
    solver = CfrSolver(small_round)
    solver.iterate(3)
    early_exploitability = exploitability(small_round, solver.average_strategy)
    solver.iterate(61)
    average_strategy = solver.average_strategy
    assert exploitability(small_round, average_strategy) < min(early_exploitability / 10, 0.001)
    high, low = (
        best_response_value(small_round, average_strategy, 0),
        1 - best_response_value(small_round, average_strategy, 1),
    )
    assert low <= VALUES[1, 1] <= high


@pytest.mark.parametrize("cards", SOLVED_CARD_COUNTS)
def test_shipped_tables_and_strategies_stay_within_exploitability_target(
    cards: tuple[int, int],
) -> None:
    """Check the exact exploitability of the shipped tables and of `bayes`.

    `bayes` decides position by position, as it plays. A table states its own exploitability.
    """
    small_round, shipped_table = build_small_round(*cards), load_solution(*cards)
    measured_exploitability = exploitability(
        small_round, table_strategy(small_round, (shipped_table["starter"], shipped_table["other"]))
    )
    assert measured_exploitability <= MAX_EXPLOITABILITY[cards]
    assert (
        exploitability(small_round, strategy_function_by_name(small_round, "bayes"))
        <= MAX_EXPLOITABILITY[cards]
    )
    assert shipped_table["exploitability"] == pytest.approx(measured_exploitability, abs=1e-6)
    assert shipped_table["value"] == pytest.approx(VALUES[cards], abs=2e-3)


def test_solve_command_reproduces_the_shipped_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The solve command writes the shipped file again, apart from the date."""
    run_solve(["blef", "--cards", "1v1", "--iterations", "30", "--write", str(tmp_path), "--json"])
    output = json.loads(capsys.readouterr().out)
    written_table = json.loads((tmp_path / "1v1.json").read_text())
    assert written_table["exploitability"] == output["exploitability"] < 0.01
    assert "--iterations 30" in written_table["made_by"]
    assert (
        write_solved_table(load_solution(1, 1), tmp_path).read_text()
        == (TABLES_DIR / "1v1.json").read_text()
    )


NINE, QUEEN = DECK[:1], DECK[12:13]


@pytest.mark.parametrize(
    ("n_cards", "hand", "bets", "mixed"),
    [
        # The queen is always opened with the queen; having said the nine is not its play.
        ((1, 1), QUEEN, (0, 1), None),
        ((1, 1), QUEEN, (3, 9), CHECK_ONLY),
        # Two pair with two cards in play is in no table, and cannot be better than a lost bet.
        ((1, 1), NINE, (12,), CHECK_ONLY),
        # Other rounds have no table.
        ((2, 2), DECK[:2], (), None),
        ((3, 1), DECK[:3], (), None),
        ((1, 1, 1), NINE, (), None),
        ((1, 0, 1, 1), NINE, (), None),
    ],
)
def test_table_covers_only_reachable_histories(
    n_cards: tuple[int, ...], hand: Hand, bets: tuple[int, ...], mixed: MixedStrategy | None
) -> None:
    player_seat = len(bets) % 2
    hands = tuple(hand if seat == player_seat else () for seat in range(len(n_cards)))
    history = tuple(RoundMove(bet_index % 2, bet) for bet_index, bet in enumerate(bets))
    assert (
        equilibrium_strategy(BlefPosition(player_seat, 1, 11, n_cards, hands, player_seat, history))
        == mixed
    )


def test_bayes_mixes_as_often_as_the_table_says() -> None:
    """Check that `bayes` mixes five opening bets as often as the solved table says.

    A nine opens alone; the random numbers, and nothing in the position, decide the bet.
    """
    opening_position = build_position(build_small_round(1, 1), 0, (0,))
    mixed_strategy = equilibrium_strategy(opening_position)
    assert mixed_strategy is not None
    player = build("bayes", Random(7))
    action_counts = Counter(player.decide(opening_position).action for _ in range(2000))
    assert action_counts.keys() <= dict(mixed_strategy).keys()
    for action, probability in mixed_strategy:
        assert action_counts[action] / 2000 == pytest.approx(probability, abs=0.04)
    decision = player.decide(opening_position)
    assert {option.note for option in decision.options} == {"how often the equilibrium has it"}
    assert {option.action for option in decision.options} == dict(mixed_strategy).keys()
