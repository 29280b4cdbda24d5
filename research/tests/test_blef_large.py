"""Learning large rounds, and the compiled player of what was learned."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import DECK
from cardsharp.blef.strategies.large import known, mixture, read, write
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.sight import OPENING
from cardsharp.errors import ConfigError
from research.blef.compiled import lacking, library, play_rounds, player
from research.blef.packing import Lessons, known_in, learn, learn_all, teach
from research.blef.trained_commands import app
from research.compiling import why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason="needs a C compiler")

FEW = Lessons(steps=2, deals=10)


def test_what_is_kept_is_what_was_learned_and_is_played_alike(tmp_path: Path) -> None:
    """Compiled, and by the strategy's own Python: the same chances for any cards and bets."""
    learned, dice = learn((4, 6), FEW), Random(3)
    write(tmp_path / "large.bin", "a test", learned)
    kept = read(tmp_path / "large.bin")
    assert known_in(kept) == learned
    look, play = ctypes.create_string_buffer(1 << 14), (ctypes.c_double * (len(BETS) + 1))()
    for _ in range(60):
        own, other = cards = dice.choice([(4, 6), (6, 4)])
        pool = bits_of(dice.sample(DECK, own))
        bets = sorted(dice.sample(range(len(BETS) - 1), 2))
        before, last = dice.choice([(OPENING, OPENING), (OPENING, bets[1]), (bets[0], bets[1])])
        library().look_large(pool, other, look)
        library().large_play(learned[cards], look, before, last, play)
        mixed = dict(mixture(kept, cards, pool, (before, last)))
        for action in (*range(len(BETS)), CHECK):
            assert play[action] == pytest.approx(mixed.get(action, 0), abs=1e-9)


def test_learning_makes_a_better_player() -> None:
    """Mutation guard: hardly taught it loses to what was taught for a second."""
    hardly = teach(player("tables"), learn((5, 5), FEW))
    taught = teach(player("tables"), learn((5, 5), Lessons(steps=40, deals=100)))
    won = [
        play_rounds(taught, hardly, (5, 5), 1, 2000),
        1 - play_rounds(hardly, taught, (5, 5), 2, 2000),
    ]
    assert sum(won) / 2 > 0.6


def test_an_executor_learns_the_same() -> None:
    with ThreadPoolExecutor(2) as pool:
        there = list(learn_all([(1, 9), (5, 5)], FEW, pool))
    assert there == list(learn_all([(1, 9), (5, 5)], FEW))


def test_the_command_writes_what_it_learned(tmp_path: Path) -> None:
    file = tmp_path / "large.bin"
    app(
        ["large", "--out", str(file), "--setups", "4v6", "--steps", "1"],
        result_action="return_value",
    )
    assert sorted(read(file).rounds) == [(4, 6), (6, 4)]


def test_a_round_that_is_not_learned_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'2v2' is not trained; there are 1v7"):
        app(
            ["large", "--out", str(tmp_path / "x"), "--setups", "2v2"], result_action="return_value"
        )


def test_a_local_best_response_finds_what_a_player_of_a_large_round_lacks() -> None:
    """Mutation guard: of one who knows next to nothing it wins nearly every round."""
    hardly = teach(player("tables"), learn((5, 5), FEW))
    assert lacking((5, 5), hardly, 1, 1, 40).low > 0.15
    shipped = teach(player("tables"), known_in(known()))
    assert lacking((5, 5), shipped, 1, 1, 40).low < 0.15
