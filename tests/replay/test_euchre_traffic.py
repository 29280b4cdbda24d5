"""The recorded traffic of the real client, replayed against rules and service.

All 4,029 requests take about a second a time, so nothing is left out.
"""

from support.euchre_api import Service
from support.euchre_traffic import (
    Recorded,
    Truth,
    assert_echo,
    assert_legal,
    requests,
    truths,
)

from cardsharp.euchre.actions import Action, Play, Question
from cardsharp.euchre.position import Position
from cardsharp.euchre.rules import Deal, apply, choices, score, start
from cardsharp.euchre.strategies import Decision


class AsRecorded:
    """Answers what was recorded, and keeps the views that it was shown."""

    def __init__(self) -> None:
        self.next: Action | None = None
        self.views: list[Position] = []

    def decide(self, view: Position) -> Decision:
        assert self.next is not None
        self.views.append(view)
        return Decision(self.next, "As recorded.")


def played(truth: Truth) -> Deal:
    deal = start(truth.cards)
    for action in truth.actions:
        deal = apply(deal, action)
    return deal


def test_the_traffic_is_whole() -> None:
    assert len(requests()) == 4029
    assert len(truths()) == 108


def test_the_rules_tell_every_deal_as_it_was() -> None:
    """Legal actions, winners of tricks, tricks and points, over all 108 deals."""
    for truth in truths().values():
        table = played(truth).table
        raw = truth.raw
        result = score(table)
        assert list(table.winners) == [trick["winner"] for trick in raw["tricks"]]
        assert result.caller == raw["caller_pos"]
        assert result.lone_defender == raw["def_pos"]
        if raw["points"]:
            assert [*result.points, *result.points] == raw["points"]
            assert [*table.tricks_won, *table.tricks_won] == raw["tricks_won"]
        else:
            assert result.points == (0, 0)


def test_the_service_follows_every_deal_from_what_it_is_told() -> None:
    """With the recorded answers, every question leads to a view that fits what happened.

    It is started anew before each request: nothing outlives but the store.
    """
    player = AsRecorded()
    service = Service(player)
    deals: dict[str, Truth] = {}
    for recorded in requests():
        service.restart()
        if recorded.path == "/deal" and recorded.method == "POST":
            cards = tuple(service_cards(recorded))
            deals[recorded.answer["token"]] = truths()[cards]
        if not recorded.decides:
            assert_echo(recorded, service.ok(recorded.method, recorded.target, recorded.body))
            continue
        player.next = recorded.action
        answer = service.ok(recorded.method, recorded.target)
        assert_echo(recorded, answer)
        assert answer.get("card") == recorded.answer.get("card")
        check_view(player.views.pop(), deals[recorded.answer["token"]], recorded)
    assert service.diary.faults == []
    assert service.diary.troubles == []


def service_cards(recorded: Recorded) -> list[int]:
    assert recorded.body is not None
    cards = recorded.body.partition('"cards": [')[2].partition("]")[0]
    return [int(card) for card in cards.split(", ")]


def check_view(view: Position, truth: Truth, recorded: Recorded) -> None:
    """The view is what a player at that seat had seen."""
    table, raw = view.table, truth.raw
    seat = recorded.query["pos"][0]
    assert view.seat == seat
    pickup = raw["discard"] is not None
    dealt = set(raw["hands"][seat])
    if seat == 3 and pickup and view.question in {Question.DISCARD, Question.PLAY}:
        dealt.add(raw["turn"])
    if view.question is Question.BID:
        assert table.bids == truth.actions[: len(table.bids)]
        assert (len(table.bids) >= 4) == (recorded.query["round"] == [2])
    if view.question is Question.PLAY:
        dealt -= {raw["discard"]} if seat == 3 else set()
        contract = raw["contract"]
        assert table.call is not None
        assert [table.call.suit, table.call.alone] == contract
        assert table.call.seat == raw["caller_pos"]
        assert table.lone_defender in {None, raw["def_pos"]}
        past = [
            [(who, card) for who, card in trick["plays"] if card is not None]
            for trick in raw["tricks"]
        ]
        number = recorded.query["trickNum"][0]
        shown = [list(map(tuple, trick)) for trick in table.tricks]
        assert shown[:number] == past[:number]
        here = shown[number] if len(shown) > number else []
        assert here == past[number][: len(here)]
        assert past[number][len(here)][0] == seat
        assert view.discard == (raw["discard"] if seat == 3 else None)
        legal = choices(table, view.question, view.hand)
        assert set(legal) == {Play(card) for card in recorded.query["playableCards"]}
    assert set(view.hand) == dealt - set(table.played_by(seat))


def test_every_echo_is_right_and_every_answer_legal() -> None:
    service = Service("random")
    for recorded in requests():
        answer = service.ok(recorded.method, recorded.target, recorded.body)
        assert_echo(recorded, answer)
        if recorded.decides:
            assert_legal(recorded, answer)
    assert service.diary.troubles == []
