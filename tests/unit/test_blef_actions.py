"""What may be said, how parameters are read, and that nobody can foretell or find out a secret."""

import hmac
import random
import signal
from collections import Counter

import pytest
from support.cloud_clock import START

from cardsharp.blef.actions import BETS, CHECK, LOST, name_of
from cardsharp.blef.cards import DECK
from cardsharp.blef.changes import SecretChance
from cardsharp.blef.params import is_random, read_number
from cardsharp.blef.records import GameRecord


def test_there_are_88_bets_with_names_of_their_own() -> None:
    assert len(BETS) == 88
    assert len({bet.name for bet in BETS}) == 88


@pytest.mark.parametrize(
    ("action", "name"),
    [
        (0, "High card, 9"),
        (11, "Pair of aces"),
        (12, "Two pair, 10s and 9s"),
        (26, "Two pair, aces and kings"),
        (27, "Small straight (9-K)"),
        (35, "Three of a kind, aces"),
        (36, "Full house, 9s over 10s"),
        (65, "Full house, aces over kings"),
        (69, "Flush, spades"),
        (75, "Four of a kind, aces"),
        (87, "Great straight flush (9-A), spades"),
        (CHECK, "Check"),
        (LOST, "Lost the round"),
    ],
)
def test_an_action_has_the_name_of_the_rule_book(action: int, name: str) -> None:
    assert name_of(action) == name


@pytest.mark.parametrize(("cards", "bets"), [(2, 12), (3, 18), (4, 39), (5, 83), (6, 88)])
def test_so_many_bets_can_be_true_with_so_many_cards(cards: int, bets: int) -> None:
    """The counts of docs/spec/blef.md section 4."""
    assert sum(bet.size <= cards for bet in BETS) == bets


NO_NUMBERS = ("", " ", "abc", "NaN", "NA", "TRUE", "1_0", "1,1", "0x", "1e", "--1", "1L")
NO_NUMBERS += ("\u0661", "\u00a01")


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number_is_none(text: str) -> None:
    """Also what Python would take for one."""
    assert read_number(text) is None


def test_no_text_takes_the_square_of_its_length() -> None:
    """This one would take three minutes of the process, not some milliseconds."""

    def give_up(*_: object) -> None:
        pytest.fail("ten seconds of this process were not enough")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, 10)
    try:
        assert read_number("1" * 100_000 + "x") is None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


CHANCE = SecretChance()


def test_a_seed_repeats_nothing() -> None:
    seen = []
    for _ in range(2):
        random.seed(1)
        seen.append((CHANCE.deal(24), CHANCE.seats(8), CHANCE.uuid()))
    assert all(one != two for one, two in zip(*seen, strict=True))
    assert is_random(seen[0][2])


def test_a_deal_is_of_different_cards_and_reaches_all_of_the_deck() -> None:
    counted = Counter(card for _ in range(500) for card in CHANCE.deal(5))
    assert counted.keys() == set(DECK)
    # 104 of each are expected; 50 is more than five standard deviations away.
    assert min(counted.values()) > 50
    assert max(counted.values()) < 160
    assert all(len(set(CHANCE.deal(n))) == n for n in range(25))


def test_everybody_sits_everywhere() -> None:
    counted = Counter(CHANCE.seats(3) for _ in range(600))
    assert len(counted) == 6
    assert min(counted.values()) > 50


@pytest.mark.parametrize("uuid", ["first", "last", "nobody"])
def test_every_player_is_compared_with_whoever_asks(
    monkeypatch: pytest.MonkeyPatch, uuid: str
) -> None:
    compared, compare = [], hmac.compare_digest

    def count(one: str, two: str) -> bool:
        compared.append((one, two))
        return compare(one, two)

    game = GameRecord("", START)
    for name in ("first", "second", "last"):
        game = game.joined_by(name, name)
    monkeypatch.setattr(hmac, "compare_digest", count)
    assert game.seat_of(uuid) == {"first": 0, "last": 2}.get(uuid)
    assert len(compared) == 3
