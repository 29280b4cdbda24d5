"""Strategies of Blef: bets, table look-ups, explanations and repeatability."""

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
    return sort_hand(
        BlefCard(RANKS.index(card_text[:-1]), "cdhs".index(card_text[-1]))
        for card_text in text.split()
    )


def position_at_turn(
    hand: str | Hand, card_counts: Sequence[int], *bets: str | int
) -> BlefPosition:
    """Return the first seat's position at its turn, from its hand, other hand sizes and bets."""
    player_hand = hand_of(hand) if isinstance(hand, str) else hand
    players = 1 + len(card_counts)
    history = tuple(
        RoundMove((bet_index - len(bets)) % players, bet if isinstance(bet, int) else NUMBERS[bet])
        for bet_index, bet in enumerate(bets)
    )
    hands, n_cards = (player_hand, *[()] * len(card_counts)), (len(player_hand), *card_counts)
    return BlefPosition(0, 9, max_cards(players), n_cards, hands, 0, history)


def chosen_action_name(name: str, position: BlefPosition) -> str:
    return action_name(build(name, Random(1)).decide(position).action)


@pytest.mark.parametrize(("text", "hidden"), [("9c", 1), ("9c 9d", 2), ("Ac Kc Qc Jc", 2), ("", 2)])
def test_odds_are_the_shares_of_all_hidden_cards(text: str, hidden: int) -> None:
    """Probabilities equal an exhaustive count over all choices of the hidden cards."""
    hand = hand_of(text)
    unseen_cards = [card for card in DECK if card not in hand]
    pools = [(*hand, *cards) for cards in combinations(unseen_cards, hidden)]
    exact_shares = [sum(bet.holds(pool) for pool in pools) / len(pools) for bet in BETS]
    assert bet_probabilities(card_bits(hand), hidden) == pytest.approx(exact_shares)


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
    missing_bits = missing_card_bits(BETS.index(bet), card_bits(pool))
    missing_cards = {card for card in DECK if missing_bits & card_bits([card])}
    assert not missing_cards & pool
    assert bet.holds(pool | missing_cards)
    assert not any(bet.holds((pool | missing_cards) - {card}) for card in missing_cards)


IMPOSSIBLE = "Great straight flush (9-A), spades"
ACE_BET_POSITION = position_at_turn(
    "9c", [1], "High card, ace"
)  # an ace beside a 9: 4 of the 23 other cards, 17 %


@pytest.mark.parametrize(
    ("name", "position", "expected"),
    [
        # Its own highest card, and of equals the higher one.
        ("greedy", position_at_turn("Jc", [1]), "High card, jack"),
        ("greedy", position_at_turn("Jc 9d", [1]), "High card, jack"),
        ("greedy", position_at_turn("9c", [1], "High card, 9"), "High card, ace"),
        # It checks what fails as likely as its best bet holds.
        ("greedy", position_at_turn("9c", [1], "Pair of aces"), "Check"),
        ("greedy", position_at_turn("9c", [1], IMPOSSIBLE), "Check"),
        # Below its mark it checks, and else goes as high as it dares.
        ("threshold(0.2,0.5)", ACE_BET_POSITION, "Check"),
        ("threshold(0.1,0.1)", ACE_BET_POSITION, "Pair of 9s"),
        ("threshold(0.1,0.5)", ACE_BET_POSITION, chosen_action_name("greedy", ACE_BET_POSITION)),
        ("threshold(0.2,0.5)", position_at_turn("9c Ah", [2]), "High card, ace"),
        ("threshold(0.2,0.15)", position_at_turn("9c", [1]), "High card, ace"),
        # It checks what cannot be true.
        ("bayes", position_at_turn("9c", [1], "Pair of aces"), "Check"),
        ("bayes", position_at_turn("9c", [1], IMPOSSIBLE), "Check"),
    ],
)
def test_strategy_bets_by_its_hand(name: str, position: BlefPosition, expected: str) -> None:
    assert chosen_action_name(name, position) == expected


def test_greedy_explains_its_check() -> None:
    decision = build("greedy", Random(1)).decide(position_at_turn("9c", [1], "Pair of aces"))
    assert "fails with 100.0 %" in decision.reason
    assert [option.action for option in decision.options].count(CHECK) == 1


def test_a_bet_is_evidence_and_agreement_of_sampled_worlds_is_no_certainty() -> None:
    """A bet raises the likelihood of its cards, and sampled worlds prove nothing.

    By the cards alone the opponent's ace is 34 % likely; an opponent that opens with it
    mostly has it. Of three players with 6 cards each some 10 is all but certain, and reported
    so.
    """
    position = position_at_turn("9c 10d", [2], "High card, ace")
    hand_probability = 1 - comb(18, 2) / comb(22, 2)
    assert bet_probabilities(card_bits(position.hand), 2)[
        NUMBERS["High card, ace"]
    ] == pytest.approx(hand_probability)
    decision = build("bayes", Random(1)).decide(position)
    value_by_action = {option.action: option.value for option in decision.options}
    assert value_by_action[CHECK] < 0.5
    assert decision.action != CHECK
    evaluation = evaluate_bets(position_at_turn("9c 9d Jc Qd Kh As", [6, 6]))
    ten_bet = NUMBERS["High card, 10"]
    assert all(world.true_bets >> ten_bet & 1 for world in evaluation.worlds)
    assert 0.99 < evaluation.bet_probabilities[ten_bet] < 1
    assert (
        describe_probability(evaluation.bet_probabilities[ten_bet]) == "holds with more than 99 %"
    )
    assert (
        describe_probability(evaluation.bet_probabilities[NUMBERS["Pair of 9s"]])
        == "holds for certain"
    )


def test_beliefs_are_stated_as_uncertain_with_their_assumption() -> None:
    """Only a bet that the hand decides is certain; no other probability is 0 or 100 %."""
    dice, certain_count = Random(3), 0
    for players in (3, 5) * 3:
        hand_size, *other_hand_sizes = (dice.randint(1, max_cards(players)) for _ in range(players))
        hand = sort_hand(dice.sample(DECK, hand_size))
        position = position_at_turn(
            hand, other_hand_sizes, *sorted(dice.sample(range(50), dice.randint(0, 3)))
        )
        decision = build("reader", Random(1)).decide(position)
        hand_probabilities = bet_probabilities(card_bits(position.hand), position.hidden_card_count)
        named_bet = position.last_bet if decision.action == CHECK else decision.action
        assert ("is certain" in decision.reason) == (hand_probabilities[named_bet] == 1)
        assert decision.reason.startswith(("It is ", "The last bet, "))
        assert not re.search(r"\b(0|100)(\.0)? %", decision.reason)
        for option in decision.options:
            bet = position.last_bet if option.action == CHECK else option.action
            is_certain = hand_probabilities[bet] in {0, 1}
            assert is_certain or 0.001 <= option.value <= 0.999
            if option.action != CHECK:
                certain_count += is_certain
                assert is_certain == (option.note in {"holds for certain", "cannot hold"})
    assert certain_count > 0


@st.composite
def positions(draw: st.DrawFn) -> BlefPosition:
    """Generate positions of the rounds for which there are tables."""
    bets = sorted(draw(st.sets(st.integers(0, len(BETS) - 1), max_size=6)))
    hand_size, other_hand_size = draw(st.sampled_from(ROUNDS))
    return position_at_turn(
        sort_hand(draw(st.permutations(DECK))[:hand_size]), [other_hand_size], *bets
    )


@settings(max_examples=80, deadline=None)
@given(positions(), st.integers())
def test_mixed_strategy_is_legal_and_its_options_are_complete(
    position: BlefPosition, seed: int
) -> None:
    """The options are the actions that are chosen once in a hundred times or are chosen now."""
    action_probabilities = dict(mixed_strategy(position) or ())
    if not action_probabilities:
        return
    assert {*action_probabilities} <= {*position.legal_actions()}
    assert sum(action_probabilities.values()) == pytest.approx(1)
    decision = build("solved", Random(seed)).decide(position)
    actions = {option.action for option in decision.options}
    assert actions == {
        action for action, probability in action_probabilities.items() if probability >= 0.01
    } | {decision.action}


@pytest.mark.parametrize("n_cards", [(10, 9), (2, 2, 1), (1, 1), (2, 1)])
def test_untrained_rounds_are_played_as_by_bayes(n_cards: tuple[int, ...]) -> None:
    opening = position_at_turn(sort_hand(DECK[: n_cards[0]]), n_cards[1:])
    assert look_up_trained_tables(load_policy_tables(), opening) is None
    decisions = [build(name, Random(3)).decide(opening) for name in ("solved", "bayes")]
    assert decisions[0] == decisions[1]


def test_written_tables_are_readable_and_damage_is_detected(tmp_path: Path) -> None:
    first_row, second_row = bytes([1, 255]), bytes([0, 55, 3, 200])
    distant_row = 3 * TableShape((2, 2)).last_bet_stride(0) + 9
    file = tmp_path / "t.bin"
    write_tables(
        file,
        "a test",
        {
            (2, 2): (
                PolicyRows((2, 7, distant_row), (first_row, second_row, second_row)),
                PolicyRows((1,), (first_row,)),
            )
        },
    )
    tables = read_tables(file)
    first_seat_rows, second_seat_rows = tables.rounds[2, 2]
    assert [first_seat_rows.find_row_choices(row_number) for row_number in (7, 2, distant_row)] == [
        {0: 55, 3: 200},
        {1: 255},
        {0: 55, 3: 200},
    ]
    assert (
        first_seat_rows.find_row_choices(3),
        first_seat_rows.find_row_choices(10**9),
        second_seat_rows.find_row_choices(1),
    ) == ({}, {}, {1: 255})
    assert tables.mapped_file.is_intact()
    file.write_bytes(file.read_bytes()[:-3] + b"\1\0\0")
    assert not read_tables(file).mapped_file.is_intact()


@pytest.mark.parametrize(
    "content", [None, b"", b"no head", b"{}\n", b'{"format": 0}\n', b'{"format": 3}\n']
)
def test_an_unusable_table_file_is_reported(content: bytes | None, tmp_path: Path) -> None:
    """A damaged table file is not read as numbers that no strategy can use."""
    file = tmp_path / "t.bin"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"t\.bin .*(install Cardsharp|train it) again"):
        read_tables(file)


@pytest.mark.parametrize(
    ("previous_bet", "last_bet", "overlap_class"),
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
def test_bet_overlap_with_the_previous_bet(
    previous_bet: str, last_bet: str, overlap_class: int
) -> None:
    assert bet_overlap_class(NUMBERS[previous_bet], NUMBERS[last_bet]) == overlap_class


def test_shipped_tables_are_intact_small_and_symmetric() -> None:
    """Each last bet has a row, with a place for the check and for each higher bet."""
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
