"""The recorded traffic of the real client, replayed against rules and service.

All 4,029 requests take about a second a time, so nothing is left out. And our player behind HTTP is
sent what the real client sent (docs/spec/euchre.md section 4).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

from requests import PreparedRequest
from support.euchre_api import Scribe, Service, direct_player
from support.euchre_random import play_deal
from support.recorded import Json, recording
from support.size import cases

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import SUITS
from cardsharp.euchre.position import Position
from cardsharp.euchre.rules import Deal, apply, choices, score, start
from cardsharp.euchre.simulation import Match
from cardsharp.euchre.strategies import Decision
from workbench.euchre.remote import SeatedPlayer

DECISIONS = {"suit", "alone", "card", "info"}  # the fields of an answer that are no echo


@dataclass(frozen=True)
class Recorded:
    """A request, and how the recorded server answered it."""

    method: str
    target: str
    body: str | None
    answer: Json

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def decides(self) -> bool:
        return self.method == "GET"

    @property
    def query(self) -> dict[str, list[int]]:
        """The numbers of the query string."""
        given = parse_qs(self.target.partition("?")[2])
        return {name: list(map(int, given[name])) for name in given.keys() - {"token"}}

    @property
    def action(self) -> Action:
        """What was answered."""
        if self.path == "/bid":
            suit = self.answer["suit"]
            return Bid(suit, self.answer["alone"]) if suit in SUITS else Bid()
        card = self.answer["card"]
        return Discard(card) if self.path == "/swap" else Play(card)


@dataclass(frozen=True)
class Truth:
    """What really happened in a deal."""

    cards: tuple[int, ...]
    raw: Json

    @property
    def actions(self) -> tuple[Action, ...]:
        """All decisions in order; the discard and the defences are put where they were."""
        raw = self.raw
        # The suit of a pass is -1, that of a seat that was not asked less.
        bids = [Bid(suit, alone) if suit >= 0 else PASS for suit, alone in raw["bids"] if suit > -2]
        laid = [] if raw["discard"] is None else [Discard(raw["discard"])]
        asked = [(raw["caller_pos"] + n) % 4 for n in (1, 3)] if raw["go_alone"] else []
        answers = [Defend(alone=seat == raw["def_pos"]) for seat in asked]
        defences = answers[:1] if answers and answers[0].alone else answers
        plays = [card for trick in raw["tricks"] for _, card in trick["plays"] if card is not None]
        return (*bids, *laid, *defences, *map(Play, plays))


@cache
def requests() -> tuple[Recorded, ...]:
    """All requests in the order in which they were sent."""
    return tuple(
        Recorded(line["method"], line["target"], line.get("body_raw"), line["response"])
        for line in recording("euchre_traffic")
        if line["kind"] == "http"
    )


@cache
def truths() -> dict[tuple[int, ...], Truth]:
    """The deals by their cards."""
    found = (
        Truth((*(card for hand in raw["hands"] for card in hand), raw["turn"], *raw["buries"]), raw)
        for raw in recording("euchre_traffic")
        if raw["kind"] == "truth"
    )
    return {truth.cards: truth for truth in found}


def assert_echo(recorded: Recorded, answer: Json) -> None:
    """Every field that was sent back comes back, with value and type."""
    for name, value in recorded.answer.items():
        if name not in DECISIONS:
            assert answer.get(name) == value, (recorded, answer)
            assert type(answer[name]) is type(value), (recorded, answer)


def played(truth: Truth) -> Deal:
    deal = start(truth.cards)
    for action in truth.actions:
        deal = apply(deal, action)
    return deal


def test_the_rules_tell_every_deal_as_it_was() -> None:
    """Legal actions, winners of tricks, tricks and points, over all 108 deals."""
    assert len(truths()) == 108
    for truth in truths().values():
        table = played(truth).table
        raw = truth.raw
        result = score(table)
        assert list(table.winners) == [trick["winner"] for trick in raw["tricks"]]
        assert result.caller == raw["caller_pos"]
        assert table.lone_defender == raw["def_pos"]
        if raw["points"]:
            assert [*result.points, *result.points] == raw["points"]
            assert [*table.tricks_won, *table.tricks_won] == raw["tricks_won"]
        else:
            assert result.points == (0, 0)


def test_the_service_follows_every_deal_from_what_it_is_told() -> None:
    """With the recorded answers, every question leads to a view that fits what happened.

    It is started anew before each request: nothing outlives but the store.
    """
    player = Scribe()
    service = Service(player)
    deals: dict[str, Truth] = {}
    assert len(requests()) == 4029
    for recorded in requests():
        service.restart()
        if recorded.path == "/deal" and recorded.method == "POST":
            cards = tuple(json.loads(recorded.body or "")["cards"])
            deals[recorded.answer["token"]] = truths()[cards]
        if not recorded.decides:
            assert_echo(recorded, service.ok(recorded.method, recorded.target, recorded.body))
            continue
        player.answer = lambda _, action=recorded.action: action  # type: ignore[misc]
        answer = service.ok(recorded.method, recorded.target)
        assert_echo(recorded, answer)
        assert answer.get("card") == recorded.answer.get("card")
        check_view(player.positions.pop(), deals[recorded.answer["token"]], recorded)
    assert service.diary.faults == []
    assert service.diary.troubles == []


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


# --- our own client ----------------------------------------------------------------------------

SHARED = ("A ", "B ", "E ")
"""The scenarios with one token for both partners, played by the framework itself."""


@dataclass
class Script:
    """What was decided in a deal, in order: a player that repeats it.

    Or asks a remote player, whose service answers by the same script.
    """

    actions: Iterator[Action]
    remote: SeatedPlayer | None = None
    now: Action = PASS

    def decide(self, match: Match) -> Action:
        self.now = next(self.actions)
        return self.remote.decide(match) if self.remote else self.now

    def ended(self, match: Match) -> None:
        if self.remote:
            self.remote.ended(match)


def deals() -> Iterator[tuple[Truth, list[Recorded]]]:
    """Each deal of those scenarios with its requests."""
    found: list[Recorded] = []
    for one in requests():
        if one.path == "/deal" and one.method == "POST":
            found = []
        found.append(one)
        if one.path == "/deal" and one.method == "PATCH":
            cards = json.loads(found[0].body or "{}")["cards"]
            truth = truths()[tuple(cards)]
            if truth.raw["scenario"].startswith(SHARED):
                yield truth, found


def comparable(method: str, target: str, body: str | bytes | None) -> tuple[object, ...]:
    """A request without what is free: the order of keys and of offered cards."""
    path, _, query = target.partition("?")
    values = {name: sorted(given) for name, given in parse_qs(query).items()}
    return method, path, values, json.loads(body) if body else None


def test_every_deal_of_a_shared_token_is_sent_as_the_client_sent_it() -> None:
    """In the sample every third."""
    count = 0
    for truth, recorded in islice(deals(), 0, None, cases(3, every=1)):
        sent: list[tuple[object, ...]] = []

        def watch(request: PreparedRequest, sent: list[tuple[object, ...]] = sent) -> None:
            sent.append(comparable(str(request.method), request.path_url, request.body))

        script = iter(truth.actions)
        team = Script(script)
        prompted: Any = SimpleNamespace(decide=lambda _, team=team: Decision(team.now, "So."))
        token, number = recorded[0].answer["token"], recorded[0].answer["dealNum"]
        remote, adapter = direct_player(Service(prompted), token)
        remote._known, remote._deal_number = True, number - 1
        adapter.watch = watch
        ours = tuple(int(seat) for seat in truth.raw["tokens"])
        team.remote, others = remote.seated(ours), Script(script)
        play_deal(truth.cards, [team if seat in ours else others for seat in range(4)])
        assert sent == [comparable(one.method, one.target, one.body) for one in recorded]
        count += 1
    assert count > cases(10, every=30)
