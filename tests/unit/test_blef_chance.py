"""Nobody can foretell a deal, a seat or an id, nor tell by the time how near a guessed uuid is."""

import hmac
import random
from collections import Counter

import pytest
from support.cloud_clock import START

from cardsharp.blef.cards import DECK
from cardsharp.blef.changes import SecretChance
from cardsharp.blef.params import is_random
from cardsharp.blef.records import GameRecord

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
