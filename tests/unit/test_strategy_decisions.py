"""Decisions of Dead Man's Draw strategies: given by `samples/decisions.txt`, and legal."""

from collections.abc import Sequence
from functools import cache
from itertools import islice, product
from random import Random
from types import SimpleNamespace

import pytest
from support.brute_force import action_values, tiny_endgame
from support.positions import card, cards, effect, position
from support.recordings import sample_rows

from cardsharp.errors import IllegalAction
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.games.deadmansdraw.cards import Card, Suit
from cardsharp.games.deadmansdraw.events import Comment, MatchEnded, TurnEnded
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.rules import apply, force_turn_end, start, terminate
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, IsLate, build
from cardsharp.games.deadmansdraw.strategies.captain import (
    WEIGHT_FILE,
    Captain,
    is_standard_deck,
)
from cardsharp.games.deadmansdraw.strategies.search import network as net
from cardsharp.games.deadmansdraw.strategies.search.card_sets import NO_CARD, SUITS
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import (
    SearchLimits,
    never_late,
)
from cardsharp.games.deadmansdraw.strategies.search.weight_layout import (
    CARD_COUNTS,
    KEYS,
    PLAY_AREA_OFFSET,
    TOP_VALUES,
    knot_and_next_share,
)
from cardsharp.games.deadmansdraw.strategies.search.weights import (
    load_model,
    load_shipped_network,
)


def parse_position(text: str) -> DeadMansDrawPosition:
    fields = dict(part.strip().split(" ", 1) for part in text.split(";") if part.strip())
    if "pending" not in fields:
        return position(**fields)
    name, *card_texts = fields.pop("pending").split()
    draw_count = int(card_texts.pop()) if card_texts and card_texts[-1].isdigit() else 0
    return position(**fields, pending=effect(EffectType(name), " ".join(card_texts), draw_count))


def parse_action(text: str, position_at_turn: DeadMansDrawPosition) -> Action:
    if text in {"Draw", "EndTurn"}:
        return DRAW if text == "Draw" else END_TURN
    return respond(position_at_turn.pending.effect_type, None if text == "none" else card(text))


@pytest.mark.parametrize("line", sample_rows("decisions"))
def test_a_strategy_decides_as_in_the_samples(line: str) -> None:
    description, action = line.split(" -> ")
    name, _, table_text = description.partition(" ")
    position_at_turn = parse_position(table_text)
    assert build(name, Random(0)).decide(position_at_turn).action == parse_action(
        action, position_at_turn
    )


HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN


def decide_as_steady(position_at_turn: DeadMansDrawPosition) -> DeadMansDrawDecision:
    return build("steady", Random(0)).decide(position_at_turn)


def hook_position(bank_cards: str, area: str, **fields: str) -> DeadMansDrawPosition:
    return position(bank=bank_cards, area=area, pending=effect(HOOK), **fields)


def stop_value(area: str, discard: str, unseen: str) -> float | None:
    options = decide_as_steady(position(area=area, discard=discard, unseen=unseen)).options
    return next(option.value for option in options if option.action == END_TURN)


def test_steady_averages_over_outcomes_and_lists_every_action() -> None:
    value_with_sevens = stop_value("Chest2 Key2 Map2", "Hook7 Cannon7 Sword7", "Key5 Anchor3")
    assert value_with_sevens == pytest.approx(2 + 2 + 2 + 21)
    # Two of three: Hook7 in two of three picks; Hook3 counts in the one without it.
    value_with_two_of_three = stop_value("Chest2 Key2", "Hook7 Hook3 Map2", "Key5")
    assert value_with_two_of_three == pytest.approx(4 + (7 + (7 + 2) + (3 + 2)) / 3)
    position_at_turn = position(
        other="Mermaid9 Key7", area="Cannon2", pending=effect(CANNON), unseen="Cannon3 Cannon4"
    )
    options = decide_as_steady(position_at_turn).options
    assert [option.action for option in options] == list(position_at_turn.legal_actions())
    assert [option.value for option in options] == [2 - 7, 2 - 9]
    assert options[0].note == "costs the opponent 9 points"


@pytest.mark.parametrize(
    ("position_at_turn", "expected_value"),
    [
        # Mermaid first: all is lost. Anchor first: what lies before it is saved, itself is not.
        (
            position(
                area="Mermaid9 Kraken3", unseen="Mermaid4 Anchor5", pending=effect(KRAKEN, owed=2)
            ),
            (0 + 9 + 3) / 2,
        ),
        # the hooked seven is lost, so the two that lies before the Anchor counts now
        (hook_position("Cannon7", "Cannon2 Anchor2 Hook2"), 2),
        # a hooked Oracle shows a card that is known already
        (
            hook_position("Oracle7", "Hook2", known_top="Mermaid9", unseen="Mermaid9 Hook3"),
            7 + 2 + 9,
        ),
    ],
)
def test_steady_values_responses_to_effects(
    position_at_turn: DeadMansDrawPosition, expected_value: float
) -> None:
    assert decide_as_steady(position_at_turn).options[0].value == pytest.approx(expected_value)


def decide_with_roll(name: str, roll: float, position_at_turn: DeadMansDrawPosition) -> Action:
    """Return the action of a strategy whose dice always roll the same."""
    return build(name, SimpleNamespace(random=lambda: roll)).decide(position_at_turn).action


@pytest.mark.parametrize("name", ["example-node", "example-java"])
def test_an_example_client_stops_with_three_chances_in_ten(name: str) -> None:
    """The clients stop with a probability of 0.3; only the Java client takes an Oracle's card."""
    position_at_turn = position(area="Key3")
    assert decide_with_roll(name, 0.29, position_at_turn) == END_TURN
    assert decide_with_roll(name, 0.31, position_at_turn) == DRAW
    assert decide_with_roll(name, 0.29, position()) == DRAW
    kraken_position = position(area="Kraken3", pending=effect(KRAKEN, owed=2))
    assert decide_with_roll(name, 0.29, kraken_position) == DRAW
    oracle_position = position(area="Oracle3", pending=effect(ORACLE, "Key4"), known_top="Key4")
    takes_card = name == "example-java"
    assert decide_with_roll(name, 0.9, oracle_position) == respond(
        ORACLE, card("Key4") if takes_card else None
    )
    assert decide_with_roll("example-java", 0.29, oracle_position) == respond(ORACLE)


LOW_DISCARDS = "Anchor2 Hook2 Cannon2 Key2 Chest2 Map2 Oracle2 Sword2 Kraken2 Mermaid4"


def test_captain_never_refuses_an_oracles_card_and_leaves_strange_tables_to_steady() -> None:
    oracle_effect = effect(EffectType.ORACLE, "Mermaid9")
    position_at_turn = position(
        area="Oracle4", discard=LOW_DISCARDS, pending=oracle_effect, known_top="Mermaid9"
    )
    decision = build("captain", Random(1)).decide(position_at_turn)
    assert decision.action == respond(EffectType.ORACLE, card("Mermaid9"))
    assert respond(EffectType.ORACLE) not in {option.action for option in decision.options}
    position_at_turn = position(bank="Key5", area="Key5 Map3", unseen="Hook3 Hook4")
    assert not is_standard_deck(position_at_turn)
    assert build("captain", Random(1)).decide(position_at_turn) == build(
        "steady", Random(1)
    ).decide(position_at_turn)


def test_a_late_search_uses_the_options_weighed_so_far(caplog: pytest.LogCaptureFixture) -> None:
    position_at_turn = position(
        bank="Key5", other="Map6", area="Hook4 Chest6", discard=LOW_DISCARDS
    )
    decision = Captain(load_model(WEIGHT_FILE), is_late=lambda: True).decide(position_at_turn)
    assert [option.action for option in decision.options] == [decision.action]
    assert "Time is short: 1 of 2 weighed." in caplog.text


@pytest.mark.parametrize(
    ("limits", "is_late"),
    [(SearchLimits(max_leaves=20), never_late), (SearchLimits(), lambda: True)],
)
def test_a_search_beyond_its_limits_uses_lookahead(limits: SearchLimits, is_late: IsLate) -> None:
    position_at_turn = position(
        bank="Key5", other="Map6", area="Hook4", discard=LOW_DISCARDS, unseen="Sword3 Map3 Key7"
    )
    lookahead_options = (
        Captain(load_model(WEIGHT_FILE), SearchLimits(endgame_cards=0))
        .decide(position_at_turn)
        .options
    )
    options = Captain(load_model(WEIGHT_FILE), limits, is_late).decide(position_at_turn).options
    assert options == lookahead_options[: len(options)]
    assert (
        options != Captain(load_model(WEIGHT_FILE)).decide(position_at_turn).options[: len(options)]
    )


def test_the_caches_of_a_long_running_process_are_bounded() -> None:
    cached_values = load_model("captain").parts[30]
    keys = list(
        islice(
            product(range(0, PLAY_AREA_OFFSET * 2, PLAY_AREA_OFFSET), range(SUITS * KEYS)),
            0,
            None,
            7,
        )
    )
    first_values = {offset + key: cached_values[offset + key] for offset, key in keys[:100]}
    for offset, key in keys:
        assert cached_values[offset + key] == cached_values[offset + key]
        assert len(cached_values) <= 2048
    assert {key: cached_values[key] for key in first_values} == first_values
    network, rng = load_shipped_network(), Random(3)
    cards = [suit * KEYS + rng.randrange(KEYS) for suit in range(SUITS)]
    correction = network.begins.new_turn_correction(cards, 30, 0, 0, NO_CARD)
    for key in range(net.MAX_CACHED_SUMS + 10):
        network.begins.suits[key]
        assert len(network.begins.suits) <= net.MAX_CACHED_SUMS
    assert network.begins.new_turn_correction(cards, 30, 0, 0, NO_CARD) == correction


def first_cards(pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
    return pile[:number]


def test_a_forced_turn_end_banks_the_bonus_too() -> None:
    state_at_turn = start(cards("Map5"), cards("Hook2 Key2"), 0, play_area=cards("Chest4 Key4"))
    state, events = force_turn_end(state_at_turn, "late", "", first_cards)
    assert [event.bonus for event in events if isinstance(event, TurnEnded)] == [
        cards("Hook2 Key2")
    ]
    assert (state.discard_pile, set(state.banks[0])) == ((), {*cards("Chest4 Key4 Hook2 Key2")})


def test_a_terminated_match_is_not_won_by_points() -> None:
    """Without a named winner a terminated match is a tie, whatever the points are."""
    leading_state, _ = apply(
        start(cards("Map5"), (), 0, play_area=cards("Chest4")), END_TURN, first_cards
    )
    for winner, comment in ((None, None), (1, "late")):
        state, events = terminate(leading_state, winner, comment)
        assert state.outcome == MatchEnded((4, 0), winner, was_terminated=True)
        assert events == (*([Comment(comment)] if comment else []), state.outcome)
        with pytest.raises(IllegalAction, match=r"^No action possible on finished matches\.$"):
            apply(state, END_TURN, first_cards)


@cache
def weight_rows_of(part: int) -> dict[str, list[Sequence[int]]]:
    return net.weight_rows_by_field(load_shipped_network().numbers, part)


NetworkInputs = tuple[list[int], int, int, int]


def correction(part: int, inputs: NetworkInputs, turn: net.ContinuedTurn, next_card: int) -> int:
    network = load_shipped_network()
    if part:
        return network.goes_on.continuation_correction(*inputs, turn)
    return network.begins.new_turn_correction(*inputs, next_card)


def plain_correction(
    part: int, inputs: NetworkInputs, turn: net.ContinuedTurn, next_card: int
) -> int:
    keys, remaining_cards, lead, odds = inputs
    rows, (knot, share) = weight_rows_of(part), knot_and_next_share(remaining_cards)
    active_rows = [rows["left"][remaining_cards]]
    for key in keys:
        suit = key % PLAY_AREA_OFFSET // KEYS + SUITS * (part and key // PLAY_AREA_OFFSET)
        active_rows += [
            rows["suit"][suit * net.ROWS_PER_SUIT + row]
            for row in net.active_weight_rows(key % KEYS)
        ]
    if part:
        active_rows += [rows[name][getattr(turn, name)] for name in ("risk", "size", "rescued")]
    elif next_card != NO_CARD:
        active_rows.append(rows["known"][next_card])
    factors = {"lead": lead, "odds": odds >> 17}
    if part:
        factors |= {"stop": turn.stop, "bust": turn.bust}
    total, output_rows = 0, rows["out"]
    for unit in range(net.HIDDEN_UNITS):
        hidden = sum(row[unit] for row in active_rows)
        hidden += sum(factor * rows[name][0][unit] for name, factor in factors.items())
        total += max(0, hidden) * (
            output_rows[knot][unit] * (32 - share) + output_rows[knot + 1][unit] * share
        )
    return total >> 6


MAX_FACTORS = {
    **dict.fromkeys(("known", "left", "risk", "size", "rescued"), 1),
    **dict.fromkeys(("stop", "bust"), net.MAX_STEPS),
    "lead": 100,
    "odds": 40 * 16,
}


@pytest.mark.parametrize("part", range(net.OUTPUT_COUNT))
def test_packed_lanes_equal_plain_sums_and_never_overflow(part: int) -> None:
    """The bounds cover any position: all cards at their maximum, lead 100, log-odds 40."""
    rng, rows = Random(part), weight_rows_of(part)
    for _ in range(40):
        keys = [
            suit * KEYS + rng.randrange(KEYS) + PLAY_AREA_OFFSET * rng.randrange(2)
            for suit in range(SUITS)
        ]
        remaining_cards, lead, odds = (
            rng.randrange(CARD_COUNTS),
            rng.randint(-60, 60),
            rng.randint(-7, 7) << 20,
        )
        inputs, next_card = (keys, remaining_cards, lead, odds), rng.choice((NO_CARD, 7, 59))
        steps = [rng.randint(-net.MAX_STEPS, net.MAX_STEPS) for _ in range(2)]
        turn = net.ContinuedTurn(rng.randrange(17), rng.randrange(11), rng.randrange(12), *steps)
        assert correction(part, inputs, turn, next_card) == plain_correction(
            part, inputs, turn, next_card
        )
    suits, max_sums = rows["suit"], [0] * net.HIDDEN_UNITS
    for unit in range(net.HIDDEN_UNITS):
        for suit in range(SUITS):
            max_sums[unit] += max(
                _max_suit_sum(suits, weight_index, unit) for weight_index in (suit, SUITS + suit)
            )
        for name, times in MAX_FACTORS.items():
            max_sums[unit] += times * max(abs(row[unit]) for row in rows[name])
    max_outputs = [
        32 * max(abs(row[unit]) for row in rows["out"]) for unit in range(net.HIDDEN_UNITS)
    ]
    assert max(max_sums) < 1 << net.SIGN
    assert (
        sum(max_sum * weight for max_sum, weight in zip(max_sums, max_outputs, strict=True))
        < 1 << net.LANE - 1
    )


def _max_suit_sum(suits: list[list[int]], suit: int, unit: int) -> int:
    """Return a suit's maximum sum: six cards in any of three places, and six groups."""
    weights = [
        abs(row[unit]) for row in suits[suit * net.ROWS_PER_SUIT : (suit + 1) * net.ROWS_PER_SUIT]
    ]
    cards, groups = (
        _split_into_groups(weights[:18], 3),
        _split_into_groups(weights[18:], TOP_VALUES),
    )
    return sum(max(group) for group in (*cards, *groups))


def _split_into_groups(numbers: list[int], size: int) -> list[list[int]]:
    return [
        numbers[start_index : start_index + size] for start_index in range(0, len(numbers), size)
    ]


@pytest.mark.parametrize("seed", range(40))
def test_endgame_options_have_exact_values(seed: int) -> None:
    """The endgames have no Map's offer and no bonus, so that only the next card is random."""
    rng, match = Random(f"certain/{seed}"), None
    while match is None or not match.state.play_area:  # the first draw leaves no choice
        match = tiny_endgame(rng, excluded_suits=(Suit.MAP, Suit.CHEST))
    options = build("captain", Random(1)).decide(match.current_position).options
    value_by_action = {option.action: option.value for option in options}
    assert value_by_action == pytest.approx(action_values(match.state), abs=1e-12)
