"""The trainers of Blef's tables, the compiled rules and players, and the tables that are shipped.

What is in C is held against what is in Python; local best responses against exact ones, which are
known for the smallest rounds (docs/blef-strength.md).
"""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from math import isclose
from pathlib import Path
from random import Random

import pytest

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import DECK
from cardsharp.blef.position import Position
from cardsharp.blef.rules import Move
from cardsharp.blef.strategies import large
from cardsharp.blef.strategies.equilibrium import Mixture
from cardsharp.blef.strategies.minds import HABITS, mind_of
from cardsharp.blef.strategies.odds import bits_of, odds
from cardsharp.blef.strategies.sight import OPENING, Shape, hands_of
from cardsharp.blef.strategies.tabled import looked_up
from cardsharp.blef.strategies.trained import FILE, WHOLE, read, trained, write
from cardsharp.errors import ConfigError
from research.blef.commands import app
from research.blef.compiled import (
    Cards,
    CPlayer,
    CTable,
    Learner,
    lacking,
    library,
    play_rounds,
    player,
    setup_of,
    table_of,
)
from research.blef.packing import ROW, Lessons, known_in, learn, opened, packed, tables_in, teach
from research.blef.solve import Plays, SmallRound, Values, exploitability, mover, small_round
from research.blef.training import Budget, Folder, advance, learner_of, train
from research.compiling import members, why_not

run = partial(app, result_action="return_value")
FEW = Lessons(steps=2, deals=10)

pytestmark = pytest.mark.skipif(why_not() is not None, reason="needs a C compiler")


def learned(cards: tuple[int, int], steps: int) -> Learner:
    return learner_of(cards, advance(cards, b"", steps))[0]


def table(learner: Learner) -> CTable:
    return table_of(learner.setup, packed(learner))


def test_the_compiled_rules_are_those_of_python() -> None:
    """Which bets hold for pools of any size, and the chance of each, to the last bit."""
    dice = Random(5)
    chances = (ctypes.c_double * len(BETS))()
    for _ in range(150):
        pool = dice.sample(DECK, dice.randint(1, 22))
        hidden = dice.randint(0, min(11, 24 - len(pool)))
        for number, bet in enumerate(BETS):
            assert library().holds(number, bits_of(pool)) == bet.holds(pool)
        library().odds(bits_of(pool), hidden, chances)
        assert list(chances) == odds(bits_of(pool), hidden)


@pytest.mark.parametrize("cards", [(2, 2), (2, 3), (4, 4)])
def test_both_have_the_same_places(cards: Cards) -> None:
    shape, setup = Shape(cards), setup_of(cards)
    none, hand = (OPENING, OPENING, OPENING), next(iter(hands_of(cards[0])))
    said = [bets for number in range(4) for bets in combinations(shape.bets, number)]
    rows = {shape.row(0, hand, (*none, *bets)[-3:]) for bets in said}
    laid_out = {place for place, start in enumerate(setup.start) if start > 0}
    assert {row // setup.hands[0] for row in rows} == {0} | laid_out


def average_of(learner: Learner, small: SmallRound) -> Plays:
    """The average play as the exact solver takes it."""
    shape, setup = Shape(small.cards), learner.setup

    def play(said: int, hand: Values) -> Mixture:
        seat = mover(said)
        bets = [OPENING, OPENING, OPENING, *(bet for bet in small.bets if said >> bet & 1)]
        row = shape.row(seat, hand, bets[-3:])
        last, (place, number) = row // shape.apart(seat), divmod(row, setup.hands[seat])
        at = number * setup.span + setup.start[place]
        choices = [*[0][: bool(last)], *range(last + 1, setup.bets + 1)]
        weights = learner.sums[seat][at : at + len(choices)]
        both = zip(choices, weights, strict=True)
        return tuple((shape.action(one), often / sum(weights)) for one, often in both if often)

    return play


def test_the_trainer_nears_the_equilibrium_of_a_round_that_is_solved() -> None:
    """By the exact best answer; the local one finds no more than that."""
    small, learner = small_round(1, 1), learned((1, 1), 40)
    lacks = exploitability(small, average_of(learner, small))
    assert lacks < 0.001
    ours = player("tables", {(1, 1): table(learner)})
    assert all(lacks > lacking((1, 1), ours, depth, 1, 4000).low for depth in (1, 2))
    assert play_rounds(ours, ours, (1, 1), 3, 20_000) == pytest.approx(0.4638, abs=0.015)


def test_training_goes_on_where_it_was_the_least_trained_round_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if nothing had happened, until its time is over; an executor learns the same."""
    monkeypatch.setattr("research.blef.training._DEALS", 100)
    here, there, told = Folder(tmp_path / "here"), Folder(tmp_path / "there"), []
    clock = iter([0.0, 1.0, 2.0, 3.0, 99.0])
    budget = Budget(1000, 10, lambda: next(clock))
    train(here, [(1, 1), (1, 2)], budget, tell=lambda *one: told.append(one))
    assert told == [((1, 1), 10), ((1, 2), 10), ((1, 1), 20)]
    assert here.steps((1, 1)) == 20
    assert here.read((1, 1)) == advance((1, 1), advance((1, 1), b""))
    with ThreadPoolExecutor(2) as pool:
        train(there, [(1, 2), (1, 1)], Budget(10), pool)
    assert [there.steps((1, 1)), there.read((1, 2))] == [10, here.read((1, 2))]


def test_what_cannot_be_used_is_said(tmp_path: Path) -> None:
    """A checkpoint of another format, a damaged file, and rounds that are not trained."""
    (tmp_path / "2v2.state").write_text('{"format": 0, "cards": [2, 2], "steps": 3}\n')
    spoilt = tmp_path / "t.bin"
    spoilt.write_bytes(FILE.read_bytes()[:-1] + b"?")
    for used, told in (
        (lambda: Folder(tmp_path).steps((2, 2)), "begin a new folder"),
        (lambda: tables_in(spoilt), "is damaged"),
        (lambda: run(f"train --setups 9v9 --checkpoint {tmp_path}"), "'9v9' is not trained"),
        (
            lambda: run(f"large --setups 2v2 --out {tmp_path / 'x'}"),
            "'2v2' is not trained; there are 1v7",
        ),
    ):
        with pytest.raises(ConfigError, match=told):
            used()


def test_a_row_is_kept_to_a_two_hundred_and_fifty_fifth() -> None:
    """But for what is chosen seldom, and for what comes after twelve choices."""
    weights, row = (0.5, 0.3, 0.15, 0.04, 0.007, 0.003), ctypes.create_string_buffer(ROW)
    library().write_row((ctypes.c_float * 6)(*weights), 4, 6, row)
    assert list(row.raw[::2]) == [0, 5, 6, 7, 8, *[0] * 7], "the check, and bets above the fourth"
    assert sum(row.raw[1::2]) == WHOLE
    for parts, chance in zip(row.raw[1::2], weights[:5], strict=False):
        assert isclose(parts / WHOLE, chance, abs_tol=0.005)


def test_a_packed_table_plays_as_what_was_learned(tmp_path: Path) -> None:
    cards = (2, 1)
    learner = learned(cards, 5)
    write(tmp_path / "t.bin", "a test", {cards: packed(learner)})
    ours, whole = (
        player("tables", {cards: one})
        for one in (opened(cards, read(tmp_path / "t.bin").rounds[cards]), table(learner))
    )
    shares = [play_rounds(one, one, cards, 3, 20_000) for one in (ours, whole)]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)


def test_the_commands_train_pack_and_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("research.blef.training._DEALS", 100)
    kept, out, learned = (tmp_path / name for name in ("kept", "t.bin", "large.bin"))
    run(f"train --setups 3v2 --until 10 --checkpoint {kept}")
    run(f"pack --checkpoint {kept} --out {out}")
    run(f"check --file {out} -n 100")
    said = capsys.readouterr().out
    assert "3v2: 10 of 10 steps" in said
    assert "1 rounds" in " ".join(said.split())
    assert "3v2 depth 2" in said
    assert "3v2 10" in read(out).file.made_by
    run(f"large --out {learned} --setups 4v6 --steps 1")
    assert sorted(large.read(learned).rounds) == [(4, 6), (6, 4)]


def test_what_is_kept_is_what_was_learned_and_is_played_alike(tmp_path: Path) -> None:
    """Compiled, and by the strategy's own Python: the same chances for any cards and bets."""
    learned, dice = learn((4, 6), FEW), Random(3)
    large.write(tmp_path / "large.bin", "a test", learned)
    kept = large.read(tmp_path / "large.bin")
    assert known_in(kept) == learned
    look, play = ctypes.create_string_buffer(1 << 14), (ctypes.c_double * (len(BETS) + 1))()
    for _ in range(60):
        own, other = cards = dice.choice([(4, 6), (6, 4)])
        pool = bits_of(dice.sample(DECK, own))
        bets = sorted(dice.sample(range(len(BETS) - 1), 2))
        before, last = dice.choice([(OPENING, OPENING), (OPENING, bets[1]), (bets[0], bets[1])])
        library().look_large(pool, other, look)
        library().large_play(learned[cards], look, before, last, play)
        mixed = dict(large.mixture(kept, cards, pool, (before, last)))
        for action in (*range(len(BETS)), CHECK):
            assert play[action] == pytest.approx(mixed.get(action, 0), abs=1e-9)


def test_learning_makes_a_better_player_and_what_is_shipped_lacks_little() -> None:
    """At least so much, by a player who knows it; docs/blef-strength.md has closer figures.

    Mutation guard: who is hardly taught loses to what was taught for a second, and nearly every
    round to a local best response.
    """
    hardly = teach(player("tables"), learn((5, 5), FEW))
    taught = teach(player("tables"), learn((5, 5), Lessons(steps=40, deals=100)))
    won = [
        play_rounds(taught, hardly, (5, 5), 1, 2000),
        1 - play_rounds(hardly, taught, (5, 5), 2, 2000),
    ]
    assert sum(won) / 2 > 0.6
    assert lacking((5, 5), hardly, 1, 1, 40).low > 0.15
    shipped = teach(player("tables", tables_in(FILE)), known_in(large.known()))
    for cards, rounds, most in (((2, 2), 1000, 0.05), ((3, 3), 1000, 0.05), ((5, 5), 40, 0.15)):
        assert lacking(cards, shipped, 1, 1, rounds).low < most


# --- players ------------------------------------------------------------------------------------


class Mind(ctypes.Structure):
    _fields_ = members(
        "..b", "chances careful bold", ctypes.c_double * len(BETS), ctypes.c_uint8 * (len(BETS) + 1)
    )


class View(ctypes.Structure):
    _fields_ = members(
        "iI.i.", "role hand cards said bet", ctypes.c_int * 2, ctypes.c_uint8 * len(BETS)
    )


def test_minds_are_the_same() -> None:
    """What each habit says."""
    dice, made = Random(3), Mind()
    given = ctypes.byref(made)
    for _ in range(60):
        hand, hidden = bits_of(dice.sample(DECK, dice.randint(1, 8))), dice.randint(1, 8)
        library().mind_of(hand, hidden, given)
        replies = [
            [library().reply(given, habit, last) for last in range(len(BETS) + 1)]
            for habit in range(len(HABITS))
        ]
        lasts = (*range(len(BETS)), OPENING)
        assert replies == [[row[last] for last in lasts] for row in mind_of(hand, hidden).replies]


def test_the_shipped_tables_are_played_as_in_python() -> None:
    """The same chances of the same actions, wherever the strategy finds any."""
    ours, dice, found = player("tables", tables_in(FILE)), Random(9), 0
    for _ in range(400):
        n_cards = dice.randint(1, 5), dice.randint(2, 5)
        said = tuple(sorted(dice.sample(range(len(BETS) - 1), dice.randint(0, 3))))
        me = len(said) % 2
        hand = tuple(dice.sample(DECK, n_cards[me]))
        hands = (hand, ()) if me == 0 else ((), hand)
        history = tuple(Move(place % 2, bet) for place, bet in enumerate(said))
        mixed = looked_up(trained(), Position(me, 1, 11, n_cards, hands, me, history))
        play, view = (
            (ctypes.c_double * (CHECK + 1))(),
            View(me, bits_of(hand), n_cards, len(said), said),
        )
        knows = library().tables_play(ctypes.byref(ours), ctypes.byref(view), play)
        if mixed is not None and sum(n_cards) < 8:
            assert knows
            assert dict(mixed) == {action: often for action, often in enumerate(play) if often}
            found += 1
    assert found > 20


@pytest.mark.parametrize(
    ("cards", "other", "exact"),
    [
        ((1, 1), player("threshold"), 0.058),
        ((2, 1), player("threshold"), 0.105),
        ((1, 2), player("threshold"), 0.135),
        ((1, 1), player("threshold", check=0.2, bet=0.5), 0.272),
        ((1, 2), player("threshold", check=0.2, bet=0.5), 0.375),
    ],
)
def test_a_local_answer_nears_the_best_one_and_never_wins_more(
    cards: tuple[int, int], other: CPlayer, exact: float
) -> None:
    found = lacking(cards, other, 2, 1, 3000)
    assert found.low < exact < found.high + 0.01
