"""Recorded deals are read as they were, and their decisions judged by the engine."""

import gzip
import json
from pathlib import Path

import pytest
from support.euchre_random import stations

from cardsharp.euchre.actions import Play, Question
from cardsharp.euchre.position import Position
from cardsharp.euchre.rules import apply, start
from cardsharp.euchre.state import Deal
from cardsharp.euchre.strategies import Decision, Option
from research.euchre.compiled import available
from research.euchre.judging import judge, judged
from workbench.euchre.recorded import RecordedDeal, read

KINDS = ("Ours", "Remote", "Ours", "Remote")


def line(deal: Deal) -> str:
    """A deal that is over, as the framework writes it down."""
    table, call = deal.table, deal.table.call
    return json.dumps(
        {
            "kind": "truth",
            "strategies": KINDS,
            "hands": [deal.cards[5 * seat : 5 * seat + 5] for seat in range(4)],
            "turn": table.turn_card,
            "buries": deal.cards[21:],
            "bids": [(-1 if bid.suit is None else bid.suit, bid.alone) for bid in table.bids],
            "caller_pos": None if call is None else call.seat,
            "go_alone": None if call is None else call.alone,
            "def_pos": table.lone_defender,
            "discard": deal.discard,
            "tricks": [{"plays": trick} for trick in table.tricks],
        }
    )


def ends(count: int) -> list[Deal]:
    return [list(stations(seed, passing=0.8))[-1] for seed in range(count)]


def test_a_deal_is_told_again_as_it_was() -> None:
    called = alone = 0
    for deal in ends(150):
        told = RecordedDeal.model_validate_json(line(deal))
        again = start(told.cards)
        for action in told.actions:
            again = apply(again, action)
        assert again == deal
        called += deal.table.call is not None
        alone += deal.table.lone_defender is not None
    assert called
    assert alone


def test_every_decision_comes_with_its_player_and_what_that_seat_saw() -> None:
    told = RecordedDeal.model_validate_json(line(ends(1)[0]))
    for kind, view, action in told.decisions():
        assert kind == KINDS[view.seat]
        assert action in view.choices


def test_a_decision_gives_away_what_it_lies_behind_and_neighbours_are_as_good() -> None:
    view, low, high, far = _with_neighbours()
    options = (Option(Play(low), 0.25), Option(Play(far), 1.0))
    decision = Decision(Play(far), "", options)
    assert judged(view, Play(far), decision) == 0
    assert judged(view, Play(low), decision) == 0.75
    assert judged(view, Play(high), decision) == 0.75
    assert judged(view, Play(low), Decision(Play(far), "")) is None
    assert judged(view, Play(low), Decision(Play(far), "", options[1:])) is None


def _with_neighbours() -> tuple[Position, int, int, int]:
    """A view with a king and an ace of a side suit to choose from, and a card of another suit."""
    for deal in ends(400):
        for _, view, _ in RecordedDeal.model_validate_json(line(deal)).decisions():
            if view.question is not Question.PLAY or view.table.trump is None:
                continue
            cards = [one.card for one in view.choices if isinstance(one, Play)]
            for suit in {0, 1, 2, 3} - {view.table.trump}:
                king, ace = 16 + suit, 20 + suit
                others = [card for card in cards if card % 4 != suit]
                if king in cards and ace in cards and others:
                    return view, king, ace, others[0]
    raise AssertionError("There is no such view.")


@pytest.mark.skipif(not available(), reason="without a C compiler this takes minutes")
def test_the_judgement_is_told_by_kind_of_player(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "deals.jsonl.gz"
    with gzip.open(file, "wt") as out:
        out.write('{"kind": "http"}\n' + "".join(line(deal) + "\n" for deal in ends(12)))
    judge(file)
    lines = capsys.readouterr().out.splitlines()
    figures = [row.split("│")[1:6] for row in lines if row.startswith("│ Ours")]
    assert [what.split(",")[1].strip() for what, *_ in figures] == ["calls", "cards"]
    for _, deals, decisions, given, by_rules in figures:
        assert int(deals) == 12
        assert int(decisions) > 0
        assert float(given) > float(by_rules) >= 0  # they were played at random
    assert not any("Remote" in row for row in lines)


def test_a_file_that_is_none_is_refused_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "deals.jsonl"
    file.write_text('{"kind": "http"}\n{"kind": "truth"}\n', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"line 2: .*validation errors"):
        list(read(file))
    with pytest.raises(SystemExit, match="cannot be read"):
        list(read(tmp_path / "missing.jsonl"))
