"""Decisions of Dead Man's Draw strategies: by hand (`samples/decisions.txt`), always legal."""

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


def table_of(text: str) -> DeadMansDrawPosition:
    fields = dict(part.strip().split(" ", 1) for part in text.split(";") if part.strip())
    if "pending" not in fields:
        return position(**fields)
    name, *more = fields.pop("pending").split()
    owed = int(more.pop()) if more and more[-1].isdigit() else 0
    return position(**fields, pending=effect(EffectType(name), " ".join(more), owed))


def action_of(text: str, table: DeadMansDrawPosition) -> Action:
    if text in {"Draw", "EndTurn"}:
        return DRAW if text == "Draw" else END_TURN
    return respond(table.pending.effect_type, None if text == "none" else card(text))


@pytest.mark.parametrize("line", sample_rows("decisions"))
def test_a_player_decides_as_it_is_written(line: str) -> None:
    description, action = line.split(" -> ")
    name, _, table_text = description.partition(" ")
    table = table_of(table_text)
    assert build(name, Random(0)).decide(table).action == action_of(action, table)


HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN


def decide(table: DeadMansDrawPosition) -> DeadMansDrawDecision:
    return build("steady", Random(0)).decide(table)


def hook(bank_cards: str, area: str, **more: str) -> DeadMansDrawPosition:
    return position(bank=bank_cards, area=area, pending=effect(HOOK), **more)


def stopping(area: str, discard: str, unseen: str) -> float | None:
    options = decide(position(area=area, discard=discard, unseen=unseen)).options
    return next(option.value for option in options if option.action == END_TURN)


def test_steady_averages_over_outcomes_and_lists_every_action() -> None:
    sevens = stopping("Chest2 Key2 Map2", "Hook7 Cannon7 Sword7", "Key5 Anchor3")
    assert sevens == pytest.approx(2 + 2 + 2 + 21)
    # Two of three: Hook7 in two of three picks; Hook3 counts in the one without it.
    two_of_three = stopping("Chest2 Key2", "Hook7 Hook3 Map2", "Key5")
    assert two_of_three == pytest.approx(4 + (7 + (7 + 2) + (3 + 2)) / 3)
    table = position(
        other="Mermaid9 Key7", area="Cannon2", pending=effect(CANNON), unseen="Cannon3 Cannon4"
    )
    options = decide(table).options
    assert [option.action for option in options] == list(table.legal_actions())
    assert [option.value for option in options] == [2 - 7, 2 - 9]
    assert options[0].note == "costs the opponent 9 points"


@pytest.mark.parametrize(
    ("table", "worth"),
    [
        # Mermaid first: all is lost. Anchor first: what lies before it is saved, itself is not.
        (
            position(
                area="Mermaid9 Kraken3", unseen="Mermaid4 Anchor5", pending=effect(KRAKEN, owed=2)
            ),
            (0 + 9 + 3) / 2,
        ),
        # the hooked seven is lost, so the two that lies before the Anchor counts now
        (hook("Cannon7", "Cannon2 Anchor2 Hook2"), 2),
        # a hooked Oracle shows a card that is known already
        (hook("Oracle7", "Hook2", known_top="Mermaid9", unseen="Mermaid9 Hook3"), 7 + 2 + 9),
    ],
)
def test_steady_values_responses_to_effects(table: DeadMansDrawPosition, worth: float) -> None:
    assert decide(table).options[0].value == pytest.approx(worth)


def decides(name: str, roll: float, table: DeadMansDrawPosition) -> Action:
    """Return the action of a strategy whose dice always roll the same."""
    return build(name, SimpleNamespace(random=lambda: roll)).decide(table).action


@pytest.mark.parametrize("name", ["example-node", "example-java"])
def test_an_example_client_stops_with_three_chances_in_ten(name: str) -> None:
    """And only the one in Java takes an Oracle's card, not always either."""
    table = position(area="Key3")
    assert decides(name, 0.29, table) == END_TURN
    assert decides(name, 0.31, table) == DRAW
    assert decides(name, 0.29, position()) == DRAW
    kraken = position(area="Kraken3", pending=effect(KRAKEN, owed=2))
    assert decides(name, 0.29, kraken) == DRAW
    oracle_table = position(area="Oracle3", pending=effect(ORACLE, "Key4"), known_top="Key4")
    takes = name == "example-java"
    assert decides(name, 0.9, oracle_table) == respond(ORACLE, card("Key4") if takes else None)
    assert decides("example-java", 0.29, oracle_table) == respond(ORACLE)


OLD = "Anchor2 Hook2 Cannon2 Key2 Chest2 Map2 Oracle2 Sword2 Kraken2 Mermaid4"


def test_captain_never_refuses_an_oracles_card_and_leaves_strange_tables_to_steady() -> None:
    oracle_effect = effect(EffectType.ORACLE, "Mermaid9")
    table = position(area="Oracle4", discard=OLD, pending=oracle_effect, known_top="Mermaid9")
    decision = build("captain", Random(1)).decide(table)
    assert decision.action == respond(EffectType.ORACLE, card("Mermaid9"))
    assert respond(EffectType.ORACLE) not in {option.action for option in decision.options}
    table = position(bank="Key5", area="Key5 Map3", unseen="Hook3 Hook4")
    assert not is_standard_deck(table)
    assert build("captain", Random(1)).decide(table) == build("steady", Random(1)).decide(table)


def test_a_late_search_uses_the_options_weighed_so_far(caplog: pytest.LogCaptureFixture) -> None:
    table = position(bank="Key5", other="Map6", area="Hook4 Chest6", discard=OLD)
    decision = Captain(load_model(WEIGHT_FILE), is_late=lambda: True).decide(table)
    assert [option.action for option in decision.options] == [decision.action]
    assert "Time is short: 1 of 2 weighed." in caplog.text


@pytest.mark.parametrize(
    ("limits", "late"), [(SearchLimits(max_leaves=20), never_late), (SearchLimits(), lambda: True)]
)
def test_a_search_beyond_its_limits_uses_lookahead(limits: SearchLimits, late: IsLate) -> None:
    table = position(
        bank="Key5", other="Map6", area="Hook4", discard=OLD, unseen="Sword3 Map3 Key7"
    )
    ahead = Captain(load_model(WEIGHT_FILE), SearchLimits(endgame_cards=0)).decide(table).options
    options = Captain(load_model(WEIGHT_FILE), limits, late).decide(table).options
    assert options == ahead[: len(options)]
    assert options != Captain(load_model(WEIGHT_FILE)).decide(table).options[: len(options)]


def test_a_process_that_plays_for_days_remembers_no_more_than_so_many() -> None:
    parts = load_model("captain").parts[30]
    keys = list(
        islice(
            product(range(0, PLAY_AREA_OFFSET * 2, PLAY_AREA_OFFSET), range(SUITS * KEYS)),
            0,
            None,
            7,
        )
    )
    cached_parts = {first + key: parts[first + key] for first, key in keys[:100]}
    for first, key in keys:
        assert parts[first + key] == parts[first + key]
        assert len(parts) <= 2048
    assert {key: parts[key] for key in cached_parts} == cached_parts
    network, dice = load_shipped_network(), Random(3)
    cards = [suit * KEYS + dice.randrange(KEYS) for suit in range(SUITS)]
    sums = network.begins.log_odds_correction(cards, 30, 0, 0, NO_CARD)
    for key in range(net.MAX_CACHED_SUMS + 10):
        network.begins.suits[key]
        assert len(network.begins.suits) <= net.MAX_CACHED_SUMS
    assert network.begins.log_odds_correction(cards, 30, 0, 0, NO_CARD) == sums


def first(pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
    return pile[:number]


def test_a_forced_turn_end_banks_the_bonus_too() -> None:
    lying = start(cards("Map5"), cards("Hook2 Key2"), 0, play_area=cards("Chest4 Key4"))
    state, events = force_turn_end(lying, "late", "", first)
    assert [event.bonus for event in events if isinstance(event, TurnEnded)] == [
        cards("Hook2 Key2")
    ]
    assert (state.discard_pile, set(state.banks[0])) == ((), {*cards("Chest4 Key4 Hook2 Key2")})


def test_a_terminated_match_is_not_won_by_points() -> None:
    """The leader does not win by points: without a named winner the match is a tie."""
    leading, _ = apply(start(cards("Map5"), (), 0, play_area=cards("Chest4")), END_TURN, first)
    for winner, comment in ((None, None), (1, "late")):
        state, events = terminate(leading, winner, comment)
        assert state.outcome == MatchEnded((4, 0), winner, was_terminated=True)
        assert events == (*([Comment(comment)] if comment else []), state.outcome)
        with pytest.raises(IllegalAction, match=r"^No action possible on finished matches\.$"):
            apply(state, END_TURN, first)


@cache
def rows_of(part: int) -> dict[str, list[Sequence[int]]]:
    return net.weight_rows(load_shipped_network().numbers, part)


def plainly(part: int, seen: tuple[list[int], int, int, int, int]) -> int:
    keys, remaining_cards, lead, odds, peeked_card = seen
    rows, (knot, share) = rows_of(part), knot_and_next_share(remaining_cards)
    chosen = [rows["left"][remaining_cards]]
    for key in keys:
        suit = key % PLAY_AREA_OFFSET // KEYS + SUITS * (part and key // PLAY_AREA_OFFSET)
        chosen += [
            rows["suit"][suit * net.ROWS_PER_SUIT + row] for row in net.active_rows(key % KEYS)
        ]
    if peeked_card != NO_CARD:
        chosen.append(rows["known"][peeked_card])
    total, out = 0, rows["out"]
    for unit in range(net.HIDDEN_UNITS):
        hidden = sum(row[unit] for row in chosen) + lead * rows["lead"][0][unit]
        hidden += (odds >> 17) * rows["odds"][0][unit]
        total += max(0, hidden) * (out[knot][unit] * (32 - share) + out[knot + 1][unit] * share)
    return total >> 6


@pytest.mark.parametrize("part", range(net.OUTPUT_COUNT))
def test_packed_lanes_equal_plain_sums_and_never_overflow(part: int) -> None:
    """Cover any position: each card and suit at its worst, a lead of 100, log-odds of 40."""
    dice, network, rows = Random(part), load_shipped_network(), rows_of(part)
    for _ in range(40):
        keys = [
            suit * KEYS + dice.randrange(KEYS) + PLAY_AREA_OFFSET * dice.randrange(2)
            for suit in range(SUITS)
        ]
        remaining_cards, lead, odds = (
            dice.randrange(CARD_COUNTS),
            dice.randint(-60, 60),
            dice.randint(-7, 7) << 20,
        )
        seen = keys, remaining_cards, lead, odds, dice.choice((NO_CARD, dice.randrange(60)))
        assert (network.goes_on if part else network.begins).log_odds_correction(*seen) == plainly(
            part, seen
        )
    suits, max_sums = rows["suit"], [0] * net.HIDDEN_UNITS
    for unit in range(net.HIDDEN_UNITS):
        for suit in range(SUITS):
            max_sums[unit] += max(_worst(suits, at, unit) for at in (suit, SUITS + suit))
        for name, times in (("known", 1), ("left", 1), ("lead", 100), ("odds", 40 * 16)):
            max_sums[unit] += times * max(abs(row[unit]) for row in rows[name])
    out = [32 * max(abs(row[unit]) for row in rows["out"]) for unit in range(net.HIDDEN_UNITS)]
    assert max(max_sums) < 1 << net.SIGN
    assert sum(max_sum * by for max_sum, by in zip(max_sums, out, strict=True)) < 1 << net.LANE - 1


def _worst(suits: list[list[int]], suit: int, unit: int) -> int:
    """Return a suit's maximum sum: six cards, each in one of three places, and six groups."""
    weights = [
        abs(row[unit]) for row in suits[suit * net.ROWS_PER_SUIT : (suit + 1) * net.ROWS_PER_SUIT]
    ]
    cards, groups = _by(weights[:18], 3), _by(weights[18:], TOP_VALUES)
    return sum(max(some) for some in (*cards, *groups))


def _by(numbers: list[int], size: int) -> list[list[int]]:
    return [numbers[at : at + size] for at in range(0, len(numbers), size)]


@pytest.mark.parametrize("seed", range(40))
def test_the_last_cards_are_weighed_exactly(seed: int) -> None:
    """Only the next card is left to chance: no Map's offer, and no bonus."""
    dice, match = Random(f"certain/{seed}"), None
    while match is None or not match.state.play_area:  # the first draw leaves no choice
        match = tiny_endgame(dice, without=(Suit.MAP, Suit.CHEST))
    options = build("captain", Random(1)).decide(match.current_position).options
    weighed = {option.action: option.value for option in options}
    assert weighed == pytest.approx(action_values(match.state), abs=1e-12)
