"""`solved`: what it looks up in the trained tables, and the file that holds them."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardsharp.blef.actions import BETS, name_of
from cardsharp.blef.cards import DECK, Hand, sort_hand
from cardsharp.blef.position import Position
from cardsharp.blef.rules import max_cards
from cardsharp.blef.state import Move
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.large import BONDS, CLASSES, KINDS, bond, known, mixture
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.sight import OPENING, Shape
from cardsharp.blef.strategies.tabled import looked_up
from cardsharp.blef.strategies.trained import Rows, read, trained, write
from cardsharp.errors import ConfigError

Cards = tuple[int, int]


def position(cards: Cards, hand: Hand, *bets: int) -> Position:
    """What the player to move sees of a round of two after these bets."""
    role = len(bets) % 2
    hands = (hand, ()) if role == 0 else ((), hand)
    history = tuple(Move(place % 2, bet) for place, bet in enumerate(bets))
    return Position(role, 1, max_cards(2), cards, hands, role, history)


@st.composite
def positions(draw: st.DrawFn, rounds: Sequence[Cards]) -> Position:
    """Any position of these rounds, also such as nobody would come to."""
    cards = draw(st.sampled_from(rounds))
    bets = sorted(draw(st.sets(st.integers(0, len(BETS) - 1), max_size=6)))
    hand = draw(st.permutations(DECK))[: cards[len(bets) % 2]]
    return position(cards, sort_hand(hand), *bets)


TRAINED = sorted(trained().rounds)


@given(positions(TRAINED), st.integers())
def test_what_a_table_plays_is_legal_and_whole(seen: Position, seed: int) -> None:
    """And who decides by it plays one of these actions."""
    mixed = looked_up(trained(), seen)
    if mixed is None:
        return
    assert {action for action, _ in mixed} <= {*seen.legal_actions()}
    assert sum(chance for _, chance in mixed) == pytest.approx(1)
    decision = build("solved", Random(seed)).decide(seen)
    assert decision.action in dict(mixed)
    assert decision.action in {option.action for option in decision.options} <= {*dict(mixed)}


@pytest.mark.parametrize("n_cards", [(10, 9), (2, 2, 1), (1, 1), (2, 1)])
def test_where_nothing_is_trained_it_plays_as_bayes(n_cards: tuple[int, ...]) -> None:
    """With the same dice; up to three cards that is the exact table."""
    hands = (sort_hand(DECK[: n_cards[0]]), *[()] * (len(n_cards) - 1))
    opening = Position(0, 1, max_cards(len(n_cards)), n_cards, hands, 0)
    assert looked_up(trained(), opening) is None
    decisions = [build(name, Random(3)).decide(opening) for name in ("solved", "bayes")]
    assert decisions[0] == decisions[1]


def test_the_shipped_file_is_whole_and_small() -> None:
    tables = trained()
    assert tables.file.is_whole()
    assert len(tables.file.body) < 20_000_000
    assert tables.file.made_by.startswith("cardsharp research blef train")


def test_a_written_table_is_read_again_and_damage_is_seen(tmp_path: Path) -> None:
    one, two = bytes([1, 255]), bytes([0, 55, 3, 200])
    far = 3 * Shape((2, 2)).apart(0) + 9
    file = tmp_path / "t.bin"
    write(file, "a test", {(2, 2): (Rows((2, 7, far), (one, two, two)), Rows((1,), (one,)))})
    tables = read(file)
    begins, other = tables.rounds[2, 2]
    assert [begins.find(at) for at in (7, 2, far)] == [{0: 55, 3: 200}, {1: 255}, {0: 55, 3: 200}]
    assert (begins.find(3), begins.find(10**9), other.find(1)) == ({}, {}, {1: 255})
    assert tables.file.is_whole()
    file.write_bytes(file.read_bytes()[:-3] + b"\1\0\0")
    assert not read(file).file.is_whole()


@pytest.mark.parametrize("content", [None, b"", b"no head", b"{}\n", b'{"format": 0}\n'])
def test_a_file_that_cannot_be_used_is_told_as_such(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not as numbers that the strategy does not take."""
    file = tmp_path / "t.bin"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr("cardsharp.blef.strategies.trained.FILE", file)
    trained.cache_clear()
    try:
        with pytest.raises(ConfigError, match=r"t\.bin .*; (install Cardsharp|train it) again"):
            build("solved", Random(1))
    finally:
        trained.cache_clear()


NUMBERS = {name_of(number): number for number in range(len(BETS))}
KNOWN = sorted(known().rounds)


@given(positions(KNOWN), st.integers())
def test_what_solved_does_in_a_large_round_is_legal_and_whole(seen: Position, seed: int) -> None:
    """Of its options it tells those that it takes once in a hundred times, and the one taken."""
    bets = (OPENING, OPENING, *(move.action for move in seen.history))[-2:]
    cards = (len(seen.hand), sum(seen.n_cards) - len(seen.hand))
    mixed = dict(mixture(known(), cards, bits_of(seen.hand), bets))
    assert {*mixed} <= {*seen.legal_actions()}
    assert sum(mixed.values()) == pytest.approx(1)
    decision = build("solved", Random(seed)).decide(seen)
    told = {option.action for option in decision.options}
    assert told == {action for action, often in mixed.items() if often >= 0.01} | {decision.action}


@pytest.mark.parametrize(
    ("before", "last", "shared"),
    [
        ("Pair of 9s", "Pair of aces", 1),
        ("Pair of 9s", "Three of a kind, 9s", 3),
        ("Full house, 9s over aces", "Full house, aces over 9s", 2),
        ("Three of a kind, aces", "Flush, clubs", 1),
        ("Flush, clubs", "Small straight flush (9-K), clubs", 3),
        ("Flush, clubs", "Small straight flush (9-K), spades", 1),
        ("Small straight flush (9-K), clubs", "Big straight flush (10-A), clubs", 2),
        ("Small straight flush (9-K), clubs", "Big straight flush (10-A), hearts", 1),
    ],
)
def test_what_a_bet_shares_with_the_one_before(before: str, last: str, shared: int) -> None:
    assert bond(NUMBERS[before], NUMBERS[last]) == shared


def test_what_is_shipped_is_whole_for_both_of_each_round() -> None:
    """A row for each last bet, with a place for the check and for each higher bet."""
    assert known().file.is_whole()
    assert {cards[::-1] for cards in KNOWN} == {*KNOWN}
    for cards in KNOWN:
        for last in (OPENING, 0, 40, len(BETS) - 1):
            higher = len(BETS) - last - 1
            assert len(known().row(cards, last)) == BONDS * (CLASSES + KINDS * higher)
