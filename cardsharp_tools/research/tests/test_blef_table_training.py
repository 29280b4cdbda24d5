"""Tests of the trainers of Blef's tables, the compiled players, and the shipped tables.

The C code is compared with the Python code. Local best responses are compared with exact
ones, which are known for the smallest rounds (docs/blef-strength.md).
"""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from math import isclose
from pathlib import Path
from random import Random

import pytest

from cardsharp.errors import ConfigError
from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.cards import DECK
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import RoundMove
from cardsharp.games.blef.strategies import large_round_policy
from cardsharp.games.blef.strategies.bet_probabilities import bet_probabilities, card_bits
from cardsharp.games.blef.strategies.equilibrium import MixedStrategy
from cardsharp.games.blef.strategies.opponent_types import BETTING_HABITS, possible_opponent_hand
from cardsharp.games.blef.strategies.policy_tables import (
    DEFAULT_FILE,
    POLICY_PROBABILITY_SCALE,
    load_policy_tables,
    read_tables,
    write_tables,
)
from cardsharp.games.blef.strategies.table_lookup import NO_BET, TableShape, number_by_hand
from cardsharp.games.blef.strategies.table_policy import look_up_trained_tables
from cardsharp_tools.research.blef.cfr_solver import (
    SmallRound,
    StrategyFunction,
    Values,
    build_small_round,
    exploitability,
    seat_to_move,
)
from cardsharp_tools.research.blef.commands import app
from cardsharp_tools.research.blef.native import (
    CfrTrainer,
    HandSizes,
    NativeRoundView,
    RoundPlayer,
    RoundTable,
    build_round_index_tables,
    build_round_player,
    build_round_table,
    local_exploitability,
    native_library,
    play_rounds,
)
from cardsharp_tools.research.blef.table_files import (
    ROW,
    TrainingAmount,
    average_policy_rows,
    load_tables,
    policy_bytes_by_hand_sizes,
    set_large_round_policies,
    to_round_table,
    train_large_round,
)
from cardsharp_tools.research.blef.table_training import (
    CheckpointFolder,
    TrainingBudget,
    restore_trainer_and_step_count,
    train_rounds,
    train_steps,
)
from cardsharp_tools.research.c_library import struct_fields, unavailable_reason

run_command = partial(app, result_action="return_value")
SHORT_TRAINING = TrainingAmount(steps=2, deals=10)

pytestmark = pytest.mark.skipif(unavailable_reason() is not None, reason="needs a C compiler")


def train_cfr(cards: tuple[int, int], steps: int) -> CfrTrainer:
    """Return a trainer of the round with `cards` after `steps` steps of training."""
    return restore_trainer_and_step_count(cards, train_steps(cards, b"", steps))[0]


def average_policy_table(trainer: CfrTrainer) -> RoundTable:
    """Return the table of a trainer's average policy."""
    return build_round_table(trainer.index_tables, average_policy_rows(trainer))


def test_the_compiled_rules_are_those_of_python() -> None:
    """Compare the bets that hold in pools of any size, and their probabilities, bit by bit."""
    rng = Random(5)
    probabilities = (ctypes.c_double * len(BETS))()
    for _ in range(150):
        pool = rng.sample(DECK, rng.randint(1, 22))
        hidden_count = rng.randint(0, min(11, 24 - len(pool)))
        for bet_index, bet in enumerate(BETS):
            assert native_library().bet_holds(bet_index, card_bits(pool)) == bet.holds(pool)
        native_library().bet_probabilities(card_bits(pool), hidden_count, probabilities)
        assert list(probabilities) == bet_probabilities(card_bits(pool), hidden_count)


@pytest.mark.parametrize("cards", [(2, 2), (2, 3), (4, 4)])
def test_index_tables_match_table_shape(cards: HandSizes) -> None:
    shape, index_tables = TableShape(cards), build_round_index_tables(cards)
    no_bets, hand = (NO_BET, NO_BET, NO_BET), next(iter(number_by_hand(cards[0])))
    histories = [bets for bet_count in range(4) for bets in combinations(shape.bets, bet_count)]
    rows = {shape.row_index(0, hand, (*no_bets, *bets)[-3:]) for bets in histories}
    used_indexes = {
        history_index for history_index, start in enumerate(index_tables.row_starts) if start > 0
    }
    assert {row // index_tables.hand_counts[0] for row in rows} == {0} | used_indexes


def average_strategy_function(trainer: CfrTrainer, small_round: SmallRound) -> StrategyFunction:
    """Return the average strategy of a learner as the function that the exact solver takes."""
    shape, index_tables = TableShape(small_round.cards), trainer.index_tables

    def play(history: int, hand: Values) -> MixedStrategy:
        seat = seat_to_move(history)
        bets = [NO_BET, NO_BET, NO_BET, *(bet for bet in small_round.bets if history >> bet & 1)]
        row = shape.row_index(seat, hand, bets[-3:])
        last_bet, (history_index, hand_number) = (
            row // shape.last_bet_stride(seat),
            divmod(row, index_tables.hand_counts[seat]),
        )
        offset = hand_number * index_tables.hand_stride + index_tables.row_starts[history_index]
        choices = [*[0][: bool(last_bet)], *range(last_bet + 1, index_tables.bet_count + 1)]
        weights = trainer.strategy_sums[seat][offset : offset + len(choices)]
        choice_weights = zip(choices, weights, strict=True)
        return tuple(
            (shape.action_of_choice(choice), weight / sum(weights))
            for choice, weight in choice_weights
            if weight
        )

    return play


def test_the_trainer_nears_the_equilibrium_of_a_round_that_is_solved() -> None:
    """Check the exploitability of a trained table and its value in a solved round.

    The exact best response bounds it; the local best response finds no more than that.
    """
    small_round, trainer = build_small_round(1, 1), train_cfr((1, 1), 40)
    exact_exploitability = exploitability(
        small_round, average_strategy_function(trainer, small_round)
    )
    assert exact_exploitability < 0.001
    trained_player = build_round_player("tables", {(1, 1): average_policy_table(trainer)})
    assert all(
        exact_exploitability > local_exploitability((1, 1), trained_player, depth, 1, 4000).low
        for depth in (1, 2)
    )
    assert play_rounds(trained_player, trained_player, (1, 1), 3, 20_000) == pytest.approx(
        0.4638, abs=0.015
    )


def test_training_resumes_with_the_round_of_fewest_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training begins with the round of fewest steps, until its time is over.

    A stopped training resumes as if nothing had happened; an executor learns the same.
    """
    monkeypatch.setattr("cardsharp_tools.research.blef.table_training._DEALS_PER_STEP", 100)
    first_folder, second_folder, progress = (
        CheckpointFolder(tmp_path / "here"),
        CheckpointFolder(tmp_path / "there"),
        [],
    )
    clock = iter([0.0, 1.0, 2.0, 3.0, 99.0])
    budget = TrainingBudget(1000, 10, lambda: next(clock))
    train_rounds(
        first_folder, [(1, 1), (1, 2)], budget, on_progress=lambda *args: progress.append(args)
    )
    assert progress == [((1, 1), 10), ((1, 2), 10), ((1, 1), 20)]
    assert first_folder.training_step_count((1, 1)) == 20
    assert first_folder.read((1, 1)) == train_steps((1, 1), train_steps((1, 1), b""))
    with ThreadPoolExecutor(2) as pool:
        train_rounds(second_folder, [(1, 2), (1, 1)], TrainingBudget(10), pool)
    assert [second_folder.training_step_count((1, 1)), second_folder.read((1, 2))] == [
        10,
        first_folder.read((1, 2)),
    ]


def test_unusable_files_and_rounds_are_reported(tmp_path: Path) -> None:
    """A checkpoint of another format, a damaged file and untrained rounds raise `ConfigError`."""
    (tmp_path / "2v2.state").write_text('{"format": 0, "cards": [2, 2], "steps": 3}\n')
    damaged_file = tmp_path / "t.bin"
    damaged_file.write_bytes(DEFAULT_FILE.read_bytes()[:-1] + b"?")
    for operation, message in (
        (lambda: CheckpointFolder(tmp_path).training_step_count((2, 2)), "use a new folder"),
        (lambda: load_tables(damaged_file), "is damaged"),
        (
            lambda: run_command(f"train --setups 9v9 --checkpoint {tmp_path}"),
            "'9v9' is not trained",
        ),
        (
            lambda: run_command(f"train-large --setups 2v2 --out {tmp_path / 'x'}"),
            "'2v2' is not trained; there are 1v7",
        ),
    ):
        with pytest.raises(ConfigError, match=message):
            operation()


def test_row_is_stored_in_two_hundred_and_fifty_fifths() -> None:
    """Check the stored form of a row: actions, and probabilities in parts of 255.

    Actions that are chosen seldom are dropped, and so are those after the twelfth.
    """
    weights, row = (0.5, 0.3, 0.15, 0.04, 0.007, 0.003), ctypes.create_string_buffer(ROW)
    native_library().write_row((ctypes.c_float * 6)(*weights), 4, 6, row)
    assert list(row.raw[::2]) == [0, 5, 6, 7, 8, *[0] * 7], "the check, and bets above the fourth"
    assert sum(row.raw[1::2]) == POLICY_PROBABILITY_SCALE
    for stored_part, probability in zip(row.raw[1::2], weights[:5], strict=False):
        assert isclose(stored_part / POLICY_PROBABILITY_SCALE, probability, abs_tol=0.005)


def test_packed_table_plays_like_the_trained_table(tmp_path: Path) -> None:
    cards = (2, 1)
    trainer = train_cfr(cards, 5)
    write_tables(tmp_path / "t.bin", "a test", {cards: average_policy_rows(trainer)})
    packed_player, trained_player = (
        build_round_player("tables", {cards: round_table})
        for round_table in (
            to_round_table(cards, read_tables(tmp_path / "t.bin").rounds[cards]),
            average_policy_table(trainer),
        )
    )
    win_shares = [
        play_rounds(candidate, candidate, cards, 3, 20_000)
        for candidate in (packed_player, trained_player)
    ]
    assert win_shares[0] == pytest.approx(win_shares[1], abs=0.02)


def test_the_commands_train_pack_and_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cardsharp_tools.research.blef.table_training._DEALS_PER_STEP", 100)
    checkpoint, out, large_policy_file = (
        tmp_path / name for name in ("kept", "t.bin", "large.bin")
    )
    run_command(f"train --setups 3v2 --until 10 --checkpoint {checkpoint}")
    run_command(f"pack --checkpoint {checkpoint} --out {out}")
    run_command(f"check --file {out} -n 100")
    output = capsys.readouterr().out
    assert "3v2: 10 of 10 steps" in output
    assert "1 rounds" in " ".join(output.split())
    assert "3v2 depth 2" in output
    assert "3v2 10" in read_tables(out).mapped_file.producer
    run_command(f"train-large --out {large_policy_file} --setups 4v6 --steps 1")
    assert sorted(large_round_policy.map_policy_file(large_policy_file).rounds) == [(4, 6), (6, 4)]


def test_stored_policy_equals_the_trained_policy(tmp_path: Path) -> None:
    """Check that a stored policy, in C and in Python, has the probabilities of the trained one."""
    trained_policy, rng = train_large_round((4, 6), SHORT_TRAINING), Random(3)
    large_round_policy.write_policy(tmp_path / "large.bin", "a test", trained_policy)
    policy = large_round_policy.map_policy_file(tmp_path / "large.bin")
    assert policy_bytes_by_hand_sizes(policy) == trained_policy
    lookup_buffer, probabilities = (
        ctypes.create_string_buffer(1 << 14),
        (ctypes.c_double * (len(BETS) + 1))(),
    )
    for _ in range(60):
        hand_size, opponent_hand_size = cards = rng.choice([(4, 6), (6, 4)])
        pool = card_bits(rng.sample(DECK, hand_size))
        bets = sorted(rng.sample(range(len(BETS) - 1), 2))
        previous_bet, last_bet = rng.choice(
            [(NO_BET, NO_BET), (NO_BET, bets[1]), (bets[0], bets[1])]
        )
        native_library().compute_hand_features(pool, opponent_hand_size, lookup_buffer)
        native_library().large_round_strategy(
            trained_policy[cards], lookup_buffer, previous_bet, last_bet, probabilities
        )
        mixed_strategy = dict(
            large_round_policy.mixed_strategy(policy, cards, pool, (previous_bet, last_bet))
        )
        for action in (*range(len(BETS)), CHECK):
            assert probabilities[action] == pytest.approx(mixed_strategy.get(action, 0), abs=1e-9)


def test_training_improves_the_player_and_shipped_tables_are_strong() -> None:
    """Check that more training wins, and that the shipped tables resist a local best response.

    The bounds are loose; docs/blef-strength.md has closer figures.

    Mutation guard: a player with hardly any training loses to one that was trained for a
    second, and nearly every round to a local best response.
    """
    untrained_player = set_large_round_policies(
        build_round_player("tables"), train_large_round((5, 5), SHORT_TRAINING)
    )
    trained_player = set_large_round_policies(
        build_round_player("tables"), train_large_round((5, 5), TrainingAmount(steps=40, deals=100))
    )
    win_shares = [
        play_rounds(trained_player, untrained_player, (5, 5), 1, 2000),
        1 - play_rounds(untrained_player, trained_player, (5, 5), 2, 2000),
    ]
    assert sum(win_shares) / 2 > 0.6
    assert local_exploitability((5, 5), untrained_player, 1, 1, 40).low > 0.15
    shipped_player = set_large_round_policies(
        build_round_player("tables", load_tables(DEFAULT_FILE)),
        policy_bytes_by_hand_sizes(large_round_policy.load_large_round_policy()),
    )
    for cards, rounds, max_value in (
        ((2, 2), 1000, 0.05),
        ((3, 3), 1000, 0.05),
        ((5, 5), 40, 0.15),
    ):
        assert local_exploitability(cards, shipped_player, 1, 1, rounds).low < max_value


# --- players ------------------------------------------------------------------------------------


class NativeHabitReplies(ctypes.Structure):
    """ctypes structure for `HabitReplies` of opponent_types.h.

    It has the bets' probabilities, and the replies of two habits to each last bet.
    """

    _fields_ = struct_fields(
        "..b",
        "probabilities careful_replies bold_bet",
        ctypes.c_double * len(BETS),
        ctypes.c_uint8 * (len(BETS) + 1),
    )


def test_habit_replies_equal_in_c() -> None:
    """Every habit gives the same replies in C and in Python."""
    rng, habit_replies = Random(3), NativeHabitReplies()
    pointer = ctypes.byref(habit_replies)
    for _ in range(60):
        hand, hidden_count = card_bits(rng.sample(DECK, rng.randint(1, 8))), rng.randint(1, 8)
        native_library().find_habit_replies(hand, hidden_count, pointer)
        replies = [
            [
                native_library().habit_reply(pointer, habit, last_bet)
                for last_bet in range(len(BETS) + 1)
            ]
            for habit in range(len(BETTING_HABITS))
        ]
        last_bets = (*range(len(BETS)), NO_BET)
        assert replies == [
            [row[last_bet] for last_bet in last_bets]
            for row in possible_opponent_hand(hand, hidden_count).replies_by_habit
        ]


def test_the_shipped_tables_are_played_as_in_python() -> None:
    """The shipped tables give the same probabilities of the same actions in C and in Python."""
    table_player, rng, hit_count = (
        build_round_player("tables", load_tables(DEFAULT_FILE)),
        Random(9),
        0,
    )
    for _ in range(400):
        hand_sizes = rng.randint(1, 5), rng.randint(2, 5)
        bets = tuple(sorted(rng.sample(range(len(BETS) - 1), rng.randint(0, 3))))
        player_seat = len(bets) % 2
        hand = tuple(rng.sample(DECK, hand_sizes[player_seat]))
        hands = (hand, ()) if player_seat == 0 else ((), hand)
        history = tuple(RoundMove(move_index % 2, bet) for move_index, bet in enumerate(bets))
        mixed_strategy = look_up_trained_tables(
            load_policy_tables(),
            BlefPosition(player_seat, 1, 11, hand_sizes, hands, player_seat, history),
        )
        probabilities, view = (
            (ctypes.c_double * (CHECK + 1))(),
            NativeRoundView(player_seat, card_bits(hand), hand_sizes, len(bets), bets),
        )
        has_policy = native_library().trained_strategy(
            ctypes.byref(table_player), ctypes.byref(view), probabilities
        )
        if mixed_strategy is not None and sum(hand_sizes) < 8:
            assert has_policy
            assert dict(mixed_strategy) == {
                action: probability
                for action, probability in enumerate(probabilities)
                if probability
            }
            hit_count += 1
    assert hit_count > 20


@pytest.mark.parametrize(
    ("cards", "other", "exact"),
    [
        ((1, 1), build_round_player("threshold"), 0.058),
        ((2, 1), build_round_player("threshold"), 0.105),
        ((1, 2), build_round_player("threshold"), 0.135),
        ((1, 1), build_round_player("threshold", check=0.2, bet=0.5), 0.272),
        ((1, 2), build_round_player("threshold", check=0.2, bet=0.5), 0.375),
    ],
)
def test_local_exploitability_stays_below_the_exact_value(
    cards: tuple[int, int], other: RoundPlayer, exact: float
) -> None:
    interval = local_exploitability(cards, other, 2, 1, 3000)
    assert interval.low < exact < interval.high + 0.01
