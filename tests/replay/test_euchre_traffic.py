"""Recorded traffic of the real Euchre client, replayed against rules and service.

All 4,029 requests take about a second per run, so none is omitted. Our HTTP player is
also compared with the traffic: it must send the requests of the real client
(docs/spec/euchre.md section 4).
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
DECISION_FIELDS = {"suit", "alone", "card", "info"}  # the fields of an answer that are no echo


@dataclass(frozen=True)
class RecordedClientRequest:
    """Request, and the recorded server's answer to it."""

    method: str
    target: str
    body: str | None
    answer: Json

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def action(self) -> Action:
        """Return the action in the answer."""
        if self.path == "/bid":
            suit = self.answer["suit"]
            return Bid(suit, self.answer["alone"]) if suit in SUITS else Bid()
        card = self.answer["card"]
        return Discard(card) if self.path == "/swap" else Play(card)


@dataclass(frozen=True)
class RecordedDeal:
    """Recorded deal: all cards and all actions."""

    cards: tuple[int, ...]
    raw: Json

    @property
    def actions(self) -> tuple[Action, ...]:
        """Return all actions in order, with the discard and the defences at their places."""
        raw = self.raw
        # The suit of a pass is -1, that of a seat that was not asked less.
        bid_actions = [
            Bid(suit, alone) if suit >= 0 else PASS for suit, alone in raw["bids"] if suit > -2
        ]
        discards = [] if raw["discard"] is None else [Discard(raw["discard"])]
        defender_seats = [(raw["caller_pos"] + n) % 4 for n in (1, 3)] if raw["go_alone"] else []
        answers = [Defend(goes_alone=seat == raw["def_pos"]) for seat in defender_seats]
        defences = answers[:1] if answers and answers[0].goes_alone else answers
        plays = [card for trick in raw["tricks"] for _, card in trick["plays"] if card is not None]
        return (*bid_actions, *discards, *defences, *map(Play, plays))

    @cached_property
    def states(self) -> list[Deal]:
        """Return the deal before each action, and the deal when it is over."""
        return list(accumulate(self.actions, apply, initial=start(self.cards)))


@cache
def recorded_requests() -> tuple[RecordedClientRequest, ...]:
    """Return all requests in the order in which they were sent."""
    return tuple(
        RecordedClientRequest(
            line["method"], line["target"], line.get("body_raw"), line["response"]
        )
        for line in recording("euchre_traffic")
        if line["kind"] == "http"
    )


@cache
def recorded_deals() -> dict[tuple[int, ...], RecordedDeal]:
    """Return the recorded deals by their cards."""
    parsed_deals = (
        RecordedDeal(
            (*(card for hand in raw["hands"] for card in hand), raw["turn"], *raw["buries"]), raw
        )
        for raw in recording("euchre_traffic")
        if raw["kind"] == "truth"
    )
    return {recorded_deal.cards: recorded_deal for recorded_deal in parsed_deals}


def deal_of_request(deal_request: RecordedClientRequest) -> RecordedDeal:
    return recorded_deals()[tuple(json.loads(deal_request.body or "")["cards"])]


def test_the_rules_reproduce_every_recorded_deal() -> None:
    """Trick winners, tricks won and points are equal in all 108 recorded deals."""
    assert len(recorded_deals()) == 108
    for recorded_deal in recorded_deals().values():
        public_state, raw = recorded_deal.states[-1].public_state, recorded_deal.raw
        result = score(public_state)
        assert list(public_state.trick_winners) == [trick["winner"] for trick in raw["tricks"]]
        assert result.caller_side == raw["caller_pos"]
        assert public_state.lone_defender == raw["def_pos"]
        if raw["points"]:
            assert [*result.points, *result.points] == raw["points"]
            assert [*public_state.tricks_won, *public_state.tricks_won] == raw["tricks_won"]
        else:
            assert result.points == (0, 0)


def test_the_service_reconstructs_every_recorded_deal_from_its_requests() -> None:
    """Each request leads to the view of the real deal, given the recorded answers.

    The service is restarted before each request: only the store survives. Each response
    echoes the fields of its request with value and type.
    """
    recording_strategy = RecordingStrategy()
    service = EuchreServiceHarness(recording_strategy)
    deals: dict[str, RecordedDeal] = {}
    assert len(recorded_requests()) == 4029
    for recorded_request in recorded_requests():
        service.restart()
        method, path, recorded_answer = (
            recorded_request.method,
            recorded_request.path,
            recorded_request.answer,
        )
        if (method, path) == ("POST", "/deal"):
            deals[recorded_answer["token"]] = deal_of_request(recorded_request)
        if method == "GET":
            recording_strategy.answer = lambda _, action=recorded_request.action: action  # type: ignore[misc]
        response = service.call_ok(method, recorded_request.target, recorded_request.body)
        echo = [
            (name, value) for name, value in recorded_answer.items() if name not in DECISION_FIELDS
        ]
        assert [(name, response.get(name), type(response.get(name))) for name, _ in echo] == [
            (name, value, type(value)) for name, value in echo
        ], recorded_request
        if method == "GET":
            assert response.get("card") == recorded_answer.get("card")
            check_view(
                recording_strategy.positions.pop(),
                deals[recorded_answer["token"]],
                recorded_request,
            )
    assert service.log.strategy_failures == []
    assert service.log.other_errors == []


def check_view(
    view: EuchrePosition, recorded_deal: RecordedDeal, recorded_request: RecordedClientRequest
) -> None:
    """Assert that the view has all that its seat had seen.

    A lone defence is announced to no seat, but a seat may infer it.
    """
    query = parse_qs(recorded_request.target.partition("?")[2])
    seat, decision_type = int(query["pos"][0]), DECISION_TYPE_BY_PATH[recorded_request.path]
    decision_deals = [
        deal
        for deal in recorded_deal.states
        if pending_decision(deal.public_state) == (seat, decision_type)
    ]
    if decision_type is DecisionType.DISCARD:  # the call was not told yet
        assert (view.seat, view.decision_type, view.hand) == (
            seat,
            decision_type,
            decision_deals[0].hand(seat),
        )
        return
    is_bid = decision_type is DecisionType.BID
    expected_position = current_position(
        decision_deals[int(query["round"][0]) - 1 if is_bid else int(query["trickNum"][0])]
    )
    assert view == replace(
        expected_position,
        public_state=replace(
            expected_position.public_state, defense_answers=view.public_state.defense_answers
        ),
    )
    assert view.public_state.lone_defender in {None, expected_position.public_state.lone_defender}
    if decision_type is DecisionType.PLAY:
        assert {*expected_position.legal_actions} == {
            Play(int(card)) for card in query["playableCards"]
        }


# --- our own client ----------------------------------------------------------------------------

SHARED_TOKEN_SCENARIOS = ("A ", "B ", "E ")
"""The scenarios with one token for both partners, played by the framework itself."""


def shared_token_deals() -> Iterator[tuple[RecordedDeal, list[RecordedClientRequest]]]:
    """Yield each deal of the scenarios with a shared token, with its requests."""
    deal_requests: list[RecordedClientRequest] = []
    for request in recorded_requests():
        if request.path == "/deal" and request.method == "POST":
            deal_requests = []
        deal_requests.append(request)
        if request.path == "/deal" and request.method == "PATCH":
            recorded_deal = deal_of_request(deal_requests[0])
            if recorded_deal.raw["scenario"].startswith(SHARED_TOKEN_SCENARIOS):
                yield recorded_deal, deal_requests


def comparable_request(method: str, target: str, body: str | bytes | None) -> tuple[object, ...]:
    """Return a request without its free parts: the order of keys and of offered cards."""
    path, _, query = target.partition("?")
    values = {name: sorted(items) for name, items in parse_qs(query).items()}
    return method, path, values, json.loads(body) if body else None


def test_every_deal_of_a_shared_token_is_sent_as_the_client_sent_it() -> None:
    """The sample compares every third deal."""
    count, simulation = 0, EuchreSimulation()
    for recorded_deal, deal_requests in islice(
        shared_token_deals(), 0, None, case_count(3, full=1)
    ):
        sent_requests: list[tuple[object, ...]] = []

        def watch(
            request: PreparedRequest, request_list: list[tuple[object, ...]] = sent_requests
        ) -> None:
            request_list.append(
                comparable_request(str(request.method), request.path_url, request.body)
            )

        recording_strategy = RecordingStrategy()
        token, number = deal_requests[0].answer["token"], deal_requests[0].answer["dealNum"]
        remote, adapter = in_process_player(EuchreServiceHarness(recording_strategy), token)
        remote._has_session, remote._deal_number = True, number - 1
        adapter.on_request = watch
        team_seats = tuple(int(seat) for seat in recorded_deal.raw["tokens"])
        team, match = (
            remote.for_match(team_seats),
            SimulatedEuchreMatch(SeatedDeal(start(recorded_deal.cards), 0)),
        )
        for action in recorded_deal.actions:
            recording_strategy.answer = lambda _, action=action: action  # type: ignore[misc]
            chosen_action = (
                team.decide(match) if simulation.current_seat(match) in team_seats else action
            )
            match = simulation.apply_action(match, chosen_action, Random(0))
        team.on_match_end(match)
        assert sent_requests == [
            comparable_request(request.method, request.target, request.body)
            for request in deal_requests
        ]
        count += 1
    assert count > case_count(10, full=30)
