"""What players of Dead Man's Draw decide on tables written by hand (`samples/decisions.txt`)."""

from itertools import islice, product
from random import Random

import pytest
from support.positions import card, effect, position
from support.recorded import rows

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, Late, build
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS, Captain, is_ordinary
from cardsharp.deadmansdraw.strategies.search.layout import KEYS, LYING, SUITS
from cardsharp.deadmansdraw.strategies.search.leaves import SearchLimits, never
from cardsharp.deadmansdraw.strategies.search.weights import model


def table_of(text: str) -> Position:
    """The table of a line, such as `area Key3 Hook2; own Map4; pending Hook`."""
    found = dict(part.strip().split(" ", 1) for part in text.split(";") if part.strip())
    if "pending" not in found:
        return position(**found)
    name, *more = found.pop("pending").split()
    owed = int(more.pop()) if more and more[-1].isdigit() else 0
    return position(**found, pending=effect(EffectType(name), " ".join(more), owed))


def action_of(text: str, table: Position) -> Action:
    if text in {"Draw", "EndTurn"}:
        return DRAW if text == "Draw" else END_TURN
    assert table.pending is not None
    return respond(table.pending.effect_type, None if text == "none" else card(text))


@pytest.mark.parametrize("line", rows("decisions"))
def test_a_player_decides_as_it_is_written(line: str) -> None:
    told, action = line.split(" -> ")
    name, _, shown = told.partition(" ")
    table = table_of(shown)
    assert build(name, Random(0)).decide(table).action == action_of(action, table)


HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN


def decide(table: Position) -> Decision:
    return build("steady", Random(0)).decide(table)


def hook(own: str, area: str, **more: str) -> Position:
    return position(own=own, area=area, pending=effect(HOOK), **more)


def stopping(area: str, discard: str, unseen: str) -> float | None:
    """What it is worth to stop."""
    options = decide(position(area=area, discard=discard, unseen=unseen)).options
    return next(option.value for option in options if option.action == END_TURN)


def test_steady_counts_the_mean_of_what_may_come_and_lists_every_action() -> None:
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
        (hook("Oracle7", "Hook2", known="Mermaid9", unseen="Mermaid9 Hook3"), 7 + 2 + 9),
    ],
)
def test_what_an_answer_is_worth(table: Position, worth: float) -> None:
    assert decide(table).options[0].value == pytest.approx(worth)


HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN


class Dice(Random):
    """A generator that always rolls the same."""

    def __init__(self, roll: float) -> None:
        super().__init__(0)
        self.roll = roll

    def random(self) -> float:
        return self.roll


@pytest.mark.parametrize("name", ["example-node", "example-java"])
def test_an_example_client_stops_with_three_chances_in_ten(name: str) -> None:
    table = position(area="Key3")
    assert build(name, Dice(0.29)).decide(table).action == END_TURN
    assert build(name, Dice(0.31)).decide(table).action == DRAW
    assert build(name, Dice(0.29)).decide(position()).action == DRAW
    kraken = position(area="Kraken3", pending=effect(KRAKEN, owed=2))
    assert build(name, Dice(0.29)).decide(kraken).action == DRAW


def test_only_the_java_client_takes_an_oracles_card_and_not_always() -> None:
    table = position(area="Oracle3", pending=effect(ORACLE, "Key4"), known="Key4")
    refusal = respond(ORACLE)
    assert build("example-node", Dice(0.9)).decide(table).action == refusal
    assert build("example-java", Dice(0.9)).decide(table).action == respond(ORACLE, card("Key4"))
    assert build("example-java", Dice(0.29)).decide(table).action == refusal


OLD = "Anchor2 Hook2 Cannon2 Key2 Chest2 Map2 Oracle2 Sword2 Kraken2 Mermaid4"


def test_captain_never_refuses_an_oracles_card_and_leaves_strange_tables_to_steady() -> None:
    shown = effect(EffectType.ORACLE, "Mermaid9")
    table = position(area="Oracle4", discard=OLD, pending=shown, known="Mermaid9")
    decision = build("captain", Random(1)).decide(table)
    assert decision.action == respond(EffectType.ORACLE, card("Mermaid9"))
    assert respond(EffectType.ORACLE) not in {option.action for option in decision.options}
    table = position(own="Key5", area="Key5 Map3", unseen="Hook3 Hook4")
    assert not is_ordinary(table)
    assert build("captain", Random(1)).decide(table) == build("steady", Random(1)).decide(table)


def test_when_time_is_short_what_was_weighed_must_do(caplog: pytest.LogCaptureFixture) -> None:
    table = position(own="Key5", other="Map6", area="Hook4 Chest6", discard=OLD)
    decision = Captain(model(WEIGHTS), late=lambda: True).decide(table)
    assert [option.action for option in decision.options] == [decision.action]
    assert "Time is short: 1 of 2 weighed." in caplog.text


@pytest.mark.parametrize(
    ("limits", "late"), [(SearchLimits(most_ends=20), never), (SearchLimits(), lambda: True)]
)
def test_what_takes_too_long_is_looked_ahead(limits: SearchLimits, late: Late) -> None:
    table = position(own="Key5", other="Map6", area="Hook4", discard=OLD, unseen="Sword3 Map3 Key7")
    ahead = Captain(model(WEIGHTS), SearchLimits(endgame=0)).decide(table).options
    found = Captain(model(WEIGHTS), limits, late).decide(table).options
    assert found == ahead[: len(found)]
    assert found != Captain(model(WEIGHTS)).decide(table).options[: len(found)]


def test_a_process_that_plays_for_days_remembers_no_more_than_so_many_sums() -> None:
    parts = model("captain").parts[30]
    keys = list(islice(product(range(0, LYING * 2, LYING), range(SUITS * KEYS)), 0, None, 7))
    before = {first + key: parts[first + key] for first, key in keys[:100]}
    for first, key in keys:
        assert parts[first + key] == parts[first + key]
        assert len(parts) <= 2048
    assert {key: parts[key] for key in before} == before
