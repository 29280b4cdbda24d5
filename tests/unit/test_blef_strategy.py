"""The strategies of Blef: what they bet and look up; each choice is explained and repeatable."""

import re
from collections.abc import Sequence
from itertools import combinations
from math import comb
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardsharp.errors import ConfigError
from cardsharp.games.blef.actions import BETS, CHECK, Bet, action_name
from cardsharp.games.blef.cards import DECK, RANKS, BlefCard, Hand, sort_hand
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import RoundMove, max_cards
from cardsharp.games.blef.strategies import build
from cardsharp.games.blef.strategies.bayes import describe_probability, evaluate_bets
from cardsharp.games.blef.strategies.bet_probabilities import (
    bet_probabilities,
    card_bits,
    missing_card_bits,
    true_bets,
)
from cardsharp.games.blef.strategies.large_round_policy import (
    FEATURE_COUNT,
    OVERLAP_CLASSES,
    PROBABILITY_CLASSES,
    bet_overlap_class,
    load_large_round_policy,
)
from cardsharp.games.blef.strategies.policy_tables import (
    PolicyRows,
    load_policy_tables,
    read_tables,
    write_tables,
)
from cardsharp.games.blef.strategies.table_lookup import NO_BET, TableShape
from cardsharp.games.blef.strategies.table_policy import look_up_trained_tables, mixed_strategy

NUMBERS = {bet.name: number for number, bet in enumerate(BETS)}
ROUNDS = sorted({*load_policy_tables().rounds, *load_large_round_policy().rounds})


def hand_of(text: str) -> Hand:
    return sort_hand(BlefCard(RANKS.index(c[:-1]), "cdhs".index(c[-1])) for c in text.split())


def seen(hand: str | Hand, card_counts: Sequence[int], *bets: str | int) -> BlefPosition:
    """Return the first seat's position at its turn, by its hand, other hand sizes and bets."""
    player_hand = hand_of(hand) if isinstance(hand, str) else hand
    players = 1 + len(card_counts)
    history = tuple(
        RoundMove((place - len(bets)) % players, bet if isinstance(bet, int) else NUMBERS[bet])
        for place, bet in enumerate(bets)
    )
    hands, n_cards = (player_hand, *[()] * len(card_counts)), (len(player_hand), *card_counts)
    return BlefPosition(0, 9, max_cards(players), n_cards, hands, 0, history)


def choice(name: str, position: BlefPosition) -> str:
    return action_name(build(name, Random(1)).decide(position).action)


@pytest.mark.parametrize(("text", "hidden"), [("9c", 1), ("9c 9d", 2), ("Ac Kc Qc Jc", 2), ("", 2)])
def test_odds_are_the_shares_of_all_hidden_cards(text: str, hidden: int) -> None:
    """Counted one by one over all choices of the hidden cards, by the rules' own verdicts."""
    hand = hand_of(text)
    rest = [card for card in DECK if card not in hand]
    pools = [(*hand, *cards) for cards in combinations(rest, hidden)]
    exact = [sum(bet.holds(pool) for pool in pools) / len(pools) for bet in BETS]
    assert bet_probabilities(card_bits(hand), hidden) == pytest.approx(exact)


@given(st.sets(st.sampled_from(DECK)).map(sorted))
def test_bet_verdicts_match_the_rules_and_probabilities_without_hidden_cards(
    pool: list[BlefCard],
) -> None:
    verdicts = [bet.holds(pool) for bet in BETS]
    true_bet_bits = true_bets(card_bits(pool))
    assert [bool(true_bet_bits >> number & 1) for number in range(len(BETS))] == verdicts
    assert bet_probabilities(card_bits(pool), 0) == verdicts


@given(st.sampled_from(BETS), st.sets(st.sampled_from(DECK)))
def test_a_bet_holds_with_its_missing_cards_and_fails_without_any_of_them(
    bet: Bet, pool: set[BlefCard]
) -> None:
    missing = missing_card_bits(BETS.index(bet), card_bits(pool))
    lacked = {card for card in DECK if missing & card_bits([card])}
    assert not lacked & pool
    assert bet.holds(pool | lacked)
    assert not any(bet.holds((pool | lacked) - {card}) for card in lacked)


IMPOSSIBLE = "Great straight flush (9-A), spades"
ACE = seen("9c", [1], "High card, ace")  # an ace beside a 9: 4 of the 23 other cards, 17 %


@pytest.mark.parametrize(
    ("name", "position", "expected"),
    [
        # Its own highest card, and of equals the higher one.
        ("greedy", seen("Jc", [1]), "High card, jack"),
        ("greedy", seen("Jc 9d", [1]), "High card, jack"),
        ("greedy", seen("9c", [1], "High card, 9"), "High card, ace"),
        # It checks what fails as likely as its best bet holds.
        ("greedy", seen("9c", [1], "Pair of aces"), "Check"),
        ("greedy", seen("9c", [1], IMPOSSIBLE), "Check"),
        # Below its mark it checks, and else goes as high as it dares.
        ("threshold(0.2,0.5)", ACE, "Check"),
        ("threshold(0.1,0.1)", ACE, "Pair of 9s"),
        ("threshold(0.1,0.5)", ACE, choice("greedy", ACE)),
        ("threshold(0.2,0.5)", seen("9c Ah", [2]), "High card, ace"),
        ("threshold(0.2,0.15)", seen("9c", [1]), "High card, ace"),
        # It checks what cannot be true.
        ("bayes", seen("9c", [1], "Pair of aces"), "Check"),
        ("bayes", seen("9c", [1], IMPOSSIBLE), "Check"),
    ],
)
def test_strategy_bets_by_its_hand(name: str, position: BlefPosition, expected: str) -> None:
    assert choice(name, position) == expected


def test_greedy_explains_its_check() -> None:
    decision = build("greedy", Random(1)).decide(seen("9c", [1], "Pair of aces"))
    assert "fails with 100.0 %" in decision.reason
    assert [option.action for option in decision.options].count(CHECK) == 1


def test_a_bet_is_evidence_and_agreement_of_sampled_worlds_is_no_certainty() -> None:
    """By the cards alone the other's ace is 34 % likely; who opens with it, mostly has it.

    Of three players with 6 cards each some 10 is all but certain, and said so.
    """
    position = seen("9c 10d", [2], "High card, ace")
    by_cards = 1 - comb(18, 2) / comb(22, 2)
    assert bet_probabilities(card_bits(position.hand), 2)[
        NUMBERS["High card, ace"]
    ] == pytest.approx(by_cards)
    decision = build("bayes", Random(1)).decide(position)
    worth = {option.action: option.value for option in decision.options}
    assert worth[CHECK] < 0.5
    assert decision.action != CHECK
    worlds = evaluate_bets(seen("9c 9d Jc Qd Kh As", [6, 6]))
    ten = NUMBERS["High card, 10"]
    assert all(world.true_bets >> ten & 1 for world in worlds.worlds)
    assert 0.99 < worlds.bet_probabilities[ten] < 1
    assert describe_probability(worlds.bet_probabilities[ten]) == "holds with more than 99 %"
    assert (
        describe_probability(worlds.bet_probabilities[NUMBERS["Pair of 9s"]]) == "holds for certain"
    )


def test_beliefs_are_stated_as_uncertain_with_their_assumption() -> None:
    """Only what the own cards decide is certain; where others hold cards nothing is 0 or 100 %."""
    dice, certain = Random(3), 0
    for players in (3, 5) * 3:
        hand_size, *other_hand_sizes = (dice.randint(1, max_cards(players)) for _ in range(players))
        hand = sort_hand(dice.sample(DECK, hand_size))
        position = seen(hand, other_hand_sizes, *sorted(dice.sample(range(50), dice.randint(0, 3))))
        decision = build("reader", Random(1)).decide(position)
        by_cards = bet_probabilities(card_bits(position.hand), position.hidden_card_count)
        assert decision.reason.startswith("If the others bet by their cards as most do: ")
        assert not re.search(r"\b(0|100)(\.0)? %", decision.reason)
        for option in decision.options:
            bet = position.last_bet if option.action == CHECK else option.action
            decided = by_cards[bet] in {0, 1}
            assert decided or 0.001 <= option.value <= 0.999
            if option.action != CHECK:
                certain += decided
                assert decided == (option.note in {"holds for certain", "cannot hold"})
    assert certain > 0


@st.composite
def positions(draw: st.DrawFn) -> BlefPosition:
    """Positions of the rounds for which there are tables."""
    bets = sorted(draw(st.sets(st.integers(0, len(BETS) - 1), max_size=6)))
    hand_size, other_hand_size = draw(st.sampled_from(ROUNDS))
    return seen(sort_hand(draw(st.permutations(DECK))[:hand_size]), [other_hand_size], *bets)


@settings(max_examples=80, deadline=None)
@given(positions(), st.integers())
def test_mixed_strategy_is_legal_and_its_options_are_complete(
    position: BlefPosition, seed: int
) -> None:
    """Of its options it tells those that it takes once in a hundred times, and the one taken."""
    mixed = dict(mixed_strategy(position) or ())
    if not mixed:
        return
    assert {*mixed} <= {*position.legal_actions()}
    assert sum(mixed.values()) == pytest.approx(1)
    decision = build("solved", Random(seed)).decide(position)
    actions = {option.action for option in decision.options}
    assert actions == {action for action, often in mixed.items() if often >= 0.01} | {
        decision.action
    }


@pytest.mark.parametrize("n_cards", [(10, 9), (2, 2, 1), (1, 1), (2, 1)])
def test_untrained_rounds_are_played_as_by_bayes(n_cards: tuple[int, ...]) -> None:
    opening = seen(sort_hand(DECK[: n_cards[0]]), n_cards[1:])
    assert look_up_trained_tables(load_policy_tables(), opening) is None
    decisions = [build(name, Random(3)).decide(opening) for name in ("solved", "bayes")]
    assert decisions[0] == decisions[1]


def test_written_tables_are_readable_and_damage_is_detected(tmp_path: Path) -> None:
    first_row, second_row = bytes([1, 255]), bytes([0, 55, 3, 200])
    far = 3 * TableShape((2, 2)).last_bet_stride(0) + 9
    file = tmp_path / "t.bin"
    write_tables(
        file,
        "a test",
        {
            (2, 2): (
                PolicyRows((2, 7, far), (first_row, second_row, second_row)),
                PolicyRows((1,), (first_row,)),
            )
        },
    )
    tables = read_tables(file)
    begins, other = tables.rounds[2, 2]
    assert [begins.find_row_choices(at) for at in (7, 2, far)] == [
        {0: 55, 3: 200},
        {1: 255},
        {0: 55, 3: 200},
    ]
    assert (
        begins.find_row_choices(3),
        begins.find_row_choices(10**9),
        other.find_row_choices(1),
    ) == ({}, {}, {1: 255})
    assert tables.mapped_file.is_intact()
    file.write_bytes(file.read_bytes()[:-3] + b"\1\0\0")
    assert not read_tables(file).mapped_file.is_intact()


@pytest.mark.parametrize("content", [None, b"", b"no head", b"{}\n", b'{"format": 0}\n'])
def test_an_unusable_table_file_is_reported(content: bytes | None, tmp_path: Path) -> None:
    """Not as numbers that the strategy does not take."""
    file = tmp_path / "t.bin"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"t\.bin .*; (install Cardsharp|train it) again"):
        read_tables(file)


@pytest.mark.parametrize(
    ("previous_bet", "last", "shared"),
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
def test_bet_overlap_with_the_previous_bet(previous_bet: str, last: str, shared: int) -> None:
    assert bet_overlap_class(NUMBERS[previous_bet], NUMBERS[last]) == shared


def test_shipped_tables_are_intact_small_and_symmetric() -> None:
    """A row for each last bet, with a place for the check and for each higher bet."""
    tables, large = load_policy_tables(), load_large_round_policy()
    assert (tables.mapped_file.is_intact(), large.mapped_file.is_intact()) == (True, True)
    assert len(tables.mapped_file.body) < 20_000_000
    assert tables.mapped_file.producer.startswith("cardsharp research blef train")
    assert {cards[::-1] for cards in large.rounds} == {*large.rounds}
    for cards in large.rounds:
        for last in (NO_BET, 0, 40, len(BETS) - 1):
            higher = len(BETS) - last - 1
            assert len(large.read_encoded_probabilities(cards, last)) == OVERLAP_CLASSES * (
                PROBABILITY_CLASSES + FEATURE_COUNT * higher
            )
