"""Captain's network: its lanes are worth what plain sums of all units are, and never run over."""

from functools import cache
from random import Random

import pytest
from support.matches import RunningMatch
from support.perfect import values

from cardsharp.deadmansdraw.bank import bank_of
from cardsharp.deadmansdraw.cards import SERVER_DECK, Suit
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import start
from cardsharp.deadmansdraw.simulation import fair_chance
from cardsharp.deadmansdraw.state import State
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.strategies.search.layout import KEYS, LEFTS, LYING, TOPS, knot_of
from cardsharp.deadmansdraw.strategies.search.network import (
    FIELDS,
    HIDDEN,
    LANE,
    MOST,
    NUMBERS,
    PARTS,
    ROWS,
    SIGN,
    rows_of,
)
from cardsharp.deadmansdraw.strategies.search.sets import NO_CARD, SUITS
from cardsharp.deadmansdraw.strategies.search.weights import shipped


@cache
def rows(part: int, name: str) -> list[list[int]]:
    """The weights of a part, row by row."""
    at = part * NUMBERS // PARTS
    for field, (number, _) in FIELDS.items():
        if field == name:
            break
        at += number * HIDDEN
    weights = shipped().numbers
    return [[*weights[one : one + HIDDEN]] for one in range(at, at + number * HIDDEN, HIDDEN)]


def plainly(part: int, seen: tuple[list[int], int, int, int, int]) -> int:
    """Unit by unit."""
    keys, left, lead, odds, known = seen
    knot, share = knot_of(left)
    chosen = [rows(part, "left")[left]]
    for key in keys:
        suit = key % LYING // KEYS + SUITS * (part and key // LYING)
        chosen += [rows(part, "suit")[suit * ROWS + row] for row in rows_of(key % KEYS)]
    if known != NO_CARD:
        chosen.append(rows(part, "known")[known])
    total, out = 0, rows(part, "out")
    for unit in range(HIDDEN):
        hidden = sum(row[unit] for row in chosen) + lead * rows(part, "lead")[0][unit]
        hidden += (odds >> 17) * rows(part, "odds")[0][unit]
        total += max(0, hidden) * (out[knot][unit] * (32 - share) + out[knot + 1][unit] * share)
    return total >> 6


@pytest.mark.parametrize("part", range(PARTS))
def test_lanes_are_worth_what_plain_sums_are(part: int) -> None:
    dice, network = Random(part), shipped()
    for _ in range(40):
        keys = [
            suit * KEYS + dice.randrange(KEYS) + LYING * dice.randrange(2) for suit in range(SUITS)
        ]
        left, lead, odds = dice.randrange(LEFTS), dice.randint(-60, 60), dice.randint(-7, 7) << 20
        seen = keys, left, lead, odds, dice.choice((NO_CARD, dice.randrange(60)))
        assert (network.goes_on if part else network.begins).adds(*seen) == plainly(part, seen)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_lane_runs_over(part: int) -> None:
    """Whatever the position: each card and suit at its worst, a lead of 100, log-odds of 40."""
    suits, most = rows(part, "suit"), [0] * HIDDEN
    for unit in range(HIDDEN):
        for suit in range(SUITS):
            most[unit] += max(_worst(suits, at, unit) for at in (suit, SUITS + suit))
        for name, times in (("known", 1), ("left", 1), ("lead", 100), ("odds", 40 * 16)):
            most[unit] += times * max(abs(row[unit]) for row in rows(part, name))
    out = [32 * max(abs(row[unit]) for row in rows(part, "out")) for unit in range(HIDDEN)]
    assert max(most) < 1 << SIGN
    assert sum(one * by for one, by in zip(most, out, strict=True)) < 1 << LANE - 1


def _worst(suits: list[list[int]], suit: int, unit: int) -> int:
    """What one suit adds at most: six cards, each in one of three places, and six groups."""
    one = [abs(row[unit]) for row in suits[suit * ROWS : (suit + 1) * ROWS]]
    cards, groups = _by(one[:18], 3), _by(one[18:], TOPS)
    return sum(max(some) for some in (*cards, *groups))


def test_a_process_that_plays_for_days_remembers_no_more_than_so_many() -> None:
    network, dice = shipped(), Random(3)
    keys = [suit * KEYS + dice.randrange(KEYS) for suit in range(SUITS)]
    first = network.begins.adds(keys, 30, 0, 0, NO_CARD)
    for key in range(MOST + 10):
        network.begins.suits[key]
        assert len(network.begins.suits) <= MOST
    assert network.begins.adds(keys, 30, 0, 0, NO_CARD) == first


def _by(numbers: list[int], size: int) -> list[list[int]]:
    return [numbers[at : at + size] for at in range(0, len(numbers), size)]


CERTAIN = [suit for suit in Suit if suit not in {Suit.MAP, Suit.CHEST}]
"""Suits with which nothing but the next card is left to chance: no Map's offer, and no bonus."""


def opening(rng: Random) -> State:
    """One to three cards left, of few suits, so that busts are likely."""
    suits = rng.sample(CERTAIN, 3)
    deck = [card for card in SERVER_DECK if card.suit in suits]
    rng.shuffle(deck)
    left = rng.randint(1, 3)
    pile, lying, first, second, thrown = (
        tuple(deck[:left]),
        tuple({card.suit: card for card in deck[4:6]}.values()),
        deck[6:9],
        deck[9:12],
        tuple(deck[12:]),
    )
    banks = bank_of(first), bank_of(second)
    return start(pile, thrown, rng.randrange(2), banks, lying)


def options(position: Position) -> dict[object, float]:
    decision = build("captain", Random(1)).decide(position)
    return {option.action: option.value for option in decision.options}


@pytest.mark.parametrize("seed", range(40))
def test_the_last_cards_are_weighed_exactly(seed: int) -> None:
    rng = Random(f"certain/{seed}")
    state = opening(rng)
    weighed = options(RunningMatch(state, fair_chance(rng)).position())
    assert weighed == pytest.approx(values(state), abs=1e-12)
