"""The recorded traffic of the real client, replayed against rules and service.

All 4,029 requests take about a second per run, so none is left out. Our HTTP player is also
compared with it: it must send what the real client sent (docs/spec/euchre.md section 4).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import accumulate, islice
from random import Random
from urllib.parse import parse_qs

from requests import PreparedRequest
from support.case_counts import case_count
from support.euchre_service import EuchreServiceHarness, RecordingStrategy, in_process_player
from support.recordings import Json, recording

from cardsharp.games.euchre.actions import (
    PASS,
    Action,
    Bid,
    DecisionType,
    Defend,
    Discard,
    Play,
)
from cardsharp.games.euchre.cards import SUITS
from cardsharp.games.euchre.position import EuchrePosition, current_position
from cardsharp.games.euchre.public_state import pending_decision
from cardsharp.games.euchre.rules import Deal, apply, score, start
from cardsharp.games.euchre.simulation import EuchreSimulation, SeatedDeal, SimulatedEuchreMatch

DECISION_TYPE_BY_PATH = {
    "/bid": DecisionType.BID,
    "/swap": DecisionType.DISCARD,
    "/play": DecisionType.PLAY,
}
DECISIONS = {"suit", "alone", "card", "info"}  # the fields of an answer that are no echo


@dataclass(frozen=True)
class Recorded:
    """A request, and the recorded server's answer to it."""

    method: str
    target: str
    body: str | None
    answer: Json

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def action(self) -> Action:
        """The action in the answer."""
        if self.path == "/bid":
            suit = self.answer["suit"]
            return Bid(suit, self.answer["alone"]) if suit in SUITS else Bid()
        card = self.answer["card"]
        return Discard(card) if self.path == "/swap" else Play(card)


@dataclass(frozen=True)
class Truth:
    """The real course of a deal: all cards and all actions."""

    cards: tuple[int, ...]
    raw: Json

    @property
    def actions(self) -> tuple[Action, ...]:
        """All decisions in order, with the discard and the defences at their places."""
        raw = self.raw
        # The suit of a pass is -1, that of a seat that was not asked less.
        bids = [Bid(suit, alone) if suit >= 0 else PASS for suit, alone in raw["bids"] if suit > -2]
        laid = [] if raw["discard"] is None else [Discard(raw["discard"])]
        defender_seats = [(raw["caller_pos"] + n) % 4 for n in (1, 3)] if raw["go_alone"] else []
        answers = [Defend(goes_alone=seat == raw["def_pos"]) for seat in defender_seats]
        defences = answers[:1] if answers and answers[0].goes_alone else answers
        plays = [card for trick in raw["tricks"] for _, card in trick["plays"] if card is not None]
        return (*bids, *laid, *defences, *map(Play, plays))

    @cached_property
    def states(self) -> list[Deal]:
        """The deal before each action, and the deal when it is over."""
        return list(accumulate(self.actions, apply, initial=start(self.cards)))


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
    """Return the recorded deals by their cards."""
    recorded_deals = (
        Truth((*(card for hand in raw["hands"] for card in hand), raw["turn"], *raw["buries"]), raw)
        for raw in recording("euchre_traffic")
        if raw["kind"] == "truth"
    )
    return {truth.cards: truth for truth in recorded_deals}


def truth_of(begun: Recorded) -> Truth:
    return truths()[tuple(json.loads(begun.body or "")["cards"])]


def test_the_rules_tell_every_deal_as_it_was() -> None:
    """Legal actions, winners of tricks, tricks and points, over all 108 deals."""
    assert len(truths()) == 108
    for truth in truths().values():
        table, raw = truth.states[-1].public_state, truth.raw
        result = score(table)
        assert list(table.trick_winners) == [trick["winner"] for trick in raw["tricks"]]
        assert result.caller_side == raw["caller_pos"]
        assert table.lone_defender == raw["def_pos"]
        if raw["points"]:
            assert [*result.points, *result.points] == raw["points"]
            assert [*table.tricks_won, *table.tricks_won] == raw["tricks_won"]
        else:
            assert result.points == (0, 0)


def test_the_service_reconstructs_every_recorded_deal_from_its_requests() -> None:
    """Every question leads to a view that fits the real deal, given the recorded answers.

    The service is started again before each request: only the store survives. What was sent
    comes back with value and type.
    """
    player = RecordingStrategy()
    service = EuchreServiceHarness(player)
    deals: dict[str, Truth] = {}
    assert len(requests()) == 4029
    for recorded in requests():
        service.restart()
        method, path, recorded_answer = recorded.method, recorded.path, recorded.answer
        if (method, path) == ("POST", "/deal"):
            deals[recorded_answer["token"]] = truth_of(recorded)
        if method == "GET":
            player.answer = lambda _, action=recorded.action: action  # type: ignore[misc]
        answer = service.call_ok(method, recorded.target, recorded.body)
        echo = [(name, value) for name, value in recorded_answer.items() if name not in DECISIONS]
        assert [(name, answer.get(name), type(answer.get(name))) for name, _ in echo] == [
            (name, value, type(value)) for name, value in echo
        ], recorded
        if method == "GET":
            assert answer.get("card") == recorded_answer.get("card")
            check_view(player.positions.pop(), deals[recorded_answer["token"]], recorded)
    assert service.log.strategy_failures == []
    assert service.log.other_errors == []


def check_view(view: EuchrePosition, truth: Truth, recorded: Recorded) -> None:
    """Assert that the view has what that seat had seen.

    A lone defence is announced to no seat, but a seat may infer it.
    """
    query = parse_qs(recorded.target.partition("?")[2])
    seat, question = int(query["pos"][0]), DECISION_TYPE_BY_PATH[recorded.path]
    decision_deals = [
        deal for deal in truth.states if pending_decision(deal.public_state) == (seat, question)
    ]
    if question is DecisionType.DISCARD:  # the call was not told yet
        assert (view.seat, view.decision_type, view.hand) == (
            seat,
            question,
            decision_deals[0].hand(seat),
        )
        return
    is_bid = question is DecisionType.BID
    true = current_position(
        decision_deals[int(query["round"][0]) - 1 if is_bid else int(query["trickNum"][0])]
    )
    assert view == replace(
        true,
        public_state=replace(true.public_state, defense_answers=view.public_state.defense_answers),
    )
    assert view.public_state.lone_defender in {None, true.public_state.lone_defender}
    if question is DecisionType.PLAY:
        assert {*true.legal_actions} == {Play(int(card)) for card in query["playableCards"]}


# --- our own client ----------------------------------------------------------------------------

SHARED = ("A ", "B ", "E ")
"""The scenarios with one token for both partners, played by the framework itself."""


def deals() -> Iterator[tuple[Truth, list[Recorded]]]:
    """Yield each deal of the scenarios with a shared token, with its requests."""
    deal_requests: list[Recorded] = []
    for request in requests():
        if request.path == "/deal" and request.method == "POST":
            deal_requests = []
        deal_requests.append(request)
        if request.path == "/deal" and request.method == "PATCH":
            truth = truth_of(deal_requests[0])
            if truth.raw["scenario"].startswith(SHARED):
                yield truth, deal_requests


def comparable(method: str, target: str, body: str | bytes | None) -> tuple[object, ...]:
    """Return a request without its free parts: the order of keys and of offered cards."""
    path, _, query = target.partition("?")
    values = {name: sorted(items) for name, items in parse_qs(query).items()}
    return method, path, values, json.loads(body) if body else None


def test_every_deal_of_a_shared_token_is_sent_as_the_client_sent_it() -> None:
    """In the sample every third deal is compared."""
    count, euchre = 0, EuchreSimulation()
    for truth, recorded in islice(deals(), 0, None, case_count(3, full=1)):
        sent: list[tuple[object, ...]] = []

        def watch(request: PreparedRequest, sent: list[tuple[object, ...]] = sent) -> None:
            sent.append(comparable(str(request.method), request.path_url, request.body))

        answering = RecordingStrategy()
        token, number = recorded[0].answer["token"], recorded[0].answer["dealNum"]
        remote, adapter = in_process_player(EuchreServiceHarness(answering), token)
        remote._has_session, remote._deal_number = True, number - 1
        adapter.watch = watch
        team_seats = tuple(int(seat) for seat in truth.raw["tokens"])
        team, match = (
            remote.for_match(team_seats),
            SimulatedEuchreMatch(SeatedDeal(start(truth.cards), 0)),
        )
        for action in truth.actions:
            answering.answer = lambda _, action=action: action  # type: ignore[misc]
            done = team.decide(match) if euchre.current_seat(match) in team_seats else action
            match = euchre.apply_action(match, done, Random(0))
        team.on_match_end(match)
        assert sent == [
            comparable(request.method, request.target, request.body) for request in recorded
        ]
        count += 1
    assert count > case_count(10, full=30)
