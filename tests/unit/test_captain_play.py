"""`captain`: sound on any table, always the same, and explained."""

from itertools import islice, product
from random import Random

import pytest
from support.positions import card, effect, position

from cardsharp.deadmansdraw.actions import EffectType, respond
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.strategies.base import Late
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS, Captain, is_ordinary
from cardsharp.deadmansdraw.strategies.search.layout import KEYS, LYING, SUITS
from cardsharp.deadmansdraw.strategies.search.leaves import SearchLimits, never
from cardsharp.deadmansdraw.strategies.search.weights import model

OLD = "Anchor2 Hook2 Cannon2 Key2 Chest2 Map2 Oracle2 Sword2 Kraken2 Mermaid4"


def test_an_oracles_card_is_never_refused() -> None:
    shown = effect(EffectType.ORACLE, "Mermaid9")
    table = position(area="Oracle4", discard=OLD, pending=shown, known="Mermaid9")
    decision = build("captain", Random(1)).decide(table)
    assert decision.action == respond(EffectType.ORACLE, card("Mermaid9"))
    assert respond(EffectType.ORACLE) not in {option.action for option in decision.options}


def test_a_table_with_a_card_twice_is_left_to_steady() -> None:
    table = position(own="Key5", area="Key5 Map3", unseen="Hook3 Hook4")
    assert not is_ordinary(table)
    assert build("captain", Random(1)).decide(table) == build("steady", Random(1)).decide(table)


def test_when_time_is_short_the_options_weighed_so_far_must_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    table = position(own="Key5", other="Map6", area="Hook4 Chest6", discard=OLD)
    decision = Captain(model(WEIGHTS), late=lambda: True).decide(table)
    assert [option.action for option in decision.options] == [decision.action]
    assert "Time is short: 1 of 2 weighed." in caplog.text


@pytest.mark.parametrize(
    ("limits", "late"), [(SearchLimits(most_ends=20), never), (SearchLimits(), lambda: True)]
)
def test_what_takes_too_long_to_search_to_the_end_is_looked_ahead(
    limits: SearchLimits, late: Late
) -> None:
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
